//! One pass over a trace: decides which records are delivered, and in what order.

use crate::error::TraceError;
use crate::format::{Entry, Format, LineParser, RecordParser};
use crate::lines::{Line, LineReader, holds_no_record, trim_end};
use crate::options::{OnDecreasing, TraceOptions};
use crate::place::Unit;
use crate::record::{RawRecord, Record};
use crate::reject::{NamedLine, Reason, Rejected};

/// The records that are wanted.
pub(crate) struct Wanted {
    pub(crate) options: TraceOptions,
    /// The devices in ascending order. `None` stands for all devices.
    pub(crate) devices: Option<Vec<u32>>,
}

/// State of one pass over the file.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    pub(crate) rejected: Rejected,
    pub(crate) accepted: u64,
    pub(crate) delivered: u64,
    pub(crate) decreasing: u64,
    /// The first records that were earlier than the record before them.
    pub(crate) decreasing_first: Vec<NamedLine>,
    /// The first lines that are not requests.
    pub(crate) skipped_first: Vec<NamedLine>,
    /// Line or record of the latest record.
    pub(crate) line: u64,
    /// The time that counts as 0. `None` until a line was accepted.
    pub(crate) base_ps: Option<u128>,
    /// Time of the latest delivered record on the clock of the file.
    pub(crate) previous_ps: u128,
    /// Tag of the latest delivered record.
    pub(crate) tag: u32,
    pub(crate) finished: bool,
}

/// The format of the lines of a text.
pub(crate) struct Text<'a> {
    pub(crate) format: &'a Format,
    pub(crate) header_lines: u64,
}

/// The next item of a pass.
pub(crate) enum Next {
    Record(Record),
    End,
    Decreasing(u128),
}

/// The outcome of a line.
enum Outcome {
    Delivered(Record),
    Passed,
    Rejected(Reason),
    Decreasing(u128),
}

/// The next record of a text, in the order of its lines.
#[inline(always)]
pub(crate) fn next_of_lines(
    parser: &mut dyn LineParser,
    lines: &mut LineReader,
    text: &Text<'_>,
    state: &mut Pass,
    wanted: &Wanted,
) -> Result<Next, TraceError> {
    while let Some(line) = lines.next()? {
        let Some(record) = read_line(parser, &line, text) else { continue };
        let outcome = match record {
            Ok(Some(raw)) => {
                state.line = line.number;
                state.admit(raw, Unit::Line, wanted)
            }
            Ok(None) => {
                if state.keeps_skipped(parser) {
                    state.note_skipped(line.number, line.bytes);
                }
                Outcome::Passed
            }
            Err(reason) => Outcome::Rejected(reason),
        };
        match outcome {
            Outcome::Delivered(record) => return Ok(Next::Record(record)),
            Outcome::Passed => {}
            Outcome::Rejected(reason) => {
                let (bytes, number) = (trim_end(line.bytes), line.number);
                if let Some(byte) = state.reject(bytes, number, reason) {
                    return Err(binary(lines, text.format, byte));
                }
            }
            Outcome::Decreasing(found) => return Ok(Next::Decreasing(found)),
        }
    }
    Ok(Next::End)
}

/// The next record of a text whose parser hands out records later than their lines.
pub(crate) fn next_by_arrival(
    parser: &mut dyn LineParser,
    lines: &mut LineReader,
    text: &Text<'_>,
    state: &mut Pass,
    wanted: &Wanted,
) -> Result<Next, TraceError> {
    loop {
        let held = parser.held().expect("it holds records back");
        if held.is_full()
            && let Some(raw) = held.take_first()
            && let Some(next) = state.admit_late(raw, held.left_line(), lines.unit(), wanted)
        {
            return Ok(next);
        }
        held.at_line(lines.line_count() + 1);
        let Some(line) = lines.next()? else { break };
        match read_line(parser, &line, text) {
            Some(Err(reason)) => {
                let (bytes, number) = (trim_end(line.bytes), line.number);
                if let Some(byte) = state.reject(bytes, number, reason) {
                    return Err(binary(lines, text.format, byte));
                }
            }
            Some(Ok(None)) if state.keeps_skipped(parser) => {
                state.note_skipped(line.number, line.bytes);
            }
            _ => {}
        }
    }
    let held = parser.held().expect("it holds records back");
    held.settle();
    while let Some(raw) = held.take_first() {
        if let Some(next) = state.admit_late(raw, held.left_line(), lines.unit(), wanted) {
            return Ok(next);
        }
    }
    Ok(Next::End)
}

/// What a line is; `None`: it holds no record.
#[inline(always)]
fn read_line(
    parser: &mut dyn LineParser,
    line: &Line<'_>,
    text: &Text<'_>,
) -> Option<Result<Option<RawRecord>, Reason>> {
    if line.number <= text.header_lines {
        return None;
    }
    if line.suspect && line.bytes.contains(&0) {
        // Whatever the reason: the byte tells that the file is no text.
        return Some(Err(Reason::FieldCount));
    }
    let bytes = trim_end(line.bytes);
    if holds_no_record(bytes) {
        if bytes.first() == Some(&b'#') {
            parser.comment(bytes);
        }
        return None;
    }
    Some(parser.parse(bytes))
}

