//! Microsoft production-server (MSPS) traces: disk events of Windows ETW, as text.
//!
//! Source: SNIA IOTTA, the traces of Kavalanekar et al., Characterization of storage workload
//! traces from production Windows servers, IISWC 2008. A header between `BeginHeader` and
//! `EndHeader` names the columns of each kind of event; then one event per line, fields separated
//! by commas and padded with blanks, times in microseconds, offsets and sizes in hexadecimal.
//!
//! A `DiskRead`, `DiskWrite` or `DiskFlush` line is written when the request **completes**. The
//! arrival is the time of its `...Init` line, found by the pointer of its request packet (IRP),
//! where there is one; else the time of completion less the elapsed time, at the earliest 0.
//! Completions are not in the order of arrivals, so that records wait in a buffer of 65,536 and
//! leave it by arrival. Events of other kinds are skipped and counted.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::five_columns::range;
use super::order::ByArrival;
use super::{FormatInfo, LineParser};
use crate::cursor::Cursor;
use crate::lines::{find, trim};
use crate::number;
use crate::options::Reading;
use crate::record::{Op, RawRecord};
use crate::reject::Reason;
use crate::tags::{TagField, TagKind, Tags};
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "msps",
    description: "Windows ETW: DiskRead|DiskWrite,us,process,thread,irp,offset,size,elapsed us,disk",
    example: "DiskRead, 79251, server.exe ( 1234), 2160, 0xfffffa80, 0x21b7c000, 0x1000, 812, 3",
    time_unit: TimeUnit::Microseconds,
    tags: &[TagKind::Process, TagKind::Pid],
    recognises,
    ..FormatInfo::PLAIN
};

/// Started requests that wait for their completion; further ones count from their elapsed time.
const STARTED_MAX: usize = 65_536;

const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Flush];
const COMPLETIONS: [&[u8]; 3] = [b"DiskRead", b"DiskWrite", b"DiskFlush"];
const STARTS: [&[u8]; 3] = [b"DiskReadInit", b"DiskWriteInit", b"DiskFlushInit"];

/// Most columns of a line that are looked at: names of files, which may hold commas, come later.
const COLUMNS_MAX: usize = 14;

/// Where a line has what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    time: usize,
    irp: usize,
    elapsed: usize,
    disk: usize,
    /// Columns of the offset and of the size; a flush has none.
    place: Option<(usize, usize)>,
}

/// Layout of reads and writes, if the file has no header.
const TRANSFER: Layout = Layout { time: 1, irp: 4, elapsed: 7, disk: 8, place: Some((5, 6)) };
/// Layout of flushes, if the file has no header.
const FLUSH: Layout = Layout { time: 1, irp: 4, elapsed: 5, disk: 6, place: None };
/// Columns of the time and of the IRP pointer of a start.
const START: (usize, usize) = (1, 4);

pub(super) struct Msps {
    unit: TimeUnit,
    in_header: bool,
    /// By index in [`OPS`]. `None`: the header lacks a column that is needed.
    layouts: [Option<Layout>; 3],
    starts: [Option<(usize, usize)>; 3],
    /// Arrivals of requests that have not completed, by kind and IRP pointer. Never iterated over.
    started: HashMap<(u8, u64), u128, BuildHasherDefault<PointerHasher>>,
    waiting: ByArrival,
    skipped: u64,
    tag: Option<TagField>,
    tags: Tags,
}

pub(super) fn parser(reading: &Reading) -> Msps {
    Msps {
        unit: reading.time_unit,
        in_header: false,
        layouts: [Some(TRANSFER), Some(TRANSFER), Some(FLUSH)],
        starts: [Some(START); 3],
        started: HashMap::default(),
        waiting: ByArrival::default(),
        skipped: 0,
        tag: reading.tag,
        tags: Tags::default(),
    }
}

impl LineParser for Msps {
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        if let Some(event) = quick(line, self.unit).filter(|event| self.reads_quickly(event)) {
            match event {
                Quick::Start { kind, pointer, time_ps } => self.started(kind, pointer, time_ps),
                Quick::Completion { kind, pointer, elapsed_ps, record } => {
                    let record = self.completed(kind, pointer, elapsed_ps, record);
                    let record = self.tagged(record, line);
                    self.waiting.push(record);
                }
            }
            return Ok(None);
        }
        self.careful(line)
    }

    fn held(&mut self) -> Option<&mut ByArrival> {
        Some(&mut self.waiting)
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// Name or number of the process in a line: `name ( number)`.
fn tag_text(line: &[u8], wanted: TagField) -> &[u8] {
    let process = trim(line.split(|byte| *byte == b',').nth(2).unwrap_or_default());
    let Some(bracket) = process.iter().rposition(|byte| *byte == b'(') else { return process };
    let (name, number) = process.split_at(bracket);
    match wanted {
        TagField::Pid => trim(number[1..].strip_suffix(b")").unwrap_or(&number[1..])),
        _ => trim(name),
    }
}

/// An event of the usual shape. `kind` is its index in [`OPS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quick {
    Start {
        kind: u8,
        pointer: u64,
        time_ps: u128,
    },
    /// The record has the time of the completion.
    Completion {
        kind: u8,
        pointer: u64,
        elapsed_ps: u128,
        record: RawRecord,
    },
}

