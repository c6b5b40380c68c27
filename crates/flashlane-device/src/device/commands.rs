//! From the scheduler to the flash and back: commands, transfers, and the ends of array operations.
//!
//! The flash reports what happened, and these functions hand it on to translation and to the
//! scheduler.

use flashlane_engine::Time;
use flashlane_units::{ChannelId, DieId, TransactionId};

use super::Device;
use crate::flash::{ArrayEnd, CopybackPages, DiePlace, Next, PageSectors};
use crate::transaction::{Op, Place, Source, pages_from};

impl Device {
    /// Sends the command that the scheduler formed, which has several pages or interrupts another
    /// command. The channel must be free. With `interrupts`, the die first suspends the program or
    /// erase that it runs, or it takes a program into its register.
    #[inline(never)]
    pub(super) fn issue(&mut self, at: DiePlace, interrupts: bool) {
        assert!(!self.scheduler.command().pages.is_empty(), "a command has a page");
        for index in 0..self.scheduler.command().pages.len() {
            let tr = &self.context.transactions[self.scheduler.command().pages[index]];
            assert_eq!(tr.place, Place::Queue, "a transaction leaves its queue once");
            debug_assert_eq!(self.flash.die_of(tr.plane), at.die, "a command is for one die");
            let (flow, waited) = (tr.flow, self.context.now - tr.mark);
            self.ftl.sent(tr.op, tr.ppa, at.chip);
            self.scheduler.leaves(&mut self.flash, at, flow, waited);
        }
        let batch = &self.scheduler.command().pages;
        let transactions = &self.context.transactions;
        let cells = self.ftl.cells_of(batch.iter().map(|&id| &transactions[id]));
        if interrupts && self.flash.takes_program(at.die) {
            self.flash.fill_register(&mut self.context, at.die, batch, cells);
            if self.observer.is_some() {
                self.observe_register(at.die);
            }
            return;
        }
        self.flash.issue(&mut self.context, at.die, batch, cells, interrupts);
        if self.observer.is_some() {
            let first = self.scheduler.command().pages[0];
            self.observe_sent(at.die, first);
        }
    }

    /// Sends a command of one page to a die that is idle. The channel must be free. `lone`: the
    /// transaction was in no queue, and nothing else waits for the channel.
    #[inline(always)]
    pub(super) fn issue_page(&mut self, at: DiePlace, id: TransactionId, lone: bool) {
        let tr = &mut self.context.transactions[id];
        assert!(tr.place == Place::Queue, "a transaction leaves its queue once");
        debug_assert_eq!(self.flash.die_of(tr.plane), at.die, "a page goes to its die");
        let waited = tr.goes_to_die(self.context.now);
        tr.sibling = TransactionId::NONE;
        let (op, flow, ppa) = (tr.op, tr.flow, tr.ppa);
        let sectors = PageSectors { all: tr.sectors(), moved: tr.moved_sectors() };
        let cells = self.ftl.cells(tr);
        self.ftl.sent(op, ppa, at.chip);
        if !lone {
            self.scheduler.leaves(&mut self.flash, at, flow, Time(waited));
        }
        self.flash.issue_page(&mut self.context, at.die, (id, op), sectors, cells, lone);
        if self.observer.is_some() {
            self.observe_sent(at.die, id);
        }
    }

    /// True if the bus of the channel is in use.
    #[inline]
    pub(crate) fn channel_busy(&mut self, channel: ChannelId) -> bool {
        self.flash.channel_busy(channel, &self.context.events)
    }

    /// Makes the end of the command on the bus an event, because something waits for it.
    #[inline]
    pub(crate) fn await_channel(&mut self, channel: ChannelId) {
        self.flash.await_channel(channel, &mut self.context.events);
    }

    /// The command cycles are over, so that the channel is free, or its bus for commands.
    pub(crate) fn on_channel_free(&mut self, channel: ChannelId) {
        if self.flash.has_command_bus() {
            return self.command_bus_free(channel);
        }
        self.look_at_free(channel);
    }

