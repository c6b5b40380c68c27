//! Simulated time ends after 2^64 ps, 213 days: no request is lost there without a word, and what
//! fits runs.

use crate::common::{SMALL_DRIVE, Scenario};
use flashlane::Error;
use flashlane::config::WorkloadConfig;
use flashlane::config::load::{Overrides, device_from_toml, workload_from_toml};
use flashlane::config::validate::validate;

/// A flow of some requests of 4 KiB, read by default.
fn flow(name: &str, rest: &str) -> String {
    format!(
        "[[flow]]\nname = \"{name}\"\ncache = \"off\"\n[flow.synthetic]\nread_ratio = 1.0\nsize = \"4KiB\"\n{rest}\n"
    )
}

fn workload(text: &str) -> WorkloadConfig {
    workload_from_toml(text, "workload", &Overrides::default()).expect("it can be read").config
}

fn problems(text: &str) -> Vec<(String, String)> {
    let device = device_from_toml(SMALL_DRIVE, "device", &Overrides::default()).expect("a drive");
    let found = validate(&device.config, &workload(text));
    found.into_iter().map(|problem| (problem.place, problem.message)).collect()
}

#[test]
fn passes_that_cannot_end_are_refused_at_their_key() {
    let refused = [
        ("queue_depth = 1\nthink_time = \"8000000s\"\nrequests = 6", "think_time", "463 days"),
        ("iops = 0.001\nrequests = 100000", "iops", "1157 days"),
        ("bandwidth = \"1kB/s\"\nrequests = 10000000", "bandwidth", "474 days"),
    ];
    for (rest, key, days) in refused {
        let found = problems(&flow("a", rest));
        let [(place, message)] = &found[..] else { panic!("one problem: {found:?}") };
        assert_eq!(place, &format!("flow[0].synthetic.{key}"));
        assert!(message.contains(days) && message.contains("up to 213 days"), "{message}");
    }
    let clone = "[[flow]]\nname = \"a\"\nclone = { of = \"tpcc\", requests = 1000000000000 }\n";
    assert_eq!(problems(clone)[0].0, "flow[0].clone.requests");
    // A flow that stops ends the run for the slow one.
    let stops =
        flow("b", "queue_depth = 1\nrequests = 5").replace("cache", "on_end = \"stop\"\ncache");
    let slow = flow("a", "iops = 0.001\nrequests = 100000");
    assert_eq!(problems(&format!("{slow}{stops}")), []);
    for fits in
        ["iops = 0.001\nrequests = 18000", "iops = 0.001\nrequests = 100000\nduration = \"1s\""]
    {
        assert_eq!(problems(&flow("a", fits)), [], "{fits}");
    }
}

