//! What versions 2 and 3 of fio's iolog share: `file action [offset length]`.
//!
//! Source: fio's HOWTO, and fio 3.33 reading and writing such files. Lines `add`, `open` and
//! `close` name files; every file is a device, numbered from 0 in the order in which the names
//! appear. `sync`, `datasync` and `sync_file_range` are flushes. Files are not counted as requests,
//! nor as skipped.

use std::collections::HashMap;

use super::five_columns::{next_field, range};
use crate::number;
use crate::record::{Op, RawRecord};
use crate::reject::Reason;

/// Most files of one log. A file beyond them is rejected.
const FILES_MAX: usize = 65_536;

/// The files that a log names.
#[derive(Default)]
pub(super) struct Files {
    /// Never iterated over.
    numbers: HashMap<Vec<u8>, u32>,
    /// The one of the last line, which mostly is the one of the next.
    last: (Vec<u8>, u32),
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A request, of which the time is for the caller to say.
    Request(RawRecord),
    /// A number of whatever unit.
    Wait(u64),
    /// A file is added, opened or closed.
    File,
}

impl Files {
    fn number(&mut self, name: &[u8]) -> Result<u32, Reason> {
        if self.last.0 != name {
            let next = self.numbers.len();
            let number = match self.numbers.get(name) {
                Some(number) => *number,
                None if next == FILES_MAX => return Err(Reason::BadDevice),
                None => {
                    self.numbers.insert(name.to_vec(), next as u32);
                    next as u32
                }
            };
            self.last.0.clear();
            self.last.0.extend_from_slice(name);
            self.last.1 = number;
        }
        Ok(self.last.1)
    }

    /// Reads `file action [offset length]`.
    pub(super) fn parse(&mut self, mut rest: &[u8]) -> Result<Line, Reason> {
        let mut field = || next_field(&mut rest);
        let name = field().ok_or(Reason::FieldCount)?;
        let action = field().ok_or(Reason::FieldCount)?;
        let (first, second) = (field(), field());
        if field().is_some() {
            return Err(Reason::FieldCount);
        }
        let op = match action {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => Op::Flush,
            b"wait" => {
                let time = number::decimal(first.ok_or(Reason::FieldCount)?);
                return Ok(Line::Wait(time.map_err(|fault| fault.reason(Reason::BadTime))?));
            }
            b"add" | b"open" | b"close" if first.is_none() => {
                self.number(name)?;
                return Ok(Line::File);
            }
            _ => return Err(Reason::UnknownOp),
        };
        let device = self.number(name)?;
        let (offset, length) = match (op, first, second) {
            (Op::Flush, ..) => (0, 0),
            (_, Some(offset), Some(length)) => (
                number::decimal(offset).map_err(|fault| fault.reason(Reason::BadOffset))?,
                number::decimal(length).map_err(|fault| fault.reason(Reason::BadLength))?,
            ),
            _ => return Err(Reason::FieldCount),
        };
        let (offset_bytes, length_bytes) = range(op, offset, length, 1, 1)?;
        Ok(Line::Request(RawRecord {
            time_ps: 0,
            op,
            offset_bytes,
            length_bytes,
            device,
            tag: 0,
            placement: None,
        }))
    }
}
