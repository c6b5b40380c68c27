//! Turns of reads and of collection on a die, where collection goes first because free blocks are
//! few: with `ftl.gc.pacing = "proportional"` it goes first for `ftl.gc.read_wait_max` while reads
//! wait, and then lets these reads go.
//!
//! A turn of collection begins when a first read waits, or when the reads of the turn before are
//! served. It ends after `read_wait_max`, but never before it had a command. Then come as many read
//! commands as reads wait at that time. So a read waits behind collection for `read_wait_max` and
//! the operations under way at its arrival and at the end of the turn, and collection has a command
//! for every such number of reads: neither starves.

use flashlane_engine::{Array, Time};
use flashlane_units::DieId;

use super::{Scheduler, Surroundings};
use crate::flash::Flash;
use crate::transaction::{Op, Place, Source, Transaction, Transactions};

/// The turns of a die.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Reads of hosts and of translation in the queues of the die.
    reads: u32,
    /// Reads that go before collection may go first again.
    owed: u32,
    /// End of the turn of collection.
    until: Time,
    /// True if collection had a command in its turn.
    collected: bool,
}

/// The turns of all dies.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// Length of a turn of collection.
    length: Time,
    dies: Array<DieId, Turn>,
}

/// True for a read that collection must not keep waiting.
fn is_read(tr: &Transaction) -> bool {
    tr.op == Op::Read && tr.source != Source::Gc
}

impl Turns {
    pub(super) fn new(length: Time, dies: usize) -> Self {
        Self { length, dies: Array::of(Turn::default(), dies) }
    }

    /// A transaction enters a queue of the die.
    pub(super) fn entered(&mut self, die: DieId, tr: &Transaction, now: Time) {
        if is_read(tr) {
            let turn = &mut self.dies[die];
            turn.reads += 1;
            if turn.reads == 1 {
                turn.begin(now + self.length);
            }
        }
    }

    /// True if collection may go before the reads that wait at the die; otherwise their turn
    /// begins, or goes on.
    pub(super) fn collection_goes_first(&mut self, die: DieId, now: Time) -> bool {
        let turn = &mut self.dies[die];
        if turn.reads == 0 {
            return true;
        }
        if turn.owed == 0 && turn.collected && now >= turn.until {
            turn.owed = turn.reads;
        }
        turn.owed == 0
    }

    /// A command of collection is formed. `first`: collection goes first.
    fn collects(&mut self, die: DieId, now: Time, first: bool) {
        let turn = &mut self.dies[die];
        let in_turn = turn.reads == 0 || turn.owed == 0 && (now < turn.until || !turn.collected);
        assert!(in_turn || !first, "collection leaves die {die} to the reads that wait");
        turn.collected = true;
    }

    /// A command with a number of reads is formed.
    fn reads(&mut self, die: DieId, now: Time, count: u32) {
        let turn = &mut self.dies[die];
        assert!(turn.reads >= count, "the reads that wait for die {die} are counted");
        turn.reads -= count;
        let owed = turn.owed;
        turn.owed = owed.saturating_sub(count);
        if owed > 0 && turn.owed == 0 {
            turn.begin(now + self.length);
        }
    }

    /// Checks the number of reads that wait at a die.
    pub(super) fn audit(&self, die: DieId, reads: u32) {
        let turn = &self.dies[die];
        assert_eq!(turn.reads, reads, "the reads that wait for die {die} are counted");
        assert!(turn.owed <= turn.reads, "the reads that go before collection wait");
    }
}

impl Turn {
    /// A turn of collection begins.
    fn begin(&mut self, until: Time) {
        debug_assert!(until >= self.until, "turns follow one another");
        (self.owed, self.until, self.collected) = (0, until, false);
    }
}

impl Scheduler {
    /// Bounds the time for which collection goes before reads that wait.
    pub(crate) fn with_turns(mut self, length: Option<Time>) -> Self {
        self.turns = length.map(|length| Box::new(Turns::new(length, self.waiting.len())));
        self
    }

