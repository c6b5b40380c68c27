//! What the parser of a format does, of lines and of binary records.

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

    /// Records that lines brought and whose turn comes later, in formats that leave by arrival.
    fn held(&mut self) -> Option<&mut ByArrival> {
        None
    }

    /// Texts of the tags so far; `None`: the format has no tags.
    fn tags(&self) -> Option<&Tags> {
        None
    }

    /// Lines so far that belong to the format but neither to a request nor to a header.
    fn skipped(&self) -> u64 {
        0
    }

    /// What was read as something else, and how often.
    fn notes(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Events so far by action: `Q`, `D`, `C`.
    fn events(&self) -> [u64; 3] {
        [0; 3]
    }
}

/// What a binary record amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A request.
    Request(RawRecord),
    /// A record of the format that cannot be a request.
    Rejected(Reason),
}

impl Entry {
    /// A request of a format without devices; `range`: its first byte and its length, or what is
    /// wrong with them.
    pub(crate) fn of(time_ps: u128, op: Op, range: Result<(u64, u64), Reason>) -> Self {
        match range {
            Ok((offset_bytes, length_bytes)) => Self::Request(RawRecord {
                time_ps,
                op,
                offset_bytes,
                length_bytes,
                device: 0,
                tag: 0,
            }),
            Err(reason) => Self::Rejected(reason),
        }
    }
}

/// Turns binary records into requests.
pub(crate) trait RecordParser: Send {
    /// Reads on up to the next request or rejected record; `None` at the end of the file. Counts
    /// every record.
    ///
    /// # Errors
    /// Those of reading; a record behind which nothing can be read.
    fn next(&mut self, input: &mut LineReader) -> Result<Option<Entry>, TraceError>;

    /// What the record that was just rejected holds.
    fn shown(&self) -> String;

    /// As that of [`LineParser`].
    fn tags(&self) -> Option<&Tags> {
        None
    }

    /// Records so far that belong to the format but are no requests.
    fn skipped(&self) -> u64 {
        0
    }

    /// The first of them.
    fn skipped_lines(&self) -> &[NamedLine] {
        &[]
    }

    /// Number of the record that the last request came from, if it is not the one read last.
    fn line(&self) -> Option<u64> {
        None
    }

    /// What was read as something else, and how often.
    fn notes(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Events so far by action: `Q`, `D`, `C`.
    fn events(&self) -> [u64; 3] {
        [0; 3]
    }
}

/// The parser of a file.
pub(crate) enum Parser {
    /// Of lines.
    Lines(Box<dyn LineParser>),
    /// Of binary records.
    Records(Box<dyn RecordParser>),
}

impl Parser {
    /// As the parser's own.
    pub(crate) fn tags(&self) -> Option<&Tags> {
        match self {
            Parser::Lines(parser) => parser.tags(),
            Parser::Records(parser) => parser.tags(),
        }
    }

    /// As the parser's own.
    pub(crate) fn skipped(&self) -> u64 {
        match self {
            Parser::Lines(parser) => parser.skipped(),
            Parser::Records(parser) => parser.skipped(),
        }
    }

    /// As the parser's own.
    pub(crate) fn notes(&self) -> Vec<(&'static str, u64)> {
        match self {
            Parser::Lines(parser) => parser.notes(),
            Parser::Records(parser) => parser.notes(),
        }
    }

    /// As the parser's own.
    pub(crate) fn events(&self) -> [u64; 3] {
        match self {
            Parser::Lines(parser) => parser.events(),
            Parser::Records(parser) => parser.events(),
        }
    }
}
