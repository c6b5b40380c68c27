//! The registers (properties) of a controller.

use crate::status::Status;

/// Offset of Controller Capabilities.
const CAP: u32 = 0x00;
/// Offset of Version.
const VS: u32 = 0x08;
/// Offset of Controller Configuration.
const CC: u32 = 0x14;
/// Offset of Controller Status.
const CSTS: u32 = 0x1c;
/// Offset of NVM Subsystem Reset.
const NSSR: u32 = 0x20;

/// NVMe 1.4.
pub(crate) const VERSION: u32 = 0x0001_0400;

/// The largest queue. Unit: entries.
pub(crate) const QUEUE_ENTRIES_MAX: u16 = 1024;

/// CSTS: ready.
const READY: u32 = 1;
/// CSTS: the configuration was refused.
const FATAL: u32 = 1 << 1;
/// CSTS: shutdown is complete.
const SHUT_DOWN: u32 = 0b10 << 2;

/// What a write to the configuration asks of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing that needs work.
    Nothing,
    /// Disabled or shut down: I/O queues close.
    Stop,
}

/// The registers that hold state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Registers {
    configuration: u32,
    status: u32,
    /// The host may choose weighted round robin: only where it makes queues by admin commands.
    weighted: bool,
}

impl Registers {
    /// Registers that the host reaches directly.
    pub(crate) fn attached() -> Self {
        Self { weighted: true, ..Self::default() }
    }

    /// True if the controller takes I/O commands.
    pub(crate) fn is_ready(&self) -> bool {
        self.status & (READY | FATAL) == READY
    }

    /// The value of a property of 4 bytes, or of 8 if `wide`.
    pub(crate) fn get(&self, offset: u32, wide: bool) -> Result<u64, Status> {
        match (offset, wide) {
            (CAP, true) => Ok(capabilities(self.weighted)),
            (VS, false) => Ok(VERSION.into()),
            (CC, false) => Ok(self.configuration.into()),
            (CSTS, false) => Ok(self.status.into()),
            (NSSR, false) => Ok(0),
            _ => Err(Status::INVALID_FIELD),
        }
    }

    /// Sets a property.
    pub(crate) fn set(&mut self, offset: u32, wide: bool, value: u64) -> Result<Change, Status> {
        match (offset, wide) {
            (CC, false) => Ok(self.configure(value as u32)),
            _ => Err(Status::INVALID_FIELD),
        }
    }

    fn configure(&mut self, value: u32) -> Change {
        let was = std::mem::replace(&mut self.configuration, value);
        let (enabled, was_enabled) = (value & 1 == 1, was & 1 == 1);
        if !enabled {
            self.status = 0;
            return if was_enabled { Change::Stop } else { Change::Nothing };
        }
        if !was_enabled {
            self.status = if is_supported(value, self.weighted) { READY } else { FATAL };
        }
        if value >> 14 & 3 != 0 {
            self.status |= SHUT_DOWN;
            return Change::Stop;
        }
        Change::Nothing
    }
}

/// CAP: the queue size, contiguous queues, arbitration, 10 s to become ready, the NVM command set,
/// pages of 4 KiB.
fn capabilities(weighted: bool) -> u64 {
    u64::from(QUEUE_ENTRIES_MAX - 1) | 1 << 16 | u64::from(weighted) << 17 | 20 << 24 | 1 << 37
}

/// Whether the fields of a configuration have supported values: the NVM command set, pages of
/// 4 KiB, an arbitration that there is, entries of 64 and 16 bytes.
fn is_supported(value: u32, weighted: bool) -> bool {
    let (set, page, arbitration) = (value >> 4 & 7, value >> 7 & 15, value >> 11 & 7);
    let (submission, completion) = (value >> 16 & 15, value >> 20 & 15);
    let entries = [(0, 0), (6, 4)].contains(&(submission, completion));
    set == 0 && page == 0 && arbitration <= u32::from(weighted) && entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_comes_up_and_goes_down() {
        let mut registers = Registers::default();
        assert_eq!(registers.set(CC, false, 0x0046_0000), Ok(Change::Nothing));
        assert!(!registers.is_ready());
        assert_eq!(registers.set(CC, false, 0x0046_0001), Ok(Change::Nothing));
        assert!(registers.is_ready());
        assert_eq!(registers.get(CSTS, false), Ok(1));
        assert_eq!(registers.set(CC, false, 0x0046_4001), Ok(Change::Stop));
        assert_eq!(registers.get(CSTS, false), Ok(1 | 0b1000), "shutdown is complete");
        assert_eq!(registers.set(CC, false, 0x0046_0000), Ok(Change::Stop));
        assert_eq!(registers.get(CSTS, false), Ok(0));
    }

    #[test]
    fn a_configuration_that_is_not_supported_is_fatal() {
        for value in [0x0046_0011, 0x0046_0081, 0x0046_0801, 0x0045_0001] {
            let mut registers = Registers::default();
            assert_eq!(registers.set(CC, false, value), Ok(Change::Nothing));
            assert_eq!(registers.get(CSTS, false), Ok(u64::from(FATAL)), "{value:x}");
            assert!(!registers.is_ready());
        }
    }

    #[test]
    fn unknown_properties_are_refused() {
        let mut registers = Registers::default();
        for (offset, wide) in [(CAP, false), (VS, true), (0x24, false), (0x1000, true)] {
            assert_eq!(registers.get(offset, wide), Err(Status::INVALID_FIELD));
            assert_eq!(registers.set(offset, wide, 0), Err(Status::INVALID_FIELD));
        }
    }
}
