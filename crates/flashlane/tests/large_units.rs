//! Mapping units of several pages: what reads sense, the rate of programs, what the flash counts,
//! writes of parts of units, and what is refused. `theory_units.rs` compares their amplification
//! with theory.

use crate::common::{
    Scenario, completions_of_one_die, flash_only, mixed, problems, random_writes, run_all,
    watched_in_four_ways,
};
use crate::word_lines::in_a_row;
use flashlane::config::bounds::Bounds;
use flashlane::drive::Command;

const US: u64 = 1_000_000;
const NS: u64 = 1_000;

/// Sectors of a page of [`completions_of_one_die`].
const PAGE: u32 = 8;

/// TLC with a time for each type of page, in units of four pages.
const TLC: [&str; 4] = [
    "flash.technology=tlc",
    "flash.page_order=turns",
    "flash.read_time=[\"40us\", \"50us\", \"70us\"]",
    "ftl.mapping.unit=16KiB",
];

/// Times in the array and on the channel of reads of one die after the units were written, one
/// read at a time. `reads`: first sector and number of sectors. Unit: picoseconds.
fn times_of_reads(sets: &[&str], reads: &[(u32, u32)]) -> Vec<(u64, u64)> {
    let writes = (0..8).map(|unit| (0, Command::write((4 * PAGE * unit).into(), 4 * PAGE)));
    let reads = reads.iter().zip(0..).map(|(&(first, sectors), at)| {
        ((100_000 + 1000 * at) * US, Command::read(first.into(), sectors))
    });
    let commands: Vec<_> = writes.chain(reads).collect();
    let done = completions_of_one_die(sets, &commands);
    let times = |at: usize| (done[at].record.flash_array_ps, done[at].record.flash_bus_ps);
    (8..done.len()).map(times).collect()
}

#[test]
fn a_read_senses_the_pages_that_hold_what_it_wants() {
    // Types of the pages of the first two units: 0 1 2 0, 1 2 0 1.
    let unit = 4 * PAGE;
    let times = times_of_reads(
        &TLC,
        &[
            (0, PAGE),
            (PAGE, PAGE),
            (2 * PAGE + 3, 1),
            (unit, PAGE),
            (PAGE - 1, 2),
            (0, unit),
            (unit, unit),
        ],
    );
    // A command takes 1 ns, a page 1024 ns on the channel. The controller notices the end of a
    // read after 20 ns.
    let array = [40, 50, 70, 50, 40 + 50, 40 + 50 + 70 + 40, 50 + 70 + 40 + 50];
    let sectors = [PAGE, PAGE, 1, PAGE, 2, unit, unit];
    let expected = array.iter().zip(sectors);
    let expected: Vec<(u64, u64)> = expected
        .map(|(array, sectors)| (array * US + 20 * NS, NS + u64::from(sectors) * 128 * NS))
        .collect();
    assert_eq!(times, expected);
}

#[test]
fn sectors_of_units_above_32_kib_count_two_by_two() {
    // 16 pages of 4 KiB, and sectors of 512 B.
    let sets: Vec<&str> = TLC[..3].iter().copied().chain(["ftl.mapping.unit=64KiB"]).collect();
    let unit = 16 * PAGE;
    let reads = [(0, PAGE), (unit - 1, 1), (PAGE - 1, 2), (0, unit)];
    let commands = (0..2).map(|at| (0, Command::write((at * unit).into(), unit)));
    let reads = reads.iter().zip(0..).map(|(&(first, sectors), at)| {
        ((100_000 + 2000 * at) * US, Command::read(first.into(), sectors))
    });
    let done = completions_of_one_die(&sets, &commands.chain(reads).collect::<Vec<_>>());
    let of_all: u64 = [40, 50, 70].iter().cycle().take(16).sum();
    let expected = [(40, PAGE), (40, 2), (90, 4), (of_all, unit)];
    for (done, (array, sectors)) in done[2..].iter().zip(expected) {
        assert_eq!(done.record.flash_array_ps, array * US + 20 * NS);
        assert_eq!(done.record.flash_bus_ps, NS + u64::from(sectors) * 128 * NS);
    }
}

