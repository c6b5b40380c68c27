//! Slowdown over time: the windows add up to the whole, and show when a neighbour was loud.

use std::fmt::Write as _;

use crate::common::Scenario;
use flashlane::metrics::{FlowWindow, Summary};

const DRIVE: &str = r#"
name = "windows"
scheduler = "fcfs"
[ftl]
over_provisioning = 0.25
mapping.ideal = true
precondition = { enabled = true, occupancy = 0.7 }
[flash]
technology = "mlc"
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 32
page_size = "4KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

const MS: u64 = 1_000_000_000;

/// A steady open loop of small reads beside another source.
fn beside(other: &str, window_ms: u64) -> Summary {
    let workload = format!(
        "[[flow]]\nname = 'steady'\ncache = 'off'\n[flow.synthetic]\niops = 2000.0\nread_ratio = 1.0\n\
         size = '4KiB'\nrequests = 200\n[[flow]]\nname = 'other'\ncache = 'off'\n{other}"
    );
    let mut scenario = Scenario::new(DRIVE, &workload);
    scenario.options.alone = true;
    scenario.options.windows = Some(window_ms * MS);
    scenario.run()
}

/// Requests and mean over all windows.
fn whole(
    summary: &Summary,
    of: impl Fn(&FlowWindow) -> (u64, Option<f64>),
    flow: usize,
) -> (u64, f64) {
    let windows = &summary.slowdown_over_time.as_ref().expect("asked for").windows;
    let parts = windows.iter().map(|window| of(&window.flows[flow]));
    let (count, sum) = parts.fold((0, 0.0), |(count, sum), (n, mean)| {
        assert_eq!(n > 0, mean.is_some(), "a mean needs requests");
        (count + n, sum + n as f64 * mean.unwrap_or(0.0))
    });
    (count, sum / count as f64)
}

#[test]
fn windows_add_up_to_the_run() {
    let other =
        "[flow.synthetic]\nqueue_depth = 4\nread_ratio = 1.0\nsize = '4KiB'\nrequests = 2000\n";
    let summary = beside(other, 5);
    for (index, flow) in summary.flows.iter().enumerate() {
        let (count, mean) = whole(&summary, |w| (w.requests, w.end_to_end_us), index);
        assert_eq!(count, flow.end_to_end_us.count, "{}", flow.name);
        assert!((mean / flow.end_to_end_us.mean - 1.0).abs() < 1e-9, "{}: {mean}", flow.name);
    }
    let (count, mean) = whole(&summary, |w| (w.alone_requests, w.alone_end_to_end_us), 0);
    assert_eq!(count, summary.flows[0].end_to_end_us.count, "an open loop: the same requests");
    let alone = summary.flows[0].alone_end_to_end_us.expect("it ran alone");
    assert!((mean / alone - 1.0).abs() < 1e-9, "{mean} for {alone}");
    let over_time = summary.slowdown_over_time.expect("asked for");
    for window in &over_time.windows {
        let first = &window.flows[0];
        assert_eq!(first.requests, first.alone_requests, "window by window");
        let slowdowns: Vec<Option<f64>> = window.flows.iter().map(|flow| flow.slowdown).collect();
        assert_eq!(window.fairness.is_some(), slowdowns.iter().all(Option::is_some));
        assert_eq!(window.fairness.is_some(), window.max_slowdown.is_some());
    }
}

/// 300 reads at 30 ms, all at once: only the windows from then on are slow.
#[test]
fn a_burst_of_the_neighbour_shows_in_its_windows() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("burst.trace");
    let mut lines = "0 0 0 8 1\n".to_owned();
    for k in 0..300 {
        writeln!(lines, "30000000 0 {} 8 1", k * 64).expect("text takes all");
    }
    lines.push_str("100000000 0 0 8 1\n");
    std::fs::write(&path, lines).expect("a file");
    let other = format!("[flow.trace]\npath = '{}'\nformat = 'mqsim'\n", path.display());
    let summary = beside(&other, 10);
    let windows = summary.slowdown_over_time.expect("asked for").windows;
    let slowdown = |start_ms: u64| {
        let at = |start_s: f64| (start_s * 1e3).round() as u64 == start_ms;
        let window = windows.iter().find(|window| at(window.start_s)).expect("a window");
        window.flows[0].slowdown.expect("requests in both runs")
    };
    assert!(slowdown(0) < 1.5, "{}", slowdown(0));
    assert!(slowdown(20) < 1.5, "{}", slowdown(20));
    assert!(slowdown(30) > 5.0, "{}", slowdown(30));
    assert!(slowdown(60) < 1.5, "{}", slowdown(60));
}

#[test]
fn nothing_is_windowed_unless_asked_for() {
    let other = "[flow.synthetic]\nqueue_depth = 1\nread_ratio = 1.0\nrequests = 100\n";
    let workload = format!("[[flow]]\nname = 'one'\n{other}");
    let mut scenario = Scenario::new(DRIVE, &workload);
    assert!(scenario.run().slowdown_over_time.is_none());
    scenario.options.windows = Some(MS);
    assert!(scenario.run().slowdown_over_time.is_none(), "without runs alone");
    // A flow by itself is alone already.
    scenario.options.alone = true;
    let windows = scenario.run().slowdown_over_time.expect("asked for").windows;
    assert!(!windows.is_empty());
    assert!(windows.iter().all(|window| window.flows[0].slowdown == Some(1.0)));
}
