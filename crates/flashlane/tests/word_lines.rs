//! Word lines that are programmed at once (`flash.programming = "one-shot"`): their rate, their
//! reads, what waits in memory, and what is refused. `theory_units.rs` compares their amplification
//! with theory.

use crate::common::{
    Scenario, flash_only, mixed, problems, random_writes, run_all, watched_in_four_ways,
};
use flashlane::Time;
use flashlane::config::bounds::Bounds;
use flashlane::config::load::{Overrides, device_from_toml};
use flashlane::config::validate::validate_device;
use flashlane::drive::{Command, Drive, DriveOptions, Tenant};
use flashlane::metrics::UnitSummary;

const US: u64 = 1_000_000;

/// A drive of one-shot TLC. `array`: channels, chips of a channel, dies of a chip, planes of a die.
fn one_shot(array: [u32; 4], workload: &str) -> Scenario {
    Scenario::new(&flash_only("", array, [64, 96], "16KiB"), workload)
        .set("flash.technology", "tlc")
        .set("flash.programming", "one-shot")
        .set("flash.page_order", "turns")
}

/// Pages of 16 KiB in a row, past the cache, to an empty drive.
fn stream(array: [u32; 4], depth: u32, requests: u32) -> Scenario {
    in_a_row(one_shot(array, &random_writes(depth)), requests)
}

/// A drive that is empty, and whose flow writes pages of 16 KiB in a row.
pub(crate) fn in_a_row(drive: Scenario, requests: u32) -> Scenario {
    drive
        .set("flow[0].synthetic.size", "16KiB")
        .set("flow[0].synthetic.align", "16KiB")
        .set("flow[0].synthetic.address", "streaming")
        .set("flow[0].synthetic.requests", requests)
        .set("ftl.precondition.enabled", false)
}

#[test]
fn a_deep_stream_takes_one_program_and_its_transfers_for_each_word_line() {
    // All planes of a die are programmed by one command, whose addresses take 361 ns for the first
    // plane and 816 ns for each other one.
    for (dies, planes) in [(1, 1), (1, 2), (1, 4), (2, 2)] {
        let pages = 3 * planes;
        let scenario = stream([1, 1, dies, planes], 4 * pages * dies, 400 * pages * dies);
        let summary = scenario.run();
        let word_lines = f64::from(pages) * 16_384.0;
        let transfer = word_lines / 800e6 + 361e-9 + 816e-9 * f64::from(planes - 1);
        // While one die programs, the other one is sent its next word lines.
        let expected = f64::from(dies) * word_lines / (500e-6 + transfer);
        let found = summary.flows[0].bandwidth_bytes_per_s;
        let error = found / expected - 1.0;
        println!(
            "{dies} dies, {planes} planes: {found:.0} B/s, {expected:.0} expected, {error:+.4}"
        );
        assert!(error.abs() < 0.01, "{dies} dies, {planes} planes: {found} and not {expected}");
        let programs = 400 * u64::from(planes * dies);
        assert_eq!(summary.flash.user_programs, programs, "one for a word line of a plane");
        let commands = summary.flash.multiplane_commands;
        let joined = if planes == 1 { 0 } else { programs / u64::from(planes) };
        assert!(commands <= joined && commands >= joined * 9 / 10, "{commands} of {joined}");
        let bounds = Bounds::new(&scenario.load().0);
        assert!(found < bounds.array_write_bytes_per_s, "no drive is faster than its array");
        assert!(found > 0.5 * bounds.array_write_bytes_per_s, "the bound knows word lines");
    }
}

#[test]
fn a_program_of_a_word_line_takes_the_time_of_a_page() {
    let pages = stream([1; 4], 24, 600).set("flash.programming", "page");
    let [page, one_shot] = [pages.run(), stream([1; 4], 24, 600).run()];
    assert_eq!((page.flash.user_programs, page.units), (600, None));
    let units = one_shot.units.expect("word lines are filled");
    assert_eq!((one_shot.flash.user_programs, units.padded), (200, 0));
    assert_eq!((units.per_page, units.per_program), (1, 3));
    assert_eq!(units.waiting_max, 2, "two pages wait for the third");
    // (500 us + 20.8 us) for one page, and (500 us + 61.8 us) for three.
    let faster = page.window_end_s / one_shot.window_end_s;
    assert!((faster / (3.0 * 520.84 / 561.8) - 1.0).abs() < 0.01, "{faster}");
}

