//! Reads binary traces of blktrace.
//!
//! Source: blktrace's `blktrace_api.h` (version 7) and the version 8 of `struct blk_io_trace2`
//! posted to the Linux kernel list in 2025. The magic number `0x65617400 | version` of each record
//! tells its version and byte order:
//!
//! | field | version 7: offset, bytes | version 8 |
//! | --- | --- | --- |
//! | magic, sequence, time (ns), sector (512 B), bytes | 0, 4, 8, 16, 24 | the same |
//! | action | 28, 4 | 32, 8 |
//! | process, device, cpu, error, length of the payload | 32, 36, 40, 44, 46 | 28, 40, 44, 48, 50 |
//! | payload | 48 | 64 |
//!
//! blktrace writes a file for each CPU, `NAME.blktrace.0` and so on: naming any of them reads all
//! that are there, merged by time. A single stream, as `blktrace -o -` and `blkparse -d` write it,
//! has any other name. A request has several events, of which one counts ([`Action`]): by default
//! `Q`, the arrival. Other events, notes and passed-through commands are skipped and counted.
//! Records wait in a buffer of 65,536 and leave it by time.

use std::path::{Path, PathBuf};

use super::blk_event::{Account, Asked, SECTOR_BYTES, asked_of, is_note};
use super::order::ByArrival;
use super::{Entry, FormatInfo, RecordParser};
use crate::error::TraceError;
use crate::lines::LineReader;
use crate::options::{Action, Reading};
use crate::place::Unit;
use crate::record::{Op, RawRecord};
use crate::reject::{NamedLine, Reason, Rejected};
use crate::tags::{TagField, TagKind, Tags};
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "blktrace",
    description: "binary records of blktrace, versions 7 and 8; the files of all CPUs, or one stream",
    example: "magic 0x65617407, sequence, time in ns, sector, bytes, action, pid, device, cpu",
    has_actions: true,
    tags: &[TagKind::Process, TagKind::Pid, TagKind::Cgroup],
    recognises: |head| head.first_chunk().is_some_and(|magic| Layout::of(*magic).is_some()),
    ..FormatInfo::PLAIN
};

/// Highest number of a CPU whose file is looked for.
const CPUS_MAX: u32 = 4096;
/// The magic numbers that a record may begin with.
const MAGIC: &str = "0x65617407 or 0x65617408 (blktrace, version 7 or 8), in either byte order";
/// Bits of an action that hold the kind of the event. The bits above hold the categories.
const HAPPENED: u64 = 0xff;
/// Place of the categories in an action.
const CATEGORIES_SHIFT: u32 = 16;
/// Bit of an action whose payload begins with the inode number of a control group.
const OF_CGROUP: u64 = 1 << 8;
/// Code of a note with the name of a process.
const PROCESS_NOTE: u64 = 0;

/// The layout of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    is_version_8: bool,
    is_big_endian: bool,
}

impl Layout {
    fn of(magic: [u8; 4]) -> Option<Layout> {
        let version = |number: u32| match number {
            0x6561_7407 => Some(false),
            0x6561_7408 => Some(true),
            _ => None,
        };
        let of = |is_big_endian| move |is_version_8| Layout { is_version_8, is_big_endian };
        let little = version(u32::from_le_bytes(magic)).map(of(false));
        little.or_else(|| version(u32::from_be_bytes(magic)).map(of(true)))
    }

    fn bytes(self) -> usize {
        if self.is_version_8 { 64 } else { 48 }
    }

    /// The number of `N` bytes at an offset.
    fn number<const N: usize>(self, record: &[u8], at: usize) -> u64 {
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(&record[at..at + N]);
        if self.is_big_endian {
            wide[..N].reverse();
        }
        u64::from_le_bytes(wide)
    }
}

/// The fields of an event that are used.
#[derive(Clone, Copy, Debug)]
struct Event {
    time_ns: u64,
    sector: u64,
    bytes: u64,
    action: u64,
    device: u32,
    pid: u32,
    payload: u64,
    /// Tag from the payload; 0 if the payload has none or no tag is wanted.
    tag: u32,
}

impl Event {
    fn shown(self) -> String {
        format!("sector {} bytes {} action {:#x}", self.sector, self.bytes, self.action)
    }

