//! I/O commands: what they transfer, and what they ask of the namespace.

use super::Transfer;
use super::placing::Placing;
use crate::bytes::{u32_at, u64_at};
use crate::entry::{DataPointer, Entry};
use crate::media::{Action, Range, SECTOR_BYTES};
use crate::opcode::io;
use crate::status::Status;

/// Largest transfer of a command. Unit: bytes. It is [`TRANSFER_PAGES_LOG2`] in bytes.
pub(crate) const TRANSFER_MAX: usize = 4096 << TRANSFER_PAGES_LOG2;

/// MDTS: log2 of the largest transfer in pages of 4 KiB.
pub(crate) const TRANSFER_PAGES_LOG2: u8 = 5;

/// Bytes of a range of Dataset Management.
const RANGE_BYTES: usize = 16;

/// The most data of Dataset Management. Unit: bytes.
const RANGES_BYTES_MAX: usize = 256 * RANGE_BYTES;

/// A namespace as a command sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    /// Unit: sectors.
    pub(crate) sectors: u64,
    /// Unit: bytes.
    pub(crate) block: u32,
    /// What writes may name.
    pub(crate) placing: Placing,
}

impl Space {
    /// Number of blocks.
    pub(crate) fn blocks(self) -> u64 {
        self.sectors * SECTOR_BYTES / u64::from(self.block)
    }

    /// The sectors of blocks.
    fn range(self, first: u64, blocks: u64) -> Result<Range, Status> {
        let end = first.checked_add(blocks).filter(|&end| end <= self.blocks());
        let each = u64::from(self.block) / SECTOR_BYTES;
        end.map(|_| Range { sector: first * each, sectors: blocks * each })
            .ok_or(Status::LBA_OUT_OF_RANGE)
    }
}

/// First block and number of blocks of a command.
fn blocks(entry: &Entry) -> (u64, u64) {
    (entry.qword(10), u64::from(entry.dword(12) & 0xffff) + 1)
}

/// Bit 30 of dword 12.
fn is_durable(entry: &Entry) -> bool {
    entry.dword(12) >> 30 & 1 == 1
}

/// The data that a command transfers.
pub(crate) fn transfer(entry: &Entry, space: Option<Space>) -> Result<Transfer, Status> {
    if entry.fused() != 0 {
        return Err(Status::INVALID_FIELD);
    }
    let known = || space.ok_or(Status::INVALID_NAMESPACE);
    let bytes = || -> Result<usize, Status> {
        let (first, count) = blocks(entry);
        let range = known()?.range(first, count)?;
        let bytes = (range.sectors * SECTOR_BYTES) as usize;
        if bytes > TRANSFER_MAX { Err(Status::INVALID_FIELD) } else { Ok(bytes) }
    };
    match entry.opcode() {
        io::READ => bytes().map(Transfer::ToHost),
        io::WRITE => {
            known()?.placing.named(entry)?;
            bytes().map(Transfer::FromHost)
        }
        io::DATASET_MANAGEMENT => {
            known()?;
            Ok(Transfer::FromHost(range_bytes(entry)))
        }
        io::FLUSH | io::WRITE_ZEROES => Ok(Transfer::None),
        io::IO_MANAGEMENT_RECEIVE if known()?.placing.is_fdp() => received(entry),
        _ => Err(Status::INVALID_OPCODE),
    }
}

/// Ranges of Dataset Management.
fn ranges(entry: &Entry) -> usize {
    (entry.dword(10) & 0xff) as usize + 1
}

/// The data that Dataset Management transfers. Over networks, Linux always sends room for 256
/// ranges, so up to that many are taken. Unit: bytes.
fn range_bytes(entry: &Entry) -> usize {
    let needed = ranges(entry) * RANGE_BYTES;
    let DataPointer { length, kind, .. } = entry.data();
    let over_network = [DataPointer::IN_CAPSULE, DataPointer::TRANSPORT].contains(&kind);
    match length as usize {
        sent @ ..=RANGES_BYTES_MAX if over_network && entry.has_descriptor() => sent.max(needed),
        _ => needed,
    }
}

/// The data that I/O Management Receive transfers.
fn received(entry: &Entry) -> Result<Transfer, Status> {
    /// Management operation: the status of reclaim unit handles.
    const UNIT_STATUS: u32 = 1;
    let bytes = (u64::from(entry.dword(11)) + 1) * 4;
    match entry.dword(10) & 0xff {
        0 => Ok(Transfer::None),
        UNIT_STATUS if bytes <= TRANSFER_MAX as u64 => Ok(Transfer::ToHost(bytes as usize)),
        _ => Err(Status::INVALID_FIELD),
    }
}

/// What a command asks of its namespace; `None` if there is nothing to do. `data` has the length
/// that [`transfer`] says.
pub(crate) fn action(entry: &Entry, space: Space, data: Vec<u8>) -> Result<Option<Action>, Status> {
    let (first, count) = blocks(entry);
    let durable = is_durable(entry);
    let action = match entry.opcode() {
        io::READ => Action::Read(space.range(first, count)?),
        io::WRITE => {
            let sector = space.range(first, count)?.sector;
            let placement = space.placing.named(entry)?;
            Action::Write { sector, data, durable, placement }
        }
        io::WRITE_ZEROES => Action::Zero { range: space.range(first, count)?, durable },
        io::FLUSH => Action::Flush,
        io::DATASET_MANAGEMENT => return deallocations(entry, space, &data),
        _ => return Err(Status::INVALID_OPCODE),
    };
    Ok(Some(action))
}

/// The ranges of Dataset Management, if it asks for deallocation. Its other hints change nothing.
fn deallocations(entry: &Entry, space: Space, data: &[u8]) -> Result<Option<Action>, Status> {
    let mut found = Vec::new();
    for range in data.chunks_exact(RANGE_BYTES).take(ranges(entry)) {
        let (first, count) = (u64_at(range, 8), u64::from(u32_at(range, 4)));
        let range = space.range(first, count)?;
        if range.sectors > 0 {
            found.push(range);
        }
    }
    let deallocate = entry.dword(11) >> 2 & 1 == 1 && !found.is_empty();
    Ok(deallocate.then_some(Action::Trim(found)))
}
