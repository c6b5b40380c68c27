//! Statistics of a trace, from which a clone can be made.
//!
//! They are collected in one pass over the records. The memory grows with the number of pages that
//! are touched, not with the number of requests. Only reads and writes count.

mod arrivals;
mod popularity;
mod profile;
mod space;

use std::collections::BTreeMap;

pub use self::arrivals::Dispersion;
pub use self::popularity::{Places, Popularity};
pub use self::profile::Profile;

use self::arrivals::Arrivals;
use self::space::Space;
use crate::record::{Op, Record};

/// Sizes of the units in which [`SideStatistics::starts`] counts starts. Unit: bytes.
pub const EXTENT_BYTES: [u64; 2] = [4 << 10, 64 << 10];

/// Statistics of the reads and writes of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceStatistics {
    /// Number of reads and writes.
    pub requests: u64,
    /// Number of trims and flushes. No other figure counts them.
    pub other_requests: u64,
    /// Time from the first arrival to the last. Unit: seconds.
    pub span_s: f64,
    /// Number of reads divided by the number of requests. Range: 0..=1.
    pub read_ratio: f64,
    /// Mean gap between successive requests. Unit: milliseconds.
    pub gap_ms: f64,
    /// Coefficient of variation (population) of the gaps.
    pub gap_cv: f64,
    /// Share of the gaps that are zero.
    pub zero_gaps: f64,
    /// Share of the gaps that are below 100 us.
    pub short_gaps: f64,
    /// Probability that a read follows a read.
    pub read_after_read: f64,
    /// Probability that a write follows a write.
    pub write_after_write: f64,
    /// Index of dispersion (population variance divided by mean) of the arrivals in windows of 10
    /// ms, 100 ms and 1 s. Windows start at the first arrival; the last window counts even if it is
    /// cut. `None` for fewer than ten windows.
    pub idc: [Option<f64>; 3],
    /// Number of arrivals in the busiest of these windows, divided by the mean.
    pub peak: [Option<f64>; 3],
    /// Share of the larger half in a b-model cascade over time. It comes from the slope of the
    /// entropy of the arrivals over 1, 2, ... halvings of the span. Halvings stop after 14, or when
    /// an interval has 16 requests. `None` for fewer than three halvings.
    pub bias: Option<f64>,
    /// Popularity of pages of 4 KiB.
    pub pages: Popularity,
    /// Number of pages that are both read and written.
    pub shared_pages: u64,
    /// Share of the requests that start and end at multiples of 4 KiB.
    pub aligned: f64,
    /// Statistics of the reads.
    pub read: SideStatistics,
    /// Statistics of the writes.
    pub write: SideStatistics,
}

/// Statistics of the reads, or of the writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideStatistics {
    /// Number of requests.
    pub requests: u64,
    /// Mean size. Unit: KiB.
    pub mean_kib: f64,
    /// Sizes in bytes in ascending order, each with its number of requests.
    pub sizes: Vec<(u64, u64)>,
    /// Mean gap since the previous request of any type. Unit: milliseconds.
    pub gap_ms: f64,
    /// Coefficient of variation (population) of these gaps.
    pub gap_cv: f64,
    /// Share of the requests that start where the previous request of the same device ended.
    pub seq1: f64,
    /// Share of the requests that start where one of the previous 32 requests ended, on the same
    /// device.
    pub seq32: f64,
    /// Share of the random starts that are multiples of 4 KiB. A random start continues none of the
    /// previous 32 requests.
    pub aligned_starts: f64,
    /// Popularity of pages of 4 KiB.
    pub pages: Popularity,
    /// Share of the page accesses that go to a page which the same type accessed before.
    pub revisits: f64,
    /// Distribution of the random starts, in units of [`EXTENT_BYTES`].
    pub starts: [Places; 2],
    /// Number of units of [`EXTENT_BYTES`] that have starts of both types.
    pub shared_starts: [u64; 2],
}

