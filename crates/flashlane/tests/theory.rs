//! Against theory: queueing, peak rates, and the arithmetic of one request. Write amplification has
//! `theory_collection.rs`.
//!
//! Run with `--nocapture` for the tables.

use crate::common::{Scenario, flash_only, run_all, whole_run};
use flashlane::config::bounds::Bounds;
use flashlane::metrics::Summary;
use flashlane::metrics::summary::BreakdownSummary;

/// One channel, one chip, one die, one plane.
fn one_die() -> String {
    flash_only("over_provisioning = \"28%\"", [1; 4], [64, 64], "4KiB")
}

const PAGE_READS: &str = r#"
[[flow]]
name = "reads"
cache = "off"
[flow.synthetic]
iops = 1000.0
read_ratio = 1.0
size = "4KiB"
align = "4KiB"
requests = 1000
"#;

fn relative(measured: f64, expected: f64) -> f64 {
    measured / expected - 1.0
}

/// Mean of a few equal batches and its standard error.
fn mean_and_error(batches: &[f64]) -> (f64, f64) {
    let n = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / n;
    let variance = batches.iter().map(|b| (b - mean) * (b - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Poisson page reads at a load, in batches of independent runs: mean wait for the die against
/// M/D/1, `rho S / (2 (1 - rho))`.
fn check_md1(load: f64, requests_per_batch: u64) {
    const BATCHES: u64 = 20;
    // Command and address cycles, tR and ready delay, data at 800 MT/s. Unit: microseconds.
    let service = 0.290 + 50.0 + 0.020 + 5.120;
    let base = Scenario::new(&one_die(), PAGE_READS)
        .set("flow[0].synthetic.iops", load / service * 1e6)
        .set("flow[0].synthetic.requests", requests_per_batch);
    let runs: Vec<Scenario> = (1..=BATCHES).map(|seed| base.seed(seed)).collect();
    let summaries = run_all(&runs);
    let waits: Vec<f64> = summaries.iter().map(|s| s.flows[0].breakdown_us.flash_queue).collect();
    let (mean, error) = mean_and_error(&waits);
    let expected = load * service / (2.0 * (1.0 - load));
    println!(
        "{load:>5.2} {expected:>10.3} {mean:>10.3} {:>8.3} {:>8.3} {:>10}",
        100.0 * relative(mean, expected),
        100.0 * error / mean,
        BATCHES * requests_per_batch,
    );
    for summary in &summaries {
        let flow = &summary.flows[0];
        assert_eq!(whole_run(summary).user_reads, requests_per_batch);
        assert!((flow.breakdown_us.flash_bus - 5.410).abs() < 1e-6);
        assert!((flow.breakdown_us.flash_array - 50.020).abs() < 1e-6);
    }
    assert!(error < 0.01 * mean, "load {load}: standard error {error} of {mean}");
    assert!(relative(mean, expected).abs() < 0.03, "load {load}: {mean} us, M/D/1 {expected} us");
}

#[test]
fn poisson_reads_wait_as_in_md1() {
    println!(
        "{:>5} {:>10} {:>10} {:>8} {:>8} {:>10}",
        "load", "M/D/1 us", "ours us", "diff %", "s.e. %", "requests"
    );
    for (load, requests) in
        [(0.1, 20_000), (0.3, 15_000), (0.5, 20_000), (0.7, 40_000), (0.8, 60_000), (0.9, 200_000)]
    {
        check_md1(load, requests);
    }
}

#[test]
#[ignore = "minutes: the queue at 95 % load forgets slowly"]
fn poisson_reads_wait_as_in_md1_at_95_percent() {
    check_md1(0.95, 1_500_000);
}

const SLOW_BUS: &str = "100MT/s";
const FAST_BUS: &str = "10GT/s";

/// Sequential pages over `dies` dies with 16 outstanding for each chip at least.
fn peak(
    channels: u32,
    chips: u32,
    dies: u32,
    planes: u32,
    rate: &str,
    read: bool,
) -> (Summary, Bounds) {
    let chip_count = channels * chips;
    let depth = 16 * chip_count * dies * planes;
    let total_dies = chip_count * dies * planes;
    let scenario = Scenario::new(&one_die(), PAGE_READS)
        .set(
            "workload.flow[0].synthetic",
            "{ size = \"4KiB\", align = \"4KiB\", address = \"streaming\" }",
        )
        .set("flow[0].synthetic.queue_depth", depth)
        .set("flow[0].synthetic.read_ratio", if read { "1.0" } else { "0.0" })
        .set("flow[0].synthetic.requests", 2000 * total_dies)
        // Writes go to an empty drive, so that nothing is collected.
        .set("ftl.precondition.enabled", read)
        .set("flash.channels", channels)
        .set("flash.chips_per_channel", chips)
        .set("flash.dies_per_chip", dies)
        .set("flash.planes_per_die", planes)
        .set("flash.channel_rate", rate)
        // The array bound knows no command cycles; those of two planes take 2 % of 50 us alone.
        .set("flash.read_time", if planes == 1 { "[\"50us\"]" } else { "[\"100us\"]" });
    let (device, _) = scenario.load();
    (scenario.run(), Bounds::new(&device))
}

/// Channels, chips per channel, dies per chip, planes per die, rate of the channels, reads.
type Peak = (&'static str, u32, u32, u32, u32, &'static str, bool);

fn check_peaks(cases: &[Peak]) {
    println!("{:<34} {:>10} {:>10} {:>8}", "case", "bound MB/s", "ours MB/s", "diff %");
    let mut failures = Vec::new();
    for &(name, channels, chips, dies, planes, rate, read) in cases {
        let (summary, bounds) = peak(channels, chips, dies, planes, rate, read);
        let array =
            if read { bounds.array_read_bytes_per_s } else { bounds.array_write_bytes_per_s };
        let bound = array.min(bounds.bus_bytes_per_s);
        let ours = summary.flows[0].bandwidth_bytes_per_s;
        let difference = relative(ours, bound);
        println!(
            "{name:<34} {:>10.2} {:>10.2} {:>8.2}",
            bound / 1e6,
            ours / 1e6,
            100.0 * difference
        );
        if !(-0.02..=0.0).contains(&difference) {
            failures.push(format!("{name}: {ours} of {bound}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn peak_bandwidth_meets_the_bounds() {
    check_peaks(&[
        ("bus, programs, 1 x 16 x 2 dies", 1, 16, 2, 1, SLOW_BUS, false),
        ("array, reads, 1 die", 1, 1, 1, 1, FAST_BUS, true),
        ("array, reads, 2 x 2 chips", 2, 2, 1, 1, FAST_BUS, true),
        ("array, reads, 2 x 2 x 2 dies", 2, 2, 2, 1, FAST_BUS, true),
        ("array, reads, 1 die x 2 planes", 1, 1, 1, 2, FAST_BUS, true),
        ("array, programs, 1 die", 1, 1, 1, 1, FAST_BUS, false),
        ("array, programs, 2 x 2 chips", 2, 2, 1, 1, FAST_BUS, false),
        ("array, programs, 2 x 2 x 2 dies", 2, 2, 2, 1, FAST_BUS, false),
        ("array, programs, 2 x 2 x 2 planes", 2, 2, 1, 2, FAST_BUS, false),
    ]);
}

/// Read commands go before waiting data. With data first, the dies of a channel would move in step
/// and the bus idle for one tR a round: `n t_data / (n t_data + tR)` of its bound for n dies.
#[test]
fn peak_read_bandwidth_meets_the_bus_bound() {
    check_peaks(&[
        ("bus, reads, 1 x 4 chips", 1, 4, 1, 1, SLOW_BUS, true),
        ("bus, reads, 2 x 2 chips x 2 dies", 2, 2, 2, 1, SLOW_BUS, true),
    ]);
}

/// The device of the arithmetic: everything at its default but the flash.
fn one_request(read: bool, cache: &str) -> Scenario {
    let workload = format!(
        r#"
[[flow]]
name = "one"
cache = "{cache}"
[flow.synthetic]
queue_depth = 1
read_ratio = {}
size = "4KiB"
align = "4KiB"
requests = 1
"#,
        if read { "1.0" } else { "0.0" }
    );
    Scenario::new(&one_die(), &workload)
        .set("link", "{ lanes = 4, lane_bandwidth = \"1GB/s\" }")
        .set("interface", "{ firmware_time = \"1us\" }")
}

/// Stages in pipeline order. Unit: picoseconds.
fn stages(b: &BreakdownSummary) -> [u64; 9] {
    [
        b.submission,
        b.transfer_in,
        b.firmware,
        b.cache,
        b.mapping,
        b.flash_queue,
        b.flash_bus,
        b.flash_array,
        b.transfer_out,
    ]
    .map(|us| (us * 1e6).round() as u64)
}

/// Every time on the link is payload plus 28 bytes a packet of 128, at 4 bytes a nanosecond.
#[test]
fn one_request_takes_the_sum_of_its_stages_to_the_picosecond() {
    const DOORBELL: u64 = 7_500;
    const ASK: u64 = 8_000;
    const ENTRY: u64 = 23_000;
    const PAGE: u64 = 1_248_000;
    const COMPLETION: u64 = 11_000;
    const FIRMWARE: u64 = 1_000_000;
    const BUS_PAGE: u64 = 5_120_000;
    // One row opened, 1024 beats at 800 MT/s.
    const DRAM: u64 = 26_000 + 1_280_000;
    let out = COMPLETION;
    for (read, cache, expected) in [
        (
            true,
            "off",
            [DOORBELL, ASK + ENTRY, FIRMWARE, 0, 0, 0, 290_000 + BUS_PAGE, 50_020_000, PAGE + out],
        ),
        (
            false,
            "off",
            [
                DOORBELL,
                ASK + ENTRY + ASK + PAGE,
                FIRMWARE,
                0,
                0,
                0,
                361_000 + BUS_PAGE,
                500_000_000,
                out,
            ],
        ),
        (false, "write", [DOORBELL, ASK + ENTRY + ASK + PAGE, FIRMWARE, DRAM, 0, 0, 0, 0, out]),
    ] {
        let flow = one_request(read, cache).run().flows.remove(0);
        assert_eq!(stages(&flow.breakdown_us), expected, "read {read}, cache {cache}");
        let response = (flow.response_time_us.mean * 1e6).round() as u64;
        assert_eq!(response, expected.iter().sum::<u64>(), "read {read}, cache {cache}");
    }
    // A page that is cached: no flash.
    let hit = one_request(true, "read").set("flow[0].occupancy", 1.0).run().flows.remove(0);
    assert_eq!(hit.cache.hits, 1, "a warm cache holds the whole of this small drive");
    let expected = [DOORBELL, ASK + ENTRY, FIRMWARE, DRAM, 0, 0, 0, 0, PAGE + out];
    assert_eq!(stages(&hit.breakdown_us), expected, "cached read");
}

/// In a closed loop at depth 1 the next submission shares the link with the doorbell of the last
/// completion; nothing else differs from a lone request.
#[test]
fn a_closed_loop_at_depth_one_repeats_the_lone_request() {
    for (read, cache) in [(true, "off"), (false, "off")] {
        let lone = one_request(read, cache).set("ftl.precondition.enabled", read);
        let first = lone.run().flows.remove(0).response_time_us.mean;
        let flow = lone.set("flow[0].synthetic.requests", 500).run().flows.remove(0);
        let all = flow.response_time_us;
        assert!((all.min - first).abs() < 1e-7, "{} us, {first} us", all.min);
        assert!((all.max - first - 0.0075).abs() < 1e-7, "{} us, {first} us", all.max);
        assert!((all.mean - first - 0.0075 * 499.0 / 500.0).abs() < 1e-7);
    }
}

#[test]
fn stages_sum_to_the_response_time_of_a_mixed_workload() {
    let workload = r#"
[[flow]]
name = "mixed"
[flow.synthetic]
queue_depth = 16
read_ratio = 0.6
trim_ratio = 0.05
flush_ratio = 0.01
size = { discrete = [["512B", 1.0], ["4KiB", 2.0], ["20KiB", 1.0]] }
align = "512B"
requests = 8000

[[flow]]
name = "uncached"
cache = "off"
[flow.synthetic]
iops = 400.0
read_ratio = 0.5
size = "16KiB"
requests = 800

[[flow]]
name = "caching reads"
cache = "write-read"
[flow.synthetic]
queue_depth = 2
read_ratio = 0.7
address = { zipf = { theta = 1.1 } }
size = "8KiB"
requests = 4000
"#;
    let base = Scenario::new("base = \"tiny\"", workload).set("ftl.over_provisioning", 0.6);
    for scenario in [
        base.clone(),
        base.set("ftl.mapping", "{ ideal = false, cmt_capacity = \"2KiB\" }"),
        base.set("flash.cache_program", true),
        base.set("cache.capacity", "64KiB")
            .set("flash.suspend.program", true)
            .set("interface.queue_depth", 8),
    ] {
        let summary = scenario.run();
        for flow in summary.flows {
            let sum: u64 = stages(&flow.breakdown_us).iter().sum();
            let response = flow.response_time_us.mean * 1e6;
            let difference_ns = (sum as f64 - response).abs() / 1e3;
            assert!(flow.response_time_us.count > 100, "{}", flow.name);
            assert!(difference_ns < 1.0, "{}: {difference_ns} ns of {response} ps", flow.name);
        }
    }
}
