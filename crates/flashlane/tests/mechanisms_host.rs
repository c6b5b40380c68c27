//! One test for each mechanism between host and drive: SATA's queue and link.

use crate::common::Scenario;
use flashlane::metrics::Summary;

/// Fast enough that host and link decide: reads of 5 us on 32 dies.
const DRIVE: &str = r#"
name = "host mechanisms"
[interface]
kind = "sata"
firmware_time = "0ns"
sata = { adapter_time = "0ns" }
[cache]
capacity = "1MiB"
[ftl]
over_provisioning = "28%"
[flash]
technology = "slc"
channels = 8
chips_per_channel = 4
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 32
page_size = "4KiB"
channel_rate = "1600MT/s"
read_time = ["5us"]
program_time = ["50us"]
erase_time = "1ms"
"#;

fn flow(name: &str, depth: u32, read_ratio: f64, size: &str, requests: u32) -> String {
    format!(
        "[[flow]]\nname = \"{name}\"\ncache = \"off\"\n[flow.synthetic]\nqueue_depth = {depth}\n\
         read_ratio = {read_ratio}\nsize = \"{size}\"\nalign = \"4KiB\"\nrequests = {requests}\n"
    )
}

fn one(depth: u32, read_ratio: f64, size: &str, requests: u32) -> Scenario {
    Scenario::new(DRIVE, &flow("one", depth, read_ratio, size, requests))
}

fn read_mean(summary: &Summary, flow: usize) -> f64 {
    summary.flows[flow].read_response_time_us.mean
}

#[test]
fn tags_bound_what_the_drive_holds() {
    let base = one(128, 1.0, "4KiB", 4000).set("flash.read_time", "[\"200us\"]");
    let all = base.run();
    let few = base.set("interface.sata.tags", 4).run();
    // Four commands at a time on dies of 200 us and a transfer.
    let bound = 4.0 / 200e-6;
    assert!(few.flows[0].iops < bound && few.flows[0].iops > 0.9 * bound, "{}", few.flows[0].iops);
    assert!(all.flows[0].iops > 4.0 * few.flows[0].iops, "{}", all.flows[0].iops);
    // A command starts when it gets its tag; before, it waits in the host.
    assert!(few.flows[0].end_to_end_us.mean > 20.0 * few.flows[0].response_time_us.mean);
}

#[test]
fn tags_freed_on_fetch_let_more_commands_in() {
    let base = one(128, 1.0, "4KiB", 4000)
        .set("flash.read_time", "[\"200us\"]")
        .set("interface.queue_depth", 32);
    let sound = base.run();
    let freed = base.set("compat.sata_tags_freed_on_fetch", true).run();
    // 31 places, taken again as soon as their commands are in the drive.
    assert!(freed.flows[0].iops > 1.1 * sound.flows[0].iops);
    assert!(read_mean(&freed, 0) > 1.5 * read_mean(&sound, 0));
}

/// A completion reports what had arrived when it was sent. Behind data on a slow link, it brings
/// old news: places are free later, and what waits for them does not count as submitted.
#[test]
fn completions_report_what_had_arrived_when_they_were_sent() {
    let slow = |depth: u32| {
        Scenario::new(DRIVE, &flow("one", depth, 1.0, "64KiB", 2000))
            .set("interface.kind", "nvme")
            .set("interface.queue_depth", 32)
            .set("link.lanes", 1)
            .run()
    };
    let (few, many) = (slow(16), slow(64));
    let waits = |summary: &Summary| {
        summary.flows[0].end_to_end_us.mean / summary.flows[0].response_time_us.mean
    };
    assert!((waits(&few) - 1.0).abs() < 1e-9, "{}", waits(&few));
    assert!(waits(&many) > 1.3, "{}", waits(&many));
}

/// In the one stream of a SATA drive, the data cache cannot tell flows apart.
#[test]
fn flows_of_one_stream_have_the_cache_mode_of_the_first() {
    let writers = ["first", "second"].map(|name| flow(name, 1, 0.0, "4KiB", 400)).concat();
    let cached = Scenario::new(DRIVE, &writers).set("flow[0].cache", "write");
    let mean = |scenario: &Scenario| scenario.run().flows[1].response_time_us.mean;
    let separate = mean(&cached);
    let one = mean(&cached.set("compat.sata_one_stream", true));
    assert!(one < 0.5 * separate, "{one} and {separate} us");
}

