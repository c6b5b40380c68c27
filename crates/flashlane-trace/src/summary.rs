//! Sums up the content of a trace in one pass.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::TraceError;
use crate::options::TraceOptions;
use crate::reader::TraceReader;
use crate::record::{Op, Record};
use crate::reject::Rejected;

/// Largest number of devices that a summary lists, so that its memory stays bounded.
const DEVICES_LISTED: usize = 65_536;

/// Totals of the records of one trace. Byte totals stop at `u64::MAX`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceSummary {
    /// Number of records.
    pub request_count: u64,
    /// Number of reads.
    pub read_count: u64,
    /// Number of writes.
    pub write_count: u64,
    /// Number of trims.
    pub trim_count: u64,
    /// Number of flushes.
    pub flush_count: u64,
    /// Total length of the reads. Unit: bytes.
    pub read_bytes: u64,
    /// Total length of the writes. Unit: bytes.
    pub write_bytes: u64,
    /// Total length of the trims. Unit: bytes.
    pub trim_bytes: u64,
    /// Longest request. Unit: bytes.
    pub length_bytes_max: u64,
    /// Time of the first record. Unit: picoseconds.
    pub first_ps: u64,
    /// Latest time. Unit: picoseconds.
    pub last_ps: u64,
    /// Highest end of a request on any device. A drive needs at least this capacity if every device
    /// has a drive of its own. Unit: bytes.
    pub end_bytes_max: u64,
    /// The devices in ascending order; at most 65,536 are listed.
    pub devices: Vec<DeviceSummary>,
    /// Number of records of devices that are not listed.
    pub unlisted_device_request_count: u64,
    /// Number of records that were earlier than the record before them (not counted under
    /// `OnDecreasing::Error`).
    pub decreasing_count: u64,
    /// Number of lines that belong to the format but are not requests, such as events of other
    /// kinds.
    pub skipped_count: u64,
    /// The lines that could not be read as records.
    pub rejected: Rejected,
}

/// Totals of one device of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceSummary {
    /// The device.
    pub device: u32,
    /// Number of records of the device.
    pub request_count: u64,
    /// Highest end of its requests. The device needs this space if several devices are laid out one
    /// after another. Unit: bytes.
    pub end_bytes_max: u64,
}

/// Reads a whole trace and sums it up. Memory stays bounded.
///
/// # Errors
/// Any [`TraceError`] of opening and reading; a part of a trace has no summary.
pub fn summarise(
    path: impl AsRef<Path>,
    options: &TraceOptions,
) -> Result<TraceSummary, TraceError> {
    let mut reader = TraceReader::open(path, options)?;
    let mut summary = TraceSummary::default();
    let mut devices = BTreeMap::new();
    while let Some(record) = reader.next()? {
        summary.add(&record);
        let listed = devices.len() < DEVICES_LISTED || devices.contains_key(&record.device);
        if !listed {
            summary.unlisted_device_request_count += 1;
            continue;
        }
        let device = devices
            .entry(record.device)
            .or_insert_with(|| DeviceSummary { device: record.device, ..DeviceSummary::default() });
        device.request_count += 1;
        device.end_bytes_max = device.end_bytes_max.max(record.end_bytes());
    }
    summary.devices = devices.into_values().collect();
    summary.decreasing_count = reader.decreasing_count();
    summary.skipped_count = reader.skipped_count();
    summary.rejected = reader.rejected().clone();
    Ok(summary)
}

impl TraceSummary {
    fn add(&mut self, record: &Record) {
        if self.request_count == 0 {
            self.first_ps = record.time_ps;
        }
        self.request_count += 1;
        self.last_ps = self.last_ps.max(record.time_ps);
        self.end_bytes_max = self.end_bytes_max.max(record.end_bytes());
        self.length_bytes_max = self.length_bytes_max.max(record.length_bytes);
        let mut flushed = 0;
        let (count, bytes) = match record.op {
            Op::Read => (&mut self.read_count, &mut self.read_bytes),
            Op::Write => (&mut self.write_count, &mut self.write_bytes),
            Op::Trim => (&mut self.trim_count, &mut self.trim_bytes),
            Op::Flush => (&mut self.flush_count, &mut flushed),
        };
        *count += 1;
        *bytes = bytes.saturating_add(record.length_bytes);
    }

    /// Time from the first record to the latest. Unit: picoseconds.
    #[must_use]
    pub fn span_ps(&self) -> u64 {
        self.last_ps.saturating_sub(self.first_ps)
    }

    /// Mean time between two records. Unit: picoseconds. `None` for fewer than two.
    #[must_use]
    pub fn gap_ps_mean(&self) -> Option<f64> {
        mean(self.span_ps(), self.request_count.saturating_sub(1))
    }

    /// Mean length of a read. Unit: bytes. `None` without reads.
    #[must_use]
    pub fn read_bytes_mean(&self) -> Option<f64> {
        mean(self.read_bytes, self.read_count)
    }

    /// Mean length of a write. Unit: bytes. `None` without writes.
    #[must_use]
    pub fn write_bytes_mean(&self) -> Option<f64> {
        mean(self.write_bytes, self.write_count)
    }

    /// Number of reads divided by the number of reads and writes. Range: 0 to 1. `None` without
    /// either.
    #[must_use]
    pub fn read_fraction(&self) -> Option<f64> {
        mean(self.read_count, self.read_count + self.write_count)
    }
}

fn mean(total: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| total as f64 / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::test_support::{TempTrace, message};

    #[test]
    fn adds_up_a_small_trace() {
        let file = TempTrace::new("5 1 0 8 1\n10 3 100 16 0\n25 1 8 24 1\n");
        let summary =
            summarise(file.path(), &TraceOptions::new(Format::Mqsim)).expect("a good trace");
        assert_eq!((summary.request_count, summary.read_count, summary.write_count), (3, 2, 1));
        assert_eq!((summary.read_bytes, summary.write_bytes), (32 * 512, 16 * 512));
        assert_eq!((summary.first_ps, summary.last_ps, summary.span_ps()), (0, 20_000, 20_000));
        assert_eq!((summary.end_bytes_max, summary.length_bytes_max), (116 * 512, 24 * 512));
        assert_eq!(summary.gap_ps_mean(), Some(10_000.0));
        assert_eq!(summary.read_bytes_mean(), Some(8192.0));
        assert_eq!(summary.write_bytes_mean(), Some(8192.0));
        let device = |device, request_count, sectors: u64| DeviceSummary {
            device,
            request_count,
            end_bytes_max: sectors * 512,
        };
        assert_eq!(summary.devices, [device(1, 2, 32), device(3, 1, 116)]);
    }

    #[test]
    fn means_of_nothing_are_none() {
        let file = TempTrace::new("5 1 0 8 0");
        let summary =
            summarise(file.path(), &TraceOptions::new(Format::Mqsim)).expect("a good trace");
        assert_eq!(summary.gap_ps_mean(), None);
        assert_eq!(summary.read_bytes_mean(), None);
        assert_eq!(summary.read_fraction(), Some(0.0));
        assert_eq!(TraceSummary::default().read_fraction(), None);
    }

    #[test]
    fn half_a_trace_has_no_summary() {
        let file = TempTrace::new("5 1 0 8 1\n4 1 0 8 1\n");
        let result = summarise(file.path(), &TraceOptions::new(Format::Mqsim));
        assert!(message(result).contains("line 2: found time 4 ns after 5 ns"));
    }
}
