//! From the state of a finished run to its summary.

use flashlane_engine::Time;
use flashlane_units::FlowId;

use crate::metrics::reading::Reading;
use crate::metrics::recorder::Recorder;
use crate::metrics::span::{Span, Spans, amplification};
use crate::metrics::summary::{
    AloneBasis, AloneSummary, FlowSummary, HitCounts, IsolationSummary, MemorySummary,
    RetrySummary, SCHEMA, SchedulerOverhead, Summary, TransactionFairness,
};
use crate::metrics::window::TimeRange;
use crate::metrics::{Fairness, energy};
use crate::rules::Variant;
use flashlane_config::{DeviceConfig, WorkloadConfig};
use flashlane_device::layout::{Geometry, ZoneGeometry};
use flashlane_workload::SourceReport;

/// A finished run, as the summary needs it.
pub struct Ended<'a> {
    pub(crate) recorder: &'a Recorder,
    /// Counters at the end.
    pub(crate) end: Reading,
    /// Events handled.
    pub(crate) events: u64,
    /// Requests that arrived.
    pub(crate) generated: u64,
    /// Requests that completed.
    pub(crate) completed: u64,
    pub(crate) geometry: Geometry,
    pub(crate) isolation_sets: Option<IsolationSummary>,
    pub(crate) scheduler_overhead: Option<SchedulerOverhead>,
    pub(crate) memory: MemorySummary,
    /// Capacity of the drive for host data. Unit: bytes.
    pub(crate) logical_bytes: u64,
    /// The zones of the drive, and their number.
    pub(crate) zones: Option<(ZoneGeometry, u64)>,
}

/// The summary of a run, without the parts that need other runs or a wall clock.
pub fn summarise(
    run: &Ended<'_>,
    input: impl Fn(usize) -> SourceReport,
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    variant: Variant<'_>,
) -> Summary {
    let TimeRange { from: opened, to: closed } = run.recorder.window.span();
    let spans = Spans::of(run.recorder, &run.end);
    let window = &spans.window();
    let of_flow = |flow| flow_summary(run, input(flow), workload, flow, window);
    let flows: Vec<FlowSummary> = (0..workload.flows.len()).map(of_flow).collect();
    let mut summary = Summary {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        verdict: Vec::new(),
        workload: workload.name.clone(),
        device: device.name.clone(),
        scheduler: device.scheduler.name().to_owned(),
        isolation: device.isolation.name().to_owned(),
        seed: variant.seed,
        compat: variant.compat.map(str::to_owned),
        simulated_s: run.end.drive.at.as_s(),
        window_start_s: opened.as_s(),
        window_end_s: closed.as_s(),
        saturated: flows.iter().any(|flow| flow.saturated),
        overload: Vec::new(),
        starved: flows.iter().any(|flow| flow.starved),
        events: run.events,
        requests_generated: run.generated,
        requests_completed: run.completed,
        flows,
        steady_state: run.recorder.watch.as_ref().map(|watch| watch.summary()),
        fairness: Fairness::default(),
        flash: window.flash(),
        commands: window.commands(),
        cache: window.cache(),
        cmt: window.cmt(),
        channels: window.channels(),
        chips: window.chips(run.geometry),
        device_time: window.device_time(run.geometry, None),
        before_window: spans.before().outside(),
        after_window: spans.after().outside(),
        isolation_sets: run.isolation_sets.clone(),
        scheduler_overhead: run.scheduler_overhead,
        memory: run.memory,
        processors: window.processors(),
        errors: window.errors(),
        units: window.units(),
        slc_cache: window.slc_cache(),
        separation: window.separation(),
        placement: window.placement(device),
        zones: window.zones(run.zones),
        admission: window.admission(),
        ..Summary::default()
    };
    energy::fill_in(&mut summary, window, device, run.logical_bytes);
    summary.verdict = summary.verdict();
    summary
}

/// The summary of one flow.
pub fn flow_alone(
    run: &Ended<'_>,
    input: SourceReport,
    workload: &WorkloadConfig,
    flow: usize,
) -> FlowSummary {
    flow_summary(run, input, workload, flow, &Spans::of(run.recorder, &run.end).window())
}

