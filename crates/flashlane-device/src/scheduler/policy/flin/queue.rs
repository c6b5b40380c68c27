//! Stage 1: the queue of a unit, an operation and a level, with the low-intensity transactions in
//! front, and the place of a new transaction in it (Algorithm 1).

use super::region::{Entry, Region};
use super::reorder::{Moment, Scratch};
use crate::scheduler::view::View;
use flashlane_units::FlowId;

/// Number of queued transactions that are searched for partners in a multi-plane command.
const PARTNER_SCAN: usize = 200;

/// The queue, head first.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    /// Transactions up to Last_low.
    low: Region,
    /// Transactions from Last_low + 1 to the tail.
    high: Region,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.low.len() + self.high.len()
    }

    /// From the head to the tail.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.low.iter().chain(self.high.iter())
    }

    /// Time at which the head was queued.
    pub(super) fn front_since(&self) -> Option<u64> {
        self.low.first().or_else(|| self.high.first()).map(|entry| entry.enqueued)
    }

    /// Appends a transaction, without stage 1.
    pub(super) fn push(&mut self, entry: Entry) {
        self.high.insert(self.high.len(), Entry { low: false, ..entry });
    }

    /// Puts a transaction back at the head.
    pub(super) fn put_back(&mut self, entry: Entry) {
        if entry.low { self.low.insert(0, entry) } else { self.high.insert(0, entry) }
    }

    /// Takes a transaction out.
    pub(super) fn remove(&mut self, at: usize) -> Entry {
        match at.checked_sub(self.low.len()) {
            None => self.low.remove(at),
            Some(at) => self.high.remove(at),
        }
    }

    /// Lines 9 to 13: behind the last low-intensity transaction, then to the fairest place among
    /// them. Returns the number of positions that section 5.3 scans.
    pub(super) fn insert_low(
        &mut self,
        entry: Entry,
        moment: Moment,
        scratch: &mut Scratch,
    ) -> u64 {
        let found = self.low.fairest_place(&entry, moment, scratch);
        self.low.insert(found.place, entry);
        found.scanned
    }

    /// Lines 15 and 21: at the tail, then to the fairest place among those of high intensity.
    /// Returns the number of positions that section 5.3 scans.
    pub(super) fn insert_high(
        &mut self,
        entry: Entry,
        moment: Moment,
        scratch: &mut Scratch,
    ) -> u64 {
        let first_wait = moment.first_wait + self.low.cost();
        let moment = Moment { first_wait, ..moment };
        let found = self.high.fairest_place(&entry, moment, scratch);
        self.high.insert(found.place, entry);
        found.scanned
    }

    /// Lines 15 and 20: from the tail to the front of the high-intensity transactions. Choice: it
    /// passes no transaction of its own flow and no promoted one, whose order would be reversed.
    /// Returns the number of positions passed.
    pub(super) fn promote(&mut self, entry: Entry, moment: Moment) -> u64 {
        let passed = self.high.passable(&entry, moment.others(self.high.len()));
        self.high.insert(self.high.len() - passed, Entry { promoted: true, ..entry });
        passed as u64 + 1
    }

    /// The first transaction that can go; programs leave in the order of their block.
    pub(super) fn first_ready(&self, view: &View<'_>) -> Option<usize> {
        let is_ready = |entry: &Entry| view.is_ready(&view.transactions[entry.id]);
        let behind = || self.high.position(is_ready).map(|at| self.low.len() + at);
        self.low.position(is_ready).or_else(behind)
    }

    /// The first of the next transactions that can go and whose flow a condition admits.
    pub(super) fn first_ready_of(
        &self,
        view: &View<'_>,
        admits: impl Fn(FlowId) -> bool,
    ) -> Option<usize> {
        let fits =
            |entry: &Entry| admits(entry.flow) && view.is_ready(&view.transactions[entry.id]);
        self.iter().take(PARTNER_SCAN).position(fits)
    }

    /// The transaction that has waited longest among those that can go, with the time at which it
    /// was queued.
    pub(super) fn oldest_ready(&self, view: &View<'_>) -> Option<(usize, u64)> {
        self.iter()
            .enumerate()
            .filter(|(_, entry)| view.is_ready(&view.transactions[entry.id]))
            .map(|(at, entry)| (at, entry.enqueued))
            .min_by_key(|&(_, since)| since)
    }

    /// Adds partners for other planes to the command that is being formed, in the order of the
    /// queue.
    pub(super) fn join(&mut self, view: &mut View<'_>) {
        let mut from = 0;
        while (view.batch.len() as u32) < view.rules.planes_per_die {
            let found = self
                .iter()
                .take(PARTNER_SCAN)
                .enumerate()
                .skip(from)
                .find(|(_, entry)| view.joins(entry.id))
                .map(|(at, entry)| (at, entry.id));
            let Some((at, id)) = found else { return };
            view.batch.push(id);
            self.remove(at);
            from = at;
        }
    }

    /// Checks that low intensity is in front, and that the sums agree.
    pub(super) fn audit(&self) {
        self.low.audit();
        self.high.audit();
        assert!(self.low.iter().all(|entry| entry.low), "low intensity stands in front");
        assert!(self.high.iter().all(|entry| !entry.low), "high intensity stands behind");
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
