//! Parquet files with a row for each request: our own, those of pandas and polars.
//!
//! Columns are told by their names, whatever their order; others are ignored:
//!
//! | what | names | types |
//! | --- | --- | --- |
//! | time | `t_ps`, `t_ns`, `t_us`, or `arrival_ps`, `arrival_ns`, `arrival_us` | integer or float, or a timestamp, whose own unit counts |
//! | time | `t`, `time`, `timestamp`, `ts`, `arrival` | a timestamp |
//! | operation | `op` | text: read, write, trim or flush, or its first letter, in either case |
//! | offset | `offset`, `offset_bytes` (bytes), `lba` (512-byte sectors) | integer |
//! | length | `length`, `length_bytes`, `bytes`, `size` (bytes) | integer |
//! | placement identifier | `placement`; may be absent, or missing in a row | integer from 0 to 64 |
//! | device | `device`, `flow`, `stream`; may be absent | integer, or text that is numbered from 0 as it appears |
//!
//! Rows may be out of order, as in the `requests.parquet` of a run: they wait in a buffer of 65,536
//! and leave it by time. Pages may be compressed by Zstandard, Snappy, gzip, LZ4 or Brotli; values
//! may be plain, in a dictionary, or differences of integers. A row in which another value is
//! missing is rejected. A column of another logical type (a decimal, a timestamp for an offset) is
//! refused.

mod column;
mod encoding;

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use self::column::{Cell, ColumnReader};
use self::encoding::refused;
use super::five_columns::range;
use super::order::ByArrival;
use super::{Entry, FormatInfo, RecordParser};
use crate::error::TraceError;
use crate::lines::LineReader;
use crate::options::Reading;
use crate::record::{Op, RawRecord, Record};
use crate::reject::Reason;
use crate::source::Codec;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "parquet",
    description: "Parquet: columns t_ns, op, offset, length and perhaps device, by name",
    example: "t_ns, op (read, write, trim, flush), offset, length, device",
    recognises: |head| head.starts_with(b"PAR1"),
    ..FormatInfo::PLAIN
};

/// Rows that are decoded at a time.
const BATCH: usize = 4096;
/// Most names of devices.
const NAMES_MAX: usize = 65_536;

/// Names of a column and its unit: picoseconds, or bytes.
type Names = &'static [(&'static str, u64)];

const TIME: Names = &[
    ("t_ps", 1),
    ("t_ns", 1_000),
    ("t_us", 1_000_000),
    ("arrival_ps", 1),
    ("arrival_ns", 1_000),
    ("arrival_us", 1_000_000),
    ("t", UNIT_OF_TYPE),
    ("time", UNIT_OF_TYPE),
    ("timestamp", UNIT_OF_TYPE),
    ("ts", UNIT_OF_TYPE),
    ("arrival", UNIT_OF_TYPE),
];
/// Marks a column whose name does not tell the unit, so that its type must.
const UNIT_OF_TYPE: u64 = 0;
const OP: Names = &[("op", 1)];
const OFFSET: Names = &[("offset", 1), ("offset_bytes", 1), ("lba", 512)];
const LENGTH: Names = &[("length", 1), ("length_bytes", 1), ("bytes", 1), ("size", 1)];
const PLACEMENT: Names = &[("placement", 1)];
const DEVICE: Names = &[("device", 1), ("flow", 1), ("stream", 1)];

/// A column of the file.
struct Column {
    index: usize,
    unit: u64,
    is_unsigned: bool,
    /// Definition level of a value that is not missing.
    there: i16,
    /// The reader of the current row group.
    reader: Option<ColumnReader>,
    /// Values of the decoded rows.
    cells: Vec<Cell>,
}

/// An open file.
struct Table {
    reader: SerializedFileReader<File>,
    columns: [Column; 4],
    device: Option<Column>,
    placement: Option<Column>,
    /// The row group that is read next, and the number of rows left in the group before it.
    group: usize,
    left: usize,
    /// Number of decoded rows, and index of the next of them.
    rows: usize,
    next: usize,
}