/// A rate; 0 if no time has passed. Unit: that of `amount`, per second.
fn per_second(amount: u64, time: Time) -> f64 {
    if time > Time::ZERO { amount as f64 / time.as_s() } else { 0.0 }
}

fn flow_summary(
    run: &Ended<'_>,
    input: SourceReport,
    workload: &WorkloadConfig,
    flow: usize,
    window: &Span<'_>,
) -> FlowSummary {
    let config = &workload.flows[flow];
    let record = &run.recorder.flows[FlowId::at(flow)];
    let readings = &run.recorder.readings;
    let TimeRange { from: opened, to: closed } = run.recorder.window.span();
    let rate = |amount: u64| per_second(amount, closed - opened);
    let [read_transactions, write_transactions, transactions] = record.transaction_summaries();
    let (arrived, completed) = (window.arrived(flow), window.completed(flow));
    let work = window.work(flow);
    let host_programs = work.host_programs;
    let [reads, writes, trims, flushes, zones] = record.responses().map(|one| one.summary());
    FlowSummary {
        name: config.name.clone(),
        priority: format!("{:?}", config.priority).to_lowercase(),
        requests: record.requests,
        bytes: record.bytes,
        offered_iops: rate(arrived),
        iops: rate(completed.requests.all()),
        bandwidth_bytes_per_s: rate(completed.bytes.read + completed.bytes.write),
        completed_in_window: completed,
        backlog_at_end: readings.backlog.get(flow).copied().unwrap_or(0),
        saturated: readings.saturated.get(flow).copied().unwrap_or(false),
        starved: readings.starved.get(flow).copied().unwrap_or(false)
            || run.end.drive.flows[flow].starved,
        response_time_us: record.response().summary(),
        read_response_time_us: reads,
        write_response_time_us: writes,
        trim_response_time_us: trims,
        flush_response_time_us: flushes,
        zone_response_time_us: (zones.count > 0).then_some(zones),
        end_to_end_us: record.end_to_end().summary(),
        breakdown_us: record.breakdown(),
        transactions,
        read_transactions,
        write_transactions,
        cmt: HitCounts { hits: work.cmt_hits, misses: work.cmt_misses },
        cache: HitCounts { hits: work.cache_hits, misses: work.cache_misses },
        mean_chip_queue_length: window.mean_queue_length(flow),
        page_writes: host_programs,
        read_modify_writes: work.read_modify_writes,
        write_amplification: amplification(host_programs, host_programs + work.other_programs),
        device_time: window.device_time(run.geometry, Some(flow)),
        retries: run.end.drive.ftl.errors.map(|_| RetrySummary::of(&work)),
        ..of_input(input)
    }
}

/// A summary with only the changes to the requests of a trace; everything else is empty.
fn of_input(input: SourceReport) -> FlowSummary {
    FlowSummary {
        wrapped_requests: input.wrapped,
        clipped_requests: input.clipped,
        split_requests: input.split,
        rejected_lines: input.rejected.into_iter().collect(),
        trace_records: input.records,
        changed_records: input.changed,
        named_lines: input.named,
        ..FlowSummary::default()
    }
}

/// Fills in the slowdowns of a flow from its run alone.
pub fn slowdowns(flow: &mut FlowSummary, alone: &FlowSummary, basis: AloneBasis) {
    let ratio = |shared: f64, alone: f64| (alone > 0.0 && shared > 0.0).then(|| shared / alone);
    if alone.end_to_end_us.count == 0 || flow.end_to_end_us.count == 0 {
        return;
    }
    flow.alone_end_to_end_us = Some(alone.end_to_end_us.mean);
    flow.alone_basis = Some(basis);
    flow.slowdown = ratio(flow.end_to_end_us.mean, alone.end_to_end_us.mean);
    flow.slowdown_device = ratio(flow.response_time_us.mean, alone.response_time_us.mean);
    let turnaround = |f: &FlowSummary| {
        let t = &f.transactions;
        t.wait_us + t.transfer_us + t.execution_us
    };
    flow.slowdown_transaction = ratio(turnaround(flow), turnaround(alone));
    flow.alone = Some(AloneSummary {
        iops: alone.iops,
        response_time_us: alone.response_time_us,
        cmt: alone.cmt,
        cache: alone.cache,
        mean_chip_queue_length: alone.mean_chip_queue_length,
        device_time: alone.device_time,
    });
}

