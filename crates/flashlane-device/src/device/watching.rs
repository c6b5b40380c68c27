//! Reports to observers of a run. Nothing here changes the run.

use flashlane_engine::Time;
use flashlane_units::{ChannelId, DieId, FlowId, RequestId, TransactionId};

use super::Device;
use super::watcher::{DieAt, Front};
use crate::event::Event;
use crate::request::{HostWork, Request};
use crate::transaction::{Op, Source, Transaction, pages_from};

impl Device {
    /// A submission entry is about to be fetched.
    #[cold]
    pub(crate) fn observe_fetch(&mut self, id: RequestId) {
        let Some(observer) = &mut self.observer else { return };
        observer.fetch(id, self.interface.nvme().is_full(self.context.requests[id].queue));
    }

    /// The device work of a request begins.
    #[cold]
    pub(crate) fn observe_begin(&mut self, id: RequestId) {
        let Request { flow, arrival, .. } = self.context.requests[id];
        let Some(observer) = &mut self.observer else { return };
        observer.begin(self.context.now, id, flow, arrival);
    }

    /// A transaction begins to wait for the flash.
    #[cold]
    pub(crate) fn observe_enlisted(&mut self, id: TransactionId) {
        let tr = &self.context.transactions[id];
        let chip = self.flash.chip_of(self.flash.die_of(tr.plane));
        let Some(observer) = &mut self.observer else { return };
        observer.enlisted(self.context.now, chip, id, tr);
    }

    /// A transaction that waited for the flash became pointless.
    #[cold]
    pub(crate) fn observe_cancelled(&mut self, id: TransactionId) {
        let tr = &self.context.transactions[id];
        let chip = self.flash.chip_of(self.flash.die_of(tr.plane));
        let Some(observer) = &mut self.observer else { return };
        observer.delisted(self.context.now, chip, id, tr);
    }

    /// Reports the firmware time of a command, where the processors are modelled.
    #[cold]
    pub(crate) fn observe_firmware(&mut self, id: RequestId) {
        let time = self.interface.last_firmware();
        let Some(observer) = &mut self.observer else { return };
        observer.firmware(id, time);
    }

    /// The processors work on a page of the drive itself, or on the command that contains the page.
    #[cold]
    pub(crate) fn observe_own_firmware(&mut self, id: TransactionId, time: u64) {
        let Some(observer) = &mut self.observer else { return };
        observer.own_firmware(&self.context.transactions[id], time);
    }

    /// A die with its channel.
    fn die_at(&self, die: DieId) -> DieAt {
        DieAt { channel: self.flash.place_of(die).channel, die }
    }

    /// A die or one of its planes got a command with that first page, whose transactions waited
    /// until now.
    #[cold]
    pub(crate) fn observe_sent(&mut self, die: DieId, first: TransactionId) {
        let Transaction { op, plane, .. } = self.context.transactions[first];
        if op != Op::Read || !self.flash.reads_by_plane() {
            self.observe_command(die);
            self.observe_program_data(die);
            return;
        }
        let (at, command) = (self.die_at(die), self.flash.read_of(plane));
        self.observe_leaving(die, command.head);
        let Some(observer) = &mut self.observer else { return };
        observer.plane_read(self.context.now, at, &command, &self.context.transactions);
    }

    /// A die got a command, whose transactions waited until now.
    #[cold]
    pub(crate) fn observe_command(&mut self, die: DieId) {
        let (at, command) = (self.die_at(die), self.flash.command_of(die));
        self.observe_leaving(die, command.head);
        let Some(observer) = &mut self.observer else { return };
        observer.command(self.context.now, at, &command, &self.context.transactions);
    }

    /// The pages of a command for a die, from `first` on, have left their queues.
    fn observe_leaving(&mut self, die: DieId, first: TransactionId) {
        let chip = self.flash.chip_of(die);
        let Some(observer) = &mut self.observer else { return };
        let transactions = &self.context.transactions;
        for id in pages_from(transactions, first) {
            observer.delisted(self.context.now, chip, id, &transactions[id]);
        }
    }

    /// A die that programs got another program, whose transactions waited until now.
    #[cold]
    pub(crate) fn observe_register(&mut self, die: DieId) {
        let (at, held) = (self.die_at(die), self.flash.held_by(die));
        self.observe_leaving(die, held.head);
        let Some(observer) = &mut self.observer else { return };
        observer.register(self.context.now, at, &held, &self.context.transactions);
        self.observe_data_of(held.head);
    }

    /// The array of a die begins the program in its register.
    #[cold]
    pub(crate) fn observe_held_program(&mut self, die: DieId) {
        let (at, command) = (self.die_at(die), self.flash.command_of(die));
        let Some(observer) = &mut self.observer else { return };
        observer.register_begins(self.context.now, at, &command, &self.context.transactions);
    }

    /// A die reads pages again.
    #[cold]
    pub(crate) fn observe_retry(&mut self, die: DieId) {
        let (at, command) = (self.die_at(die), self.flash.command_of(die));
        let Some(observer) = &mut self.observer else { return };
        observer.command(self.context.now, at, &command, &self.context.transactions);
    }

