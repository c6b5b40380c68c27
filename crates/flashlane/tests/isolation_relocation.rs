//! Data that goes home to its owner's set, by collection, read scrubbing and wear levelling, and
//! what UPI is for.

use crate::common::{SMALL_DRIVE, Scenario};
use flashlane::Warmup;
use flashlane::metrics::Summary;
use flashlane::metrics::summary::IsolationSummary;

/// A tenant that reads a third of its space again and again, beside one that writes in bursts and
/// one that writes all the time.
const TENANTS: &str = r#"
[[flow]]
name = "reader"
cache = "off"
[flow.synthetic]
iops = 800.0
read_ratio = 0.97
size = "4KiB"
align = "4KiB"
working_set = 0.3
duration = "60s"

[[flow]]
name = "writer"
cache = "off"
[flow.synthetic]
iops = 1200.0
read_ratio = 0.3
size = "4KiB"
align = "4KiB"
duration = "60s"

[[flow]]
name = "other"
cache = "off"
[flow.synthetic]
iops = 800.0
read_ratio = 0.6
size = "4KiB"
align = "4KiB"
duration = "60s"
"#;

/// UPI with the defaults, but for a window that is short enough for these runs.
const UPI: &str = "{ upi = { window = \"100ms\" } }";

/// UPI in which reads do not affect the choice of a victim.
const LAZY: &str = "{ upi = { window = \"100ms\", relocation = 0.0 } }";

fn upi() -> Scenario {
    drive().set("isolation", UPI)
}

/// The second half of a minute counts.
fn drive() -> Scenario {
    let mut scenario = Scenario::new(SMALL_DRIVE, TENANTS);
    scenario.options.warmup = Warmup::Time(30_000_000_000_000);
    scenario.options.check = false;
    scenario
        .set("flash.chips_per_channel", 4)
        .set("ftl.over_provisioning", "100%")
        .set("flow[0].occupancy", 0.3)
        .set("scheduler", "host-first")
        .set("ftl.allocation", "dynamic")
        .set("ftl.precondition.placement", "random")
        .set("ftl.gc.victim", "greedy")
        .set("ftl.gc.threshold", "10 blocks")
        .set("ftl.precondition.open_blocks", true)
}

fn sets_of(summary: &Summary) -> &IsolationSummary {
    summary.isolation_sets.as_ref().expect("sets that change")
}

fn p99_of_reader(summary: &Summary) -> f64 {
    summary.flows[0].read_response_time_us.p99
}

/// The sign of UPI's main result, on a small case: the tail of the tenant that reads lies between
/// that without isolation and that of fixed chips.
#[test]
fn upi_shelters_the_tail_of_a_reader_in_every_seed() {
    for seed in 1..=3 {
        let p99 =
            |isolation: &str| p99_of_reader(&drive().set("isolation", isolation).seed(seed).run());
        let (unified, partitioned) = (p99("unified"), p99("partitioned"));
        let upi = p99_of_reader(&upi().seed(seed).run());
        println!("seed {seed}: unified {unified:.0}, partitioned {partitioned:.0}, upi {upi:.0}");
        assert!(upi < 0.95 * unified, "seed {seed}: {upi} against {unified}");
        assert!(partitioned < unified, "seed {seed}: {partitioned} against {unified}");
    }
}

/// With the default weight of reads: without it less of the reader's data comes home.
#[test]
fn relocation_moves_the_data_of_a_reader_home_by_default() {
    for seed in 1..=3 {
        let run = |scenario: Scenario| {
            let summary = scenario.seed(seed).run();
            let sets = sets_of(&summary);
            assert_eq!(sets.sets[0].len(), 1, "the reader gives chips away");
            (sets.away_pages[0], sets.away_reads[0])
        };
        let with = run(upi());
        let without = run(drive().set("isolation", LAZY));
        println!("seed {seed}: pages and reads away {with:?}, without relocation {without:?}");
        assert!(20 * with.0 < 17 * without.0, "seed {seed}: pages {with:?} against {without:?}");
        assert!(with.1 < without.1, "seed {seed}: reads {with:?} against {without:?}");
    }
}

