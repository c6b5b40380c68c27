//! Bounded buffers for the data of reads (`interface.read_buffer`), and the firmware time of pages.

use crate::common::{SMALL_DRIVE, Scenario, problems, tenant};
use flashlane::metrics::Summary;

fn drive() -> String {
    SMALL_DRIVE.replace("[ftl]", "[ftl]\nunwritten_read = \"flash\"")
}

/// The keys of a reader of 16 KiB at a depth.
fn keys(depth: u32, length: &str) -> String {
    let pages = "size = \"16KiB\"\nalign = \"16KiB\"";
    format!("read_ratio = 1.0\n{pages}\nqueue_depth = {depth}\n{length}")
}

/// A reader of 16 KiB at a depth.
fn reader(depth: u32) -> Scenario {
    Scenario::new(&drive(), &tenant("reader", "off", &keys(depth, "requests = 3000")))
}

fn iops(run: &Summary) -> f64 {
    run.flows[0].iops
}

fn mean(run: &Summary) -> f64 {
    run.flows[0].response_time_us.mean
}

/// Four reads of 16 KiB fill 64 KiB. Any others wait in the queue, so that the rate is that of
/// depth 4, and each request beyond makes the others wait for its turn.
#[test]
fn the_rate_grows_with_the_depth_until_the_buffers_are_full() {
    let run = |depth: u32| reader(depth).set("interface.read_buffer", "64KiB").run();
    let rates = [1, 2, 4, 16, 64].map(|depth| iops(&run(depth)));
    assert!(rates[1] > 1.3 * rates[0] && rates[2] > 1.1 * rates[1], "{rates:?}");
    assert!(rates[3..].iter().all(|rate| (rate / rates[2] - 1.0).abs() < 0.05), "{rates:?}");
    let (bounded, free) = (run(64), reader(64).run());
    assert!(iops(&free) > 1.4 * iops(&bounded), "{} {}", iops(&free), iops(&bounded));
    let expected = 64e6 / iops(&bounded);
    assert!((mean(&bounded) / expected - 1.0).abs() < 0.05, "{} {expected}", mean(&bounded));
}

/// The bound is on data: small reads of the same number do not reach it.
#[test]
fn small_reads_do_not_notice_buffers_that_hold_them_all() {
    let run = |buffer: Option<&str>| {
        let small =
            reader(16).set("flow[0].synthetic.size", "4KiB").set("flow[0].synthetic.align", "4KiB");
        buffer.map_or_else(|| small.run(), |size| small.set("interface.read_buffer", size).run())
    };
    assert_eq!(mean(&run(Some("68KiB"))), mean(&run(None)));
    assert!(mean(&run(Some("16KiB"))) > 1.2 * mean(&run(None)));
}

/// Buffers that are full hold every queue up, and arbitration by weight still decides who is next.
#[test]
fn queues_share_the_buffers_by_their_weights() {
    let keys = keys(8, "duration = \"50ms\"");
    let of = |name: &str, weight: u32| {
        tenant(name, "off", &keys)
            .replace("[flow.synth", &format!("weight = {weight}\n[flow.synth"))
    };
    let shared = |weight: u32| {
        let scenario = Scenario::new(&drive(), &(of("a", weight) + &of("b", 1)));
        let scenario = scenario.set("interface.arbitration", "stride");
        let run = scenario.set("interface.read_buffer", "64KiB").run();
        iops(&run) / run.flows[1].iops
    };
    let [plain, weighed] = [1, 3].map(shared);
    assert!((plain - 1.0).abs() < 0.05, "{plain}");
    assert!((2.0..3.2).contains(&weighed), "{weighed}");
}

/// Each page after the first adds its time, as firmware.
#[test]
fn pages_of_a_command_take_firmware_time() {
    let run = |time: &str| reader(1).set("interface.page_firmware_time", time).run();
    let longer = mean(&run("7us")) - mean(&run("0us"));
    assert!((longer - 21.0).abs() < 0.01, "three pages more than one: {longer}");
    assert_eq!(mean(&run("0us")), mean(&reader(1).run()));
}

#[test]
fn sizes_and_times_beyond_their_range_are_refused() {
    for (key, value) in [
        ("interface.read_buffer", "1KiB"),
        ("interface.read_buffer", "4097B"),
        ("interface.read_buffer", "2GiB"),
        ("interface.page_firmware_time", "1000s"),
    ] {
        let found = problems(&drive(), &[&format!("{key}={value}")]);
        let right = matches!(&found[..], [only] if only.starts_with(key));
        assert!(right, "{key} = {value}: {found:?}");
    }
    let fits = ["interface.read_buffer=4KiB", "interface.page_firmware_time=1us"];
    assert!(problems(&drive(), &fits).is_empty());
}
