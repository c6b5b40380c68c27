//! Collects the figures of each flow for the summary.

use flashlane_engine::{Array, Time};
use flashlane_units::{FlowId, RequestOp};

use super::latency::LatencyRecorder;
use super::load::Load;
use super::reading::Readings;
use super::series::Series;
use super::steady::Watch;
use super::summary::{BreakdownSummary, ByteCounts, RequestCounts, TransactionSummary};
use super::window::{Edge, Window};
use super::windows::Windows;
use flashlane_device::device::Device;
use flashlane_device::device::reading::TransactionTimes;
use flashlane_device::layout::SECTOR_BYTES;
use flashlane_device::request::{Chain, Request};

/// Operations with separate latencies: reads, writes, trims, flushes, commands of zones.
pub const OPERATIONS: usize = 5;

/// Sums of the times of each stage. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct StageSums {
    submission: u128,
    transfer_in: u128,
    firmware: u128,
    chain: [u128; 5],
    transfer_out: u128,
}

impl StageSums {
    fn add(&mut self, more: &Self) {
        self.submission += more.submission;
        self.transfer_in += more.transfer_in;
        self.firmware += more.firmware;
        for (sum, more) in self.chain.iter_mut().zip(more.chain) {
            *sum += more;
        }
        self.transfer_out += more.transfer_out;
    }
}

/// Figures of a flow.
#[derive(Clone, Debug, Default)]
pub struct FlowRecord {
    /// Response times of requests that entered their submission queue when they arrived, for reads,
    /// writes, trims and flushes. For them the end-to-end time is the same. A recorder without
    /// latencies has no histogram.
    prompt: [LatencyRecorder; OPERATIONS],
    /// Response times of requests that waited for a place in the submission queue, in the same
    /// order.
    delayed: [LatencyRecorder; OPERATIONS],
    /// End-to-end times of the requests in `delayed`.
    delayed_end_to_end: LatencyRecorder,
    pub(crate) requests: RequestCounts,
    pub(crate) bytes: ByteCounts,
    stages: StageSums,
    /// Sums for reads and for writes.
    pub(crate) transactions: [TransactionTimes; 2],
    /// Means by interval, if they were asked for.
    pub series: Option<Series>,
    /// Means by window, for slowdowns over time, if they were asked for.
    pub windows: Option<Windows>,
}

/// Collects the results of a run.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// The record of each flow.
    pub flows: Array<FlowId, FlowRecord>,
    /// When requests count.
    pub window: Window,
    /// By flow: true if its requests arrive by the clock.
    pub(super) open_loops: Vec<bool>,
    /// Outstanding requests over time, if some flow is an open loop.
    pub(super) load: Option<Load>,
    pub(super) readings: Readings,
    /// By flow: the page transactions up to the start of the round.
    transactions_before: Array<FlowId, [TransactionTimes; 2]>,
    /// Ends the run when it reaches steady state.
    pub(super) watch: Option<Box<Watch>>,
}

impl Recorder {
    /// Empty records.
    pub fn new(open_loops: Vec<bool>, window: Window) -> Self {
        Self {
            flows: Array::of(FlowRecord::default(), open_loops.len()),
            transactions_before: Array::of(Default::default(), open_loops.len()),
            window,
            open_loops,
            load: None,
            readings: Readings::default(),
            watch: None,
        }
    }

    /// Makes the run end with steady state.
    pub fn watch_for(&mut self, watch: Watch) {
        self.watch = Some(Box::new(watch));
    }

    /// Share of the work that is done, if the run ends with steady state.
    pub fn progress(&self) -> Option<f64> {
        self.watch.as_ref().map(|watch| watch.progress())
    }

    /// Also keeps a time series of every flow. Unit: picoseconds.
    pub fn keep_series(&mut self, interval: u64) {
        for flow in &mut self.flows {
            flow.series = Some(Series::new(interval));
        }
    }

    /// Also keeps the end-to-end times of a flow by windows.
    pub fn keep_windows(&mut self, flow: FlowId, windows: Windows) {
        self.flows[flow].windows = Some(windows);
    }

