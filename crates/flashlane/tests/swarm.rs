//! A swarm of random configurations: whatever validation accepts must finish, with every audit on.
//!
//! `SWARM=2000` runs that many instead of 300, `SWARM_START=n` from seed n on; `SWARM_SEED=n` runs
//! one alone and prints it. `SWARM_LOG=file` keeps a log (`swarm/log.rs`): seeds in it that the
//! same program has done are not run again, and `SWARM_START=next` goes on after its largest seed.
//! `SWARM_THREADS=n` limits the threads. `scripts/swarm.sh` does all that.

mod blame;
mod effort;
mod log;
mod seeds;
mod without_time;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::common::whole_run;
use crate::generate::{Case, case};
use effort::{memory, processor_time};
use flashlane::config::validate::validate;
use flashlane::config::{
    CacheMode, DeviceConfig, MappingKind, OnEnd, Pacing, Superblock, Technology, WindowRule,
};
use flashlane::layout::Geometry;
use flashlane::metrics::summary::{BreakdownSummary, Latency};
use flashlane::metrics::{FlashSummary, Summary};
use flashlane::observe::{Observe, RequestBatch};
use flashlane::policy::Isolation;
use flashlane::{Details, Error, Problem, RunOptions, Warmup, simulate, simulate_in_detail};

/// Processor time after which a run counts as endless.
const ENDLESS: Duration = Duration::from_secs(180);

/// Memory of all runs together that is too much. Unit: bytes.
const MEMORY_MAX: u64 = 8 << 30;

/// What came of a seed.
enum Outcome {
    Refused(String),
    Finished { requests: u64, events: u64, wall: Duration, cpu: Duration },
    Failed(String),
}

fn run(seed: u64) -> Outcome {
    let case = case(seed);
    let problems = validate(&case.device, &case.workload);
    if let Some(problem) = problems.first() {
        return Outcome::Refused(format!("{problem}"));
    }
    let (start, began) = (Instant::now(), processor_time());
    let progress = |done: f64| {
        let (took, percent) = (processor_time() - began, done * 100.0);
        assert!(took < ENDLESS, "the run takes for ever: {percent:.1} % done after {took:?}");
        let memory = memory();
        assert!(memory < MEMORY_MAX, "the run takes {memory} bytes: {percent:.1} % done");
    };
    let result = catch_unwind(AssertUnwindSafe(|| {
        let run = simulate_in_detail(&case.device, &case.workload, &case.options, &progress);
        let (summary, details) = match run {
            Err(error) if shows_late(&error) => return Err(error.to_string()),
            run => run.unwrap_or_else(|error| panic!("{error}")),
        };
        let took = processor_time() - began;
        check(&case, &summary);
        check_observed(&case, &summary, &details);
        run_untimed(&case, &summary, &progress);
        effort::check(&case, &summary, took);
        Ok((summary.requests_completed, summary.events, took))
    }));
    match result {
        Ok(Ok((requests, events, cpu))) => {
            Outcome::Finished { requests, events, wall: start.elapsed(), cpu }
        }
        Ok(Err(why)) => Outcome::Refused(why),
        Err(_) => Outcome::Failed(seeds::fault()),
    }
}

/// Problems that only a run shows: no request arrived before the load ended, the warm-up took all
/// requests, there are too many windows, or the whole drive has no room for the data of all flows.
fn shows_late(error: &Error) -> bool {
    let shows_late = |p: &Problem| {
        p.place == "--warmup"
            || p.place == "--alone-basis"
            || p.place == "--series-window"
            || p.place.ends_with(".starts_after")
            || p.place == "workload" && p.message.starts_with("found no request")
    };
    let is_overload =
        |why: &str| why.contains("outstanding_max") && why.contains("no request would be counted");
    match error {
        Error::Config(problems) => problems.iter().all(shows_late),
        Error::Stuck(why) => is_overload(why),
        _ => false,
    }
}

