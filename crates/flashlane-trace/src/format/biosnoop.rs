//! Tables of biosnoop: of BCC, of libbpf-tools, and of bpftrace programs that print the same
//! columns.
//!
//! Source: the manual page and example texts of BCC's biosnoop. A header line names the columns, in
//! any order; a line of the table has a word for each, and the process may have blanks:
//!
//! | column | means |
//! | --- | --- |
//! | `TIME(s)`, `TIME(ms)`, `TIME(us)`, `TIME(ns)` | when the request completed |
//! | `LAT(ms)` and the like | time at the drive |
//! | `QUE(ms)` and the like | time in the block layer before |
//! | `T`, `RWBS`, `OP` | `R`, `W`, or the letters of blkparse |
//! | `SECTOR`, `LBA`; `OFFSET` | sectors of 512 bytes; bytes |
//! | `BYTES`, `SIZE`, `LEN`; `SECTORS` | bytes; sectors of 512 bytes |
//! | `DISK`, `DEV` | name of the disk |
//! | `COMM`, `PID` | process |
//!
//! The arrival (`Q`) is the completion less both times, the dispatch (`D`) less that at the drive.
//! Digits that the table rounds off are lost. Other columns are ignored.

use super::blk_event::{Account, SECTOR_BYTES, asked};
use super::five_columns::{next_field, range};
use super::names::Names;
use super::order::ByArrival;
use super::{FormatInfo, LineParser};
use crate::lines::trim;
use crate::number;
use crate::options::{Action, Reading};
use crate::record::RawRecord;
use crate::reject::Reason;
use crate::tags::{TagField, TagKind, Tags};
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "biosnoop",
    description: "table of biosnoop or bpftrace: TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms), in any order",
    example: "0.000004186    supervise      1950   xvda1   W  13092560  4096      0.74",
    time_unit: TimeUnit::Seconds,
    has_actions: true,
    has_preamble: true,
    tags: &[TagKind::Process, TagKind::Pid],
    recognises: |line| columns(line).is_some(),
    ..FormatInfo::PLAIN
};

/// Added to every time, so that requests that arrived before the first completion have a time above
/// 0. Unit: picoseconds.
const BEFORE_PS: u128 = 3_600_000_000_000_000;
/// The header of BCC, for tables without one.
const USUAL: &[u8] = b"TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)";
/// Most columns of a table.
const COLUMNS_MAX: usize = 64;

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Time(TimeUnit),
    Latency(TimeUnit),
    Queued(TimeUnit),
    Operation,
    /// Unit: bytes.
    Offset(u64),
    /// Unit: bytes.
    Length(u64),
    Disk,
    Process,
    Pid,
    Other,
}

impl Column {
    fn of(name: &[u8]) -> Column {
        let unit = |prefix: &[u8]| {
            let unit = name.strip_prefix(prefix)?.strip_prefix(b"(")?.strip_suffix(b")")?;
            TimeUnit::by_name(std::str::from_utf8(unit).ok()?)
        };
        let spans = [(&b"LAT"[..], true), (b"LATENCY", true), (b"QUE", false), (b"QUEUE", false)];
        for (prefix, is_latency) in spans {
            if let Some(unit) = unit(prefix) {
                return if is_latency { Column::Latency(unit) } else { Column::Queued(unit) };
            }
        }
        match name {
            _ if unit(b"TIME").is_some() => unit(b"TIME").map_or(Column::Other, Column::Time),
            b"T" | b"RWBS" | b"OP" | b"TYPE" | b"RW" => Column::Operation,
            b"SECTOR" | b"LBA" => Column::Offset(SECTOR_BYTES),
            b"OFFSET" => Column::Offset(1),
            b"BYTES" | b"SIZE" | b"LEN" => Column::Length(1),
            b"SECTORS" | b"NR_SECTOR" => Column::Length(SECTOR_BYTES),
            b"DISK" | b"DEV" | b"DEVICE" => Column::Disk,
            b"COMM" | b"PROCESS" | b"TASK" => Column::Process,
            b"PID" | b"TID" => Column::Pid,
            _ => Column::Other,
        }
    }
}