/// The summary says which chips a tenant has, window by window.
#[test]
fn the_windows_name_the_owner_of_each_chip() {
    let summary = upi().run();
    let sets = sets_of(&summary);
    let mut at_end = vec![Vec::new(); 3];
    for window in &sets.windows {
        at_end = vec![Vec::new(); 3];
        for (owner, chip) in window.owners.iter().zip(0..) {
            at_end[owner.expect("every chip has an owner") as usize].push(chip);
        }
        let sizes: Vec<u32> = at_end.iter().map(|chips| chips.len() as u32).collect();
        assert_eq!(sizes, window.chips);
    }
    assert_eq!(at_end, sets.sets);
}

/// Reads alone have data moved, and only beyond the limit.
#[test]
fn read_scrubbing_moves_blocks_that_are_read_often() {
    let run = |limit: u32| {
        drive()
            .set("isolation", "unified")
            .set("flow[1].synthetic.read_ratio", 1.0)
            .set("flow[2].synthetic.read_ratio", 1.0)
            .set("ftl.read_scrubbing.limit", limit)
            .set("flow[0].synthetic.read_ratio", 1.0)
            .run()
    };
    let (off, on, high) = (run(0), run(200), run(1_000_000));
    for summary in [&off, &high] {
        assert_eq!(summary.flash.read_scrubbing_moves, 0);
        assert_eq!(summary.flash.erases, off.flash.erases);
    }
    assert!(on.flash.read_scrubbing_moves > 100, "{}", on.flash.read_scrubbing_moves);
    assert!(on.flash.gc_programs > off.flash.gc_programs);
    assert_eq!(on.flash.zero_fill_reads, off.flash.zero_fill_reads, "no page got lost");
}

/// What read scrubbing and wear levelling move goes to its owner's set.
#[test]
fn scrubbing_and_wear_levelling_move_data_home() {
    // Collection never looks at reads, so that what comes home more comes by the other two.
    let base = |key: &str, value: u32| {
        let summary = drive()
            .set("isolation", LAZY)
            .set("ftl.wear_leveling.static_threshold", 0)
            .set(key, value)
            .run();
        let moved = summary.flash.read_scrubbing_moves + summary.flash.wear_leveling_moves;
        (moved, sets_of(&summary).away_pages[0])
    };
    let plain = base("ftl.read_scrubbing.limit", 0);
    let scrubbed = base("ftl.read_scrubbing.limit", 200);
    let levelled = base("ftl.wear_leveling.static_threshold", 2);
    println!("moves and pages away: {plain:?}, scrubbed {scrubbed:?}, levelled {levelled:?}");
    assert_eq!(plain.0, 0);
    for (moves, away) in [scrubbed, levelled] {
        assert!(moves > 5, "{moves} moves");
        assert!(away < plain.1, "{away} pages away, without {}", plain.1);
    }
}

/// Random places: every plane holds as much as with stripes, but neighbours lie anywhere.
#[test]
fn random_placement_spreads_neighbours_unevenly() {
    let quiet = |placement: &str| {
        drive()
            .set("isolation", "unified")
            .set("flow[1].synthetic.iops", 1.0)
            .set("flow[2].synthetic.iops", 1.0)
            .set("flow[0].synthetic.iops", 10.0)
            .set("flow[0].synthetic.read_ratio", 1.0)
            .set("flow[0].synthetic.size", "48KiB")
            .set("ftl.precondition.placement", placement)
            .run()
    };
    let (striped, random) = (quiet("striped"), quiet("random"));
    let mean = |summary: &Summary| summary.flows[0].read_response_time_us.mean;
    println!("twelve pages: {:.0} us striped, {:.0} us at random", mean(&striped), mean(&random));
    assert!(mean(&random) > 1.2 * mean(&striped), "some of the twelve meet on a die");
    assert_eq!(random.flash.zero_fill_reads, striped.flash.zero_fill_reads);
}
