//! Runs until steady state: rounds, both criteria, and the window that counts.

use crate::common::Scenario;
use flashlane::metrics::Summary;
use flashlane::metrics::steady::{ROUNDS_MAX, Round, SteadyRule, SteadySummary, Tracked};

const DRIVE: &str = r#"
name = "steady"
[cache]
capacity = "0B"
[ftl]
over_provisioning = "28%"
[flash]
technology = "slc"
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 32
page_size = "4KiB"
channel_rate = "800MT/s"
read_time = ["20us"]
program_time = ["200us"]
erase_time = "1ms"
"#;

/// Random writes; a pass is shorter than the run, so that the flow starts over.
const WRITES: &str = "[[flow]]\nname = \"one\"\n[flow.synthetic]\nqueue_depth = 16\nread_ratio = 0.0\n\
                      size = \"4KiB\"\nalign = \"4KiB\"\nrequests = 1500\n";

fn run(scenario: &Scenario, round: Round, tracked: Tracked) -> (Summary, SteadySummary) {
    let mut scenario = scenario.clone();
    scenario.options.until_steady = Some(SteadyRule { round, tracked });
    let summary = scenario.run();
    let steady = summary.steady_state.clone().expect("the run watches for steady state");
    (summary, steady)
}

fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-6
}

#[test]
fn an_empty_drive_becomes_steady_when_collection_has_set_in() {
    let empty = Scenario::new(DRIVE, WRITES).set("ftl.precondition.enabled", false);
    let (summary, steady) = run(&empty, Round::Requests(2000), Tracked::Iops);
    assert!(steady.reached && steady.rounds.len() > 5, "{steady:?}");
    assert!(steady.range <= 0.2 && steady.slope <= 0.1, "{steady:?}");
    assert!(steady.rounds[0].value > 1.3 * steady.mean, "a fresh drive is faster: {steady:?}");
    // The last five rounds are what counts.
    assert_eq!(steady.window_first, steady.rounds.len() - 5);
    let flow = &summary.flows[0];
    assert_eq!(flow.response_time_us.count, 5 * 2000);
    assert!(close(summary.window_start_s, steady.rounds[steady.window_first].start_s));
    assert!(close(summary.window_end_s, steady.rounds.last().expect("rounds").end_s));
    assert!((flow.iops / steady.mean - 1.0).abs() < 0.02, "{} {}", flow.iops, steady.mean);
    // The state that preconditioning sets is the one that the rounds end in.
    let (_, set) = run(&Scenario::new(DRIVE, WRITES), Round::Requests(2000), Tracked::Iops);
    assert!((set.mean / steady.mean - 1.0).abs() < 0.1, "{} {}", set.mean, steady.mean);
}

#[test]
fn rounds_by_time_and_every_tracked_value() {
    let scenario = Scenario::new(DRIVE, WRITES);
    let span = 200_000_000_000;
    let (summary, iops) = run(&scenario, Round::Time(span), Tracked::Iops);
    assert!(iops.reached, "{iops:?}");
    for (index, round) in iops.rounds.iter().enumerate() {
        assert!((round.end_s - round.start_s - 0.2).abs() < 1e-9);
        assert!((round.start_s - index as f64 * 0.2).abs() < 1e-9);
    }
    assert!(close(iops.mean, summary.flows[0].iops));
    let (summary, bandwidth) = run(&scenario, Round::Time(span), Tracked::Bandwidth);
    assert!(close(bandwidth.mean, summary.flows[0].bandwidth_bytes_per_s));
    let (summary, latency) = run(&scenario, Round::Requests(1000), Tracked::Latency);
    assert!(close(latency.mean, summary.flows[0].response_time_us.mean));
}

#[test]
fn what_never_settles_ends_after_25_rounds_and_says_so() {
    // Four requests a round: chance alone moves them by more than a fifth.
    let mixed = Scenario::new(DRIVE, WRITES)
        .set("flow[0].synthetic.read_ratio", 0.5)
        .set("flow[0].synthetic.queue_depth", 1);
    let (summary, steady) = run(&mixed, Round::Requests(4), Tracked::Latency);
    assert!(!steady.reached, "{steady:?}");
    assert_eq!((steady.rounds.len(), steady.window_first), (ROUNDS_MAX, ROUNDS_MAX - 5));
    assert_eq!(summary.flows[0].response_time_us.count, 5 * 4);
}

#[test]
fn without_the_rule_a_run_ends_with_its_flow() {
    let summary = Scenario::new(DRIVE, WRITES).run();
    assert_eq!(summary.steady_state, None);
    assert_eq!(summary.flows[0].response_time_us.count, 1500);
}
