//! Description of a text trace by its columns.

use std::fmt;
use std::str::FromStr;

use crate::error::TraceError;
use crate::record::Op;
use crate::reject::excerpt;
use crate::tags::TagKind;
use crate::units::{SpaceUnit, TimeUnit};

/// Highest column that may be named.
pub(super) const LAST_COLUMN: u16 = 1024;

/// The word for dates and times of day in place of a unit.
const DATES: &str = "datetime";

/// Codes for a read where the map names none.
const READ_CODES: [&str; 5] = ["R", "r", "Read", "read", "READ"];
/// Codes for a write where the map names none.
const WRITE_CODES: [&str; 5] = ["W", "w", "Write", "write", "WRITE"];

/// Says which columns of a text hold time, operation, offset, length and device.
///
/// Made from text such as
/// `t=1[us],op=3,off=4[B],len=5[B],dev=2;sep=comma;read=R|r;write=W|w;header=1`:
///
/// * Columns count from 1. `t` needs a unit: `s`, `ms`, `us`, `ns`, `ps` or `filetime` (100 ns);
///   decimal fractions are read. `datetime` is a date and a time of day, such as `2016-02-22
///   11:25:45.123` or `2016-02-22T11:25:45Z`. `off` and `len` may have a unit: `B` (default),
///   `KiB`, `sector` (512 bytes) or `4KiB`. `op=read` (`write`, `trim`, `flush`) in place of a
///   column is the operation of every line. Devices may be numbers, or names that are numbered from
///   0 as they appear. Fields between commas or tabs may stand in double quotes. `dev` may be left
///   out; all records then belong to device 0. `placement` is the column of placement identifiers,
///   from 0 to 64; an empty field names none. `process`, `pid`, `cgroup`, `queue`, `namespace` and
///   `column:NAME` name columns by which a trace can be split.
/// * `sep`: `comma` (default), `space` (any run of blanks) or `tab`.
/// * `read`, `write`, `trim`, `flush`: the codes of each operation, separated by `|`. Where neither
///   `read` nor `write` is given, `R`, `r`, `Read`, `read`, `READ` and the same for `W` are known.
/// * `header`: lines to skip at the start of the file. Default: 0.
///
/// Columns that the map does not name are ignored. Its `Display` form is text that gives the same
/// map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnMap {
    pub(super) time: (u16, TimeUnit),
    /// True if times are dates with times of day.
    pub(super) has_dates: bool,
    pub(super) op: Operation,
    pub(super) offset: (u16, SpaceUnit),
    pub(super) length: (u16, SpaceUnit),
    pub(super) device: Option<u16>,
    pub(super) placement: Option<u16>,
    tags: Vec<(TagKind, u16)>,
    separator: Separator,
    pub(super) codes: Codes,
    header_lines: u32,
}

/// Where the operation of a line is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// A column.
    Column(u16),
    /// All lines have this operation.
    Fixed(Op),
}

impl Operation {
    /// The operations by name.
    const NAMES: [(&str, Op); 4] =
        [("read", Op::Read), ("write", Op::Write), ("trim", Op::Trim), ("flush", Op::Flush)];
}

/// The separator of two columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Separator {
    /// One comma; blanks around it are ignored.
    #[default]
    Comma,
    /// Any run of spaces and tabs.
    Space,
    /// One tab.
    Tab,
}

/// The codes of each operation, for the parser to compare with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Codes {
    pub(super) read: Vec<String>,
    pub(super) write: Vec<String>,
    pub(super) trim: Vec<String>,
    pub(super) flush: Vec<String>,
}

impl ColumnMap {
    /// Unit of the time column.
    #[must_use]
    pub fn time_unit(&self) -> TimeUnit {
        self.time.1
    }

    /// Lines that are skipped at the start of the file.
    #[must_use]
    pub fn header_lines(&self) -> u32 {
        self.header_lines
    }

    /// The tags that the map names, each with its column.
    pub fn tags(&self) -> impl Iterator<Item = (&TagKind, u16)> {
        self.tags.iter().map(|(kind, column)| (kind, *column))
    }

    /// Column of a tag.
    pub(super) fn tag(&self, kind: &TagKind) -> Option<u16> {
        self.tags().find(|(own, _)| *own == kind).map(|(_, column)| column)
    }

    /// The separator of two columns.
    #[must_use]
    pub fn separator(&self) -> Separator {
        self.separator
    }
}