/// The next record of a binary file.
pub(crate) fn next_of_records(
    parser: &mut dyn RecordParser,
    lines: &mut LineReader,
    state: &mut Pass,
    wanted: &Wanted,
) -> Result<Next, TraceError> {
    while let Some(entry) = parser.next(lines)? {
        let outcome = match entry {
            Entry::Request(raw) => {
                state.line = parser.line().unwrap_or(lines.line_count());
                state.admit(raw, Unit::Record, wanted)
            }
            Entry::Rejected(reason) => Outcome::Rejected(reason),
        };
        match outcome {
            Outcome::Delivered(record) => return Ok(Next::Record(record)),
            Outcome::Passed => {}
            Outcome::Rejected(reason) => {
                state.rejected.add_record(lines.line_count(), reason, || parser.shown());
            }
            Outcome::Decreasing(found) => return Ok(Next::Decreasing(found)),
        }
    }
    Ok(Next::End)
}

impl Pass {
    /// Admits a record whose line was read earlier. Returns `None` if the record is not delivered.
    #[inline]
    fn admit_late(
        &mut self,
        raw: RawRecord,
        line: u64,
        unit: Unit,
        wanted: &Wanted,
    ) -> Option<Next> {
        self.line = line;
        match self.admit(raw, unit, wanted) {
            Outcome::Delivered(record) => Some(Next::Record(record)),
            Outcome::Passed => None,
            Outcome::Rejected(reason) => {
                self.rejected.add(self.line, reason, b"an earlier line");
                None
            }
            Outcome::Decreasing(found) => Some(Next::Decreasing(found)),
        }
    }

    /// Counts a line that could not be read as a record. Gives the byte that no text file holds, if
    /// there is one: that ends the pass.
    #[cold]
    fn reject(&mut self, text: &[u8], line: u64, reason: Reason) -> Option<u8> {
        let byte = if text.contains(&0) { Some(0) } else { not_text(text) };
        if byte.is_none() {
            self.rejected.add(line, reason, text);
        }
        byte
    }

    /// True if the parser skipped the line that it read last, and that line is one of the first.
    #[inline]
    fn keeps_skipped(&self, parser: &dyn LineParser) -> bool {
        let kept = self.skipped_first.len();
        kept < Rejected::KEPT && parser.skipped() > kept as u64
    }

    /// Remembers a line that the parser skipped.
    #[cold]
    fn note_skipped(&mut self, line: u64, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        self.skipped_first.push(NamedLine::skipped(Unit::Line, line, text.trim()));
    }

    /// Remembers a record that is earlier than the record before it.
    #[cold]
    fn note_decreasing(&mut self, time_ps: u128, unit: Unit) {
        let early = (self.previous_ps - time_ps) as f64 / 1e6;
        let text = format!("its time is {early} us before the latest one above");
        self.decreasing_first.push(NamedLine { unit, line: self.line, text });
    }

    /// Rebases, selects and orders a record.
    #[inline(always)]
    fn admit(&mut self, raw: RawRecord, unit: Unit, wanted: &Wanted) -> Outcome {
        let Wanted { options, devices } = wanted;
        let base = match self.base_ps {
            Some(base) => base,
            None if options.rebase => raw.time_ps,
            None => 0,
        };
        let own_ps = raw.time_ps.saturating_sub(base);
        let Ok(own_ps) = u64::try_from(own_ps) else {
            return Outcome::Rejected(Reason::TooLarge);
        };
        if self.base_ps.is_none() {
            self.base_ps = Some(base);
            self.previous_ps = base;
        }
        self.accepted += 1;
        if devices.as_ref().is_some_and(|devices| devices.binary_search(&raw.device).is_err()) {
            return Outcome::Passed;
        }
        let time_ps = if raw.time_ps >= self.previous_ps {
            self.previous_ps = raw.time_ps;
            own_ps
        } else {
            self.decreasing += 1;
            if self.decreasing_first.len() < Rejected::KEPT {
                self.note_decreasing(raw.time_ps, unit);
            }
            match options.on_decreasing {
                OnDecreasing::Error => return Outcome::Decreasing(raw.time_ps),
                // The latest time was delivered before, so the difference fits into `u64`.
                OnDecreasing::Clamp => (self.previous_ps - base) as u64,
                OnDecreasing::Count => {
                    self.previous_ps = raw.time_ps;
                    own_ps
                }
            }
        };
        self.delivered += 1;
        let RawRecord { op, offset_bytes, length_bytes, device, tag, placement, .. } = raw;
        self.tag = tag;
        Outcome::Delivered(Record { time_ps, op, offset_bytes, length_bytes, device, placement })
    }
}

#[cold]
fn binary(lines: &LineReader, format: &Format, byte: u8) -> TraceError {
    TraceError::Binary {
        path: lines.path().to_owned(),
        line: lines.line_count(),
        byte,
        format: format.name(),
    }
}

/// The first byte of a rejected line that does not occur in a text file.
fn not_text(line: &[u8]) -> Option<u8> {
    let control = line.iter().copied().find(|byte| byte.is_ascii_control() && *byte != b'\t');
    let invalid = || std::str::from_utf8(line).err().map(|fault| line[fault.valid_up_to()]);
    control.or_else(invalid)
}
