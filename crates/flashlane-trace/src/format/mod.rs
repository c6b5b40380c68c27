//! The formats: one file each, one line each in the table below.

mod alibaba;
mod biosnoop;
mod blk_event;
mod blkparse;
mod blktrace;
mod column_map;
mod columns;
mod csv;
mod disksim;
mod fio_log;
mod fio_v2;
mod fio_v3;
mod fiu;
mod five_columns;
mod ftrace;
mod mqsim;
mod msps;
mod msr;
mod names;
mod oracle_general;
mod order;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;
mod parser;
mod spc;
mod ssdsim;
mod systor;
mod tag_field;
mod tencent;
mod vscsi;

pub use column_map::{ColumnMap, Separator};
pub(crate) use csv::{HEADER as CSV_HEADER, PLACED_HEADER as CSV_PLACED_HEADER};
pub(crate) use parser::{Entry, LineParser, Parser, RecordParser};

use std::path::{Path, PathBuf};

use crate::error::TraceError;
use crate::options::{Action, Reading, TraceOptions};
use crate::tags::TagKind;
use crate::units::{SpaceUnit, TimeUnit};

/// Bytes at the start of a file by which binary formats are told.
pub(crate) const HEAD_BYTES: usize = 128;

/// Description of a format.
#[derive(Debug)]
pub struct FormatInfo {
    /// Name that [`Format::by_name`] takes.
    pub name: &'static str,
    /// Layout in one sentence.
    pub description: &'static str,
    /// One line of such a file, or what a binary record holds.
    pub example: &'static str,
    /// Unit of the time column where the options name none. For the column map: unused.
    pub time_unit: TimeUnit,
    /// The clock is part of the format: another time unit is refused.
    pub fixed_clock: bool,
    /// Unit of the offsets (and of the lengths of five bare columns) where the options name none;
    /// `None`: the unit is part of the format.
    pub size_unit: Option<SpaceUnit>,
    /// True if a request has several events, of which [`TraceOptions::action`] chooses one.
    pub has_actions: bool,
    /// Tags that its records have, beside the columns of texts and tables.
    pub tags: &'static [TagKind],
    /// Other lines may come first: what a tool says before its table, or events of other kinds.
    pub(crate) has_preamble: bool,
    /// Says whether a line (of a binary format: the first 128 bytes) can only belong to this
    /// format. Some formats do not describe themselves.
    pub(crate) recognises: fn(&[u8]) -> bool,
}

impl FormatInfo {
    /// What most formats have in common.
    const PLAIN: FormatInfo = FormatInfo {
        name: "",
        description: "",
        example: "",
        time_unit: TimeUnit::Nanoseconds,
        fixed_clock: true,
        size_unit: None,
        has_actions: false,
        has_preamble: false,
        tags: &[],
        recognises: |_| false,
    };
}

