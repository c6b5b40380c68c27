//! Warps that read from the drive, queue pairs of a flow, and doorbells for several entries.

use crate::common::{Scenario, flash_only};
use flashlane::config::InterfaceKind;
use flashlane::config::validate::validate;
use flashlane::metrics::Summary;

/// A drive that only its one firmware processor limits: 1 us for each command.
fn drive() -> Scenario {
    let device = flash_only("over_provisioning = \"28%\"", [8, 8, 1, 1], [64, 32], "4KiB");
    let flow = "[[flow]]\nname = \"gpu\"\ncache = \"off\"\n[flow.synthetic]\nread_ratio = 1.0\n\
                size = \"512B\"\nrequests = 40000\n";
    Scenario::new(&device, flow)
        .set("interface.firmware_time", "1us")
        .set("flash.channel_rate", "10GT/s")
        .set("flash.read_time", "[\"1us\"]")
}

/// Time of a command in the firmware. Unit: microseconds.
const SERVICE: f64 = 1.0;

fn warps(base: &Scenario, count: u32, reads: u32, think: &str, pairs: u32) -> Scenario {
    let warps = format!(
        "{{ count = {count}, reads = {reads}, think_time = {think}, queue_pairs = {pairs} }}"
    );
    base.set("flow[0].synthetic.warps", warps)
}

/// The response time of a request alone. Unit: microseconds.
fn alone(base: &Scenario) -> f64 {
    let one = base.set("flow[0].synthetic.queue_depth", 1).set("flow[0].synthetic.requests", 2000);
    one.run().flows[0].response_time_us.mean
}

fn rate(summary: &Summary) -> f64 {
    summary.flows[0].iops / 1e6
}

/// Warps on one queue keep out of each other's way after their first batch. Their throughput is
/// the bound of a closed network: `min(1 / S, W R / (Z + T))` with the time of a batch alone,
/// `T = L + (R - 1) S`.
#[test]
fn warps_reach_the_bound_of_a_closed_network() {
    let base = drive();
    let response = alone(&base);
    for (count, reads, think) in
        [(1, 1, 0), (1, 32, 0), (1, 32, 100), (4, 8, 20), (8, 8, 500), (16, 32, 2), (64, 4, 900)]
    {
        let (w, r, z) = (f64::from(count), f64::from(reads), f64::from(think));
        let batch = response + (r - 1.0) * SERVICE;
        let bound = (w * r / (z + batch)).min(1.0 / SERVICE);
        let found = rate(&warps(&base, count, reads, &format!("\"{think}us\""), 1).run());
        println!("W {count} R {reads} Z {think}: {found:.4} per us, bound {bound:.4}");
        assert!((found / bound - 1.0).abs() < 0.015, "W {count} R {reads} Z {think}: {found}");
    }
}

/// On queues of their own the batches of warps mix under round robin. The throughput is not above
/// the bound, and not below that of warps in step, `W R / (Z + L + (W R - 1) S)`.
#[test]
fn warps_on_queues_of_their_own_lie_between_the_bounds() {
    let base = drive();
    let response = alone(&base);
    for (count, reads, think) in [(4, 8, 20), (16, 4, 100), (64, 8, 100)] {
        let (all, z) = (f64::from(count * reads), f64::from(think));
        let above = (all / (z + response + f64::from(reads - 1) * SERVICE)).min(1.0 / SERVICE);
        let below = all / (z + response + (all - 1.0) * SERVICE);
        let found = rate(&warps(&base, count, reads, &format!("\"{think}us\""), count).run());
        println!("W {count} R {reads} Z {think}: {found:.4}, {below:.4} to {above:.4}");
        assert!(found > 0.985 * below && found < 1.015 * above, "{found}");
    }
}

/// Response time law, with random think times: `X = W R / (Z + T)`. With one request a batch, T is
/// the mean end-to-end time.
#[test]
fn random_think_times_keep_the_response_time_law() {
    let base = drive();
    let random = "{ count = 50, reads = 1, think_time = \"40us\", think = \"exponential\", \
                  queue_pairs = 50 }";
    let summary = base.set("flow[0].synthetic.warps", random).run();
    let expected = 50.0 / (40.0 + summary.flows[0].end_to_end_us.mean);
    let found = rate(&summary);
    assert!((found / expected - 1.0).abs() < 0.015, "{found} {expected}");
}

