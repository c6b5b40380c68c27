//! Rates, backlogs and counters of the measurement window: they say what the drive does, under
//! overload, too.

use std::sync::{Arc, Mutex};

use crate::common::{Scenario, whole_run};
use flashlane::metrics::steady::{Round, SteadyRule, Tracked};
use flashlane::metrics::{Latency, Summary};
use flashlane::observe::{
    Observe, RequestBatch, RequestRecord, RequestSink, SeriesOptions, TimeSeries,
};
use flashlane::{Error, Warmup, simulate_in_detail};

/// The preset `tiny`: eight planes that program a page in 200 us, so 40,000 pages a second.
const TINY: &str = include_str!("../../flashlane-config/presets/tiny.toml");
const WRITE_BOUND: f64 = 40_000.0;
const MS: u64 = 1_000_000_000;

fn open_loop(name: &str, iops: f64, read_ratio: f64, ms: u64) -> String {
    format!(
        "[[flow]]\nname = '{name}'\ncache = 'off'\n[flow.synthetic]\niops = {iops:.1}\n\
         read_ratio = {read_ratio:.2}\nsize = '4KiB'\nduration = '{ms}ms'\n"
    )
}

fn closed_loop(name: &str, depth: u32, requests: u64) -> String {
    format!(
        "[[flow]]\nname = '{name}'\ncache = 'off'\n[flow.synthetic]\nqueue_depth = {depth}\n\
         read_ratio = 0.5\nsize = '4KiB'\nrequests = {requests}\n"
    )
}

fn tiny(flows: &str) -> Scenario {
    Scenario::new(TINY, flows)
}

fn overload() -> Scenario {
    tiny(&(open_loop("a", 200_000.0, 0.5, 100) + &open_loop("b", 20_000.0, 0.5, 100)))
}

fn window_s(summary: &Summary) -> f64 {
    summary.window_end_s - summary.window_start_s
}

/// Takes batches and keeps them.
#[derive(Debug, Default)]
struct Kept(Vec<RequestBatch>);

impl RequestSink for Kept {
    fn take(&mut self, records: &mut Vec<RequestRecord>) -> Result<(), Error> {
        let mut batch = RequestBatch::default();
        batch.extend(records);
        self.0.push(batch);
        Ok(())
    }
}

/// A run with a record of every request.
fn recorded(scenario: &Scenario) -> (Summary, Vec<RequestBatch>) {
    let (device, workload) = scenario.load();
    let kept = Arc::new(Mutex::new(Kept::default()));
    let mut options = scenario.options.clone();
    options.observe.requests = Some(kept.clone());
    let (summary, _) = simulate_in_detail(&device, &workload, &options, &|_| {})
        .unwrap_or_else(|error| panic!("{error}"));
    let batches = std::mem::take(&mut kept.lock().expect("one run").0);
    (summary, batches)
}

/// Rates, completions and backlog are those that the records of the requests give.
fn agrees_with_records(scenario: &Scenario) -> Summary {
    let (summary, batches) = recorded(scenario);
    let ps = |seconds: f64| (seconds * 1e12).round() as u64;
    let (opened, closed) = (ps(summary.window_start_s), ps(summary.window_end_s));
    let length = window_s(&summary);
    for (index, flow) in summary.flows.iter().enumerate() {
        let (mut inside, mut at_opening, mut backlog, mut arrived) = (0_u64, 0, 0, 0);
        for batch in &batches {
            for row in (0..batch.len()).filter(|&row| usize::from(batch.flow[row]) == index) {
                let complete = batch.complete_ps[row];
                inside += u64::from(complete > opened && complete <= closed);
                at_opening += u64::from(complete == opened);
                backlog += u64::from(batch.counted[row] && complete > closed);
                arrived += u64::from(batch.counted[row]);
            }
        }
        let found = flow.completed_in_window.requests.all();
        assert!((inside..=inside + at_opening).contains(&found), "{}: {inside} {found}", flow.name);
        assert!((flow.iops * length - found as f64).abs() < 1e-6 * found as f64 + 1e-6);
        assert!((flow.offered_iops * length - arrived as f64).abs() < 1e-6 * arrived as f64 + 1e-6);
        assert_eq!(flow.backlog_at_end, backlog, "{}", flow.name);
        assert_eq!(arrived, flow.requests.all());
    }
    summary
}