    /// Adds a completed request of a drive.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(crate) fn request_completed(&mut self, request: &Request, now: Time, device: &Device) {
        if !request.marks.counted() {
            return;
        }
        self.window.completed(now);
        if self.watch.is_some() && !self.end_rounds_by_time(now, device) {
            return;
        }
        let flow = &mut self.flows[request.flow];
        let response = now - request.enqueued;
        let side = match request.op {
            RequestOp::Read => 0,
            RequestOp::Write => 1,
            RequestOp::Trim => 2,
            RequestOp::Flush => 3,
            _ => 4,
        };
        if request.enqueued == request.arrival {
            flow.prompt[side].record(response);
        } else {
            flow.delayed[side].record(response);
            flow.delayed_end_to_end.record(now - request.arrival);
        }
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        if let Some(series) = &mut flow.series {
            series.record(request.op, bytes, response, now);
        }
        if let Some(windows) = &mut flow.windows {
            windows.record(request.arrival, now);
        }
        match request.op {
            RequestOp::Read => {
                flow.requests.read += 1;
                flow.bytes.read += bytes;
            }
            RequestOp::Write => {
                flow.requests.write += 1;
                flow.bytes.write += bytes;
            }
            RequestOp::Trim => flow.requests.trim += 1,
            RequestOp::Flush => flow.requests.flush += 1,
            _ => flow.requests.zone += 1,
        }
        let stages = &mut flow.stages;
        let parts = [
            (&mut stages.submission, request.fetched - request.enqueued),
            (&mut stages.transfer_in, request.received - request.fetched),
            (&mut stages.firmware, request.begun - request.received),
            (&mut stages.transfer_out, now - request.served),
        ];
        // True only if no difference is negative.
        let all = parts.iter().fold(0, |all, (_, part)| all | part.0);
        assert!(all >> 63 == 0, "the stages of a request follow each other");
        for (sum, part) in parts {
            *sum += u128::from(part.0);
        }
        let Chain { cache, mapping, queue, bus, array } = request.chain;
        for (sum, part) in stages.chain.iter_mut().zip([cache, mapping, queue, bus, array]) {
            *sum += u128::from(part);
        }
        debug_assert_eq!(
            request.chain.total(),
            (request.served - request.begun).0,
            "stages span the device work"
        );
        if self.watch.is_some() {
            self.end_round_by_count(now, device);
        }
    }

    /// Ends the rounds whose time is over; false if the last round has ended.
    fn end_rounds_by_time(&mut self, now: Time, device: &Device) -> bool {
        loop {
            let opened = self.window.opened().unwrap_or(Time::ZERO);
            let Some(watch) = self.watch.as_mut().filter(|watch| !watch.finished()) else {
                return false;
            };
            let Some(end) = watch.over_by_time(opened, now) else { return true };
            self.end_round(end, device);
        }
    }

    /// Ends the round if it has all its requests.
    fn end_round_by_count(&mut self, now: Time, device: &Device) {
        let completed = self.flows.iter().map(FlowRecord::completed).sum();
        if self.watch.as_ref().is_some_and(|watch| watch.over_by_count(completed)) {
            self.window.set(Edge::Round, now);
            self.end_round(now, device);
        }
    }

    fn end_round(&mut self, end: Time, device: &Device) {
        self.take_transactions(device);
        let Some(watch) = &mut self.watch else { return };
        let fresh = |old: &mut FlowRecord| {
            let series = old.series.take();
            std::mem::replace(old, FlowRecord { series, ..FlowRecord::default() })
        };
        watch.close(end, self.flows.iter_mut().map(fresh).collect());
        if watch.finished() {
            self.window.rounds_ended(watch.span().expect("a round is over"));
        }
    }

    /// Reduces the records to the rounds of the window, at the end of the run. Without a whole
    /// round, keeps everything.
    pub(crate) fn settle(&mut self, device: &Device) {
        self.take_transactions(device);
        let Some(records) = self.watch.as_mut().and_then(|watch| watch.take_records()) else {
            return;
        };
        for (flow, record) in self.flows.iter_mut().zip(records) {
            let series = flow.series.take();
            *flow = FlowRecord { series, ..record };
        }
    }

    /// Moves the page transactions since the start of the round into the records.
    fn take_transactions(&mut self, device: &Device) {
        let flows = self.flows.iter_mut().zip(&mut self.transactions_before);
        for ((flow, before), now) in flows.zip(device.transaction_times()) {
            for ((times, before), now) in flow.transactions.iter_mut().zip(before).zip(now) {
                times.add(now.since(before));
                *before = *now;
            }
        }
    }
}

