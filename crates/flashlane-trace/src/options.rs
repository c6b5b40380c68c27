//! Options for reading a trace.

use std::path::Path;

use crate::error::TraceError;
use crate::format::Format;
use crate::tags::{TagField, TagKind};
use crate::units::{SpaceUnit, TimeUnit};

/// How to read a trace file.
///
/// ```
/// use flashlane_trace::{Format, OnDecreasing, TimeUnit, TraceOptions};
///
/// let options = TraceOptions {
///     time_unit: Some(TimeUnit::Microseconds),
///     on_decreasing: OnDecreasing::Clamp,
///     ..TraceOptions::new(Format::SsdSim)
/// };
/// assert_eq!(options.limit, None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TraceOptions {
    /// Format of the file. `None` [detects](crate::detect) it, which works only for formats that
    /// describe themselves.
    pub format: Option<Format>,
    /// Unit of the time column in place of the unit of the format. Formats with a fixed clock (MSR)
    /// refuse it.
    pub time_unit: Option<TimeUnit>,
    /// Unit of the offset and length columns in place of the unit of the format. Only formats whose
    /// files come in several units take this option: those of five columns without a header, and
    /// oracleGeneral for its offsets.
    pub size_unit: Option<SpaceUnit>,
    /// The event of a request that counts, in traces that have several events for each request
    /// (blktrace, blkparse). Default: [`Action::Queue`], the arrival.
    pub action: Action,
    /// The tag of a record that [`TraceReader::tag`](crate::TraceReader::tag) returns. Default:
    /// none. A format without this tag refuses it.
    pub tag: Option<TagKind>,
    /// Ends the stream after this many records. Range: 1 and up. Later lines are not read, so they
    /// do not count for [`TraceOptions::max_rejected_fraction`] either.
    pub limit: Option<u64>,
    /// Keeps only the records of these devices. Range: not an empty list.
    pub devices: Option<Vec<u32>>,
    /// Share of the lines that may be rejected before the end of the stream is an error. Default:
    /// 0.01. Range: 0 to 1; with 1, one accepted line is enough.
    pub max_rejected_fraction: f64,
    /// The handling of a record that is earlier than the record before it. Default:
    /// [`OnDecreasing::Error`].
    pub on_decreasing: OnDecreasing,
    /// The names of these options in messages. Default: the names of the fields.
    pub spelling: Spelling,
    /// Subtracts the time of the first accepted line of the file, so that the trace starts at 0.
    /// Default: true.
    ///
    /// The first line of the whole file counts, also if [`TraceOptions::devices`] drops it, so that
    /// readers of different devices of one file keep the same clock. Without rebasing, a clock that
    /// counts from 1601 or 1970 exceeds `u64` picoseconds, and every line is rejected.
    pub rebase: bool,
}

/// Events of a request in the block layer of Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// `Q`: the request arrives.
    #[default]
    Queue,
    /// `D`: the request is sent to the drive, after merging and scheduling.
    Issue,
    /// `C`: the drive has completed the request.
    Complete,
}

impl Action {
    /// All actions, in the order in which a request goes through them.
    pub(crate) const ALL: [Action; 3] = [Action::Queue, Action::Issue, Action::Complete];

    /// The letter of the action in blkparse.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Action::Queue => 'Q',
            Action::Issue => 'D',
            Action::Complete => 'C',
        }
    }

    /// The action with this letter.
    #[must_use]
    pub fn by_letter(letter: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| letter.chars().eq([action.letter()]))
    }
}

/// The names of the options in messages, which depend on how the reader of the message sets them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// As fields of [`TraceOptions`].
    #[default]
    Options,
    /// As keys of a workload file.
    Keys,
    /// As flags of the command.
    Flags,
    /// The reader of the message cannot set options. The file has to be corrected first.
    Elsewhere,
}

