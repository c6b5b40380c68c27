//! The released MQSim's order among the classes below urgent: a rotation for each chip and
//! operation that moves on with every look.

use flashlane_engine::Array;
use flashlane_units::{ChipId, DieId, TransactionId};

use crate::scheduler::queues::{Kind, Queues};
use crate::scheduler::view::View;

/// Number of times that one look may pass the class `high`.
const ROUNDS: u32 = 4;

/// State of a rotation.
#[derive(Clone, Copy, Debug)]
struct Wheel {
    /// The class that was tried last: 1 high, 2 medium, 3 low.
    class: u8,
    /// Least weight of the classes that are not passed over. It falls by one each time that the
    /// rotation comes to `high`, and goes from 1 back to the weight of `high`.
    least: u32,
}

impl Wheel {
    /// Turns where nothing waits: [`ROUNDS`] rounds, which end at `high`. `highest`: the weight of
    /// `high`.
    fn pass(&mut self, highest: u32) {
        self.class = 1;
        // The least weight falls by one in every round, from 1 back to the highest.
        let below = (highest - self.least + ROUNDS) % highest;
        self.least = highest - below;
    }

    /// The next class with waiting work and sufficient weight; `None` after [`ROUNDS`] rounds, even
    /// if something waits.
    fn turn(&mut self, weights: [u32; 3], waiting: impl Fn(u8) -> bool) -> Option<u8> {
        let mut rounds = 0;
        while rounds < ROUNDS {
            self.class = self.class % 3 + 1;
            if self.class == 1 {
                rounds += 1;
                self.least = if self.least <= 1 { weights[0] } else { self.least - 1 };
            }
            debug_assert!((1..=weights[0]).contains(&self.least), "the least weight goes round");
            if weights[usize::from(self.class) - 1] >= self.least && waiting(self.class) {
                return Some(self.class);
            }
        }
        None
    }
}

/// A chip that is asked for a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChipLook {
    pub(crate) chip: ChipId,
    /// The first die of the chip, and their number.
    pub(crate) first: DieId,
    pub(crate) dies: u32,
    /// True if no die of the chip works, so that it can take any command.
    pub(crate) idle: bool,
    /// True if an erase of collection waits at the chip, ready or not.
    pub(crate) awaits_erase: bool,
}

/// The rotations of all chips.
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    weights: [u32; 3],
    /// By chip: the rotation of reads and that of writes.
    wheels: Array<ChipId, [Wheel; 2]>,
}

/// The parts that one look at a chip works with.
struct Look<'a, 'b> {
    at: ChipLook,
    rotation: &'a mut Rotation,
    queues: &'a mut Queues,
    view: &'a mut View<'b>,
}

impl Rotation {
    pub(super) fn new(weights: [u32; 3], chips: u32) -> Self {
        let wheel = Wheel { class: 3, least: weights[0] };
        Self { weights, wheels: Array::of([wheel; 2], chips as usize) }
    }

    /// Looks at a chip where nothing waits. True if the least weights come round in one look, so
    /// that a second look changes nothing.
    pub(super) fn rest(&mut self, chip: ChipId) -> bool {
        let highest = self.weights[0];
        self.wheels[chip].iter_mut().for_each(|wheel| wheel.pass(highest));
        ROUNDS.is_multiple_of(highest)
    }

    /// Asks a chip as the released MQSim does. Returns the die for which a command was formed in
    /// `view.batch`. The batch is empty if nothing of the kind in turn could go.
    pub(super) fn serve(
        &mut self,
        at: ChipLook,
        queues: &mut Queues,
        view: &mut View<'_>,
    ) -> Option<DieId> {
        Look { at, rotation: self, queues, view }.serve()
    }
}

impl Look<'_, '_> {
    fn dies(&self) -> impl Iterator<Item = DieId> + use<> {
        let first = self.at.first;
        (0..self.at.dies).map(move |at| first.plus(at))
    }

    fn waits(&self, kind: Kind) -> bool {
        self.dies().any(|die| !self.queues.is_empty(die, kind))
    }

    /// The kind of reads (0) or writes (1) of hosts whose turn it is.
    fn turn(&mut self, operation: usize) -> Option<Kind> {
        let kind = if operation == 0 { Kind::user_read } else { Kind::user_write };
        if self.waits(kind(0)) {
            return Some(kind(0));
        }
        let waiting = [1, 2, 3].map(|class| self.waits(kind(class)));
        let weights = self.rotation.weights;
        let wheel = &mut self.rotation.wheels[self.at.chip][operation];
        if waiting == [false; 3] {
            wheel.pass(weights[0]);
            return None;
        }
        wheel.turn(weights, |class| waiting[usize::from(class) - 1]).map(kind)
    }

