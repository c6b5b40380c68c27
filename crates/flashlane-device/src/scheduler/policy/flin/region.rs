//! A region of a queue: its transactions from the head on, in blocks, so that operations on a long
//! region stay cheap.

use flashlane_units::{FlowId, TransactionId};
use std::collections::VecDeque;
use std::ops::Range;

use super::envelope::{Envelope, Point, slowdown};

/// Most transactions of a block.
const BLOCK: usize = 64;

/// Mark of a block that holds promoted transactions; the other bits stand for flows.
const PROMOTED: u64 = 1 << 63;

fn mark(flow: FlowId) -> u64 {
    1 << (flow.get() % 63)
}

/// A queued transaction. Unit of times: picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: TransactionId,
    pub(super) flow: FlowId,
    /// True if the flow was of low intensity when the transaction came. Choice: a change of class
    /// moves nothing.
    pub(super) low: bool,
    /// True if the transaction was moved to the front of its region, for the sake of its flow.
    pub(super) promoted: bool,
    /// Command, transfer and array: T_memory + T_transfer.
    pub(super) cost: u64,
    pub(super) enqueued: u64,
    /// T_wait_alone.
    pub(super) wait_alone: u64,
}

impl Entry {
    /// Response time (Eq. 3) if the flow ran alone.
    pub(super) fn alone(&self) -> u64 {
        (self.cost + self.wait_alone).max(1)
    }

    /// Slowdown (Eq. 3 and 5) behind work of `ahead`. `x`: the time now plus the cost of all work
    /// before that.
    pub(super) fn slowdown(&self, ahead: u64, x: i64) -> f64 {
        slowdown(self.point(ahead), x)
    }

    /// The transaction as a point of the hulls. `ahead`: the work before it in its block.
    fn point(&self, ahead: u64) -> Point {
        let base = (ahead + self.cost) as i64 - self.enqueued as i64;
        Point { alone: self.alone(), base }
    }
}

/// Smallest and largest of some slowdowns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extremes {
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Extremes {
    pub(super) const NONE: Self = Self { least: f64::INFINITY, most: 0.0 };

    /// The extremes of both sets of slowdowns.
    pub(super) fn and(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    /// The extremes with one more slowdown.
    pub(super) fn with(self, slowdown: f64) -> Self {
        self.and(Self { least: slowdown, most: slowdown })
    }

    /// Fairness (Eq. 2).
    pub(super) fn fairness(self) -> f64 {
        self.least / self.most
    }
}

/// How the extremes of a block are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Known {
    /// Not at all: the block has changed since they were last computed.
    #[default]
    Nothing,
    /// The extremes were computed once since then; the next time it pays to build the hulls.
    Asked,
    /// By hulls, which match the transactions of the block.
    Hulls,
}

/// A row of transactions.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    entries: Vec<Entry>,
    /// Index of the first entry that has not left.
    head: usize,
    cost: u64,
    /// Marks of the flows of its transactions, and perhaps of some that have left.
    marks: u64,
    known: Known,
    envelope: Envelope,
}

impl Block {
    pub(super) fn live(&self) -> &[Entry] {
        &self.entries[self.head..]
    }

    /// Marks of the transactions that the block holds now.
    fn marked(&self) -> u64 {
        let promoted = |entry: &Entry| if entry.promoted { PROMOTED } else { 0 };
        self.live().iter().fold(0, |marks, entry| marks | mark(entry.flow) | promoted(entry))
    }

    fn len(&self) -> usize {
        self.entries.len() - self.head
    }

    fn insert(&mut self, at: usize, entry: Entry) {
        self.cost += entry.cost;
        self.marks |= mark(entry.flow) | if entry.promoted { PROMOTED } else { 0 };
        self.known = Known::Nothing;
        if at == 0 && self.head > 0 {
            self.head -= 1;
            self.entries[self.head] = entry;
        } else {
            self.entries.insert(self.head + at, entry);
        }
    }