/// An error in the text of a map: the part that was found, and the text that is allowed there.
struct Fault(String, &'static str);

impl FromStr for ColumnMap {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<ColumnMap, TraceError> {
        let result = Draft::read(text).and_then(Draft::finish);
        result.map_err(|Fault(found, allowed)| TraceError::ColumnMap {
            text: excerpt(text.as_bytes()),
            found: excerpt(found.as_bytes()),
            allowed,
        })
    }
}

/// A map while its text is being read.
#[derive(Default)]
struct Draft {
    time: Option<(u16, TimeUnit)>,
    has_dates: bool,
    op: Option<Operation>,
    offset: Option<(u16, SpaceUnit)>,
    length: Option<(u16, SpaceUnit)>,
    device: Option<u16>,
    placement: Option<u16>,
    tags: Vec<(TagKind, u16)>,
    separator: Option<Separator>,
    read: Option<Vec<String>>,
    write: Option<Vec<String>>,
    trim: Option<Vec<String>>,
    flush: Option<Vec<String>>,
    header_lines: Option<u32>,
}

impl Draft {
    fn read(text: &str) -> Result<Draft, Fault> {
        let mut draft = Draft::default();
        let (columns, settings) = text.split_once(';').unwrap_or((text, ""));
        for item in columns.split(',') {
            draft.read_column(item.trim())?;
        }
        for item in settings.split(';').map(str::trim).filter(|item| !item.is_empty()) {
            draft.read_setting(item)?;
        }
        Ok(draft)
    }

    /// Reads `key=column` or `key=column[unit]`.
    fn read_column(&mut self, item: &str) -> Result<(), Fault> {
        const ALLOWED: &str = "t=<column>[<unit>], op=<column> or read, write, trim or flush, off=<column>[<unit>], \
             len=<column>[<unit>], dev=<column>, placement=<column>, process=<column>, pid=<column>, cgroup=<column>, \
             queue=<column>, namespace=<column>, column:<name>=<column>, each at most once";
        let fault = || Fault(format!("`{item}`"), ALLOWED);
        let (key, value) = item.split_once('=').ok_or_else(fault)?;
        let (column, unit) = match value.split_once('[') {
            Some((column, unit)) => (column, Some(unit.strip_suffix(']').ok_or_else(fault)?)),
            None => (value, None),
        };
        let fixed = Operation::NAMES.iter().find(|(name, _)| key == "op" && *name == value);
        if let Some((_, op)) = fixed {
            let fresh = self.op.replace(Operation::Fixed(*op)).is_none();
            return if fresh { Ok(()) } else { Err(fault()) };
        }
        let column = column_number(column)?;
        let fresh = match key {
            "t" if unit == Some(DATES) => {
                self.has_dates = true;
                self.time.replace((column, TimeUnit::Seconds)).is_none()
            }
            "t" => self.time.replace((column, time_unit(item, unit)?)).is_none(),
            "off" => self.offset.replace((column, space_unit(item, unit)?)).is_none(),
            "len" => self.length.replace((column, space_unit(item, unit)?)).is_none(),
            "op" if unit.is_none() => self.op.replace(Operation::Column(column)).is_none(),
            "dev" if unit.is_none() => self.device.replace(column).is_none(),
            "placement" if unit.is_none() => self.placement.replace(column).is_none(),
            _ => match TagKind::by_name(key).filter(|_| unit.is_none()) {
                Some(kind) if self.tags.iter().all(|(other, _)| *other != kind) => {
                    self.tags.push((kind, column));
                    true
                }
                _ => false,
            },
        };
        if fresh { Ok(()) } else { Err(fault()) }
    }

    /// Reads `key=value` behind the first semicolon.
    fn read_setting(&mut self, item: &str) -> Result<(), Fault> {
        const ALLOWED: &str = "sep=comma|space|tab, read=<code>|<code>, write=..., trim=..., \
             flush=..., header=<lines>, each at most once";
        let fault = || Fault(format!("`{item}`"), ALLOWED);
        let (key, value) = item.split_once('=').ok_or_else(fault)?;
        let fresh = match key {
            "sep" => self.separator.replace(separator(value).ok_or_else(fault)?).is_none(),
            "header" => self.header_lines.replace(value.parse().map_err(|_| fault())?).is_none(),
            "read" => self.read.replace(codes(value)?).is_none(),
            "write" => self.write.replace(codes(value)?).is_none(),
            "trim" => self.trim.replace(codes(value)?).is_none(),
            "flush" => self.flush.replace(codes(value)?).is_none(),
            _ => false,
        };
        if fresh { Ok(()) } else { Err(fault()) }
    }

    fn finish(self) -> Result<ColumnMap, Fault> {
        let missing = |key: &str| Fault(format!("no {key}="), "t=, op=, off= and len= are needed");
        let map = ColumnMap {
            time: self.time.ok_or_else(|| missing("t"))?,
            has_dates: self.has_dates,
            op: self.op.ok_or_else(|| missing("op"))?,
            offset: self.offset.ok_or_else(|| missing("off"))?,
            length: self.length.ok_or_else(|| missing("len"))?,
            device: self.device,
            placement: self.placement,
            tags: self.tags,
            separator: self.separator.unwrap_or_default(),
            codes: Codes::new(self.read, self.write, self.trim, self.flush)?,
            header_lines: self.header_lines.unwrap_or(0),
        };
        let mut columns = vec![map.time.0, map.offset.0, map.length.0];
        if let Operation::Column(column) = map.op {
            columns.push(column);
        }
        columns.extend(map.device);
        columns.extend(map.placement);
        match first_repeated(&mut columns) {
            Some(column) => {
                Err(Fault(format!("column {column} named twice"), "a column of its own for each"))
            }
            None => Ok(map),
        }
    }
}

impl Codes {
    fn new(
        read: Option<Vec<String>>,
        write: Option<Vec<String>>,
        trim: Option<Vec<String>>,
        flush: Option<Vec<String>>,
    ) -> Result<Codes, Fault> {
        if read.is_some() != write.is_some() {
            let found =
                if read.is_some() { "read= without write=" } else { "write= without read=" };
            return Err(Fault(found.to_owned(), "both or neither"));
        }
        let default = |codes: [&str; 5]| codes.map(str::to_owned).to_vec();
        let codes = Codes {
            read: read.unwrap_or_else(|| default(READ_CODES)),
            write: write.unwrap_or_else(|| default(WRITE_CODES)),
            trim: trim.unwrap_or_default(),
            flush: flush.unwrap_or_default(),
        };
        let mut all: Vec<&str> = codes.by_key().into_iter().flat_map(|(_, list)| list).collect();
        match first_repeated(&mut all) {
            Some(code) => {
                Err(Fault(format!("code `{code}` named twice"), "one meaning for each code"))
            }
            None => Ok(codes),
        }
    }

    fn by_key(&self) -> [(&'static str, impl Iterator<Item = &str>); 4] {
        [("read", &self.read), ("write", &self.write), ("trim", &self.trim), ("flush", &self.flush)]
            .map(|(key, list)| (key, list.iter().map(String::as_str)))
    }
}

fn first_repeated<T: Ord + Copy>(items: &mut [T]) -> Option<T> {
    items.sort_unstable();
    items.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

fn column_number(text: &str) -> Result<u16, Fault> {
    let number = text.parse().ok().filter(|column| (1..=LAST_COLUMN).contains(column));
    number.ok_or_else(|| Fault(format!("column `{text}`"), "columns 1 to 1024"))
}

fn time_unit(item: &str, unit: Option<&str>) -> Result<TimeUnit, Fault> {
    unit.and_then(TimeUnit::by_name).ok_or_else(|| {
        Fault(
            format!("`{item}`"),
            "a time unit in brackets: s, ms, us, ns, ps, filetime or datetime",
        )
    })
}

fn space_unit(item: &str, unit: Option<&str>) -> Result<SpaceUnit, Fault> {
    SpaceUnit::by_name(unit.unwrap_or(SpaceUnit::Bytes.name()))
        .ok_or_else(|| Fault(format!("`{item}`"), "a unit in brackets: B, KiB, sector or 4KiB"))
}

fn separator(name: &str) -> Option<Separator> {
    [Separator::Comma, Separator::Space, Separator::Tab].into_iter().find(|s| s.name() == name)
}

/// Reads codes separated by `|`. A code that holds a separator could never match a field.
fn codes(value: &str) -> Result<Vec<String>, Fault> {
    let usable = |code: &str| {
        !code.is_empty()
            && !code.contains(|c: char| c == ',' || c.is_whitespace() || c.is_control())
    };
    if !value.split('|').all(usable) {
        return Err(Fault(
            format!("codes `{value}`"),
            "codes without blanks and commas, separated by |",
        ));
    }
    Ok(value.split('|').map(str::to_owned).collect())
}

impl Separator {
    /// The usual byte between two columns.
    pub(super) fn byte(self) -> u8 {
        match self {
            Separator::Comma => b',',
            Separator::Space => b' ',
            Separator::Tab => b'\t',
        }
    }

    fn name(self) -> &'static str {
        match self {
            Separator::Comma => "comma",
            Separator::Space => "space",
            Separator::Tab => "tab",
        }
    }
}

impl fmt::Display for ColumnMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.has_dates { DATES } else { self.time.1.name() };
        write!(f, "t={}[{unit}],op=", self.time.0)?;
        match self.op {
            Operation::Column(column) => write!(f, "{column}")?,
            Operation::Fixed(op) => {
                let names = Operation::NAMES.iter();
                f.write_str(
                    names.clone().find(|(_, own)| *own == op).map_or("", |(name, _)| name),
                )?;
            }
        }
        write!(f, ",off={}[{}]", self.offset.0, self.offset.1)?;
        write!(f, ",len={}[{}]", self.length.0, self.length.1)?;
        if let Some(device) = self.device {
            write!(f, ",dev={device}")?;
        }
        if let Some(placement) = self.placement {
            write!(f, ",placement={placement}")?;
        }
        for (kind, column) in &self.tags {
            write!(f, ",{kind}={column}")?;
        }
        write!(f, ";sep={}", self.separator.name())?;
        for (key, list) in self.codes.by_key() {
            let list: Vec<&str> = list.collect();
            if !list.is_empty() {
                write!(f, ";{key}={}", list.join("|"))?;
            }
        }
        if self.header_lines > 0 {
            write!(f, ";header={}", self.header_lines)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::message;

    #[test]
    fn the_text_of_a_map_gives_the_same_map() {
        let full = "t=1[us],op=3,off=4[KiB],len=5[sector],dev=2,placement=7;\
                    sep=tab;read=R|r;write=W;trim=D;flush=F;header=2";
        let map: ColumnMap = full.parse().expect("a good map");
        assert_eq!(map.to_string(), full);
        assert_eq!((map.time_unit(), map.header_lines()), (TimeUnit::Microseconds, 2));
        let dated = "t=1[datetime],op=write,off=3[4KiB],len=5[B];sep=comma;read=R;write=W";
        assert_eq!(dated.parse::<ColumnMap>().expect("a good map").to_string(), dated);
        let short: ColumnMap = " t=1[us], op=3,off=4,len=5 ; ".parse().expect("a good map");
        assert_eq!(short.separator(), Separator::Comma);
        assert_eq!(short.to_string().parse::<ColumnMap>().expect("canonical text"), short);
    }

    #[test]
    fn bad_maps_say_what_is_allowed() {
        let cases = [
            ("", "found ``; allowed: t=<column>"),
            ("t=1[us],op=2,off=3", "found no len=; allowed: t=, op=, off= and len="),
            ("t=1,op=2,off=3,len=4", "a time unit in brackets"),
            ("t=1[min],op=2,off=3,len=4", "a time unit in brackets"),
            ("t=1[us,op=2,off=3,len=4", "`t=1[us`"),
            ("t=0[us],op=2,off=3,len=4", "found column `0`; allowed: columns 1 to 1024"),
            ("t=70000[us],op=2,off=3,len=4", "columns 1 to 1024"),
            ("t=1[us],op=2[B],off=3,len=4", "found `op=2[B]`"),
            ("t=1[us],op=2,off=3[page],len=4", "B, KiB, sector or 4KiB"),
            ("t=1[us],op=erase,off=3,len=4", "found column `erase`"),
            ("t=1[us],op=read,op=2,off=3,len=4", "found `op=2`"),
            ("t=1[us],op=2,off=3,len=4,placement=4", "column 4 named twice"),
            ("t=1[us],op=2,off=3,len=4,placement=5[B]", "found `placement=5[B]`"),
            ("t=1[us],op=read,off=3,len=3", "column 3 named twice"),
            ("t=1[us],op=2,off=3,len=3", "column 3 named twice"),
            ("t=1[us],t=2[us],off=3,len=4", "found `t=2[us]`"),
            ("t=1[us],op=2,off=3,len=4;sep=pipe", "found `sep=pipe`"),
            ("t=1[us],op=2,off=3,len=4;read=0", "found read= without write="),
            ("t=1[us],op=2,off=3,len=4;read=0;write=0", "code `0` named twice"),
            ("t=1[us],op=2,off=3,len=4;read=R,r;write=W", "codes without blanks and commas"),
            ("t=1[us],op=2,off=3,len=4;read=|;write=W", "codes without blanks and commas"),
            ("t=1[us],op=2,off=3,len=4;header=-1", "found `header=-1`"),
            ("t=1[us],op=2,off=3,len=4;skip", "found `skip`"),
            ("t=1[us],op=2,off=3,len=4;header=1;header=1", "each at most once"),
        ];
        for (text, part) in cases {
            let message = message(text.parse::<ColumnMap>());
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
