//! A region of a queue: its transactions from the head on, kept in blocks so that a long one costs little.

use std::collections::VecDeque;

use super::envelope::{Envelope, Point, slowdown};

/// Transactions of a block at most.
const BLOCK: usize = 128;

/// A queued transaction. Unit of times: picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: u32,
    pub(super) flow: u16,
    /// Its flow was of low intensity when it came. Choice: a change of class moves nothing.
    pub(super) low: bool,
    /// It was moved to the front of its region for its flow's sake.
    pub(super) promoted: bool,
    /// Command, transfer and array: T_memory + T_transfer.
    pub(super) cost: u64,
    pub(super) enqueued: u64,
    /// T_wait_alone.
    pub(super) wait_alone: u64,
}

impl Entry {
    /// Eq. 3 for the flow alone.
    pub(super) fn alone(&self) -> u64 {
        (self.cost + self.wait_alone).max(1)
    }

    /// The transaction behind work of `ahead`, counted from the start of its block.
    fn point(&self, ahead: u64) -> Point {
        let base = (ahead + self.cost) as i64 - self.enqueued as i64;
        Point { alone: self.alone(), base }
    }
}

/// What is known of the extremes of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Known {
    /// It changed since they were asked for.
    #[default]
    Nothing,
    /// They were asked for once: the next time it pays to build the hulls.
    Asked,
    /// The hulls are those of its transactions.
    Hulls,
}

/// Some transactions in a row.
#[derive(Clone, Debug, Default)]
struct Block {
    entries: Vec<Entry>,
    /// Entries before this one have left.
    head: usize,
    cost: u64,
    known: Known,
    envelope: Envelope,
}

impl Block {
    fn live(&self) -> &[Entry] {
        &self.entries[self.head..]
    }

    fn len(&self) -> usize {
        self.entries.len() - self.head
    }

    fn insert(&mut self, at: usize, entry: Entry) {
        self.cost += entry.cost;
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

    /// Moves all but the first `keep` entries to an empty block.
    fn split(&mut self, keep: usize, next: &mut Self) {
        next.entries.extend(self.entries.drain(self.head + keep..));
        next.cost = next.entries.iter().map(|entry| entry.cost).sum();
        self.cost -= next.cost;
        self.known = Known::Nothing;
        next.known = Known::Nothing;
    }

    /// Smallest and largest slowdown, `x` being the time now plus the cost of what is ahead.
    fn extremes(&mut self, x: i64, points: &mut Vec<Point>) -> (f64, f64) {
        match self.known {
            Known::Hulls => return self.envelope.extremes(x),
            Known::Nothing => {
                self.known = Known::Asked;
                return of_some(self.live(), 0..self.len(), x);
            }
            Known::Asked => {}
        }
        self.known = Known::Hulls;
        points.clear();
        let mut ahead = 0;
        for entry in &self.entries[self.head..] {
            points.push(entry.point(ahead));
            ahead += entry.cost;
        }
        self.envelope.build(points);
        self.envelope.extremes(x)
    }
}

/// Smallest and largest slowdown of some entries of a block.
fn of_some(entries: &[Entry], range: std::ops::Range<usize>, x: i64) -> (f64, f64) {
    let (mut least, mut most, mut ahead) = (f64::INFINITY, 0.0_f64, 0);
    for (at, entry) in entries[..range.end].iter().enumerate() {
        if at >= range.start {
            let slowdown = slowdown(entry.point(ahead), x);
            least = least.min(slowdown);
            most = most.max(slowdown);
        }
        ahead += entry.cost;
    }
    (least, most)
}

/// The region; the head first.
#[derive(Clone, Debug, Default)]
pub(super) struct Region {
    blocks: VecDeque<Block>,
    len: usize,
    cost: u64,
    /// Empty blocks for later use.
    spare: Vec<Block>,
    /// Working memory for hulls.
    points: Vec<Point>,
}

impl Region {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Cost of all its transactions. Unit: picoseconds.
    pub(super) fn cost(&self) -> u64 {
        self.cost
    }

    /// From the head to the tail.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.blocks.iter().flat_map(|block| block.live())
    }

    pub(super) fn first(&self) -> Option<&Entry> {
        self.blocks.front().and_then(|block| block.live().first())
    }

    /// Puts a transaction before the one at `at`, or to the tail.
    pub(super) fn insert(&mut self, at: usize, entry: Entry) {
        debug_assert!(at <= self.len, "there is such a place");
        self.len += 1;
        self.cost += entry.cost;
        // Most come close to the tail.
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

    /// Takes a transaction out.
    pub(super) fn remove(&mut self, at: usize) -> Entry {
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
            (empty.head, empty.known) = (0, Known::Nothing);
            empty.entries.clear();
            self.spare.push(empty);
        }
        entry
    }

    /// Smallest and largest slowdown (Eq. 3 and 5) of the transactions in `range`, with `x` the time now
    /// plus the cost of what is ahead of the region.
    pub(super) fn extremes(&mut self, range: std::ops::Range<usize>, x: u64) -> (f64, f64) {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        let (mut first, mut x) = (0, x as i64);
        for block in &mut self.blocks {
            if first >= range.end {
                break;
            }
            let (start, end) = (range.start.max(first) - first, range.end - first);
            let len = block.len();
            if start < len {
                let (low, high) = if start == 0 && end >= len {
                    block.extremes(x, &mut self.points)
                } else {
                    of_some(block.live(), start..end.min(len), x)
                };
                least = least.min(low);
                most = most.max(high);
            }
            first += len;
            x += block.cost as i64;
        }
        (least, most)
    }

    /// The sums are those of the transactions.
    pub(super) fn audit(&self) {
        assert_eq!(self.iter().count(), self.len, "transactions of a region are counted");
        for block in &self.blocks {
            let cost: u64 = block.live().iter().map(|entry| entry.cost).sum();
            assert_eq!(cost, block.cost, "costs of a block sum up");
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
            id,
            flow: rng.below(4) as u16,
            low: false,
            promoted: false,
            cost: 1 + rng.below(900),
            enqueued: 1000 + rng.below(900),
            wait_alone: rng.below(2000),
        }
    }

    #[test]
    fn blocks_hold_what_a_plain_list_holds() {
        let mut rng = Rng::stream(6, "test.flin", 0);
        let (mut region, mut list) = (Region::default(), Vec::new());
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
                let end = rng.below(list.len() as u64 + 1) as usize;
                let start = if rng.below(2) == 0 { 0 } else { rng.below(end as u64 + 1) as usize };
                let x = 5000 + rng.below(5000);
                let plain = of_some(&list, start..end, x as i64);
                assert_eq!(region.extremes(start..end, x), plain, "step {step}");
            }
            if step % 500 == 0 {
                region.audit();
                assert!(region.iter().eq(&list));
                assert!(region.iter().rev().eq(list.iter().rev()));
            }
        }
    }
}
