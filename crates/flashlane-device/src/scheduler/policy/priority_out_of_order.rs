//! Priority out of order: MQSim's scheduler with the four NVMe classes.

use flashlane_engine::Time;
use flashlane_units::{ChipId, DieId, PolicyDoc, TransactionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SchedulingPolicy;
use super::rotation::{ChipLook, Rotation};
use crate::collection_order::{CollectionOrder, Presses, Reads, Steps};
use crate::layout::Geometry;
use crate::scheduler::queues::{Kind, Queues};
use crate::scheduler::view::View;
use crate::transaction::Transaction;

/// Weights of the classes below `urgent`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PriorityOutOfOrderConfig {
    /// Weight of `high`. Range: 1..=256.
    pub high: u32,
    /// Weight of `medium`. Range: 1..=256.
    pub medium: u32,
    /// Weight of `low`. Range: 1..=256.
    pub low: u32,
}

impl Default for PriorityOutOfOrderConfig {
    fn default() -> Self {
        Self { high: 4, medium: 2, low: 1 }
    }
}

impl PolicyDoc for PriorityOutOfOrderConfig {
    const SUMMARY: &'static str =
        "out-of-order with NVMe classes: urgent first, the others by work-conserving weights";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3";
}

/// Weighted round robin over the classes below urgent, for one die and one operation. Work
/// conserving: a class without work gives its turn away.
#[derive(Clone, Copy, Debug)]
struct Turn {
    credits: [u32; 3],
}

impl Turn {
    /// The next class among those that have work; does not take the turn.
    fn class(&self, waiting: impl Fn(u8) -> bool) -> Option<u8> {
        if waiting(0) {
            return Some(0);
        }
        let with_credit = (1..4).find(|&c| self.credits[c as usize - 1] > 0 && waiting(c));
        with_credit.or_else(|| (1..4).find(|&c| waiting(c)))
    }

    /// Charges a class for a command; a new round starts when no waiting class has credit left.
    fn charge(&mut self, class: u8, weights: [u32; 3]) {
        if class == 0 {
            return;
        }
        let at = class as usize - 1;
        if self.credits[at] == 0 {
            self.credits = weights;
        }
        debug_assert!(self.credits[at] > 0, "a class with a weight has credit after a refill");
        self.credits[at] -= 1;
    }
}

/// The policy.
#[derive(Clone)]
pub(crate) struct PriorityOutOfOrder {
    queues: Queues,
    weights: [u32; 3],
    /// By die: reads, writes.
    turns: Vec<[Turn; 2]>,
    /// Replaces `turns` where classes take turns as in the released MQSim.
    rotation: Option<Rotation>,
}

impl PriorityOutOfOrder {
    pub(super) fn new(config: &PriorityOutOfOrderConfig, geometry: Geometry) -> Self {
        let weights = [config.high, config.medium, config.low];
        Self {
            queues: Queues::new(geometry),
            weights,
            turns: vec![[Turn { credits: weights }; 2]; geometry.dies() as usize],
            rotation: None,
        }
    }

    /// Makes classes take turns as in the released MQSim.
    pub(super) fn rotate(&mut self, geometry: Geometry) {
        self.rotation = Some(Rotation::new(self.weights, geometry.chips()));
    }

    /// Makes the queues behave as in the released MQSim.
    pub(super) fn be_strict(&mut self) {
        self.queues.be_strict();
    }

    /// Looks at a chip where nothing waits. True if a second look changes nothing.
    pub(super) fn rest_chip(&mut self, chip: ChipId) -> bool {
        self.rotation.as_mut().is_none_or(|rotation| rotation.rest(chip))
    }

    /// Asks a chip as the released MQSim does.
    pub(super) fn serve_chip(&mut self, at: ChipLook, view: &mut View<'_>) -> Option<DieId> {
        self.rotation.as_mut()?.serve(at, &mut self.queues, view)
    }

    /// The kinds to try in order; user kinds carry the class whose turn it is.
    fn plan(&self, die: DieId, view: &View<'_>) -> [Option<(Kind, Option<Kind>)>; 7] {
        let [reads, writes] = &self.turns[die.index()];
        let read = reads.class(|c| !self.queues.is_empty(die, Kind::user_read(c)));
        let write = writes.class(|c| !self.queues.is_empty(die, Kind::user_write(c)));
        let (read, write) = (read.map(Kind::user_read), write.map(Kind::user_write));
        if view.urgent {
            [
                Some((Kind::MAPPING_READ, Some(Kind::GC_READ))),
                Some((Kind::GC_READ, read)),
                Some((Kind::GC_WRITE, write)),
                Some((Kind::ERASE, None)),
                read.map(|kind| (kind, None)),
                Some((Kind::MAPPING_WRITE, write)),
                write.filter(|_| !view.hold_writes).map(|kind| (kind, None)),
            ]
        } else {
            [
                Some((Kind::MAPPING_READ, read)),
                read.map(|kind| (kind, Some(Kind::GC_READ))),
                write.map(|kind| (kind, Some(Kind::GC_WRITE))),
                Some((Kind::MAPPING_WRITE, write)),
                Some((Kind::GC_READ, None)),
                Some((Kind::GC_WRITE, None)),
                Some((Kind::ERASE, None)),
            ]
        }
    }