/// The columns that a header line names. Returns `None` if the line is no header.
/// A header names no column twice.
fn columns(line: &[u8]) -> Option<Vec<Column>> {
    let mut rest = line;
    let mut columns = Vec::new();
    while let Some(name) = next_field(&mut rest) {
        let column = Column::of(name);
        if column != Column::Other && columns.contains(&column) {
            return None;
        }
        columns.push(column);
        if columns.len() > COLUMNS_MAX {
            return None;
        }
    }
    let has_time = columns.iter().any(|column| matches!(column, Column::Time(_)));
    let named = columns.iter().filter(|column| **column != Column::Other).count();
    (has_time && named > 2).then_some(columns)
}

pub(super) struct Biosnoop {
    action: Action,
    /// The columns of the header, or those of BCC if there is no header.
    columns: Vec<Column>,
    is_headed: bool,
    disks: Names,
    waiting: ByArrival,
    account: Account,
    skipped: u64,
    tag: Option<TagField>,
    tags: Tags,
}

pub(super) fn parser(reading: &Reading) -> Biosnoop {
    Biosnoop {
        action: reading.action,
        columns: columns(USUAL).unwrap_or_default(),
        is_headed: false,
        disks: Names::default(),
        waiting: ByArrival::default(),
        account: Account::default(),
        skipped: 0,
        tag: reading.tag,
        tags: Tags::default(),
    }
}

/// The values of a line.
#[derive(Default)]
struct Row<'a> {
    /// Unit: picoseconds.
    time: Option<u128>,
    latency: Option<u128>,
    queued: Option<u128>,
    operation: Option<&'a [u8]>,
    /// Unit: bytes.
    offset: Option<u64>,
    length: Option<u64>,
    disk: Option<&'a [u8]>,
    process: &'a [u8],
    pid: &'a [u8],
}

impl LineParser for Biosnoop {
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        if let Some(columns) = columns(line) {
            self.columns = columns;
            self.is_headed = true;
            return Ok(None);
        }
        if !self.is_headed && !trim(line).first().is_some_and(u8::is_ascii_digit) {
            // Counts a line that the tool prints before its table.
            self.skipped += 1;
            return Ok(None);
        }
        let row = self.row(line)?;
        let (Some(time), Some(operation), Some(offset), Some(length)) =
            (row.time, row.operation, row.offset, row.length)
        else {
            return Err(Reason::MissingColumn);
        };
        let Some(asked) = asked(operation, length > 0) else { return Err(Reason::UnknownOp) };
        let back = match self.action {
            Action::Queue => row.latency.unwrap_or(0) + row.queued.unwrap_or(0),
            Action::Issue => row.latency.unwrap_or(0),
            Action::Complete => 0,
        };
        let time_ps = (time + BEFORE_PS).checked_sub(back).ok_or(Reason::BadTime)?;
        let op = asked.op;
        let (offset_bytes, length_bytes) = range(op, offset, length, 1, 1)?;
        let device = row.disk.map_or(Ok(0), |disk| self.disks.number(disk))?;
        let tag = match self.tag {
            Some(TagField::Process) => self.tags.number(row.process),
            Some(TagField::Pid) => self.tags.number(row.pid),
            _ => 0,
        };
        let record =
            RawRecord { time_ps, op, offset_bytes, length_bytes, device, tag, placement: None };
        self.account.hand_on(Action::Issue, asked, record, &mut self.waiting);
        Ok(None)
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

    fn notes(&self) -> Vec<(&'static str, u64)> {
        self.account.notes()
    }
}

impl Biosnoop {
    /// Splits a line. Words beyond those of the header belong to the name of the process, which may
    /// have blanks.
    fn row<'a>(&self, line: &'a [u8]) -> Result<Row<'a>, Reason> {
        let mut rest = line;
        let words: Vec<&[u8]> = std::iter::from_fn(|| next_field(&mut rest)).collect();
        let extra = words.len().checked_sub(self.columns.len()).ok_or(Reason::FieldCount)?;
        if extra > 0 && !self.columns.contains(&Column::Process) {
            return Err(Reason::FieldCount);
        }
        let mut row = Row::default();
        let mut at = 0;
        for column in &self.columns {
            let word = words[at];
            let span = |unit: TimeUnit| number::fractional_time(word, unit).map(Some);
            let bytes = |unit: u64, reason: Reason| {
                let count = number::decimal_or_hex(word).map_err(|fault| fault.reason(reason))?;
                count.checked_mul(unit).ok_or(Reason::TooLarge).map(Some)
            };
            match *column {
                Column::Time(unit) => row.time = span(unit)?,
                Column::Latency(unit) => row.latency = span(unit)?,
                Column::Queued(unit) => row.queued = span(unit)?,
                Column::Operation => row.operation = Some(word),
                Column::Offset(unit) => row.offset = bytes(unit, Reason::BadOffset)?,
                Column::Length(unit) => row.length = bytes(unit, Reason::BadLength)?,
                Column::Disk => row.disk = Some(word),
                Column::Process => {
                    row.process = between(line, words[at], words[at + extra]);
                    at += extra;
                }
                Column::Pid => row.pid = word,
                Column::Other => {}
            }
            at += 1;
        }
        Ok(row)
    }
}