/// True if all problems are refusals without time, because the clocks of dies do not follow the
/// drive closely. A problem of the order of collection names the scheduler or dynamic allocation.
/// It needs several planes, dynamic allocation, or a scheduler that does not say its order. Others
/// name the threshold of collection, or the rate of the channels.
fn hangs_on_time(case: &Case, problems: &[Problem]) -> bool {
    let may = case.device.ftl.allocation.name().contains("dynamic")
        || case.device.flash.planes_per_die > 1
        || case.device.scheduler.name().starts_with("sprinkler");
    let is_known = |problem: &Problem| match problem.place.as_str() {
        "scheduler" | "ftl.allocation" => may,
        place => place == "ftl.gc.threshold" || place == "flash.channel_rate",
    };
    !problems.is_empty() && problems.iter().all(is_known)
}

/// Runs the case without time. It must finish with its audits, or be refused by name.
fn run_untimed(case: &Case, timed: &Summary, progress: &(dyn Fn(f64) + Sync)) {
    let warmup = match case.options.warmup {
        Warmup::Time(_) => Warmup::None,
        other => other,
    };
    let base = case.options.clone();
    let observe = Observe::default();
    let options =
        RunOptions { waf_only: true, alone: false, windows: None, warmup, observe, ..base };
    let device = &case.device;
    let compat = &device.compat;
    let warps = case
        .workload
        .flows
        .iter()
        .any(|flow| flow.synthetic.as_ref().is_some_and(|synthetic| synthetic.warps.is_some()));
    let refused = warps
        || matches!(device.isolation, Isolation::Upi(_))
        || device.ftl.read_scrubbing.limit > 0
        || device.ftl.gc.idle_after.is_some()
        || device.ftl.superblock != Superblock::Block && device.ftl.gc.max_concurrent_per_plane > 1
        || device.slc_cache.is_some()
        || device.errors.as_ref().is_some_and(|errors| errors.refresh_at.is_some())
        || device.ftl.mapping.kind == MappingKind::Hybrid
        || device.flash.technology == Technology::InPlace
        || compat.collection_per_block
        || compat.unprogrammed_mapping
        || compat.flash_unwritten_reads && compat.unordered_programs
        || device.placement.unit_time.is_some()
        || case.workload.limits_rates()
        || case.workload.flows.iter().any(|flow| flow.starts_after.is_some());
    let summary = match simulate(device, &case.workload, &options, progress) {
        Ok(summary) => summary,
        Err(flashlane::Error::Config(problems)) if refused => {
            assert!(!problems.is_empty());
            return;
        }
        Err(flashlane::Error::Config(problems)) if hangs_on_time(case, &problems) => return,
        Err(error) if shows_late(&error) => return,
        Err(error) => panic!("without time: {error}"),
    };
    assert!(!refused, "what needs time is refused");
    let flash = &summary.flash;
    let whole = whole_run(&summary);
    let started = whole.gc_invocations + whole.wear_leveling_moves;
    let planes = planes_per_block(device);
    assert!(whole.erases <= started * planes, "every erase ends a collection");
    let host: u64 = summary.flows.iter().map(|flow| flow.transactions.count).sum();
    assert_eq!(host, flash.user_reads + flash.user_programs, "host pages by flow and in all");
    let (extra, programs) = (
        summary.waf_only.as_ref().expect("a run without time"),
        flash.user_programs + flash.gc_programs + flash.mapping_programs,
    );
    assert_eq!(extra.page_writes, programs, "pages by flow and in all");
    assert_eq!(timed.flows.len(), summary.flows.len());
}

/// Planes that a block lies on at most.
fn planes_per_block(device: &DeviceConfig) -> u64 {
    match device.ftl.superblock {
        Superblock::Block => 1,
        _ => u64::from(Geometry::new(&device.flash).planes()),
    }
}

fn stage_sum(stages: &BreakdownSummary) -> f64 {
    stages.submission
        + stages.transfer_in
        + stages.firmware
        + stages.cache
        + stages.mapping
        + stages.flash_queue
        + stages.flash_bus
        + stages.flash_array
        + stages.transfer_out
}

