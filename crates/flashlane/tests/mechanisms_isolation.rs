//! One test for each mechanism of isolation: what it is for happens with it, and not without.

use crate::common::{SMALL_DRIVE, Scenario};
use flashlane::metrics::{AloneBasis, Summary};

/// A latency-critical reader beside two writers that keep their collection busy.
const TENANTS: &str = r#"
[[flow]]
name = "reader"
cache = "off"
[flow.synthetic]
iops = 2000.0
read_ratio = 1.0
size = "4KiB"
align = "4KiB"
duration = "400ms"

[[flow]]
name = "writer"
cache = "off"
on_end = "stop"
[flow.synthetic]
queue_depth = 16
read_ratio = 0.0
size = "4KiB"
align = "4KiB"
duration = "400ms"

[[flow]]
name = "other"
cache = "off"
on_end = "stop"
[flow.synthetic]
queue_depth = 16
read_ratio = 0.2
size = "4KiB"
align = "4KiB"
duration = "400ms"
"#;

fn tenants() -> Scenario {
    Scenario::new(SMALL_DRIVE, TENANTS)
}

fn p99_of_reader(summary: &Summary) -> f64 {
    summary.flows[0].read_response_time_us.p99
}

#[test]
fn partitions_keep_writers_away_from_a_reader() {
    let mut unified = tenants();
    unified.options.alone = true;
    unified.options.alone_basis = AloneBasis::SameIsolation;
    let (by_channel, by_chip) = (
        unified.set("isolation", "{ partitioned = { by = \"channel\" } }").run(),
        unified.set("isolation", "partitioned").run(),
    );
    let unified = unified.run();
    assert!(unified.flash.gc_programs > 900, "{}", unified.flash.gc_programs);
    assert!(by_channel.flash.gc_programs > 900, "collection runs inside the partitions");
    let slowdown = |summary: &Summary| summary.flows[0].slowdown.expect("it ran alone too");
    assert!(slowdown(&unified) > 3.0, "{}", slowdown(&unified));
    assert!(slowdown(&by_channel) < 1.02, "flows share no bus: {}", slowdown(&by_channel));
    assert!(slowdown(&by_chip) < 1.3, "only buses are shared: {}", slowdown(&by_chip));
    assert!(p99_of_reader(&unified) > 5.0 * p99_of_reader(&by_chip));
}

/// Programs and collection of a flow stay on its chips, preconditioned reads too.
#[test]
fn a_partition_is_used_by_its_flow_alone() {
    for (by, own) in [("channel", [2, 3]), ("chip", [1, 4])] {
        let summary = tenants()
            .set("isolation", format!("{{ partitioned = {{ by = \"{by}\" }} }}"))
            .set("flow[2].synthetic.read_ratio", 1.0)
            .run();
        let busy = |chip: usize| summary.chips[chip].busy_by_source.gc > 0.01;
        let collected: Vec<usize> = (0..6).filter(|&chip| busy(chip)).collect();
        assert_eq!(collected, own, "by {by}");
    }
}

/// A flow with a resource list of its own keeps to it, and its share follows its capacity.
#[test]
fn partitions_by_capacity_follow_resource_lists() {
    let sets = |shares: &str| {
        let scenario = tenants()
            .set("isolation", format!("{{ partitioned = {{ shares = \"{shares}\" }} }}"))
            .set("ftl.over_provisioning", "200%")
            .set("flow[0].channels", "[2]");
        let (device, workload) = scenario.load();
        let layout = workload.layout(&device);
        scenario.run();
        let chips = layout.flows.into_iter().map(|flow| flow.chips.expect("a set"));
        chips.map(|set| set.iter().map(|chip| chip.get()).collect()).collect::<Vec<Vec<_>>>()
    };
    // Capacities are 1/9, 4/9 and 4/9 of the drive.
    assert_eq!(sets("equal"), [vec![4, 5], vec![0, 2], vec![1, 3]]);
    assert_eq!(sets("capacity"), [vec![4], vec![0, 2, 5], vec![1, 3]]);
}

