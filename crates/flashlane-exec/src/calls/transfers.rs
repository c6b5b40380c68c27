//! System calls that read, write and sync files.

use flashlane::Time;

use super::descriptors::{Open, Target};
use super::{Call, EBADF, EFAULT, EINVAL, ENOSPC, Outcome};
use crate::host::{PAGE, Progress};
use crate::process::Process;
use crate::threads::Wait;

/// Most bytes of a call, as on Linux.
const MOST: u64 = 0x7fff_f000;

/// The waiter for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiter {
    /// A thread.
    Thread(usize),
    /// A context of asynchronous I/O: its number, the data and the address of the request.
    Context(u64, u64, u64),
}

/// Work at the end of an operation.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    pub(crate) waiter: Waiter,
    result: i64,
    /// Data that a read copies to the program: the file, the offset, and the destination.
    copy: Option<(u32, u64, Vec<Segment>)>,
    /// The file to sync at the end, with `O_DSYNC`.
    sync: Option<u32>,
    owed: u64,
}

/// A piece of the program's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    address: u64,
    length: u64,
}

impl Segment {
    /// `length` bytes from an address on.
    pub(super) fn new(address: u64, length: u64) -> Self {
        Self { address, length }
    }
}

/// A transfer: its progress, and the work at its end; or an error number.
type Started = Result<(Progress, Ending), i64>;

impl Process {
    pub(super) fn transfer_call(&mut self, call: &Call) -> Option<Outcome> {
        let waiter = Waiter::Thread(call.thread);
        let descriptor = call.int(0);
        let [_, second, third, offset, ..] = call.arguments;
        let whole = || vec![Segment { address: second, length: third }];
        let started = match call.number {
            63 => self.read_next(waiter, descriptor, whole()),
            64 => self.write_next(waiter, descriptor, whole()),
            65 | 66 | 69 | 70 => match self.segments(second, third) {
                None => Err(EFAULT),
                Some(segments) => match call.number {
                    65 => self.read_next(waiter, descriptor, segments),
                    66 => self.write_next(waiter, descriptor, segments),
                    69 => self.start_read(waiter, descriptor, offset, segments),
                    _ => self.start_write(waiter, descriptor, Some(offset), segments),
                },
            },
            67 => self.start_read(waiter, descriptor, offset, whole()),
            68 => self.start_write(waiter, descriptor, Some(offset), whole()),
            81 => Ok(self.start_sync(waiter, None, true)),
            82 => self.start_file_sync(waiter, descriptor, true),
            83 | 84 => self.start_file_sync(waiter, descriptor, false),
            _ => return None,
        };
        Some(match started {
            Err(error) => Outcome::Value(error),
            Ok((Progress::Wait(operation), ending)) => {
                self.endings.insert(operation, ending);
                Outcome::Park(Wait::Operation(operation), None)
            }
            Ok((Progress::Done, ending)) => match self.finish(self.clock.now(), ending) {
                Finished::Over(result, owed) => Outcome::Costly(result, owed),
                Finished::Waits(operation) => Outcome::Park(Wait::Operation(operation), None),
            },
        })
    }

    fn segments(&mut self, address: u64, count: u64) -> Option<Vec<Segment>> {
        if count > 1024 {
            return None;
        }
        let mut segments = Vec::new();
        for index in 0..count {
            let at = address.checked_add(16 * index)?;
            let (address, length) = (self.take_u64(at)?, self.take_u64(at.checked_add(8)?)?);
            segments.push(Segment { address, length });
        }
        Some(segments)
    }