/// One plane without a cache, an empty drive that is stepped.
fn stepped(sets: &[&str]) -> Drive {
    stepped_with(&["flash.programming=one-shot", "ftl.mapping.fill_time=10s"], sets)
}

/// A drive that is stepped: one plane of TLC without a cache, empty, with some more keys.
pub(crate) fn stepped_with(keys: &[&str], more: &[&str]) -> Drive {
    let fixed = [
        "flash.technology=tlc",
        "flash.page_order=turns",
        "flash.read_time=[\"45us\", \"56us\", \"68us\"]",
        "ftl.precondition.enabled=false",
        "cache.capacity=0B",
    ];
    let sets = fixed.iter().chain(keys).chain(more).map(|&set| set.to_owned()).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    let text = flash_only("", [1; 4], [64, 96], "16KiB");
    let device = device_from_toml(&text, "device", &overrides).expect("a device").config;
    assert!(validate_device(&device).is_empty(), "{:?}", validate_device(&device));
    let options = DriveOptions { check: true, ..DriveOptions::default() };
    Drive::with_options(&device, &[Tenant::named("one")], 1, &options).expect("a drive")
}

#[test]
fn pages_of_a_word_line_are_read_in_the_times_of_their_types() {
    let mut drive = stepped(&[]);
    let mut done = Vec::new();
    for page in 0..12 {
        drive.submit(Time(page * US), 0, Command::write(32 * page, 32), 1000).expect("accepted");
        let at = Time((100_000 + 1000 * page) * US);
        drive.submit(at, 0, Command::read(32 * page, 32), page).expect("accepted");
    }
    drive.advance(Time(1_000_000 * US), &mut done).expect("everything ends");
    done.retain(|completion| completion.cookie < 1000);
    done.sort_by_key(|completion| completion.cookie);
    let array: Vec<u64> =
        done.iter().map(|completion| completion.record.flash_array_ps / US).collect();
    assert_eq!(array, [45, 56, 68].repeat(4));
}

#[test]
fn pages_that_wait_for_their_word_line_are_read_from_memory() {
    let mut drive = stepped(&[]);
    let mut done = Vec::new();
    // Two pages wait. The third one comes later, and completes the word line.
    for page in 0..2 {
        drive.submit(Time(page * US), 0, Command::write(32 * page, 32), 1000).expect("accepted");
    }
    drive.submit(Time(3000 * US), 0, Command::read(0, 64), 1).expect("accepted");
    drive.advance(Time(4000 * US), &mut done).expect("the read ends");
    assert_eq!(done.len(), 1, "the writes wait");
    assert_eq!((done[0].cookie, done[0].record.flash_array_ps), (1, 0));
    drive.submit(Time(5000 * US), 0, Command::write(64, 32), 1000).expect("accepted");
    drive.submit(Time(5100 * US), 0, Command::read(64, 32), 2).expect("accepted");
    drive.advance(Time(5200 * US), &mut done).expect("the read ends");
    assert_eq!(done.last().map(|last| (last.cookie, last.record.flash_array_ps)), Some((2, 0)));
    drive.submit(Time(9000 * US), 0, Command::read(64, 32), 3).expect("accepted");
    drive.advance(Time(20_000 * US), &mut done).expect("everything ends");
    assert_eq!(done.len(), 6, "all writes are over with their word line");
    let last = done.iter().find(|completion| completion.cookie == 3).expect("it ended");
    assert_eq!(last.record.flash_array_ps / US, 68, "read from flash");
    let units = drive.summary().expect("a summary").units.expect("word lines are filled");
    let UnitSummary { padded, buffered_reads, joined_reads, waiting_max, .. } = units;
    assert_eq!((padded, buffered_reads, joined_reads, waiting_max), (0, 3, 0, 2));
}

/// A database's log: a write of a page into the cache and then a flush, again and again.
const LOG: &str = r#"
[[flow]]
name = "log"
cache = "write"
[flow.synthetic]
queue_depth = 1
size = "16KiB"
align = "16KiB"
flush_ratio = 0.5
requests = 2000
"#;

