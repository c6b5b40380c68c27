//! Mapping units smaller than a page, and word lines, in superblocks: which plane they go to, what
//! a flush sends, parity, and everything else beside them. `theory_units.rs` compares their
//! amplification with theory.

use crate::common::{Scenario, flash_only, mixed, problems, random_writes, run_all};
use crate::generate::case;
use flashlane::config::Superblock;
use flashlane::config::validate::validate;
use flashlane::metrics::Summary;

/// Eight planes on four dies, with pages of four units.
fn device() -> String {
    let keys = "mapping.unit = \"4KiB\"\nsuperblock = \"drive\"";
    flash_only(keys, [2, 2, 1, 2], [64, 24], "16KiB")
}

/// The drive without data at the start, and a closed loop of `requests` random writes of a unit.
fn empty(requests: u64, depth: u32) -> Scenario {
    Scenario::new(&device(), &random_writes(depth))
        .set("ftl.precondition.enabled", false)
        .set("flow[0].synthetic.requests", requests)
}

/// One-shot TLC: a word line has three pages of four units.
fn one_shot(scenario: &Scenario) -> Scenario {
    scenario
        .set("flash.technology", "tlc")
        .set("flash.programming", "one-shot")
        .set("flash.page_order", "turns")
}

/// Programs of the host, programs of collection, and empty units.
fn counts(summary: &Summary) -> [u64; 3] {
    let padded = summary.units.expect("units are packed").padded;
    [summary.flash.user_programs, summary.flash.gc_programs, padded]
}

/// Any units fill the page or the word line of one plane and then of the next one.
#[test]
fn a_stripe_is_filled_row_by_row() {
    let writes = 8 * 12 * 4;
    let runs = [empty(writes, 384), one_shot(&empty(writes, 384))];
    for (summary, rows) in run_all(&runs).iter().zip([writes / 4, writes / 12]) {
        assert_eq!(counts(summary), [rows, 0, 0]);
        assert!((summary.flash.write_amplification - 1.0).abs() < 1e-9);
        // Eight planes program at a time, behind the transfers of two dies to each channel.
        let time = summary.window_end_s;
        let programs = rows as f64 / 8.0 * 500e-6;
        assert!(time > programs && time < 1.6 * programs, "{time} s, programs {programs} s");
    }
}

/// Parity is one row of each stripe: it adds one eighth of the programs, whatever a row is.
#[test]
fn the_last_row_of_a_stripe_is_parity() {
    let writes = 7 * 12 * 10;
    let parity = empty(writes, 84).set("ftl.parity", true).set("ftl.over_provisioning", "60%");
    for (summary, rows) in
        run_all(&[parity.clone(), one_shot(&parity)]).iter().zip([writes / 4, writes / 12])
    {
        let [data, parity, padded] = counts(summary);
        assert_eq!((data, padded), (rows, 0));
        // The last one may be under way when the last write is over.
        assert!(parity + 1 >= rows / 7 && parity <= rows / 7, "{parity} of {rows}");
        let expected = 1.0 + parity as f64 / rows as f64;
        assert!((summary.flash.write_amplification - expected).abs() < 1e-9);
    }
    let mut untimed = parity;
    untimed.options.waf_only = true;
    let amplification = untimed.run().flash.write_amplification;
    assert!((amplification - 8.0 / 7.0).abs() < 1e-9, "without time: {amplification}");
}

/// Empty units may be the last data of a stripe: then its parity is written, too.
#[test]
fn rows_that_time_completes_have_parity() {
    let alone = empty(14, 1)
        .set("ftl.parity", true)
        .set("ftl.over_provisioning", "60%")
        .set("ftl.mapping.fill_time", "100us");
    let summary = alone.run();
    let [data, parity, padded] = counts(&summary);
    assert_eq!((data, padded), (14, 3 * 14), "each unit waits for a page of its own");
    assert!((1..=2).contains(&parity), "{parity}");
    let units = 4 * (14 + parity);
    assert!((summary.flash.write_amplification - units as f64 / 14.0).abs() < 1e-9);
}

/// Two tenants write by turns to one superblock. Only one of them flushes.
#[test]
fn a_flush_sends_the_row_that_has_data_of_its_flow() {
    let flow = |name: &str, keys: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\ncache = \"off\"\n[flow.synthetic]\nqueue_depth = 1\n\
             size = \"4KiB\"\nalign = \"4KiB\"\n{keys}\n"
        )
    };
    let both =
        flow("flushes", "flush_ratio = 0.5\nrequests = 200") + &flow("other", "requests = 200");
    let scenario = Scenario::new(&device(), &both)
        .set("ftl.precondition.enabled", false)
        .set("power_loss_protection", false)
        .set("ftl.mapping.fill_time", "1s");
    let summary = scenario.run();
    let [programs, _, padded] = counts(&summary);
    let units: u64 = summary.flows.iter().map(|flow| flow.page_writes).sum();
    assert_eq!(4 * programs, units + padded, "every unit is in a page");
    assert!(padded > 0 && summary.flows[0].requests.flush > 50, "{summary:?}");
}