    fn read_next(&mut self, waiter: Waiter, descriptor: i32, segments: Vec<Segment>) -> Started {
        let nothing = |result| Ok((Progress::Done, Ending::new(waiter, result)));
        match self.descriptors.get(descriptor) {
            None => return Err(EBADF),
            Some(Target::Console | Target::Null) => return nothing(0),
            Some(Target::Random) => {
                let mut sum = 0;
                for segment in segments {
                    let length = segment.length.min(1 << 20);
                    let bytes: Vec<u8> = (0..length).map(|_| self.rng.next_u64() as u8).collect();
                    if self.give(segment.address, &bytes) != 0 {
                        return Err(EFAULT);
                    }
                    sum += length;
                }
                return nothing(sum as i64);
            }
            Some(Target::Folder(..)) => return Err(super::EISDIR),
            Some(Target::File(_)) => {}
        }
        let open = self.descriptors.open(descriptor).ok_or(EBADF)?;
        let offset = open.offset;
        let started = self.start_read(waiter, descriptor, offset, segments)?;
        let read = started.1.result.max(0).cast_unsigned();
        self.descriptors.open(descriptor).ok_or(EBADF)?.offset = offset + read;
        Ok(started)
    }

    fn write_next(&mut self, waiter: Waiter, descriptor: i32, segments: Vec<Segment>) -> Started {
        match self.descriptors.get(descriptor) {
            None => return Err(EBADF),
            Some(Target::Console | Target::Null | Target::Random) => {
                let console = matches!(self.descriptors.get(descriptor), Some(Target::Console));
                let bytes = self.gather(&segments)?;
                if console {
                    self.print(&bytes);
                }
                return Ok((Progress::Done, Ending::new(waiter, bytes.len() as i64)));
            }
            Some(Target::Folder(..)) => return Err(EBADF),
            Some(Target::File(_)) => {}
        }
        let open = self.descriptors.open(descriptor).ok_or(EBADF)?;
        let offset = if open.append { self.host.files.get(open.file).size } else { open.offset };
        let started = self.start_write(waiter, descriptor, Some(offset), segments)?;
        let written = started.1.result.max(0).cast_unsigned();
        self.descriptors.open(descriptor).ok_or(EBADF)?.offset = offset + written;
        Ok(started)
    }

    /// Begins to read a file.
    pub(super) fn start_read(
        &mut self,
        waiter: Waiter,
        descriptor: i32,
        offset: u64,
        segments: Vec<Segment>,
    ) -> Started {
        let open = self.descriptors.open(descriptor).filter(|open| open.reads).ok_or(EBADF)?;
        let Open { file, direct, .. } = *open;
        let length = length_of(&segments, offset)?;
        if direct && !aligned(offset, &segments) {
            return Err(EINVAL);
        }
        let size = self.host.files.get(file).size;
        let length = length.min(size.saturating_sub(offset));
        let mut ending = Ending::new(waiter, length as i64);
        if length == 0 {
            return Ok((Progress::Done, ending));
        }
        let progress = if direct {
            self.host.direct(file, offset, length.next_multiple_of(512), false)
        } else {
            let mut ahead = open.ahead;
            let progress = self.host.read(file, offset, length, &mut ahead);
            self.descriptors.open(descriptor).ok_or(EBADF)?.ahead = ahead;
            ending.owed = length.div_ceil(PAGE) * self.page_instructions;
            progress
        };
        ending.copy = Some((file, offset, segments));
        Ok((progress, ending))
    }

    /// Begins to write a file; at its end without an offset.
    pub(super) fn start_write(
        &mut self,
        waiter: Waiter,
        descriptor: i32,
        offset: Option<u64>,
        segments: Vec<Segment>,
    ) -> Started {
        let open = self.descriptors.open(descriptor).filter(|open| open.writes).ok_or(EBADF)?;
        let Open { file, direct, synchronous, .. } = *open;
        let size = self.host.files.get(file).size;
        let offset = offset.unwrap_or(size);
        let length = length_of(&segments, offset)?;
        if direct && !aligned(offset, &segments) {
            return Err(EINVAL);
        }
        let bytes = self.gather(&segments)?;
        let mut ending = Ending::new(waiter, length as i64);
        if length == 0 {
            return Ok((Progress::Done, ending));
        }
        self.host.reserve(file, offset, length).map_err(|_| ENOSPC)?;
        if offset + length > size {
            self.host.resize(file, offset + length);
        }
        self.host.files.get_mut(file).write(offset, &bytes);
        ending.sync = synchronous.then_some(file);
        let progress = if direct {
            self.host.direct(file, offset, length, true)
        } else {
            ending.owed = length.div_ceil(PAGE) * self.page_instructions;
            self.host.write(self.clock.now(), file, offset..offset + length, size)
        };
        Ok((progress, ending))
    }