#[test]
fn small_reads_are_counted_by_page() {
    let small = "flash.small_read={ size = \"1KiB\", time = [\"30us\"] }";
    let sets: Vec<&str> = TLC.into_iter().chain([small]).collect();
    let times = times_of_reads(&sets, &[(0, 2), (0, 3), (PAGE - 2, 4), (PAGE - 2, 2 + PAGE)]);
    let array: Vec<u64> = times.iter().map(|&(array, _)| (array - 20 * NS) / US).collect();
    assert_eq!(array, [30, 40, 30 + 30, 30 + 50]);
}

#[test]
fn a_read_beside_writes_of_a_unit_leaves_out_what_nobody_wrote() {
    // Only the second page of the unit holds data, so that a read of all of it senses one page.
    let commands =
        [(0, Command::write(PAGE.into(), PAGE)), (100_000 * US, Command::read(0, 4 * PAGE))];
    let done = completions_of_one_die(&TLC, &commands);
    assert_eq!(done[1].record.flash_array_ps, 50 * US + 20 * NS);
    // The program is that of the whole unit, and only the data that there is crosses the channel.
    assert_eq!(done[0].record.flash_array_ps, 4 * 500 * US);
    assert_eq!(done[0].record.flash_bus_ps, NS + 1024 * NS);
}

/// A unit of the drives that are written in a row. Unit: bytes.
const UNIT: f64 = 32_768.0;

/// A drive of units of 32 KiB that is written in a row. `array`: channels, chips of a channel,
/// dies of a chip, planes of a die.
fn stream(array: [u32; 4], page: &str, requests: u32) -> Scenario {
    stream_of("32KiB", array, page, requests)
}

/// As [`stream`], with units of another size.
fn stream_of(unit: &str, array: [u32; 4], page: &str, requests: u32) -> Scenario {
    let device = flash_only("", array, [64, 96], page);
    in_a_row(Scenario::new(&device, &random_writes(16)), requests)
        .set("ftl.mapping.unit", unit)
        .set("flow[0].synthetic.size", unit)
        .set("flow[0].synthetic.align", unit)
}

/// Checks the rate of a stream. `programmed`: bytes that a plane programs at once, as far as the
/// translation layer sees it; `seconds`: the time that this takes.
fn check_rate(drive: &Scenario, planes: u32, programmed: f64, seconds: f64) {
    // All planes of a die are programmed by one command, whose addresses take 361 ns for the first
    // plane and 816 ns for each other one.
    let bytes = f64::from(planes) * programmed;
    let channel = 361e-9 + 816e-9 * f64::from(planes - 1) + bytes / 800e6;
    let expected = bytes / (seconds + channel);
    let found = drive.run().flows[0].bandwidth_bytes_per_s;
    let error = found / expected - 1.0;
    println!("{planes} planes, {seconds} s: {found:.0} B/s, {expected:.0}, {error:+.4}");
    assert!(error.abs() < 0.01, "{planes} planes, {seconds} s: {found} and not {expected}");
    let bounds = Bounds::new(&drive.load().0);
    assert!(found < bounds.array_write_bytes_per_s, "no drive is faster than its array");
    assert!(found > 0.4 * bounds.array_write_bytes_per_s, "the bound knows units");
}

#[test]
fn a_unit_takes_the_programs_of_its_pages() {
    for (page, pages) in [("16KiB", 2), ("4KiB", 8)] {
        for planes in [1, 2] {
            let drive = stream([1, 1, 1, planes], page, 400 * planes);
            check_rate(&drive, planes, UNIT, f64::from(pages) * 500e-6);
        }
    }
    check_rate(&stream_of("64KiB", [1; 4], "16KiB", 400), 1, 2.0 * UNIT, 4.0 * 500e-6);
    // Types of MLC: half of the pages take 300 us.
    let drive = stream([1; 4], "8KiB", 400)
        .set("flash.technology", "mlc")
        .set("flash.program_time", "[\"300us\", \"900us\"]");
    check_rate(&drive, 1, UNIT, 4.0 * 600e-6);
}