impl TraceStatistics {
    /// Correlation of successive types: P(read after read) + P(write after write) - 1.
    #[must_use]
    pub fn kappa(&self) -> f64 {
        self.read_after_read + self.write_after_write - 1.0
    }
}

/// Collects [`TraceStatistics`] from records in order of time.
#[derive(Debug, Default)]
pub struct Meter {
    other_requests: u64,
    arrivals: Arrivals,
    space: Space,
    sizes: [BTreeMap<u64, u64>; 2],
}

/// Index of reads in arrays.
const READ: usize = 0;
/// Index of writes in arrays.
const WRITE: usize = 1;

impl Meter {
    /// Adds the next record. A record that is earlier than the record before it counts as arriving
    /// at the same time.
    pub fn add(&mut self, record: &Record) {
        let side = match record.op {
            Op::Read => READ,
            Op::Write => WRITE,
            Op::Trim | Op::Flush => {
                self.other_requests += 1;
                return;
            }
        };
        self.arrivals.add(record.time_ps, side);
        self.space.add(record, side);
        *self.sizes[side].entry(record.length_bytes).or_default() += 1;
    }

    /// The statistics of all records so far.
    #[must_use]
    pub fn finish(self) -> TraceStatistics {
        let mut statistics =
            TraceStatistics { other_requests: self.other_requests, ..TraceStatistics::default() };
        self.arrivals.finish(&mut statistics);
        self.space.finish(&mut statistics);
        let [reads, writes] = self.sizes;
        for (side, sizes) in [(&mut statistics.read, reads), (&mut statistics.write, writes)] {
            let bytes: u128 =
                sizes.iter().map(|(&size, &count)| u128::from(size) * u128::from(count)).sum();
            side.mean_kib = share(bytes as f64 / 1024.0, side.requests);
            side.sizes = sizes.into_iter().collect();
        }
        statistics
    }
}