    /// Begins to make a file durable.
    pub(super) fn start_file_sync(
        &mut self,
        waiter: Waiter,
        descriptor: i32,
        all: bool,
    ) -> Started {
        let file = self.descriptors.file(descriptor).ok_or(EBADF)?;
        // `fdatasync` may leave out the time of the last change, which is not kept anyway.
        let grown = self.host.files.get(file).metadata_dirty;
        Ok(self.start_sync(waiter, Some(file), all || grown))
    }

    fn start_sync(&mut self, waiter: Waiter, file: Option<u32>, all: bool) -> (Progress, Ending) {
        (self.host.sync(self.clock.now(), file, all), Ending::new(waiter, 0))
    }

    fn gather(&mut self, segments: &[Segment]) -> Result<Vec<u8>, i64> {
        let total = length_of(segments, 0)?;
        let mut bytes = vec![0; total as usize];
        let mut at = 0;
        for segment in segments {
            let length = segment.length as usize;
            if !self.machine.read_into(segment.address, &mut bytes[at..at + length]) {
                return Err(EFAULT);
            }
            at += length;
        }
        Ok(bytes)
    }

    /// Ends an operation of the host.
    pub(crate) fn operation_over(&mut self, now: Time, operation: u32) {
        let Some(ending) = self.endings.remove(&operation) else { return };
        let waiter = ending.waiter;
        if let Finished::Over(result, owed) = self.finish(now, ending) {
            match waiter {
                Waiter::Thread(thread) => self.threads.wake(thread, result, owed),
                Waiter::Context(context, data, request) => {
                    self.event(context, [data, request, result.cast_unsigned(), 0], owed);
                }
            }
        }
    }

    /// Ends a transfer, or goes on with its sync.
    pub(super) fn finish(&mut self, now: Time, mut ending: Ending) -> Finished {
        if let Some(file) = ending.sync.take()
            && let Progress::Wait(operation) = self.host.sync(now, Some(file), true)
        {
            self.endings.insert(operation, ending);
            return Finished::Waits(operation);
        }
        let mut result = ending.result;
        if let Some((file, offset, segments)) = ending.copy {
            let mut bytes = vec![0; result.max(0) as usize];
            if let Some(file) = self.host.files.find_mut(file) {
                file.read(offset, &mut bytes);
            }
            let mut rest = &bytes[..];
            for segment in segments {
                let (piece, after) = rest.split_at(rest.len().min(segment.length as usize));
                if self.give(segment.address, piece) != 0 {
                    result = EFAULT;
                }
                rest = after;
            }
        }
        Finished::Over(result, ending.owed)
    }
}

/// Result of ending a transfer.
#[derive(Debug)]
pub(super) enum Finished {
    /// The transfer is over, with this result and this number of kernel instructions.
    Over(i64, u64),
    /// The transfer continues with another operation.
    Waits(u32),
}

impl Ending {
    fn new(waiter: Waiter, result: i64) -> Self {
        Self { waiter, result, copy: None, sync: None, owed: 0 }
    }
}

fn length_of(segments: &[Segment], offset: u64) -> Result<u64, i64> {
    let sum = segments.iter().try_fold(0u64, |sum, one| sum.checked_add(one.length));
    let end = sum.and_then(|sum| sum.checked_add(offset)).filter(|&end| end <= 1 << 44);
    match (sum, end) {
        (Some(sum), Some(_)) if sum <= MOST => Ok(sum),
        _ => Err(EINVAL),
    }
}

/// Direct I/O must be of whole sectors.
fn aligned(offset: u64, segments: &[Segment]) -> bool {
    let whole = |one: &Segment| (one.length | one.address).is_multiple_of(512);
    offset.is_multiple_of(512) && segments.iter().all(whole)
}
