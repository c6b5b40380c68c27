//! Everything that can end the reading of a trace.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::place::{Place, Unit};
use crate::reject::RejectedLine;
use crate::source::Codec;
use crate::units::Stamp;

/// Why a trace could not be opened or read to its end.
///
/// Each message is one line and names the file, the line if there is one, what was found and what
/// is allowed. After any of these a reader ends;
/// [`TraceReader::rewind`](crate::TraceReader::rewind) starts it afresh.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file is missing or may not be read.
    #[error("{}: cannot open: {source}; allowed: a readable file", shown(path))]
    Open {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The path leads to a directory.
    #[error("{}: found a directory; allowed: a trace file", shown(path))]
    Directory {
        /// The path.
        path: PathBuf,
    },
    /// The operating system failed to deliver more of the file.
    #[error("{}: {place}: cannot read on: {source}; allowed: a readable file", shown(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// The line or record that could not be completed.
        place: Place,
        /// What the operating system said.
        source: io::Error,
    },
    /// A compressed file ends before its data does.
    #[error(
        "{}: {place}: the {codec} data ends early, after {bytes} bytes of content ({source}); \
         allowed: a complete {codec} file",
        shown(path)
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// How it is compressed.
        codec: Codec,
        /// The line or record that could not be completed.
        place: Place,
        /// Decompressed bytes before the break.
        bytes: u64,
        /// What the decompressor said.
        source: io::Error,
    },
    /// A compressed file cannot be decompressed.
    #[error(
        "{}: {place}: the {codec} data is damaged, after {bytes} bytes of content ({source}); \
         allowed: a valid {codec} file",
        shown(path)
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How it is compressed.
        codec: Codec,
        /// The line or record that could not be completed.
        place: Place,
        /// Decompressed bytes before the fault.
        bytes: u64,
        /// What the decompressor said.
        source: io::Error,
    },
    /// The file holds nothing but blank lines, comments, header lines and events that are no
    /// requests, or nothing at all.
    #[error(
        "{}: found no record in {lines} {unit}s; allowed: a file with at least one",
        shown(path)
    )]
    Empty {
        /// The file.
        path: PathBuf,
        /// What the file is made of.
        unit: Unit,
        /// Lines or records of the file.
        lines: u64,
    },
    /// The file has no event of the action that counts, but events of others.
    #[error("{}: {found}; allowed: {allowed}", shown(path))]
    OtherAction {
        /// The file.
        path: PathBuf,
        /// What there is.
        found: String,
        /// The options that take it.
        allowed: String,
    },
    /// A binary file ends within a record.
    #[error(
        "{}: {place}: found the end of the file after {found} bytes of {wanted}; \
         allowed: whole records",
        shown(path)
    )]
    CutShort {
        /// The file.
        path: PathBuf,
        /// The record that is not whole.
        place: Place,
        /// Bytes that are there.
        found: u64,
        /// Bytes that the record has.
        wanted: u64,
    },
    /// A binary file holds what its format cannot hold, so that nothing behind it can be read
    /// either.
    #[error("{}: {place}: found {found}; allowed: {allowed}", shown(path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The record.
        place: Place,
        /// What it holds.
        found: String,
        /// What it may hold.
        allowed: &'static str,
    },
    /// A text format holds bytes that are not text.
    #[error(
        "{}: line {line}: found binary data (byte 0x{byte:02x}); allowed: text \
         in the format {format}",
        shown(path)
    )]
    Binary {
        /// The file.
        path: PathBuf,
        /// The line with the byte.
        line: u64,
        /// The first byte of the line that is not text.
        byte: u8,
        /// Name of the format.
        format: &'static str,
    },
    /// A line is longer than any record can be.
    #[error(
        "{}: line {line}: found more than {limit} bytes; allowed: lines up to that",
        shown(path)
    )]
    LineTooLong {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// Longest line that is read. Unit: bytes.
        limit: usize,
    },
    /// Not one line could be read as a record.
    #[error(
        "{}: {first}; found no record in {lines} {}s; a {} of the format looks like `{example}`",
        shown(path),
        first.unit,
        first.unit
    )]
    NothingAccepted {
        /// The file.
        path: PathBuf,
        /// Lines that were rejected.
        lines: u64,
        /// The first of them.
        first: Box<RejectedLine>,
        /// A line of the format, the column map, or the layout of a binary record.
        example: String,
    },
    /// More lines were rejected than the options allow.
    #[error(
        "{}: {first}; found {rejected} of {lines} {}s rejected; allowed: a fraction of \
         {allowed}",
        shown(path),
        first.unit
    )]
    TooManyRejected {
        /// The file.
        path: PathBuf,
        /// Lines that were rejected.
        rejected: u64,
        /// Lines that were accepted or rejected.
        lines: u64,
        /// [`TraceOptions::max_rejected_fraction`](crate::TraceOptions::max_rejected_fraction).
        allowed: f64,
        /// The first rejected line.
        first: Box<RejectedLine>,
    },
    /// A record is earlier than the one before it.
    #[error(
        "{}: {place}: found time {found} after {previous}; allowed: times that do not decrease, \
         or {remedy}",
        shown(path)
    )]
    Decreasing {
        /// The file.
        path: PathBuf,
        /// Where the earlier record is.
        place: Place,
        /// Its time.
        found: Box<Stamp>,
        /// The time before it.
        previous: Box<Stamp>,
        /// The option that lets times step back.
        remedy: &'static str,
    },
    /// The file has records, but none of the devices that were asked for.
    #[error(
        "{}: found no record of device {devices} in {accepted} records; \
         allowed: a device of the file",
        shown(path)
    )]
    NoneSelected {
        /// The file.
        path: PathBuf,
        /// The devices that were asked for.
        devices: String,
        /// Records of other devices.
        accepted: u64,
    },
    /// The format was not named and the file does not tell it.
    #[error(
        "{}: line {line}: found `{excerpt}`, which does not tell its format; \
         allowed: name the format ({option}), one of {names}",
        shown(path)
    )]
    Ambiguous {
        /// The file.
        path: PathBuf,
        /// The first line with content; 0 if there is none.
        line: u64,
        /// The start of that line.
        excerpt: String,
        /// Names of all formats.
        names: String,
        /// The option that names it.
        option: &'static str,
    },
    /// An option is out of range or does not suit the format.
    #[error("{}: option {option}: found {found}; allowed: {allowed}", shown(path))]
    Option {
        /// The file.
        path: PathBuf,
        /// Name of the option.
        option: &'static str,
        /// Its value.
        found: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// The records of the format have no such tag.
    #[error("{}: found no {kind} in the format {format}; allowed: {allowed}", shown(path))]
    NoTag {
        /// The file.
        path: PathBuf,
        /// The tag that was asked for.
        kind: String,
        /// Name of the format.
        format: &'static str,
        /// The tags that there are.
        allowed: String,
    },
    /// A trace is to be split by something that is different for too many requests.
    #[error(
        "{}: found more than 65536 tenants by {by} (or devices, by lba); allowed: something that \
         fewer requests differ in",
        shown(path)
    )]
    TooManyTenants {
        /// The file.
        path: PathBuf,
        /// What it is to be split by.
        by: String,
    },
    /// No format has this name.
    #[error("format `{found}` is unknown; allowed: one of {names}")]
    UnknownFormat {
        /// The name.
        found: String,
        /// Names of all formats.
        names: String,
    },
    /// The text of a column map cannot be understood.
    #[error("column map `{text}`: found {found}; allowed: {allowed}")]
    ColumnMap {
        /// The whole text.
        text: String,
        /// The part that is wrong.
        found: String,
        /// What may stand there.
        allowed: &'static str,
    },
}

/// The path on one line, whatever its name holds.
fn shown(path: &Path) -> String {
    let printable = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    path.to_string_lossy().chars().map(printable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stay_small_and_can_cross_threads() {
        fn assert_send_sync<T: Send + Sync + 'static>() {}
        assert_send_sync::<TraceError>();
        assert!(size_of::<TraceError>() <= 96, "{}", size_of::<TraceError>());
    }

    #[test]
    fn a_path_with_a_newline_stays_on_one_line() {
        let error = TraceError::Directory { path: PathBuf::from("a\nb") };
        assert_eq!(error.to_string().lines().count(), 1);
    }
}