    /// The kinds that lead and fill a command of reads.
    fn reads(&mut self) -> Option<(Kind, Option<Kind>)> {
        let collects = self.waits(Kind::GC_READ);
        if self.waits(Kind::MAPPING_READ) {
            let second = match self.view.urgent && collects {
                true => Some(Kind::GC_READ),
                false => self.turn(0),
            };
            return Some((Kind::MAPPING_READ, second));
        }
        if self.view.urgent {
            if collects {
                return Some((Kind::GC_READ, self.turn(0)));
            }
            if self.at.awaits_erase || self.waits(Kind::GC_WRITE) || self.waits(Kind::ERASE) {
                return None;
            }
            return self.turn(0).map(|kind| (kind, None));
        }
        match self.turn(0) {
            Some(kind) => Some((kind, Some(Kind::GC_READ))),
            None if self.turn(1).is_some() => None,
            None => collects.then_some((Kind::GC_READ, None)),
        }
    }

    /// The kinds that lead and fill a command of writes.
    fn writes(&mut self) -> Option<(Kind, Option<Kind>)> {
        let collects = self.waits(Kind::GC_WRITE);
        if self.view.urgent {
            if collects {
                return Some((Kind::GC_WRITE, self.turn(1)));
            }
            if self.at.awaits_erase || self.waits(Kind::ERASE) {
                return None;
            }
            return self.turn(1).map(|kind| (kind, None));
        }
        match self.turn(1) {
            Some(kind) => Some((kind, Some(Kind::GC_WRITE))),
            None => collects.then_some((Kind::GC_WRITE, None)),
        }
    }

    fn serve(&mut self) -> Option<DieId> {
        if let Some((first, second)) = self.reads()
            && self.at.idle
        {
            return self.form(first, second);
        }
        if let Some((first, second)) = self.writes()
            && self.at.idle
        {
            return self.form(first, second);
        }
        if !self.at.idle {
            return None;
        }
        self.form(Kind::MAPPING_WRITE, None).or_else(|| self.form(Kind::ERASE, None))
    }

    /// Forms a command for the die of the oldest transaction of a kind.
    fn form(&mut self, first: Kind, second: Option<Kind>) -> Option<DieId> {
        let since = |die: DieId| {
            let id = self.queues.front(die, first);
            (id != TransactionId::NONE).then(|| {
                let tr = &self.view.transactions[id];
                (tr.mark, tr.order, die)
            })
        };
        let (.., die) = self.dies().filter_map(since).min()?;
        debug_assert!(self.at.idle, "a chip that works takes no command");
        self.view.batch.clear();
        self.queues.form(die, first, second, self.view);
        Some(die)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Wheel = Wheel { class: 3, least: 4 };

    fn turns(wheel: &mut Wheel, waiting: &[u8], looks: usize) -> Vec<u8> {
        let mut turn = || wheel.turn([4, 2, 1], |class| waiting.contains(&class)).unwrap_or(0);
        (0..looks).map(|_| turn()).collect()
    }

    #[test]
    fn classes_take_turns_by_weight() {
        assert_eq!(turns(&mut START.clone(), &[1, 2, 3], 7), [1, 1, 2, 1, 2, 3, 1]);
        assert_eq!(turns(&mut START.clone(), &[1, 2], 6), [1, 1, 2, 1, 2, 1]);
        assert_eq!(turns(&mut START.clone(), &[1], 6), [1; 6]);
        assert_eq!(turns(&mut START.clone(), &[2], 6), [2; 6]);
    }

    #[test]
    fn low_alone_is_passed_over_now_and_then() {
        assert_eq!(turns(&mut START.clone(), &[3], 6), [3, 0, 3, 0, 3, 0]);
    }

    #[test]
    fn a_look_at_nothing_moves_the_rotation_on() {
        let mut wheel = START;
        assert_eq!(turns(&mut wheel, &[1, 2], 3), [1, 1, 2]);
        assert_eq!(turns(&mut wheel, &[], 1), [0]);
        assert_eq!(turns(&mut wheel, &[1, 2], 1), [2], "it would have been the turn of high");
    }

    #[test]
    fn a_pass_is_a_turn_where_nothing_waits() {
        for (highest, class) in (1..=9).flat_map(|highest| [1, 2, 3].map(|class| (highest, class)))
        {
            for least in 1..=highest {
                let (mut turned, mut passed) = (Wheel { class, least }, Wheel { class, least });
                assert_eq!(turned.turn([highest, 1, 1], |_| false), None);
                passed.pass(highest);
                assert_eq!((turned.class, turned.least), (passed.class, passed.least));
            }
        }
    }
}