    fn remove(&mut self, at: usize) -> Entry {
        let entry = self.live()[at];
        self.cost -= entry.cost;
        self.known = Known::Nothing;
        if at == 0 {
            self.head += 1;
            if self.head * 2 > self.entries.len() {
                self.entries.drain(..self.head);
                self.head = 0;
            }
        } else {
            self.entries.remove(self.head + at);
        }
        entry
    }

    /// Moves all entries but the first `keep` to an empty block.
    fn split(&mut self, keep: usize, next: &mut Self) {
        debug_assert!(next.len() == 0 && keep <= self.len(), "it moves to an empty block");
        next.entries.extend(self.entries.drain(self.head + keep..));
        next.cost = next.entries.iter().map(|entry| entry.cost).sum();
        self.cost -= next.cost;
        (self.marks, next.marks) = (self.marked(), next.marked());
        self.known = Known::Nothing;
        next.known = Known::Nothing;
    }

    /// Extremes of the slowdowns of some of its transactions, for each of `xs`: the time now plus
    /// the cost of all work ahead of the block.
    fn extremes<const N: usize>(
        &mut self,
        range: Range<usize>,
        xs: [i64; N],
        points: &mut Vec<Point>,
    ) -> [Extremes; N] {
        if range != (0..self.len()) {
            return of_some(self.live(), range, xs);
        }
        if self.known == Known::Nothing {
            self.known = Known::Asked;
            return of_some(self.live(), range, xs);
        }
        if self.known == Known::Asked {
            self.known = Known::Hulls;
            points.clear();
            let mut ahead = 0;
            for entry in &self.entries[self.head..] {
                points.push(entry.point(ahead));
                ahead += entry.cost;
            }
            self.envelope.build(points);
        }
        xs.map(|x| {
            let (least, most) = self.envelope.extremes(x);
            Extremes { least, most }
        })
    }
}

/// Extremes of the slowdowns of some entries of a block.
fn of_some<const N: usize>(entries: &[Entry], range: Range<usize>, xs: [i64; N]) -> [Extremes; N] {
    let mut ahead: u64 = entries[..range.start].iter().map(|entry| entry.cost).sum();
    let mut found = [Extremes::NONE; N];
    for entry in &entries[range] {
        for (found, &x) in found.iter_mut().zip(&xs) {
            *found = found.with(entry.slowdown(ahead, x));
        }
        ahead += entry.cost;
    }
    found
}

/// A part of a region that a new transaction may overtake: a block from one of its transactions on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) block: usize,
    /// First entry of the part, counted in the block.
    pub(super) from: usize,
    /// Transactions of the region ahead of the block.
    pub(super) position: usize,
    /// The time now plus the cost of all work ahead of the block.
    pub(super) x: i64,
    /// Smallest and largest slowdown among the transactions ahead of the piece.
    pub(super) ahead: Extremes,
    /// Extremes of the piece's transactions if the new one goes behind them.
    pub(super) here: Extremes,
    /// Extremes of the piece's transactions if the new one goes ahead of them.
    pub(super) moved: Extremes,
    /// Extremes among the transactions behind the piece, with the new transaction ahead of them.
    pub(super) after: Extremes,
    /// Upper bound of the fairness of the region for all places in the piece.
    pub(super) bound: f64,
}

/// The region, head first.
#[derive(Clone, Debug, Default)]
pub(super) struct Region {
    blocks: VecDeque<Block>,
    len: usize,
    cost: u64,
    /// Empty blocks for reuse.
    spare: Vec<Block>,
    /// Working memory for hulls.
    points: Vec<Point>,
}

impl Region {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Total cost of its transactions. Unit: picoseconds.
    pub(super) fn cost(&self) -> u64 {
        self.cost
    }