fn check_latency(latency: &Latency, what: &str) {
    if latency.count == 0 {
        return;
    }
    let steps = [latency.p50, latency.p90, latency.p95, latency.p99, latency.p99_9, latency.p99_99];
    assert!(steps.is_sorted(), "percentiles of {what} grow: {latency:?}");
    assert!(latency.min <= latency.mean * 1.000_001, "{what}: {latency:?}");
    assert!(latency.mean <= latency.max * 1.000_001, "{what}: {latency:?}");
    assert!(latency.p99_99 <= latency.max * 1.003, "{what}: {latency:?}");
}

/// Everything that must hold of any summary.
fn check(case: &Case, summary: &Summary) {
    assert_eq!(summary.requests_generated, summary.requests_completed, "every request completes");
    for (flow, config) in summary.flows.iter().zip(&case.workload.flows) {
        let name = &flow.name;
        let (sum, mean) = (stage_sum(&flow.breakdown_us), flow.response_time_us.mean);
        assert!(
            (sum - mean).abs() < 1e-3,
            "stages of {name} sum to {sum} us, the mean is {mean} us"
        );
        assert!(flow.end_to_end_us.mean >= mean - 1e-6, "{name} arrives before it is enqueued");
        check_latency(&flow.response_time_us, name);
        check_latency(&flow.end_to_end_us, name);
        let requests = &flow.requests;
        assert_eq!(requests.all(), flow.response_time_us.count, "requests of {name} by kind");
        let zones = flow.zone_response_time_us.as_ref().map_or(0, |latency| latency.count);
        assert_eq!(requests.zone, zones, "commands of {name} to zones");
        assert_eq!(requests.read, flow.read_response_time_us.count);
        assert_eq!(requests.write, flow.write_response_time_us.count);
        for (bytes, count) in [(flow.bytes.read, requests.read), (flow.bytes.write, requests.write)]
        {
            assert!(bytes.is_multiple_of(512), "{name} moves whole sectors");
            assert!(bytes >= count * 512 && bytes <= count * (16 << 20), "{name}: {bytes} bytes");
        }
        assert!(
            flow.write_amplification == 0.0 || flow.write_amplification >= 1.0,
            "write amplification of {name} is {}",
            flow.write_amplification
        );
        // In the one stream of a SATA drive, all flows have the mode of the first one.
        let one_stream = case.workload.layout(&case.device).is_one_stream();
        let of_mode = if one_stream { &case.workload.flows[0] } else { config };
        if of_mode.cache == CacheMode::Off {
            assert_eq!(flow.cache.hits + flow.cache.misses, 0, "{name} uses no cache");
        }
    }
    if let Some(over_time) = &summary.slowdown_over_time {
        for (index, flow) in summary.flows.iter().enumerate() {
            let requests = over_time.windows.iter().map(|window| window.flows[index].requests);
            assert_eq!(requests.sum::<u64>(), flow.end_to_end_us.count, "windows of {}", flow.name);
        }
    }
    assert_eq!(summary.slowdown_over_time.is_some(), case.options.windows.is_some());
    check_flash(case, summary);
    check_spans(case, summary);
    check_shares(summary);
    check_sets(case, summary);
    let stops =
        case.workload.flows.len() == 1 && case.workload.flows[0].on_end != Some(OnEnd::Repeat);
    if let (true, Some(synthetic)) = (stops, &case.workload.flows[0].synthetic)
        && synthetic.duration.is_none()
    {
        assert_eq!(Some(summary.requests_generated), synthetic.requests, "a pass is complete");
    }
}

