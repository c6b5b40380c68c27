//! Reads the lines of a trace, delivers records, and counts every rejected line.

use std::fmt;
use std::path::Path;

use crate::detect::detect_or_fail;
use crate::error::TraceError;
use crate::format::{Format, Parser};
use crate::lines::LineReader;
use crate::options::{Action, Reading, TraceOptions};
use crate::pass::{Next, Pass, Text, Wanted, next_by_arrival, next_of_lines, next_of_records};
use crate::place::Unit;
use crate::record::Record;
use crate::reject::{NamedLine, Rejected};
use crate::source::Codec;
use crate::tags::Tags;
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
    /// True if the parser delivers records later than their lines.
    reorders: bool,
    state: Pass,
}

impl TraceReader {
    /// Opens a trace. The codec is detected from the first bytes of the file, not from its name.
    ///
    /// # Errors
    /// The file cannot be opened, is a directory or cannot be decompressed; an option is out of
    /// range or does not suit the format; or no format was named and none can be detected.
    pub fn open(path: impl AsRef<Path>, options: &TraceOptions) -> Result<TraceReader, TraceError> {
        let path = path.as_ref();
        options.check(path)?;
        let lines = LineReader::open(path)?;
        let format = match &options.format {
            Some(format) => format.clone(),
            None => detect_or_fail(path, options.spelling)?,
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

    /// Prepares the reader for a pass.
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
        // Until there is a record.
        self.state.finished = true;
        self.advance()
    }

    /// Starts again at the first line: the file is opened again, and all counts go back to 0.
    ///
    /// # Errors
    /// The errors of opening the file.
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

    /// Number of records of this pass that were earlier than the record before them.
    #[must_use]
    pub fn decreasing_count(&self) -> u64 {
        self.state.decreasing
    }

    /// Number of lines of this pass that belong to the format but are not requests, such as events
    /// of other kinds.
    #[must_use]
    pub fn skipped_count(&self) -> u64 {
        self.parser.skipped()
    }

    /// The first ten lines that are not requests.
    #[must_use]
    pub fn skipped_lines(&self) -> &[NamedLine] {
        match &self.parser {
            Parser::Lines(_) => &self.state.skipped_first,
            Parser::Records(parser) => parser.skipped_lines(),
        }
    }

    /// The first ten records of this pass that were earlier than the record before them.
    #[must_use]
    pub fn decreasing_lines(&self) -> &[NamedLine] {
        &self.state.decreasing_first
    }

    /// Operations that were read as another one in this pass, with their numbers. These are
    /// operations of the block layer that [`Op`](crate::Op) does not have, and flushes that come
    /// with data.
    #[must_use]
    pub fn notes(&self) -> Vec<(&'static str, u64)> {
        self.parser.notes()
    }

    /// Number of the line or binary record from which the last record came; 0 before the first
    /// record. Formats that deliver records in the order of arrival have already read further
    /// lines.
    #[must_use]
    pub fn record_line(&self) -> u64 {
        self.state.line
    }

    /// The unit that [`TraceReader::line`] counts: lines or records.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.lines.unit()
    }

    /// Number of records that were delivered in this pass.
    #[must_use]
    pub fn delivered_count(&self) -> u64 {
        self.state.delivered
    }

    /// Tag of the record that was delivered last, if [`TraceOptions::tag`] asks for one. Range: 1
    /// and up, in the order of appearance; 0 if the line has no tag.
    #[must_use]
    pub fn tag(&self) -> u32 {
        self.state.tag
    }

    /// Text of a tag. The texts are complete only at the end of a pass, because a blktrace file may
    /// name a process after its first request.
    #[must_use]
    pub fn tag_text(&self, tag: u32) -> Option<&str> {
        self.parser.tags().and_then(|tags| tags.text(tag))
    }

    /// Number of records of this pass without a tag, because there are more than 65,536 different
    /// tags.
    #[must_use]
    pub fn untagged_count(&self) -> u64 {
        self.parser.tags().map_or(0, Tags::overflowed)
    }

    /// The event of a request that counts, in formats that have several.
    #[must_use]
    pub fn action(&self) -> Action {
        self.reading.action
    }

    /// The time on the clock of the file that is time 0 of the records. Unit: picoseconds. `None`
    /// before the first record.
    #[must_use]
    pub fn base_ps(&self) -> Option<u128> {
        self.state.base_ps
    }

    /// Number of the line or binary record that was read last; 0 before the first.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.lines.line_count()
    }

    /// The format, as named by the options or detected.
    #[must_use]
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// The format and the units in which the file is read, as a text.
    #[must_use]
    pub fn reading(&self) -> String {
        let Reading { time_unit, size_unit, action, .. } = self.reading;
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

    /// The codec of the file.
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
                let about = Text { format, header_lines: *header_lines };
                if *reorders {
                    next_by_arrival(parser.as_mut(), lines, &about, state, wanted)?
                } else {
                    next_of_lines(parser.as_mut(), lines, &about, state, wanted)?
                }
            }
            Parser::Records(parser) => next_of_records(parser.as_mut(), lines, state, wanted)?,
        };
        match next {
            Next::Record(record) => {
                self.state.finished = false;
                Ok(Some(record))
            }
            Next::End => self.finish(),
            Next::Decreasing(found) => Err(self.decreasing(found)),
        }
    }

    /// Checks the counts at the end of the pass.
    fn finish(&self) -> Result<Option<Record>, TraceError> {
        let path = self.lines.path().to_owned();
        let (accepted, rejected) = (self.state.accepted, self.state.rejected.count());
        let Some(first) = self.state.rejected.first().first().cloned().map(Box::new) else {
            if accepted == 0 {
                self.look_for_other_actions()?;
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

    /// Looks for events of other actions in a trace that has none of the action that counts.
    fn look_for_other_actions(&self) -> Result<(), TraceError> {
        let (events, wanted) = (self.parser.events(), self.reading.action);
        let others = Action::ALL.into_iter().zip(events);
        let others: Vec<(Action, u64)> = others.filter(|(_, count)| *count > 0).collect();
        if others.is_empty() || events[wanted as usize] > 0 {
            return Ok(());
        }
        let list = |of: &dyn Fn(&(Action, u64)) -> String, word: &str| {
            others.iter().map(of).collect::<Vec<_>>().join(word)
        };
        let counts = list(&|(action, count)| format!("{count} of {}", action.letter()), " and ");
        let spelling = self.wanted.options.spelling;
        Err(TraceError::OtherAction {
            path: self.lines.path().to_owned(),
            found: format!("found no event {}, but {counts}", wanted.letter()),
            allowed: list(&|(action, _)| format!("{} takes them", spelling.action(*action)), ", "),
        })
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
            remedy: self.wanted.options.spelling.delay(),
        }
    }
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
