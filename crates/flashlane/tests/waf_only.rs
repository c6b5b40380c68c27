//! Runs without time against timed runs: the same requests, and within 1 % the same amplification.
//!
//! Run with `--nocapture` for the table.

mod common;

use common::Scenario;
use flashlane::Error;
use flashlane::metrics::Summary;

/// Two channels of two chips, one die of two planes each.
const DRIVE: &str = r#"
name = "amplification"
[ftl]
over_provisioning = "28%"
gc.victim = "greedy"
[cache]
capacity = "1MiB"
[flash]
technology = "slc"
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 256
pages_per_block = 32
page_size = "4KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

/// Random page writes past the cache.
const WRITES: &str = r#"
[[flow]]
name = "writes"
cache = "off"
[flow.synthetic]
queue_depth = 2
size = "4KiB"
align = "4KiB"
requests = 150000
"#;

/// A tenant that writes at random, one that streams, one that reads and writes in the open loop.
const TENANTS: &str = r#"
[[flow]]
name = "random"
cache = "off"
[flow.synthetic]
queue_depth = 3
requests = 100000
[[flow]]
name = "stream"
cache = "off"
[flow.synthetic]
queue_depth = 1
address = "streaming"
size = "16KiB"
[[flow]]
name = "open"
[flow.synthetic]
iops = 800.0
read_ratio = 0.5
address = { zipf = { theta = 0.9 } }
"#;

const HOT_COLD: &str = "{ hot-cold = { hot_region = 0.2, hot_traffic = 0.8 } }";
const ADDRESS: &str = "flow[0].synthetic.address";
const DEPTH: &str = "flow[0].synthetic.queue_depth";

/// The scenario with some keys changed.
fn scenario(workload: &str, sets: &[(&str, &str)]) -> Scenario {
    let mut scenario = Scenario::new(DRIVE, workload);
    // Audits of the whole drive would be most of the run.
    scenario.options.check = false;
    sets.iter().fold(scenario, |scenario, (key, value)| scenario.set(key, value))
}

fn untimed(scenario: &Scenario) -> Scenario {
    let mut untimed = scenario.clone();
    untimed.options.waf_only = true;
    untimed
}

/// Both runs; amplification within `percent` of each other, in all and of every flow.
fn agree(name: &str, workload: &str, sets: &[(&str, &str)], percent: f64) {
    let scenario = scenario(workload, sets);
    let (timed, untimed) = (scenario.run(), untimed(&scenario).run());
    let pairs = timed.flows.iter().zip(&untimed.flows);
    let of_flows = pairs.map(|(t, u)| (t.write_amplification, u.write_amplification));
    let all = (timed.flash.write_amplification, untimed.flash.write_amplification);
    for (timed, untimed) in std::iter::once(all).chain(of_flows) {
        let difference = 100.0 * (untimed / timed - 1.0);
        println!("{name:<40} {timed:>8.4} {untimed:>8.4} {difference:>7.2} %");
        assert!(difference.abs() <= percent, "{name}: {untimed} without time, {timed} with it");
    }
    assert!(all.0 > 1.0 || sets.contains(&("ftl.gc.victim", "none")), "{name}: {all:?}");
}

#[test]
fn amplification_is_that_of_the_timed_run_for_every_victim_policy() {
    for victim in flashlane::ftl::gc::Victim::NAMES {
        agree(victim, WRITES, &[("ftl.gc.victim", victim)], 1.0);
    }
}

#[test]
fn amplification_is_that_of_the_timed_run_for_every_over_provisioning() {
    for (over_provisioning, depth) in [("0.5", "2"), ("0.2", "2"), ("0.125", "1")] {
        for victim in ["greedy", "rga"] {
            let name = format!("{victim}, over-provisioning {over_provisioning}, depth {depth}");
            let sets = [
                ("ftl.gc.victim", victim),
                ("ftl.over_provisioning", over_provisioning),
                (DEPTH, depth),
            ];
            agree(&name, WRITES, &sets, 1.0);
        }
    }
}

