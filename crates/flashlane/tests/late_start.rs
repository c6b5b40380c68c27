//! Flows that start after the others, and warm-ups that a workload file asks for.

use crate::common::{SMALL_DRIVE, Scenario};
use flashlane::metrics::Summary;
use flashlane::{RunOptions, Warmup};

const STEADY: &str = "[[flow]]\nname = \"steady\"\n[flow.synthetic]\nqueue_depth = 2\n\
                      read_ratio = 1.0\nduration = \"100ms\"\n";

/// The steady flow, and one of `keys` that starts after 40 ms.
fn with_a_late_flow(keys: &str) -> Scenario {
    let late = format!(
        "[[flow]]\nname = \"late\"\nstarts_after = \"40ms\"\non_end = \"repeat\"\n[flow.synthetic]\n\
         read_ratio = 1.0\n{keys}"
    );
    Scenario::new(SMALL_DRIVE, &format!("{STEADY}{late}"))
}

/// Requests of both flows before the window: those of the first 40 ms.
fn before(summary: &Summary) -> u64 {
    summary.before_window.requests_completed
}

#[test]
fn a_late_flow_waits_and_then_runs_as_long_as_it_should() {
    for keys in [
        "queue_depth = 4\nduration = \"20ms\"\n",
        "iops = 20000.0\nduration = \"20ms\"\n",
        "queue_depth = 2\nthink_time = \"50us\"\nduration = \"20ms\"\n",
    ] {
        let whole = with_a_late_flow(keys)
            .set("window", "\"whole-run\"")
            .set("flow.late.on_end", "\"stop\"");
        let whole = whole.set("flow.steady.on_end", "\"stop\"").run();
        let late = &whole.flows[1];
        // The rates of the whole run are over its length: a fifth of it is the late flow's.
        let alone = Scenario::new(SMALL_DRIVE, STEADY).set("window", "\"whole-run\"").run();
        assert!(late.requests.read > 50, "{keys}: {}", late.requests.read);
        assert!(whole.flows[0].requests.read < alone.flows[0].requests.read, "{keys}");
        let of_its_time = late.requests.read as f64 / 0.020;
        let rate = late.iops * whole.simulated_s / 0.020;
        assert!((rate / of_its_time - 1.0).abs() < 0.01, "{keys}: {rate} against {of_its_time}");
    }
}

#[test]
fn nothing_counts_before_the_last_flow_has_started() {
    let summary = with_a_late_flow("queue_depth = 4\nduration = \"20ms\"\n").run();
    assert!((0.040..0.041).contains(&summary.window_start_s), "{}", summary.window_start_s);
    assert!(before(&summary) > 100, "{}", before(&summary));
    let late = &summary.flows[1];
    // The flow starts over until the other flow ends, so it loads the whole window.
    assert!(late.requests.read > 100 && late.backlog_at_end <= 4, "{late:?}");
}

#[test]
fn with_its_fellows_a_late_flow_is_slower_than_alone() {
    let mut scenario = with_a_late_flow("queue_depth = 16\nduration = \"20ms\"\n");
    scenario.options.alone = true;
    let summary = scenario.run();
    let slowdown = summary.flows[0].slowdown.expect("it ran alone");
    assert!(slowdown > 1.2, "{slowdown}");
}

#[test]
fn a_file_may_ask_for_a_warm_up() {
    let plain = Scenario::new(SMALL_DRIVE, STEADY);
    let mut asked = plain.clone();
    asked.options.warmup = Warmup::Time(30_000_000_000);
    let of_file = plain.set("warmup", "\"30ms\"");
    let same = |one: &Summary, other: &Summary| {
        assert_eq!(one.window_start_s.to_bits(), other.window_start_s.to_bits());
        assert_eq!(one.flows[0].response_time_us, other.flows[0].response_time_us);
    };
    same(&asked.run(), &of_file.run());
    // What the run says goes over it.
    let mut over = of_file;
    over.options =
        RunOptions { warmup: Warmup::Time(10_000_000_000), check: true, ..RunOptions::default() };
    let mut ten = Scenario::new(SMALL_DRIVE, STEADY);
    ten.options.warmup = Warmup::Time(10_000_000_000);
    same(&over.run(), &ten.run());
}

#[test]
fn a_flow_that_starts_when_all_is_over_is_refused() {
    let late = with_a_late_flow("queue_depth = 4\nduration = \"20ms\"\n");
    let late =
        late.set("flow.late.starts_after", "\"900ms\"").set("flow.steady.on_end", "\"stop\"");
    let refused = late.try_run().expect_err("nothing counts").to_string();
    assert!(
        refused.starts_with("flow[1].starts_after: found 0.9 s, but the flows have"),
        "{refused}"
    );
}

#[test]
fn a_run_without_time_refuses_both() {
    for key in ["warmup", "flow.steady.starts_after"] {
        let mut scenario = Scenario::new(SMALL_DRIVE, STEADY).set(key, "\"1ms\"");
        scenario = scenario.set("flow.steady.synthetic.requests", 100);
        scenario.options.waf_only = true;
        let refused = scenario.try_run().expect_err("time").to_string();
        assert!(refused.contains(key.split('.').next_back().expect("a key")), "{refused}");
    }
}
