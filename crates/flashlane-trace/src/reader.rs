//! The reader: lines in, records out, every rejected line on the books.

use std::fmt;
use std::path::Path;

use crate::detect::detect_or_fail;
use crate::error::TraceError;
use crate::format::{Entry, Format, LineParser, Parser, RecordParser};
use crate::lines::{LineReader, holds_no_record, trim_end};
use crate::options::{OnDecreasing, Reading, TraceOptions};
use crate::record::{RawRecord, Record};
use crate::reject::{Reason, Rejected};
use crate::source::Codec;
use crate::units::Stamp;

/// Reads the records of one trace file in the order of the file.
///
/// Memory stays bounded: one buffer of 256 KiB, for compressed files four more, and the
/// decompressor, which has a thread of its own. After the end and after an error the reader gives
/// no more records until [`TraceReader::rewind`].
pub struct TraceReader {
    wanted: Wanted,
    format: Format,
    reading: Reading,
    header_lines: u64,
    lines: LineReader,
    parser: Parser,
    /// The parser hands out records later than their lines.
    reorders: bool,
    state: Pass,
}

/// What is wanted of the records.
struct Wanted {
    options: TraceOptions,
    /// Sorted. `None`: all devices.
    devices: Option<Vec<u32>>,
}

/// State of one pass over the file.
#[derive(Debug, Default)]
struct Pass {
    rejected: Rejected,
    accepted: u64,
    delivered: u64,
    decreasing: u64,
    /// Time that counts as 0. `None`: no line accepted yet.
    base_ps: Option<u128>,
    /// Time of the latest delivered record on the clock of the file.
    previous_ps: u128,
    finished: bool,
}

/// What the lines of a text are of.
struct Text<'a> {
    format: &'a Format,
    header_lines: u64,
    /// The parser hands out records later than their lines.
    reorders: bool,
}

/// What comes next.
enum Next {
    Record(Record),
    End,
    Decreasing(u128),
}

/// What a line amounts to.
enum Outcome {
    Delivered(Record),
    Passed,
    Rejected(Reason),
    Decreasing(u128),
}

impl TraceReader {
    /// Opens a trace. The codec is told by the first bytes of the file, not by its name.
    ///
    /// # Errors
    /// The file cannot be opened, is a directory or cannot be decompressed; an option is out of
    /// range or does not suit the format; or no format was named and the file does not tell its
    /// own.
    pub fn open(path: impl AsRef<Path>, options: &TraceOptions) -> Result<TraceReader, TraceError> {
        let path = path.as_ref();
        options.check(path)?;
        let lines = LineReader::open(path)?;
        let format = match &options.format {
            Some(format) => format.clone(),
            None => detect_or_fail(path)?,
        };
        let reading = format.reading(options, path)?;
        let mut devices = options.devices.clone();
        if let Some(devices) = &mut devices {
            devices.sort_unstable();
        }
        let mut reader = TraceReader {
            wanted: Wanted { options: options.clone(), devices },
            header_lines: format.header_lines(),
            parser: format.parser(&reading, path)?,
            reorders: false,
            reading,
            lines,
            format,
            state: Pass::default(),
        };
        reader.begin();
        Ok(reader)
    }

    /// Prepares for a pass.
    fn begin(&mut self) {
        match &mut self.parser {
            Parser::Lines(parser) => self.reorders = parser.held().is_some(),
            Parser::Records(_) => self.lines.count_records(),
        }
    }

