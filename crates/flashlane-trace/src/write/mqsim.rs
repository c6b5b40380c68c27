//! Writes MQSim's ASCII traces.

use std::io::{self, Write};

use super::{Compressor, OutputInfo, RecordWriter};
use crate::record::{Op, Record};

pub(super) const INFO: OutputInfo = OutputInfo {
    name: "mqsim",
    loses: "trims and flushes, which it does not have; fractions of nanoseconds; requests are widened to sectors; placement identifiers",
    endings: &["trace"],
};

/// Size of a sector. Unit: bytes.
const SECTOR_BYTES: u64 = 512;
/// Picoseconds in a nanosecond.
const NANOSECOND_PS: u64 = 1_000;

pub(super) struct MqsimWriter<W: Write>(Compressor<W>);

impl<W: Write> MqsimWriter<W> {
    pub(super) fn new(out: Compressor<W>) -> MqsimWriter<W> {
        MqsimWriter(out)
    }
}

impl<W: Write + Send> RecordWriter for MqsimWriter<W> {
    fn write(&mut self, record: &Record) -> io::Result<bool> {
        let code = match record.op {
            Op::Read => 1,
            Op::Write => 0,
            Op::Trim | Op::Flush => return Ok(false),
        };
        let first = record.offset_bytes / SECTOR_BYTES;
        let sectors = record.end_bytes().div_ceil(SECTOR_BYTES) - first;
        let (ns, device) = (record.time_ps / NANOSECOND_PS, record.device);
        writeln!(self.0, "{ns} {device} {first} {sectors} {code}")?;
        Ok(true)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.finish()
    }
}
