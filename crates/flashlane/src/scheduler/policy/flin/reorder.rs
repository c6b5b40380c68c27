//! Section 5.3: the place of a new transaction in a region at which the smallest over the largest slowdown
//! is largest.
//!
//! The paper passes over the region twice: once for the slowdown of every transaction, once from the tail
//! on to try every place. Nobody overtakes its own flow or a promoted transaction (Choice), so only what
//! stands behind the last of those changes its slowdown; of the rest the smallest and the largest suffice.
//! That gives the same place, to the last bit, for the cost of a few transactions.

use super::region::{Entry, Region};

/// Working memory of an insertion, kept between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Transactions that the new one may overtake, the tail first.
    behind: Vec<Entry>,
    /// From the head of those on: shared turnaround, smallest and largest slowdown of all up to it.
    shared: Vec<f64>,
    least: Vec<f64>,
    most: Vec<f64>,
}

/// When and for how much a new transaction is placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Unit: picoseconds.
    pub(super) now: u64,
    /// What the head of the region waits for: T_chip_busy of Eq. 5, the slot, the region ahead.
    /// Unit: picoseconds.
    pub(super) first_wait: u64,
    /// The region is cut to so many transactions at the tail.
    pub(super) scan_limit: Option<u32>,
}

/// The place that was found, and what the paper's two passes look at to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) place: usize,
    /// Positions: the whole region, the new one included, and every place that was tried.
    pub(super) scanned: u64,
}

impl Region {
    /// The place for a transaction that would else go to the tail of the region.
    pub(super) fn fairest_place(
        &mut self,
        new: &Entry,
        moment: Moment,
        scratch: &mut Scratch,
    ) -> Found {
        let Moment { now, first_wait, scan_limit } = moment;
        let tail = self.len();
        let others = scan_limit.map_or(tail, |limit| tail.min(limit.max(1) as usize - 1));
        let Scratch { behind, shared, least, most } = scratch;
        behind.clear();
        let stays = |entry: &&Entry| entry.flow != new.flow && !entry.promoted;
        behind.extend(self.iter().rev().take(others).take_while(stays));
        let scanned = (others + 1 + behind.len()) as u64;
        if behind.is_empty() {
            return Found { place: tail, scanned };
        }
        let first = tail - behind.len();
        let (mut low, mut high) = self.extremes(tail - others..first, now + first_wait);
        // First pass: Eq. 5 and the slowdowns, the new transaction at the tail.
        let mut done =
            first_wait + self.cost() - behind.iter().map(|entry| entry.cost).sum::<u64>();
        for list in [&mut *shared, &mut *least, &mut *most] {
            list.clear();
        }
        for entry in behind.iter().rev() {
            done += entry.cost;
            let turnaround = (now - entry.enqueued + done) as f64;
            least.push(low);
            most.push(high);
            shared.push(turnaround);
            let slowdown = turnaround / entry.alone() as f64;
            low = low.min(slowdown);
            high = high.max(slowdown);
        }
        let slowdown = (now - new.enqueued + done + new.cost) as f64 / new.alone() as f64;
        low = low.min(slowdown);
        high = high.max(slowdown);
        // Second pass: from the tail, the new transaction before each of the others.
        let (mut best, mut place) = (low / high, tail);
        let (mut after_low, mut after_high) = (f64::INFINITY, 0.0_f64);
        for (from_tail, entry) in behind.iter().enumerate() {
            let at = behind.len() - 1 - from_tail;
            let moved = (shared[at] + new.cost as f64) / entry.alone() as f64;
            after_low = after_low.min(moved);
            after_high = after_high.max(moved);
            // Where the other one began, the new one begins.
            let own = shared[at] - (now - entry.enqueued) as f64 - entry.cost as f64
                + (now - new.enqueued) as f64
                + new.cost as f64;
            let own = own / new.alone() as f64;
            let fairness = least[at].min(after_low).min(own) / most[at].max(after_high).max(own);
            // Ties stay nearer the tail.
            if fairness > best {
                (best, place) = (fairness, first + at);
            }
        }
        Found { place, scanned }
    }
}