/// Reads a read or write with the columns of [`TRANSFER`], or its start: plain numbers with nothing
/// behind them.
#[inline]
fn quick(line: &[u8], unit: TimeUnit) -> Option<Quick> {
    let mut cursor = Cursor::new(line);
    cursor.skip_spaces();
    let (kind, starts) = match cursor.until(b',') {
        b"DiskRead" => (0, false),
        b"DiskWrite" => (1, false),
        b"DiskReadInit" => (0, true),
        b"DiskWriteInit" => (1, true),
        _ => return None,
    };
    let ps = u128::from(unit.picoseconds());
    let next = |cursor: &mut Cursor<'_>| {
        cursor.expect(b',')?;
        cursor.skip_spaces();
        Some(())
    };
    next(&mut cursor)?;
    let time_ps = u128::from(cursor.number()?) * ps;
    cursor.expect(b',')?;
    // Process and thread.
    cursor.skip_past(b',')?;
    cursor.skip_past(b',')?;
    cursor.skip_spaces();
    let pointer = cursor.hexadecimal()?;
    if starts {
        let ends = matches!(cursor.rest().first(), None | Some(b','));
        return ends.then_some(Quick::Start { kind, pointer, time_ps });
    }
    next(&mut cursor)?;
    let offset = cursor.hexadecimal()?;
    next(&mut cursor)?;
    let length = cursor.hexadecimal()?;
    next(&mut cursor)?;
    let elapsed_ps = u128::from(cursor.number()?) * ps;
    next(&mut cursor)?;
    let device = u32::try_from(cursor.number()?).ok()?;
    if !matches!(cursor.rest().first(), None | Some(b',')) {
        return None;
    }
    let op = OPS[usize::from(kind)];
    let (offset_bytes, length_bytes) = range(op, offset, length, 1, 1).ok()?;
    let record = RawRecord::of(time_ps, op, (offset_bytes, length_bytes), device);
    Some(Quick::Completion { kind, pointer, elapsed_ps, record })
}

impl Msps {
    /// The columns are those that [`quick`] reads.
    fn reads_quickly(&self, event: &Quick) -> bool {
        !self.in_header
            && match *event {
                Quick::Start { kind, .. } => self.starts[usize::from(kind)] == Some(START),
                Quick::Completion { kind, .. } => self.layouts[usize::from(kind)] == Some(TRANSFER),
            }
    }

    /// Reads any line, or says why it is none.
    #[cold]
    fn careful(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        let event = find(line, b',').map_or(line, |end| &line[..end]);
        if !self.in_header && !is_known(trim(event)) {
            self.skipped += 1;
            return Ok(None);
        }
        let (fields, count) = fields(line);
        let fields = &fields[..count];
        let kind = fields[0];
        if kind == b"BeginHeader" || kind == b"EndHeader" {
            self.in_header = kind == b"BeginHeader";
        } else if let Some(index) = position(&COMPLETIONS, kind) {
            if self.in_header {
                self.layouts[index] = layout(fields, OPS[index]);
            } else {
                let record = self.completion(index, fields)?;
                let record = self.tagged(record, line);
                self.waiting.push(record);
            }
        } else if let Some(index) = position(&STARTS, kind) {
            if self.in_header {
                self.starts[index] = column(fields, b"TimeStamp").zip(column(fields, b"IrpPtr"));
            } else {
                self.start(index, fields)?;
            }
        }
        Ok(None)
    }

    /// The record with the tag of its line, where one is wanted.
    fn tagged(&mut self, mut record: RawRecord, line: &[u8]) -> RawRecord {
        if let Some(field) = self.tag {
            record.tag = self.tags.number(tag_text(line, field));
        }
        record
    }

    /// A request starts.
    fn started(&mut self, kind: u8, pointer: u64, time_ps: u128) {
        let key = (kind, pointer);
        if self.started.len() < STARTED_MAX || self.started.contains_key(&key) {
            self.started.insert(key, time_ps);
        }
    }

    /// The record of a request that completes at its time, with the time of its arrival.
    fn completed(
        &mut self,
        kind: u8,
        pointer: u64,
        elapsed_ps: u128,
        record: RawRecord,
    ) -> RawRecord {
        let time_ps = match self.started.remove(&(kind, pointer)) {
            Some(started_ps) if started_ps <= record.time_ps => started_ps,
            _ => record.time_ps.saturating_sub(elapsed_ps),
        };
        RawRecord { time_ps, ..record }
    }