/// Nothing takes more than all of the window, and the programs of all spans are those of the run.
fn is_sound(summary: &Summary) {
    for channel in &summary.channels {
        assert!((0.0..=1.0).contains(&channel.busy_fraction), "{channel:?}");
    }
    for chip in &summary.chips {
        assert!((0.0..=1.0).contains(&chip.busy_fraction), "{chip:?}");
        assert!(chip.mean_queue_length <= chip.max_queue_length as f64, "{chip:?}");
    }
    let lengths =
        summary.before_window.length_s + window_s(summary) + summary.after_window.length_s;
    assert!((lengths - summary.simulated_s).abs() < 1e-9, "{lengths} of {}", summary.simulated_s);
    let completed: u64 =
        summary.flows.iter().map(|flow| flow.completed_in_window.requests.all()).sum();
    let (before, after) = (&summary.before_window, &summary.after_window);
    let all = before.requests_completed + completed + after.requests_completed;
    assert_eq!(all, summary.requests_completed, "every request completes in one span");
    // With rounds, the transactions of flows are those of the rounds.
    if summary.steady_state.is_none() {
        let host: u64 = summary.flows.iter().map(|flow| flow.transactions.count).sum();
        let whole = whole_run(summary);
        assert_eq!(host, whole.user_reads + whole.user_programs, "host pages of all spans");
    }
}

#[test]
fn rates_under_overload_are_those_of_the_drive() {
    let summary = agrees_with_records(&overload());
    is_sound(&summary);
    assert!(summary.saturated);
    let writes: u64 =
        summary.flows.iter().map(|flow| flow.completed_in_window.requests.write).sum();
    let written = writes as f64 / window_s(&summary);
    assert!(written <= WRITE_BOUND, "{written} writes a second");
    for (flow, offered) in summary.flows.iter().zip([200_000.0, 20_000.0]) {
        assert!((flow.offered_iops / offered - 1.0).abs() < 0.05, "{}", flow.offered_iops);
        assert!(flow.iops < 0.5 * flow.offered_iops, "{} completes {}", flow.name, flow.iops);
        assert!(flow.saturated && flow.backlog_at_end > flow.requests.all() / 2, "{}", flow.name);
    }
    let programs = summary.flash.user_programs + summary.flash.gc_programs;
    assert!(programs as f64 / window_s(&summary) <= WRITE_BOUND, "{programs} programs");
    let verdict = summary.verdict();
    assert!(
        verdict[0].starts_with("Saturated: ") && verdict[0].contains("flows a ("),
        "{verdict:?}"
    );
    assert!(verdict[0].contains("and b ("), "{verdict:?}");
}

/// The load ends with the window: what is left of it is a backlog all the same.
#[test]
fn a_single_flow_shows_its_overload() {
    let summary = agrees_with_records(&tiny(&open_loop("only", 100_000.0, 0.0, 50)));
    is_sound(&summary);
    let flow = &summary.flows[0];
    assert!(summary.saturated && flow.saturated);
    assert!(flow.iops <= WRITE_BOUND && flow.offered_iops > 90_000.0, "{flow:?}");
    assert!(flow.backlog_at_end > 2_500, "{}", flow.backlog_at_end);
    assert!((0.049..0.0501).contains(&window_s(&summary)), "{}", window_s(&summary));
    assert!(summary.after_window.flash.user_programs >= flow.backlog_at_end);
}

