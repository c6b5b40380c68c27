//! Word lines that are programmed in two passes (`flash.programming = "two-pass"`): their rate, the
//! order of the passes, what waits in memory, and what is refused. `theory_units.rs` compares their
//! amplification with theory.

use crate::common::{
    Scenario, flash_only, mixed, problems, random_writes, run_all, watched_in_four_ways,
};
use crate::word_lines::{in_a_row, stepped_with};
use flashlane::Time;
use flashlane::config::bounds::Bounds;
use flashlane::drive::{Command, Drive};
use flashlane::metrics::UnitSummary;
use proptest::prelude::*;

const US: u64 = 1_000_000;

/// A drive of TLC with passes of 300 us and 900 us. `array`: channels, chips of a channel, dies of
/// a chip, planes of a die.
fn two_pass(array: [u32; 4], workload: &str) -> Scenario {
    Scenario::new(&flash_only("", array, [64, 96], "16KiB"), workload)
        .set("flash.technology", "tlc")
        .set("flash.programming", "two-pass")
        .set("flash.page_order", "turns")
        .set("flash.program_time", "[\"300us\", \"900us\"]")
}

/// Pages of 16 KiB in a row, past the cache, to an empty drive.
fn stream(array: [u32; 4], depth: u32, requests: u32) -> Scenario {
    in_a_row(two_pass(array, &random_writes(depth)), requests)
}

#[test]
fn a_deep_stream_takes_both_passes_and_two_transfers_for_each_word_line() {
    for (planes, cached) in [(1, false), (2, false), (4, false), (1, true), (2, true)] {
        let pages = 3 * planes;
        let mut scenario = stream([1, 1, 1, planes], 8 * pages, 400 * pages);
        if cached {
            scenario = scenario.set("flow[0].cache", "write").set("cache.capacity", "4MiB");
        }
        let summary = scenario.run();
        let word_lines = f64::from(pages) * 16_384.0;
        // As for one pass: all planes of a die have one command, and the data crosses the channel.
        let transfer = word_lines / 800e6 + 361e-9 + 816e-9 * f64::from(planes - 1);
        let expected = word_lines / (300e-6 + 900e-6 + 2.0 * transfer);
        // Data that is only in the cache at the end has not been written.
        let in_flash = f64::from(u32::try_from(summary.flash.user_programs).expect("few"));
        let found = if cached {
            in_flash * word_lines / f64::from(planes) / summary.window_end_s
        } else {
            summary.flows[0].bandwidth_bytes_per_s
        };
        let error = found / expected - 1.0;
        println!("{planes} planes, {cached}: {found:.0} B/s, {expected:.0}, {error:+.4}");
        assert!(error.abs() < 0.01, "{planes} planes: {found} and not {expected}");
        let units = summary.units.expect("word lines are filled");
        assert_eq!(units.padded, 0);
        if cached {
            continue;
        }
        let programs = 400 * u64::from(planes);
        assert_eq!(summary.flash.user_programs, programs, "one for a word line of a plane");
        assert_eq!(units.first_passes, Some(programs), "as many first passes");
        assert_eq!(units.early_second_passes, Some(planes.into()), "those at the end of the run");
        let commands = summary.flash.multiplane_commands;
        let joined = if planes == 1 { 0 } else { 2 * programs / u64::from(planes) };
        assert!(commands <= joined && commands >= joined * 9 / 10, "{commands} of {joined}");
        let bounds = Bounds::new(&scenario.load().0);
        assert!(found < bounds.array_write_bytes_per_s, "no drive is faster than its array");
        assert!(found > 0.5 * bounds.array_write_bytes_per_s, "the bound knows both passes");
    }
}

/// One plane without a cache, an empty drive that is stepped. A block has four word lines.
fn stepped(sets: &[&str]) -> Drive {
    let keys = [
        "flash.programming=two-pass",
        "flash.program_time=[\"300us\", \"900us\"]",
        "flash.pages_per_block=12",
        "ftl.over_provisioning=1.0",
        "ftl.mapping.fill_time=100ms",
    ];
    stepped_with(&keys, sets)
}

