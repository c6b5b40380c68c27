//! The call at the completion of a request: the parts of its time, and the flows that it waited
//! for.

use flashlane_engine::Time;
use flashlane_units::RequestId;

use super::Observer;
use super::blame::account::{Account, RequestWaits, Who};
use super::timeline::recorder::TimelineRecorder;
use flashlane_device::device::watcher::Front;
use flashlane_device::request::{Request, Requests};
use flashlane_device::transaction::{Source, Transactions};

/// The stages of a completed request, with waits and work separated. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    /// End-to-end time.
    pub(crate) whole: u64,
    /// Wait before the submission queue.
    pub(crate) host: u64,
    /// Wait in the submission queue.
    pub(crate) submission: u64,
    pub(crate) link_in: u64,
    pub(crate) firmware: u64,
    /// Wait for room in the data cache, or for write-backs.
    pub(crate) room: u64,
    /// Time of the critical path in mapping and scheduler.
    pub(crate) flash: u64,
    /// The part of that time in the scheduler.
    pub(crate) queue: u64,
    /// Time at which the request was served.
    pub(crate) served: u64,
    /// Wait for the memory of the data cache.
    pub(crate) memory: u64,
    /// Wait for a place in the completion queue.
    pub(crate) completion: u64,
    pub(crate) link_out: u64,
    /// Time in the device: fetched to served.
    pub(crate) device: u64,
    /// Own work on the link and in firmware.
    pub(crate) link_work: u64,
    pub(crate) firmware_work: u64,
    /// Time between fetch and the end of firmware.
    pub(crate) fetching: u64,
}

impl Observer {
    /// A request is back at the host. `requests` and `transactions`: those under way.
    #[cold]
    pub(crate) fn completion(
        &mut self,
        now: Time,
        id: RequestId,
        front: &Front,
        requests: &Requests,
        transactions: &Transactions,
    ) {
        let request = &requests[id];
        if let Some(account) = &mut self.account {
            let who = Who {
                flow: request.flow,
                counted: request.marks.counted(),
                queue: if front.sata { 0 } else { request.flow.index() },
                pool: front.pool,
            };
            let parts = parts(now, request, front, account.request(id));
            account.close(id, who, &parts);
            if account.block_is_full() {
                account.end_block();
                if account.trims(requests.len()) {
                    account.trim(oldest_wait(now, account, requests, transactions));
                }
            }
        }
        if let Some(timeline) = TimelineRecorder::wanted(&mut self.timeline, now.0) {
            timeline.request(id, request, now.0);
        }
    }
}

/// The parts of the time of a completed request.
fn parts(now: Time, request: &Request, front: &Front, noted: &RequestWaits) -> Parts {
    let Front { sata, work, .. } = front;
    let stage = |from: Time, to: Time| (to - from).0;
    let chain = request.chain;
    let out = stage(request.served, now) - work.transfer_out;
    let held = noted.held_until.saturating_sub(request.served.0).min(out);
    let (mut room, mut memory) = (0, 0);
    if chain.cache > 0 {
        (room, memory) = match noted.dram {
            Some((asked, begun)) => (asked - request.begun.0, begun - asked),
            None => (chain.cache, 0),
        };
    }
    let firmware_work = work.firmware + noted.firmware;
    let submission = stage(request.enqueued, request.fetched) - work.submission;
    let transfer_in = stage(request.fetched, request.received) - work.transfer_in;
    // SATA: the tag is there, and the command waits only for the link.
    let (submission, link_in) =
        if *sata { (0, submission + transfer_in) } else { (submission, transfer_in) };
    Parts {
        whole: stage(request.arrival, now),
        host: stage(request.arrival, request.enqueued) - work.host,
        submission,
        link_in,
        firmware: stage(request.received, request.begun) - firmware_work,
        room,
        memory,
        flash: chain.mapping + chain.queue,
        queue: chain.queue,
        served: request.served.0,
        completion: held,
        link_out: out - held,
        device: stage(if *sata { request.enqueued } else { request.fetched }, request.served),
        link_work: work.submission + work.transfer_in + work.transfer_out,
        firmware_work,
        fetching: stage(request.fetched, request.begun),
    }
}

/// Earliest start of all waits that may still be charged.
fn oldest_wait(
    now: Time,
    account: &Account,
    requests: &Requests,
    transactions: &Transactions,
) -> u64 {
    let mut oldest = now.0;
    for (id, request) in requests.iter() {
        if request.begun.0 > 0 {
            oldest = oldest.min(request.begun.0);
        }
        oldest = oldest.min(account.asked(id));
    }
    for (_, tr) in transactions.iter().filter(|(_, tr)| tr.source != Source::Gc) {
        oldest = oldest.min(tr.mark.0 - tr.chain.total());
    }
    oldest
}
