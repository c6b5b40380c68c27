//! The formats: one file each, one line each in the table below.

mod column_map;
mod columns;
mod disksim;
mod five_columns;
mod mqsim;
mod msps;
mod msr;
mod ssdsim;

pub use column_map::{ColumnMap, Separator};

use std::path::Path;

use crate::error::TraceError;
use crate::record::RawRecord;
use crate::reject::Reason;
use crate::units::TimeUnit;

/// What there is to know about a format without a file at hand.
#[derive(Debug)]
pub struct FormatInfo {
    /// Name that [`Format::by_name`] takes.
    pub name: &'static str,
    /// Layout in one sentence.
    pub description: &'static str,
    /// One line of such a file.
    pub example: &'static str,
    /// Unit of the time column where the options name none. For the column map: unused.
    pub time_unit: TimeUnit,
    /// The clock is part of the format: another time unit is refused.
    pub fixed_clock: bool,
    /// Says whether a line can only belong to this format. Most formats do not describe themselves.
    pub(crate) recognises: fn(&[u8]) -> bool,
}

/// Turns lines of one format into records. May keep state from line to line.
pub(crate) trait LineParser: Send {
    /// Reads one line that is neither blank nor a comment, already without blanks at its end.
    /// Blanks at its start are still there: in a format separated by tabs they are empty columns.
    /// `None`: the line belongs to the format but is not a request.
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason>;

    /// Whether records may leave by [`LineParser::ready`]. Constant.
    fn reorders(&self) -> bool {
        false
    }

    /// A record that an earlier line brought and whose turn it is now. `ended`: there are no more lines.
    fn ready(&mut self, ended: bool) -> Option<RawRecord> {
        debug_assert!(!ended, "only parsers that reorder are asked");
        None
    }

    /// Lines so far that belong to the format but neither to a request nor to a header.
    fn skipped(&self) -> u64 {
        0
    }
}

macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident => $module:ident,)*) => {
        /// Layout of a trace file.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])* $variant,)*
            /// Any text with one request per line, described by a [`ColumnMap`].
            Columns(ColumnMap),
        }

        impl Format {
            /// All formats, the column map last.
            pub const ALL: &[&FormatInfo] = &[$(&$module::INFO,)* &columns::INFO];

            const WITHOUT_MAP: &[Format] = &[$(Format::$variant,)*];

            /// Name, layout and example of the format.
            #[must_use]
            pub fn info(&self) -> &'static FormatInfo {
                match self {
                    $(Format::$variant => &$module::INFO,)*
                    Format::Columns(_) => &columns::INFO,
                }
            }

            /// A parser for lines whose time column is in `unit`.
            pub(crate) fn parser(&self, unit: TimeUnit) -> Box<dyn LineParser> {
                match self {
                    $(Format::$variant => Box::new($module::parser(unit)),)*
                    Format::Columns(map) => Box::new(columns::parser(map, unit)),
                }
            }
        }
    };
}

formats! {
    /// `time device lba size type`: integer ns, 512-byte sectors, type 0 = write, 1 = read (MQSim).
    Mqsim => mqsim,
    /// `time device lba size flags`: decimal ms, 512-byte sectors, bit 0 of the flags = read
    /// (DiskSim).
    DiskSim => disksim,
    /// `time device lsn size op`: integer ns, 512-byte sectors, op 0 = write, 1 = read (SSDSim).
    SsdSim => ssdsim,
    /// `filetime,host,disk,Read|Write,offset,size,response`: MSR Cambridge (SNIA IOTTA 387, 388).
    Msr => msr,
    /// `DiskRead|DiskWrite,time,process,thread,irp,offset,size,elapsed,disk`: text of Windows ETW
    /// (Microsoft production servers).
    Msps => msps,
}

/// What may precede the text of a column map in [`Format::by_name`].
const MAP_PREFIXES: [&str; 2] = ["columns:", "csv:"];

impl Format {
    /// The format that `name` stands for: a name in [`Format::ALL`], or `columns:` (also `csv:`)
    /// followed by the text of a [`ColumnMap`].
    ///
    /// # Errors
    /// [`TraceError::UnknownFormat`] and [`TraceError::ColumnMap`].
    pub fn by_name(name: &str) -> Result<Format, TraceError> {
        if let Some(text) = MAP_PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)) {
            return Ok(Format::Columns(text.parse()?));
        }
        let named = Format::WITHOUT_MAP.iter().find(|format| format.name() == name);
        named.cloned().ok_or_else(|| TraceError::UnknownFormat {
            found: crate::reject::excerpt(name.as_bytes()),
            names: Format::names(),
        })
    }

    /// Name of the format as [`Format::by_name`] takes it (for a column map without the map).
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// The names of all formats, for a message.
    pub(crate) fn names() -> String {
        let names: Vec<&str> = Format::WITHOUT_MAP.iter().map(Format::name).collect();
        format!("{}, {}<map>", names.join(", "), MAP_PREFIXES[0])
    }

    /// The format that a line can only belong to, if there is one.
    pub(crate) fn recognise(line: &[u8]) -> Option<Format> {
        Format::WITHOUT_MAP.iter().find(|format| (format.info().recognises)(line)).cloned()
    }

    /// Unit of the time column: of the options, else of the format.
    pub(crate) fn time_unit(
        &self,
        wanted: Option<TimeUnit>,
        path: &Path,
    ) -> Result<TimeUnit, TraceError> {
        let own = match self {
            Format::Columns(map) => map.time_unit(),
            other => other.info().time_unit,
        };
        match wanted {
            Some(unit) if self.info().fixed_clock && unit != own => Err(TraceError::Option {
                path: path.to_owned(),
                option: "time_unit",
                found: format!("{unit} for the format {}", self.name()),
                allowed: "no unit, because the clock is part of this format",
            }),
            Some(unit) => Ok(unit),
            None => Ok(own),
        }
    }

    /// Lines at the start of the file that hold no record.
    pub(crate) fn header_lines(&self) -> u64 {
        match self {
            Format::Columns(map) => u64::from(map.header_lines()),
            _ => 0,
        }
    }

    /// A line of the format, for a message.
    pub(crate) fn example(&self) -> String {
        match self {
            Format::Columns(map) => map.to_string(),
            other => other.info().example.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::message;

    #[test]
    fn names_lead_back_to_their_format() {
        for format in Format::WITHOUT_MAP {
            assert_eq!(Format::by_name(format.name()).expect("a listed name"), *format);
        }
        let mapped = Format::by_name("columns:t=1[us],op=2,off=3,len=4").expect("a good map");
        assert_eq!(mapped.name(), "columns");
        assert_eq!(
            message(Format::by_name("fio")),
            "format `fio` is unknown; allowed: one of mqsim, disksim, ssdsim, msr, msps, columns:<map>"
        );
        assert!(message(Format::by_name("csv:t=1")).starts_with("column map `t=1`"));
    }

    #[test]
    fn every_example_is_a_line_of_its_format() {
        for format in Format::WITHOUT_MAP {
            let info = format.info();
            let mut parser = format.parser(info.time_unit);
            let mut record = parser.parse(info.example.as_bytes());
            if parser.reorders() && record == Ok(None) {
                record = Ok(parser.ready(true));
            }
            assert!(matches!(record, Ok(Some(_))), "{}: {record:?}", info.name);
        }
        let map: ColumnMap = columns::INFO.example.parse().expect("the example is a map");
        assert_eq!(map.to_string().parse::<ColumnMap>().expect("canonical text"), map);
    }
}
