//! Distribution of a latency: exact moments, percentiles from a log-bucket histogram.

use std::collections::BTreeMap;

use flashlane_engine::Time;
use hdrhistogram::Histogram;

use super::summary::Latency;

/// Bits of the buckets of a value: three significant digits, error below 0.1 %.
const BUCKET_BITS: u32 = 11;

/// Collects latencies. Memory grows with the range of values, not with their number.
#[derive(Clone, Debug)]
pub struct LatencyRecorder {
    /// Latencies by bucket, without multiples of 2^32; the buckets are those of the histogram of
    /// the summary. Small counts keep more of the table in the processor's cache.
    buckets: Vec<u32>,
    /// Multiples of 2^32 that are missing in `buckets`, for the buckets that have some.
    carries: BTreeMap<usize, u64>,
    count: u64,
    sum: u128,
    /// Sum of squares without its multiples of 2^128, which `squares_high` counts. Unit: square
    /// picoseconds.
    squares: u128,
    squares_high: u64,
    min: u64,
    max: u64,
}

impl Default for LatencyRecorder {
    fn default() -> Self {
        Self {
            buckets: Vec::new(),
            carries: BTreeMap::new(),
            count: 0,
            sum: 0,
            squares: 0,
            squares_high: 0,
            min: u64::MAX,
            max: 0,
        }
    }
}

/// The bucket of a value. Unit: nanoseconds.
#[inline]
fn bucket_of(ns: u64) -> usize {
    let small = (1 << BUCKET_BITS) - 1;
    let dropped = u64::BITS - BUCKET_BITS - (ns | small).leading_zeros();
    ((u64::from(dropped) << (BUCKET_BITS - 1)) + (ns >> dropped)) as usize
}

/// The least value of a bucket. Unit: nanoseconds.
fn least_of(bucket: usize) -> u64 {
    let dropped = (bucket as u64 >> (BUCKET_BITS - 1)).saturating_sub(1);
    (bucket as u64 - (dropped << (BUCKET_BITS - 1))) << dropped
}

impl LatencyRecorder {
    /// Adds one latency.
    #[inline]
    pub fn record(&mut self, latency: Time) {
        let ps = latency.0;
        self.count += 1;
        self.sum += u128::from(ps);
        self.add_squares(u128::from(ps) * u128::from(ps));
        self.min = self.min.min(ps);
        self.max = self.max.max(ps);
        let bucket = bucket_of(ps / 1_000);
        match self.buckets.get_mut(bucket) {
            Some(count) => {
                *count = count.wrapping_add(1);
                if *count == 0 {
                    self.carry(bucket, 1);
                }
            }
            None => self.grow(bucket),
        }
    }

    /// Counts multiples of 2^32 of a bucket.
    #[cold]
    fn carry(&mut self, bucket: usize, multiples: u64) {
        *self.carries.entry(bucket).or_default() += multiples;
    }

    #[inline]
    fn add_squares(&mut self, more: u128) {
        let (sum, over) = self.squares.overflowing_add(more);
        self.squares = sum;
        self.squares_high += u64::from(over);
    }

    /// Counts the first value of a bucket beyond those in use.
    #[cold]
    fn grow(&mut self, bucket: usize) {
        self.buckets.resize((bucket + 1).next_multiple_of(1 << (BUCKET_BITS - 1)), 0);
        self.buckets[bucket] = 1;
    }

    /// Adds all latencies of another recorder.
    pub(crate) fn add(&mut self, other: &Self) {
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (bucket, &more) in other.buckets.iter().enumerate() {
            let (sum, over) = self.buckets[bucket].overflowing_add(more);
            self.buckets[bucket] = sum;
            if over {
                self.carry(bucket, 1);
            }
        }
        for (&bucket, &multiples) in &other.carries {
            self.carry(bucket, multiples);
        }
        self.count += other.count;
        self.sum += other.sum;
        self.add_squares(other.squares);
        self.squares_high += other.squares_high;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The latencies of both recorders.
    pub(crate) fn with(mut self, other: &Self) -> Self {
        self.add(other);
        self
    }

    /// The histogram: nanoseconds, three significant digits; `None` without any latency.
    fn histogram(&self) -> Option<Histogram<u64>> {
        let most = (self.max / 1_000).max(2);
        let mut made = Histogram::new_with_max(most, 3).expect("a range and digits that it allows");
        let carried = self.carries.iter().map(|(&bucket, &multiples)| (bucket, multiples << 32));
        let low = self.buckets.iter().map(|&count| u64::from(count)).enumerate();
        for (bucket, count) in low.filter(|&(_, count)| count > 0).chain(carried) {
            made.record_n(least_of(bucket), count).expect("no value is above the largest one");
        }
        (self.count > 0).then_some(made)
    }

    /// Number of latencies.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact mean. Unit: microseconds.
    pub(crate) fn mean_us(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 / 1e6 }
    }

