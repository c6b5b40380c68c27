//! Copyback: a page moves inside its plane, by way of the page register, and never crosses the
//! channel.
//!
//! Once collection has read pages into the registers of a die, the die takes no other command than
//! their programs: one for all planes whose targets have the same page offset, one after the other
//! for the rest. Reads may suspend such a program as any other.
//! Source: MQSim (FAST'18) section 4.2.3; ONFI copyback read and program.

use flashlane_engine::NONE;

use super::{Command, Die, DieState, Op};
use crate::device::Device;
use crate::transaction::Source;

impl Device {
    /// The array read of a die is done: programs what it read at its new place, if all of it is to be
    /// moved inside its plane. False if the data has to cross the channel.
    pub(super) fn copy_back(&mut self, die: u32) -> bool {
        let now = self.now;
        let state = &self.flash.dies[die as usize];
        if state.suspended.is_some() || !self.all_can_stay(state.head) {
            return false;
        }
        self.flash.die_stops(die, now, &self.transactions);
        let since = self.flash.dies[die as usize].since;
        let mut id = std::mem::replace(&mut self.flash.dies[die as usize].head, NONE);
        self.flash.set_state(die, DieState::Idle);
        let mut moved = NONE;
        while id != NONE {
            let tr = &mut self.transactions[id];
            tr.worked(since, now);
            let next = std::mem::replace(&mut tr.sibling, NONE);
            self.count_operation(Source::Gc, Op::Read);
            if self.place_migration(id) {
                self.transactions[id].sibling = moved;
                moved = id;
            }
            id = next;
        }
        self.flash.dies[die as usize].registers = moved;
        if !self.program_registers(die) {
            if self.observer.is_some() {
                self.observe_idle(die);
            }
            self.offer_at(self.flash.place_of(die));
        }
        true
    }

    /// Pages read together can be programmed at once: all are moved by collection, and their targets
    /// come next in their blocks.
    fn all_can_stay(&self, mut id: u32) -> bool {
        while id != NONE {
            let tr = &self.transactions[id];
            if tr.source != Source::Gc || !self.next_target_is_in_order(tr) {
                return false;
            }
            id = tr.sibling;
        }
        true
    }

    /// Forms the next program of pages in the registers of a die; false if there are none.
    pub(super) fn program_registers(&mut self, die: u32) -> bool {
        let first = std::mem::replace(&mut self.flash.dies[die as usize].registers, NONE);
        if first == NONE {
            return false;
        }
        let page = self.ftl.blocks.page_of(self.transactions[first].ppa);
        let (mut together, mut later, mut id) = (NONE, NONE, first);
        while id != NONE {
            let tr = &mut self.transactions[id];
            let next = tr.sibling;
            let joins = self.ftl.blocks.page_of(tr.ppa) == page;
            let list = if joins { &mut together } else { &mut later };
            tr.sibling = std::mem::replace(list, id);
            id = next;
        }
        let state = &mut self.flash.dies[die as usize];
        (state.head, state.registers) = (together, later);
        state.op = Op::Program;
        self.flash.set_state(die, DieState::Copyback);
        let channel = self.flash.place_of(die).channel;
        if self.channel_busy(channel) {
            self.flash.channels[channel as usize].copybacks.push_back(die);
            self.await_channel(channel);
        } else {
            self.send_copyback(die);
        }
        true
    }

    /// Sends the program command for pages in registers, without data.
    pub(super) fn send_copyback(&mut self, die: u32) {
        let now = self.now;
        let mut id = self.flash.dies[die as usize].head;
        let mut planes = 0;
        while id != NONE {
            let tr = &mut self.transactions[id];
            let waited = tr.lap(now);
            tr.chain.queue += waited;
            tr.place = crate::transaction::Place::Die;
            let block = self.ftl.blocks.block_of(tr.ppa);
            self.ftl.blocks.block_mut(block).issued += 1;
            planes += 1;
            id = tr.sibling;
        }
        let bus = self.flash.timing.command(Op::Program, planes);
        self.flash.counters.copybacks += planes;
        let Die { head, op, sectors, .. } = self.flash.dies[die as usize];
        let page = self.ftl.blocks.page_of(self.transactions[head].ppa);
        let after = DieState::Copyback;
        let command = Command { op, head, sectors: u32::from(sectors), page, pages: planes, after };
        self.send_command(die, command, bus, 0, false);
    }
}
