//! Collects what the summary says of each flow.

use flashlane_engine::Time;

use super::latency::LatencyRecorder;
use super::series::Series;
use super::summary::{BreakdownSummary, ByteCounts, RequestCounts, TransactionSummary};
use super::window::Window;
use crate::layout::SECTOR_BYTES;
use crate::request::{Chain, Request};
use crate::transaction::Transaction;
use crate::workload::RequestOp;

/// Sums of the times of each stage. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct StageSums {
    submission: u128,
    transfer_in: u128,
    firmware: u128,
    chain: [u128; 5],
    transfer_out: u128,
}

/// Page transactions of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TransactionSums {
    pub(crate) count: u64,
    wait: u128,
    transfer: u128,
    execution: u128,
}

/// What is known of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowRecord {
    pub(crate) response: LatencyRecorder,
    pub(crate) read_response: LatencyRecorder,
    pub(crate) write_response: LatencyRecorder,
    pub(crate) end_to_end: LatencyRecorder,
    pub(crate) requests: RequestCounts,
    pub(crate) bytes: ByteCounts,
    stages: StageSums,
    pub(crate) transactions: TransactionSums,
    /// Host pages programmed.
    pub(crate) host_programs: u64,
    /// Pages programmed by collection and for translation on behalf of the flow.
    pub(crate) other_programs: u64,
    pub(crate) cmt_hits: u64,
    pub(crate) cmt_misses: u64,
    pub(crate) cache_hits: u64,
    pub(crate) cache_misses: u64,
    pub(crate) series: Option<Series>,
}

/// Collects the results of a run.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    pub(crate) flows: Vec<FlowRecord>,
    pub(crate) window: Window,
}

impl Recorder {
    /// Empty records.
    pub(crate) fn new(flows: usize, window: Window) -> Self {
        Self { flows: vec![FlowRecord::default(); flows], window }
    }

    /// Also keeps a time series of every flow. Unit: picoseconds.
    pub(crate) fn keep_series(&mut self, interval: u64) {
        for flow in &mut self.flows {
            flow.series = Some(Series::new(interval));
        }
    }

    /// A request is back at the host.
    pub(crate) fn request_completed(&mut self, request: &Request, now: Time) {
        if !request.counted {
            return;
        }
        self.window.completed(now);
        let flow = &mut self.flows[request.flow as usize];
        let response = now - request.enqueued;
        flow.response.record(response);
        flow.end_to_end.record(now - request.arrival);
        if let Some(series) = &mut flow.series {
            series.record(request.op, response, now);
        }
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        match request.op {
            RequestOp::Read => {
                flow.requests.read += 1;
                flow.bytes.read += bytes;
                flow.read_response.record(response);
            }
            RequestOp::Write => {
                flow.requests.write += 1;
                flow.bytes.write += bytes;
                flow.write_response.record(response);
            }
            RequestOp::Trim => flow.requests.trim += 1,
            RequestOp::Flush => flow.requests.flush += 1,
        }
        let stages = &mut flow.stages;
        let parts = [
            (&mut stages.submission, request.fetched - request.enqueued),
            (&mut stages.transfer_in, request.received - request.fetched),
            (&mut stages.firmware, request.begun - request.received),
            (&mut stages.transfer_out, now - request.served),
        ];
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
    }

    /// A transaction of a host request is done.
    pub(crate) fn transaction_done(&mut self, tr: &Transaction) {
        let sums = &mut self.flows[tr.flow as usize].transactions;
        sums.count += 1;
        sums.wait += u128::from(tr.chain.total() - tr.chain.bus - tr.chain.array);
        sums.transfer += u128::from(tr.chain.bus);
        sums.execution += u128::from(tr.chain.array);
    }
}

impl FlowRecord {
    /// Mean per stage.
    pub(crate) fn breakdown(&self) -> BreakdownSummary {
        let count = self.response.count();
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

    /// Mean transaction times.
    pub(crate) fn transaction_summary(&self) -> TransactionSummary {
        let sums = &self.transactions;
        let mean = |sum: u128| {
            if sums.count == 0 { 0.0 } else { sum as f64 / sums.count as f64 / 1e6 }
        };
        TransactionSummary {
            count: sums.count,
            wait_us: mean(sums.wait),
            transfer_us: mean(sums.transfer),
            execution_us: mean(sums.execution),
        }
    }

    /// All page programs over host page programs.
    pub(crate) fn write_amplification(&self) -> f64 {
        if self.host_programs == 0 {
            return 0.0;
        }
        (self.host_programs + self.other_programs) as f64 / self.host_programs as f64
    }
}
