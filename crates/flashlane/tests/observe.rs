//! Observers of a run: they change no result, and the blame of two flows agrees with the delay that
//! they cause each other.

use std::sync::{Arc, Mutex};

use crate::common::{Scenario, tenant};
use flashlane::drive::Submissions;
use flashlane::metrics::Summary;
use flashlane::observe::{
    Blame, Observe, RequestBatch, RequestRecord, RequestSink, SeriesOptions, SeriesWindow,
    TimelineOptions,
};
use flashlane::{Details, Error, simulate_in_detail};

/// Four channels of two chips, one die of two planes each.
const DRIVE: &str = r#"
name = "observed"
[cache]
capacity = "1MiB"
[ftl]
over_provisioning = "28%"
[flash]
technology = "slc"
channels = 4
chips_per_channel = 2
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

/// A closed loop of 4 KiB requests.
fn flow(name: &str, depth: u32, read_ratio: f64, cache: &str) -> String {
    let rest = "size = \"4KiB\"\nalign = \"4KiB\"\nrequests = 8000";
    tenant(name, cache, &format!("queue_depth = {depth}\nread_ratio = {read_ratio}\n{rest}"))
}

fn two(first: &str, second: &str) -> Scenario {
    Scenario::new(DRIVE, &format!("{first}{second}"))
}

