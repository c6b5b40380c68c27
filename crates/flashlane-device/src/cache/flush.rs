//! Flush commands: each waits for the write-backs that were under way or started when it came. They
//! have no effect where the memory survives a loss of power.

use std::collections::VecDeque;
use std::ops::Range;

use flashlane_units::{FlowId, Lpa, RequestId};

use super::Cache;

/// Write-backs of one flow between two flushes.
#[derive(Clone, Debug, Default)]
struct Epoch {
    under_way: u32,
    /// The flush at the end of the epoch, if there was one.
    request: Option<RequestId>,
}

/// Write-backs and flushes of one flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Flushes {
    /// Number of the oldest epoch that is kept.
    first: u32,
    epochs: VecDeque<Epoch>,
}

impl Flushes {
    /// Write-backs under way, for audits.
    pub(super) fn under_way(&self) -> u64 {
        self.epochs.iter().map(|epoch| u64::from(epoch.under_way)).sum()
    }

    /// Requests that wait for write-backs.
    pub(super) fn waiting(&self) -> impl Iterator<Item = RequestId> + '_ {
        self.epochs.iter().filter_map(|epoch| epoch.request)
    }

    fn current(&mut self) -> &mut Epoch {
        if self.epochs.is_empty() {
            self.epochs.push_back(Epoch::default());
        }
        self.epochs.back_mut().expect("just made")
    }

    /// Notes the start of a write-back. Returns its epoch.
    pub(super) fn started(&mut self) -> u32 {
        self.current().under_way += 1;
        self.first + self.epochs.len() as u32 - 1
    }

    /// Notes a flush. True if it has to wait.
    pub(super) fn flush(&mut self, request: RequestId) -> bool {
        let waits = self.epochs.iter().any(|epoch| epoch.under_way > 0 || epoch.request.is_some());
        if waits {
            self.current().request = Some(request);
            self.epochs.push_back(Epoch::default());
        }
        waits
    }

    /// Notes that a write-back of an epoch is on flash. Adds the flushes that are over now to
    /// `over`.
    pub(super) fn ended(&mut self, epoch: u32, over: &mut Vec<RequestId>) {
        let at = epoch.wrapping_sub(self.first) as usize;
        self.epochs[at].under_way -= 1;
        while self.epochs.front().is_some_and(|e| e.under_way == 0 && e.request.is_some()) {
            let ended = self.epochs.pop_front().expect("just seen");
            over.extend(ended.request);
            self.first = self.first.wrapping_add(1);
        }
    }
}

impl Cache {
    /// Pages of a flow that a flush has to write back, least recently used first: the changed ones,
    /// unless the memory survives a loss of power.
    pub(crate) fn pages_to_flush(&mut self, flow: FlowId) -> Vec<Lpa> {
        if self.survives { Vec::new() } else { self.slots(flow).dirty_pages(flow) }
    }

    /// Writes every page back at once from now on: no page of a zone is written again soon.
    pub(crate) fn write_back_at_once(&mut self) {
        self.hot.none_is_hot();
    }

    /// The changed pages of a flow in a range, least recently used first.
    pub(crate) fn dirty_pages_in(&mut self, flow: FlowId, range: Range<u32>) -> Vec<Lpa> {
        let mut pages = self.slots(flow).dirty_pages(flow);
        pages.retain(|lpa| range.contains(&lpa.get()));
        pages
    }

    /// Flushes everything that the flow has written so far. True if the request has to wait for
    /// write-backs; their ends report when it is over.
    pub(crate) fn flush(&mut self, flow: FlowId, request: RequestId) -> bool {
        !self.survives && self.flushes[flow.index()].flush(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_waits_for_earlier_write_backs_only() {
        let mut flushes = Flushes::default();
        assert!(!flushes.flush(RequestId::new(7)), "nothing to wait for");
        let a = flushes.started();
        let b = flushes.started();
        assert!(flushes.flush(RequestId::new(1)));
        let c = flushes.started();
        assert!(flushes.flush(RequestId::new(2)));
        let mut over = Vec::new();
        flushes.ended(c, &mut over);
        flushes.ended(a, &mut over);
        assert!(over.is_empty());
        flushes.ended(b, &mut over);
        assert_eq!(
            over,
            [1, 2].map(RequestId::new),
            "in order, as soon as all before them is on flash"
        );
        let d = flushes.started();
        flushes.ended(d, &mut over);
        assert!(!flushes.flush(RequestId::new(3)));
    }
}
