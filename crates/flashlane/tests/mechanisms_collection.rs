//! One test for each mechanism of collection and wear: what it is for happens with it, and not
//! without.

mod common;

use common::Scenario;
use flashlane::metrics::Summary;

/// Two channels of two chips, one die of two planes each; small enough to fill.
const DRIVE: &str = r#"
name = "collection"
[ftl]
over_provisioning = "28%"
[flash]
technology = "slc"
channels = 2
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

/// A closed loop of 4 KiB requests, no cache.
fn one(depth: u32, read_ratio: f64, requests: u32) -> Scenario {
    let flow = format!(
        r#"
[[flow]]
name = "one"
cache = "off"
[flow.synthetic]
queue_depth = {depth}
read_ratio = {read_ratio}
size = "4KiB"
align = "4KiB"
requests = {requests}
"#
    );
    Scenario::new(DRIVE, &flow)
}

/// Programs of any kind for every page that the host wrote.
fn amplification(summary: &Summary) -> f64 {
    summary.flash.write_amplification
}

#[test]
fn without_collection_overwritten_space_returns_at_no_cost() {
    for mapping in ["{ ideal = true }", "{ ideal = false, cmt_capacity = \"4KiB\" }"] {
        let base = one(16, 0.3, 30_000).set("ftl.mapping", mapping);
        let greedy = base.set("ftl.gc.victim", "greedy").run();
        let none = base.set("ftl.gc.victim", "none").run();
        assert!(greedy.flash.gc_programs > 5_000, "{}", greedy.flash.gc_programs);
        let work = [&none].map(|s| (s.flash.gc_reads, s.flash.gc_programs, s.flash.erases));
        assert_eq!(work, [(0, 0, 0)]);
        assert_eq!(none.flash.gc_invocations, 0);
        assert!(none.flash.user_programs > 20_000, "the drive is written several times over");
        assert!(none.flows[0].iops > 1.3 * greedy.flows[0].iops);
    }
    let none = one(16, 0.3, 30_000).set("ftl.gc.victim", "none").run();
    assert_eq!(amplification(&none), 1.0);
}

/// Even where the last free block is taken at once and every block is read.
#[test]
fn without_collection_a_full_small_drive_never_stalls() {
    let tight = one(64, 0.5, 20_000)
        .set("ftl.gc.victim", "none")
        .set("flash.blocks_per_plane", 8)
        .set("flash.pages_per_block", 4)
        .set("ftl.gc.threshold", "3 blocks")
        .set("ftl.gc.hard_threshold", "2 blocks")
        .set("ftl.over_provisioning", 1.5);
    let summary = tight.run();
    assert_eq!(amplification(&summary), 1.0);
}
