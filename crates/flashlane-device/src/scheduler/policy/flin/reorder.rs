//! Section 5.3: finds the place of a new transaction in a region at which the ratio of the smallest
//! to the largest slowdown is largest.
//!
//! The paper passes over the region twice: first for the slowdown of every transaction, then from
//! the tail on to try every place. No transaction overtakes its own flow or a promoted transaction
//! (Choice). Therefore only the slowdowns behind the last such transaction change; of the others
//! the smallest and the largest suffice.
//!
//! The part that may be overtaken is searched by blocks. The extremes of a block, before and behind
//! the new transaction, bound the fairness of every place in it, and few blocks have a bound that
//! makes a look at each place worthwhile. The result is the same place as the paper's, to the last
//! bit, for the cost of a few transactions.

use super::region::{Entry, Extremes, Piece, Region};

/// Working memory of an insertion, kept for the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// The pieces that the new transaction may overtake, from the head on.
    pieces: Vec<Piece>,
    /// By place in a piece: the extremes of the transactions ahead of that place.
    ahead: Vec<Extremes>,
}

/// When a new transaction is placed, and how long the region waits already.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Unit: picoseconds.
    pub(super) now: u64,
    /// Wait of the head of the region: T_chip_busy of Eq. 5, the slot, the region ahead. Unit:
    /// picoseconds.
    pub(super) first_wait: u64,
    /// Only this many transactions at the tail are looked at; `None` for all.
    pub(super) scan_limit: Option<u32>,
}

impl Moment {
    /// Number of queued transactions that are looked at.
    pub(super) fn others(&self, queued: usize) -> usize {
        self.scan_limit.map_or(queued, |limit| queued.min(limit.max(1) as usize - 1))
    }
}

/// The place that was found, and the work of the paper's two passes to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) place: usize,
    /// Positions looked at: the whole region with the new transaction, and every place that was
    /// tried.
    pub(super) scanned: u64,
}

/// A place and the fairness of the region with the new transaction there.
#[derive(Clone, Copy, Debug)]
struct Best {
    fairness: f64,
    place: usize,
}

impl Best {
    /// True if another place is better; ties stay nearer the tail.
    fn loses_to(self, fairness: f64, place: usize) -> bool {
        fairness > self.fairness || fairness == self.fairness && place > self.place
    }
}

impl Region {
    /// Finds the place for a transaction that would otherwise go to the tail of the region.
    pub(super) fn fairest_place(
        &mut self,
        new: &Entry,
        moment: Moment,
        scratch: &mut Scratch,
    ) -> Found {
        let tail = self.len();
        let others = moment.others(tail);
        let behind = self.passable(new, others);
        debug_assert!(behind <= others && others <= tail, "it passes only what is looked at");
        let scanned = (others + 1 + behind) as u64;
        if behind == 0 {
            return Found { place: tail, scanned };
        }
        let Scratch { pieces, ahead } = scratch;
        let start = (moment.now + moment.first_wait) as i64;
        let end = start + self.cost() as i64;
        // First pass: Eq. 5 and the slowdowns, with the new transaction at the tail.
        let all = self.cut(tail - others, tail - behind, start, new.cost as i64, pieces);
        let mut best = Best { fairness: all.with(new.slowdown(0, end)).fairness(), place: tail };
        // Second pass: from the tail on, the new transaction before each of the others.
        let fullest = bound(new, end, pieces);
        self.try_places(new, &pieces[fullest], ahead, &mut best);
        for (index, piece) in pieces.iter().enumerate().rev() {
            let last = piece.position + self.block(piece.block).live().len() - 1;
            if index != fullest && best.loses_to(piece.bound, last) {
                self.try_places(new, piece, ahead, &mut best);
            }
        }
        debug_assert!((tail - behind..=tail).contains(&best.place), "it passes no one it may not");
        Found { place: best.place, scanned }
    }

    /// Tries every place of a piece, from the tail on.
    fn try_places(&self, new: &Entry, piece: &Piece, ahead: &mut Vec<Extremes>, best: &mut Best) {
        let (entries, x) = (self.block(piece.block).live(), piece.x);
        let mut work: u64 = entries[..piece.from].iter().map(|entry| entry.cost).sum();
        let mut seen = piece.ahead;
        ahead.clear();
        for entry in &entries[piece.from..] {
            ahead.push(seen);
            seen = seen.with(entry.slowdown(work, x));
            work += entry.cost;
        }
        let mut after = piece.after;
        for (at, entry) in entries.iter().enumerate().skip(piece.from).rev() {
            work -= entry.cost;
            after = after.with(entry.slowdown(work, x + new.cost as i64));
            // The new transaction begins where the other one began.
            let own = new.slowdown(work, x);
            let fairness = ahead[at - piece.from].and(after).with(own).fairness();
            let place = piece.position + at;
            if best.loses_to(fairness, place) {
                *best = Best { fairness, place };
            }
        }
    }
}

/// Bounds the fairness of the places in each piece. Returns the piece with the largest bound; of
/// equal ones the piece nearest the tail. `end`: the time now plus the cost of all that is queued.
///
/// Some transactions of a piece are delayed by the new transaction, and some are not. The smallest
/// slowdown is at most the one if all were delayed; the largest slowdown is at least the one if
/// none were. The slowdown of the new transaction lies between those at the head and at the tail of
/// the piece. Rounding keeps order, so the bound is exact.
fn bound(new: &Entry, end: i64, pieces: &mut [Piece]) -> usize {
    assert!(!pieces.is_empty(), "there is a place to look at");
    let (mut after, mut end, mut found) = (Extremes::NONE, end, pieces.len() - 1);
    let mut largest = 0.0;
    for (index, piece) in pieces.iter_mut().enumerate().rev() {
        piece.after = after;
        let around = piece.ahead.and(after);
        let least = around.least.min(piece.moved.least).min(new.slowdown(0, end));
        let most = around.most.max(piece.here.most).max(new.slowdown(0, piece.x));
        piece.bound = least / most;
        if piece.bound > largest {
            (largest, found) = (piece.bound, index);
        }
        after = after.and(piece.moved);
        end = piece.x;
    }
    found
}
