//! Scheduling policies: each has a file, and a line here.

mod conformance;
mod fcfs;
mod flin;
mod host_first;
mod out_of_order;
mod priority_out_of_order;
mod read_priority;
mod rotation;
mod sprinkler;
mod sprinkler_fairness;

pub use conformance::RULES;
pub use fcfs::FcfsConfig;
pub use flin::{
    FlinConfig, FreePages as FlinFreePages, History as FlinHistory, Intensities as FlinIntensities,
    Scope as FlinScope, Stage as FlinStage, dram_bytes as flin_dram_bytes,
};
pub use host_first::HostFirstConfig;
pub use out_of_order::OutOfOrderConfig;
pub use priority_out_of_order::PriorityOutOfOrderConfig;
pub use read_priority::ReadPriorityConfig;
pub use sprinkler::SprinklerConfig;
pub use sprinkler_fairness::SprinklerFairnessConfig;

use flashlane_engine::Time;
use flashlane_units::{ChipId, DieId, TransactionId};

use super::view::View;
use crate::collection_order::CollectionOrder;
use crate::layout::Geometry;
use crate::scheduler::overhead::SchedulerOverhead;
use crate::transaction::{Transaction, Transactions};
use out_of_order::OutOfOrder;
use priority_out_of_order::PriorityOutOfOrder;
pub(crate) use rotation::ChipLook;

flashlane_units::policies! {
    /// Which transaction a die serves next.
    pub enum Scheduling at "scheduler" open to SchedulingConfig {
        "fcfs" => Fcfs(FcfsConfig),
        "host-first" => HostFirst(HostFirstConfig),
        "read-priority" => ReadPriority(ReadPriorityConfig),
        "out-of-order" => OutOfOrder(OutOfOrderConfig),
        "priority-out-of-order" => PriorityOutOfOrder(PriorityOutOfOrderConfig),
        "sprinkler" => Sprinkler(SprinklerConfig),
        "sprinkler-fairness" => SprinklerFairness(SprinklerFairnessConfig),
        "flin" => Flin(FlinConfig),
    }
}

/// Configuration of a scheduling policy from outside.
pub trait SchedulingConfig: Send + Sync {
    /// A new policy for a drive with `flows` flows.
    fn build(&self, geometry: Geometry, flows: usize) -> Box<dyn SchedulingPolicy>;
}

/// Decides the next command of a die. The policy owns the queues; it cannot schedule events.
///
/// Most policies serve ready work as soon as its die is free. A policy that lets dies idle on
/// purpose says so with [`SchedulingPolicy::holds_back`]. Nothing may happen then that would cause
/// another call, so the policy names the time at which it is to be woken.
pub trait SchedulingPolicy: Send + dyn_clone::DynClone {
    /// A transaction is ready for the flash.
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>);

    /// The die is free: forms a command with [`View::form`] or [`View::add`], at most one
    /// transaction per plane, all of one operation. False if the die has nothing to do.
    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool;

    /// The die is free, and the channel has read data waiting: forms a command of reads if that is
    /// what the die should do next.
    fn take_read(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.interrupt(die, view)
    }

    /// The die programs, and takes the data of its next program meanwhile (`flash.cache_program`):
    /// forms a command of programs if that is what the die should do next. Now and then it should
    /// return false, so that a die that programs on and on is idle and can do something else.
    fn take_program(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let _ = (die, view);
        false
    }

    /// True if [`SchedulingPolicy::take_program`] forms commands. Otherwise `flash.cache_program`
    /// is refused.
    fn fills_registers(&self) -> bool {
        false
    }

    /// Planes of the die read, and others are free (`flash.independent_plane_reads`): forms a
    /// command of a read for a free plane, if that is what the die should do next. [`View::add`]
    /// refuses everything else. While something else should come next, the policy returns false:
    /// the die is idle when all of its planes have read.
    fn take_read_beside(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let _ = (die, view);
        false
    }

    /// True if [`SchedulingPolicy::take_read_beside`] forms commands. Otherwise
    /// `flash.independent_plane_reads` is refused.
    fn reads_beside(&self) -> bool {
        false
    }

    /// The die runs a program or an erase, or is about to resume one that is suspended: forms a
    /// command of reads worth an interruption, with [`View::add`], or returns false. A policy that
    /// interrupts nothing always returns false.
    fn interrupt(&mut self, die: DieId, view: &mut View<'_>) -> bool;

    /// The die runs an erase, or is about to resume one: forms a command of writes worth an
    /// interruption, as [`SchedulingPolicy::interrupt`] does for reads.
    fn interrupt_for_write(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let _ = (die, view);
        false
    }

    /// False if [`SchedulingPolicy::interrupt`] would form no command and change nothing, whatever
    /// the time: until another transaction comes to the die, a command leaves for it, a write of
    /// the die is unblocked, or the policy is woken. The die is then not asked. By default it
    /// always is.
    fn may_interrupt(&self, die: DieId) -> bool {
        let _ = die;
        true
    }

    /// A write that waited at the die for old data, or for the end of another write, waits no more.
    fn unblocked(&mut self, die: DieId) {
        let _ = die;
    }

    /// Rank of a free die among the dies of its chip: the smallest goes first. `None` if the die
    /// has nothing to do: nothing waits, or all waiting work is held back. The number is the kind
    /// of work, in the order of the policy; ties go to the older transaction. Work that is not
    /// ready may count.
    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)>;

    /// Where collection stands among the work of hosts; a run without time keeps to it. By default
    /// the policy does not say, and `run --waf-only` is refused with it.
    fn collection_order(&self) -> CollectionOrder {
        CollectionOrder::Unspecified
    }

    /// True if the policy wants to be told of completed work.
    fn observes(&self) -> bool {
        false
    }

    /// A transaction of the die is completed; erases are reported as well.
    fn completed(&mut self, die: DieId, id: TransactionId, tr: &Transaction, now: Time) {
        let _ = (die, id, tr, now);
    }

    /// True if the policy may leave ready work waiting although its die is idle, up to a time of
    /// its own.
    fn holds_back(&self) -> bool {
        false
    }

    /// Time at which a policy that holds back wants to be woken; `None` while it holds nothing
    /// back. Asked after every event: the time may change, and a time in the past means at once.
    fn wake(&self) -> Option<Time> {
        None
    }

    /// Called at the time of [`SchedulingPolicy::wake`], or later. Afterwards all dies are offered
    /// to the policy. It must not ask for the same instant again.
    fn woken(&mut self, view: &mut View<'_>) {
        let _ = view;
    }

    /// Transactions that wait at the die, held back or not; for audits.
    fn waiting(&self, die: DieId) -> u32;

    /// Checks the policy's own state, with `--check`. `is_ready`: what [`View::is_ready`] says of a
    /// transaction.
    fn audit(&self, is_ready: &dyn Fn(TransactionId) -> bool) {
        let _ = is_ready;
    }

    /// The cost of the policy for the drive so far, if the policy counts it. The drive's DRAM holds
    /// data of `dram_transactions` transactions.
    fn overhead(&self, dram_transactions: u64) -> Option<SchedulerOverhead> {
        let _ = dram_transactions;
        None
    }
}