    /// True if collection goes first on a die of a chip that is short of free blocks.
    #[inline]
    pub(super) fn collection_goes_first(&mut self, die: DieId, now: Time) -> bool {
        self.turns.as_mut().is_none_or(|turns| turns.collection_goes_first(die, now))
    }

    /// Notes the command that was formed for a die. `first`: collection went first.
    #[inline(always)]
    pub(super) fn note_turn(&mut self, at: &Surroundings<'_>, die: DieId, first: bool) {
        if self.turns.is_some() {
            self.count_turn(at, die, first);
        }
    }

    #[cold]
    fn count_turn(&mut self, at: &Surroundings<'_>, die: DieId, first: bool) {
        let Some(turns) = &mut self.turns else { return };
        let pages = self.command.pages.iter().map(|&id| &at.transactions[id]);
        let reads = pages.filter(|tr| is_read(tr)).count() as u32;
        if at.transactions[self.command.pages[0]].source == Source::Gc {
            turns.collects(die, at.now, first);
        }
        turns.reads(die, at.now, reads);
    }
}

impl Scheduler {
    /// Checks the turns against the transactions in queues.
    pub(super) fn audit_turns(&self, transactions: &Transactions, flash: &Flash) {
        let Some(turns) = &self.turns else { return };
        let mut reads: Array<DieId, u32> = Array::of(0, self.waiting.len());
        for (_, tr) in transactions.iter().filter(|(_, tr)| tr.place == Place::Queue) {
            reads[flash.die_of(tr.plane)] += u32::from(is_read(tr));
        }
        reads.numbered().for_each(|(die, &reads)| turns.audit(die, reads));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::FlowId;

    const DIE: DieId = DieId::new(0);

    fn read(source: Source) -> Transaction {
        Transaction::new(source, Op::Read, FlowId::new(0), 0, Time::ZERO)
    }

    fn us(time: u64) -> Time {
        Time(time * 1_000_000)
    }

    #[test]
    fn reads_wait_for_one_turn_of_collection() {
        let mut turns = Turns::new(us(100), 1);
        assert!(turns.collection_goes_first(DIE, us(0)), "no read waits");
        turns.entered(DIE, &read(Source::Gc), us(0));
        turns.audit(DIE, 0);
        for arrival in [10, 90] {
            turns.entered(DIE, &read(Source::User), us(arrival));
        }
        for at in [10, 60, 109] {
            assert!(turns.collection_goes_first(DIE, us(at)));
            turns.collects(DIE, us(at), true);
        }
        assert!(!turns.collection_goes_first(DIE, us(110)), "the reads have their turn");
        turns.entered(DIE, &read(Source::Mapping), us(111));
        turns.reads(DIE, us(112), 1);
        assert!(!turns.collection_goes_first(DIE, us(150)), "both of them");
        turns.reads(DIE, us(151), 1);
        assert!(turns.collection_goes_first(DIE, us(152)), "the third came later");
        turns.audit(DIE, 1);
    }

    #[test]
    fn collection_has_a_command_in_every_turn() {
        let mut turns = Turns::new(us(1), 1);
        for _ in 0..8 {
            turns.entered(DIE, &read(Source::User), us(0));
        }
        let mut order = Vec::new();
        for at in 1..=6 {
            let first = turns.collection_goes_first(DIE, us(100 * at));
            order.push(first);
            match first {
                true => turns.collects(DIE, us(100 * at), true),
                false => turns.reads(DIE, us(100 * at), 4),
            }
        }
        assert_eq!(
            order,
            [true, false, false, true, true, true],
            "eight reads, then nothing waits"
        );
    }

    #[test]
    #[should_panic(expected = "leaves die 0 to the reads")]
    fn collection_out_of_turn_is_caught() {
        let mut turns = Turns::new(us(100), 1);
        turns.entered(DIE, &read(Source::User), us(0));
        turns.collects(DIE, us(0), true);
        turns.collects(DIE, us(101), true);
    }
}