/// Every operation has its latencies, and they are those that the records of the requests give.
#[test]
fn each_operation_has_latencies_of_its_own() {
    let keys = "trim_ratio = 0.2\nflush_ratio = 0.1\n";
    let mixed = open_loop("mixed", 5_000.0, 0.5, 200) + keys;
    let scenario = tiny(&(mixed + &closed_loop("plain", 4, 500)));
    let (summary, batches) = recorded(&scenario);
    let mut kinds = 0;
    for (index, flow) in summary.flows.iter().enumerate() {
        let requests = flow.requests;
        let counts = [requests.read, requests.write, requests.trim, requests.flush];
        for ((name, found), count) in flow.by_operation().into_iter().zip(counts) {
            let mut times = Vec::new();
            for batch in &batches {
                let rows = (0..batch.len()).filter(|&row| usize::from(batch.flow[row]) == index);
                let rows = rows.filter(|&row| {
                    batch.counted[row] && format!("{:?}", batch.op[row]).to_lowercase() == name
                });
                times.extend(rows.map(|row| batch.complete_ps[row] - batch.submit_ps[row]));
            }
            times.sort_unstable();
            assert_eq!((found.count, times.len() as u64), (count, count), "{name}");
            if times.is_empty() {
                assert_eq!(*found, Latency::default(), "{name}");
                continue;
            }
            kinds += 1;
            let us = |ps: u64| ps as f64 / 1e6;
            let mean = times.iter().map(|&ps| us(ps)).sum::<f64>() / times.len() as f64;
            assert!((found.mean / mean - 1.0).abs() < 1e-9, "{name}: {} {mean}", found.mean);
            assert_eq!(
                (found.min, found.max),
                (us(times[0]), us(times[times.len() - 1])),
                "{name}"
            );
            let exact = us(times[(times.len() as f64 * 0.99).ceil() as usize - 1]);
            assert!((found.p99 / exact - 1.0).abs() < 0.002, "{name}: {} {exact}", found.p99);
        }
    }
    assert_eq!(kinds, 6, "four of the first flow, two of the second one");
    let flow = &summary.flows[0];
    let of_all: f64 = flow.by_operation().iter().map(|(_, l)| l.mean * l.count as f64).sum();
    let all = flow.response_time_us;
    assert!((of_all / all.count as f64 / all.mean - 1.0).abs() < 1e-9);
}

#[test]
fn a_load_that_the_drive_keeps_up_with_is_not_saturated() {
    for iops in [100.0, 5_000.0, 20_000.0] {
        let summary = agrees_with_records(&tiny(&open_loop("calm", iops, 0.9, 200)));
        is_sound(&summary);
        let flow = &summary.flows[0];
        assert!(!summary.saturated && !flow.saturated && summary.verdict().is_empty(), "{iops}");
        let completed = flow.completed_in_window.requests.all();
        assert_eq!(completed + flow.backlog_at_end, flow.requests.all());
        assert!(flow.backlog_at_end < 20, "{} of {completed}", flow.backlog_at_end);
    }
}

#[test]
fn a_closed_loop_is_never_saturated() {
    for depth in [1, 8, 512] {
        let summary = agrees_with_records(&tiny(&closed_loop("deep", depth, 4000)));
        is_sound(&summary);
        let flow = &summary.flows[0];
        assert!(!flow.saturated && !summary.saturated, "depth {depth}");
        // The window ends with the last completion of the flow.
        assert_eq!((flow.backlog_at_end, flow.completed_in_window.requests.all()), (0, 4000));
        assert!((flow.iops - 4000.0 / window_s(&summary)).abs() < 1e-6 * flow.iops);
    }
}

/// Fewer requests than the depth: all of them arrive before the first one completes.
#[test]
fn a_burst_lasts_until_its_last_completion() {
    let trace = |lines: &str, flow: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.csv");
        std::fs::write(&path, lines).expect("room");
        let path = path.display();
        let flow = format!(
            "[[flow]]\nname = 'burst'\n[flow.trace]\npath = '{path}'\nformat = 'csv'\n{flow}"
        );
        agrees_with_records(&tiny(&flow))
    };
    let lines: String = (0..10).map(|page| format!("0,R,{},4096,0\n", page * 4096)).collect();
    for flow in ["", "queue_depth = 32"] {
        let summary = trace(&lines, flow);
        is_sound(&summary);
        let found = &summary.flows[0];
        assert_eq!((found.completed_in_window.requests.read, found.backlog_at_end), (10, 0));
        assert!(found.iops > 10_000.0 && !found.saturated, "{found:?}");
    }
    let one = trace("5,R,0,4096,0\n", "");
    assert!(one.flows[0].iops > 1_000.0, "{}", one.flows[0].iops);
}