dyn_clone::clone_trait_object!(SchedulingPolicy);

impl Scheduling {
    /// Does [`SchedulingPolicy::fills_registers`] before there is a drive.
    pub fn fills_registers(&self, geometry: Geometry, flows: usize) -> bool {
        build(self, geometry, flows).fills_registers()
    }

    /// Does [`SchedulingPolicy::reads_beside`] before there is a drive.
    pub fn reads_beside(&self, geometry: Geometry, flows: usize) -> bool {
        build(self, geometry, flows).reads_beside()
    }

    /// Does [`SchedulingPolicy::collection_order`] before there is a drive.
    pub fn collection_order(&self, geometry: Geometry, flows: usize) -> CollectionOrder {
        build(self, geometry, flows).collection_order()
    }
}

/// Builds the configured policy.
pub(crate) fn build(config: &Scheduling, geometry: Geometry, flows: usize) -> AnyPolicy {
    let other: Box<dyn SchedulingPolicy> = match config {
        Scheduling::OutOfOrder(_) => return AnyPolicy::OutOfOrder(OutOfOrder::new(geometry)),
        Scheduling::PriorityOutOfOrder(config) => {
            return AnyPolicy::PriorityOutOfOrder(PriorityOutOfOrder::new(config, geometry));
        }
        Scheduling::Fcfs(_) => Box::new(fcfs::Fcfs::new(geometry)),
        Scheduling::HostFirst(_) => Box::new(host_first::HostFirst::new(geometry)),
        Scheduling::ReadPriority(config) => {
            Box::new(read_priority::ReadPriority::new(config, geometry))
        }
        Scheduling::Sprinkler(config) => Box::new(sprinkler::Sprinkler::new(config, geometry)),
        Scheduling::SprinklerFairness(config) => {
            Box::new(sprinkler_fairness::SprinklerFairness::new(config, geometry, flows))
        }
        Scheduling::Flin(config) => Box::new(flin::Flin::new(config, geometry, flows)),
        Scheduling::Outside(policy) => policy.config().build(geometry, flows),
    };
    AnyPolicy::Other(other)
}

/// The policy of a run. The two policies of most runs, those of MQSim, are called without dynamic
/// dispatch, so that their few steps are inlined into the caller. The number of the variant is a
/// byte of its own: each step begins with a look at it.
#[derive(Clone)]
#[repr(u8)]
pub(crate) enum AnyPolicy {
    OutOfOrder(OutOfOrder),
    PriorityOutOfOrder(PriorityOutOfOrder),
    Other(Box<dyn SchedulingPolicy>),
}

