//! The traits of parsers: for lines, and for binary records.

use super::order::ByArrival;
use crate::error::TraceError;
use crate::lines::LineReader;
use crate::record::{Op, RawRecord};
use crate::reject::{NamedLine, Reason};
use crate::tags::Tags;

/// Turns lines of one format into records. May keep state from line to line.
pub(crate) trait LineParser: Send {
    /// Reads one line that is neither blank nor a comment, already without blanks at its end.
    /// Blanks at its start are still there: in a format separated by tabs they are empty columns.
    /// `None`: the line belongs to the format but is not a request.
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason>;

    /// Reads a comment, without blanks at its end. Few formats have comments with a meaning.
    fn comment(&mut self, _: &[u8]) {}

    /// Records that wait for their turn, in formats that are sorted by arrival.
    fn held(&mut self) -> Option<&mut ByArrival> {
        None
    }

    /// Texts of the tags so far. Returns `None` if the format has no tags.
    fn tags(&self) -> Option<&Tags> {
        None
    }

    /// Number of lines so far that belong to the format but neither to a request nor to a header.
    fn skipped(&self) -> u64 {
        0
    }

    /// Operations that were read as another one, with their numbers.
    fn notes(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Number of events so far by action: `Q`, `D`, `C`.
    fn events(&self) -> [u64; 3] {
        [0; 3]
    }
}

/// The outcome of a binary record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A request.
    Request(RawRecord),
    /// A record of the format that cannot be a request.
    Rejected(Reason),
}

impl Entry {
    /// A request of a format without devices. `range`: its first byte and length, or the reason why
    /// they are unusable.
    pub(crate) fn of(time_ps: u128, op: Op, range: Result<(u64, u64), Reason>) -> Self {
        match range {
            Ok((offset_bytes, length_bytes)) => Self::Request(RawRecord {
                time_ps,
                op,
                offset_bytes,
                length_bytes,
                device: 0,
                tag: 0,
                placement: None,
            }),
            Err(reason) => Self::Rejected(reason),
        }
    }
}

/// Turns binary records into requests.
pub(crate) trait RecordParser: Send {
    /// Reads up to the next request or rejected record; `None` at the end of the file. Counts every
    /// record.
    ///
    /// # Errors
    /// The errors of reading. A damaged record after which nothing can be read.
    fn next(&mut self, input: &mut LineReader) -> Result<Option<Entry>, TraceError>;

    /// The content of the record that was rejected last, as a text.
    fn shown(&self) -> String;

    /// The texts of the tags, as for [`LineParser`].
    fn tags(&self) -> Option<&Tags> {
        None
    }

    /// Number of records so far that belong to the format but are not requests.
    fn skipped(&self) -> u64 {
        0
    }

    /// The first records that are not requests.
    fn skipped_lines(&self) -> &[NamedLine] {
        &[]
    }

    /// Number of the record from which the last request came, if it is not the record that was read
    /// last.
    fn line(&self) -> Option<u64> {
        None
    }

    /// Operations that were read as another one, with their numbers.
    fn notes(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Number of events so far by action: `Q`, `D`, `C`.
    fn events(&self) -> [u64; 3] {
        [0; 3]
    }
}

/// The parser of a file.
pub(crate) enum Parser {
    /// A parser of lines.
    Lines(Box<dyn LineParser>),
    /// A parser of binary records.
    Records(Box<dyn RecordParser>),
}

impl Parser {
    /// The value of the inner parser.
    pub(crate) fn tags(&self) -> Option<&Tags> {
        match self {
            Parser::Lines(parser) => parser.tags(),
            Parser::Records(parser) => parser.tags(),
        }
    }

    /// The value of the inner parser.
    pub(crate) fn skipped(&self) -> u64 {
        match self {
            Parser::Lines(parser) => parser.skipped(),
            Parser::Records(parser) => parser.skipped(),
        }
    }

    /// The value of the inner parser.
    pub(crate) fn notes(&self) -> Vec<(&'static str, u64)> {
        match self {
            Parser::Lines(parser) => parser.notes(),
            Parser::Records(parser) => parser.notes(),
        }
    }

    /// The value of the inner parser.
    pub(crate) fn events(&self) -> [u64; 3] {
        match self {
            Parser::Lines(parser) => parser.events(),
            Parser::Records(parser) => parser.events(),
        }
    }
}