/// Checks that the observations agree with the summary.
fn check_observed(case: &Case, summary: &Summary, details: &Details) {
    let observe = &case.options.observe;
    check_records(case, summary);
    check_series(case, summary, details);
    check_timeline(case, details);
    assert_eq!(details.blame.is_some(), observe.blame);
    let Some(blame) = &details.blame else { return };
    if blame::parts_are_the_same(case) {
        blame::keep(summary, blame);
    }
    for (victim, flow) in blame.victims.iter().zip(&summary.flows) {
        assert_eq!(victim.requests, flow.end_to_end_us.count, "counted requests of {}", flow.name);
        let cells: u128 = victim.cells.iter().map(|cell| cell.ps).sum();
        assert_eq!(cells, victim.waiting_ps, "cells of {} sum to its waiting", flow.name);
        assert_eq!(victim.waiting_ps + victim.service_ps, victim.end_to_end_ps);
        let whole = flow.end_to_end_us.mean * flow.end_to_end_us.count as f64 * 1e6;
        let difference = (victim.end_to_end_ps as f64 - whole).abs();
        assert!(difference <= 1e-6 * whole + 1.0, "{whole} ps end to end: {victim:?}");
    }
}

fn check_series(case: &Case, summary: &Summary, details: &Details) {
    assert_eq!(details.time_series.is_some(), case.options.observe.series.is_some());
    let Some(series) = &details.time_series else { return };
    assert!(series.windows.is_sorted_by(|a, b| a.end_s <= b.start_s));
    let points = || series.windows.iter().flat_map(|window| &window.flows);
    let completed: u64 = points().map(|point| point.requests).sum();
    assert_eq!(completed, summary.requests_completed, "every request is in one window");
    let programs: u64 = series.windows.iter().map(|window| window.device.user_programs).sum();
    assert_eq!(programs, whole_run(summary).user_programs, "every program is in one window");
    for row in &series.windows {
        let shares = [row.device.channels_busy, row.device.chips_busy];
        assert!(shares.iter().all(|share| (0.0..=1.0 + 1e-9).contains(share)), "{row:?}");
    }
    if !case.options.alone {
        assert!(points().all(|point| point.slowdown.is_none()));
    }
    for point in points() {
        assert_eq!(point.requests > 0, point.response_mean_us.is_some());
        assert!(point.response_p50_us <= point.response_p99_us);
        assert!(point.waiting_requests >= 0.0 && point.device_requests >= 0.0);
    }
}

/// Slices of a track lie inside one another or apart, and none works for what nobody asked for.
fn check_timeline(case: &Case, details: &Details) {
    let options = &case.options.observe.timeline;
    assert_eq!(details.timeline.is_some(), options.is_some());
    let (Some(timeline), Some(options)) = (&details.timeline, options) else { return };
    for (at, track) in timeline.tracks.iter().enumerate() {
        assert!(track.parent.is_none_or(|parent| (parent as usize) < at), "parents come first");
    }
    let mut open: Vec<(u64, u64)> = Vec::new();
    let mut track = None;
    for slice in &timeline.slices {
        if track != Some(slice.track) {
            assert!(track < Some(slice.track), "in the order of the tracks");
            (track, open) = (Some(slice.track), Vec::new());
        }
        assert!(slice.start < slice.end && slice.end >= options.from, "{slice:?}");
        while open.last().is_some_and(|&(_, end)| end <= slice.start) {
            open.pop();
        }
        if let Some(&(start, end)) = open.last() {
            assert!(start <= slice.start && slice.end <= end, "{slice:?} inside {start} to {end}");
        }
        open.push((slice.start, slice.end));
        assert!(usize::from(slice.flow) < timeline.flows.len());
    }
}