    fn of(record: &[u8], layout: Layout) -> Event {
        let (action, device, payload, pid_at) = if layout.is_version_8 {
            let action = layout.number::<8>(record, 32);
            (action, layout.number::<4>(record, 40), layout.number::<2>(record, 50), 28)
        } else {
            let action = layout.number::<4>(record, 28);
            (action, layout.number::<4>(record, 36), layout.number::<2>(record, 46), 32)
        };
        Event {
            time_ns: layout.number::<8>(record, 8),
            sector: layout.number::<8>(record, 16),
            bytes: layout.number::<4>(record, 24),
            action,
            device: device as u32,
            pid: layout.number::<4>(record, pid_at) as u32,
            payload,
            tag: 0,
        }
    }

    /// The action of the event.
    fn happened(&self) -> Option<Action> {
        if is_note(self.action >> CATEGORIES_SHIFT) {
            return None;
        }
        match self.action & HAPPENED {
            1 => Some(Action::Queue),
            7 => Some(Action::Issue),
            8 => Some(Action::Complete),
            _ => None,
        }
    }

    /// The request, if there is one.
    fn request(&self) -> Result<Option<(Asked, RawRecord)>, Reason> {
        let Some(asked) = asked_of(self.action >> CATEGORIES_SHIFT, self.bytes > 0) else {
            return Ok(None);
        };
        let op = asked.op;
        let offset_bytes = match op {
            Op::Flush => 0,
            _ => self.sector.checked_mul(SECTOR_BYTES).ok_or(Reason::TooLarge)?,
        };
        offset_bytes.checked_add(self.bytes).ok_or(Reason::TooLarge)?;
        let time_ps = u128::from(self.time_ns) * u128::from(TimeUnit::Nanoseconds.picoseconds());
        let (length_bytes, device, tag) = (self.bytes, self.device, self.tag);
        let record =
            RawRecord { time_ps, op, offset_bytes, length_bytes, device, tag, placement: None };
        Ok(Some((asked, record)))
    }
}

/// Finds the tags of requests, if tags are wanted.
struct Origin {
    field: Option<TagField>,
    tags: Tags,
}

impl Origin {
    /// The tag of an event with this payload. A process is tagged by its number. Notes of the trace
    /// give its name, possibly after its first request.
    fn tag(&mut self, field: TagField, event: &Event, layout: Layout, payload: &[u8]) -> u32 {
        let categories = event.action >> CATEGORIES_SHIFT;
        let code = event.action & HAPPENED;
        if field == TagField::Cgroup {
            let is_named = event.action & OF_CGROUP != 0 && payload.len() >= 4;
            let inode = is_named.then(|| layout.number::<4>(payload, 0).to_string());
            return self.tags.number(inode.unwrap_or_default().as_bytes());
        }
        let tag = self.tags.number(event.pid.to_string().as_bytes());
        if field == TagField::Process && is_note(categories) && code == PROCESS_NOTE {
            let end = payload.iter().position(|byte| *byte == 0).unwrap_or(payload.len());
            self.tags.rename(tag, &payload[..end]);
        }
        tag
    }
}

/// The next request of a file.
#[derive(Clone, Copy, Debug)]
enum Pending {
    Unread,
    /// A request, with the number of its record.
    Request(Asked, RawRecord, u64),
    Ended,
}

pub(super) struct Blktrace {
    action: Action,
    /// Files of the other CPUs.
    others: Vec<LineReader>,
    /// The next request of the first file, then of the other files.
    pending: Vec<Pending>,
    waiting: ByArrival,
    account: Account,
    skipped: u64,
    skipped_first: Vec<NamedLine>,
    rejected: Option<Event>,
    origin: Origin,
}

pub(super) fn parser(reading: &Reading, path: &Path) -> Result<Blktrace, TraceError> {
    let mut others = Vec::new();
    for path in other_cpus(path) {
        let mut file = LineReader::open(&path)?;
        file.count_records();
        others.push(file);
    }
    Ok(Blktrace {
        action: reading.action,
        pending: vec![Pending::Unread; others.len() + 1],
        others,
        waiting: ByArrival::default(),
        account: Account::default(),
        skipped: 0,
        skipped_first: Vec::new(),
        rejected: None,
        origin: Origin { field: reading.tag, tags: Tags::default() },
    })
}

