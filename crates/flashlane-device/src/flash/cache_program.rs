//! Cache program: a die takes the data of its next program over the channel while its array still
//! programs the pages before.
//!
//! The pages wait in the cache register of the die. Their array operation begins when the one
//! before is over and their data is there, so a die that always has pages to program takes
//! `max(tPROG, transfer)` for each, and not the sum. A register holds the pages of one command: one
//! of each plane at most. Source: ONFI, page cache program (15h).
//!
//! Invariant: a die whose register holds pages programs others, and has suspended nothing. It is in
//! the set `changing` of its chip exactly while its register is free.

use super::timing::Cells;
use flashlane_engine::{Array, Time};
use flashlane_units::{DieId, TransactionId};

use super::command::Joined;
use super::{Die, DieState, Flash, Running};
use crate::context::Context;
use crate::event::Event;
use crate::transaction::{Op, Transactions, pages_from};

/// The program in the cache register of a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// First transaction; the others follow by `sibling`. `NONE`: the register is free.
    pub(super) head: TransactionId,
    /// Time at which all of its data is in the register.
    sent: Time,
    /// Array time of the program. Unit: picoseconds.
    pub(super) whole: u64,
    /// Sectors of the largest page.
    sectors: u16,
}

const NOTHING: Held = Held { head: TransactionId::NONE, sent: Time::ZERO, whole: 0, sectors: 0 };

/// The cache registers of all dies, where dies have them; otherwise `None`.
pub(super) fn registers(cache_program: bool, dies: usize) -> Option<Array<DieId, Held>> {
    cache_program.then(|| Array::of(NOTHING, dies))
}

impl Flash {
    /// True if pages may wait in registers of a die until it programs them.
    #[inline(always)]
    pub(crate) fn has_registers(&self) -> bool {
        self.registers
    }

    /// True if a die programs and takes the data of its next program meanwhile.
    #[inline(always)]
    pub(crate) fn takes_program(&self, die: DieId) -> bool {
        self.held.is_some() && self.has_free_register(die)
    }

    #[cold]
    fn has_free_register(&self, die: DieId) -> bool {
        let it = &self.dies[die];
        let free = self.sets[it.chip].changing >> it.die_in_chip & 1 != 0;
        free && it.state == DieState::Array && it.op == Op::Program && it.suspended.is_none()
    }

    /// Sends the next program to a die that programs. The channel must be free. `cells`: those of
    /// its first page.
    #[cold]
    #[inline(never)]
    pub(crate) fn fill_register(
        &mut self,
        cx: &mut Context,
        die: DieId,
        pages: &[TransactionId],
        cells: Cells,
    ) {
        assert_eq!(cx.transactions[pages[0]].op, Op::Program, "a register takes a program");
        let place = cx.events.reserve();
        let Joined { head, sectors, data } = self.join_pages(cx, Op::Program, pages);
        let planes = pages.len() as u64;
        let bus = self.timing.command(Op::Program, planes) + data;
        let whole = self.timing.array(Op::Program, cells, sectors);
        let sent = cx.now + Time(bus);
        let at = self.place_of(die);
        let held = &mut self.held.as_mut().expect("dies have cache registers")[die];
        assert!(held.head == TransactionId::NONE, "the register of die {die} holds one program");
        *held = Held { head, sent, whole, sectors: sectors as u16 };
        self.note_changing(die, false);
        let others = self.sets[at.chip].idle | 1 << at.die_in_chip;
        self.count_command(Op::Program, planes, others != u32::MAX);
        let awaited = self.wanted[at.channel] != 0;
        self.data_follows(data);
        self.hold_channel(cx, at.channel, (sent, place), bus, awaited);
    }

    /// The program in the register of a die, which is on the channel up to `since`.
    pub(crate) fn held_by(&self, die: DieId) -> Running {
        let held = self.held.as_ref().expect("dies have cache registers")[die];
        let Held { head, sent, whole, .. } = held;
        let commanded = self.commanded(die, sent);
        Running { head, op: Op::Program, commanded, since: sent, until: sent + Time(whole) }
    }

    /// The array of an idle die begins the program in its register. False if the register is free.
    pub(crate) fn begin_held(&mut self, cx: &mut Context, die: DieId) -> bool {
        let Some(registers) = &mut self.held else { return false };
        let Held { head, sent, whole, sectors } = std::mem::replace(&mut registers[die], NOTHING);
        if head == TransactionId::NONE {
            return false;
        }
        let since = sent.max(cx.now);
        let state = &mut self.dies[die];
        assert_eq!(state.state, DieState::Idle, "an idle die begins the program in its register");
        assert!(since >= state.until, "the array of die {die} does one program at a time");
        (state.head, state.op, state.sectors) = (head, Op::Program, sectors);
        (state.since, state.interruptible, state.whole) = (since, since, whole);
        state.until = since + Time(whole);
        let (until, epoch) = (state.until, state.epoch);
        self.set_state(die, DieState::Array);
        let mut id = head;
        while id != TransactionId::NONE {
            let tr = &mut cx.transactions[id];
            tr.waited_in_register(sent, since);
            id = tr.sibling;
        }
        cx.events.schedule(until, Event::ArrayDone { die, epoch });
        true
    }

    /// Array time of the program in the register of a die. Unit: picoseconds.
    pub(super) fn held_time(&self, die: DieId) -> u64 {
        self.held.as_ref().map_or(0, |held| held[die].whole)
    }

    /// Checks the cache register of a die, for audits.
    pub(super) fn audit_register(&self, id: DieId, die: &Die, transactions: &Transactions) {
        let Some(held) = &self.held else { return };
        let programs = die.state == DieState::Array && die.op == Op::Program;
        let full = held[id].head != TransactionId::NONE;
        let alone = die.suspended.is_none();
        assert!(!full || programs && alone, "die {id} programs before what its register holds");
        let open = self.sets[die.chip].changing >> die.die_in_chip & 1 != 0;
        assert!(!programs || open != full, "it is known whether the register of die {id} is free");
        for page in pages_from(transactions, held[id].head) {
            let tr = &transactions[page];
            let here = tr.op == Op::Program && self.die_of(tr.plane) == id;
            assert!(here, "the register of die {id} holds its programs");
        }
    }
}