fn check_records(case: &Case, summary: &Summary) {
    let Some(records) = &case.records else { return };
    let batches = std::mem::take(&mut records.lock().expect("the run is over").0);
    let rows: usize = batches.iter().map(RequestBatch::len).sum();
    assert_eq!(rows as u64, summary.requests_completed, "a row for every request");
    let mut counted = vec![(0, 0.0); summary.flows.len()];
    let mut backlog = vec![0; summary.flows.len()];
    let window_end = (summary.window_end_s * 1e12).round() as u64;
    let mut last = 0;
    for batch in &batches {
        for row in 0..batch.len() {
            let stages = batch.submission_ps[row]
                + batch.transfer_in_ps[row]
                + batch.firmware_ps[row]
                + batch.cache_ps[row]
                + batch.mapping_ps[row]
                + batch.flash_queue_ps[row]
                + batch.flash_bus_ps[row]
                + batch.flash_array_ps[row]
                + batch.transfer_out_ps[row];
            let response = batch.complete_ps[row] - batch.submit_ps[row];
            assert_eq!(stages, response, "stages of row {row}");
            assert!(batch.arrival_ps[row] <= batch.submit_ps[row]);
            assert!(last <= batch.complete_ps[row], "in the order of completion");
            last = batch.complete_ps[row];
            if batch.counted[row] {
                let (count, sum) = &mut counted[usize::from(batch.flow[row])];
                *count += 1;
                *sum += response as f64;
                backlog[usize::from(batch.flow[row])] +=
                    u64::from(batch.complete_ps[row] > window_end);
            }
        }
    }
    if case.options.until_steady.is_none() {
        let found = summary.flows.iter().map(|flow| flow.backlog_at_end);
        assert!(found.eq(backlog.iter().copied()), "requests that outlast the window: {backlog:?}");
    }
    for ((count, sum), flow) in counted.into_iter().zip(&summary.flows) {
        assert_eq!(count, flow.response_time_us.count);
        let mean = flow.response_time_us.mean * 1e6 * count as f64;
        assert!((sum - mean).abs() <= 1e-6 * mean, "response times of {}", flow.name);
    }
}

fn check_flash(case: &Case, summary: &Summary) {
    let units = summary.units.is_some();
    if !units && summary.zones.is_none() {
        check_amplification(&summary.flash);
    }
    // The counts of all spans are summed, because an operation may begin in one span and end in the
    // next.
    let flash = &whole_run(summary);
    let host: u64 = summary.flows.iter().map(|flow| flow.transactions.count).sum();
    let on_flash = flash.user_reads + flash.user_programs;
    let geometry = case.device.geometry();
    // Mapping units share pages of the flash, or have several of them.
    let as_many = match geometry.pages_per_unit {
        1 => host == on_flash || units && host > on_flash,
        pages => host * u64::from(pages) >= on_flash,
    };
    assert!(as_many, "host pages by flow and in all");
    let programs = u64::from(geometry.programs_per_unit());
    let of_units = [flash.user_programs, flash.gc_programs].map(|count| count % programs);
    assert_eq!(of_units, [0, 0], "units are programmed whole");
    // Parity counts as written by collection, and is at most as much as the data.
    let data = flash.gc_reads + flash.user_programs + flash.mapping_programs;
    let parity = if case.device.ftl.parity { data } else { 0 };
    assert!(flash.gc_programs <= flash.gc_reads + parity, "collection writes what it read");
    let jobs = flash.gc_invocations + flash.wear_leveling_moves + flash.read_scrubbing_moves;
    // Paced collection may wait for writes at the end.
    let gc = &case.device.ftl.gc;
    let waits = u64::from(gc.pacing == Pacing::Proportional);
    let planes = u64::from(Geometry::new(&case.device.flash).planes());
    let left = waits * planes * u64::from(gc.max_concurrent_per_plane);
    let most = jobs * planes_per_block(&case.device);
    let ended = (jobs - left.min(jobs)..=most).contains(&flash.erases);
    assert!(ended, "every collection ends with its erase");
    assert!(flash.copybacks <= flash.gc_programs, "copybacks are programs of collection");
    let outside = summary.before_window.cmt.writebacks + summary.after_window.cmt.writebacks;
    let writebacks = outside + summary.cmt.writebacks;
    let written_back = if case.device.compat.unprogrammed_mapping { 0 } else { writebacks };
    assert_eq!(flash.mapping_programs, written_back, "every write-back is programmed");
    if case.device.ftl.mapping.ideal {
        assert_eq!(flash.mapping_reads + flash.mapping_programs, 0, "the ideal table is in DRAM");
    }
    let uncached = case.workload.flows.iter().all(|flow| flow.cache == CacheMode::Off);
    if uncached {
        let flash_config = &case.device.flash;
        let page = flash_config.page_size.0 * u64::from(flash_config.pages_per_program());
        let written: u64 = summary.flows.iter().map(|flow| flow.bytes.write).sum();
        assert!(flash.user_programs >= written.div_ceil(page), "uncached writes reach the flash");
    }
}

