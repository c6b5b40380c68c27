//! Stage 1, fairness-aware queue insertion: Algorithm 1 from line 7 on.

use flashlane_engine::Time;
use flashlane_units::{DieId, FlowId, Span, TransactionId};

use super::region::Entry;
use super::reorder::Moment;
use super::{Flin, Times, side};
use crate::scheduler::view::View;

impl Flin {
    /// Puts a new transaction of a host request into its queue.
    pub(super) fn insert(&mut self, die: DieId, id: TransactionId, view: &View<'_>) {
        let now = view.now.0;
        let tr = &view.transactions[id];
        let (op, flow, level) = (side(tr.op), tr.flow, self.level(tr.class));
        self.end_epochs(view.now);
        self.intensity.count(die.get(), op, flow, view.page_bytes());
        let cost = view.cost(tr);
        debug_assert!(cost > 0, "a page costs time");
        let wait_alone = self.wait_alone(die, op, flow, now, cost);
        self.note_arrival(id, Times { enqueued: now, dispatched: 0, cost, wait_alone });
        // Line 9.
        let low = self.intensity.is_low(die.get(), op, flow);
        let entry = Entry { id, flow, low, promoted: false, cost, enqueued: now, wait_alone };
        if self.insertion {
            let worst = !low && self.is_treated_worst(die, op, level, flow);
            let first_wait = self.first_wait(die, op, level, view);
            let moment = Moment { now, first_wait, scan_limit: self.config.scan_limit };
            let queue = &mut self.units[die].queues[op][level];
            let scanned = if low {
                queue.insert_low(entry, moment, &mut self.scratch)
            } else if worst {
                self.overhead.promotions += 1;
                queue.promote(entry, moment)
            } else {
                queue.insert_high(entry, moment, &mut self.scratch)
            };
            self.overhead.inserted(scanned);
        } else {
            self.units[die].queues[op][level].push(entry);
        }
        self.stir(die, op, level);
        let lane = self.lane(die, op, flow);
        lane.queued += 1;
        lane.level = level;
    }

    /// Notes that a transaction came to a queue.
    fn stir(&mut self, die: DieId, op: usize, level: usize) {
        let unit = &mut self.units[die];
        unit.note_length(op, level);
        unit.stirred[op] = true;
    }

    /// Ends epochs of intensity (section 5.1).
    pub(super) fn end_epochs(&mut self, now: Time) {
        for rise in self.intensity.roll(now) {
            // Departures before the flow became of high intensity do not count.
            for unit in self.units.numbers() {
                if rise.unit.is_none_or(|only| only == unit) {
                    let lane = self.lane(unit, rise.op, rise.flow);
                    (lane.slowdowns, lane.departed) = (0.0, 0);
                }
            }
        }
    }

    /// Lines 12 and 17, Eq. 4. An estimate in the past means no wait.
    fn wait_alone(&mut self, die: DieId, op: usize, flow: FlowId, now: u64, cost: u64) -> u64 {
        let lane = self.lane(die, op, flow);
        debug_assert!(lane.queued <= lane.unfinished, "what is queued is not finished");
        let wait = if lane.unfinished > 0 { lane.alone_until.saturating_sub(now) } else { 0 };
        lane.unfinished += 1;
        lane.alone_until = now + cost + wait;
        wait
    }

    /// Wait of the head of a queue: the rest of the running operation (T_chip_busy of Eq. 5) and
    /// the slot. Choice: Eq. 5 counts transactions of the same class and operation, and the slot.
    fn first_wait(&self, die: DieId, op: usize, level: usize, view: &View<'_>) -> u64 {
        let slot = self.units[die].slots[op];
        let in_slot = slot.filter(|entry| self.level(view.transactions[entry.id].class) == level);
        view.service_left(die) + in_slot.map_or(0, |entry| entry.cost)
    }

    /// Lines 18 and 19: true if the departed transactions of the high-intensity flows in the queue
    /// were treated too differently, and those of this flow worst. Choice: a flow without
    /// departures does not count, and a single flow counts as treated fairly.
    fn is_treated_worst(&self, die: DieId, op: usize, level: usize, flow: FlowId) -> bool {
        let (mut least, mut most, mut worst) = (f64::INFINITY, 0.0, FlowId::NONE);
        let mut seen = 0;
        for candidate in (0..self.flows).map(FlowId::at) {
            let lane = self.lanes[self.lane_at(die, op, candidate)];
            let here = lane.queued > 0 && lane.level == level || candidate == flow;
            if !here || lane.departed == 0 || self.intensity.is_low(die.get(), op, candidate) {
                continue;
            }
            let slowdown = lane.slowdowns / lane.departed as f64;
            seen += 1;
            least = slowdown.min(least);
            if slowdown > most {
                (most, worst) = (slowdown, candidate);
            }
        }
        debug_assert!(seen == 0 || least <= most, "the least slowdown is no larger than the most");
        seen >= 2 && least / most < self.config.fairness_threshold && worst == flow
    }

    /// Takes a transaction out of its queue.
    pub(super) fn unqueue(&mut self, die: DieId, op: usize, level: usize, at: usize) -> Entry {
        let unit = &mut self.units[die];
        let entry = unit.queues[op][level].remove(at);
        debug_assert!(unit.filled[op] >> level & 1 != 0, "a level with a transaction is known");
        unit.note_length(op, level);
        self.lane(die, op, entry.flow).queued -= 1;
        entry
    }

    /// With an age limit: moves a transaction that has waited longer into its slot and sends it.
    /// Checked only now and then.
    pub(super) fn serve_oldest(&mut self, die: DieId, limit: Span, view: &mut View<'_>) -> bool {
        let unit = &mut self.units[die];
        if view.now < unit.watch {
            return false;
        }
        unit.watch = view.now + Time(limit.0 / 8);
        let in_slots = (0..2).filter_map(|op| Some((unit.slots[op]?.enqueued, op, None)));
        let (unit, seen) = (&*unit, &*view);
        let in_queues = (0..2).filter(|&op| unit.stirred[op]).flat_map(|op| {
            unit.filled(op).filter_map(move |(level, queue)| {
                let (at, since) = queue.oldest_ready(seen)?;
                Some((since, op, Some((level, at))))
            })
        });
        let Some((since, op, queued)) = in_slots.chain(in_queues).min() else { return false };
        if view.now.0 - since <= limit.0 {
            return false;
        }
        if let Some((level, at)) = queued {
            self.replace(die, op, (level, at), view);
        }
        self.dispatch(die, op, view)
    }

    /// Moves a transaction of a queue into its slot. A transaction that was in the slot goes
    /// back to the front of its queue. `place`: level and place in the queue.
    pub(super) fn replace(
        &mut self,
        die: DieId,
        op: usize,
        place: (usize, usize),
        view: &View<'_>,
    ) {
        let entry = self.unqueue(die, op, place.0, place.1);
        if let Some(displaced) = self.units[die].slots[op].replace(entry) {
            let level = self.level(view.transactions[displaced.id].class);
            self.units[die].queues[op][level].put_back(displaced);
            self.stir(die, op, level);
            self.lane(die, op, displaced.flow).queued += 1;
        }
    }
}