#[test]
fn the_warm_up_stands_apart() {
    let mut scenario = overload();
    scenario.options.warmup = Warmup::Time(40 * MS);
    let summary = agrees_with_records(&scenario);
    is_sound(&summary);
    assert!((summary.window_start_s - 0.04).abs() < 1e-4);
    assert!(summary.before_window.flash.user_programs > 100, "{:?}", summary.before_window);
    // Requests of the warm-up that complete in the window are work of the window.
    let flow = &summary.flows[0];
    assert!(flow.saturated && flow.iops > 1_000.0, "{flow:?}");
    let (shared, mut late) = (scenario.run(), scenario.clone());
    late.options.warmup = Warmup::Requests(5_000);
    let late = agrees_with_records(&late);
    is_sound(&late);
    assert!(late.flows[0].saturated);
    assert_eq!(shared.flows[0].requests.all() + shared.flows[1].requests.all(), {
        summary.flows[0].requests.all() + summary.flows[1].requests.all()
    });
}

#[test]
fn rounds_have_their_own_counters() {
    let mut scenario = tiny(&closed_loop("rounds", 8, 1000));
    for round in [Round::Time(20 * MS), Round::Requests(500)] {
        scenario.options.until_steady = Some(SteadyRule { round, tracked: Tracked::Iops });
        scenario.options.warmup = Warmup::Time(10 * MS);
        let summary = scenario.run();
        is_sound(&summary);
        let flow = &summary.flows[0];
        let (completed, count) = (flow.completed_in_window.requests.all(), flow.requests.all());
        assert!(completed.abs_diff(count) <= 1, "{completed} {count}");
        assert!(summary.before_window.flash.user_programs > 0);
        assert!(!flow.saturated);
    }
}

fn series(scenario: &Scenario, window: Option<u64>) -> (Summary, TimeSeries) {
    let (device, workload) = scenario.load();
    let observe = Observe { series: Some(SeriesOptions { window }), ..Observe::default() };
    let options = flashlane::RunOptions { observe, ..scenario.options.clone() };
    let (summary, details) = simulate_in_detail(&device, &workload, &options, &|_| {})
        .unwrap_or_else(|error| panic!("{error}"));
    (summary, details.time_series.expect("it was asked for"))
}

/// Collection goes on for long after the last write: that is no part of the window, and rows of the
/// series have the length that they say.
#[test]
fn work_after_the_load_stands_apart() {
    let writes = "[[flow]]\nname = 'w'\ncache = 'off'\n[flow.synthetic]\nqueue_depth = 64\n\
                  read_ratio = 0.0\nsize = '4KiB'\nrequests = 1200\n";
    let scenario = tiny(writes).set("ftl.gc.threshold", "\"24 blocks\"");
    for window in [None, Some(MS)] {
        let (summary, series) = series(&scenario, window);
        is_sound(&summary);
        let (flash, after) = (&summary.flash, &summary.after_window);
        assert!(after.flash.gc_programs > 2 * flash.gc_programs, "{flash:?} {after:?}");
        // The cause: the load took free blocks faster than collection gave any back, and collection
        // pays that back. As long as there is something to collect: this threshold is more than the
        // drive has.
        assert!(after.flash.blocks_owed_at_end < flash.blocks_owed_at_end, "{after:?}");
        let programs = flash.user_programs + flash.gc_programs + flash.mapping_programs;
        let expected = programs as f64 / flash.user_programs as f64;
        assert!((flash.write_amplification - expected).abs() < 1e-9);
        let sum = |of: fn(&flashlane::observe::DevicePoint) -> u64| -> u64 {
            series.windows.iter().map(|row| of(&row.device)).sum()
        };
        assert_eq!(sum(|row| row.gc_programs), whole_run(&summary).gc_programs);
        assert_eq!(sum(|row| row.erases), whole_run(&summary).erases);
        let last = series.windows.last().expect("rows");
        assert!((last.end_s - summary.simulated_s).abs() < 1e-9, "rows reach the end of the run");
        for (row, next) in series.windows.iter().zip(&series.windows[1..]) {
            assert!((row.end_s - next.start_s).abs() < 1e-12, "no gap");
            assert!((row.end_s - row.start_s - series.window_s).abs() < 1e-12, "true lengths");
        }
        for row in &series.windows {
            assert!(row.device.chips_busy <= 1.0 + 1e-9, "{row:?}");
            assert!(row.device.channels_busy <= 1.0 + 1e-9, "{row:?}");
        }
    }
}

