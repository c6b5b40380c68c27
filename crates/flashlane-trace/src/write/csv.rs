//! Writes Flashlane's own CSV.

use std::io::{self, Write};

use super::{Compressor, OutputInfo, RecordWriter};
use crate::format::CSV_HEADER;
use crate::record::{Op, Record};

pub(super) const INFO: OutputInfo = OutputInfo { name: "csv", loses: "nothing", endings: &["csv"] };

/// Picoseconds in a microsecond.
const MICROSECOND_PS: u64 = 1_000_000;
/// Picoseconds in a nanosecond.
const NANOSECOND_PS: u64 = 1_000;

pub(super) struct CsvWriter<W: Write>(Compressor<W>);

impl<W: Write> CsvWriter<W> {
    pub(super) fn new(mut out: Compressor<W>) -> io::Result<CsvWriter<W>> {
        writeln!(out, "{CSV_HEADER}")?;
        Ok(CsvWriter(out))
    }
}

impl<W: Write + Send> RecordWriter for CsvWriter<W> {
    fn write(&mut self, record: &Record) -> io::Result<bool> {
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
            writeln!(self.0, "{us}.{ns:03},{op},{offset_bytes},{length_bytes},{device}")?;
        } else {
            writeln!(self.0, "{us}.{rest:06},{op},{offset_bytes},{length_bytes},{device}")?;
        }
        Ok(true)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.finish()
    }
}