/// In one stream, a page holds the end of one flow and the start of the next. The second may write
/// it before it has a page of its own anywhere.
#[test]
fn a_page_of_two_flows_may_be_placed_dynamically() {
    let stream = |name: &str, size: &str, more: &str, requests: u32| {
        format!(
            "[[flow]]\nname = \"{name}\"\ncache = \"off\"\n{more}[flow.synthetic]\n\
             queue_depth = 1\nread_ratio = 0.0\naddress = \"streaming\"\nsize = \"{size}\"\n\
             align = \"512B\"\nrequests = {requests}\n"
        )
    };
    let second = stream("second", "512B", "starts_after = \"1s\"\n", 1);
    let first = stream("first", "4KiB", "", 1000);
    let scenario = Scenario::new(DRIVE, &[first, second].concat())
        .set("compat.sata_one_stream", true)
        .set("ftl.precondition.enabled", false)
        .set("ftl.allocation", "dynamic")
        .set("ftl.over_provisioning", "30%")
        .set("flash.channels", 1)
        .set("flash.chips_per_channel", 1);
    let (device, workload) = scenario.load();
    let start = workload.layout(&device).flows[1].in_stream.expect("it begins somewhere");
    assert!(start.sectors > 0, "the second flow begins inside a page of the drive");
    assert!(scenario.run().flows[1].requests.write > 0);
}

#[test]
fn the_adapter_takes_one_command_at_a_time() {
    let base = one(32, 1.0, "4KiB", 4000);
    let fast = base.run();
    let slow = base.set("interface.sata.adapter_time", "100us").run();
    assert!((slow.flows[0].iops / 10_000.0 - 1.0).abs() < 0.02, "{}", slow.flows[0].iops);
    assert!(fast.flows[0].iops > 5.0 * slow.flows[0].iops);
    // Both ways: at depth 1 a request takes it twice, the completion within the response time.
    let alone = one(1, 1.0, "4KiB", 200);
    let (none, some) = (alone.run(), alone.set("interface.sata.adapter_time", "100us").run());
    let (none, some) = (&none.flows[0], &some.flows[0]);
    assert!((some.end_to_end_us.mean - none.end_to_end_us.mean - 200.0).abs() < 0.01);
    assert!((some.response_time_us.mean - none.response_time_us.mean - 100.0).abs() < 0.01);
}

#[test]
fn the_link_is_half_duplex_and_slower_than_pcie() {
    let bandwidth = |s: &Summary| s.flows[0].bandwidth_bytes_per_s / 1e6;
    let reads = one(32, 1.0, "64KiB", 2000).run();
    assert!((580.0..600.0).contains(&bandwidth(&reads)), "{}", bandwidth(&reads));
    let both = one(32, 0.5, "64KiB", 2000).set("ftl.precondition.enabled", false);
    let mixed = both.run();
    assert!(bandwidth(&mixed) < 600.0, "{}", bandwidth(&mixed));
    // Two directions at once, and no longer 600 MB/s each.
    let pcie = both.set("compat.sata_over_pcie", true).run();
    assert!(bandwidth(&pcie) > 1.5 * bandwidth(&mixed), "{}", bandwidth(&pcie));
}

#[test]
fn flows_share_one_queue() {
    let flood = flow("flood", 256, 1.0, "4KiB", 6000);
    let quiet = flow("quiet", 1, 1.0, "4KiB", 100);
    let sata = Scenario::new(DRIVE, &format!("{flood}{quiet}"))
        .set("flash.read_time", "[\"50us\"]")
        .set("interface.sata.tags", 8);
    let nvme = sata.set("interface.kind", "nvme").set("interface.queue_fetch_size", 8);
    let wait = |s: &Summary| s.flows[1].end_to_end_us.mean;
    // Behind 256 commands for 8 tags, against a queue of its own.
    let (sata, nvme) = (sata.run(), nvme.run());
    assert!(wait(&sata) > 5.0 * wait(&nvme), "{} {}", wait(&sata), wait(&nvme));
    assert!(wait(&sata) > 0.8 * sata.flows[0].end_to_end_us.mean);
}

#[test]
fn sata_cannot_tell_flows_apart() {
    // Neither lists nor classes reach the drive.
    let plain = Scenario::new(
        DRIVE,
        &format!("{}{}", flow("a", 8, 1.0, "4KiB", 500), flow("b", 8, 1.0, "4KiB", 500)),
    )
    .set("scheduler", "priority-out-of-order")
    .set("ftl.over_provisioning", "100%");
    let apart = plain
        .set("flow[0].channels", "[0]")
        .set("flow[0].priority", "low")
        .set("flow[1].priority", "urgent");
    let means = |s: &Summary| [read_mean(s, 0), read_mean(s, 1)];
    assert_eq!(means(&plain.run()), means(&apart.run()));
    let nvme = |s: &Scenario| s.set("interface.kind", "nvme").run();
    assert_ne!(means(&nvme(&plain)), means(&nvme(&apart)));
}

#[test]
fn a_flow_pauses_before_its_next_request() {
    let base = one(1, 1.0, "4KiB", 2000);
    let busy = base.run();
    let pausing = base.set("flow.one.synthetic.think_time", "\"300us\"").run();
    // The drive is as fast as before; the flow asks less often.
    let response = busy.flows[0].response_time_us.mean;
    assert_eq!(pausing.flows[0].response_time_us.mean, response);
    let expected = 1e6 / (response + 300.0);
    let found = pausing.flows[0].iops;
    assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    assert!(busy.flows[0].iops > 5.0 * found);
}
