//! Data that hosts send when they are asked (R2T).

use std::collections::{BTreeMap, VecDeque};

use flashlane_nvme::Entry;

use super::pdu::{self, Agreed, Fatal, Pdu};
use crate::session::Wire;

/// A command whose data is on the way.
#[derive(Debug)]
struct Coming {
    entry: Entry,
    expected: usize,
    data: Vec<u8>,
    intact: bool,
}

/// The commands of a queue whose data is on the way, or was not asked for yet.
#[derive(Debug, Default)]
pub(crate) struct Transfers {
    /// By transfer tag.
    coming: BTreeMap<u16, Coming>,
    waiting: VecDeque<(Entry, usize)>,
    last_tag: u16,
    /// Unit: bytes.
    granted: usize,
}

impl Transfers {
    /// Number of commands.
    pub(crate) fn len(&self) -> usize {
        self.coming.len() + self.waiting.len()
    }

    /// Data that was asked for and belongs to no complete command. Unit: bytes.
    pub(crate) fn granted(&self) -> usize {
        self.granted
    }

    /// Adds a command with `bytes` bytes of data.
    pub(crate) fn wait(&mut self, entry: Entry, bytes: usize) {
        self.waiting.push_back((entry, bytes));
    }

    /// Asks for the data of commands, as long as no more than `most` bytes are asked for; always
    /// for one command.
    pub(crate) fn grant(&mut self, most: usize, wire: &mut Wire, agreed: Agreed) {
        while let Some(&(entry, bytes)) = self.waiting.front() {
            if self.granted > 0 && self.granted + bytes > most {
                return;
            }
            self.waiting.pop_front();
            self.granted += bytes;
            // There are never so many commands that no tag is free: a queue has 1024 entries.
            loop {
                self.last_tag = self.last_tag.wrapping_add(1);
                if !self.coming.contains_key(&self.last_tag) {
                    break;
                }
            }
            let mut body = [0; 16];
            body[..2].copy_from_slice(&entry.command_id().to_le_bytes());
            body[2..4].copy_from_slice(&self.last_tag.to_le_bytes());
            body[8..12].copy_from_slice(&(bytes as u32).to_le_bytes());
            pdu::put(&mut wire.output, (pdu::READY_TO_TRANSFER, 0), &body, &[], agreed);
            let coming = Coming { entry, expected: bytes, data: Vec::new(), intact: true };
            self.coming.insert(self.last_tag, coming);
        }
    }

    /// Takes data. Returns the command, its data, and whether this is intact, when it is all there.
    pub(crate) fn data(&mut self, unit: &Pdu) -> Result<Option<(Entry, Vec<u8>, bool)>, Fatal> {
        let header = &unit.header;
        let number = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let wide = |at: usize| usize::from(number(at)) | usize::from(number(at + 2)) << 16;
        let (command_id, tag, offset, length) = (number(8), number(10), wide(12), wide(16));
        let coming = self.coming.get_mut(&tag).ok_or(Fatal::Field(10))?;
        if coming.entry.command_id() != command_id {
            return Err(Fatal::Field(8));
        }
        if length != unit.data.len() || length == 0 {
            return Err(Fatal::Field(16));
        }
        if offset != coming.data.len() || offset + length > coming.expected {
            return Err(Fatal::DataRange);
        }
        let complete = offset + length == coming.expected;
        if complete != (unit.flags & pdu::LAST != 0) {
            return Err(Fatal::Field(1));
        }
        coming.data.extend(&unit.data);
        coming.intact &= unit.intact;
        if !complete {
            return Ok(None);
        }
        let over = self.coming.remove(&tag);
        self.granted -= over.as_ref().map_or(0, |over| over.expected);
        Ok(over.map(|over| (over.entry, over.data, over.intact)))
    }
}