    /// The distribution: latencies (unit: microseconds), each with the share of latencies at or
    /// below it, in rising order.
    pub fn distribution(&self) -> Vec<(f64, f64)> {
        let Some(histogram) = self.histogram() else { return Vec::new() };
        let mut below = 0;
        histogram
            .iter_recorded()
            .map(|step| {
                below += step.count_at_value();
                (step.value_iterated_to() as f64 / 1e3, below as f64 / self.count as f64)
            })
            .collect()
    }

    /// The summary.
    pub fn summary(&self) -> Latency {
        let Some(histogram) = self.histogram() else { return Latency::default() };
        let (min, max) = (self.min as f64 / 1e6, self.max as f64 / 1e6);
        let at = |q: f64| (histogram.value_at_quantile(q) as f64 / 1e3).clamp(min, max);
        let mean = self.mean_us();
        let squares = self.squares as f64 + self.squares_high as f64 * libm::exp2(128.0);
        let variance = squares / self.count as f64 / 1e12 - mean * mean;
        Latency {
            count: self.count,
            mean,
            min,
            max,
            // `max` would not do: which of two zeros it returns depends on the machine.
            stddev: if variance > 0.0 { variance.sqrt() } else { 0.0 },
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p99_9: at(0.999),
            p99_99: at(0.9999),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_the_histogram() {
        let histogram = Histogram::<u64>::new(3).unwrap();
        for shift in 0..50 {
            for value in [1023, 1024, 1025, 1500, 2047, 2048, 2049].map(|v: u64| v << shift) {
                for value in [value - 1, value, value + 1] {
                    let bucket = bucket_of(value);
                    assert!(histogram.equivalent(least_of(bucket), value), "{value}");
                    assert_eq!(bucket_of(least_of(bucket)), bucket);
                    let next = histogram.next_non_equivalent(value);
                    assert_eq!(bucket_of(next), bucket + 1, "{value}");
                }
            }
        }
    }

    #[test]
    fn a_bucket_counts_beyond_four_billion() {
        let all = |recorder: &LatencyRecorder| recorder.histogram().map(|made| made.len());
        let mut recorder = LatencyRecorder::default();
        recorder.record(Time::from_us(5));
        let bucket = bucket_of(5_000);
        recorder.buckets[bucket] = u32::MAX;
        recorder.record(Time::from_us(5));
        assert_eq!(all(&recorder), Some(1 << 32));
        recorder.buckets[bucket] = u32::MAX;
        assert_eq!(all(&recorder.clone().with(&recorder)), Some((4 << 32) - 2));
    }

    #[test]
    fn the_deviation_of_latencies_of_months_is_right() {
        let mut recorder = LatencyRecorder::default();
        let mut both = LatencyRecorder::default();
        for _ in 0..50 {
            for days in [100, 200] {
                recorder.record(Time::from_s(days * 86_400));
                let mut one = LatencyRecorder::default();
                one.record(Time::from_s(days * 86_400));
                both.add(&one);
            }
        }
        for found in [recorder.summary(), both.summary()] {
            let days = found.stddev / 86_400e6;
            assert!((days - 50.0).abs() < 1e-6, "{days} days");
        }
    }

    #[test]
    fn moments_are_exact_and_percentiles_close() {
        let mut recorder = LatencyRecorder::default();
        for us in 1..=10_000 {
            recorder.record(Time::from_us(us));
        }
        let l = recorder.summary();
        assert_eq!((l.count, l.mean, l.min, l.max), (10_000, 5000.5, 1.0, 10_000.0));
        assert!((l.stddev - 2_886.751_331).abs() < 1e-3, "{}", l.stddev);
        for (value, exact) in [(l.p50, 5000.0), (l.p99, 9900.0), (l.p99_99, 9999.0)] {
            assert!((value / exact - 1.0).abs() < 0.002, "{value} {exact}");
        }
        let distribution = recorder.distribution();
        assert!(distribution.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
        let median = distribution.iter().find(|(_, share)| *share >= 0.5).unwrap().0;
        assert!((median / 5000.0 - 1.0).abs() < 0.002, "{median}");
        assert_eq!(distribution.last().unwrap().1, 1.0);
        let (mut low, mut high) = (LatencyRecorder::default(), LatencyRecorder::default());
        (1..=4_000).for_each(|us| low.record(Time::from_us(us)));
        (4_001..=10_000).for_each(|us| high.record(Time::from_us(us)));
        let mut both = LatencyRecorder::default();
        both.add(&low);
        both.add(&high);
        both.add(&LatencyRecorder::default());
        assert!((both.summary().stddev - l.stddev).abs() < 1e-6);
        assert_eq!(Latency { stddev: l.stddev, ..both.summary() }, l);
        assert_eq!(LatencyRecorder::default().summary(), Latency::default());
        assert!(LatencyRecorder::default().distribution().is_empty());
    }
}
