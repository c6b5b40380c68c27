//! Runs without time against timed runs: the same requests, and within 1 % the same amplification.
//!
//! Run with `--nocapture` for the table.

use crate::common::{Scenario, run_all, whole_run};
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
const REQUESTS: &str = "flow[0].synthetic.requests";
const CACHE: &str = "flow[0].cache";
const VICTIM: &str = "ftl.gc.victim";
const PLANES: &str = "flash.planes_per_die";

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

/// Largest difference of the amplification, in all and of every flow. Unit: percent.
const PERCENT: f64 = 1.0;
/// The limit for drives at the limit of their load. There the number of free blocks depends on
/// details of the schedule that a clock for each die does not have.
const AT_LIMIT: f64 = 3.0;

/// A case: name, workload and changed keys.
type Case<'a> = (String, &'a str, Vec<(&'a str, &'a str)>);

/// Random page writes with some keys changed.
fn writes<'a>(sets: &[(&'a str, &'a str)]) -> Case<'a> {
    (format!("{sets:?}"), WRITES, sets.to_vec())
}

/// Runs every case with and without time on two threads.
fn agree(cases: &[Case<'_>], percent: f64) {
    let timed: Vec<Scenario> = cases.iter().map(|(_, flows, sets)| scenario(flows, sets)).collect();
    let untimed: Vec<Scenario> = timed.iter().map(untimed).collect();
    let (timed, untimed) = (run_all(&timed), run_all(&untimed));
    let mut failures = Vec::new();
    for ((name, ..), (timed, untimed)) in cases.iter().zip(timed.iter().zip(&untimed)) {
        let pairs = timed.flows.iter().zip(&untimed.flows);
        let of_flows = pairs.map(|(t, u)| (t.write_amplification, u.write_amplification));
        // Without time, all write-backs are over.
        let all = (whole_run(timed).write_amplification, untimed.flash.write_amplification);
        let single = timed.flows.len() == 1;
        for (timed, untimed) in std::iter::once(all).chain(of_flows.filter(|_| !single)) {
            let difference = 100.0 * (untimed / timed - 1.0);
            let row = format!("{timed:>8.4} {untimed:>8.4} {difference:>6.2} %  {name}");
            println!("{row}");
            if difference.abs() > percent {
                failures.push(row);
            }
        }
        assert!(all.0 > 1.02 || name.contains("none") || name.contains("streaming"), "{name}");
    }
    assert!(failures.is_empty(), "outside:\n{}", failures.join("\n"));
}

#[test]
fn amplification_is_that_of_the_timed_run_for_every_victim_policy() {
    let victims = flashlane::policy::Victim::NAMES.iter();
    let cases = victims.map(|victim| writes(&[(VICTIM, victim), (DEPTH, "1")]));
    agree(&cases.collect::<Vec<_>>(), PERCENT);
}

#[test]
fn amplification_is_that_of_the_timed_run_for_every_over_provisioning() {
    let spaces = ["0.5", "0.28", "0.2"].iter();
    let cases = spaces.flat_map(|space| {
        ["greedy", "rga"].map(|victim| {
            writes(&[("ftl.over_provisioning", space), (VICTIM, victim), (DEPTH, "1")])
        })
    });
    agree(&cases.collect::<Vec<_>>(), PERCENT);
}

#[test]
fn amplification_is_that_of_the_timed_run_for_every_address_pattern() {
    let zipf = "{ zipf = { theta = 1.0 } }";
    let mixed = "{ mixed = { streaming = 0.5 } }";
    let cases = [HOT_COLD, zipf, mixed, "streaming"].into_iter().flat_map(|address| {
        ["greedy", "rga", "cost-benefit"]
            .map(|victim| writes(&[(ADDRESS, address), (VICTIM, victim)]))
    });
    agree(&cases.collect::<Vec<_>>(), PERCENT);
}

#[test]
fn amplification_is_that_of_the_timed_run_with_a_cache() {
    let modes = ["write", "write-read", "read"].into_iter();
    let mut cases: Vec<Case<'_>> = modes
        .flat_map(|mode| ["uniform", HOT_COLD].map(|at| writes(&[(CACHE, mode), (ADDRESS, at)])))
        .collect();
    cases.push(writes(&[(CACHE, "write"), ("cache.eager_write_back", "false")]));
    agree(&cases, PERCENT);
}

#[test]
fn amplification_is_that_of_the_timed_run_for_other_requests_and_drives() {
    let size = "flow[0].synthetic.size";
    let cases = [
        writes(&[("flow[0].synthetic.align", "512B"), (size, "1KiB")]),
        writes(&[("flow[0].synthetic.trim_ratio", "0.1")]),
        writes(&[("flow[0].synthetic.read_ratio", "0.5"), (REQUESTS, "250000")]),
        writes(&[("ftl.allocation", "dynamic")]),
        writes(&[("ftl.wear_leveling.static_threshold", "8"), (ADDRESS, HOT_COLD)]),
        writes(&[("ftl.gc.copyback", "true")]),
        writes(&[("ftl.mapping.ideal", "false"), ("ftl.mapping.cmt_capacity", "64KiB")]),
    ];
    agree(&cases, PERCENT);
}

#[test]
fn amplification_is_that_of_the_timed_run_for_several_flows() {
    let tenants = |name: &str, sets: &[(&'static str, &'static str)]| {
        (format!("tenants{name}"), TENANTS, sets.to_vec())
    };
    let by_chip = "{ partitioned = { by = \"chip\" } }";
    let space = ("ftl.over_provisioning", "0.6");
    let cases = [
        tenants("", &[]),
        tenants(", more space", &[space]),
        tenants(", partitioned", &[space, ("isolation", by_chip)]),
    ];
    agree(&cases, AT_LIMIT);
}

#[test]
fn amplification_is_that_of_the_timed_run_where_collection_keeps_up() {
    let cases = ["1", "2"].into_iter().flat_map(|planes| {
        let schedulers = ["out-of-order", "host-first", "fcfs", "flin", "sprinkler"];
        schedulers
            .map(|scheduler| writes(&[(DEPTH, "1"), ("scheduler", scheduler), (PLANES, planes)]))
    });
    agree(&cases.collect::<Vec<_>>(), PERCENT);
}

#[test]
fn amplification_is_near_that_of_the_timed_run_for_drives_at_their_limit() {
    let mut cases = Vec::new();
    for depth in ["4", "16", "256"] {
        for scheduler in ["out-of-order", "host-first"] {
            for planes in ["1", "2"] {
                cases.push(writes(&[(DEPTH, depth), ("scheduler", scheduler), (PLANES, planes)]));
            }
        }
    }
    cases.push(writes(&[("ftl.over_provisioning", "0.125")]));
    cases.push(writes(&[(VICTIM, "random")]));
    cases.push(writes(&[("flow[0].synthetic.size", "16KiB"), (REQUESTS, "50000")]));
    cases.push(writes(&[(CACHE, "write"), ("cache.mechanism", "simple")]));
    agree(&cases, AT_LIMIT);
}

/// Work and requests that do not depend on time are the same to the last one.
#[test]
fn amplification_is_that_of_the_timed_run_for_paced_collection() {
    const PACED: (&str, &str) = ("ftl.gc.pacing", "proportional");
    let near = [
        writes(&[PACED, (DEPTH, "1")]),
        writes(&[PACED, (DEPTH, "2")]),
        writes(&[PACED, (DEPTH, "1"), ("ftl.over_provisioning", "0.12")]),
        writes(&[PACED, (DEPTH, "2"), (VICTIM, "rga"), (ADDRESS, HOT_COLD)]),
        writes(&[PACED, (DEPTH, "2"), ("ftl.allocation", "dynamic")]),
        writes(&[PACED, (DEPTH, "2"), ("ftl.gc.max_concurrent_per_plane", "3")]),
        ("tenants".to_owned(), TENANTS, vec![PACED]),
    ];
    agree(&near, AT_LIMIT);
    let at_limit = ["16", "64"].map(|depth| writes(&[PACED, (DEPTH, depth)]));
    agree(&at_limit, AT_LIMIT);
}

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
    refused(&[("compat.collection_per_block", "true")], "compat.collection_per_block");
    refused(&[("compat.unprogrammed_mapping", "true")], "compat.unprogrammed_mapping");
}

/// Open loops that the drive cannot keep up with: one stops after its time, the other starts over.
/// Both are overdue at once, while a third flow is not. The load is over with the one that stops.
#[test]
fn a_load_ends_with_the_overdue_pass_of_a_flow_that_stops() {
    let flow = |name: &str, rest: &str, load: &str| {
        format!("[[flow]]\nname = \"{name}\"\ncache = \"off\"\n{rest}\n[flow.synthetic]\n{load}\n")
    };
    let load = "iops = 1e6\nduration = \"2ms\"";
    let stops = flow("stops", "on_end = \"stop\"", load);
    let starts_over = flow("starts over", "on_end = \"repeat\"", load);
    let goes_on = flow("goes on", "on_end = \"repeat\"", "queue_depth = 1\nrequests = 10000000");
    for workload in [[&stops, &starts_over, &goes_on], [&starts_over, &stops, &goes_on]] {
        let workload: String = workload.into_iter().cloned().collect();
        let summary = untimed(&scenario(&workload, &[])).run();
        let requests = summary.requests_completed;
        assert!((1..100_000).contains(&requests), "{requests} requests of {workload}");
    }
}
