//! A die: its place, the command that it runs, and the operation that it has suspended.

use flashlane_engine::Time;
use flashlane_units::{ChannelId, ChipId, DieId, TransactionId};

use crate::layout::Geometry;
use crate::transaction::Op;

/// Activity of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DieState {
    /// Idle.
    Idle,
    /// A command is on the bus or in the array. A read stays in this state until its channel looks
    /// at it.
    Array,
    /// Read data waits for the bus or is on it.
    DataOut,
    /// Pages in the registers of the die's planes wait for their program commands.
    Copyback,
    /// Planes read, each by itself.
    Reading,
}

/// A die with its chip and channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiePlace {
    pub(crate) die: DieId,
    pub(crate) die_in_chip: u32,
    pub(crate) chip: ChipId,
    pub(crate) chip_in_channel: u32,
    pub(crate) channel: ChannelId,
}

/// An operation that was interrupted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspended {
    pub(super) head: TransactionId,
    pub(super) op: Op,
    pub(super) left: u64,
    pub(super) whole: u64,
    /// End of the first command that interrupted the operation; the end of time before that.
    pub(super) since: Time,
}

/// A die. Everything but the suspended operation is in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Die {
    /// End of the array operation.
    pub(super) until: Time,
    /// End of the command cycles, which is the start of the array operation.
    pub(super) since: Time,
    /// Array time of the operation without interruptions.
    pub(super) whole: u64,
    /// Time from which the operation may be interrupted. It is an event if `awaited`.
    pub(super) interruptible: Time,
    /// First transaction of the running command; the others follow by `sibling`.
    pub(super) head: TransactionId,
    /// Pages of read data still to move.
    pub(super) data_left: u32,
    pub(super) chip: ChipId,
    /// First page in a register that is programmed after the running command, or `NONE`.
    pub(super) registers: TransactionId,
    /// Sectors of the largest page of read data.
    pub(super) sectors: u16,
    /// Counts interruptions, so that the end of an interrupted operation is recognised as stale.
    pub(super) epoch: u16,
    pub(super) die_in_chip: u8,
    pub(super) chip_in_channel: u8,
    pub(super) channel: ChannelId,
    pub(crate) state: DieState,
    pub(super) op: Op,
    /// True if `suspended` is in use.
    pub(super) holds_suspended: bool,
    /// True if something waits for `interruptible`.
    pub(super) awaited: bool,
    pub(super) suspended: Option<Suspended>,
    /// Time for which the suspensions of the running operation may last beyond their first
    /// commands. Unit: picoseconds.
    pub(super) spare: u64,
    /// Suspensions of the operation that was suspended last; see [`Die::suspensions`].
    pub(super) suspended_before: u16,
}

const _: () = assert!(std::mem::offset_of!(Die, suspended) <= 64, "one cache line");

impl Die {
    /// An idle die.
    pub(super) fn new(die: DieId, geometry: Geometry) -> Self {
        let small = |number: u32| u8::try_from(number).expect("a valid geometry");
        let chip = geometry.chip_of_die(die);
        Self {
            chip,
            die_in_chip: small(die.get() % geometry.dies_per_chip),
            chip_in_channel: small(geometry.way_of(chip)),
            channel: geometry.channel_of(chip),
            state: DieState::Idle,
            head: TransactionId::NONE,
            op: Op::Read,
            epoch: 0,
            data_left: 0,
            sectors: 0,
            until: Time::ZERO,
            since: Time::ZERO,
            whole: 0,
            interruptible: Time::ZERO,
            suspended: None,
            spare: 0,
            suspended_before: 0,
            holds_suspended: false,
            awaited: false,
            registers: TransactionId::NONE,
        }
    }

    /// The place of the die with that number.
    #[inline(always)]
    pub(super) fn place(&self, die: DieId) -> DiePlace {
        DiePlace {
            die,
            die_in_chip: u32::from(self.die_in_chip),
            chip: self.chip,
            chip_in_channel: u32::from(self.chip_in_channel),
            channel: self.channel,
        }
    }

    /// Suspensions so far of the operation that the die runs. A resumed one has a guard after
    /// its start, and one that was never suspended has none.
    pub(super) fn suspensions(&self) -> u16 {
        if self.interruptible == self.since { 0 } else { self.suspended_before }
    }

    /// The suspended operation, if nothing else keeps the die busy.
    pub(super) fn paused(&self) -> Option<&Suspended> {
        self.suspended.as_ref().filter(|_| self.state == DieState::Idle)
    }

    /// True if the array works: the command cycles are over, and no read data waits.
    pub(super) fn works_at(&self, now: Time) -> bool {
        let sensed = self.op == Op::Read && self.until <= now;
        self.state == DieState::Array && self.since <= now && !sensed
    }
}