impl Spelling {
    /// The name of an option, found by its name in [`TraceOptions`].
    pub(crate) fn option(self, name: &'static str) -> &'static str {
        match (self, name) {
            (Spelling::Flags, "time_unit") => "--time-unit",
            (Spelling::Flags, "size_unit") => "--size-unit",
            (Spelling::Flags, "action") => "--action",
            (Spelling::Flags, "devices") => "--devices",
            (Spelling::Flags, "limit") => "--limit",
            _ => name,
        }
    }

    /// The option that allows times to step back.
    pub(crate) fn delay(self) -> &'static str {
        match self {
            Spelling::Options => "on_decreasing set to Clamp or Count",
            Spelling::Keys => "decreasing_times = \"delay\"",
            Spelling::Flags => "--delay",
            Spelling::Elsewhere => "a file that `flashlane trace convert --delay` has written",
        }
    }

    /// The option that takes another event of the requests.
    pub(crate) fn action(self, action: Action) -> String {
        match self {
            Spelling::Options | Spelling::Elsewhere => format!("action set to {action:?}"),
            Spelling::Keys => format!("action = \"{}\"", action.letter()),
            Spelling::Flags => format!("--action {}", action.letter()),
        }
    }

    /// The option that names the format.
    pub(crate) fn format(self) -> &'static str {
        match self {
            Spelling::Options | Spelling::Keys | Spelling::Elsewhere => "format",
            Spelling::Flags => "--from",
        }
    }
}

/// Settings of a parser.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Unit of the time column.
    pub(crate) time_unit: TimeUnit,
    /// Unit of the offsets and lengths, where the format does not fix it.
    pub(crate) size_unit: SpaceUnit,
    /// The event of a request that counts.
    pub(crate) action: Action,
    /// The place of the wanted tag in a record.
    pub(crate) tag: Option<TagField>,
}

/// The handling of a record that is earlier than the record before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDecreasing {
    /// Reading ends with [`TraceError::Decreasing`].
    #[default]
    Error,
    /// The record is delivered with the latest time seen so far, and is counted.
    Clamp,
    /// The record is delivered with its own time (0 if it is before the first record), and is
    /// counted.
    Count,
}

impl TraceOptions {
    /// The default options for `format`.
    #[must_use]
    pub fn new(format: Format) -> TraceOptions {
        TraceOptions { format: Some(format), ..TraceOptions::default() }
    }

    /// Checks the options as far as that is possible without the file. `path` only appears in the
    /// error.
    pub(crate) fn check(&self, path: &Path) -> Result<(), TraceError> {
        let fault = |option, found: String, allowed| {
            let option = self.spelling.option(option);
            Err(TraceError::Option { path: path.to_owned(), option, found, allowed })
        };
        let fraction = self.max_rejected_fraction;
        if !(0.0..=1.0).contains(&fraction) {
            return fault("max_rejected_fraction", fraction.to_string(), "0 to 1");
        }
        if self.limit == Some(0) {
            return fault("limit", "0".to_owned(), "at least 1 record");
        }
        if self.devices.as_ref().is_some_and(Vec::is_empty) {
            return fault("devices", "an empty list".to_owned(), "at least one device number");
        }
        Ok(())
    }
}

impl Default for TraceOptions {
    fn default() -> TraceOptions {
        TraceOptions {
            format: None,
            time_unit: None,
            size_unit: None,
            action: Action::default(),
            tag: None,
            limit: None,
            devices: None,
            max_rejected_fraction: 0.01,
            on_decreasing: OnDecreasing::default(),
            spelling: Spelling::default(),
            rebase: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(options: &TraceOptions) -> String {
        options.check(Path::new("t")).expect_err("these options are out of range").to_string()
    }

    #[test]
    fn options_out_of_range_are_refused() {
        for fraction in [-0.1, 1.1, f64::NAN] {
            let options =
                TraceOptions { max_rejected_fraction: fraction, ..TraceOptions::default() };
            assert!(message(&options).contains("allowed: 0 to 1"));
        }
        let options = TraceOptions { limit: Some(0), ..TraceOptions::default() };
        assert_eq!(message(&options), "t: option limit: found 0; allowed: at least 1 record");
        let options = TraceOptions { devices: Some(Vec::new()), ..TraceOptions::default() };
        assert!(message(&options).contains("at least one device"));
        assert!(TraceOptions::default().check(Path::new("t")).is_ok());
    }
}
