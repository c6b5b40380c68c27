//! Requests of an export and their answers.

use std::io::ErrorKind;

use flashlane_nvme::{Action, Range, SECTOR_BYTES, WorkError};

use super::{NbdSession, Running, Stage, number};
use crate::house::House;
use crate::session::{Ended, Wire};

/// Magic number of a request.
const REQUEST_MAGIC: u64 = 0x2560_9513;
/// Magic number of a simple reply.
const SIMPLE_MAGIC: u32 = 0x6744_6698;
/// Magic number of a structured reply.
const STRUCTURED_MAGIC: u32 = 0x668e_33ef;

/// Unit: bytes.
const REQUEST_BYTES: usize = 28;

/// Request: read.
const READ: u64 = 0;
/// Request: write.
const WRITE: u64 = 1;
/// Request: say goodbye.
const DISCONNECT: u64 = 2;
/// Request: flush.
const FLUSH: u64 = 3;
/// Request: trim.
const TRIM: u64 = 4;
/// Request: write zeroes.
const WRITE_ZEROES: u64 = 6;

/// Flag: complete only when durable.
const FUA: u64 = 1;
/// Flag of write zeroes: no hole. The drive may deallocate all the same: it keeps no promise here.
const NO_HOLE: u64 = 2;

/// The reply is over.
const DONE: u16 = 1;
/// Structured reply: data and its offset.
const OFFSET_DATA: u16 = 1;
/// Structured reply: an error.
const ERROR: u16 = 1 << 15 | 1;

/// The medium has failed.
const EIO: u32 = 5;
/// The request is wrong.
const EINVAL: u32 = 22;
/// There is no room.
const ENOSPC: u32 = 28;

/// The error number for work that did not succeed.
fn error_number(error: &WorkError) -> u32 {
    match error {
        WorkError::Store(error) if error.kind() == ErrorKind::StorageFull => ENOSPC,
        WorkError::Store(_) | WorkError::Refused(_) => EIO,
        WorkError::Namespace { .. } | WorkError::Range { .. } | WorkError::Data { .. } => EINVAL,
    }
}

impl NbdSession {
    /// Reads a request. False if it is not all there.
    pub(super) fn request(&mut self, wire: &mut Wire, house: &mut House) -> Result<bool, Ended> {
        let Some(header) = wire.input.get(..REQUEST_BYTES) else { return Ok(false) };
        if number(&header[..4]) != REQUEST_MAGIC {
            return Err(Ended("a request without its magic number"));
        }
        let (flags, kind) = (number(&header[4..6]), number(&header[6..8]));
        let (cookie, offset) = (number(&header[8..16]), number(&header[16..24]));
        let length = number(&header[24..28]);
        let sent = if kind == WRITE { length as usize } else { 0 };
        if sent > house.limits.request_bytes {
            return Err(Ended("a write that is longer than the largest request"));
        }
        if wire.input.len() < REQUEST_BYTES + sent {
            return Ok(false);
        }
        let data = wire.input[REQUEST_BYTES..REQUEST_BYTES + sent].to_vec();
        wire.input.drain(..REQUEST_BYTES + sent);
        if kind == DISCONNECT {
            self.leaving = true;
            return Ok(true);
        }
        let Stage::Requests(export) = &self.stage else { return Ok(false) };
        let most = house.limits.request_bytes as u64;
        let place = (export.tenants.clone(), export.namespace, export.bytes);
        let running = Running {
            cookie,
            offset: (kind == READ).then_some(offset),
            held: if kind == READ { length as usize } else { sent },
        };
        let too_long = kind == READ && length > most;
        let action = match too_long {
            true => None,
            false => action(kind, flags, (offset, length), place.2, data),
        };
        let tenants = &place.0;
        let own = tenants.get(place.1 as usize - 1).or_else(|| tenants.first());
        let tenant = own.copied().unwrap_or_default();
        let started = match action {
            Some(action) => house.work((tenant, place.1), action),
            None => {
                self.answer_error(&running, EINVAL, &mut wire.output);
                house.arrivals += 1;
                return Ok(true);
            }
        };
        match started {
            Ok(tag) => {
                self.held += running.held;
                self.running.insert(tag, running);
            }
            Err(error) => self.answer_error(&running, error_number(&error), &mut wire.output),
        }
        Ok(true)
    }

    /// Answers a request that is over.
    pub(super) fn answer(
        &self,
        running: &Running,
        outcome: Result<Vec<u8>, WorkError>,
        output: &mut Vec<u8>,
    ) {
        let data = match outcome {
            Ok(data) => data,
            Err(error) => return self.answer_error(running, error_number(&error), output),
        };
        match running.offset.filter(|_| self.negotiated.structured) {
            Some(offset) => {
                structured(output, OFFSET_DATA, running.cookie, data.len() + 8);
                output.extend(offset.to_be_bytes());
            }
            None => simple(output, 0, running.cookie),
        }
        output.extend(data);
    }

    fn answer_error(&self, running: &Running, error: u32, output: &mut Vec<u8>) {
        if !self.negotiated.structured {
            return simple(output, error, running.cookie);
        }
        structured(output, ERROR, running.cookie, 6);
        output.extend(error.to_be_bytes());
        output.extend([0, 0]);
    }
}

fn simple(output: &mut Vec<u8>, error: u32, cookie: u64) {
    output.extend(SIMPLE_MAGIC.to_be_bytes());
    output.extend(error.to_be_bytes());
    output.extend(cookie.to_be_bytes());
}

fn structured(output: &mut Vec<u8>, kind: u16, cookie: u64, length: usize) {
    output.extend(STRUCTURED_MAGIC.to_be_bytes());
    output.extend(DONE.to_be_bytes());
    output.extend(kind.to_be_bytes());
    output.extend(cookie.to_be_bytes());
    output.extend((length as u32).to_be_bytes());
}

/// What a request asks of the export; `None` for a request that is wrong.
fn action(
    kind: u64,
    flags: u64,
    (offset, length): (u64, u64),
    bytes: u64,
    data: Vec<u8>,
) -> Option<Action> {
    let durable = flags & FUA != 0;
    let allowed = if kind == WRITE_ZEROES { FUA | NO_HOLE } else { FUA };
    if flags & !allowed != 0 {
        return None;
    }
    if kind == FLUSH {
        return Some(Action::Flush);
    }
    let end = offset.checked_add(length)?;
    let whole = offset.is_multiple_of(SECTOR_BYTES) && length.is_multiple_of(SECTOR_BYTES);
    if !whole || length == 0 || end > bytes {
        return None;
    }
    let range = Range { sector: offset / SECTOR_BYTES, sectors: length / SECTOR_BYTES };
    match kind {
        READ => Some(Action::Read(range)),
        WRITE => Some(Action::Write { sector: range.sector, data, durable, placement: None }),
        TRIM => Some(Action::Trim(vec![range])),
        WRITE_ZEROES => Some(Action::Zero { range, durable }),
        _ => None,
    }
}