/// Sets of dies, parity, pacing, word lines, scrubbing and wear levelling: with audits and blame.
#[test]
fn everything_beside_units_of_superblocks_still_holds() {
    let base = Scenario::new(&device(), &mixed(5000))
        .set("flash.blocks_per_plane", 40)
        .set("flash.pages_per_block", 6)
        .set("cache.capacity", "256KiB")
        .set("ftl.over_provisioning", "80%");
    let mut scenarios = vec![
        base.clone(),
        base.set("ftl.mapping.unit", "512B"),
        base.set("ftl.superblock", "1 die"),
        base.set("ftl.superblock", "2 dies").set("ftl.parity", true),
        base.set("ftl.gc.pacing", "proportional").set("ftl.gc.idle_after", "1ms"),
        base.set("ftl.gc.pacing", "proportional").set("ftl.parity", true),
        base.set("ftl.read_scrubbing.limit", 20).set("ftl.wear_leveling.static_threshold", 2),
        base.set("isolation", "partitioned").set("ftl.superblock", "1 die"),
        base.set("ftl.precondition.open_blocks", true).set("ftl.parity", true),
        base.set("power_loss_protection", true).set("cache.admission", "rate"),
        base.set("ftl.gc.max_concurrent_per_plane", 2).set("ftl.parity", true),
        base.set("ftl.mapping.unit", "16KiB"),
    ];
    // The last one has word lines of whole pages.
    let word_lines: Vec<Scenario> = scenarios.iter().map(one_shot).collect();
    scenarios.pop();
    scenarios.extend(word_lines);
    for scenario in &mut scenarios {
        scenario.options.observe.blame = true;
        scenario.options.observe.energy = true;
    }
    for (scenario, summary) in scenarios.iter().zip(run_all(&scenarios)) {
        let flash = &summary.flash;
        let keys = &scenario.load().0.ftl;
        assert!(flash.gc_programs > 0 && flash.erases > 0, "{keys:?}: {flash:?}");
        assert_eq!(flash.erases % 2, 0, "planes of a die are erased together");
    }
}

/// A superblock may have more units than 16 bits count.
#[test]
fn superblocks_have_any_number_of_units() {
    let device = flash_only(
        "mapping.unit = \"1KiB\"\nsuperblock = \"drive\"\nparity = true",
        [8, 2, 2, 2],
        [24, 64],
        "16KiB",
    );
    // 64 planes of 64 pages of 16 units: 65,536 units.
    let mut timed = Scenario::new(&device, &random_writes(256))
        .set("ftl.over_provisioning", "80%")
        .set("flow[0].synthetic.size", "16KiB")
        .set("flow[0].synthetic.requests", 40_000);
    timed.options.check = false;
    let mut untimed = timed.clone();
    untimed.options.waf_only = true;
    let runs = run_all(&[timed, untimed]);
    let [timed, untimed] = [0, 1].map(|at: usize| runs[at].flash.write_amplification);
    assert!(runs.iter().all(|run| run.flash.gc_invocations > 0), "superblocks are collected");
    assert!(timed > 1.05, "data moves: {timed}");
    assert!((untimed / timed - 1.0).abs() < 0.05, "{timed}, and without time {untimed}");
}

#[test]
fn what_units_of_superblocks_do_not_work_with_is_refused_by_name() {
    for (sets, part) in [
        (&["ftl.mapping.ideal=false"][..], "the page (16KiB) with ftl.mapping.ideal = false"),
        (&["ftl.mapping.unit=512B", "flash.pages_per_block=4096"], "units a block, allowed"),
        (&["ftl.allocation=dynamic"], "the stripe decides it"),
    ] {
        let found = problems(&device(), sets).join("\n");
        assert!(found.contains(part), "{sets:?}: {found}");
    }
}

/// The swarm draws units and word lines of superblocks, with parity and without.
#[test]
fn the_swarm_reaches_units_of_superblocks() {
    let (mut all, mut small, mut word_lines, mut parity) = (0, 0, 0, 0);
    let mut refused = Vec::new();
    for seed in seeds() {
        let case = case(seed);
        let geometry = case.device.geometry();
        if case.device.ftl.superblock == Superblock::Block || geometry.units_per_program() == 1 {
            continue;
        }
        let found = validate(&case.device, &case.workload);
        if !found.is_empty() {
            refused.push((seed, found));
            continue;
        }
        all += 1;
        small += u32::from(geometry.units_per_page > 1);
        word_lines += u32::from(geometry.pages_per_program > 1);
        parity += u32::from(case.device.ftl.parity);
    }
    println!("{all}: {small} with small units, {word_lines} with word lines, {parity} with parity");
    println!("refused: {refused:?}");
    assert!(refused.is_empty() && small > 20 && word_lines > 20 && parity > 5);
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("SWARM_START").unwrap_or(0);
    first..first + number("SWARM").unwrap_or(1500)
}