#[test]
fn a_word_line_of_units_takes_one_program() {
    let one_shot = |page: &str| {
        stream([1; 4], page, 600)
            .set("flash.technology", "qlc")
            .set("flash.programming", "one-shot")
    };
    // A unit is a word line, which needs no other data.
    let whole = one_shot("8KiB");
    check_rate(&whole, 1, UNIT, 500e-6);
    let summary = whole.run();
    assert_eq!((summary.flash.user_programs, summary.units), (600, None));
    // Two units are a word line of 64 KiB.
    let drive = one_shot("16KiB");
    check_rate(&drive, 1, 2.0 * UNIT, 500e-6);
    let summary = drive.run();
    let units = summary.units.expect("word lines are filled");
    assert_eq!((summary.flash.user_programs, units.per_program, units.padded), (300, 2, 0));
    // In two passes, for each of which the data crosses the channel: two units, or one.
    for unit in ["32KiB", "64KiB"] {
        let summary = stream_of(unit, [1; 4], "16KiB", 600)
            .set("flash.technology", "qlc")
            .set("flash.programming", "two-pass")
            .set("flash.program_time", "[\"200us\", \"300us\"]")
            .run();
        let expected = 65_536.0 / (500e-6 + 2.0 * (361e-9 + 65_536.0 / 800e6));
        let error = summary.flows[0].bandwidth_bytes_per_s / expected - 1.0;
        println!("two passes, {unit}: {error:+.4}");
        assert!(error.abs() < 0.01, "two passes, {unit}: {error:+.4}");
    }
}

#[test]
fn parts_of_units_are_amplified_by_their_share_and_by_collection() {
    let cases = [("4KiB", "16KiB", 4.0), ("16KiB", "32KiB", 8.0), ("16KiB", "64KiB", 16.0)];
    for (page, unit, share) in cases {
        let device = flash_only("", [1; 4], [256, 64], page);
        let mut drive = Scenario::new(&device, &random_writes(16))
            .set("ftl.mapping.unit", unit)
            .set("flow[0].synthetic.requests", 4000);
        drive.options.observe.energy = true;
        let summary = drive.run();
        let (flow, flash) = (&summary.flows[0], &summary.flash);
        assert!(flow.read_modify_writes > 3900, "{} of 4000", flow.read_modify_writes);
        assert_eq!(flow.page_writes, 4000, "nothing merges: every write is a unit");
        let pages = drive.load().0.geometry().pages_per_unit;
        assert_eq!(flash.user_programs, u64::from(pages) * 4000, "a unit is {pages} pages");
        assert!(flash.gc_programs > 0 && flash.gc_programs.is_multiple_of(pages.into()));
        assert_eq!(flash.gc_reads, flash.gc_programs, "whole units are moved");
        // The old data but for 4 KiB: all pages, or all but the one that is written anew.
        let read = u64::from(if page == "4KiB" { pages - 1 } else { pages });
        assert_eq!(flash.user_reads, flow.read_modify_writes * read);
        let page_bytes = drive.load().0.flash.page_size.0;
        let programs = flash.user_programs + flash.gc_programs;
        let of_bytes = (programs * page_bytes) as f64 / flow.bytes.write as f64;
        let of_collection = flow.write_amplification;
        assert!((of_bytes / of_collection / share - 1.0).abs() < 1e-9, "{of_bytes}");
        assert!((flash.write_amplification / of_collection - 1.0).abs() < 1e-9);
        let wear = summary.wear.expect("energy is asked for");
        assert_eq!(wear.programs, programs, "wear counts pages of the flash");
        let found = wear.write_amplification.expect("something was written");
        assert!((found / of_collection - 1.0).abs() < 1e-9, "{found} and {of_collection}");
        println!("{unit} in pages of {page}: {of_bytes:.3}, collection {of_collection:.3}");
    }
}