pub(super) struct Parquet {
    path: PathBuf,
    /// The open file. It is opened when the first record is wanted.
    table: Option<Table>,
    waiting: ByArrival,
    /// Names of devices. Never iterated over.
    names: HashMap<Vec<u8>, u32>,
    rejected: String,
}

#[expect(clippy::unnecessary_wraps, reason = "the parsers of binary formats are made alike")]
pub(super) fn parser(_: &Reading, path: &Path) -> Result<Parquet, TraceError> {
    Ok(Parquet {
        path: path.to_owned(),
        table: None,
        waiting: ByArrival::default(),
        names: HashMap::new(),
        rejected: String::new(),
    })
}

impl RecordParser for Parquet {
    fn next(&mut self, input: &mut LineReader) -> Result<Option<Entry>, TraceError> {
        loop {
            if let Some(record) = self.waiting.ready(false) {
                return Ok(Some(Entry::Request(record)));
            }
            match self.read(input)? {
                None => return Ok(self.waiting.ready(true).map(Entry::Request)),
                Some(Ok(record)) => {
                    self.waiting.at_line(input.line_count());
                    self.waiting.push(record);
                }
                Some(Err(reason)) => return Ok(Some(Entry::Rejected(reason))),
            }
        }
    }

    fn shown(&self) -> String {
        self.rejected.clone()
    }
}

impl Parquet {
    /// The next row.
    fn read(
        &mut self,
        input: &mut LineReader,
    ) -> Result<Option<Result<RawRecord, Reason>>, TraceError> {
        const ALLOWED: &str = "a Parquet file with columns of a trace, as docs/traces.md says";
        if self.table.is_none() {
            if input.codec() != Codec::Plain {
                input.begin_record();
                let found = format!("a file that {} compresses as a whole", input.codec());
                return Err(input.malformed(found, "Parquet, which is compressed inside"));
            }
            let table = Table::open(&self.path).map_err(|error| {
                input.begin_record();
                input.malformed(told(&error), ALLOWED)
            })?;
            self.table = Some(table);
        }
        let Some(table) = &mut self.table else { unreachable!("it was opened") };
        if table.next == table.rows
            && !table.refill().map_err(|error| input.malformed(told(&error), ALLOWED))?
        {
            return Ok(None);
        }
        input.begin_record();
        let row = table.next;
        table.next += 1;
        let found = table.record(row, &mut self.names);
        if found.is_err() {
            let shown = table.columns.iter().chain(&table.placement);
            let cells = shown.map(|column| column.cells[row].shown());
            self.rejected = cells.collect::<Vec<_>>().join(", ");
        }
        Ok(Some(found))
    }
}

/// The error of the Parquet library on one line.
fn told(error: &ParquetError) -> String {
    const CHARS: usize = 240;
    let printable = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    error.to_string().chars().map(printable).take(CHARS).collect()
}

impl Cell {
    fn shown(&self) -> String {
        match self {
            Cell::Missing => "nothing".to_owned(),
            Cell::Integer(number) => number.to_string(),
            Cell::Float(number) => number.to_string(),
            Cell::Text(text) => String::from_utf8_lossy(text).into_owned(),
        }
    }
}

impl Table {
    fn open(path: &Path) -> Result<Table, ParquetError> {
        let reader = SerializedFileReader::new(crate::pipe::open(path)?)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let needed = |names: Names| {
            column(schema, names)?.ok_or_else(|| {
                let names: Vec<&str> = names.iter().map(|name| name.0).collect();
                ParquetError::General(format!("no column called {}", names.join(" or ")))
            })
        };
        let columns = [needed(TIME)?, needed(OP)?, needed(OFFSET)?, needed(LENGTH)?];
        let device = column(schema, DEVICE)?;
        let placement = column(schema, PLACEMENT)?;
        for other in columns[1..].iter().chain(&device).chain(&placement) {
            refuse_type(&schema.column(other.index))?;
        }
        Ok(Table { columns, device, placement, reader, group: 0, left: 0, rows: 0, next: 0 })
    }