    /// From the head to the tail.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.blocks.iter().flat_map(|block| block.live())
    }

    /// The first transaction for which `wanted` is true.
    pub(super) fn position(&self, wanted: impl Fn(&Entry) -> bool) -> Option<usize> {
        let mut before = 0;
        for block in &self.blocks {
            if let Some(at) = block.live().iter().position(&wanted) {
                return Some(before + at);
            }
            before += block.len();
        }
        None
    }

    pub(super) fn first(&self) -> Option<&Entry> {
        self.blocks.front().and_then(|block| block.live().first())
    }

    /// Inserts a transaction before the one at `at`, or at the tail.
    pub(super) fn insert(&mut self, at: usize, entry: Entry) {
        debug_assert!(at <= self.len, "there is such a place");
        self.len += 1;
        self.cost += entry.cost;
        // Most transactions come close to the tail.
        let (mut index, mut first) = (self.blocks.len(), self.len - 1);
        while index > 0 {
            index -= 1;
            first -= self.blocks[index].len();
            if first <= at {
                break;
            }
        }
        let Some(block) = self.blocks.get(index) else {
            let mut block = self.spare.pop().unwrap_or_default();
            block.insert(0, entry);
            self.blocks.push_back(block);
            return;
        };
        let mut at = at - first;
        if block.len() >= BLOCK {
            let last = index + 1 == self.blocks.len();
            // A full tail stays full; other blocks are cut in half.
            let keep = if last && at == block.len() { at } else { BLOCK / 2 };
            let mut next = self.spare.pop().unwrap_or_default();
            self.blocks[index].split(keep, &mut next);
            self.blocks.insert(index + 1, next);
            if at > keep || keep == BLOCK {
                (index, at) = (index + 1, at - keep);
            }
        }
        self.blocks[index].insert(at, entry);
    }

    /// Removes a transaction.
    pub(super) fn remove(&mut self, at: usize) -> Entry {
        debug_assert!(at < self.len, "there is such a transaction");
        let (mut index, mut at) = (0, at);
        while at >= self.blocks[index].len() {
            at -= self.blocks[index].len();
            index += 1;
        }
        let entry = self.blocks[index].remove(at);
        self.len -= 1;
        self.cost -= entry.cost;
        if self.blocks[index].len() == 0 && self.blocks.len() > 1 {
            let mut empty = self.blocks.remove(index).expect("the block is there");
            (empty.head, empty.marks, empty.known) = (0, 0, Known::Nothing);
            empty.entries.clear();
            self.spare.push(empty);
        }
        entry
    }

    /// Number of transactions that a new one may pass on its way from the tail: up to a transaction
    /// of its own flow, a promoted one, or `limit`.
    pub(super) fn passable(&mut self, new: &Entry, limit: usize) -> usize {
        let wanted = mark(new.flow) | PROMOTED;
        let mut passed = 0;
        for block in self.blocks.iter_mut().rev() {
            if passed >= limit {
                break;
            }
            if block.marks & wanted != 0 {
                let stops = |entry: &Entry| entry.flow == new.flow || entry.promoted;
                if let Some(nearest) = block.live().iter().rposition(stops) {
                    passed += block.len() - 1 - nearest;
                    break;
                }
                block.marks = block.marked();
            }
            passed += block.len();
        }
        passed.min(limit)
    }

    pub(super) fn block(&self, index: usize) -> &Block {
        &self.blocks[index]
    }

    /// Extremes of the slowdowns of the transactions from `start` on. Those from `first` on are cut
    /// into pieces. `x`: the time now plus the cost of all work ahead of the region. `step`: the
    /// delay of the transactions behind the new one.
    pub(super) fn cut(
        &mut self,
        start: usize,
        first: usize,
        x: i64,
        step: i64,
        pieces: &mut Vec<Piece>,
    ) -> Extremes {
        pieces.clear();
        let (mut seen, mut position, mut x) = (Extremes::NONE, 0, x);
        for (index, block) in self.blocks.iter_mut().enumerate() {
            let len = block.len();
            let inside = |at: usize| at.clamp(position, position + len) - position;
            let (start, from) = (inside(start), inside(first));
            if start < from {
                let [stay] = block.extremes(start..from, [x], &mut self.points);
                seen = seen.and(stay);
            }
            if from < len {
                let [here, moved] = block.extremes(from..len, [x, x + step], &mut self.points);
                let after = Extremes::NONE;
                let ahead = seen;
                seen = seen.and(here);
                pieces.push(Piece {
                    block: index,
                    from,
                    position,
                    x,
                    ahead,
                    here,
                    moved,
                    after,
                    bound: f64::INFINITY,
                });
            }
            position += len;
            x += block.cost as i64;
        }
        seen
    }

    /// Checks the sums against the transactions.
    pub(super) fn audit(&self) {
        assert_eq!(self.iter().count(), self.len, "transactions of a region are counted");
        for block in &self.blocks {
            let cost: u64 = block.live().iter().map(|entry| entry.cost).sum();
            assert_eq!(cost, block.cost, "costs of a block sum up");
            assert_eq!(block.marked() & !block.marks, 0, "a block is marked with what it holds");
        }
        let cost: u64 = self.blocks.iter().map(|block| block.cost).sum();
        assert_eq!(cost, self.cost, "costs of a region sum up");
    }
}