fn detailed(scenario: &Scenario) -> (Summary, Details) {
    let (device, workload) = scenario.load();
    simulate_in_detail(&device, &workload, &scenario.options, &|_| {})
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The summary with runs alone, and who is to blame.
fn blamed(scenario: &Scenario) -> (Summary, Blame) {
    let mut scenario = scenario.clone();
    scenario.options.alone = true;
    scenario.options.observe.blame = true;
    let (summary, details) = detailed(&scenario);
    (summary, details.blame.expect("it was asked for"))
}

/// The difference of a flow's end-to-end time between the shared run and the run alone, and the
/// blame of the other flow. Unit of both: microseconds a request.
fn difference_and_blame(found: &(Summary, Blame), victim: usize) -> (f64, f64) {
    let (summary, blame) = found;
    let flow = &summary.flows[victim];
    let alone = flow.alone_end_to_end_us.expect("it ran alone");
    let row = &blame.victims[victim];
    let other = &blame.flows[1 - victim];
    let us = row.by_culprit(other) as f64 / row.requests as f64 / 1e6;
    (flow.end_to_end_us.mean - alone, us)
}

fn ratio(found: &(Summary, Blame), victim: usize) -> f64 {
    let (difference, blame) = difference_and_blame(found, victim);
    blame / difference
}

#[test]
fn readers_blame_each_other_for_what_they_do() {
    for scheduler in ["out-of-order", "fcfs", "sprinkler"] {
        let flows = two(&flow("shy", 2, 1.0, "off"), &flow("greedy", 64, 1.0, "off"));
        let found = blamed(&flows.set("scheduler", format!("\"{scheduler}\"")));
        for victim in [0, 1] {
            let (difference, blame) = difference_and_blame(&found, victim);
            // What a flow would have waited alone is an estimate, good to 2 % of its time.
            let time = found.0.flows[victim].end_to_end_us.mean;
            let off = (blame - difference).abs();
            assert!(
                off <= 0.1 * difference + 0.02 * time,
                "{scheduler}, victim {victim}: {blame} us of {difference} us"
            );
        }
        let row = &found.1.victims[0];
        assert_eq!(
            (row.cells[0].culprit.as_str(), row.cells[0].cause.as_str()),
            ("greedy", "read")
        );
    }
}

#[test]
fn a_reader_blames_a_writer_for_its_collections() {
    let flows = two(&flow("reader", 8, 1.0, "off"), &flow("writer", 8, 0.0, "off"));
    let found = blamed(&flows.set("scheduler", "\"fcfs\""));
    let ratio = ratio(&found, 0);
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
    let row = &found.1.victims[0];
    let of = |cause: &str| -> u128 {
        let cells = row.cells.iter().filter(|cell| cell.cause == cause);
        cells.map(|cell| if cell.culprit == "writer" { cell.ps } else { 0 }).sum()
    };
    assert!(of("gc") > of("program") && of("program") > 0 && of("erase") > 0, "{row:?}");
    // Blocks of the reader are collected too, for the sake of the writer.
    let own_gc = row.cells.iter().any(|cell| cell.culprit == "reader" && cell.cause == "gc");
    let written = row.cells.iter().filter(|cell| cell.cause == "gc").map(|cell| cell.ps);
    let share = of("gc") as f64 / written.sum::<u128>() as f64;
    assert!(!own_gc || share > 0.98, "{share} of the copies are the writer's");
}

/// Reader and writer have chips of their own and share the controller's processors. With a slow
/// clock these saturate first; the reader blames the writer for its commands and collection.
#[test]
fn processors_that_saturate_show_in_breakdown_and_blame() {
    let flows = two(&flow("reader", 4, 1.0, "off"), &flow("writer", 32, 0.0, "off"))
        .set("isolation", "\"partitioned\"")
        .set("interface.processors.cores", 1);
    let [fast, slow] = ["1GHz", "12MHz"]
        .map(|clock| blamed(&flows.set("interface.processors.clock", format!("\"{clock}\""))));
    let stages = |found: &(Summary, Blame)| found.0.flows[0].breakdown_us;
    let (quick, long) = (stages(&fast), stages(&slow));
    assert!(quick.flash_array > 10.0 * quick.firmware, "the flash: {quick:?}");
    assert!(long.firmware > 2.0 * long.flash_array, "the processors: {long:?}");
    let [quick, busy] = [&fast, &slow].map(|found| found.0.processors.expect("modelled"));
    assert!(quick.busy_fraction < 0.3, "{quick:?}");
    assert!((0.97..1.03).contains(&busy.busy_fraction), "{busy:?}");
    assert!(busy.own_pages > 0.05 && busy.decisions > 0.05, "{busy:?}");
    let row = &slow.1.victims[0];
    let of = |cause: &str| -> u128 {
        let cells = row.cells.iter().filter(|c| c.culprit == "writer" && c.cause == cause);
        cells.map(|cell| cell.ps).sum()
    };
    assert!(of("firmware") > row.waiting_ps / 10, "{row:?}");
    assert!(of("gc") > row.waiting_ps / 20, "its dies are its own: {row:?}");
    // A place at a processor is charged to who worked there, not to who delayed those in turn.
    let ratio = ratio(&slow, 0);
    assert!((0.6..1.1).contains(&ratio), "{ratio}");
}

/// An overload whose waiting adds up to more than 2^64 ps: a page takes a second to program, and a
/// new request arrives every millisecond.
#[test]
fn blame_agrees_with_the_summary_however_long_the_requests_wait() {
    let writer = flow("writer", 1, 0.0, "off").replace("queue_depth = 1", "iops = 1000.0");
    let writer = format!("window = \"whole-run\"\n{}", writer.replace("8000", "40000"));
    let mut flows = two(&writer, &flow("reader", 4, 1.0, "off").replace("8000", "100"))
        .set("flow.writer.on_end", "\"stop\"")
        .set("flow.reader.on_end", "\"stop\"")
        .set("flash.program_time", "[\"1s\"]");
    flows.options.observe.blame = true;
    let (summary, details) = detailed(&flows);
    let blame = details.blame.expect("it was asked for");
    let most = blame.victims.iter().map(|row| row.waiting_ps).max().expect("two victims");
    assert!(most > 2 * u128::from(u64::MAX), "the test waits too little: {most} ps");
    for (row, flow) in blame.victims.iter().zip(&summary.flows) {
        let mean_us = row.end_to_end_ps as f64 / row.requests as f64 / 1e6;
        let error = mean_us / flow.end_to_end_us.mean - 1.0;
        assert!(error.abs() < 1e-9, "{}: {mean_us} us of {:?}", row.flow, flow.end_to_end_us);
        let cells: u128 = row.cells.iter().map(|cell| cell.ps).sum();
        assert_eq!(cells, row.waiting_ps, "cells of {}", row.flow);
        assert_eq!(row.waiting_ps + row.service_ps, row.end_to_end_ps);
        // What the file says in seconds is the same.
        let file = serde_json::to_value(row).expect("JSON");
        let seconds = file["waiting_s"].as_f64().expect("a number");
        assert!((seconds / (row.waiting_ps as f64 / 1e12) - 1.0).abs() < 1e-12, "{seconds} s");
    }
}

/// Requests at a rate of their own.
fn open_flow(name: &str, iops: u32) -> String {
    flow(name, 1, 1.0, "off").replace("queue_depth = 1", &format!("iops = {iops}.0"))
}

#[test]
fn open_loops_carry_the_delay_of_their_own_work_over() {
    let found = blamed(&two(&open_flow("light", 30_000), &open_flow("heavy", 60_000)));
    for victim in [0, 1] {
        let ratio = ratio(&found, victim);
        assert!((0.9..1.1).contains(&ratio), "victim {victim}: {ratio}");
    }
}

#[test]
fn room_in_the_cache_is_charged_to_those_who_fill_it() {
    let found = blamed(&two(&flow("shy", 2, 0.0, "write"), &flow("greedy", 32, 0.0, "write")));
    let ratio = ratio(&found, 0);
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
    // Where each has a cache of its own, nobody waits for the other's room.
    let own = two(&flow("shy", 2, 0.0, "write"), &flow("greedy", 32, 0.0, "write"))
        .set("cache.sharing", "\"equal-partitioning\"");
    let (_, blame) = difference_and_blame(&blamed(&own), 0);
    let (_, shared) = difference_and_blame(&found, 0);
    assert!(blame < 0.7 * shared, "{blame} us with caches of their own, {shared} us without");
}

#[test]
fn misses_in_the_mapping_table_are_charged_to_those_who_push_entries_out() {
    let base = two(&flow("shy", 2, 1.0, "off"), &flow("greedy", 32, 1.0, "off"))
        .set("ftl.mapping.ideal", false)
        .set(
            "flow.shy.synthetic.address",
            "{ hot-cold = { hot_region = \"5%\", hot_traffic = \"100%\" } }",
        );
    let mapping = |scenario: &Scenario| {
        let (_, blame) = blamed(scenario);
        let row = &blame.victims[0];
        let of = |culprit: &str| -> u128 {
            let found = |cell: &&flashlane::observe::BlameCell| {
                cell.cause == "mapping" && cell.culprit == culprit
            };
            row.cells.iter().filter(found).map(|cell| cell.ps).sum()
        };
        {
            let requests = u128::from(row.requests);
            (of("shy") / requests, of("greedy") / requests)
        }
    };
    let small = base.set("ftl.mapping.cmt_capacity", "\"16KiB\"");
    let (own, greedy) = mapping(&small);
    assert!(greedy > 4 * own.max(1), "shared: {own} ps own, {greedy} ps of the other");
    let (_, ample) = mapping(&base);
    assert!(ample * 10 < greedy, "with room for all entries: {ample} ps");
}

#[test]
fn limits_and_policies_have_causes_of_their_own() {
    let causes = |scenario: &Scenario, victim: usize| -> Vec<(String, String)> {
        let (_, blame) = blamed(scenario);
        let cells = blame.victims[victim].cells.iter();
        cells.map(|cell| (cell.culprit.clone(), cell.cause.clone())).collect()
    };
    let has = |found: &[(String, String)], culprit: &str, cause: &str| {
        found.iter().any(|cell| cell == &(culprit.to_owned(), cause.to_owned()))
    };
    let flows = two(&flow("one", 8, 1.0, "off"), &flow("two", 64, 0.5, "off"));
    let wide = causes(&flows, 0);
    assert!(!has(&wide, "one", "fetch-limit") && !has(&wide, "device", "policy"), "{wide:?}");
    let narrow = causes(&flows.set("interface.queue_fetch_size", 4), 0);
    assert!(has(&narrow, "one", "fetch-limit"), "{narrow:?}");
    let budgets = "{ sprinkler-fairness = { round = \"10ms\", limit = \"100ms\", \
                   work_conserving = false } }";
    let budgets = causes(&flows.set("scheduler", budgets), 1);
    assert!(has(&budgets, "one", "policy"), "its work is held back for the other: {budgets:?}");
    let short = causes(&flows.set("interface.queue_depth", 4), 0);
    assert!(has(&short, "one", "host-queue"), "{short:?}");
    let still = flows.set("flash.suspend", "{ program = false, erase = false }");
    assert!(has(&causes(&still, 0), "two", "program"));
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

/// On a SATA drive of one stream, a flow may begin inside a page of the drive.
#[test]
fn records_name_places_in_the_space_of_their_flow() {
    let kept = Arc::new(Mutex::new(Kept::default()));
    let mut scenario = two(&flow("one", 8, 0.7, "off"), &flow("two", 8, 0.5, "off"))
        .set("interface.kind", "sata")
        .set("compat.sata_one_stream", true)
        .set("ftl.over_provisioning", "30%")
        .set("flash.channels", 1)
        .set("flash.chips_per_channel", 1)
        .set("flash.planes_per_die", 1);
    let (device, workload) = scenario.load();
    let second = workload.layout(&device).flows[1].in_stream.expect("it begins somewhere");
    assert!(second.sectors % 8 > 0, "the second flow begins inside 4 KiB of the drive");
    scenario.options.observe = Observe { requests: Some(kept.clone()), ..Observe::default() };
    scenario.run();
    let aligned = |batch: &RequestBatch| batch.offset_bytes.iter().all(|at| at % 4096 == 0);
    assert!(kept.lock().unwrap().0.iter().all(aligned));
}

/// A disk that is full from the start.
#[derive(Debug)]
struct Full;

impl RequestSink for Full {
    fn take(&mut self, _: &mut Vec<RequestRecord>) -> Result<(), Error> {
        Err(Error::Output("requests.parquet: no space left".into()))
    }
}

#[test]
fn watching_changes_nothing() {
    let mut scenario = two(&flow("one", 8, 0.7, "write"), &flow("two", 16, 0.5, "off"));
    scenario.options.alone = true;
    scenario.options.windows = Some(10_000_000_000);
    let timeless = |mut summary: Summary| {
        summary.wall_s = 0.0;
        summary.precondition_wall_s = 0.0;
        summary.requests_per_wall_s = 0.0;
        summary.peak_rss_bytes = 0;
        summary
    };
    let (plain, details) = detailed(&scenario);
    assert!(details.blame.is_none() && details.timeline.is_none() && details.time_series.is_none());
    let kept = Arc::new(Mutex::new(Kept::default()));
    let submissions = Submissions::default();
    scenario.options.observe = Observe {
        requests: Some(kept.clone()),
        series: Some(SeriesOptions { window: Some(10_000_000_000) }),
        blame: true,
        timeline: Some(TimelineOptions::default()),
        queues: true,
        energy: false,
        submissions: Some(submissions.clone()),
    };
    let (watched, details) = detailed(&scenario);
    assert_eq!(timeless(plain), timeless(watched.clone()));
    let rows: usize = kept.lock().unwrap().0.iter().map(RequestBatch::len).sum();
    assert_eq!(rows as u64, watched.requests_completed);
    let series = details.time_series.expect("it was asked for");
    let over_time = watched.slowdown_over_time.as_ref().expect("it was asked for");
    for expected in &over_time.windows {
        let same = |window: &&SeriesWindow| (window.start_s - expected.start_s).abs() < 1e-9;
        let window = series.windows.iter().find(same).expect("a window of the series");
        for (point, flow) in window.flows.iter().zip(&expected.flows) {
            assert_eq!(point.slowdown, flow.slowdown);
        }
    }
    assert!(over_time.windows.iter().any(|window| window.max_slowdown.is_some()));
    let timeline = details.timeline.expect("it was asked for");
    let named = |name: &str| timeline.slices.iter().any(|slice| slice.name == name);
    for name in ["read", "write-back", "gc program", "erase", "read request", "firmware", "access"]
    {
        assert!(named(name), "{name} is on the timeline");
    }
    let linked = timeline.slices.iter().filter(|slice| slice.request == 1).count();
    assert!(linked >= 2, "a request and its commands have one number");
}

#[test]
fn a_sink_that_fails_ends_the_run() {
    let mut scenario = Scenario::new(DRIVE, &flow("one", 8, 1.0, "off"));
    scenario.options.observe.requests = Some(Arc::new(Mutex::new(Full)));
    let (device, workload) = scenario.load();
    let error = simulate_in_detail(&device, &workload, &scenario.options, &|_| {}).unwrap_err();
    assert!(error.to_string().contains("no space left"), "{error}");
}

#[test]
fn the_documentation_has_every_cause() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/blame.md");
    let text = std::fs::read_to_string(path).expect("docs/blame.md");
    let mut scenario = Scenario::new(DRIVE, &flow("one", 1, 1.0, "off"));
    scenario.options.observe.blame = true;
    let blame = detailed(&scenario).1.blame.expect("it was asked for");
    assert_eq!(blame.causes.len(), 17);
    for cause in &blame.causes {
        let row = format!("| `{}` | {} |", cause.name, cause.doc);
        assert!(text.contains(&row), "{row}");
    }
}