    /// A read in the array is over.
    pub(crate) fn on_sensed(&mut self, channel: ChannelId) {
        if self.flash.has_command_bus() {
            return self.use_buses(channel);
        }
        self.flash.look_at_sensing(&mut self.context, channel);
        if self.channel_busy(channel) {
            self.await_channel(channel);
        } else if self.flash.caches_reads() {
            // The plane may begin another read, which goes before its data.
            self.channel_free(channel);
        } else if !self.move_data(channel) {
            self.flash.await_sensing(channel, &mut self.context.events);
        }
    }

    /// Starts the next transfer of read data on a free channel; false if no data waits.
    pub(super) fn move_data(&mut self, channel: ChannelId) -> bool {
        let transfer = self.flash.move_data(&mut self.context, channel);
        if self.observer.is_some()
            && let Some(transfer) = transfer
        {
            self.observe_transfer(channel, transfer.id, transfer.duration);
        }
        transfer.is_some()
    }

    /// Read data is in the controller.
    pub(crate) fn on_data_sent(&mut self, channel: ChannelId) {
        if self.flash.decodes() {
            return self.on_raw_data(channel);
        }
        let (id, source, die) = self.flash.data_arrives(&mut self.context, channel);
        if self.observer.is_some() {
            self.observe_operation(id, Op::Read);
        }
        self.read_over(id, source);
        if self.flash.data_left(die) && self.read_on(channel, die) && !self.flash.has_command_bus()
        {
            return;
        }
        self.channel_free(channel);
    }

    /// A die has served a read for which it suspended something, and the channel has moved the
    /// data. The die serves another waiting read, if it may, or resumes. True if the read took the
    /// channel.
    #[cold]
    pub(super) fn read_on(&mut self, channel: ChannelId, die: DieId) -> bool {
        self.queue_lone();
        let may = self.flash.data_is_over(&mut self.context, channel);
        let serves = may && self.stay_suspended(die);
        if !serves {
            self.resume(die);
        }
        serves
    }

    /// Resumes the suspended operation of a die.
    fn resume(&mut self, die: DieId) {
        self.flash.resume(&mut self.context, die);
        if self.observer.is_some() {
            self.observe_resumption(die);
        }
    }

    /// A resumed operation may be interrupted again, and something waits for that.
    pub(crate) fn on_progressed(&mut self, die: DieId) {
        if self.flash.has_progressed(die, self.context.now) {
            self.offer_at(self.flash.place_of(die));
        }
    }

    /// The channel is free, or its bus for data: starts what it does next.
    #[inline(always)]
    pub(super) fn channel_free(&mut self, channel: ChannelId) {
        if self.flash.has_command_bus() {
            return self.data_bus_free(channel);
        }
        self.look_at_free(channel);
    }

    /// Starts what a free channel of one bus does next.
    #[inline(always)]
    fn look_at_free(&mut self, channel: ChannelId) {
        self.queue_lone();
        match self.flash.channel_free(&mut self.context, channel) {
            Next::Copyback(die) => self.send_copyback(die),
            Next::AnyCommand { data_waits } => {
                self.dispatch_free(channel);
                if self.flash.had_choice(channel, data_waits, &mut self.context.events) {
                    self.move_data(channel);
                }
            }
            Next::ReadOrData => {
                if !self.dispatch_read(channel) {
                    self.move_data(channel);
                }
            }
            Next::Data => {
                self.move_data(channel);
            }
        }
    }

    /// An array operation is over. Read data now waits for the channel; programs and erases are
    /// complete.
    pub(crate) fn on_array_done(&mut self, die: DieId, epoch: u16) {
        let ended = match self.flash.array_ends(die, epoch) {
            ArrayEnd::Stale => return,
            ArrayEnd::Read(head) => return self.read_ends(die, head),
            ArrayEnd::Change(ended) => ended,
        };
        assert!(ended.head != TransactionId::NONE, "an operation has a page");
        self.flash.change_ends(&mut self.context, die);
        let mut id = ended.head;
        while id != TransactionId::NONE {
            let (source, next) = self.flash.take_page(&mut self.context, ended, id);
            if self.observer.is_some() {
                self.observe_operation(id, ended.op);
            }
            self.change_done(id, source, ended.op);
            if self.flash.scans_at_once() {
                self.dispatch_offered();
            }
            id = next;
        }
        self.flash.stands_idle(die);
        if self.flash.has_registers() && self.go_on(die) {
            return;
        }
        let place = self.flash.place_of(die);
        if self.flash.is_suspended(die) {
            self.queue_lone();
            if !self.channel_busy(place.channel) && self.stay_suspended(die) {
                return;
            }
            self.resume(die);
        }
        self.offer_at(place);
    }

