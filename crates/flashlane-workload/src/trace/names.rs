//! Names of the first lines of a trace that are not replayed unchanged.

use std::ops::Range;

use flashlane_trace::{Record, TraceReader};

use crate::NAMED_LINES;
use flashlane_device::layout::SECTOR_BYTES;

/// The first lines of each kind of change, with the reason. Later passes over the file would only
/// repeat them.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    wrapped: Vec<String>,
    dropped: Vec<String>,
    too_long: Vec<String>,
    no_handle: Vec<String>,
    /// Lines that the reader named, after a pass over the file.
    reader: Option<Vec<String>>,
}

/// The place of the latest record in the file.
pub(super) fn place(reader: &TraceReader) -> String {
    format!("{} {}", reader.unit(), reader.record_line())
}

/// The bytes of a record.
fn bytes(record: &Record) -> String {
    format!("bytes {}..={}", record.offset_bytes, record.end_bytes().saturating_sub(1))
}

impl Names {
    fn add(kept: &mut Vec<String>, is_open: bool, reader: &TraceReader, text: impl Fn() -> String) {
        if is_open && kept.len() < NAMED_LINES {
            kept.push(format!("{}: {}", place(reader), text()));
        }
    }

    /// Notes a request that was moved into the space. `range`: its sectors there.
    pub(super) fn wrapped(&mut self, reader: &TraceReader, record: &Record, range: Range<u64>) {
        let cut = record.length_bytes.div_ceil(SECTOR_BYTES) > range.end - range.start;
        let how = if cut { "cut and wrapped" } else { "wrapped" };
        let (first, end) = (range.start * SECTOR_BYTES, range.end * SECTOR_BYTES);
        Self::add(&mut self.wrapped, self.reader.is_none(), reader, || {
            format!("{} beyond the flow's space, {how} to {first}..={}", bytes(record), end - 1)
        });
    }

    /// Notes a request that was dropped because of its address.
    pub(super) fn dropped(&mut self, reader: &TraceReader, record: &Record) {
        Self::add(&mut self.dropped, self.reader.is_none(), reader, || {
            format!("{} beyond the flow's space, dropped", bytes(record))
        });
    }

    /// Notes a request that was dropped because of its length.
    pub(super) fn too_long(&mut self, reader: &TraceReader, record: &Record) {
        Self::add(&mut self.too_long, self.reader.is_none(), reader, || {
            format!("{} bytes, rejected; allowed: 4 GiB or less", record.length_bytes)
        });
    }

    /// Notes a write that was dropped because of its placement identifier.
    pub(super) fn no_handle(&mut self, reader: &TraceReader, id: u8, identifiers: u32) {
        Self::add(&mut self.no_handle, self.reader.is_none(), reader, || {
            format!(
                "placement {id}, rejected; allowed: 0 to {}, which the drive has",
                identifiers - 1
            )
        });
    }

    /// Notes the end of a pass over the file.
    pub(super) fn close(&mut self, reader: &TraceReader) {
        if self.reader.is_none() && reader.line() > 0 {
            self.reader = Some(of_reader(reader));
        }
    }

    /// All names, kind by kind.
    pub(super) fn all(&self, reader: &TraceReader) -> Vec<String> {
        let of_reader = self.reader.clone().unwrap_or_else(|| of_reader(reader));
        let own =
            [&self.wrapped, &self.dropped, &self.too_long, &self.no_handle].into_iter().flatten();
        own.cloned().chain(of_reader).collect()
    }
}

/// Lines that the reader named: rejected lines, delayed lines, and lines that are no requests.
fn of_reader(reader: &TraceReader) -> Vec<String> {
    let rejected = reader.rejected().first().iter().map(|line| format!("{line} (rejected)"));
    let delayed = reader.decreasing_lines().iter().map(|line| format!("{line} (delayed)"));
    let skipped = reader.skipped_lines().iter().map(|line| format!("{line} (skipped)"));
    rejected.chain(delayed).chain(skipped).collect()
}
