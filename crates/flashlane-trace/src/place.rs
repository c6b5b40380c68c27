//! Places in a trace file, for messages.

use std::fmt;

/// The unit of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Lines of text.
    #[default]
    Line,
    /// Binary records.
    Record,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Line => "line",
            Unit::Record => "record",
        })
    }
}

/// A line or a record of a trace file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The unit that is counted.
    pub unit: Unit,
    /// The number of the line or record in the decompressed file. Range: 1 and up.
    pub number: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.unit, self.number)
    }
}
