//! Places in a trace file, for messages.

use std::fmt;

/// What a file is made of.
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
    /// What is counted.
    pub unit: Unit,
    /// Its number in the decompressed file. Range: 1 and up.
    pub number: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.unit, self.number)
    }
}