#[test]
fn requests_are_complete_or_the_run_fails() {
    // The gaps have a mean with which the requests take 99.7 % of the time there is: some seeds
    // need more.
    let text = flow("a", "iops = 0.001\nrequests = 18400");
    let slow = Scenario::new(SMALL_DRIVE, &text);
    let (mut complete, mut late) = (0, 0);
    for seed in 1..=12 {
        match slow.seed(seed).try_run() {
            Ok(summary) => {
                assert_eq!(summary.requests_completed, 18_400);
                complete += 1;
            }
            Err(Error::Stuck(message)) => {
                assert!(message.contains("simulated time ends after 213 days"), "{message}");
                assert!(message.contains("before the next request of flow 0"), "{message}");
                late += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(complete > 0 && late > 0, "{complete} complete, {late} late");
}

#[test]
fn pauses_of_months_are_simulated() {
    let text = flow("a", "queue_depth = 1\nthink_time = \"8640000s\"\nrequests = 3");
    let summary = Scenario::new(SMALL_DRIVE, &text).run();
    assert_eq!(summary.requests_completed, 3);
    assert!((summary.simulated_s / 86_400.0 - 200.0).abs() < 0.01, "{}", summary.simulated_s);
    // The other flow goes on for as long as the load lasts; its next request may come too late for
    // ever.
    let other = flow("b", "iops = 0.001\nrequests = 2");
    let summary = Scenario::new(SMALL_DRIVE, &format!("{text}{other}")).run();
    assert!(summary.flows[0].end_to_end_us.count == 3, "{:?}", summary.flows[0]);
}

/// A trace of a week, with `lines` evenly spaced lines.
fn week(folder: &std::path::Path, lines: u64) -> String {
    let path = folder.join("week.csv");
    let line = |index: u64| {
        let us = index * 7 * 86_400_000_000 / (lines - 1);
        format!("{us}.000,W,{},4096,0\n", index * 4096)
    };
    let text: String = (0..lines).map(line).collect();
    let header = "# t_us,op(R/W),offset_bytes,size_bytes,device\n";
    std::fs::write(&path, format!("{header}{text}")).expect("a file");
    format!("[[flow]]\nname = \"week\"\n[flow.trace]\nformat = \"csv\"\npath = {:?}\n", path)
}

#[test]
fn a_trace_of_a_week_runs_with_warm_caches() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = week(folder.path(), 20);
    let drive = format!("{SMALL_DRIVE}[cache]\ncapacity = \"1MiB\"\n");
    // The replay of the past takes hundreds of passes, which is years.
    let summary = Scenario::new(&drive, &text).run();
    assert_eq!(summary.requests_completed, 20);
    assert!((summary.simulated_s / 86_400.0 - 7.0).abs() < 0.01);
    // In a closed loop the times of the trace decide nothing.
    let closed = format!("{text}queue_depth = 4\nrepeat = 40\n");
    assert_eq!(Scenario::new(&drive, &closed).run().requests_completed, 800);
    let open = format!("{text}repeat = 40\n");
    let error = Scenario::new(&drive, &open).try_run().expect_err("280 days");
    assert_eq!(error.exit_status(), 2);
    let message = error.to_string();
    assert!(message.contains("in pass 30 of 40 over the file"), "{message}");
}

#[test]
fn requests_of_more_than_4_gib_are_rejected_and_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("huge.csv");
    let lines = "0.000,W,0,4096,0\n1.000,W,0,17592186044416,0\n2.000,W,8192,4096,0\n";
    std::fs::write(&path, format!("# t_us,op(R/W),offset_bytes,size_bytes,device\n{lines}"))
        .expect("a file");
    let text =
        format!("[[flow]]\nname = \"huge\"\n[flow.trace]\nformat = \"csv\"\npath = {path:?}\n");
    let summary = Scenario::new(SMALL_DRIVE, &text).run();
    assert_eq!((summary.requests_completed, summary.flows[0].bytes.write), (2, 8192));
    let rejected: Vec<_> = summary.flows[0].rejected_lines.iter().collect();
    assert!(rejected.len() == 1 && rejected[0].0.starts_with("longer than 4 GiB"), "{rejected:?}");
    assert_eq!(*rejected[0].1, 1);
    assert_eq!((summary.flows[0].trace_records, summary.flows[0].changed_records), (3, 1));
    let named = &summary.flows[0].named_lines;
    assert_eq!(named[..], ["line 3: 17592186044416 bytes, rejected; allowed: 4 GiB or less"]);
}

#[test]
fn requests_above_the_largest_transfer_are_split_and_trims_are_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.csv");
    let lines =
        "0.000,R,0,1048576,0\n1.000,W,4096,10240,0\n2.000,T,0,1048576,0\n3.000,W,0,4096,0\n";
    std::fs::write(&path, format!("# t_us,op(R/W),offset_bytes,size_bytes,device\n{lines}"))
        .expect("a file");
    let text =
        format!("[[flow]]\nname = \"large\"\n[flow.trace]\nformat = \"csv\"\npath = {path:?}\n");
    let whole = Scenario::new(SMALL_DRIVE, &text).run();
    assert_eq!((whole.requests_completed, whole.flows[0].split_requests), (4, 0));
    let split = Scenario::new(SMALL_DRIVE, &text).set("interface.max_transfer", "4KiB").run();
    let flow = &split.flows[0];
    assert_eq!((flow.requests.read, flow.requests.write, flow.requests.trim), (256, 4, 1));
    assert_eq!(flow.bytes, whole.flows[0].bytes);
    assert_eq!((flow.split_requests, flow.trace_records), (2, 4));
    let expected = [
        "line 2: 1024 KiB split into pieces of 4 KiB",
        "line 3: 10 KiB split into pieces of 4 KiB",
    ];
    assert_eq!(flow.named_lines[..], expected);
    assert!(split.input_warnings()[0].starts_with("Warning: 50.0 % of the 4 records"));
    // A closed loop keeps its depth, and other sources are split as well.
    let closed = format!("{text}queue_depth = 2\n");
    let closed = Scenario::new(SMALL_DRIVE, &closed).set("interface.max_transfer", "4KiB").run();
    assert_eq!(closed.requests_completed, split.requests_completed);
    let drawn = "[[flow]]\nname = \"a\"\n[flow.synthetic]\nqueue_depth = 1\nrequests = 10\nsize = \"8KiB\"\n";
    let drawn = Scenario::new(SMALL_DRIVE, drawn).set("interface.max_transfer", "4KiB").run();
    assert_eq!((drawn.requests_completed, drawn.flows[0].split_requests), (20, 10));
}