fn check_amplification(flash: &FlashSummary) {
    if flash.user_programs > 0 {
        let programs = flash.user_programs + flash.gc_programs + flash.mapping_programs;
        let expected = programs as f64 / flash.user_programs as f64;
        assert!((flash.write_amplification - expected).abs() < 1e-9);
        assert!(flash.write_amplification >= 1.0);
    }
}

/// The window and what lies before and after it make up the run.
fn check_spans(case: &Case, summary: &Summary) {
    let (before, after) = (&summary.before_window, &summary.after_window);
    let inside: u64 =
        summary.flows.iter().map(|flow| flow.completed_in_window.requests.all()).sum();
    let all = before.requests_completed + inside + after.requests_completed;
    assert_eq!(all, summary.requests_completed, "every request completes in one span");
    let window_s = summary.window_end_s - summary.window_start_s;
    if case.workload.window == WindowRule::Steady {
        let all = before.length_s + window_s + after.length_s;
        assert!((all - summary.simulated_s).abs() < 1e-9, "{all} of {} s", summary.simulated_s);
    }
    for flow in &summary.flows {
        let completed = flow.completed_in_window.requests.all();
        assert!((flow.iops * window_s - completed as f64).abs() <= 1e-6 * completed as f64);
        assert!(flow.backlog_at_end <= flow.requests.all() || case.options.until_steady.is_some());
    }
    assert_eq!(summary.saturated, summary.flows.iter().any(|flow| flow.saturated));
}

/// Sets are disjoint and cover the drive, but for the chips that the configuration says; every flow
/// keeps a chip of its own.
fn check_sets(case: &Case, summary: &Summary) {
    let Isolation::Upi(upi) = &case.device.isolation else {
        assert!(summary.isolation_sets.is_none(), "sets that change are those of upi");
        return;
    };
    let found = summary.isolation_sets.as_ref().expect("upi reports its sets");
    let mut writers = vec![0; summary.chips.len()];
    found.sets.iter().flatten().for_each(|&chip| writers[chip as usize] += 1);
    for (chip, &writers) in (0..).zip(&writers) {
        let expected = match (upi.shared_chips.contains(&chip), upi.read_only_chips.contains(&chip))
        {
            (true, _) => summary.flows.len(),
            (_, true) => 0,
            _ => 1,
        };
        assert_eq!(writers, expected, "flows that write to chip {chip}");
    }
    let shared = upi.shared_chips.len();
    let own = writers.len() - shared - upi.read_only_chips.len();
    for window in &found.windows {
        let sizes = window.chips.iter().map(|&chips| chips as usize);
        assert_eq!(sizes.clone().sum::<usize>(), own + shared * found.sets.len(), "{window:?}");
        assert!(sizes.min() > Some(shared), "every flow keeps a chip: {window:?}");
    }
    assert!(found.transfers <= found.ended_windows, "at most one chip a window");
    assert!(upi.overflow || found.overflow_pages == 0);
}

fn check_shares(summary: &Summary) {
    for channel in &summary.channels {
        assert!((0.0..=1.0).contains(&channel.busy_fraction), "{channel:?}");
    }
    for chip in &summary.chips {
        assert!((0.0..=1.0).contains(&chip.busy_fraction), "{chip:?}");
        assert!(chip.mean_queue_length <= chip.max_queue_length as f64, "{chip:?}");
    }
    let erases: u64 = summary.chips.iter().map(|chip| chip.erases).sum();
    assert_eq!(erases, summary.flash.erases, "erases of all chips");
}

#[test]
fn accepted_configurations_finish() {
    seeds::run_all();
    blame::report();
}