/// UPI with windows short enough for these runs.
fn upi(options: &str) -> Scenario {
    tenants()
        .set("isolation", format!("{{ upi = {{ window = \"10ms\"{options} }} }}"))
        .set("flash.chips_per_channel", 4)
        .set("ftl.over_provisioning", "60%")
}

fn sets_of(summary: &Summary) -> &flashlane::metrics::summary::IsolationSummary {
    summary.isolation_sets.as_ref().expect("sets that change")
}

#[test]
fn upi_gives_chips_to_the_writers_that_need_them() {
    let summary = upi("").run();
    let found = sets_of(&summary);
    let mut all: Vec<u32> = found.sets.concat();
    all.sort_unstable();
    assert_eq!(all, (0..12).collect::<Vec<u32>>(), "disjoint sets that cover the drive");
    assert!(found.transfers > 0);
    assert_eq!(found.sets[0].len(), 1, "the reader gives a chip away: {:?}", found.sets);
    assert_eq!(summary.flash.zero_fill_reads, 0, "the drive is full: no page got lost");
    assert!(summary.flash.user_reads > 500 && found.relocated_pages.iter().sum::<u64>() > 100);
    let first = &found.windows[0];
    assert_eq!(first.chips.iter().sum::<u32>(), 12);
    assert!(first.utilities.iter().all(|&utility| 0.0 < utility && utility <= 1.0));
}

/// The data of the reader on the chips that it gave away returns with its reads as their weight.
#[test]
fn reads_bring_data_home() {
    let run = |relocation: f64| {
        let summary = upi(&format!(", relocation = {relocation:.1}"))
            .set("flow[1].synthetic.queue_depth", 4)
            .set("flow[2].synthetic.queue_depth", 4)
            .set("ftl.gc.threshold", "12 blocks")
            .set("ftl.over_provisioning", "150%")
            .run();
        let sets = sets_of(&summary);
        (sets.relocated_pages[0], sets.away_pages[0])
    };
    let (lazy, eager) = (run(0.0), run(1000.0));
    assert!(eager.0 > 2 * lazy.0 && eager.1 < lazy.1, "lazy {lazy:?}, eager {eager:?}");
}

/// An empty drive that two flows fill, with sets too small for that.
fn filling(options: &str) -> Scenario {
    upi(&format!(", fill = 0.15, hysteresis = 100.0{options}"))
        .set("ftl.precondition.enabled", false)
}

#[test]
fn a_set_without_room_gets_a_chip_or_overflows() {
    let forced = filling("").run();
    assert!(sets_of(&forced).forced_transfers > 0);
    assert_eq!(sets_of(&forced).overflow_pages, 0);
    assert_eq!(sets_of(&forced).transfers, 0, "hysteresis");
    let over = filling(", overflow = true").run();
    assert!(sets_of(&over).overflow_pages > 0);
    assert_eq!(sets_of(&over).forced_transfers, 0);
    let room = upi("").run();
    assert_eq!(sets_of(&room).forced_transfers, 0);
}

#[test]
fn shared_and_read_only_chips_stay_what_they_are() {
    let summary = upi(", shared_chips = [0], read_only_chips = [5]")
        .set("ftl.over_provisioning", "300%")
        .run();
    for set in &sets_of(&summary).sets {
        assert!(set.contains(&0) && !set.contains(&5), "{set:?}");
    }
}

/// Isolation and scheduling are orthogonal.
#[test]
fn isolation_runs_under_every_scheduler() {
    for scheduler in ["flin", "sprinkler", "sprinkler-fairness", "fcfs"] {
        for isolation in ["partitioned", "{ upi = { window = \"10ms\" } }"] {
            let summary = upi("").set("scheduler", scheduler).set("isolation", isolation).run();
            assert_eq!(summary.scheduler, scheduler);
            assert_eq!(summary.isolation_sets.is_some(), summary.isolation == "upi");
        }
    }
}

/// Collection that takes no time packs the blocks of flows that write there no more; it did so for
/// ever.
#[test]
fn free_collection_of_a_lost_chip_ends() {
    let summary = upi("").set("ftl.gc.victim", "none").run();
    assert!(sets_of(&summary).transfers > 0);
    assert_eq!(summary.flash.gc_programs, 0);
}
