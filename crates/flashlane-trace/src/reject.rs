//! Counts the lines that could not be read as records.

use std::fmt;

use crate::place::Unit;

/// The reason why a line was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// There are too few or too many fields for the format.
    FieldCount,
    /// The time is not a number of the allowed shape.
    BadTime,
    /// The device is not a number.
    BadDevice,
    /// The offset is not a number.
    BadOffset,
    /// The length is not a number.
    BadLength,
    /// The format does not know the operation code.
    UnknownOp,
    /// The placement identifier is not a number that a drive may have.
    BadPlacement,
    /// The pointer that connects the start and completion of a request is not a number.
    BadPointer,
    /// A table has no column for the time, the operation, the offset or the length.
    MissingColumn,
    /// The request has no data, which is allowed only for a flush.
    ZeroLength,
    /// A number is out of range: the end of the request exceeds `u64` bytes, the device `u32`, or
    /// the time `u64` picoseconds (213 days after the first record).
    TooLarge,
}

impl Reason {
    /// All reasons.
    pub const ALL: [Reason; 11] = [
        Reason::FieldCount,
        Reason::BadTime,
        Reason::BadDevice,
        Reason::BadOffset,
        Reason::BadLength,
        Reason::UnknownOp,
        Reason::BadPlacement,
        Reason::BadPointer,
        Reason::MissingColumn,
        Reason::ZeroLength,
        Reason::TooLarge,
    ];

    /// The fault, in a few words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Reason::FieldCount => "wrong number of fields",
            Reason::BadTime => "bad time",
            Reason::BadDevice => "bad device number",
            Reason::BadOffset => "bad offset",
            Reason::BadLength => "bad length",
            Reason::UnknownOp => "unknown operation",
            Reason::BadPlacement => "bad placement identifier",
            Reason::BadPointer => "bad request pointer",
            Reason::MissingColumn => "missing column",
            Reason::ZeroLength => "length 0",
            Reason::TooLarge => "number too large",
        }
    }

    /// The content that is allowed.
    #[must_use]
    pub fn allowed(self) -> &'static str {
        match self {
            Reason::FieldCount => "the columns of the format",
            Reason::BadTime => "an unsigned number in plain digits",
            Reason::BadDevice => "an integer from 0 to 4294967295",
            Reason::BadOffset | Reason::BadLength | Reason::BadPointer => "an unsigned integer",
            Reason::BadPlacement => "an integer from 0 to 64, or nothing",
            Reason::UnknownOp => "an operation code of the format",
            Reason::MissingColumn => "a table with columns for time, operation, offset and length",
            Reason::ZeroLength => "a length of at least 1",
            Reason::TooLarge => {
                "an end below 2^64 bytes, a device below 2^32, a time below 2^64 ps (213 days)"
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One rejected line or record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedLine {
    /// Line or record.
    pub unit: Unit,
    /// Number of the line or record in the decompressed file. Range: 1 and up.
    pub line: u64,
    /// The reason why it was rejected.
    pub reason: Reason,
    /// Start of the line, at most 80 characters, all of them printable.
    pub excerpt: String,
}

impl fmt::Display for RejectedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}: {} in `{}`; allowed: {}",
            self.unit,
            self.line,
            self.reason,
            self.excerpt,
            self.reason.allowed()
        )
    }
}

/// A line or record with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedLine {
    /// Line or record.
    pub unit: Unit,
    /// Number of the line or record in the decompressed file. Range: 1 and up.
    pub line: u64,
    /// The remark, on one line.
    pub text: String,
}

impl NamedLine {
    /// A line that belongs to the format but is not a request.
    pub(crate) fn skipped(unit: Unit, line: u64, text: &str) -> NamedLine {
        NamedLine { unit, line, text: format!("no request: `{}`", excerpt(text.as_bytes())) }
    }
}

impl fmt::Display for NamedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.unit, self.line, self.text)
    }
}

/// Count of rejected lines by reason, and the first few of them.
///
/// Blank lines, `#` comments and announced header lines are not rejections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejected {
    counts: [u64; Reason::ALL.len()],
    first: Vec<RejectedLine>,
}

impl Rejected {
    /// Number of lines that [`Rejected::first`] keeps.
    pub const KEPT: usize = 10;

    /// Number of rejected lines.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Number of lines rejected for `reason`.
    #[must_use]
    pub fn count_of(&self, reason: Reason) -> u64 {
        self.counts[reason as usize]
    }

    /// The reasons that occurred, each with its count.
    pub fn by_reason(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        Reason::ALL
            .into_iter()
            .map(|reason| (reason, self.count_of(reason)))
            .filter(|(_, count)| *count > 0)
    }

    /// The first rejected lines, at most [`Rejected::KEPT`] of them.
    #[must_use]
    pub fn first(&self) -> &[RejectedLine] {
        &self.first
    }

    pub(crate) fn add(&mut self, line: u64, reason: Reason, text: &[u8]) {
        self.counts[reason as usize] += 1;
        if self.first.len() < Rejected::KEPT {
            let unit = Unit::Line;
            self.first.push(RejectedLine { unit, line, reason, excerpt: excerpt(text) });
        }
    }

    /// Does what [`Rejected::add`] does, for a record. `shown` gives its content as a text.
    pub(crate) fn add_record(&mut self, line: u64, reason: Reason, shown: impl Fn() -> String) {
        self.counts[reason as usize] += 1;
        if self.first.len() < Rejected::KEPT {
            let excerpt = excerpt(shown().as_bytes());
            self.first.push(RejectedLine { unit: Unit::Record, line, reason, excerpt });
        }
    }
}

/// Longest excerpt. Unit: characters.
const EXCERPT_CHARS: usize = 80;

/// The start of `text` as printable characters on one line.
pub(crate) fn excerpt(text: &[u8]) -> String {
    let start = &text[..text.len().min(EXCERPT_CHARS * 4)];
    let printable = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let lossy = String::from_utf8_lossy(start);
    let mut shown: String = lossy.chars().map(printable).take(EXCERPT_CHARS + 1).collect();
    if shown.chars().count() > EXCERPT_CHARS {
        shown = shown.chars().take(EXCERPT_CHARS - 1).collect();
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_keeps_the_first_lines() {
        let mut rejected = Rejected::default();
        for line in 1..=25 {
            rejected.add(line, Reason::UnknownOp, b"0 0 0 8 7");
        }
        rejected.add(26, Reason::TooLarge, b"x");
        assert_eq!(rejected.count(), 26);
        assert_eq!(rejected.first().len(), Rejected::KEPT);
        let counts: Vec<_> = rejected.by_reason().collect();
        assert_eq!(counts, [(Reason::UnknownOp, 25), (Reason::TooLarge, 1)]);
        assert_eq!(
            rejected.first()[0].to_string(),
            "line 1: unknown operation in `0 0 0 8 7`; allowed: an operation code of the format"
        );
    }

    #[test]
    fn the_table_of_reasons_is_in_order() {
        for (index, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
        }
    }

    #[test]
    fn excerpts_are_short_and_printable() {
        assert_eq!(excerpt(b"a\tb\x1b[31m"), "a\u{fffd}b\u{fffd}[31m");
        assert_eq!(excerpt(&[b'9'; 80]).chars().count(), 80);
        assert!(excerpt(&[b'9'; 80]).ends_with('9'));
        let long = excerpt(&[b'9'; 5000]);
        assert_eq!(long.chars().count(), 80);
        assert!(long.ends_with('…'));
        assert_eq!(excerpt("é".repeat(500).as_bytes()).chars().count(), 80);
    }
}
