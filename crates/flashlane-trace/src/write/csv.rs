//! Writes Flashlane's own CSV.

use std::io::{self, Write};

use super::{Compressor, OutputInfo, RecordWriter};
use crate::format::{CSV_HEADER, CSV_PLACED_HEADER};
use crate::record::{Op, Record};

pub(super) const INFO: OutputInfo = OutputInfo { name: "csv", loses: "nothing", endings: &["csv"] };

/// Picoseconds in a microsecond.
const MICROSECOND_PS: u64 = 1_000_000;
/// Picoseconds in a nanosecond.
const NANOSECOND_PS: u64 = 1_000;

pub(super) struct CsvWriter<W: Write> {
    out: Compressor<W>,
    /// The last header that was written. One that names the column of placement identifiers stands
    /// above the first request that names one.
    header: Option<&'static str>,
}

impl<W: Write> CsvWriter<W> {
    pub(super) fn new(out: Compressor<W>) -> CsvWriter<W> {
        CsvWriter { out, header: None }
    }

    /// Writes a header, unless the lines that follow are below it already.
    fn head(&mut self, header: &'static str) -> io::Result<()> {
        if self.header.replace(header) == Some(header) {
            return Ok(());
        }
        writeln!(self.out, "{header}")
    }
}

impl<W: Write + Send> RecordWriter for CsvWriter<W> {
    fn write(&mut self, record: &Record) -> io::Result<bool> {
        let is_placed = record.placement.is_some() || self.header == Some(CSV_PLACED_HEADER);
        self.head(if is_placed { CSV_PLACED_HEADER } else { CSV_HEADER })?;
        let op = match record.op {
            Op::Read => 'R',
            Op::Write => 'W',
            Op::Trim => 'T',
            Op::Flush => 'F',
        };
        let (us, rest) = (record.time_ps / MICROSECOND_PS, record.time_ps % MICROSECOND_PS);
        let Record { offset_bytes, length_bytes, device, .. } = record;
        // Most clocks do not resolve less than a nanosecond, so picoseconds are written only if
        // needed.
        if rest % NANOSECOND_PS == 0 {
            let ns = rest / NANOSECOND_PS;
            write!(self.out, "{us}.{ns:03},{op},{offset_bytes},{length_bytes},{device}")?;
        } else {
            write!(self.out, "{us}.{rest:06},{op},{offset_bytes},{length_bytes},{device}")?;
        }
        match record.placement {
            Some(id) => writeln!(self.out, ",{id}")?,
            None => self.out.write_all(if is_placed { b",\n" } else { b"\n" })?,
        }
        Ok(true)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if self.header.is_none() {
            self.head(CSV_HEADER)?;
        }
        self.out.finish()
    }
}