    /// Forms a command from a step of the plan.
    #[inline(always)]
    fn form(
        &mut self,
        die: DieId,
        (first, second): (Kind, Option<Kind>),
        view: &mut View<'_>,
    ) -> bool {
        if self.queues.form(die, first, second, view) {
            self.charge(die, first);
            return true;
        }
        // The pages before those of the class may belong to another class.
        if let Some(class) = first.write_class()
            && let Some(other) = (0..4)
                .filter(|&other| other != class)
                .map(Kind::user_write)
                .find(|&other| self.queues.form(die, other, None, view))
        {
            self.charge(die, other);
            return true;
        }
        false
    }

    /// Queues a transaction.
    #[inline]
    pub(super) fn push(&mut self, die: DieId, id: TransactionId, tr: &Transaction) {
        let kind = Kind::of(tr);
        self.queues.push(die, kind, id, tr);
    }

    /// Counts a transaction that was served without entering its queue.
    #[inline]
    pub(super) fn passed(&mut self, die: DieId, tr: &Transaction, now: Time) {
        self.queues.look_for_starving(die, now);
        self.charge(die, Kind::of(tr));
    }

    fn charge(&mut self, die: DieId, kind: Kind) {
        let turns = &mut self.turns[die.index()];
        if let Some(class) = kind.read_class() {
            turns[0].charge(class, self.weights);
        } else if let Some(class) = kind.write_class() {
            turns[1].charge(class, self.weights);
        }
    }
}

impl SchedulingPolicy for PriorityOutOfOrder {
    #[inline]
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        self.push(die, id, &view.transactions[id]);
    }

    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        if !view.hold_writes && self.queues.form_starving(die, view) {
            return true;
        }
        let plan = self.plan(die, view);
        plan.into_iter().flatten().any(|step| self.form(die, step, view))
    }

    /// Forms the first programs of the plan that can go, unless something else is before them.
    fn take_program(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        if self.queues.looks_for_starving(die, view.now) {
            return false;
        }
        for step in self.plan(die, view).into_iter().flatten() {
            if !step.0.is_program() && !self.queues.is_empty(die, step.0) {
                return false;
            }
            if step.0.is_program() && self.form(die, step, view) {
                return true;
            }
        }
        false
    }

    fn fills_registers(&self) -> bool {
        true
    }

    /// Forms the first read of the plan that can go, unless a program or an erase is before it.
    fn take_read_beside(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        if self.queues.looks_for_starving(die, view.now) {
            return false;
        }
        for step in self.plan(die, view).into_iter().flatten() {
            if !step.0.is_read() && !self.queues.is_empty(die, step.0) {
                return false;
            }
            if step.0.is_read() && self.form(die, step, view) {
                return true;
            }
        }
        false
    }

    fn reads_beside(&self) -> bool {
        true
    }

    fn interrupt(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let read = self.turns[die.index()][0]
            .class(|c| !self.queues.is_empty(die, Kind::user_read(c)))
            .map(Kind::user_read);
        if self.queues.form(die, Kind::MAPPING_READ, read, view) {
            return true;
        }
        match read {
            Some(kind) if self.queues.form(die, kind, None, view) => {
                self.charge(die, kind);
                true
            }
            _ => false,
        }
    }

    /// True if a read of a host or of translation waits.
    #[inline]
    fn may_interrupt(&self, die: DieId) -> bool {
        self.queues.holds_reads(die)
    }

    fn interrupt_for_write(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let class =
            self.turns[die.index()][1].class(|c| !self.queues.is_empty(die, Kind::user_write(c)));
        match class.map(Kind::user_write) {
            Some(kind) if self.queues.form(die, kind, None, view) => {
                self.charge(die, kind);
                true
            }
            _ => false,
        }
    }

    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)> {
        if self.queues.is_idle(die) {
            return None;
        }
        (0..).zip(self.plan(die, view)).find_map(|(rank, plan)| {
            let kind = plan?.0;
            let id = self.queues.front(die, kind);
            let behind_urgent = ![Kind::user_read(0), Kind::user_write(0)].contains(&kind);
            let rank = 2 * rank + u8::from(behind_urgent);
            (id != TransactionId::NONE).then(|| (rank, view.transactions[id].mark))
        })
    }

    fn collection_order(&self) -> CollectionOrder {
        CollectionOrder::Behind {
            presses: Presses::Urgent,
            steps: Steps::ReadsFirst,
            reads: Reads::Interrupt,
        }
    }

    fn waiting(&self, die: DieId) -> u32 {
        self.queues.waiting(die)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve(turn: &mut Turn, waiting: &[u8], commands: usize) -> [usize; 4] {
        let mut served = [0; 4];
        for _ in 0..commands {
            let class = turn.class(|c| waiting.contains(&c)).expect("something waits");
            turn.charge(class, [4, 2, 1]);
            served[class as usize] += 1;
        }
        served
    }

    #[test]
    fn weights_decide_among_waiting_classes() {
        let mut turn = Turn { credits: [4, 2, 1] };
        assert_eq!(serve(&mut turn, &[1, 2, 3], 700), [0, 400, 200, 100]);
        let mut turn = Turn { credits: [4, 2, 1] };
        assert_eq!(serve(&mut turn, &[2, 3], 300), [0, 0, 200, 100]);
        assert_eq!(serve(&mut turn, &[0, 1, 2, 3], 10), [10, 0, 0, 0], "urgent is strict");
        assert_eq!(serve(&mut turn, &[3], 10), [0, 0, 0, 10], "work conserving");
    }
}