/// The files of the other CPUs beside `NAME.blktrace.N`. A file of another name has none.
pub(super) fn other_cpus(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some((stem, own)) = name.rsplit_once(".blktrace.") else { return Vec::new() };
    let Ok(own) = own.parse::<u32>() else { return Vec::new() };
    let others = (0..CPUS_MAX).filter(|cpu| *cpu != own);
    others
        .map(|cpu| path.with_file_name(format!("{stem}.blktrace.{cpu}")))
        .filter(|path| path.is_file())
        .collect()
}

impl RecordParser for Blktrace {
    fn next(&mut self, input: &mut LineReader) -> Result<Option<Entry>, TraceError> {
        loop {
            if let Some(record) = self.waiting.ready(false) {
                return Ok(Some(Entry::Request(record)));
            }
            for index in 0..self.pending.len() {
                if matches!(self.pending[index], Pending::Unread)
                    && let Err(reason) = self.read(index, input)?
                {
                    return Ok(Some(Entry::Rejected(reason)));
                }
            }
            let request = |(index, pending): (usize, &Pending)| match pending {
                Pending::Request(asked, record, line) => Some((index, *asked, *record, *line)),
                _ => None,
            };
            let requests = self.pending.iter().enumerate().filter_map(request);
            let Some((index, asked, record, line)) =
                requests.min_by_key(|(_, _, record, _)| record.time_ps)
            else {
                return Ok(self.waiting.ready(true).map(Entry::Request));
            };
            self.pending[index] = Pending::Unread;
            self.waiting.at_line(line);
            self.account.hand_on(self.action, asked, record, &mut self.waiting);
        }
    }

    fn shown(&self) -> String {
        self.rejected.map_or_else(String::new, Event::shown)
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.origin.tags)
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }

    fn skipped_lines(&self) -> &[NamedLine] {
        &self.skipped_first
    }

    fn line(&self) -> Option<u64> {
        Some(self.waiting.left_line())
    }

    fn notes(&self) -> Vec<(&'static str, u64)> {
        self.account.notes()
    }

    fn events(&self) -> [u64; 3] {
        self.account.events()
    }
}

impl Blktrace {
    /// Reads a file up to its next request. The inner error stands for a record that cannot be a
    /// request.
    fn read(
        &mut self,
        index: usize,
        first: &mut LineReader,
    ) -> Result<Result<(), Reason>, TraceError> {
        let file = match index.checked_sub(1) {
            None => first,
            Some(other) => &mut self.others[other],
        };
        loop {
            let Some(event) = next_event(file, &mut self.origin)? else {
                self.pending[index] = Pending::Ended;
                return Ok(Ok(()));
            };
            let happened = event.happened();
            happened.into_iter().for_each(|action| self.account.saw(action));
            let request = if happened == Some(self.action) { event.request() } else { Ok(None) };
            match request {
                Ok(Some((asked, record))) => {
                    self.pending[index] = Pending::Request(asked, record, file.line_count());
                    return Ok(Ok(()));
                }
                Ok(None) => {
                    self.skipped += 1;
                    if self.skipped_first.len() < Rejected::KEPT {
                        let (unit, line) = (Unit::Record, file.line_count());
                        self.skipped_first.push(NamedLine::skipped(unit, line, &event.shown()));
                    }
                }
                Err(reason) => {
                    self.rejected = Some(event);
                    return Ok(Err(reason));
                }
            }
        }
    }
}

fn next_event(file: &mut LineReader, origin: &mut Origin) -> Result<Option<Event>, TraceError> {
    let magic = match *file.peek(4)? {
        [] => return Ok(None),
        [a, b, c, d, ..] => [a, b, c, d],
        _ => [0; 4],
    };
    let Some(layout) = Layout::of(magic) else {
        file.begin_record();
        let found = u32::from_le_bytes(magic);
        return Err(file.malformed(format!("{found:#010x} as the start of a record"), MAGIC));
    };
    let Some(record) = file.record(layout.bytes())? else { return Ok(None) };
    let mut event = Event::of(record, layout);
    if let Some(field) = origin.field {
        let bytes = file.peek(event.payload as usize)?;
        event.tag = origin.tag(field, &event, layout, bytes);
    }
    file.skip(event.payload)?;
    Ok(Some(event))
}

#[cfg(test)]
#[path = "blktrace_tests.rs"]
mod tests;