    /// The data of a page was decoded for some time, and is correct.
    #[cold]
    pub(crate) fn observe_decoded(&mut self, id: TransactionId, took: Time) {
        let Some(observer) = &mut self.observer else { return };
        observer.decoded(id, took);
    }

    /// The data of a program crossed the channel together with the command.
    #[cold]
    pub(crate) fn observe_program_data(&mut self, die: DieId) {
        let command = self.flash.command_of(die);
        if command.op == Op::Program {
            self.observe_data_of(command.head);
        }
    }

    /// The data of a program crosses the channel together with the command. `first`: its first
    /// page.
    fn observe_data_of(&mut self, first: TransactionId) {
        let Some(observer) = &mut self.observer else { return };
        let transactions = &self.context.transactions;
        for tr in pages_from(transactions, first).map(|id| &transactions[id]) {
            observer.data_moves(tr, Time(self.flash.timing().data(tr.moved_sectors())));
        }
    }

    /// A page or an erase is over in the array.
    #[cold]
    pub(crate) fn observe_operation(&mut self, id: TransactionId, op: Op) {
        let tr = &self.context.transactions[id];
        let Some(observer) = &mut self.observer else { return };
        observer.operation(tr, op, self.flash.work_of(tr, op, self.ftl.cells(tr)));
    }

    /// A page of read data begins to cross the channel.
    #[cold]
    pub(crate) fn observe_transfer(
        &mut self,
        channel: ChannelId,
        id: TransactionId,
        duration: u64,
    ) {
        let tr = &self.context.transactions[id];
        let die = self.flash.die_of(tr.plane);
        let more = self.flash.pages_left(die) > 1;
        let Some(observer) = &mut self.observer else { return };
        observer.transfer(self.context.now, DieAt { channel, die }, (id, tr), duration, more);
    }

    /// A suspended operation resumes.
    #[cold]
    pub(crate) fn observe_resumption(&mut self, die: DieId) {
        let (at, command) = (self.die_at(die), self.flash.command_of(die));
        let Some(observer) = &mut self.observer else { return };
        observer.resumption(self.context.now, at, &command, &self.context.transactions);
    }

    /// A die is idle, although it held data before.
    #[cold]
    pub(crate) fn observe_idle(&mut self, die: DieId) {
        let Some(observer) = &mut self.observer else { return };
        observer.idle(self.context.now, die);
    }

    /// A unit was read or programmed together with the leader of its page, which is over.
    #[cold]
    pub(crate) fn observe_ride(&mut self, id: TransactionId, leader: TransactionId) {
        let tr = &self.context.transactions[id];
        let Some(observer) = &mut self.observer else { return };
        observer.rode(id, tr, leader);
    }

    /// A read that a request waits for is over.
    #[cold]
    pub(crate) fn observe_part(&mut self, id: TransactionId) {
        let tr = &self.context.transactions[id];
        let Some(observer) = &mut self.observer else { return };
        observer.part(self.context.now, id, tr, self.context.requests[tr.request].begun);
    }

    /// A page of a host or of the data cache is on flash.
    #[cold]
    pub(crate) fn observe_program(&mut self, id: TransactionId) {
        let tr = &self.context.transactions[id];
        let Some(observer) = &mut self.observer else { return };
        observer.program(tr);
        if tr.source == Source::User {
            self.observe_part(id);
        } else {
            observer.write_back(id, tr, self.cache.pool_of(tr.flow));
        }
    }

    /// A translation page of a flow is on flash.
    #[cold]
    pub(crate) fn observe_translation_program(&mut self, id: TransactionId, tr: &Transaction) {
        let Some(observer) = &mut self.observer else { return };
        observer.translation_program(id, tr);
    }

    /// The memory of the data cache is busy until `free`, and begins an access then or now, which
    /// ends at `end`. The access was asked for at `asked`, or has waited for its turn.
    #[cold]
    pub(super) fn observe_dram(
        &mut self,
        flow: FlowId,
        (free, end): (Time, Time),
        asked: Option<Time>,
        done: Option<Event>,
    ) {
        let Some(observer) = &mut self.observer else { return };
        observer.dram(self.context.now, flow, (free, end), asked, done);
    }

    /// An access waits for the turn of its flow.
    #[cold]
    pub(super) fn observe_dram_queue(&mut self, done: Option<Event>) {
        let Some(observer) = &mut self.observer else { return };
        observer.dram_queue(self.context.now, done);
    }

    /// A served request got its place in the completion queue.
    #[cold]
    pub(crate) fn observe_held(&mut self, id: RequestId) {
        let Some(observer) = &mut self.observer else { return };
        observer.held(self.context.now, id);
    }

    /// Reports a completed request.
    #[cold]
    pub(crate) fn observe_completion(&mut self, id: RequestId) {
        let request = &self.context.requests[id];
        let front = Front {
            sata: self.interface.is_sata(),
            pool: self.cache.pool_of(request.flow),
            work: self.host_work(request),
        };
        let Some(observer) = &mut self.observer else { return };
        observer.completion(
            self.context.now,
            id,
            &front,
            &self.context.requests,
            &self.context.transactions,
        );
    }

    /// Time that a request itself needed outside of cache and flash.
    fn host_work(&self, request: &Request) -> HostWork {
        let Request { op, sectors, .. } = *request;
        self.interface.work(op, sectors, self.link.work(op, sectors))
    }
}
