//! Entries of submission and completion queues.

use crate::bytes::{u16_at, u32_at, u64_at};
use crate::status::Status;

/// A submission queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(pub [u8; 64]);

/// A data pointer (SGL descriptor) in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataPointer {
    /// The address, or an offset.
    pub address: u64,
    /// Unit: bytes.
    pub length: u32,
    /// Type and subtype, for example 01h for data inside of the capsule.
    pub kind: u8,
}

impl DataPointer {
    /// Kind of a pointer to data that is inside of the capsule.
    pub const IN_CAPSULE: u8 = 0x01;
    /// Kind of a pointer to data that the transport transfers.
    pub const TRANSPORT: u8 = 0x5a;
}

impl Entry {
    /// An entry of zeroes with an opcode, a command identifier and a namespace. Its data pointer
    /// is an SGL descriptor.
    #[must_use]
    pub fn new(opcode: u8, command_id: u16, namespace: u32) -> Self {
        let mut bytes = [0; 64];
        bytes[0] = opcode;
        bytes[1] = 0x40;
        bytes[2..4].copy_from_slice(&command_id.to_le_bytes());
        bytes[4..8].copy_from_slice(&namespace.to_le_bytes());
        Self(bytes)
    }

    /// The entry with another value of a dword.
    #[must_use]
    pub fn with_dword(mut self, number: usize, value: u32) -> Self {
        self.0[number * 4..number * 4 + 4].copy_from_slice(&value.to_le_bytes());
        self
    }

    /// The entry with another data pointer.
    #[must_use]
    pub fn with_data(mut self, data: DataPointer) -> Self {
        self.0[24..32].copy_from_slice(&data.address.to_le_bytes());
        self.0[32..36].copy_from_slice(&data.length.to_le_bytes());
        self.0[39] = data.kind;
        self
    }

    /// The opcode.
    #[must_use]
    pub fn opcode(&self) -> u8 {
        self.0[0]
    }

    /// Fused operation, bits 1:0; 0 for none.
    pub(crate) fn fused(&self) -> u8 {
        self.0[1] & 3
    }

    /// The command identifier, which comes back with the completion.
    #[must_use]
    pub fn command_id(&self) -> u16 {
        u16_at(&self.0, 2)
    }

    /// The namespace.
    #[must_use]
    pub fn namespace(&self) -> u32 {
        u32_at(&self.0, 4)
    }

    /// The dword of a number from 0 to 15.
    #[must_use]
    pub fn dword(&self, number: usize) -> u32 {
        u32_at(&self.0, number * 4)
    }

    /// The number in two dwords, the lower one first.
    #[must_use]
    pub fn qword(&self, number: usize) -> u64 {
        u64_at(&self.0, number * 4)
    }

    /// True if the data pointer is an SGL descriptor, not a pair of pages.
    pub(crate) fn has_descriptor(&self) -> bool {
        self.0[1] >> 6 != 0
    }

    /// The data pointer.
    #[must_use]
    pub fn data(&self) -> DataPointer {
        DataPointer { address: u64_at(&self.0, 24), length: u32_at(&self.0, 32), kind: self.0[39] }
    }
}

/// A completion queue entry. The phase tag belongs to transports that have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletionEntry {
    /// Result of the command.
    pub result: u64,
    /// The submission queue entry that the controller takes next.
    pub queue_head: u16,
    /// The submission queue.
    pub queue: u16,
    /// The command identifier.
    pub command_id: u16,
    /// The status.
    pub status: Status,
}

impl CompletionEntry {
    /// The entry as bytes, with a phase tag of 0.
    #[must_use]
    pub fn encode(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.result.to_le_bytes());
        bytes[8..10].copy_from_slice(&self.queue_head.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.queue.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.command_id.to_le_bytes());
        bytes[14..].copy_from_slice(&(self.status.0 << 1).to_le_bytes());
        bytes
    }

    /// The entry of 16 bytes, whatever its phase tag.
    #[must_use]
    pub fn decode(bytes: &[u8; 16]) -> Self {
        Self {
            result: u64_at(bytes, 0),
            queue_head: u16_at(bytes, 8),
            queue: u16_at(bytes, 10),
            command_id: u16_at(bytes, 12),
            status: Status(u16_at(bytes, 14) >> 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_fields() {
        let pointer = DataPointer { address: 1 << 40, length: 4096, kind: 0x5a };
        let entry = Entry::new(2, 0xabcd, 7).with_dword(10, 5).with_dword(11, 1).with_data(pointer);
        assert_eq!((entry.opcode(), entry.command_id(), entry.namespace()), (2, 0xabcd, 7));
        assert_eq!((entry.qword(10), entry.dword(11), entry.data()), (5 | 1 << 32, 1, pointer));
        let status = Status::LBA_OUT_OF_RANGE;
        let done = CompletionEntry { result: 9, queue_head: 3, queue: 1, command_id: 2, status };
        assert_eq!(CompletionEntry::decode(&done.encode()), done);
        assert_eq!(done.encode()[14..], [0x00, 0x81], "80h with do-not-retry, one bit up");
    }
}
