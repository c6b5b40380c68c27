//! Section 5.3: the place of a new transaction in a region at which the smallest over the largest
//! slowdown is largest.
//!
//! The paper passes over the region twice: once for the slowdown of every transaction, once from
//! the tail on to try every place. Nobody overtakes its own flow or a promoted transaction
//! (Choice), so only what stands behind the last of those changes its slowdown; of the rest the
//! smallest and the largest suffice. What may be overtaken is looked at by blocks: their extremes,
//! before and behind the new transaction, bound the fairness of every place in them, and few blocks
//! have a bound worth a look at each place. That gives the same place, to the last bit, for the
//! cost of a few transactions.

use super::region::{Entry, Extremes, Piece, Region};

/// Working memory of an insertion, kept between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// What the new transaction may overtake, from the head on.
    pieces: Vec<Piece>,
    /// By place in a piece: extremes of those ahead of it.
    ahead: Vec<Extremes>,
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

impl Moment {
    /// How many of the transactions queued are looked at.
    pub(super) fn others(&self, queued: usize) -> usize {
        self.scan_limit.map_or(queued, |limit| queued.min(limit.max(1) as usize - 1))
    }
}

/// The place that was found, and what the paper's two passes look at to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) place: usize,
    /// Positions: the whole region, the new one included, and every place that was tried.
    pub(super) scanned: u64,
}

/// A place and the fairness of the region with the new transaction there.
#[derive(Clone, Copy, Debug)]
struct Best {
    fairness: f64,
    place: usize,
}

impl Best {
    /// Ties stay nearer the tail.
    fn loses_to(self, fairness: f64, place: usize) -> bool {
        fairness > self.fairness || fairness == self.fairness && place > self.place
    }
}

impl Region {
    /// The place for a transaction that would else go to the tail of the region.
    pub(super) fn fairest_place(
        &mut self,
        new: &Entry,
        moment: Moment,
        scratch: &mut Scratch,
    ) -> Found {
        let tail = self.len();
        let others = moment.others(tail);
        let behind = self.passable(new, others);
        let scanned = (others + 1 + behind) as u64;
        if behind == 0 {
            return Found { place: tail, scanned };
        }
        let Scratch { pieces, ahead } = scratch;
        let start = (moment.now + moment.first_wait) as i64;
        let end = start + self.cost() as i64;
        // First pass: Eq. 5 and the slowdowns, the new transaction at the tail.
        let all = self.cut(tail - others, tail - behind, start, new.cost as i64, pieces);
        let mut best = Best { fairness: all.with(new.slowdown(0, end)).fairness(), place: tail };
        // Second pass: from the tail, the new transaction before each of the others.
        let fullest = bound(new, end, pieces);
        self.try_places(new, &pieces[fullest], ahead, &mut best);
        for (index, piece) in pieces.iter().enumerate().rev() {
            let last = piece.position + self.block(piece.block).live().len() - 1;
            if index != fullest && best.loses_to(piece.bound, last) {
                self.try_places(new, piece, ahead, &mut best);
            }
        }
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
            // Where the other one began, the new one begins.
            let own = new.slowdown(work, x);
            let fairness = ahead[at - piece.from].and(after).with(own).fairness();
            let place = piece.position + at;
            if best.loses_to(fairness, place) {
                *best = Best { fairness, place };
            }
        }
    }
}

/// Bounds the fairness of the places in each piece and gives the piece with the largest bound, of
/// equal ones that nearest the tail. `end`: the time now plus the cost of all that is queued.
///
/// Wherever in a piece the new transaction goes, some of the piece are set back and some are not:
/// the least slowed of all is slowed no more than were all set back, the most slowed no less than
/// were none. The new one itself fares between the head and the tail of the piece. Rounding keeps
/// order, so the bound is exact.
fn bound(new: &Entry, end: i64, pieces: &mut [Piece]) -> usize {
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