/// `part` divided by `count`; 0 if `count` is 0.
fn share(part: f64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { part / count as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(time_us: u64, op: Op, page: u64, bytes: u64) -> Record {
        let offset_bytes = page * 4096;
        Record {
            time_ps: time_us * 1_000_000,
            op,
            offset_bytes,
            length_bytes: bytes,
            device: 0,
            placement: None,
        }
    }

    fn measured(records: &[Record]) -> TraceStatistics {
        let mut meter = Meter::default();
        records.iter().for_each(|record| meter.add(record));
        meter.finish()
    }

    #[test]
    fn a_trace_worked_out_by_hand() {
        let found = measured(&[
            record(0, Op::Read, 10, 8192),
            record(100, Op::Read, 12, 4096),
            record(300, Op::Write, 100, 512),
            record(300, Op::Trim, 0, 4096),
            record(600, Op::Read, 13, 8192),
            record(600, Op::Write, 13, 4096),
        ]);
        assert_eq!((found.requests, found.other_requests), (5, 1));
        assert_eq!((found.read_ratio, found.span_s), (0.6, 0.0006));
        assert_eq!((found.read.mean_kib, found.write.mean_kib), (20.0 / 3.0, 2.25));
        assert_eq!(found.read.sizes, [(4096, 1), (8192, 2)]);
        // Gaps 100 (R), 200 (W), 300 (R), 0 (W): mean 150 us, variance 12500 us^2.
        assert_eq!((found.gap_ms, found.read.gap_ms, found.write.gap_ms), (0.15, 0.2, 0.1));
        assert!((found.gap_cv - 12_500_f64.sqrt() / 150.0).abs() < 1e-12, "{}", found.gap_cv);
        assert_eq!((found.read.gap_cv, found.write.gap_cv), (0.5, 1.0));
        assert_eq!((found.zero_gaps, found.short_gaps), (0.25, 0.25), "100 us is not below 100 us");
        // The pairs are RR, RW, WR, RW.
        assert_eq!((found.read_after_read, found.write_after_write), (1.0 / 3.0, 0.0));
        // The second read continues the first. The third read continues the second, with one
        // request between.
        assert_eq!((found.read.seq1, found.read.seq32), (1.0 / 3.0, 2.0 / 3.0));
        // The second write continues the second read.
        assert_eq!((found.write.seq1, found.write.seq32), (0.0, 0.5));
        assert_eq!(found.aligned, 0.8, "all but the write of 512 bytes");
        assert_eq!(found.write.aligned_starts, 1.0);
        // Pages 10, 11, 12, 13 and 14 are read, 100 and 13 are written.
        assert_eq!((found.pages.count, found.read.pages.count, found.write.pages.count), (6, 5, 2));
        assert_eq!((found.shared_pages, found.read.revisits), (1, 0.0));
        assert_eq!(found.idc, [None; 3]);
        assert_eq!(found.read.starts[0].distinct, 1);
        assert_eq!(found.write.starts[1].count, 1);
        assert_eq!(found.write.shared_starts, [0, 0]);
    }

    #[test]
    fn nothing_has_no_statistics() {
        assert_eq!(measured(&[]), TraceStatistics::default());
        let one = measured(&[record(7, Op::Read, 1, 4096)]);
        assert_eq!((one.requests, one.read_ratio, one.gap_ms, one.gap_cv), (1, 1.0, 0.0, 0.0));
    }

    #[test]
    fn windows_count_arrivals_and_silence() {
        // There are 30 windows of 10 ms, with two arrivals in every third and none in the others.
        // The last window is cut.
        let pair = |k: u64| {
            [record(k * 30_000, Op::Read, k, 512), record(k * 30_000 + 5, Op::Read, k, 512)]
        };
        let found = measured(&(0..10).flat_map(pair).collect::<Vec<_>>());
        // There are 28 windows and 20 arrivals: mean 5/7, mean square 10/7, variance 45/49.
        assert!(
            (found.idc[0].unwrap() - 45.0 / 49.0 / (5.0 / 7.0)).abs() < 1e-12,
            "{:?}",
            found.idc
        );
        assert!((found.peak[0].unwrap() - 2.0 / (5.0 / 7.0)).abs() < 1e-12);
        assert_eq!(found.idc[1], None, "three windows of 100 ms");
    }

    #[test]
    fn the_bias_of_a_cascade_is_found() {
        // 2^18 arrivals spread by a deterministic b-model with 0.7 over 2^10 intervals of 1 ms.
        let mut counts = vec![1_048_576.0];
        for level in 0..10 {
            let halves = |(k, count): (usize, &f64)| {
                let first = if (k * 7 + level).is_multiple_of(3) { 0.7 } else { 0.3 };
                [count * first, count * (1.0 - first)]
            };
            counts = counts.iter().enumerate().flat_map(halves).collect();
        }
        let mut meter = Meter::default();
        for (k, count) in counts.iter().enumerate() {
            let count = count.round() as u64;
            for i in 0..count {
                meter.add(&record(k as u64 * 1000 + i * 1000 / count, Op::Write, 0, 512));
            }
        }
        let bias = meter.finish().bias.expect("a million requests");
        // Ten of the 14 halvings follow the cascade; four are even.
        assert!((0.62..0.68).contains(&bias), "{bias}");
    }

    #[test]
    fn popularity_by_hand() {
        // Page k is read 1 + 19 / (k + 1) times, k < 20.
        let reads = |k: u64| (0..1 + 19 / (k + 1)).map(move |_| record(k, Op::Read, k * 7, 4096));
        let mut all: Vec<Record> = (0..20).flat_map(reads).collect();
        all.sort_by_key(|record| record.time_ps);
        let pages = measured(&all).pages;
        assert_eq!(pages.count, 20);
        let counts: Vec<f64> = (0..20).map(|k| (1 + 19 / (k + 1)) as f64).collect();
        let total: f64 = counts.iter().sum();
        assert!((pages.top10 - (counts[0] + counts[1]) / total).abs() < 1e-12);
        assert!((pages.top20 - counts[..4].iter().sum::<f64>() / total).abs() < 1e-12);
        assert_eq!(pages.zipf, None, "two pages make no slope");
    }
}