/// The part of a line from the start of one of its words to the end of another.
fn between<'a>(line: &'a [u8], first: &[u8], last: &[u8]) -> &'a [u8] {
    let start = first.as_ptr() as usize - line.as_ptr() as usize;
    let end = last.as_ptr() as usize - line.as_ptr() as usize + last.len();
    &line[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Op;
    use crate::test_support::{TempTrace, message, read};
    use crate::{Format, TraceOptions, TraceReader};

    const BCC: &str = "Tracing block device I/O... Hit Ctrl-C to end.
TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  QUE(ms) LAT(ms)
0.000000    supervise      1950    xvda1     W 13092560   4096   0.02    0.74
0.000600    Web Content    1940    xvdb      R 13092432   8192   0.05    0.55
0.002000    jbd2           300     xvda1     WFS 8        512    0.00    0.10
";

    fn brief(text: &str, action: Action) -> Vec<(u64, Op, u64, u32)> {
        let options = TraceOptions { action, ..TraceOptions::default() };
        let records = read(text, &options).expect("a trace");
        records.iter().map(|r| (r.time_ps / 1_000_000, r.op, r.length_bytes, r.device)).collect()
    }

    #[test]
    fn arrivals_are_completions_less_the_times_before() {
        // The requests arrive 0.76 ms before 0 s, 0.60 ms before 0.6 ms, and 0.1 ms before 2 ms.
        let arrivals = [
            (0, Op::Write, 4096, 0),
            (760, Op::Read, 8192, 1),
            (2_660, Op::Write, 512, 0),
            (2_660, Op::Flush, 0, 0),
        ];
        assert_eq!(brief(BCC, Action::Queue), arrivals);
        assert_eq!(brief(BCC, Action::Issue)[1].0, 790);
        assert_eq!(brief(BCC, Action::Complete)[1].0, 600);
    }

    #[test]
    fn processes_may_have_blanks() {
        let options = TraceOptions { tag: Some(TagKind::Process), ..TraceOptions::default() };
        let file = TempTrace::new(BCC.as_bytes().split_at(47).1);
        let mut reader = TraceReader::open(file.path(), &options).expect("a trace");
        let mut found = Vec::new();
        while reader.next().expect("a record").is_some() {
            found.push(reader.tag_text(reader.tag()).expect("a tag").to_owned());
        }
        assert_eq!(found, ["supervise", "Web Content", "jbd2", "jbd2"]);
    }

    #[test]
    fn a_line_that_names_a_column_twice_is_no_header() {
        let twice = BCC.replace("PID     DISK", "PID     COMM   PID   DISK");
        let found = message(read(&twice, &TraceOptions::new(Format::Biosnoop)));
        assert!(found.contains("line 3: bad length"), "{found}");
    }

    #[test]
    fn tables_of_other_columns_are_refused() {
        // The table of bpftrace has neither an offset nor a length.
        let text =
            "TIME(ms)     DISK    COMM             PID    LAT(ms)\n611 nvme0n1 bash 4179 10\n";
        let found = message(read(text, &TraceOptions::default()));
        assert!(found.contains("line 2: missing column in `611 nvme0n1 bash"), "{found}");
        let short = BCC.replace(" 0.74", "").replace(" 0.55", "").replace(" 0.10", "");
        let found = message(read(&short, &TraceOptions::new(Format::Biosnoop)));
        assert!(found.contains("line 3: wrong number of fields in `0.000000    super"), "{found}");
        let table = "TIME(us) OP OFFSET SIZE\n5 R 4096 512\n9 X 4096 512\n";
        let options = TraceOptions { max_rejected_fraction: 0.5, ..TraceOptions::default() };
        assert_eq!(read(table, &options).expect("a trace")[0].offset_bytes, 4096);
    }
}
