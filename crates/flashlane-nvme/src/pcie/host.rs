//! What the controller asks of the machine that it is in.

use std::fmt;

use flashlane::Time;

/// An address range that is no memory of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAddress;

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the address range is no memory of the host")
    }
}

impl std::error::Error for BadAddress {}

/// The host: its memory, which the controller reads and writes by itself, and its interrupts.
pub trait PcieHost {
    /// True if a range of memory can be read now. A host whose memory takes time to answer starts
    /// to read, and says false. The command that needs the range then stays in its queue, while
    /// other queues go on. The controller asks again at the next [`PcieFunction::pass`], to be
    /// called once the range is there. A range that is no memory is answered with true.
    ///
    /// [`PcieFunction::pass`]: super::PcieFunction::pass
    fn is_there(&mut self, address: u64, bytes: usize) -> bool {
        let _ = (address, bytes);
        true
    }

    /// Reads memory from an address on.
    ///
    /// # Errors
    ///
    /// [`BadAddress`] if a part of the range is no memory.
    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), BadAddress>;

    /// Writes memory from an address on.
    ///
    /// # Errors
    ///
    /// [`BadAddress`] if a part of the range is no memory; nothing is written then.
    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), BadAddress>;

    /// The controller interrupts the host at a time, by a message of a vector.
    fn interrupt(&mut self, at: Time, vector: u16);
}

/// Reads host memory if it is there. False if it has not come yet.
pub(super) fn read_if_there(
    host: &mut dyn PcieHost,
    address: u64,
    data: &mut [u8],
) -> Result<bool, BadAddress> {
    let is_there = host.is_there(address, data.len());
    if is_there {
        host.read(address, data)?;
    }
    Ok(is_there)
}