    /// The next record, or `None` at the end of the file or at [`TraceOptions::limit`].
    ///
    /// # Errors
    /// Any [`TraceError`] of reading. At the end: no line was accepted, too many were rejected, or
    /// none was of a device that was asked for.
    #[expect(
        clippy::should_implement_trait,
        reason = "the Iterator is there too, for adapters; `?` wants the Result outside"
    )]
    pub fn next(&mut self) -> Result<Option<Record>, TraceError> {
        if self.state.finished {
            return Ok(None);
        }
        let result = self.advance();
        if !matches!(result, Ok(Some(_))) {
            self.state.finished = true;
        }
        result
    }

    /// Starts again at the first line: the file is opened afresh, and all counts go back to 0.
    ///
    /// # Errors
    /// Those of opening the file.
    pub fn rewind(&mut self) -> Result<(), TraceError> {
        self.lines = LineReader::open(self.lines.path())?;
        self.parser = self.format.parser(&self.reading, self.lines.path())?;
        self.begin();
        self.state = Pass::default();
        Ok(())
    }

    /// The lines of this pass that could not be read as records.
    #[must_use]
    pub fn rejected(&self) -> &Rejected {
        &self.state.rejected
    }

    /// Records of this pass that were earlier than the one before them.
    #[must_use]
    pub fn decreasing_count(&self) -> u64 {
        self.state.decreasing
    }

    /// Lines of this pass that the format has for other things than requests: events of other
    /// kinds.
    #[must_use]
    pub fn skipped_count(&self) -> u64 {
        self.parser.skipped()
    }

    /// Records delivered in this pass.
    #[must_use]
    pub fn delivered_count(&self) -> u64 {
        self.state.delivered
    }

    /// Number of the line, or of the binary record, that was read last; 0 before the first.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.lines.line_count()
    }

    /// The format, named by the options or detected.
    #[must_use]
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// The format and the units in which the file is read, for people.
    #[must_use]
    pub fn reading(&self) -> String {
        let Reading { time_unit, size_unit, action } = self.reading;
        let info = self.format.info();
        let mut text = match &self.format {
            Format::Columns(map) => format!("columns {map}"),
            format => format.name().to_owned(),
        };
        if !info.fixed_clock {
            text += &format!(", times in {time_unit}");
        }
        if info.size_unit.is_some() {
            text += &format!(", sizes in {size_unit}");
        }
        if info.has_actions {
            text += &format!(", events {}", action.letter());
        }
        text
    }

    /// How the file is compressed.
    #[must_use]
    pub fn codec(&self) -> Codec {
        self.lines.codec()
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.lines.path()
    }

    fn advance(&mut self) -> Result<Option<Record>, TraceError> {
        if self.wanted.options.limit.is_some_and(|limit| self.state.delivered >= limit) {
            return self.finish();
        }
        let TraceReader { wanted, format, header_lines, lines, parser, reorders, state, .. } = self;
        let next = match parser {
            Parser::Lines(parser) => {
                let about = Text { format, header_lines: *header_lines, reorders: *reorders };
                next_of_lines(parser.as_mut(), lines, &about, state, wanted)?
            }
            Parser::Records(parser) => next_of_records(parser.as_mut(), lines, state, wanted)?,
        };
        match next {
            Next::Record(record) => Ok(Some(record)),
            Next::End => self.finish(),
            Next::Decreasing(found) => Err(self.decreasing(found)),
        }
    }

    /// The end of the pass: was it worth anything?
    fn finish(&self) -> Result<Option<Record>, TraceError> {
        let path = self.lines.path().to_owned();
        let (accepted, rejected) = (self.state.accepted, self.state.rejected.count());
        let Some(first) = self.state.rejected.first().first().cloned().map(Box::new) else {
            if accepted == 0 {
                let (unit, lines) = (self.lines.unit(), self.lines.line_count());
                return Err(TraceError::Empty { path, unit, lines });
            }
            return self.finish_selection();
        };
        let lines = accepted + rejected;
        if accepted == 0 {
            let example = self.format.example();
            return Err(TraceError::NothingAccepted { path, lines, first, example });
        }
        let allowed = self.wanted.options.max_rejected_fraction;
        if rejected as f64 > allowed * lines as f64 {
            return Err(TraceError::TooManyRejected { path, rejected, lines, allowed, first });
        }
        self.finish_selection()
    }

    fn finish_selection(&self) -> Result<Option<Record>, TraceError> {
        match &self.wanted.devices {
            Some(devices) if self.state.delivered == 0 => {
                let shown: Vec<String> = devices.iter().take(8).map(u32::to_string).collect();
                let more = if devices.len() > shown.len() { ", ..." } else { "" };
                Err(TraceError::NoneSelected {
                    path: self.lines.path().to_owned(),
                    devices: shown.join(", ") + more,
                    accepted: self.state.accepted,
                })
            }
            _ => Ok(None),
        }
    }

    #[cold]
    fn decreasing(&self, found: u128) -> TraceError {
        let stamp = |ps| Box::new(Stamp { ps, unit: self.reading.time_unit });
        TraceError::Decreasing {
            path: self.lines.path().to_owned(),
            place: self.lines.place(),
            found: stamp(found),
            previous: stamp(self.state.previous_ps),
        }
    }
}

