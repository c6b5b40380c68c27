//! Small drives that once stopped for ever, or crashed, with work left to do. Found by the swarm.

use crate::common::Scenario;
use flashlane::config::validate::{self, validate};
use flashlane::policy::Scheduling;

/// One plane.
const DRIVE: &str = r#"
name = "dead end"
[ftl.mapping]
ideal = true
[flash]
technology = "slc"
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 16
pages_per_block = 48
page_size = "4KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

/// Closed loops of 4 KiB writes, no cache.
fn writers(count: u32, requests: u32) -> String {
    let flow = |index| {
        format!(
            r#"
[[flow]]
name = "writer {index}"
cache = "off"
[flow.synthetic]
queue_depth = 4
read_ratio = 0.0
size = "4KiB"
align = "4KiB"
requests = {requests}
"#
        )
    };
    (0..count).map(flow).collect()
}

/// A drive with three open blocks for each flow from the start and as little room beside them as
/// validation admits.
fn open_from_the_start(flows: u32, blocks: u32, over_provisioning: f64) -> Scenario {
    Scenario::new(DRIVE, &writers(flows, 300))
        .set("flash.blocks_per_plane", blocks)
        .set("ftl.over_provisioning", over_provisioning)
        .set("ftl.gc.threshold", "\"3 blocks\"")
        .set("ftl.precondition.occupancy", 1.0)
        .set("compat.frontiers_at_start", true)
}

#[test]
fn frontiers_at_start_leave_room_for_collection() {
    for per_block in [true, false] {
        // Four flows of 22 pages take a block each: all that is left beside the open ones.
        let tight = open_from_the_start(4, 16, 7.4).set("compat.collection_per_block", per_block);
        let summary = tight.run();
        assert!(summary.flash.erases > 20, "{:?}", summary.flash);
        // Six flows of 49 pages take two blocks each: more than is left.
        let crowded = open_from_the_start(6, 27, 3.4).set("compat.collection_per_block", per_block);
        let summary = crowded.run();
        assert!(summary.flash.erases > 20, "{:?}", summary.flash);
    }
}

#[test]
fn writes_that_wait_for_erases_are_never_waited_for_by_them() {
    // A stream over one logical block: each pass makes a data block of a log block whose programs
    // are queued, and gives up the block of the pass before, which has programs in the queue as
    // well.
    let stream = Scenario::new(DRIVE, &writers(1, 2_000))
        .set("ftl.mapping.kind", "hybrid")
        .set("ftl.mapping.log_blocks", 2)
        .set("ftl.over_provisioning", 0.9)
        .set("ftl.gc.threshold", "\"4 blocks\"")
        .set("ftl.gc.preemptible", false)
        .set("flash.blocks_per_plane", 48)
        .set("flash.pages_per_block", 16)
        .set("flow[0].synthetic.address", "streaming")
        .set("flow[0].synthetic.queue_depth", 64)
        .set("compat.writes_wait_for_erases", true);
    for scheduler in ["out-of-order", "priority-out-of-order", "sprinkler"] {
        for region in ["64KiB", "128KiB"] {
            let summary = stream
                .set("scheduler", scheduler)
                .set("flow[0].synthetic.region", format!("{region:?}"))
                .run();
            assert!(summary.flash.switch_merges > 20, "{scheduler}: {:?}", summary.flash);
        }
    }
}

/// Requests of several pages on a small hot region, on a drive whose collection always goes first:
/// many pages that are queued for a move are written again before they move.
fn hot_region() -> Scenario {
    let flow = r#"
[[flow]]
name = "hot"
cache = "off"
[flow.synthetic]
queue_depth = 4
read_ratio = 0.35
size = { discrete = [["512B", 0.5], ["2KiB", 0.4], ["4KiB", 0.1]] }
align = "512B"
region = "33KiB"
requests = 30000
"#;
    Scenario::new(DRIVE, flow)
        .set("interface.queue_depth", 2)
        .set("ftl.over_provisioning", 0.4)
        .set("ftl.gc.threshold", "\"23 blocks\"")
        .set("ftl.gc.max_concurrent_per_plane", 4)
        .set("ftl.gc.preemptible", false)
        .set("ftl.gc.victim", "random")
        .set("ftl.precondition.occupancy", 0.0)
        .set("flash.blocks_per_plane", 100)
        .set("flash.pages_per_block", 15)
        .set("flash.page_size", "512B")
        .set("flash.channel_rate", "475MT/s")
        .set("flash.read_time", "[\"20us\"]")
        .set("flash.program_time", "[\"15us\"]")
        .set("flash.erase_time", "435us")
}