#[cfg(test)]
mod tests {
    use flashlane_engine::Rng;

    use super::*;

    fn random(id: u32, rng: &mut Rng) -> Entry {
        Entry {
            id: TransactionId::new(id),
            // One in ten flows is common; flows 63 apart share a mark.
            flow: FlowId::new(
                if rng.below(10) > 0 { rng.below(3) } else { 3 + rng.below(90) } as u16
            ),
            low: false,
            promoted: rng.below(400) == 0,
            cost: 1 + rng.below(900),
            enqueued: 1000 + rng.below(900),
            wait_alone: rng.below(2000),
        }
    }

    #[test]
    fn blocks_hold_what_a_plain_list_holds() {
        let mut rng = Rng::stream(6, "test.flin", 0);
        let (mut region, mut list) = (Region::default(), Vec::new());
        let mut pieces = Vec::new();
        for step in 0..20_000 {
            // Grows to some 2000 and shrinks to nothing, three times.
            let grows = (step / 3334) % 2 == 0;
            if list.is_empty() || rng.below(10) < if grows { 8 } else { 1 } {
                let entry = random(step, &mut rng);
                let near = list.len().min(20) as u64;
                let from_tail = if rng.below(5) == 0 { list.len() as u64 } else { near };
                let at = list.len() - rng.below(from_tail + 1) as usize;
                region.insert(at, entry);
                list.insert(at, entry);
            } else {
                let at = if rng.below(4) > 0 { 0 } else { rng.below(list.len() as u64) as usize };
                assert_eq!(region.remove(at), list.remove(at));
            }
            assert_eq!(region.len(), list.len());
            assert_eq!(region.first(), list.first());
            if step % 7 == 0 {
                let first = rng.below(list.len() as u64 + 1) as usize;
                let start = rng.below(first as u64 + 1) as usize;
                let (x, delay) = (5000 + rng.below(5000) as i64, rng.below(900) as i64);
                let seen = region.cut(start, first, x, delay, &mut pieces);
                assert_eq!([seen], of_some(&list, start..list.len(), [x]), "step {step}");
                let mut next = first;
                for piece in &pieces {
                    assert_eq!(piece.position + piece.from, next, "pieces in a row");
                    next = piece.position + region.block(piece.block).len();
                    let own = piece.position + piece.from..next;
                    assert_eq!([piece.ahead], of_some(&list, start..own.start, [x]));
                    let xs = [x, x + delay];
                    assert_eq!([piece.here, piece.moved], of_some(&list, own, xs));
                }
                assert_eq!(next, list.len());
                let new = random(step, &mut rng);
                let stops = |entry: &&Entry| entry.flow != new.flow && !entry.promoted;
                let passed = list.iter().rev().take(first).take_while(stops).count();
                assert_eq!(region.passable(&new, first), passed);
            }
            if step % 500 == 0 {
                region.audit();
                assert!(region.iter().eq(&list));
                assert!(region.iter().rev().eq(list.iter().rev()));
            }
        }
    }
}