/// The next record of a text.
fn next_of_lines(
    parser: &mut dyn LineParser,
    lines: &mut LineReader,
    text: &Text<'_>,
    state: &mut Pass,
    wanted: &Wanted,
) -> Result<Next, TraceError> {
    let Text { format, header_lines, reorders } = *text;
    loop {
        if reorders
            && let Some(raw) = parser.held().and_then(|held| held.ready(false))
            && let Some(next) = state.admit_late(raw, lines, wanted)
        {
            return Ok(next);
        }
        let Some(line) = lines.next()? else { break };
        if line.number <= header_lines {
            continue;
        }
        if line.suspect && line.bytes.contains(&0) {
            return Err(binary(lines, format, 0));
        }
        let text = trim_end(line.bytes);
        if holds_no_record(text) {
            continue;
        }
        let outcome = match parser.parse(text) {
            Ok(Some(raw)) => state.admit(raw, wanted),
            Ok(None) => Outcome::Passed,
            Err(reason) => Outcome::Rejected(reason),
        };
        match outcome {
            Outcome::Delivered(record) => return Ok(Next::Record(record)),
            Outcome::Passed => {}
            Outcome::Rejected(reason) => match not_text(text) {
                Some(byte) => return Err(binary(lines, format, byte)),
                None => state.rejected.add(line.number, reason, text),
            },
            Outcome::Decreasing(found) => return Ok(Next::Decreasing(found)),
        }
    }
    while let Some(raw) = parser.held().and_then(|held| held.ready(true)) {
        if let Some(next) = state.admit_late(raw, lines, wanted) {
            return Ok(next);
        }
    }
    Ok(Next::End)
}

/// The next record of a binary file.
fn next_of_records(
    parser: &mut dyn RecordParser,
    lines: &mut LineReader,
    state: &mut Pass,
    wanted: &Wanted,
) -> Result<Next, TraceError> {
    while let Some(entry) = parser.next(lines)? {
        let outcome = match entry {
            Entry::Request(raw) => state.admit(raw, wanted),
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
    /// Admits a record whose line was read before. `None`: it is not delivered.
    fn admit_late(&mut self, raw: RawRecord, lines: &LineReader, wanted: &Wanted) -> Option<Next> {
        match self.admit(raw, wanted) {
            Outcome::Delivered(record) => Some(Next::Record(record)),
            Outcome::Passed => None,
            Outcome::Rejected(reason) => {
                self.rejected.add(lines.line_count(), reason, b"an earlier line");
                None
            }
            Outcome::Decreasing(found) => Some(Next::Decreasing(found)),
        }
    }

    /// Rebases, selects and orders a record.
    #[inline]
    fn admit(&mut self, raw: RawRecord, wanted: &Wanted) -> Outcome {
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
            match options.on_decreasing {
                OnDecreasing::Error => return Outcome::Decreasing(raw.time_ps),
                // The latest time was delivered before, so it fits.
                OnDecreasing::Clamp => (self.previous_ps - base) as u64,
                OnDecreasing::Count => {
                    self.previous_ps = raw.time_ps;
                    own_ps
                }
            }
        };
        self.delivered += 1;
        let RawRecord { op, offset_bytes, length_bytes, device, .. } = raw;
        Outcome::Delivered(Record { time_ps, op, offset_bytes, length_bytes, device })
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

/// The first byte of a rejected line that no text file holds.
#[cold]
fn not_text(line: &[u8]) -> Option<u8> {
    let control = line.iter().copied().find(|byte| byte.is_ascii_control() && *byte != b'\t');
    let invalid = || std::str::from_utf8(line).err().map(|fault| line[fault.valid_up_to()]);
    control.or_else(invalid)
}

impl Iterator for TraceReader {
    type Item = Result<Record, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        TraceReader::next(self).transpose()
    }
}

impl fmt::Debug for TraceReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceReader")
            .field("path", &self.lines.path())
            .field("format", &self.format)
            .field("line", &self.lines.line_count())
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