#[test]
fn amplification_is_that_of_the_timed_run_for_every_address_pattern() {
    let zipf = "{ zipf = { theta = 1.0 } }";
    let mixed = "{ mixed = { streaming = 0.5 } }";
    for address in [HOT_COLD, zipf, mixed, "streaming"] {
        for victim in ["greedy", "rga", "cost-benefit"] {
            let sets = [(ADDRESS, address), ("ftl.gc.victim", victim)];
            agree(&format!("{victim}, {address}"), WRITES, &sets, 1.0);
        }
    }
}

#[test]
fn amplification_is_that_of_the_timed_run_with_a_cache() {
    for mode in ["write", "write-read", "read"] {
        for address in ["uniform", HOT_COLD] {
            let sets = [("flow[0].cache", mode), (ADDRESS, address)];
            agree(&format!("cache {mode}, {address}"), WRITES, &sets, 1.0);
        }
    }
    let lazy = [("flow[0].cache", "write"), ("cache.eager_write_back", "false")];
    agree("cache, pages written back when they leave", WRITES, &lazy, 1.0);
    let simple = [("flow[0].cache", "write"), ("cache.mechanism", "simple")];
    agree("cache, simple", WRITES, &simple, 1.0);
}

#[test]
fn amplification_is_that_of_the_timed_run_for_other_requests() {
    agree(
        "parts of pages",
        WRITES,
        &[("flow[0].synthetic.align", "512B"), ("flow[0].synthetic.size", "1KiB")],
        1.0,
    );
    agree(
        "16 KiB",
        WRITES,
        &[("flow[0].synthetic.size", "16KiB"), ("flow[0].synthetic.requests", "50000")],
        1.0,
    );
    agree("trims", WRITES, &[("flow[0].synthetic.trim_ratio", "0.1")], 1.0);
    agree(
        "half reads",
        WRITES,
        &[("flow[0].synthetic.read_ratio", "0.5"), ("flow[0].synthetic.requests", "250000")],
        1.0,
    );
    agree("dynamic allocation", WRITES, &[("ftl.allocation", "dynamic")], 1.0);
    agree(
        "wear levelling",
        WRITES,
        &[("ftl.wear_leveling.static_threshold", "8"), (ADDRESS, HOT_COLD)],
        1.0,
    );
}

#[test]
fn amplification_is_that_of_the_timed_run_for_several_flows() {
    agree("tenants", TENANTS, &[], 1.0);
    agree(
        "tenants, partitioned",
        TENANTS,
        &[("isolation", "{ partitioned = { by = \"chip\" } }")],
        1.0,
    );
}

#[test]
fn amplification_is_that_of_the_timed_run_for_drives_at_their_limit() {
    for depth in ["16", "64", "256"] {
        for scheduler in ["out-of-order", "host-first", "fcfs"] {
            let sets = [(DEPTH, depth), ("scheduler", scheduler), ("flash.planes_per_die", "1")];
            agree(&format!("{scheduler}, depth {depth}"), WRITES, &sets, 1.0);
        }
    }
}

/// Work and requests that do not depend on time are the same to the last one.
#[test]
fn the_same_requests_and_host_programs() {
    let scenario = scenario(WRITES, &[("flow[0].synthetic.read_ratio", "0.3")]);
    let (timed, untimed) = (scenario.run(), untimed(&scenario).run());
    let of = |s: &Summary| {
        let flow = &s.flows[0];
        let flash = &s.flash;
        (flow.requests, flow.bytes, flash.user_programs, flash.user_reads, flash.zero_fill_reads)
    };
    assert_eq!(of(&timed), of(&untimed));
    assert_eq!(timed.requests_generated, untimed.requests_generated);
}

