//! One test for each mechanism of isolation: what it is for happens with it, and not without.

mod common;

use common::Scenario;
use flashlane::metrics::Summary;

/// Three channels of two chips, one die of two planes each; small enough to fill.
const DRIVE: &str = r#"
name = "isolation"
[ftl]
over_provisioning = "28%"
[flash]
technology = "slc"
channels = 3
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 32
page_size = "4KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

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
    Scenario::new(DRIVE, TENANTS)
}

fn p99_of_reader(summary: &Summary) -> f64 {
    summary.flows[0].read_response_time_us.p99
}

#[test]
fn partitions_keep_writers_away_from_a_reader() {
    let mut unified = tenants();
    unified.options.alone = true;
    let (by_channel, by_chip) = (
        unified.set("isolation", "{ partitioned = { by = \"channel\" } }").run(),
        unified.set("isolation", "partitioned").run(),
    );
    let unified = unified.run();
    assert!(unified.flash.gc_programs > 1_000, "{}", unified.flash.gc_programs);
    assert!(by_channel.flash.gc_programs > 1_000, "collection runs inside the partitions");
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
        let layout = flashlane::layout::Layout::new(&device, &workload);
        scenario.run();
        layout.flows.into_iter().map(|flow| flow.chips.expect("a set")).collect::<Vec<_>>()
    };
    // Capacities are 1/9, 4/9 and 4/9 of the drive.
    assert_eq!(sets("equal"), [vec![4, 5], vec![0, 2], vec![1, 3]]);
    assert_eq!(sets("capacity"), [vec![4], vec![0, 2, 5], vec![1, 3]]);
}