    /// Decodes more rows. False at the end of the file.
    fn refill(&mut self) -> Result<bool, ParquetError> {
        while self.left == 0 {
            if self.group == self.reader.num_row_groups() {
                return Ok(false);
            }
            let group = self.reader.get_row_group(self.group)?;
            let more = [&mut self.device, &mut self.placement].into_iter().flatten();
            for column in self.columns.iter_mut().chain(more) {
                let Column { index, is_unsigned, there, .. } = *column;
                column.reader = Some(ColumnReader::new(&*group, index, is_unsigned, there)?);
            }
            self.left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            self.group += 1;
        }
        (self.rows, self.next) = (self.left.min(BATCH), 0);
        self.left -= self.rows;
        let more = [&mut self.device, &mut self.placement].into_iter().flatten();
        for column in self.columns.iter_mut().chain(more) {
            column.fill(self.rows)?;
        }
        Ok(true)
    }

    fn record(&self, row: usize, names: &mut HashMap<Vec<u8>, u32>) -> Result<RawRecord, Reason> {
        let [time, op, offset, length] = &self.columns;
        let time_ps = time.time(row)?;
        let op = operation(&op.cells[row]).ok_or(Reason::UnknownOp)?;
        let device = match self.device.as_ref().map(|column| (column, &column.cells[row])) {
            None => 0,
            Some((_, Cell::Text(name))) => number_of(name, names)?,
            Some((column, _)) => u32::try_from(column.integer(row, Reason::BadDevice)?)
                .map_err(|_| Reason::TooLarge)?,
        };
        let (at, bytes) =
            (offset.integer(row, Reason::BadOffset)?, length.integer(row, Reason::BadLength)?);
        let (offset_bytes, length_bytes) = range(op, at, bytes, offset.unit, length.unit)?;
        let placement = self.placement.as_ref().map_or(Ok(None), |column| column.placement(row))?;
        Ok(RawRecord { time_ps, op, offset_bytes, length_bytes, device, tag: 0, placement })
    }
}

/// The column with one of the names.
fn column(schema: &SchemaDescriptor, names: Names) -> Result<Option<Column>, ParquetError> {
    let named = |name: &str| (0..schema.num_columns()).find(|at| schema.column(*at).name() == name);
    let Some((index, unit)) = names.iter().find_map(|(name, unit)| Some((named(name)?, *unit)))
    else {
        return Ok(None);
    };
    let descriptor = schema.column(index);
    if descriptor.max_rep_level() > 0 {
        return refused(format!("column {} holds lists", descriptor.name()));
    }
    let unit = if std::ptr::eq(names, TIME) { time_unit(&descriptor, unit)? } else { unit };
    let is_unsigned = matches!(
        descriptor.logical_type_ref(),
        Some(LogicalType::Integer(integer)) if !integer.is_signed
    );
    let there = descriptor.max_def_level();
    Ok(Some(Column { index, unit, is_unsigned, there, reader: None, cells: Vec::new() }))
}

/// Picoseconds of a time unit.
fn picoseconds(unit: &TimeUnit) -> u64 {
    match unit {
        TimeUnit::MILLIS => 1_000_000_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000,
    }
}