    fn start(&mut self, index: usize, fields: &[&[u8]]) -> Result<(), Reason> {
        let (time, irp) = self.starts[index].ok_or(Reason::FieldCount)?;
        let field = |column: usize| fields.get(column).copied().ok_or(Reason::FieldCount);
        let time_ps = number::fractional_time(field(time)?, self.unit)?;
        self.started(index as u8, pointer(field(irp)?)?, time_ps);
        Ok(())
    }

    fn completion(&mut self, index: usize, fields: &[&[u8]]) -> Result<RawRecord, Reason> {
        let at = self.layouts[index].ok_or(Reason::FieldCount)?;
        let field = |column: usize| fields.get(column).copied().ok_or(Reason::FieldCount);
        let (time, irp, elapsed, disk) =
            (field(at.time)?, field(at.irp)?, field(at.elapsed)?, field(at.disk)?);
        let completed_ps = number::fractional_time(time, self.unit)?;
        let device = number::device(disk)?;
        let (offset, length) = match at.place {
            None => (0, 0),
            Some((offset, length)) => {
                let bad = |reason| move |fault: number::NumberFault| fault.reason(reason);
                let offset = number::decimal_or_hex(field(offset)?);
                let length = number::decimal_or_hex(field(length)?);
                (offset.map_err(bad(Reason::BadOffset))?, length.map_err(bad(Reason::BadLength))?)
            }
        };
        let op = OPS[index];
        let (offset_bytes, length_bytes) = range(op, offset, length, 1, 1)?;
        let elapsed_ps = number::fractional_time(elapsed, self.unit)?;
        // After the last check: a rejected line takes no start with it.
        let record = RawRecord {
            time_ps: completed_ps,
            op,
            offset_bytes,
            length_bytes,
            device,
            tag: 0,
            placement: None,
        };
        Ok(self.completed(index as u8, pointer(irp)?, elapsed_ps, record))
    }
}

/// Hashes kind and pointer of a request.
#[derive(Default)]
struct PointerHasher(u64);

impl Hasher for PointerHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u8(&mut self, kind: u8) {
        self.write_u64(u64::from(kind));
    }

    fn write_u64(&mut self, number: u64) {
        // The halves of a product by the golden ratio have all bits in them.
        let product = u128::from(self.0 ^ number) * 0x9e37_79b9_7f4a_7c15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

/// The first fields without blanks around them, and how many there are. At least one.
fn fields(line: &[u8]) -> ([&[u8]; COLUMNS_MAX], usize) {
    let mut all = [&b""[..]; COLUMNS_MAX];
    let mut count = 0;
    for (place, field) in all.iter_mut().zip(line.split(|byte| *byte == b',')) {
        *place = trim(field);
        count += 1;
    }
    (all, count)
}

/// The line is of the header, or of a disk event.
fn is_known(kind: &[u8]) -> bool {
    matches!(kind, b"BeginHeader" | b"EndHeader")
        || position(&COMPLETIONS, kind).or(position(&STARTS, kind)).is_some()
}

fn position(kinds: &[&[u8]; 3], kind: &[u8]) -> Option<usize> {
    kinds.iter().position(|known| *known == kind)
}

/// Index of the column that a line of the header calls `name`.
fn column(header: &[&[u8]], name: &[u8]) -> Option<usize> {
    header.iter().position(|field| *field == name)
}

/// The layout that a line of the header describes, if it has all columns.
fn layout(header: &[&[u8]], op: Op) -> Option<Layout> {
    let place = match op {
        Op::Flush => None,
        _ => Some((column(header, b"ByteOffset")?, column(header, b"IOSize")?)),
    };
    Some(Layout {
        time: column(header, b"TimeStamp")?,
        irp: column(header, b"IrpPtr")?,
        elapsed: column(header, b"ElapsedTime")?,
        disk: column(header, b"DiskNum")?,
        place,
    })
}

/// The address of a request packet: a name that start and completion share.
fn pointer(field: &[u8]) -> Result<u64, Reason> {
    number::decimal_or_hex(field).map_err(|fault| fault.reason(Reason::BadPointer))
}

/// The start of a header, or a disk event: no other format looks like this.
fn recognises(line: &[u8]) -> bool {
    let (fields, count) = fields(line);
    let event = || position(&COMPLETIONS, fields[0]).or(position(&STARTS, fields[0])).is_some();
    (count == 1 && fields[0] == b"BeginHeader") || (count > START.1 && event())
}

#[cfg(test)]
#[path = "msps_tests.rs"]
mod tests;