impl AnyPolicy {
    /// True if a die with waiting work may be offered without asking for its rank.
    #[inline]
    pub(crate) fn serves_what_waits(&self) -> bool {
        !matches!(self, Self::Other(_))
    }

    /// Queues a transaction, if that needs no view of the device; otherwise false.
    #[inline(always)]
    pub(crate) fn push(&mut self, die: DieId, id: TransactionId, tr: &Transaction) -> bool {
        match self {
            Self::OutOfOrder(policy) => policy.push(die, id, tr),
            Self::PriorityOutOfOrder(policy) => policy.push(die, id, tr),
            Self::Other(_) => return false,
        }
        true
    }

    /// Makes classes take turns as in the released MQSim, if the policy can do that. True if it
    /// can: then its chips are asked with [`AnyPolicy::serve_chip`].
    pub(crate) fn rotates_classes(&mut self, geometry: Geometry) -> bool {
        let Self::PriorityOutOfOrder(policy) = self else { return false };
        policy.rotate(geometry);
        true
    }

    /// Makes the queues behave as in the released MQSim, if the policy is one of MQSim's. True if
    /// it is.
    pub(crate) fn be_strict(&mut self) -> bool {
        match self {
            Self::OutOfOrder(policy) => policy.be_strict(),
            Self::PriorityOutOfOrder(policy) => policy.be_strict(),
            Self::Other(_) => return false,
        }
        true
    }

    /// Asks a chip as the released MQSim does. Returns the die for which a command was formed; the
    /// command may be empty.
    pub(crate) fn serve_chip(&mut self, at: ChipLook, view: &mut View<'_>) -> Option<DieId> {
        match self {
            Self::PriorityOutOfOrder(policy) => policy.serve_chip(at, view),
            _ => unreachable!("no other policy rotates classes"),
        }
    }

    /// Looks at a chip where nothing waits. True if a second look in a row changes nothing.
    pub(crate) fn rest_chip(&mut self, chip: ChipId) -> bool {
        match self {
            Self::PriorityOutOfOrder(policy) => policy.rest_chip(chip),
            _ => unreachable!("no other policy rotates classes"),
        }
    }

    /// Counts a transaction that was served without entering its queue, which was empty.
    #[inline(always)]
    pub(crate) fn passed(&mut self, die: DieId, id: TransactionId, slab: &Transactions, now: Time) {
        match self {
            Self::OutOfOrder(policy) => policy.passed(die, now),
            Self::PriorityOutOfOrder(policy) => policy.passed(die, &slab[id], now),
            Self::Other(_) => unreachable!("queues are known for the others only"),
        }
    }
}

/// Calls a method of the policy, whichever it is.
macro_rules! call {
    ($any:expr, $method:ident($($argument:expr),*)) => {
        match $any {
            AnyPolicy::OutOfOrder(policy) => policy.$method($($argument),*),
            AnyPolicy::PriorityOutOfOrder(policy) => policy.$method($($argument),*),
            AnyPolicy::Other(policy) => policy.$method($($argument),*),
        }
    };
}

impl SchedulingPolicy for AnyPolicy {
    #[inline]
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        call!(self, enqueue(die, id, view));
    }
    #[inline(always)]
    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        call!(self, take(die, view))
    }
    #[inline]
    fn take_read(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        call!(self, take_read(die, view))
    }
    fn take_program(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        call!(self, take_program(die, view))
    }
    fn fills_registers(&self) -> bool {
        call!(self, fills_registers())
    }
    fn take_read_beside(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        call!(self, take_read_beside(die, view))
    }
    fn reads_beside(&self) -> bool {
        call!(self, reads_beside())
    }
    fn interrupt(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        call!(self, interrupt(die, view))
    }
    fn may_interrupt(&self, die: DieId) -> bool {
        call!(self, may_interrupt(die))
    }
    fn interrupt_for_write(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        call!(self, interrupt_for_write(die, view))
    }
    fn unblocked(&mut self, die: DieId) {
        call!(self, unblocked(die));
    }
    #[inline]
    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)> {
        call!(self, rank(die, view))
    }
    fn collection_order(&self) -> CollectionOrder {
        call!(self, collection_order())
    }
    fn observes(&self) -> bool {
        call!(self, observes())
    }
    fn completed(&mut self, die: DieId, id: TransactionId, tr: &Transaction, now: Time) {
        call!(self, completed(die, id, tr, now));
    }
    fn holds_back(&self) -> bool {
        call!(self, holds_back())
    }
    fn wake(&self) -> Option<Time> {
        call!(self, wake())
    }
    fn woken(&mut self, view: &mut View<'_>) {
        call!(self, woken(view));
    }
    fn waiting(&self, die: DieId) -> u32 {
        call!(self, waiting(die))
    }
    fn audit(&self, is_ready: &dyn Fn(TransactionId) -> bool) {
        call!(self, audit(is_ready));
    }
    fn overhead(&self, dram_transactions: u64) -> Option<SchedulerOverhead> {
        call!(self, overhead(dram_transactions))
    }
}