/// Writes the first pages of the drive at once, and returns the time at which each word line was
/// complete. Unit: microseconds.
fn ends_of_word_lines(drive: &mut Drive, pages: u64) -> Vec<u64> {
    for page in 0..pages {
        drive.submit(Time(0), 0, Command::write(32 * page, 32), page).expect("accepted");
    }
    let mut done = Vec::new();
    drive.advance(Time(1_000_000 * US), &mut done).expect("everything ends");
    done.sort_by_key(|completion| completion.cookie);
    assert_eq!(done.len() as u64, pages);
    for completion in &done {
        assert_eq!(completion.record.flash_array_ps / US, 1200, "both passes");
    }
    done.chunks(3).map(|row| row[0].record.complete_ps / US).collect()
}

/// One transfer of a word line and its command. Unit: microseconds.
const TRANSFER: u64 = 61;

#[test]
fn passes_of_neighbours_alternate() {
    // Six word lines: a block of four, and two of the next block. The last one of the first block
    // has its second pass when that of the word line before is over. The last one of all waits for
    // 100 ms for a neighbour.
    let mut drive = stepped(&[]);
    let ends = ends_of_word_lines(&mut drive, 18);
    let after = |firsts: u64, seconds: u64| firsts * (300 + TRANSFER) + seconds * (900 + TRANSFER);
    let mut expected =
        vec![after(2, 1), after(3, 2), after(4, 3), after(4, 4), after(6, 5), after(6, 6)];
    expected[5] += 100_000;
    for (found, expected) in ends.iter().zip(&expected) {
        assert!(found.abs_diff(*expected) < 40, "{ends:?} and not {expected:?}");
    }
    let summary = drive.summary().expect("a summary");
    let units = summary.units.expect("word lines are filled");
    assert_eq!((units.first_passes, units.early_second_passes), (Some(6), Some(1)));
    assert_eq!((summary.flash.user_programs, units.padded), (6, 0));
    assert_eq!(summary.flash.write_amplification, 1.0);
}

#[test]
fn a_whole_block_waits_for_nothing() {
    let mut drive = stepped(&[]);
    let ends = ends_of_word_lines(&mut drive, 12);
    let all = 4 * (1200 + 2 * TRANSFER);
    assert!(ends[3].abs_diff(all) < 40, "{ends:?}, {all} in the end");
    let units = drive.summary().expect("a summary").units.expect("word lines are filled");
    assert_eq!((units.early_second_passes, units.padded), (Some(0), 0));
    assert!(units.waiting_max <= 5, "{}", units.waiting_max);
}

#[test]
fn a_word_line_that_is_padded_has_its_second_pass_without_a_neighbour() {
    let mut drive = stepped(&[]);
    let ends = ends_of_word_lines(&mut drive, 1);
    // The word line waits for more pages, and then for the next word line.
    let all = 2 * 100_000 + 1200 + 2 * TRANSFER;
    assert!(ends[0].abs_diff(all) < 40, "{ends:?} and not {all}");
    let units = drive.summary().expect("a summary").units.expect("word lines are filled");
    assert_eq!((units.padded, units.early_second_passes, units.waiting_max), (2, Some(1), 1));
}

