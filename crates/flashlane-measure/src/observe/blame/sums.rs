//! Sums over many pieces of a log, so that a long wait need not look at every piece.
//!
//! A sum covers a fixed number of pieces, or four smaller sums. A wait over `n` pieces therefore
//! looks at about `log n` sums. Charges are listed in the order in which a walk over all pieces
//! would first meet their cells, because times that are divided later are rounded in that order.

use std::collections::VecDeque;

use super::weights::Weights;

/// Pieces of a smallest sum.
pub(super) const LEAF: u64 = 16;

/// Sums that the next larger sum covers.
const FANOUT: u64 = 4;

/// A time charged to a cell, for one piece or for many. Unit of times: picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Charge {
    pub(super) cell: u32,
    pub(super) ps: u64,
    /// Start of the first piece with this charge.
    pub(super) since: u64,
}

/// The charges of some pieces, with each cell once.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub(super) charges: Vec<Charge>,
}

impl Sum {
    /// The total of several sums.
    fn of<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        let mut whole = Self::default();
        for part in parts {
            whole.charges.extend_from_slice(&part.charges);
        }
        join(&mut whole.charges);
        whole
    }
}

/// The total of two charges to one cell.
fn earlier_first(a: Charge, b: Charge) -> Charge {
    let first = if a.since <= b.since { a } else { b };
    Charge { ps: a.ps + b.ps, ..first }
}

/// Merges charges to the same cell. Charges of no time are left out, as in [`Weights`].
fn join(charges: &mut Vec<Charge>) {
    charges.retain(|charge| charge.ps > 0);
    charges.sort_unstable_by_key(|charge| (charge.cell, charge.since));
    charges.dedup_by(|later, kept| {
        let same = later.cell == kept.cell;
        if same {
            kept.ps += later.ps;
        }
        same
    });
}

/// Sums that cover equal numbers of pieces.
#[derive(Clone, Debug, Default)]
struct Level {
    /// Number of the first sum that is kept. Sum `n` covers the pieces from `n` times the size of a
    /// sum on.
    first: u64,
    sums: VecDeque<Sum>,
}

impl Level {
    /// Number of the next sum to be made.
    fn next(&self) -> u64 {
        self.first + self.sums.len() as u64
    }

    fn get(&self, number: u64) -> Option<&Sum> {
        self.sums.get(number.checked_sub(self.first)? as usize)
    }
}

/// The sums over the numbered pieces of a log, smallest sums first.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    levels: Vec<Level>,
}

impl Sums {
    /// The first piece that the next sum covers.
    pub(super) fn next(&self) -> u64 {
        self.levels.first().map_or(0, Level::next) * LEAF
    }

    /// Adds the charges of the next [`LEAF`] pieces.
    pub(super) fn push(&mut self, mut leaf: Sum) {
        join(&mut leaf.charges);
        let mut made = leaf;
        for at in 0.. {
            if at == self.levels.len() {
                let first = self.levels.last().map_or(0, |below| (below.next() - 1) / FANOUT);
                self.levels.push(Level { first, sums: VecDeque::new() });
            }
            self.levels[at].sums.push_back(made);
            let level = &self.levels[at];
            let parts =
                level.next().checked_sub(FANOUT).filter(|_| level.next().is_multiple_of(FANOUT));
            let Some(parts) = parts.filter(|&parts| parts >= level.first) else { return };
            let skipped = (parts - level.first) as usize;
            made = Sum::of(level.sums.range(skipped..));
            let above = self.levels.get(at + 1).map(Level::next);
            assert!(above.is_none_or(|next| next == parts / FANOUT), "no sum is left out");
        }
    }

    /// The largest sum that begins with piece `from` and ends before piece `to`: its level, its
    /// number, and the number of pieces that it covers.
    pub(super) fn largest(&self, from: u64, to: u64) -> Option<(usize, u64, u64)> {
        let mut size = LEAF;
        let mut found = None;
        for (at, level) in self.levels.iter().enumerate() {
            let number = from / size;
            if !from.is_multiple_of(size) || from + size > to || level.get(number).is_none() {
                break;
            }
            found = Some((at, number, size));
            size *= FANOUT;
        }
        found
    }

    /// A sum.
    pub(super) fn get(&self, level: usize, number: u64) -> &Sum {
        self.levels[level].get(number).expect("a sum is kept as long as its pieces")
    }

    /// Forgets sums over pieces before `first`.
    pub(super) fn trim(&mut self, first: u64) {
        let mut size = LEAF;
        for level in &mut self.levels {
            let kept = first.div_ceil(size);
            let forgotten = kept.saturating_sub(level.first).min(level.sums.len() as u64);
            level.sums.drain(..forgotten as usize);
            level.first = level.first.max(kept);
            size *= FANOUT;
        }
        if self.levels.is_empty() && first > 0 {
            self.levels.push(Level { first: first.div_ceil(LEAF), sums: VecDeque::new() });
        }
    }
}

/// The charges of one wait, in any order.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// Position in the list by cell, plus one; 0 for none.
    place: Vec<u32>,
    list: Vec<Charge>,
    /// Number of charges added so far.
    pub(super) steps: u64,
}

impl Tally {
    /// A tally without charges.
    pub(super) fn new(cells: usize) -> Self {
        Self { place: vec![0; cells], list: Vec::new(), steps: 0 }
    }

    /// Adds a charge.
    pub(super) fn add(&mut self, charge: Charge) {
        self.steps += 1;
        if charge.ps == 0 {
            return;
        }
        let place = &mut self.place[charge.cell as usize];
        if *place == 0 {
            self.list.push(charge);
            *place = self.list.len() as u32;
        } else {
            let sum = &mut self.list[*place as usize - 1];
            *sum = earlier_first(*sum, charge);
        }
    }

    /// Hands all charges over in the order of time, and clears them.
    pub(super) fn hand_over(&mut self, to: &mut Weights) {
        self.list.sort_unstable_by_key(|charge| charge.since);
        for charge in self.list.drain(..) {
            self.place[charge.cell as usize] = 0;
            to.add(charge.cell, charge.ps);
        }
    }
}
