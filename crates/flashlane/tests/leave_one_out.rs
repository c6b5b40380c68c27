//! Runs without each flow in turn.

use flashlane::config::load::{self, Overrides};
use flashlane::metrics::Summary;
use flashlane::{RunOptions, simulate};

const QUIET: &str = "[[flow]]\nname = \"quiet\"\n[flow.synthetic]\nqueue_depth = 1\nrequests = 500\n\
                     read_ratio = 1.0\nsize = \"4KiB\"\n";
const LOUD: &str = "[[flow]]\nname = \"loud\"\ncache = \"off\"\n[flow.synthetic]\nqueue_depth = 32\n\
                    requests = 3000\nread_ratio = 0.0\nsize = \"16KiB\"\n";
const IDLE: &str = "[[flow]]\nname = \"idle\"\n[flow.synthetic]\niops = 10\nrequests = 2\n\
                    read_ratio = 1.0\nsize = \"4KiB\"\n";

fn run(flows: &[&str], options: &RunOptions) -> Summary {
    let device = load::device("tiny", &Overrides::default()).expect("a preset").config;
    let workload = load::workload_from_toml(&flows.concat(), "test", &Overrides::default());
    let workload = workload.expect("a valid workload").config;
    let options = RunOptions { check: true, ..options.clone() };
    let summary = simulate(&device, &workload, &options, &|_| {}).expect("the run finishes");
    summary.without_clocks()
}

fn leave_one_out() -> RunOptions {
    RunOptions { leave_one_out: true, ..RunOptions::default() }
}

#[test]
fn the_loud_one_costs_the_quiet_one_and_the_idle_one_does_not() {
    let summary = run(&[QUIET, LOUD, IDLE], &leave_one_out());
    let quiet = &summary.flows[0];
    let without = quiet.without.as_ref().expect("it was asked for");
    assert_eq!(without.keys().collect::<Vec<_>>(), ["idle", "loud"]);
    assert!(without["loud"] < 0.5 * quiet.end_to_end_us.mean, "{without:?}");
    let idle = without["idle"] / quiet.end_to_end_us.mean;
    assert!((idle - 1.0).abs() < 0.15, "other times, but about the same load: {idle}");
    assert!(quiet.slowdown.is_none(), "nobody ran alone");
}

#[test]
fn of_two_flows_each_is_alone_without_the_other() {
    let both = RunOptions { alone: true, ..leave_one_out() };
    let summary = run(&[QUIET, LOUD], &both);
    let only = run(&[QUIET, LOUD], &leave_one_out());
    for ((flow, other), only) in summary.flows.iter().zip(["loud", "quiet"]).zip(&only.flows) {
        let without = flow.without.as_ref().expect("it was asked for");
        assert_eq!(without.get(other).copied(), flow.alone_end_to_end_us);
        assert_eq!(Some(without), only.without.as_ref());
    }
    let alone = run(&[QUIET, LOUD], &RunOptions { alone: true, ..RunOptions::default() });
    assert_eq!(alone.flows[0].slowdown, summary.flows[0].slowdown);
    assert_eq!(alone.flows[0].without, None);
}

#[test]
fn nothing_else_changes_and_threads_do_not_matter() {
    let flows = [QUIET, LOUD, IDLE];
    let mut summary = run(&flows, &RunOptions { threads: 1, ..leave_one_out() });
    assert_eq!(summary, run(&flows, &RunOptions { threads: 3, ..leave_one_out() }));
    summary.flows.iter_mut().for_each(|flow| flow.without = None);
    assert_eq!(summary, run(&flows, &RunOptions::default()));
}

#[test]
fn a_single_flow_has_nobody_to_leave_out() {
    let summary = run(&[QUIET], &leave_one_out());
    assert_eq!(summary.flows[0].without, None);
}
