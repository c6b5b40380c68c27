//! Pauses of the write buffer (`[cache.pause]`): how long writes wait, and what does not notice.

use crate::common::{Scenario, problems, tenant};
use flashlane::metrics::Summary;
use flashlane::metrics::summary::Latency;

const DRIVE: &str = r#"
name = "a buffer with pauses"
[cache]
mechanism = "simple"
write_back_pages_per_plane = 32
[ftl]
over_provisioning = "28%"
[flash]
technology = "slc"
channels = 4
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 64
page_size = "4KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["300us"]
erase_time = "3ms"
"#;

/// A writer of 4 KiB at a rate, and a reader past the cache.
fn scenario(rate: u32) -> Scenario {
    let pages = "size = \"4KiB\"\nalign = \"4KiB\"\naddress = \"streaming\"";
    let writer = format!("read_ratio = 0.0\niops = {rate}\narrivals = \"constant\"\n{pages}");
    let reader = format!("read_ratio = 1.0\niops = 1000\narrivals = \"constant\"\n{pages}");
    let flows = tenant("writer", "write", &format!("{writer}\nrequests = 40_000"))
        + &tenant("reader", "off", &format!("{reader}\nrequests = 1_000"));
    Scenario::new(DRIVE, &flows)
}

fn with_pauses(rate: u32) -> Scenario {
    scenario(rate)
        .set("cache.pause.interval", "95ms")
        .set("cache.pause.time", "5ms")
        .set("cache.pause.buffer", "256KiB")
}

fn writes(run: &Summary) -> Latency {
    run.flows[0].write_response_time_us
}

/// The buffer takes 64 writes. At a lower rate it does not fill; at a higher one the first write
/// that does not fit waits for what is left of the pause.
#[test]
fn the_longest_wait_is_the_pause_without_what_the_buffer_takes() {
    for rate in [10_000, 20_000, 30_000] {
        let (without, with) = (scenario(rate).run(), with_pauses(rate).run());
        let expected = (5_000.0 - 64.0 * 1e6 / f64::from(rate)).max(0.0);
        let longer = writes(&with).max - writes(&without).max;
        println!("{rate}: {expected:.0} us, {longer:.1} us");
        assert!((longer - expected).abs() < 110.0, "{rate}: {longer} for {expected}");
        assert!((writes(&with).p50 / writes(&without).p50 - 1.0).abs() < 0.01, "{rate}");
        let pauses = with.admission.expect("it has pauses").pauses;
        let all = 400_000 / u64::from(rate);
        let some = if expected > 0.0 { all } else { 0 };
        assert!(pauses.abs_diff(some) <= 1, "{rate}: {pauses} of {all}");
        assert!(without.admission.is_none());
    }
}

/// The flash goes on in a pause.
#[test]
fn reads_and_amplification_do_not_notice() {
    let (without, with) = (scenario(20_000).run(), with_pauses(20_000).run());
    let [before, after] = [&without, &with].map(|run| run.flows[1].read_response_time_us);
    assert!((after.mean / before.mean - 1.0).abs() < 0.03, "{after:?} {before:?}");
    let [before, after] = [&without, &with].map(|run| run.flash.write_amplification);
    assert!((after / before - 1.0).abs() < 0.01, "{after} {before}");
    let mut untimed = with_pauses(20_000);
    untimed.options.waf_only = true;
    assert!(untimed.run().admission.is_none(), "a run without time has no pauses");
}

/// What came since the last pause makes the next one longer: 0.1 s of writes at 1 GB/s.
#[test]
fn data_makes_pauses_longer() {
    for rate in [10_000, 30_000] {
        let with = with_pauses(rate)
            .set("cache.pause.time", "0s")
            .set("cache.pause.buffer", "0B")
            .set("cache.pause.interval", "100ms")
            .set("cache.pause.rate", "1GB/s")
            .run();
        let share = f64::from(rate) * 4096e-9;
        // The writes of the pause count for the next one.
        let expected = 100_000.0 * share / (1.0 - share);
        let found = writes(&with).max;
        assert!((found / expected - 1.0).abs() < 0.06, "{rate}: {found} for {expected}");
    }
}

#[test]
fn what_cannot_pause_is_refused() {
    let pauses = ["cache.pause.interval=10ms", "cache.pause.time=1ms"];
    let refused = |set: &str, part: &str| {
        let found = problems(DRIVE, &[pauses[0], pauses[1], set]);
        assert!(found.iter().any(|line| line.contains(part)), "{set}: {found:?}");
    };
    assert!(problems(DRIVE, &pauses).is_empty());
    refused("cache.pause.interval=1us", "cache.pause.interval: found 1us");
    refused("cache.pause.time=2s", "cache.pause.time");
    refused("cache.pause.rate=1kB/s", "cache.pause.rate: found 1kB/s");
    refused("cache.pause.buffer=2TiB", "cache.pause.buffer");
    refused("cache.capacity=0B", "there is no data cache");
    refused("compat.cache_drops_leaving=true", "switches of compat");
    let found = problems(DRIVE, &[pauses[1]]);
    assert!(found[0].contains("cache.pause.interval: found 0s beside"), "{found:?}");
}
