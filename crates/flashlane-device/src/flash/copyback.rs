//! Copyback: a page moves inside its plane, by way of the page register, and never crosses the
//! channel.
//!
//! Once collection has read pages into the registers of a die, the die takes only their program
//! commands. Planes whose targets have the same page number share a command; the others follow one
//! by one. Reads may suspend such a program like any other. Source: MQSim (FAST'18) section 4.2.3;
//! ONFI copyback read and program.

use super::timing::Cells;
use flashlane_engine::EventQueue;
use flashlane_units::{DieId, TransactionId};

use super::command::{Command, CommandTime};
use super::{Die, DieState, Flash};
use crate::context::Context;
use crate::event::Event;
use crate::transaction::Op;

/// Pages in the registers of a die, as lists of transactions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopybackPages {
    /// The pages that are programmed together next.
    pub(crate) together: TransactionId,
    /// The pages that wait.
    pub(crate) later: TransactionId,
}

impl Flash {
    /// True if collection moves pages inside their plane.
    pub(crate) fn copies_back(&self) -> bool {
        self.copyback
    }

    /// True if a die has suspended something.
    pub(crate) fn is_suspended(&self, die: DieId) -> bool {
        self.dies[die].suspended.is_some()
    }

    /// The array read of a die is done, and its pages stay in the registers. Returns the first
    /// page; the others follow by `sibling`.
    pub(crate) fn keep_in_registers(&mut self, cx: &mut Context, die: DieId) -> TransactionId {
        self.die_stops(die, cx.now, &cx.transactions);
        let since = self.dies[die].since;
        let head = std::mem::replace(&mut self.dies[die].head, TransactionId::NONE);
        self.set_state(die, DieState::Idle);
        let mut id = head;
        while id != TransactionId::NONE {
            let tr = &mut cx.transactions[id];
            tr.worked(since, cx.now);
            let (source, next) = (tr.source, tr.sibling);
            self.count_read(&cx.transactions, id, source);
            id = next;
        }
        head
    }

    /// Keeps the pages in the registers of a die for a later program: `first` and those that follow
    /// it by `sibling`; or `NONE`.
    pub(crate) fn program_later(&mut self, die: DieId, first: TransactionId) {
        self.dies[die].registers = first;
    }

    /// Takes the pages that are in the registers of a die.
    pub(crate) fn take_registers(&mut self, die: DieId) -> TransactionId {
        std::mem::replace(&mut self.dies[die].registers, TransactionId::NONE)
    }

    /// Sets up the next program out of the registers of a die: `pages`: the pages
    /// in the registers. True if the channel is free for the command.
    pub(crate) fn prepare_copyback(
        &mut self,
        die: DieId,
        pages: CopybackPages,
        events: &mut EventQueue<Event>,
    ) -> bool {
        let state = &mut self.dies[die];
        (state.head, state.registers) = (pages.together, pages.later);
        state.op = Op::Program;
        self.set_state(die, DieState::Copyback);
        let channel = self.place_of(die).channel;
        let busy = self.channel_busy(channel, events);
        if busy {
            self.channels[channel].copybacks.push_back(die);
            self.await_channel(channel, events);
        }
        !busy
    }

    /// Sends the program command for pages in registers, without data. `cells`: those of the
    /// first page.
    pub(crate) fn send_copyback(&mut self, cx: &mut Context, die: DieId, cells: Cells) {
        let Die { head, op, sectors, .. } = self.dies[die];
        let mut planes = 0;
        let mut id = head;
        while id != TransactionId::NONE {
            let tr = &mut cx.transactions[id];
            tr.goes_to_die(cx.now);
            planes += 1;
            id = tr.sibling;
        }
        let bus = self.timing.command(Op::Program, planes);
        self.counters.copybacks += planes;
        let after = DieState::Copyback;
        let command =
            Command { op, head, sectors: u32::from(sectors), cells, pages: planes, after };
        self.send_command(cx, die, command, CommandTime { bus, settle: 0 }, false);
    }
}
