//! Stage 1: a queue in which low-intensity transactions stand first, and the place of a new one
//! (Algorithm 1, Eq. 3 to 5, section 5.3).

use crate::scheduler::queues::View;

/// How many queued transactions are looked at for partners in a multi-plane command.
const PARTNER_SCAN: usize = 200;

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
    fn alone(&self) -> f64 {
        (self.cost + self.wait_alone).max(1) as f64
    }
}

/// Working memory of an insertion, kept between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Insertion {
    /// Shared turnaround by position, then smallest and largest slowdown up to it.
    shared: Vec<f64>,
    least: Vec<f64>,
    most: Vec<f64>,
}

/// The queue of one unit, operation and level; the head first.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    entries: Vec<Entry>,
    /// Entries before this one have left.
    head: usize,
    /// Low-intensity entries: those at the front.
    low: usize,
    /// Costs of all of them, and of the low ones.
    cost: u64,
    low_cost: u64,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.head
    }

    fn get(&self, at: usize) -> &Entry {
        &self.entries[self.head + at]
    }

    /// True if some transaction of the flow waits.
    pub(super) fn holds(&self, flow: u16) -> bool {
        self.entries[self.head..].iter().any(|entry| entry.flow == flow)
    }

    /// When the head was queued.
    pub(super) fn front_since(&self) -> Option<u64> {
        self.entries.get(self.head).map(|entry| entry.enqueued)
    }

    /// Appends a transaction: without stage 1.
    pub(super) fn push(&mut self, entry: Entry) {
        let entry = Entry { low: false, ..entry };
        self.insert_at(self.len(), entry);
    }

    /// Puts a transaction back in front.
    pub(super) fn put_back(&mut self, entry: Entry) {
        let at = if entry.low { 0 } else { self.low };
        self.insert_at(at, entry);
    }

    fn insert_at(&mut self, at: usize, entry: Entry) {
        self.cost += entry.cost;
        if entry.low {
            self.low += 1;
            self.low_cost += entry.cost;
        }
        self.entries.insert(self.head + at, entry);
    }

    /// Takes a transaction out.
    pub(super) fn remove(&mut self, at: usize) -> Entry {
        let entry = if at == 0 {
            let entry = self.entries[self.head];
            self.head += 1;
            if self.head * 2 > self.entries.len() {
                self.entries.drain(..self.head);
                self.head = 0;
            }
            entry
        } else {
            self.entries.remove(self.head + at)
        };
        self.cost -= entry.cost;
        if entry.low {
            self.low -= 1;
            self.low_cost -= entry.cost;
        }
        entry
    }

    /// Lines 9 to 13: behind the last low-intensity transaction, then to the fairest place among them.
    pub(super) fn insert_low(
        &mut self,
        entry: Entry,
        now: u64,
        first_wait: u64,
        scan_limit: Option<u32>,
        scratch: &mut Insertion,
    ) -> u64 {
        let at = self.low;
        self.insert_at(at, entry);
        let before = self.low_cost;
        self.reorder(0, at, before, now, first_wait, scan_limit, scratch)
    }

    /// Lines 15 and 21: at the tail, then to the fairest place among those of high intensity.
    pub(super) fn insert_high(
        &mut self,
        entry: Entry,
        now: u64,
        first_wait: u64,
        scan_limit: Option<u32>,
        scratch: &mut Insertion,
    ) -> u64 {
        let at = self.len();
        self.insert_at(at, entry);
        let before = self.cost;
        self.reorder(self.low, at, before, now, first_wait, scan_limit, scratch)
    }

    /// Lines 15 and 20: from the tail to the front of the high-intensity transactions. Choice: no
    /// further than its own flow's or another promoted one, which would turn their order round.
    pub(super) fn promote(&mut self, entry: Entry) -> u64 {
        let mut at = self.len();
        while at > self.low {
            let ahead = self.get(at - 1);
            if ahead.flow == entry.flow || ahead.promoted {
                break;
            }
            at -= 1;
        }
        let passed = self.len() - at;
        self.insert_at(at, Entry { promoted: true, ..entry });
        passed as u64 + 1
    }

    /// Section 5.3: moves the transaction at `last` to the place in `first..=last` at which the
    /// smallest over the largest slowdown of the region is largest. `through`: cost of all
    /// transactions up to `last`. Gives the positions looked at.
    #[expect(clippy::too_many_arguments, reason = "the inputs of Eq. 5 and of section 5.3")]
    fn reorder(
        &mut self,
        first: usize,
        last: usize,
        through: u64,
        now: u64,
        first_wait: u64,
        scan_limit: Option<u32>,
        scratch: &mut Insertion,
    ) -> u64 {
        let first = match scan_limit {
            Some(limit) => first.max((last + 1).saturating_sub(limit as usize)),
            None => first,
        };
        let count = last - first + 1;
        if count == 1 {
            return 1;
        }
        let region = &self.entries[self.head + first..=self.head + last];
        let new = region[count - 1];
        let ahead = through - region.iter().map(|entry| entry.cost).sum::<u64>();
        let Insertion { shared, least, most } = scratch;
        for list in [&mut *shared, &mut *least, &mut *most] {
            list.clear();
            list.reserve(count);
        }
        // First pass: Eq. 5 and the slowdowns.
        let (mut done, mut low, mut high) = (first_wait + ahead, f64::INFINITY, 0.0_f64);
        for entry in region {
            done += entry.cost;
            let turnaround = (now - entry.enqueued + done) as f64;
            let slowdown = turnaround / entry.alone();
            low = low.min(slowdown);
            high = high.max(slowdown);
            shared.push(turnaround);
            least.push(low);
            most.push(high);
        }
        // Second pass: from the tail, the new transaction before each of the others.
        let (mut best, mut place) = (low / high, count - 1);
        let (mut after_low, mut after_high) = (f64::INFINITY, 0.0_f64);
        let mut looked = count as u64;
        for at in (0..count - 1).rev() {
            let entry = &region[at];
            // Choice: nobody overtakes its own flow or a promoted transaction.
            if entry.flow == new.flow || entry.promoted {
                break;
            }
            looked += 1;
            let moved = (shared[at] + new.cost as f64) / entry.alone();
            after_low = after_low.min(moved);
            after_high = after_high.max(moved);
            // Where the other one began, the new one begins.
            let own = shared[at] - (now - entry.enqueued) as f64 - entry.cost as f64
                + (now - new.enqueued) as f64
                + new.cost as f64;
            let own = own / new.alone();
            let (before_low, before_high) =
                if at == 0 { (f64::INFINITY, 0.0) } else { (least[at - 1], most[at - 1]) };
            let fairness =
                before_low.min(after_low).min(own) / before_high.max(after_high).max(own);
            // Ties stay nearer the tail.
            if fairness > best {
                (best, place) = (fairness, at);
            }
        }
        if place < count - 1 {
            let from = self.head + first;
            self.entries[from + place..=from + count - 1].rotate_right(1);
        }
        looked
    }

    /// The first transaction that can go: programs leave in the order of their block.
    pub(super) fn first_ready(&self, view: &View<'_>) -> Option<usize> {
        (0..self.len()).find(|&at| view.is_ready(&view.transactions[self.get(at).id]))
    }

    /// The transaction that has waited longest among those that can go, and since when.
    pub(super) fn oldest_ready(&self, view: &View<'_>) -> Option<(usize, u64)> {
        (0..self.len())
            .filter(|&at| view.is_ready(&view.transactions[self.get(at).id]))
            .map(|at| (at, self.get(at).enqueued))
            .min_by_key(|&(_, since)| since)
    }

    /// Adds partners for other planes to the command being formed, in the order of the queue.
    pub(super) fn join(&mut self, view: &mut View<'_>) {
        let mut at = 0;
        while at < self.len().min(PARTNER_SCAN) && (view.batch.len() as u32) < view.planes_per_die {
            let id = self.get(at).id;
            if view.joins(id) {
                view.batch.push(id);
                self.remove(at);
            } else {
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flashlane_engine::Rng;

    use super::*;

    /// A transaction of cost 100, queued at 1000, that would not have waited alone.
    fn entry(id: u32, flow: u16, low: bool) -> Entry {
        Entry { id, flow, low, promoted: false, cost: 100, enqueued: 1000, wait_alone: 0 }
    }

    fn ids(queue: &Queue) -> Vec<u32> {
        (0..queue.len()).map(|at| queue.get(at).id).collect()
    }

    fn add(queue: &mut Queue, entry: Entry, first_wait: u64) -> u64 {
        let mut scratch = Insertion::default();
        let insert = if entry.low { Queue::insert_low } else { Queue::insert_high };
        insert(queue, entry, 1000, first_wait, None, &mut scratch)
    }

    #[test]
    fn low_intensity_goes_before_high_intensity() {
        // Fig. 9a.
        let mut queue = Queue::default();
        add(&mut queue, entry(1, 1, true), 0);
        add(&mut queue, entry(2, 2, false), 0);
        add(&mut queue, entry(3, 2, false), 0);
        add(&mut queue, entry(4, 3, true), 0);
        // Behind the first, two slowdowns of 1 and 2; before it the same two: it stays.
        assert_eq!(ids(&queue), [1, 4, 2, 3]);
    }

    #[test]
    fn the_place_makes_slowdowns_alike() {
        // Fig. 9b. The first would have waited 300 alone: behind it the slowdowns are 100/400 and 200/100,
        // the other way round 200/400 and 100/100.
        let mut queue = Queue::default();
        add(&mut queue, Entry { wait_alone: 300, ..entry(1, 1, true) }, 0);
        add(&mut queue, entry(2, 2, true), 0);
        assert_eq!(ids(&queue), [2, 1]);
        // The chip is busy for 10 000: everybody waits long, and the new one suffers most of it.
        let mut queue = Queue::default();
        add(&mut queue, Entry { wait_alone: 9_900, ..entry(1, 1, true) }, 10_000);
        add(&mut queue, entry(2, 2, true), 10_000);
        assert_eq!(ids(&queue), [2, 1]);
    }

    #[test]
    fn the_high_intensity_region_is_put_in_order_on_its_own() {
        // Fig. 9c: the low-intensity transaction would be overtaken, but is in another region.
        let mut queue = Queue::default();
        add(&mut queue, Entry { wait_alone: 900, ..entry(1, 1, true) }, 0);
        add(&mut queue, Entry { wait_alone: 900, ..entry(2, 2, false) }, 0);
        add(&mut queue, entry(3, 3, false), 0);
        assert_eq!(ids(&queue), [1, 3, 2]);
    }

    #[test]
    fn nobody_overtakes_its_own_flow_or_a_promoted_transaction() {
        let mut queue = Queue::default();
        add(&mut queue, Entry { wait_alone: 900, ..entry(1, 1, false) }, 0);
        add(&mut queue, Entry { wait_alone: 900, ..entry(2, 2, false) }, 0);
        add(&mut queue, Entry { wait_alone: 900, ..entry(3, 1, false) }, 0);
        add(&mut queue, entry(4, 2, false), 0);
        assert_eq!(ids(&queue), [1, 2, 4, 3], "before flow 1's second, behind its own first");
        queue.promote(entry(5, 3, false));
        assert_eq!(ids(&queue), [5, 1, 2, 4, 3], "line 20");
        queue.promote(entry(6, 2, false));
        assert_eq!(ids(&queue), [5, 1, 2, 4, 6, 3], "its own flow's fourth stops it");
        queue.promote(entry(7, 4, false));
        assert_eq!(ids(&queue), [5, 1, 2, 4, 6, 7, 3], "promoted ones keep their order");
        add(&mut queue, entry(8, 5, true), 0);
        queue.promote(entry(9, 5, false));
        assert_eq!(queue.get(0).id, 8, "low intensity stays in front");
    }

    /// Fairness of a region in some order, by Eq. 3 and 5.
    fn fairness(order: &[Entry], now: u64, first_wait: u64) -> f64 {
        let mut done = first_wait;
        let slowdowns: Vec<f64> = order
            .iter()
            .map(|entry| {
                done += entry.cost;
                (now - entry.enqueued + done) as f64 / entry.alone()
            })
            .collect();
        let least = slowdowns.iter().copied().fold(f64::INFINITY, f64::min);
        least / slowdowns.iter().copied().fold(0.0, f64::max)
    }

    #[test]
    fn two_passes_find_what_trying_every_place_finds() {
        let mut rng = Rng::stream(3, "test.flin", 0);
        let mut moved = 0;
        for _ in 0..2000 {
            let count = 2 + rng.below(9) as usize;
            let entries: Vec<Entry> = (0..count as u32)
                .map(|id| Entry {
                    flow: rng.below(4) as u16,
                    cost: 1 + rng.below(900),
                    enqueued: 1000 - rng.below(900),
                    wait_alone: rng.below(2000),
                    ..entry(id, 0, false)
                })
                .collect();
            let first_wait = rng.below(500);
            let mut queue = Queue::default();
            entries[..count - 1].iter().for_each(|&entry| queue.push(entry));
            let new = entries[count - 1];
            let mut scratch = Insertion::default();
            queue.insert_high(new, 1000, first_wait, None, &mut scratch);
            let own = entries[..count - 1].iter().rposition(|entry| entry.flow == new.flow);
            let lowest = own.map_or(0, |at| at + 1);
            let with = |place: usize| {
                let mut order = entries[..count - 1].to_vec();
                order.insert(place, new);
                order
            };
            let value = |place: usize| fairness(&with(place), 1000, first_wait);
            let best = (lowest..count).map(value).fold(0.0, f64::max);
            let place = ids(&queue).iter().position(|&id| id == new.id).expect("it is queued");
            assert!(place >= lowest, "own order is kept");
            assert!((value(place) / best - 1.0).abs() < 1e-9, "{} of {best}", value(place));
            moved += usize::from(place < count - 1);
        }
        assert!(moved > 400, "{moved} of 2000 moved");
    }

    #[test]
    fn a_limit_bounds_what_is_looked_at() {
        let mut queue = Queue::default();
        for id in 0..100 {
            queue.push(Entry { wait_alone: 90_000, ..entry(id, 1, false) });
        }
        let mut scratch = Insertion::default();
        let new = entry(100, 2, false);
        let mut unlimited = queue.clone();
        assert!(unlimited.insert_high(new, 1000, 0, None, &mut scratch) >= 101);
        let looked = queue.insert_high(new, 1000, 0, Some(8), &mut scratch);
        assert!(looked <= 16, "{looked}");
        let place = |queue: &Queue| ids(queue).iter().position(|&id| id == 100);
        assert!(place(&unlimited) < place(&queue));
        assert_eq!(place(&queue), Some(93));
    }

    #[test]
    fn sums_follow_what_leaves() {
        let mut queue = Queue::default();
        for id in 0..50 {
            add(&mut queue, entry(id, (id % 3) as u16, id % 2 == 0), 0);
        }
        let mut rng = Rng::stream(4, "test.flin", 0);
        while queue.len() > 0 {
            let before = queue.clone();
            let left = queue.remove(rng.below(queue.len() as u64) as usize);
            assert_eq!(queue.cost, before.cost - left.cost);
            assert_eq!(queue.low, before.low - usize::from(left.low));
            let low: u64 =
                (0..queue.len()).map(|i| queue.get(i)).filter(|e| e.low).map(|e| e.cost).sum();
            assert_eq!(queue.low_cost, low);
            let tags: Vec<bool> = (0..queue.len()).map(|i| queue.get(i).low).collect();
            assert!(tags.is_sorted_by(|a, b| a >= b), "low intensity in front");
        }
    }
}