#[test]
fn as_many_queue_pairs_as_nvme_has_are_served() {
    for arbiter in ["round-robin", "weighted-round-robin"] {
        let many = warps(&drive(), 65_535, 1, "\"1us\"", 65_535)
            .set("interface.arbitration", arbiter)
            .set("flow[0].synthetic.requests", 131_070);
        let summary = many.run();
        assert_eq!(summary.requests_completed, 131_070);
        assert!((rate(&summary) * SERVICE - 1.0).abs() < 0.01, "the firmware is the limit");
    }
}

#[test]
fn a_doorbell_for_each_entry_is_the_default() {
    let base = warps(&drive(), 16, 8, "\"5us\"", 4).set("flow[0].synthetic.requests", 5000);
    let same = base.set("interface.doorbell_batch", 1).set("interface.doorbell_limit", "3ns");
    let flows = |scenario: &Scenario| {
        let summary = scenario.run();
        (summary.events, serde_json::to_string(&summary.flows).expect("JSON"))
    };
    assert_eq!(flows(&base), flows(&same));
}

#[test]
fn an_entry_waits_for_its_doorbell_no_longer_than_the_limit() {
    let base = drive().set("flow[0].synthetic.requests", 2000);
    let one = base.set("flow[0].synthetic.queue_depth", 1);
    let waits = one.set("interface.doorbell_batch", 4).set("interface.doorbell_limit", "7us");
    let mean = |scenario: &Scenario| scenario.run().flows[0].response_time_us.mean;
    assert!((mean(&waits) - mean(&one) - 7.0).abs() < 1e-6, "{} {}", mean(&waits), mean(&one));
    // Batches that are full ring at once.
    let four = warps(&base, 1, 4, "\"20us\"", 1);
    let full = four.set("interface.doorbell_batch", 4).set("interface.doorbell_limit", "7us");
    assert!((mean(&full) - mean(&four)).abs() < 0.1, "{} {}", mean(&full), mean(&four));
}

/// Trims move no data, so that a slow link is busy with doorbells and entries: 30 B for each of two
/// doorbells and 92 B for the entry, on the way to the drive. One doorbell for 16 entries takes a
/// sixteenth of its share.
#[test]
fn doorbells_for_several_entries_save_the_link() {
    let slow = drive()
        .set("flow[0].synthetic.queue_depth", 64)
        .set("flow[0].synthetic.trim_ratio", "1.0")
        .set("interface.firmware_time", "0ns")
        .set("interface.doorbell_limit", "100us")
        .set("link.lanes", 1)
        .set("link.lane_bandwidth", "50MB/s");
    for batch in [1, 16] {
        let found = rate(&slow.set("interface.doorbell_batch", batch).run());
        let expected = 50.0 / (30.0 / f64::from(batch) + 30.0 + 92.0);
        assert!((found / expected - 1.0).abs() < 0.005, "batch {batch}: {found} {expected}");
    }
}

#[test]
fn combinations_that_are_not_modelled_are_refused_by_name() {
    let base = warps(&drive(), 4, 4, "\"1us\"", 2);
    let (device, mut workload) = base.load();
    let mut sata = device.clone();
    sata.interface.kind = InterfaceKind::Sata;
    sata.interface.doorbell_batch = 2;
    let mut problems = validate(&sata, &workload);
    let synthetic = workload.flows[0].synthetic.as_mut().expect("synthetic");
    synthetic.read_ratio.0 = 0.5;
    synthetic.queue_depth = Some(3);
    synthetic.warps.as_mut().expect("warps").count = 1 << 21;
    problems.extend(validate(&device, &workload));
    let found = format!("{problems:?}");
    for part in [
        "one queue for all flows",
        "such a drive has no doorbells",
        "queue_depth and warps",
        "the threads of a warp read",
        "2097152",
    ] {
        assert!(found.contains(part), "{part} in {found}");
    }
    let mut untimed = base;
    untimed.options.waf_only = true;
    let refused = untimed.try_run().expect_err("warps take time").to_string();
    assert!(refused.contains("flow[0].synthetic.warps"), "{refused}");
}