macro_rules! formats {
    (
        text { $($(#[$doc:meta])* $variant:ident => $module:ident,)* }
        binary { $($(#[$binary_doc:meta])* $binary:ident => $binary_module:ident,)* }
    ) => {
        /// Layout of a trace file.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])* $variant,)*
            $($(#[$binary_doc])* $binary,)*
            /// Any text with one request per line, described by a [`ColumnMap`].
            Columns(ColumnMap),
        }

        /// The files that a trace consists of: the one that is named, and those beside it that are
        /// read with it. Only
/// traces of `blktrace` have several, one for each processor.
#[must_use]
pub fn files_of(path: &Path) -> Vec<PathBuf> {
    let mut files = vec![path.to_owned()];
    files.extend(blktrace::other_cpus(path));
    files
}

impl Format {
            /// All formats, the column map last.
            pub const ALL: &[&FormatInfo] =
                &[$(&$module::INFO,)* $(&$binary_module::INFO,)* &columns::INFO];

            /// All formats but the column map.
            pub(crate) const WITHOUT_MAP: &[Format] =
                &[$(Format::$variant,)* $(Format::$binary,)*];

            /// Name, layout and example of the format.
            #[must_use]
            pub fn info(&self) -> &'static FormatInfo {
                match self {
                    $(Format::$variant => &$module::INFO,)*
                    $(Format::$binary => &$binary_module::INFO,)*
                    Format::Columns(_) => &columns::INFO,
                }
            }

            /// Whether the file is text.
            #[must_use]
            pub fn is_text(&self) -> bool {
                !matches!(self, $(Format::$binary)|*)
            }

            /// A parser of the file at `path`.
            pub(crate) fn parser(
                &self,
                reading: &Reading,
                path: &Path,
            ) -> Result<Parser, TraceError> {
                Ok(match self {
                    $(Format::$variant => Parser::Lines(Box::new($module::parser(reading))),)*
                    $(Format::$binary => {
                        Parser::Records(Box::new($binary_module::parser(reading, path)?))
                    })*
                    Format::Columns(map) => {
                        let parser = columns::parser(map, reading.time_unit);
                        Parser::Lines(Box::new(parser.tagged(reading.tag)))
                    }
                })
            }
        }
    };
}

formats! {
    text {
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
    /// `asu,lba,size,opcode,timestamp`: 512-byte blocks, bytes, r or w, seconds (UMass, SPC).
    Spc => spc,
    /// What blkparse prints: `maj,min cpu seq sec.nsec pid action rwbs sector + nblocks [process]`.
    Blkparse => blkparse,
    /// Trace events of the kernel as ftrace, trace-cmd and perf script print them.
    Ftrace => ftrace,
    /// Tables of biosnoop, and of bpftrace programs with the same columns.
    Biosnoop => biosnoop,
    /// fio's iolog, version 2: `file action offset length`, and waits.
    FioV2 => fio_v2,
    /// fio's iolog, version 3: `us file action offset length`.
    FioV3 => fio_v3,
    /// `device,R|W,offset,length,timestamp`: bytes, microseconds since 1970 (Alibaba 2020).
    Alibaba => alibaba,
    /// `timestamp,offset,size,type,volume`: seconds since 1970, 512-byte sectors, 0 = read, 1 =
    /// write (Tencent CBS).
    Tencent => tencent,
    /// `Timestamp,Response,IOType,LUN,Offset,Size`: seconds since 1970, R or W, bytes (SYSTOR'17).
    Systor => systor,
    /// `ts pid process lba size W|R major minor md5`: ns, 512-byte blocks (FIU, IODedup).
    Fiu => fiu,
    /// `t_us,op(R/W),offset_bytes,size_bytes,device`: what `trace convert` writes.
    Csv => csv,
    }
    binary {
    /// Binary records of blktrace, versions 7 and 8; the files of all CPUs, or one stream.
    Blktrace => blktrace,
    /// Binary records of VMware's vscsiStats, versions 1 and 2 (CloudPhysics).
    Vscsi => vscsi,
    /// Binary records of libCacheSim's oracleGeneral: seconds, object, size, next access.
    OracleGeneral => oracle_general,
    /// Parquet with columns of a trace.
    Parquet => parquet,
    }
}

/// Prefixes of the text of a column map in [`Format::by_name`].
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

    /// The text format that a line can only belong to, if there is one.
    pub(crate) fn recognise(line: &[u8]) -> Option<Format> {
        let mut formats = Format::WITHOUT_MAP.iter().filter(|format| format.is_text());
        formats.find(|format| (format.info().recognises)(line)).cloned()
    }

    /// As [`Format::recognise`], of a line that is not the first one.
    pub(crate) fn recognise_late(line: &[u8]) -> Option<Format> {
        Format::recognise(line).filter(|format| format.info().has_preamble)
    }

    /// The binary format that the first bytes of a file can only belong to, if there is one.
    pub(crate) fn recognise_binary(head: &[u8]) -> Option<Format> {
        let mut formats = Format::WITHOUT_MAP.iter().filter(|format| !format.is_text());
        formats.find(|format| (format.info().recognises)(head)).cloned()
    }

    /// What the options tell the parser.
    ///
    /// # Errors
    /// [`TraceError::Option`] for what does not suit the format.
    pub(crate) fn reading(
        &self,
        options: &TraceOptions,
        path: &Path,
    ) -> Result<Reading, TraceError> {
        let refuse = |option, found: String, allowed| {
            let option = options.spelling.option(option);
            Err(TraceError::Option { path: path.to_owned(), option, found, allowed })
        };
        let (info, name) = (self.info(), self.name());
        let size_unit = match (options.size_unit, info.size_unit) {
            (Some(unit), None) => {
                let allowed = "no unit, because the unit is part of this format";
                return refuse("size_unit", format!("{unit} for the format {name}"), allowed);
            }
            (unit, own) => unit.or(own).unwrap_or(SpaceUnit::Bytes),
        };
        if options.action != Action::default() && !info.has_actions {
            let found = format!("{} for the format {name}", options.action.letter());
            return refuse("action", found, "none, because requests have one event in this format");
        }
        let time_unit = self.time_unit(options, path)?;
        let tag = options.tag.as_ref().map(|kind| self.tag_field(kind, path)).transpose()?;
        Ok(Reading { time_unit, size_unit, action: options.action, tag })
    }

    /// Unit of the time column: of the options, else of the format.
    pub(crate) fn time_unit(
        &self,
        options: &TraceOptions,
        path: &Path,
    ) -> Result<TimeUnit, TraceError> {
        let own = match self {
            Format::Columns(map) => map.time_unit(),
            other => other.info().time_unit,
        };
        match options.time_unit {
            Some(unit) if self.info().fixed_clock && unit != own => Err(TraceError::Option {
                path: path.to_owned(),
                option: options.spelling.option("time_unit"),
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
    use crate::test_support::{message, reading};

    #[test]
    fn names_lead_back_to_their_format() {
        for format in Format::WITHOUT_MAP {
            assert_eq!(Format::by_name(format.name()).expect("a listed name"), *format);
        }
        let mapped = Format::by_name("columns:t=1[us],op=2,off=3,len=4").expect("a good map");
        assert_eq!(mapped.name(), "columns");
        let unknown = message(Format::by_name("fio"));
        assert!(unknown.starts_with(
            "format `fio` is unknown; allowed: one of mqsim, disksim, ssdsim, msr, msps, "
        ));
        assert!(unknown.ends_with(", parquet, columns:<map>"), "{unknown}");
        assert!(message(Format::by_name("csv:t=1")).starts_with("column map `t=1`"));
    }

    #[test]
    fn every_example_is_a_line_of_its_format_and_of_no_other_that_is_recognised() {
        for format in Format::WITHOUT_MAP.iter().filter(|format| format.is_text()) {
            let info = format.info();
            let Ok(Parser::Lines(mut parser)) =
                format.parser(&reading(info.time_unit), Path::new(""))
            else {
                panic!("{} is text", info.name)
            };
            let mut record = parser.parse(info.example.as_bytes());
            if let Some(held) = parser.held()
                && record == Ok(None)
            {
                record = Ok(held.ready(true));
            }
            assert!(matches!(record, Ok(Some(_))), "{}: {record:?}", info.name);
            let recognised = Format::recognise(info.example.as_bytes());
            assert!(recognised.is_none() || recognised.as_ref() == Some(format), "{recognised:?}");
        }
        let map: ColumnMap = columns::INFO.example.parse().expect("the example is a map");
        assert_eq!(map.to_string().parse::<ColumnMap>().expect("canonical text"), map);
    }
}