#[test]
fn a_read_goes_on_after_collection_that_turned_out_pointless() {
    // FLIN keeps a read back for collection, all of which is pointless by then. With seeds 1 and 5
    // nothing asked it again, and the read waited for ever.
    let flin = hot_region().set("scheduler", "{ flin = { age_limit = \"50us\" } }");
    for seed in [1, 5] {
        let summary = flin.seed(seed).run();
        assert!(summary.flash.gc_programs < summary.flash.gc_invocations * 5);
    }
}

#[test]
fn every_scheduler_finishes_where_moves_turn_out_pointless() {
    for scheduler in Scheduling::NAMES {
        let run = hot_region().set("scheduler", scheduler).set("flow[0].synthetic.requests", 5_000);
        assert!(run.run().flash.erases > 100, "{scheduler}");
    }
}

/// A reader of pages on a SATA drive whose link takes 4 ms for a command. `rest`: `on_end`, and the
/// load.
fn sata_reader(name: &str, rest: &str) -> String {
    format!(
        r#"
[[flow]]
name = "{name}"
cache = "off"
{rest}
read_ratio = 1.0
size = "4KiB"
align = "4KiB"
"#
    )
}

/// A drive with one queue, which takes 4 ms for a command.
fn slow_sata(workload: &str) -> Scenario {
    Scenario::new(DRIVE, workload)
        .set("flash.blocks_per_plane", 64)
        .set("ftl.gc.threshold", "\"3 blocks\"")
        .set("interface.kind", "\"sata\"")
        .set("interface.sata.link_rate", "\"1MB/s\"")
}

/// SATA has one queue. A flow whose command waits there behind a long backlog of another flow is
/// not starved, however long that takes.
#[test]
fn a_long_queue_of_another_flow_is_no_starvation() {
    let flow = |name, load: &str| {
        sata_reader(name, &format!("on_end = \"stop\"\n[flow.synthetic]\n{load}"))
    };
    // The second request of the closed loop waits for 160 s.
    let backlog = flow("backlog", "iops = 1e6\nrequests = 40000");
    let behind = flow("behind", "queue_depth = 1\nrequests = 3");
    let summary = slow_sata(&(backlog + &behind)).run();
    assert!(summary.simulated_s > 100.0, "{} s", summary.simulated_s);
    assert!(summary.requests_completed > 40_000, "{}", summary.requests_completed);
}

/// A closed loop notes that its time is over when a request of it completes, and the others go on
/// until then. Behind a backlog that grows four thousand times as fast as the drive works, that
/// took gigabytes of memory.
#[test]
fn a_closed_loop_whose_time_is_long_over_ends() {
    let flood = sata_reader("flood", "[flow.synthetic]\niops = 1e6\nrequests = 100000000");
    let timed = "on_end = \"stop\"\n[flow.synthetic]\nqueue_depth = 1\nduration = \"10ms\"";
    let summary = slow_sata(&(flood + &sata_reader("timed", timed))).run();
    assert!((summary.window_end_s - 0.02).abs() < 1e-5, "{} s", summary.window_end_s);
    // The load goes on for as long again, since requests that count are outstanding.
    assert!((39_000..42_000).contains(&summary.requests_completed));
    assert!(summary.flows[0].saturated);
}

/// Lets a run start on planes that are too small for all of their data.
const SWITCH: &str = "compat.planes_may_fill";

/// Two writers on three planes, of which they share one.
fn sharing_in_part(requests: u32) -> Scenario {
    let first = writers(1, requests).replace("cache = \"off\"", "cache = \"off\"\nchips = [0, 1]");
    let second = first.replace("[0, 1]", "[1, 2]").replace("writer 0", "writer 1");
    Scenario::new(DRIVE, &(first + &second))
        .set("flash.chips_per_channel", 3)
        .set("flash.blocks_per_plane", 32)
        .set("ftl.over_provisioning", 0.3)
        .set("ftl.gc.threshold", "\"3 blocks\"")
        .set("ftl.precondition.enabled", false)
}

#[test]
fn a_run_that_fills_a_shared_plane_ends_with_an_error() {
    let refused = |scenario: &Scenario| {
        let (device, workload) = scenario.parsed();
        let problems = validate(&device, &workload);
        problems.iter().any(|problem| problem.message.contains("plane 1 must hold"))
    };
    let short = sharing_in_part(200);
    assert!(refused(&short), "the shared plane has to hold more than it can");
    assert!(refused(&short.set("ftl.precondition.enabled", true).set(SWITCH, true)));
    let allowed = short.set(SWITCH, true);
    assert!(!refused(&allowed));
    let (device, workload) = allowed.load();
    let warnings = validate::warnings(&device, &workload);
    assert!(warnings.iter().any(|warning| warning.contains("plane 1 must hold")), "{warnings:?}");
    // A short run does not fill it.
    assert!(allowed.run().requests_completed >= 400);
    let error = sharing_in_part(20_000).set(SWITCH, true).try_run().expect_err("it is full");
    assert!(error.to_string().contains("plane 1 is full"), "{error}");
}