/// Fills in slowdowns of 1 for a single flow, which is alone already.
pub fn alone_is_shared(summary: &mut Summary, basis: AloneBasis) {
    for flow in &mut summary.flows {
        let alone = flow.clone();
        slowdowns(flow, &alone, basis);
    }
}

/// Fairness metrics over all flows that have a slowdown.
pub fn fairness(summary: &mut Summary) {
    let over = |slowdown: fn(&FlowSummary) -> Option<f64>| {
        let slowdowns: Vec<f64> = summary.flows.iter().filter_map(slowdown).collect();
        comparison(&slowdowns)
    };
    let by_transaction = over(|flow| flow.slowdown_transaction);
    let TransactionFairness { fairness, max_slowdown, stdev_slowdown, weighted_speedup } =
        over(|flow| flow.slowdown);
    summary.fairness =
        Fairness { fairness, max_slowdown, stdev_slowdown, weighted_speedup, by_transaction };
}

/// The four metrics of some slowdowns; empty if there are none.
pub(crate) fn comparison(slowdowns: &[f64]) -> TransactionFairness {
    if slowdowns.is_empty() {
        return TransactionFairness::default();
    }
    let count = slowdowns.len() as f64;
    let max = slowdowns.iter().copied().fold(0.0, f64::max);
    let min = slowdowns.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = slowdowns.iter().sum::<f64>() / count;
    let variance = slowdowns.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / count;
    TransactionFairness {
        fairness: Some(min / max),
        max_slowdown: Some(max),
        stdev_slowdown: Some(variance.sqrt()),
        weighted_speedup: Some(slowdowns.iter().map(|s| 1.0 / s).sum()),
    }
}

/// Peak resident memory of the process, if the system reports it; 0 otherwise. Unit: bytes.
pub fn peak_rss_bytes() -> u64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|kib| kib.parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::summary::{Latency, TransactionSummary};

    #[test]
    fn fairness_follows_the_papers() {
        let flow = |slowdown, slowdown_transaction| FlowSummary {
            slowdown,
            slowdown_transaction,
            ..FlowSummary::default()
        };
        let flows = vec![flow(Some(1.0), Some(2.0)), flow(Some(4.0), Some(2.5)), flow(None, None)];
        let mut summary = Summary { flows, ..Summary::default() };
        fairness(&mut summary);
        assert_eq!(
            summary.fairness,
            Fairness {
                fairness: Some(0.25),
                max_slowdown: Some(4.0),
                stdev_slowdown: Some(1.5),
                weighted_speedup: Some(1.25),
                by_transaction: TransactionFairness {
                    fairness: Some(0.8),
                    max_slowdown: Some(2.5),
                    stdev_slowdown: Some(0.25),
                    weighted_speedup: Some(0.9),
                },
            }
        );
    }

    #[test]
    fn turnaround_of_transactions_has_a_slowdown_of_its_own() {
        let flow = |request_us: f64, [wait_us, transfer_us, execution_us]: [f64; 3]| {
            let latency = Latency { count: 1, mean: request_us, ..Latency::default() };
            let transactions = TransactionSummary { count: 1, wait_us, transfer_us, execution_us };
            FlowSummary {
                end_to_end_us: latency,
                response_time_us: latency,
                transactions,
                ..FlowSummary::default()
            }
        };
        let mut shared = flow(300.0, [150.0, 20.0, 80.0]);
        slowdowns(&mut shared, &flow(120.0, [0.0, 20.0, 80.0]), AloneBasis::WholeDrive);
        assert_eq!(shared.slowdown, Some(2.5));
        assert_eq!(shared.slowdown_transaction, Some(2.5), "250 us over 100 us");
        slowdowns(&mut shared, &flow(200.0, [25.0, 20.0, 80.0]), AloneBasis::WholeDrive);
        assert_eq!((shared.slowdown, shared.slowdown_transaction), (Some(1.5), Some(2.0)));
    }
}