fn refused(scenario: &Scenario, place: &str) -> String {
    match scenario.try_run() {
        Err(Error::Config(problems)) => {
            assert_eq!(problems[0].place, place, "{problems:?}");
            problems[0].message.clone()
        }
        other => panic!("{:?}", other.map(|summary| summary.flows[0].iops)),
    }
}

#[test]
fn collection_pays_back_what_the_load_took() {
    let writes = "[[flow]]\nname = 'w'\ncache = 'off'\n[flow.synthetic]\niops = 30000\n\
                  read_ratio = 0.0\nsize = '4KiB'\nrequests = 4000\n";
    let summary = tiny(writes).set("ftl.gc.threshold", "\"4 blocks\"").run();
    let (owed, after) = (summary.flash.blocks_owed_at_end, &summary.after_window.flash);
    assert!(owed > 0 && after.erases >= owed, "{owed} blocks, {after:?}");
    assert_eq!(after.blocks_owed_at_end, 0, "the run ends when nothing is owed");
    let without = tiny(writes).set("ftl.gc.victim", "\"none\"").run();
    assert_eq!(without.after_window.flash.gc_programs, 0);
}

/// Numbers of a window without requests would all be 0.
#[test]
fn empty_windows_are_refused() {
    let mut scenario = overload();
    for warmup in [Warmup::Time(100 * MS), Warmup::Time(u64::MAX)] {
        scenario.options.warmup = warmup;
        let message = refused(&scenario, "--warmup");
        assert!(message.contains("the load lasts 0.1 s"), "{message}");
    }
    // How long a number of requests takes is known only in the end.
    let mut scenario = tiny(&closed_loop("few", 4, 100));
    scenario.options.warmup = Warmup::Time(1000 * MS);
    let message = refused(&scenario, "--warmup");
    assert!(message.contains("100 requests"), "{message}");
    for waf_only in [false, true] {
        scenario.options.waf_only = waf_only;
        scenario.options.warmup = Warmup::Requests(100);
        let message = refused(&scenario, "--warmup");
        assert!(message.contains("the flow makes 100 requests"), "{message}");
        scenario.options.warmup = Warmup::Requests(99);
        assert_eq!(scenario.run().flows[0].requests.all(), 1);
    }
    // Flows that start over make more, but not without end.
    let mut scenario = overload();
    scenario.options.warmup = Warmup::Requests(50_000);
    let message = refused(&scenario, "--warmup");
    assert!(message.contains("50000 requests, but the flows have made"), "{message}");
}

#[test]
fn a_workload_without_requests_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("reads.csv");
    std::fs::write(&path, "0,R,0,4096,3\n10,R,4096,4096,3\n").expect("room");
    let flow = format!(
        "[[flow]]\nname = 'none'\n[flow.trace]\npath = '{}'\nformat = 'csv'\ndevices = [7]\n",
        path.display()
    );
    for waf_only in [false, true] {
        let mut scenario = tiny(&flow);
        scenario.options.waf_only = waf_only;
        match scenario.try_run() {
            Err(Error::Config(problems)) => assert_eq!(problems[0].place, "workload"),
            Err(Error::Trace(message)) => assert!(message.contains("reads.csv"), "{message}"),
            other => panic!("{:?}", other.map(|summary| summary.flows[0].iops)),
        }
    }
}

/// A flow whose first request comes after the window of the other.
#[test]
fn a_flow_without_a_request_in_the_window_is_named() {
    let late = open_loop("late", 1.0, 1.0, 5_000).replace("size", "arrivals = 'constant'\nsize");
    let short = open_loop("short", 1_000.0, 1.0, 20).replace("cache", "on_end = 'stop'\ncache");
    let mut scenario = tiny(&(short + &late));
    scenario.options.alone = true;
    let summary = scenario.run();
    assert_eq!(summary.flows[1].requests.all(), 0);
    assert_eq!(summary.flows[1].slowdown, None);
    let verdict = summary.verdict();
    assert_eq!(verdict.len(), 1);
    assert!(verdict[0].starts_with("No request of late arrived inside the window"), "{verdict:?}");
}
