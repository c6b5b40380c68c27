//! UPI's sets follow a tenant that turns to writing and back.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::common::Scenario;
use flashlane::metrics::summary::IsolationWindow;

/// Twelve chips of one die and two planes.
const DRIVE: &str = r#"
name = "change"
[ftl]
over_provisioning = "60%"
[isolation.upi]
window = "50ms"
[flash]
technology = "slc"
channels = 3
chips_per_channel = 4
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

const CHIPS: usize = 12;
/// Unit of all times: windows of 50 ms.
const BURST: std::ops::Range<usize> = 30..70;
const END: usize = 120;

/// A tenant of even load and one that mostly reads, beside the trace of one that changes.
fn workload(trace: &str) -> String {
    let even = |name: &str, iops: f64, read_ratio: f64| {
        format!(
            "[[flow]]\nname = \"{name}\"\ncache = \"off\"\n[flow.synthetic]\niops = {iops:.1}\n\
             read_ratio = {read_ratio:.2}\nsize = \"4KiB\"\nalign = \"4KiB\"\nduration = \"6s\"\n"
        )
    };
    even("even", 2000.0, 0.7)
        + &even("reader", 1000.0, 0.98)
        + &format!(
            "[[flow]]\nname = \"changing\"\ncache = \"off\"\n[flow.trace]\npath = '{trace}'\n\
             format = \"mqsim\"\n"
        )
}

/// Reads of a page every millisecond and, in the burst, `writes` times as many writes.
fn trace(writes: u64) -> String {
    let mut text = String::new();
    let mut state = 1_u64;
    let mut page = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 8000 * 8
    };
    for ms in 0..END as u64 * 50 {
        writeln!(text, "{} 0 {} 8 1", ms * 1_000_000, page()).expect("text takes all");
        if BURST.contains(&(ms as usize / 50)) {
            for part in 0..writes {
                let ns = ms * 1_000_000 + (part + 1) * 1_000_000 / (writes + 1);
                writeln!(text, "{ns} 0 {} 8 0", page()).expect("text takes all");
            }
        }
    }
    text
}

/// Chips of the set of the tenant that changes, window by window.
fn chips(past_reads: &str, writes: u64, seed: u64) -> Vec<u32> {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(trace(writes).as_bytes()).expect("it is written");
    let path = file.path().to_str().expect("UTF-8");
    let summary = Scenario::new(DRIVE, &workload(path))
        .set("isolation.upi.past_reads", past_reads)
        .seed(seed)
        .run();
    let windows = summary.isolation_sets.expect("sets that change").windows;
    assert!((END - 1..=END + 1).contains(&windows.len()), "{} windows", windows.len());
    windows.iter().map(|window: &IsolationWindow| window.chips[2]).collect()
}

/// One chip may move in a window, so that a tenant has what it needs within as many windows as
/// there are chips, if the last window stands for the next. A running mean of the reads remembers
/// 8 windows, and takes three times as long. What a tenant no longer needs goes only as others need
/// it.
#[test]
fn a_tenant_that_turns_to_writing_gets_chips_and_gives_them_back() {
    for (past_reads, seed) in [("window", 1), ("window", 2), ("average", 1), ("average", 2)] {
        let chips = |writes| chips(past_reads, writes, seed);
        let full = BURST.start + if past_reads == "window" { CHIPS } else { 3 * CHIPS };
        let found = chips(4);
        assert!(found[CHIPS..BURST.start].iter().all(|&chips| chips <= 2), "before: {found:?}");
        assert!(found[full] >= 6, "{past_reads}: {found:?}");
        assert!(found[full..BURST.end].iter().all(|&chips| chips >= 5), "{found:?}");
        let peak = found[BURST].iter().copied().max().expect("windows");
        let after = &found[BURST.end + 4 * CHIPS..];
        assert!(after.iter().all(|&chips| 2 * chips <= peak), "half of them at least: {found:?}");
        let quiet = chips(0);
        assert!(quiet[CHIPS..].iter().all(|&chips| chips <= 2), "without writes: {quiet:?}");
    }
}