#[test]
fn times_are_zero_and_work_adds_up() {
    let mut scenario = untimed(&scenario(
        TENANTS,
        &[("ftl.mapping.ideal", "false"), ("ftl.mapping.cmt_capacity", "16KiB")],
    ));
    scenario.options.check = true;
    let summary = scenario.run();
    let (flash, extra) = (&summary.flash, summary.waf_only.as_ref().expect("a run without time"));
    assert_eq!(summary.simulated_s + summary.window_end_s, 0.0);
    assert_eq!(summary.events, 0);
    for (flow, work) in summary.flows.iter().zip(&extra.flows) {
        assert_eq!(flow.response_time_us.count, 0);
        assert_eq!(flow.iops + flow.bandwidth_bytes_per_s, 0.0);
        assert_eq!(flow.write_transactions.count, work.host_programs);
        let all = work.host_programs + work.gc_programs + work.mapping_programs;
        assert_eq!(flow.write_amplification, all as f64 / work.host_programs as f64);
        assert!(work.gc_programs > 0 && work.mapping_programs > 0, "{work:?}");
    }
    let written = flash.user_programs + flash.gc_programs + flash.mapping_programs;
    assert_eq!(extra.page_writes, written);
    let started = flash.gc_invocations + flash.wear_leveling_moves;
    assert!((flash.erases..=flash.erases + 8).contains(&started), "one job a plane is not over");
    let mean = extra.free_blocks_mean;
    assert!(f64::from(extra.free_blocks_min) <= mean && mean <= f64::from(extra.free_blocks_max));
    let chips: u64 = summary.chips.iter().map(|chip| chip.erases).sum();
    assert_eq!(chips, flash.erases);
    assert!(timed(&scenario).waf_only.is_none());
}

/// The scenario with time.
fn timed(scenario: &Scenario) -> Summary {
    let mut timed = scenario.clone();
    timed.options.waf_only = false;
    timed.run()
}

/// Nothing but collection makes room and amplifies.
#[test]
fn collection_makes_room() {
    let greedy = untimed(&scenario(WRITES, &[])).run();
    assert!(greedy.flash.write_amplification > 2.0);
    assert!(greedy.flash.gc_programs > 100_000 && greedy.flash.erases > 5_000);
    let none = untimed(&scenario(WRITES, &[("ftl.gc.victim", "none")])).run();
    assert_eq!((none.flash.gc_programs, none.flash.erases), (0, 0));
    assert_eq!(none.flash.write_amplification, 1.0);
}

#[test]
fn static_wear_levelling_narrows_the_spread_of_erases() {
    let skewed = [("flow[0].synthetic.working_set", "0.25")];
    let base = scenario(WRITES, &skewed);
    let spread = |threshold: &str| {
        let summary = untimed(&base.set("ftl.wear_leveling.static_threshold", threshold)).run();
        let erases = summary.flash.block_erases;
        (erases.max - erases.min, summary.flash.wear_leveling_moves)
    };
    let ((off, no_moves), (on, moves)) = (spread("0"), spread("3"));
    assert_eq!(no_moves, 0);
    assert!(moves > 50, "{moves}");
    assert!(2 * on < off, "{on} with, {off} without");
}

#[test]
fn what_needs_time_is_refused_by_name() {
    let refused =
        |sets: &[(&str, &str)], place: &str| match untimed(&scenario(WRITES, sets)).try_run() {
            Err(Error::Config(problems)) => {
                assert!(problems.iter().any(|problem| problem.place == place), "{problems:?}");
            }
            other => panic!("{place}: {:?}", other.map(|summary| summary.device)),
        };
    refused(&[("isolation", "upi")], "isolation");
    refused(&[("ftl.mapping.kind", "hybrid")], "ftl.mapping.kind");
    refused(&[("flash.technology", "in-place")], "flash.technology");
    refused(&[("compat.collection_per_block", "true")], "compat.collection_per_block");
    refused(&[("compat.unprogrammed_mapping", "true")], "compat.unprogrammed_mapping");
}
