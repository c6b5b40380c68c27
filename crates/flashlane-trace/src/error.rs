//! Errors that end the reading of a trace.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::place::{Place, Unit};
use crate::reject::RejectedLine;
use crate::source::Codec;
use crate::units::Stamp;

/// The reason why a trace could not be opened or read to its end.
///
/// Each message is one line. It names the file, the line if there is one, what was found and what
/// is allowed. After an error the reader has ended;
/// [`TraceReader::rewind`](crate::TraceReader::rewind) starts it again.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file is missing or may not be read.
    #[error("{}: cannot open: {source}; allowed: a readable file", shown(path))]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
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
        /// The error of the operating system.
        source: io::Error,
    },
    /// A compressed file ends before its data are complete.
    #[error(
        "{}: {place}: the {codec} data ends early, after {bytes} bytes of content ({source}); \
         allowed: a complete {codec} file",
        shown(path)
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The codec of the file.
        codec: Codec,
        /// The line or record that could not be completed.
        place: Place,
        /// Number of decompressed bytes before the break.
        bytes: u64,
        /// The error of the decompressor.
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
        /// The codec of the file.
        codec: Codec,
        /// The line or record that could not be completed.
        place: Place,
        /// Number of decompressed bytes before the fault.
        bytes: u64,
        /// The error of the decompressor.
        source: io::Error,
    },
    /// The file holds no record: it is empty, or has only blank lines, comments, header lines and
    /// events that are not requests.
    #[error(
        "{}: found no record in {lines} {unit}s; allowed: a file with at least one",
        shown(path)
    )]
    Empty {
        /// The file.
        path: PathBuf,
        /// The unit of the file: lines or records.
        unit: Unit,
        /// Number of lines or records of the file.
        lines: u64,
    },
    /// The file has no event of the action that counts, but has events of other actions.
    #[error("{}: {found}; allowed: {allowed}", shown(path))]
    OtherAction {
        /// The file.
        path: PathBuf,
        /// The actions that the file has.
        found: String,
        /// The options that take these actions.
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
        /// The record that is incomplete.
        place: Place,
        /// Number of bytes that are there.
        found: u64,
        /// Number of bytes that the record has.
        wanted: u64,
    },
    /// A binary file has content that its format does not allow. Nothing after this record can be
    /// read.
    #[error("{}: {place}: found {found}; allowed: {allowed}", shown(path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The record.
        place: Place,
        /// The content of the record.
        found: String,
        /// The content that is allowed.
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
    /// No line could be read as a record.
    #[error(
        "{}: {first}; found no record in {lines} {}s; a {} of the format looks like `{example}`",
        shown(path),
        first.unit,
        first.unit
    )]
    NothingAccepted {
        /// The file.
        path: PathBuf,
        /// Number of lines that were rejected.
        lines: u64,
        /// The first rejected line.
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
        /// Number of lines that were rejected.
        rejected: u64,
        /// Number of lines that were accepted or rejected.
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
        /// The place of the earlier record.
        place: Place,
        /// The time of that record.
        found: Box<Stamp>,
        /// The time of the record before it.
        previous: Box<Stamp>,
        /// The option that allows times to step back.
        remedy: &'static str,
    },
    /// The file has records, but no record of the devices that were asked for.
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
        /// Number of records of other devices.
        accepted: u64,
    },
    /// The format was not named, and the file does not show it.
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
        /// The option that names the format.
        option: &'static str,
    },
    /// An option is out of range or does not suit the format.
    #[error("{}: option {option}: found {found}; allowed: {allowed}", shown(path))]
    Option {
        /// The file.
        path: PathBuf,
        /// Name of the option.
        option: &'static str,
        /// The value of the option.
        found: String,
        /// The values that are allowed.
        allowed: &'static str,
    },
    /// The records of the format do not have this tag.
    #[error("{}: found no {kind} in the format {format}; allowed: {allowed}", shown(path))]
    NoTag {
        /// The file.
        path: PathBuf,
        /// The tag that was asked for.
        kind: String,
        /// Name of the format.
        format: &'static str,
        /// The tags that the format has.
        allowed: String,
    },
    /// The property by which the trace is to be split has too many values.
    #[error(
        "{}: found more than 65536 tenants by {by} (or devices, by lba); allowed: something that \
         fewer requests differ in",
        shown(path)
    )]
    TooManyTenants {
        /// The file.
        path: PathBuf,
        /// The property by which the trace is to be split.
        by: String,
    },
    /// There is no format of this name.
    #[error("format `{found}` is unknown; allowed: one of {names}")]
    UnknownFormat {
        /// The name.
        found: String,
        /// Names of all formats.
        names: String,
    },
    /// The text is not a column map.
    #[error("column map `{text}`: found {found}; allowed: {allowed}")]
    ColumnMap {
        /// The whole text.
        text: String,
        /// The part that is wrong.
        found: String,
        /// The text that is allowed in its place.
        allowed: &'static str,
    },
}

/// The path as one line, also if the file name has line breaks.
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
