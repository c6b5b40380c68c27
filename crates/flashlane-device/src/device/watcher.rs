//! What watches a drive: it hears what happens inside while it happens. Nothing that a watcher does
//! changes the run.

use std::any::Any;

use flashlane_engine::Time;
use flashlane_units::{
    ChannelId, ChipId, DieId, FlowId, JobId, Lpa, PlaneId, RequestId, TransactionId,
};

use crate::cause::Cause;
use crate::event::Event;
use crate::flash::{ArrayWork, Running};
use crate::request::{HostWork, Requests};
use crate::transaction::{Op, Transaction, Transactions};

/// A die and its channel.
#[derive(Clone, Copy, Debug)]
pub struct DieAt {
    /// The channel of the die.
    pub channel: ChannelId,
    /// The die.
    pub die: DieId,
}

/// The way of a completed request through the front of the drive.
#[derive(Clone, Copy, Debug)]
pub struct Front {
    /// True if the request came by the single queue of a SATA drive.
    pub sata: bool,
    /// Pool of the data cache that the flow uses.
    pub pool: usize,
    /// Time that the request itself needed outside of cache and flash.
    pub work: HostWork,
}

/// Watches a drive. The driver calls these functions at the time that they name. None has a
/// default, so that the compiler finds a watcher that forgets one.
pub trait Watcher: Any + dyn_clone::DynClone + Send + Sync {
    /// A submission entry is about to be fetched. `at_limit`: the request takes the last place of
    /// its queue.
    fn fetch(&mut self, id: RequestId, at_limit: bool);

    /// A limit of the flow's rate held the submission entry back that is about to be fetched, or
    /// the request in the host for `in_host`. Unit: picoseconds.
    fn held_back(&mut self, id: RequestId, in_host: Option<u64>);

    /// Firmware time of a command, where the processors are modelled. Unit: picoseconds.
    fn firmware(&mut self, id: RequestId, work: u64);

    /// The processors work for the drive itself, and commands wait for that. Unit: picoseconds.
    fn own_firmware(&mut self, tr: &Transaction, work: u64);

    /// The device work of a request begins.
    fn begin(&mut self, now: Time, id: RequestId, flow: FlowId, arrival: Time);

    /// A transaction begins to wait for the flash.
    fn enlisted(&mut self, now: Time, chip: ChipId, id: TransactionId, tr: &Transaction);

    /// A transaction waits for the flash no longer.
    fn delisted(&mut self, now: Time, chip: ChipId, id: TransactionId, tr: &Transaction);

    /// A die got a command: its transactions waited until now.
    fn command(&mut self, now: Time, at: DieAt, command: &Running, transactions: &Transactions);

    /// A plane of a die got a read of its own, whose transaction waited until now.
    fn plane_read(&mut self, now: Time, at: DieAt, command: &Running, transactions: &Transactions);

    /// The data of a page crosses its channel for `time`, together with its command.
    fn data_moves(&mut self, tr: &Transaction, time: Time);

    /// A page, or an erase, is over in the array.
    fn operation(&mut self, tr: &Transaction, op: Op, work: ArrayWork);

    /// A page of read data begins to cross the channel. `duration`: in picoseconds; `more`: the die
    /// holds further pages.
    fn transfer(
        &mut self,
        now: Time,
        at: DieAt,
        read: (TransactionId, &Transaction),
        duration: u64,
        more: bool,
    );

    /// The data of a page was decoded for some time, and is correct.
    fn decoded(&mut self, id: TransactionId, took: Time);

    /// A suspended operation resumes.
    fn resumption(&mut self, now: Time, at: DieAt, command: &Running, transactions: &Transactions);

    /// A die that programs got another program, which waits in its register: its transactions
    /// waited until now. The data is on the channel up to `since` of the command.
    fn register(&mut self, now: Time, at: DieAt, command: &Running, transactions: &Transactions);

    /// The array of a die begins the program in its register now, or when its data is there.
    fn register_begins(
        &mut self,
        now: Time,
        at: DieAt,
        command: &Running,
        transactions: &Transactions,
    );

    /// A die is idle, although it held data before.
    fn idle(&mut self, now: Time, die: DieId);

    /// Units begin to ride on the page of a transaction.
    fn page_begins(&mut self, leader: TransactionId);

    /// A unit was read or programmed together with the leader of its page, which is over. Its waits
    /// since the page began are those of the leader.
    fn rode(&mut self, id: TransactionId, tr: &Transaction, leader: TransactionId);

    /// A part of the device work of a request is over. `begun`: the start of that work.
    fn part(&mut self, now: Time, id: TransactionId, tr: &Transaction, begun: Time);

    /// A page of a host or of the data cache is on flash.
    fn program(&mut self, tr: &Transaction);

    /// A page of the data cache is on flash. `pool`: its pool of the cache.
    fn write_back(&mut self, id: TransactionId, tr: &Transaction, pool: usize);

    /// A translation page of a flow is on flash.
    fn translation_program(&mut self, id: TransactionId, tr: &Transaction);

    /// A transaction waited for a translation page since `since`. `read`: the transaction that
    /// reads the page.
    fn translation(
        &mut self,
        now: Time,
        waiter: (TransactionId, &Transaction),
        since: u64,
        read: TransactionId,
    );

    /// The read of a translation page is over.
    fn end(&mut self, id: TransactionId);

    /// A mapping entry left the cached mapping table, for one of `flow`.
    fn eviction(&mut self, lpa: Lpa, flow: FlowId);

    /// A transaction waited since `since` for the work of a die. `idle`: the cause of the time in
    /// which the die was idle.
    fn die_wait(
        &mut self,
        now: Time,
        waiter: (TransactionId, &Transaction),
        die: DieId,
        since: u64,
        idle: Cause,
    );

    /// A transaction waited since `since` for a write of its own page.
    fn same_page(&mut self, now: Time, waiter: (TransactionId, &Transaction), since: u64);

    /// A write of a part of a page was merged with old data. `read`: the transaction that read the
    /// data; `queued`: the write waited in a queue meanwhile.
    fn merged(
        &mut self,
        now: Time,
        write: (TransactionId, &Transaction),
        read: TransactionId,
        queued: bool,
    );

    /// Collection of a block begins. `owner`: the flow of its valid pages; `valid`: their number.
    fn job(&mut self, plane: PlaneId, job: JobId, owner: FlowId, valid: u32);

    /// An access to the memory of the data cache begins. `times`: until when the memory is busy,
    /// and the end of the access; `asked`: when it was asked for, unless it waited for its turn;
    /// `done`: the event at its end.
    fn dram(
        &mut self,
        now: Time,
        flow: FlowId,
        times: (Time, Time),
        asked: Option<Time>,
        done: Option<Event>,
    );

    /// An access to the memory waits for the turn of its flow.
    fn dram_queue(&mut self, now: Time, done: Option<Event>);

    /// A served request got its place in the completion queue.
    fn held(&mut self, now: Time, id: RequestId);

    /// The host sees a completion.
    fn completion(
        &mut self,
        now: Time,
        id: RequestId,
        front: &Front,
        requests: &Requests,
        transactions: &Transactions,
    );
}

dyn_clone::clone_trait_object!(Watcher);