#[test]
fn everything_beside_large_units_still_holds() {
    let device = flash_only("", [1, 1, 2, 2], [40, 48], "2KiB");
    let base = Scenario::new(&device, &mixed(6000))
        .set("cache.capacity", "128KiB")
        .set("flash.technology", "tlc")
        .set("flash.page_order", "turns")
        .set("flash.read_time", "[\"40us\", \"50us\", \"70us\"]")
        .set("ftl.over_provisioning", "60%");
    let mut scenarios = Vec::new();
    for unit in ["4KiB", "8KiB", "12KiB", "24KiB"] {
        scenarios.extend(watched_in_four_ways(&base.set("ftl.mapping.unit", unit)));
    }
    let word_lines = base.set("ftl.mapping.unit", "6KiB").set("flash.programming", "one-shot");
    scenarios.extend(watched_in_four_ways(&word_lines));
    let large = base.set("flash.page_size", "16KiB").set("flash.technology", "qlc");
    let large = large.set("flash.read_time", "[\"40us\"]").set("ftl.mapping.unit", "64KiB");
    let large = large.set("cache.capacity", "512KiB");
    scenarios.extend(watched_in_four_ways(&large));
    let one_shot = large.set("flash.programming", "one-shot");
    scenarios.extend(watched_in_four_ways(&one_shot));
    let two_pass = large.set("flash.programming", "two-pass");
    let two_pass = two_pass.set("flash.program_time", "[\"200us\", \"300us\"]");
    scenarios.extend(watched_in_four_ways(&two_pass));
    scenarios.extend(watched_in_four_ways(&two_pass.set("ftl.mapping.unit", "32KiB")));
    let planes = base.set("ftl.mapping.unit", "8KiB").set("flash.independent_plane_reads", true);
    scenarios.extend(watched_in_four_ways(&planes));
    scenarios.push(base.set("ftl.mapping.unit", "8KiB").set("ftl.superblock", "drive"));
    scenarios.push(
        base.set("ftl.mapping.unit", "8KiB")
            .set("ftl.superblock", "drive")
            .set("ftl.parity", true)
            .set("ftl.over_provisioning", "120%"),
    );
    scenarios.push(base.set("ftl.mapping.unit", "8KiB").set("ftl.separation", "counts"));
    for summary in run_all(&scenarios) {
        assert!(summary.flash.gc_programs > 0 && summary.flash.erases > 0, "{:?}", summary.flash);
    }
}

#[test]
fn what_large_units_do_not_work_with_is_refused_by_name() {
    let device = flash_only("mapping.unit = \"32KiB\"", [1; 4], [256, 64], "16KiB");
    let problems = |sets: &[&str]| problems(&device, sets).join("\n");
    assert_eq!(problems(&[]), "");
    assert_eq!(problems(&["ftl.mapping.unit=64KiB"]), "");
    let one_shot = ["flash.technology=mlc", "flash.programming=one-shot"];
    assert_eq!(problems(&one_shot), "");
    let (programming, times) = ("flash.programming=two-pass", "[\"1us\", \"2us\"]");
    let times = format!("flash.program_time={times}");
    assert_eq!(problems(&["flash.technology=mlc", programming, &times]), "");
    for (sets, part) in [
        (&["ftl.mapping.unit=24KiB"][..], "found 24KiB, allowed: divisors and multiples of"),
        (&["ftl.mapping.unit=128KiB"], "ftl.mapping.unit: found 128KiB, allowed"),
        (
            &["ftl.mapping.unit=60KiB", "flash.page_size=7680B", "flash.pages_per_block=64"],
            "up to 32KiB with pages of 7680B",
        ),
        (&["flash.page_size=1KiB"], "found 32KiB, allowed: at most 16 pages of 1KiB"),
        (&["flash.pages_per_block=65"], "a block of 65 pages (16KiB each) holds a whole number"),
        (&["flash.pages_per_block=6"], "and at least 4"),
        (
            &["flash.technology=tlc", "flash.programming=one-shot", "flash.page_order=turns"],
            "one-shot\" sizes of which a word line of 3 pages (16KiB each) holds a whole number",
        ),
        (&["flash.cache_program=true"], "the page (16KiB) with flash.cache_program"),
        (&["flash.technology=tlc", "errors.model=tlc-3d"], "the page (16KiB) with [errors]"),
        (
            &["flash.independent_plane_reads=true", "flash.cache_read=true"],
            "the page (16KiB) with flash.cache_read",
        ),
        (&["ftl.mapping.ideal=false"], "the page (16KiB) with ftl.mapping.ideal = false"),
        (&["ftl.mapping.kind=hybrid"], "the page (16KiB) with hybrid mapping"),
        (&["ftl.gc.copyback=true"], "the page (16KiB) with ftl.gc.copyback"),
        (&["ftl.gc.victim=none"], "the page (16KiB) with victim none"),
        (&["compat.padded_sqe=true"], "the page (16KiB) with switches of compat"),
        (&["ftl.mapping.fill_time=1ms"], "fill_time: found 1ms, allowed: only with"),
    ] {
        let found = problems(sets);
        assert!(found.contains(part), "{sets:?}: {found}");
    }
}