/// Unit of a column of times: that of its type, else that of its name. Unit: picoseconds.
fn time_unit(descriptor: &ColumnDescriptor, named: u64) -> Result<u64, ParquetError> {
    let name = descriptor.name();
    let refuse = |what: &str| {
        refused(format!(
            "column {name} is {what}; a timestamp, or a number in a column whose name tells its unit, such as \
             t_us, is read"
        ))
    };
    match (descriptor.logical_type_ref(), descriptor.converted_type()) {
        (Some(LogicalType::Timestamp(stamp) | LogicalType::Time(stamp)), _) => {
            Ok(picoseconds(&stamp.unit))
        }
        (_, ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIME_MILLIS) => Ok(1_000_000_000),
        (_, ConvertedType::TIMESTAMP_MICROS | ConvertedType::TIME_MICROS) => Ok(1_000_000),
        (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => refuse("a date"),
        (Some(LogicalType::Decimal(_)), _) | (_, ConvertedType::DECIMAL) => refuse("a decimal"),
        _ if named == UNIT_OF_TYPE => refuse("a number without a unit"),
        _ => Ok(named),
    }
}

/// Refuses a column that is neither a plain number nor text, as its name requires.
fn refuse_type(descriptor: &ColumnDescriptor) -> Result<(), ParquetError> {
    let name = descriptor.name();
    let what = match (descriptor.logical_type_ref(), descriptor.converted_type()) {
        (Some(LogicalType::Timestamp(_)), _)
        | (_, ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS) => "a timestamp",
        (Some(LogicalType::Time(_)), _)
        | (_, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS) => "a time",
        (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => "a date",
        (Some(LogicalType::Decimal(_)), _) | (_, ConvertedType::DECIMAL) => "a decimal",
        _ => return Ok(()),
    };
    refused(format!("column {name} is {what}; a number or text is read"))
}

impl Column {
    /// Decodes `count` values.
    fn fill(&mut self, count: usize) -> Result<(), ParquetError> {
        self.cells.clear();
        self.reader.as_mut().expect("a row group is open").fill(count, &mut self.cells)
    }

    fn integer(&self, row: usize, reason: Reason) -> Result<u64, Reason> {
        match self.cells[row] {
            Cell::Integer(number) if self.is_unsigned => Ok(number as u64),
            Cell::Integer(number) => u64::try_from(number).map_err(|_| reason),
            _ => Err(reason),
        }
    }

    /// Placement identifier. A column of integers in which some are missing may hold floats, with
    /// NaN for those.
    fn placement(&self, row: usize) -> Result<Option<u8>, Reason> {
        let id = match self.cells[row] {
            Cell::Missing => return Ok(None),
            Cell::Float(number) if number.is_nan() => return Ok(None),
            Cell::Float(number) if number.fract() == 0.0 && (0.0..256.0).contains(&number) => {
                number as u64
            }
            _ => self.integer(row, Reason::BadPlacement)?,
        };
        let id = u8::try_from(id).ok().filter(|id| *id <= Record::PLACEMENT_MAX);
        id.map(Some).ok_or(Reason::BadPlacement)
    }

    /// Unit: picoseconds.
    fn time(&self, row: usize) -> Result<u128, Reason> {
        match self.cells[row] {
            Cell::Float(number) if (0.0..1e30).contains(&number) => {
                Ok((number * self.unit as f64).round() as u128)
            }
            _ => Ok(u128::from(self.integer(row, Reason::BadTime)?) * u128::from(self.unit)),
        }
    }
}

fn operation(cell: &Cell) -> Option<Op> {
    let Cell::Text(text) = cell else { return None };
    let is = |word: &str| {
        text.eq_ignore_ascii_case(word.as_bytes())
            || text.eq_ignore_ascii_case(&word.as_bytes()[..1])
    };
    let ops = [("read", Op::Read), ("write", Op::Write), ("trim", Op::Trim), ("flush", Op::Flush)];
    ops.into_iter().find(|(word, _)| is(word)).map(|(_, op)| op)
}

/// The number of a name.
fn number_of(name: &[u8], names: &mut HashMap<Vec<u8>, u32>) -> Result<u32, Reason> {
    if let Some(number) = names.get(name) {
        return Ok(*number);
    }
    let number = names.len();
    if number == NAMES_MAX {
        return Err(Reason::BadDevice);
    }
    names.insert(name.to_vec(), number as u32);
    Ok(number as u32)
}

#[cfg(test)]
mod tests;