#[test]
fn pages_are_read_from_memory_until_their_second_pass_is_over() {
    let mut drive = stepped(&[]);
    let mut done = Vec::new();
    for page in 0..3 {
        drive.submit(Time(0), 0, Command::write(32 * page, 32), 1000).expect("accepted");
    }
    // During the first pass, between the passes, during the second pass, and after it.
    for (at, cookie) in [(200, 1), (50_000, 2), (100_800, 3), (103_000, 4)] {
        drive.submit(Time(at * US), 0, Command::read(32, 32), cookie).expect("accepted");
    }
    drive.advance(Time(1_000_000 * US), &mut done).expect("everything ends");
    done.retain(|completion| completion.cookie < 1000);
    done.sort_by_key(|completion| completion.cookie);
    let array: Vec<u64> =
        done.iter().map(|completion| completion.record.flash_array_ps / US).collect();
    assert_eq!(array, [0, 0, 0, 56]);
    let units = drive.summary().expect("a summary").units.expect("word lines are filled");
    let UnitSummary { buffered_reads, waiting_max, .. } = units;
    assert_eq!((buffered_reads, waiting_max), (3, 3), "a word line waits for the next one");
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
requests = 1000
"#;

#[test]
fn a_flush_brings_word_lines_through_both_passes_unless_memory_survives() {
    let log = two_pass([1, 1, 1, 2], LOG)
        .set("ftl.precondition.enabled", false)
        .set("ftl.mapping.fill_time", "1s");
    let [volatile, protected] = [log.run(), log.set("power_loss_protection", true).run()];
    let flushes = volatile.flows[0].requests.flush;
    assert_eq!(flushes, protected.flows[0].requests.flush);
    let [with, without] = [&volatile, &protected].map(|s| &s.flows[0].flush_response_time_us);
    assert!(with.mean > 600.0 && with.max < 10_000.0, "both passes: {} {}", with.mean, with.max);
    assert!(without.max < 20.0, "a flush has no effect: {}", without.max);
    let early = volatile.units.and_then(|units| units.early_second_passes).expect("counted");
    assert!(early > flushes / 4, "{early} of {flushes}");
    let units = protected.units.expect("counted");
    assert!(units.early_second_passes < Some(8), "{units:?}");
}

#[test]
fn everything_beside_the_passes_still_holds() {
    let base = two_pass([1, 1, 1, 2], &mixed(4000))
        .set("flash.blocks_per_plane", 64)
        .set("flash.pages_per_block", 24)
        .set("cache.capacity", "128KiB")
        .set("ftl.over_provisioning", "60%");
    let mut scenarios = Vec::new();
    for (technology, unit) in [("mlc", "16KiB"), ("tlc", "16KiB"), ("qlc", "4KiB")] {
        let base = base.set("flash.technology", technology).set("ftl.mapping.unit", unit);
        scenarios.extend(watched_in_four_ways(&base));
        let interrupted = base.set("flash.suspend.program", true);
        scenarios.push(interrupted.set("flash.suspend.program_time", "20us"));
    }
    for summary in run_all(&scenarios) {
        assert!(summary.flash.gc_programs > 0 && summary.flash.erases > 0, "{:?}", summary.flash);
        let units = summary.units.expect("units are counted");
        // Two planes, flows and streams.
        let bound = 8 * (2 * units.per_program - 1);
        assert!(units.waiting_max > 0 && units.waiting_max <= bound, "{units:?}");
        let programs = summary.flash.user_programs + summary.flash.gc_programs;
        let firsts = units.first_passes.expect("counted");
        // A few have one pass inside the window.
        assert!(firsts.abs_diff(programs) <= 16, "{firsts} first passes of {programs} programs");
    }
}

#[test]
fn energy_counts_both_passes_and_wear_counts_word_lines() {
    let mut scenario = stream([1; 4], 24, 600).set("energy.program_power", "50mW");
    scenario.options.observe.energy = true;
    let summary = scenario.run();
    let energy = summary.energy.expect("energy is measured");
    let programs = summary.flash.user_programs;
    assert_eq!(programs, 200);
    assert_eq!(energy.programs_pj, programs * 1200 * 50_000, "50 mW for 1200 us each");
    let wear = summary.wear.expect("wear is measured");
    assert_eq!((wear.programs, wear.write_amplification), (200, Some(1.0)));
}

#[test]
fn what_two_passes_do_not_work_with_is_refused_by_name() {
    let problems = |sets: &[&str]| {
        let fixed = [
            "flash.technology=tlc",
            "flash.programming=two-pass",
            "flash.program_time=[\"300us\", \"900us\"]",
        ];
        let device = flash_only("", [1; 4], [256, 96], "16KiB");
        problems(&device, &[&fixed, sets].concat()).join("\n")
    };
    let turns = "flash.page_order=turns";
    assert_eq!(problems(&[turns]), "");
    assert_eq!(problems(&["flash.technology=qlc"]), "", "only TLC has two orders");
    let page = |with: &str| format!("flash.programming: found two-pass, allowed: page with {with}");
    for (sets, part) in [
        (&[][..], "flash.page_order: found mqsim, allowed: turns with tlc".to_owned()),
        (&[turns, "flash.pages_per_block=64"], "found 64, allowed: multiples of 3".to_owned()),
        (
            &[turns, "flash.program_time=[\"1us\"]"],
            "flash.program_time: found 1 values, allowed: 2 with".to_owned(),
        ),
        (
            &[turns, "flash.program_time=[\"1us\", \"2us\", \"3us\"]"],
            "flash.program_time: found 3 values, allowed: 2 with".to_owned(),
        ),
        (&[turns, "flash.technology=slc"], page("slc")),
        (&[turns, "flash.cache_program=true"], page("flash.cache_program")),
        (&[turns, "ftl.mapping.ideal=false"], page("ftl.mapping.ideal = false")),
        (&[turns, "ftl.mapping.kind=hybrid"], page("hybrid mapping")),
        (&[turns, "ftl.superblock=drive"], page("superblocks")),
        (&[turns, "ftl.gc.copyback=true"], page("ftl.gc.copyback")),
        (&[turns, "ftl.gc.victim=none"], page("victim none")),
        (&[turns, "isolation=upi"], page("isolation policies that move sets")),
        (&[turns, "flash.technology=in-place"], page("memory that is written in place")),
        (&[turns, "compat.padded_sqe=true"], page("switches of compat")),
        (&[turns, "ftl.separation=counts"], "flash.programming = \"two-pass\"".to_owned()),
    ] {
        let found = problems(sets);
        assert!(found.contains(&part), "{sets:?}: {found}");
    }
}

/// What a host does next, after a pause in microseconds: operation, and a page.
fn steps() -> impl Strategy<Value = Vec<(u64, u8, u64)>> {
    prop::collection::vec((0_u64..3000, 0_u8..10, 0_u64..38), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever the host does, every request ends, every word line has both passes, and the audits
    /// hold.
    #[test]
    fn every_word_line_has_both_passes(
        steps in steps(),
        fill_time in prop::sample::select(vec!["1us", "200us", "5ms", "1s"]),
        cached: bool,
        spare in prop::sample::select(vec!["80%", "400%"]),
    ) {
        let cache = if cached { "cache.capacity=256KiB" } else { "cache.capacity=0B" };
        let mut drive = stepped(&[
            &format!("ftl.mapping.fill_time={fill_time}"),
            &format!("ftl.over_provisioning={spare}"),
            cache,
            "flash.blocks_per_plane=16",
        ]);
        let (mut at, mut done) = (0, Vec::new());
        for (cookie, &(pause, what, page)) in (0..).zip(&steps) {
            at += pause;
            let command = match what {
                0..=6 => Command::write(32 * page, 32),
                7 => Command::read(32 * page, 32),
                8 => Command::trim(32 * page, 32),
                _ => Command::flush(),
            };
            drive.submit(Time(at * US), 0, command, cookie).expect("accepted");
        }
        drive.advance(Time((at + 60_000_000) * US), &mut done).expect("everything ends");
        prop_assert_eq!(done.len(), steps.len());
        let summary = drive.summary().expect("a summary");
        let units = summary.units.expect("word lines are filled");
        let programs = summary.flash.user_programs + summary.flash.gc_programs;
        prop_assert_eq!(units.first_passes, Some(programs));
        prop_assert!(units.early_second_passes <= units.first_passes);
        prop_assert!(units.waiting_max <= 2 * (2 * 3 - 1));
    }
}
