//! Writes Parquet with the columns `t_ns`, `op`, `offset`, `length`, `device` and `placement`
//! (whose values may be missing), a row for each request, and pages compressed by Zstandard.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::{OutputInfo, RecordWriter};
use crate::record::{Op, Record};

pub(super) const INFO: OutputInfo =
    OutputInfo { name: "parquet", loses: "fractions of nanoseconds", endings: &["parquet"] };

/// Number of rows of a row group. A row takes about 40 bytes of memory.
const ROWS: usize = 1 << 18;
/// Picoseconds in a nanosecond.
const NANOSECOND_PS: u64 = 1_000;

const SCHEMA: &str = "message trace {
    required int64 t_ns (integer(64,false));
    required binary op (string);
    required int64 offset (integer(64,false));
    required int64 length (integer(64,false));
    required int32 device (integer(32,false));
    optional int32 placement (integer(8,false));
}";

pub(super) struct ParquetWriter<W: Write + Send> {
    out: SerializedFileWriter<W>,
    times: Vec<i64>,
    ops: Vec<ByteArray>,
    offsets: Vec<i64>,
    lengths: Vec<i64>,
    devices: Vec<i32>,
    /// The placement identifiers that are there, and for each row 1 if it has one, else 0.
    placements: Vec<i32>,
    placed: Vec<i16>,
    /// Names of the operations, shared by all rows.
    names: [ByteArray; 4],
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(super) fn new(out: W) -> io::Result<ParquetWriter<W>> {
        let schema = parse_message_type(SCHEMA).map_err(io::Error::other)?;
        let properties =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
        let out = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))
            .map_err(io::Error::other)?;
        Ok(ParquetWriter {
            out,
            times: Vec::new(),
            ops: Vec::new(),
            offsets: Vec::new(),
            lengths: Vec::new(),
            devices: Vec::new(),
            placements: Vec::new(),
            placed: Vec::new(),
            names: ["read", "write", "trim", "flush"].map(ByteArray::from),
        })
    }

    /// Writes the collected rows as a row group.
    fn group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.out.next_row_group()?;
        column::<Int64Type, W>(&mut group, &self.times, None)?;
        column::<ByteArrayType, W>(&mut group, &self.ops, None)?;
        column::<Int64Type, W>(&mut group, &self.offsets, None)?;
        column::<Int64Type, W>(&mut group, &self.lengths, None)?;
        column::<Int32Type, W>(&mut group, &self.devices, None)?;
        column::<Int32Type, W>(&mut group, &self.placements, Some(&self.placed))?;
        group.close()?;
        self.times.clear();
        self.ops.clear();
        self.offsets.clear();
        self.lengths.clear();
        self.devices.clear();
        self.placements.clear();
        self.placed.clear();
        Ok(())
    }
}

/// Writes the next column of a group. `levels`: 1 for each row that has a value. The types follow
/// [`SCHEMA`].
fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has six columns");
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

impl<W: Write + Send> RecordWriter for ParquetWriter<W> {
    fn write(&mut self, record: &Record) -> io::Result<bool> {
        let op = match record.op {
            Op::Read => 0,
            Op::Write => 1,
            Op::Trim => 2,
            Op::Flush => 3,
        };
        self.times.push((record.time_ps / NANOSECOND_PS) as i64);
        self.ops.push(self.names[op].clone());
        // The columns are unsigned, so the bits stay as they are.
        self.offsets.push(record.offset_bytes as i64);
        self.lengths.push(record.length_bytes as i64);
        self.devices.push(record.device as i32);
        self.placements.extend(record.placement.map(i32::from));
        self.placed.push(record.placement.is_some().into());
        if self.times.len() == ROWS {
            self.group().map_err(io::Error::other)?;
        }
        Ok(true)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if !self.times.is_empty() {
            self.group().map_err(io::Error::other)?;
        }
        self.out.finish().map_err(io::Error::other)?;
        self.out.inner_mut().flush()
    }
}
