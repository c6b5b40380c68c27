//! Messages of vfio-user: a header of 16 bytes, and what follows it.

use rustix::io::Errno;

/// Unit: bytes.
pub(super) const HEADER: usize = 16;

/// The most data of an access. Unit: bytes.
pub(super) const DATA_MAX: usize = 1 << 20;

/// The longest message that is read. Unit: bytes.
const MESSAGE_MAX: usize = DATA_MAX + 256;

/// The most files of a message.
pub(crate) const FILES_MAX: usize = 16;

/// Commands.
pub(super) const VERSION: u16 = 1;
pub(super) const DMA_MAP: u16 = 2;
pub(super) const DMA_UNMAP: u16 = 3;
pub(super) const DEVICE_INFO: u16 = 4;
pub(super) const REGION_INFO: u16 = 5;
pub(super) const IRQ_INFO: u16 = 7;
pub(super) const SET_IRQS: u16 = 8;
pub(super) const REGION_READ: u16 = 9;
pub(super) const REGION_WRITE: u16 = 10;
pub(super) const RESET: u16 = 13;

/// Flags of a header.
const KIND: u32 = 0xf;
const REPLY: u32 = 1;
const NO_REPLY: u32 = 1 << 4;
const ERROR: u32 = 1 << 5;

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    id: u16,
    pub(super) command: u16,
    /// With the header. Unit: bytes.
    pub(super) length: usize,
    flags: u32,
}

/// A number of two bytes; 0 where the bytes end.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    let place = |at: usize| u16::from(bytes.get(at).copied().unwrap_or_default());
    place(at) | place(at + 1) << 8
}

/// A number of four bytes; 0 where the bytes end.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

/// A number of eight bytes; 0 where the bytes end.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

impl Header {
    /// The header at the begin of the bytes; `None` if it is not all there. The error is a length
    /// that no message has.
    pub(super) fn of(bytes: &[u8]) -> Result<Option<Self>, ()> {
        if bytes.len() < HEADER {
            return Ok(None);
        }
        let length = u32_at(bytes, 4) as usize;
        if !(HEADER..=MESSAGE_MAX).contains(&length) {
            return Err(());
        }
        let (id, command, flags) = (u16_at(bytes, 0), u16_at(bytes, 2), u32_at(bytes, 8));
        Ok(Some(Self { id, command, length, flags }))
    }

    /// True for a command, not a reply.
    pub(super) fn is_command(&self) -> bool {
        self.flags & KIND == 0
    }

    /// Adds the reply to the output, if the client wants one.
    pub(super) fn answer(&self, answer: Result<Vec<u8>, Errno>, output: &mut Vec<u8>) {
        if self.flags & NO_REPLY != 0 {
            return;
        }
        let (flags, error) = match &answer {
            Ok(_) => (REPLY, 0),
            Err(error) => (REPLY | ERROR, error.raw_os_error() as u32),
        };
        let body = answer.unwrap_or_default();
        output.extend(self.id.to_le_bytes());
        output.extend(self.command.to_le_bytes());
        output.extend(((HEADER + body.len()) as u32).to_le_bytes());
        output.extend(flags.to_le_bytes());
        output.extend(error.to_le_bytes());
        output.extend(body);
    }
}

/// The bytes up to the end of what comes next: of the header, or of the message. A read of no more
/// gets the files of one message only.
pub(super) fn wanted(input: &[u8]) -> usize {
    match Header::of(input) {
        Ok(Some(header)) => header.length.saturating_sub(input.len()).max(1),
        _ => HEADER.saturating_sub(input.len()).max(1),
    }
}

/// The words, one after the other.
pub(super) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