#[test]
fn a_flush_pads_word_lines_unless_memory_survives() {
    let log = one_shot([1, 1, 1, 2], LOG)
        .set("ftl.precondition.enabled", false)
        .set("ftl.mapping.fill_time", "1s");
    let [volatile, protected] = [log.run(), log.set("power_loss_protection", true).run()];
    let flushes = volatile.flows[0].requests.flush;
    assert_eq!(flushes, protected.flows[0].requests.flush);
    assert!(flushes > 900);
    let units = [&volatile, &protected].map(|summary| summary.units.expect("units are counted"));
    // A flush after one write wastes two pages of three. After the last request nothing is flushed.
    assert!(units[0].padded > flushes / 2, "{} after {flushes} flushes", units[0].padded);
    assert!(units[1].padded <= 4, "{} in two word lines at the end", units[1].padded);
    let [with, without] = [&volatile, &protected].map(|s| &s.flows[0].flush_response_time_us);
    assert!(with.mean > 200.0, "a flush programs: {}", with.mean);
    assert!(without.max < 20.0, "a flush has no effect: {}", without.max);
    let [more, less] = [&volatile, &protected].map(|summary| summary.flash.user_programs);
    assert!(2 * less < more, "{less} and {more} programs");
}

#[test]
fn protected_memory_needs_no_flush_without_word_lines_either() {
    let log = Scenario::new(&flash_only("", [1, 1, 1, 2], [64, 96], "16KiB"), LOG);
    let summary = log.set("power_loss_protection", true).run();
    let flush = &summary.flows[0].flush_response_time_us;
    assert!(flush.count > 900 && flush.max < 20.0, "{}", flush.max);
    let default = log.set("power_loss_protection", false).run();
    assert!(default.flows[0].flush_response_time_us.mean > 200.0);
}

#[test]
fn everything_beside_word_lines_still_holds() {
    let base = one_shot([1, 1, 1, 2], &mixed(5000))
        .set("flash.blocks_per_plane", 64)
        .set("flash.pages_per_block", 24)
        .set("cache.capacity", "128KiB")
        .set("ftl.over_provisioning", "60%");
    let mut scenarios = Vec::new();
    for (technology, unit) in [("mlc", "16KiB"), ("tlc", "16KiB"), ("qlc", "4KiB")] {
        let base = base.set("flash.technology", technology).set("ftl.mapping.unit", unit);
        scenarios.extend(watched_in_four_ways(&base));
    }
    for summary in run_all(&scenarios) {
        assert!(summary.flash.gc_programs > 0 && summary.flash.erases > 0, "{:?}", summary.flash);
        let units = summary.units.expect("units are counted");
        // Two planes, flows and streams.
        assert!(units.waiting_max > 0 && units.waiting_max <= 8 * (units.per_program - 1));
    }
}

#[test]
fn what_word_lines_do_not_work_with_is_refused_by_name() {
    let problems = |sets: &[&str]| {
        let fixed = ["flash.technology=tlc", "flash.programming=one-shot"];
        let device = flash_only("", [1; 4], [256, 96], "16KiB");
        problems(&device, &[&fixed, sets].concat()).join("\n")
    };
    let turns = "flash.page_order=turns";
    assert_eq!(problems(&[turns]), "");
    assert_eq!(problems(&["flash.technology=qlc"]), "", "only TLC has two orders");
    let page = |with: &str| format!("flash.programming: found one-shot, allowed: page with {with}");
    for (sets, part) in [
        (&[][..], "flash.page_order: found mqsim, allowed: turns with tlc".to_owned()),
        (&[turns, "flash.pages_per_block=64"], "found 64, allowed: multiples of 3".to_owned()),
        (
            &[turns, "flash.program_time=[\"1us\", \"2us\", \"3us\"]"],
            "flash.program_time: found 3 values, allowed: 1 with".to_owned(),
        ),
        (&[turns, "ftl.mapping.ideal=false"], page("ftl.mapping.ideal = false")),
        (&[turns, "ftl.mapping.kind=hybrid"], page("hybrid mapping")),
        (&[turns, "ftl.gc.copyback=true"], page("ftl.gc.copyback")),
        (&[turns, "ftl.gc.victim=none"], page("victim none")),
        (&[turns, "isolation=upi"], page("isolation policies that move sets")),
        (&[turns, "flash.technology=in-place"], page("memory that is written in place")),
        (&[turns, "compat.padded_sqe=true"], page("switches of compat")),
        (
            &["flash.technology=slc", "ftl.mapping.fill_time=1ms"],
            "flash.programming = \"one-shot\" or \"two-pass\" and several bits per cell".to_owned(),
        ),
    ] {
        let found = problems(sets);
        assert!(found.contains(&part), "{sets:?}: {found}");
    }
}
