//! A die: where it is, what it runs, what it suspended.

use flashlane_engine::Time;
use flashlane_units::{ChannelId, ChipId, DieId, TransactionId};

use crate::transaction::Op;

/// What a die is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DieState {
    /// Nothing.
    Idle,
    /// A command is on the bus, then the array works. A read stays here until its channel looks at
    /// it.
    Array,
    /// Read data waits for the bus or is on it.
    DataOut,
    /// Pages in the registers of its planes wait for their program commands.
    Copyback,
}

/// Where a die is.
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
    /// When the first command that interrupted it was done; the end of time before that.
    pub(super) since: Time,
}

/// A die. All but what it suspended is in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Die {
    /// End of the array operation.
    pub(super) until: Time,
    /// End of the command cycles, start of the array operation.
    pub(super) since: Time,
    /// Array time of the operation without interruptions.
    pub(super) whole: u64,
    /// From then on the operation may be interrupted; that is an event if `awaited`.
    pub(super) interruptible: Time,
    /// First transaction of the running command, linked by `sibling`.
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
    /// There is something in `suspended`.
    pub(super) holds_suspended: bool,
    /// Something waits for the time from which the operation may be interrupted.
    pub(super) awaited: bool,
    pub(super) suspended: Option<Suspended>,
    /// Time for which suspensions of the running operation may go on after their first command.
    /// Unit: picoseconds.
    pub(super) spare: u64,
}

const _: () = assert!(std::mem::offset_of!(Die, suspended) <= 64, "one cache line");

impl Die {
    /// Where the die of that number is.
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

    /// What the die has suspended, when nothing else keeps it busy.
    pub(super) fn paused(&self) -> Option<&Suspended> {
        self.suspended.as_ref().filter(|_| self.state == DieState::Idle)
    }

    /// The array works: the command cycles are over, and no read data waits.
    pub(super) fn works_at(&self, now: Time) -> bool {
        let sensed = self.op == Op::Read && self.until <= now;
        self.state == DieState::Array && self.since <= now && !sensed
    }
}