    /// A die goes on with pages in its registers; false if there are none.
    #[cold]
    fn go_on(&mut self, die: DieId) -> bool {
        if self.flash.copies_back() {
            return self.program_registers(die);
        }
        let begins = self.flash.begin_held(&mut self.context, die);
        if begins {
            if self.observer.is_some() {
                self.observe_held_program(die);
            }
            // The register is free again.
            self.offer_at(self.flash.place_of(die));
        }
        begins
    }

    /// With copyback: a read whose end is an event is over.
    fn read_ends(&mut self, die: DieId, head: TransactionId) {
        assert!(self.flash.copies_back(), "otherwise no event ends a read in the array");
        if self.copy_back(die, head) {
            return;
        }
        self.flash.read_arrives(&mut self.context, die);
        let channel = self.flash.place_of(die).channel;
        if self.flash.has_command_bus() {
            self.use_buses(channel);
        } else if self.channel_busy(channel) {
            self.await_channel(channel);
        } else {
            self.move_data(channel);
        }
    }

    /// The array read of a die is done. If all its pages are to be moved inside their planes,
    /// programs them at their new places. False if the data has to cross the channel.
    fn copy_back(&mut self, die: DieId, head: TransactionId) -> bool {
        if self.flash.is_suspended(die) || !self.all_can_stay(head) {
            return false;
        }
        let mut id = self.flash.keep_in_registers(&mut self.context, die);
        let mut moved = TransactionId::NONE;
        while id != TransactionId::NONE {
            if self.observer.is_some() {
                self.observe_operation(id, Op::Read);
            }
            let next =
                std::mem::replace(&mut self.context.transactions[id].sibling, TransactionId::NONE);
            let moved_on = self.ask_ftl(|ftl, context| ftl.place_migration(context, id));
            if moved_on {
                self.context.transactions[id].sibling = moved;
                moved = id;
            }
            id = next;
        }
        self.flash.program_later(die, moved);
        if !self.program_registers(die) {
            if self.observer.is_some() {
                self.observe_idle(die);
            }
            self.offer_at(self.flash.place_of(die));
        }
        true
    }

    /// True if pages that were read together can be programmed at once: collection moves all of
    /// them, and their targets come next in their blocks.
    fn all_can_stay(&self, mut id: TransactionId) -> bool {
        while id != TransactionId::NONE {
            let tr = &self.context.transactions[id];
            if tr.source != Source::Gc || !self.ftl.next_target_is_in_order(tr) {
                return false;
            }
            id = tr.sibling;
        }
        true
    }

    /// Forms the next program of pages in the registers of a die; false if there are none.
    fn program_registers(&mut self, die: DieId) -> bool {
        let first = self.flash.take_registers(die);
        if first == TransactionId::NONE {
            return false;
        }
        let page = self.ftl.cells(&self.context.transactions[first]).page;
        let (mut together, mut later, mut id) = (TransactionId::NONE, TransactionId::NONE, first);
        while id != TransactionId::NONE {
            let tr = &mut self.context.transactions[id];
            let next = tr.sibling;
            let joins = self.ftl.cells(tr).page == page;
            let list = if joins { &mut together } else { &mut later };
            tr.sibling = std::mem::replace(list, id);
            id = next;
        }
        assert!(together != TransactionId::NONE, "the first page joins itself");
        if self.flash.prepare_copyback(
            die,
            CopybackPages { together, later },
            &mut self.context.events,
        ) {
            self.send_copyback(die);
        }
        true
    }

    /// Sends the program command for pages in registers.
    pub(super) fn send_copyback(&mut self, die: DieId) {
        let head = self.flash.command_of(die).head;
        assert!(head != TransactionId::NONE, "a copyback has a page");
        let transactions = &self.context.transactions;
        let pages = pages_from(transactions, head).map(|id| &transactions[id]);
        pages.clone().for_each(|tr| self.ftl.program_sent(tr.ppa));
        let cells = self.ftl.cells_of(pages);
        self.flash.send_copyback(&mut self.context, die, cells);
        if self.observer.is_some() {
            self.observe_command(die);
        }
    }
}