impl Recorder {
    /// Checks what must hold when every request is complete.
    pub(crate) fn audit_end(&self) {
        self.window.audit_end();
        for flow in &self.flows {
            assert_eq!(flow.requests.all(), flow.completed(), "a request is counted once");
        }
    }
}

impl FlowRecord {
    /// Adds the record of a later round. The series and the means by window are of the whole run,
    /// and stay as they are.
    pub(crate) fn add(&mut self, other: &Self) {
        // By name, so that the compiler asks what becomes of a new field.
        let Self {
            prompt,
            delayed,
            delayed_end_to_end,
            requests,
            bytes,
            stages,
            transactions,
            series: _,
            windows: _,
        } = other;
        for (sum, more) in self.prompt.iter_mut().zip(prompt) {
            sum.add(more);
        }
        for (sum, more) in self.delayed.iter_mut().zip(delayed) {
            sum.add(more);
        }
        self.delayed_end_to_end.add(delayed_end_to_end);
        self.requests.read += requests.read;
        self.requests.write += requests.write;
        self.requests.trim += requests.trim;
        self.requests.flush += requests.flush;
        self.requests.zone += requests.zone;
        self.bytes.read += bytes.read;
        self.bytes.write += bytes.write;
        self.stages.add(stages);
        for (sum, &more) in self.transactions.iter_mut().zip(transactions) {
            sum.add(more);
        }
    }

    /// Number of completed requests.
    pub(crate) fn completed(&self) -> u64 {
        self.prompt.iter().chain(&self.delayed).map(LatencyRecorder::count).sum()
    }

    /// Response times of reads, writes, trims, flushes and commands of zones.
    pub fn responses(&self) -> [LatencyRecorder; OPERATIONS] {
        std::array::from_fn(|side| self.prompt[side].clone().with(&self.delayed[side]))
    }

    /// Response times of all requests.
    pub fn response(&self) -> LatencyRecorder {
        let all = self.prompt.iter().chain(&self.delayed);
        all.fold(LatencyRecorder::default(), LatencyRecorder::with)
    }

    /// End-to-end times of all requests.
    pub(crate) fn end_to_end(&self) -> LatencyRecorder {
        self.prompt.iter().fold(self.delayed_end_to_end.clone(), LatencyRecorder::with)
    }

    /// Mean time per stage.
    pub(crate) fn breakdown(&self) -> BreakdownSummary {
        let count = self.completed();
        let mean = |sum: u128| if count == 0 { 0.0 } else { sum as f64 / count as f64 / 1e6 };
        let [cache, mapping, queue, bus, array] = self.stages.chain;
        BreakdownSummary {
            submission: mean(self.stages.submission),
            transfer_in: mean(self.stages.transfer_in),
            firmware: mean(self.stages.firmware),
            cache: mean(cache),
            mapping: mean(mapping),
            flash_queue: mean(queue),
            flash_bus: mean(bus),
            flash_array: mean(array),
            transfer_out: mean(self.stages.transfer_out),
        }
    }

    /// Mean times of read and of write transactions, and of both together.
    pub(crate) fn transaction_summaries(&self) -> [TransactionSummary; 3] {
        let [reads, writes] = self.transactions;
        let mut both = reads;
        both.add(writes);
        [reads, writes, both].map(TransactionSummary::of)
    }
}
