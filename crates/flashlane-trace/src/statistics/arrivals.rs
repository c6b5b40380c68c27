//! Statistics of the arrival times and types of requests.

use super::{TraceStatistics, share};

/// Lengths of the windows. Unit: picoseconds.
const WINDOWS_PS: [u64; 3] = [10_000_000_000, 100_000_000_000, 1_000_000_000_000];
/// Smallest number of windows that gives an index of dispersion.
const WINDOWS_MIN: u64 = 10;
/// Gaps below this time are short. Unit: picoseconds.
const SHORT_PS: u64 = 100_000_000;
/// Number of short intervals of time from which the bias is computed.
const INTERVALS: usize = 1 << 20;
/// Largest number of halvings of the span.
const HALVINGS_MAX: u32 = 14;
/// Halvings stop when an interval has on average two to this power of requests. Unit: log2 of
/// requests.
const REQUESTS_LOG2_MIN: u32 = 4;
/// Smallest number of halvings that gives a slope.
const HALVINGS_MIN: u32 = 3;

/// Mean and variance by Welford's method.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1;
        let delta = value - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (value - self.mean);
    }

    /// Coefficient of variation of the population; 0 if the mean is 0.
    fn variation(&self) -> f64 {
        let variance = share(self.squares, self.count);
        if self.mean > 0.0 { variance.sqrt() / self.mean } else { 0.0 }
    }
}

/// Numbers of arrivals in windows of one length.
#[derive(Clone, Copy, Debug, Default)]
struct Windows {
    /// The current window and its number of arrivals.
    index: u64,
    running: u64,
    sum: u64,
    squares: u128,
    largest: u64,
}

impl Windows {
    fn add(&mut self, index: u64) {
        if index != self.index {
            self.close();
            self.index = index;
        }
        self.running += 1;
    }

    fn close(&mut self) {
        self.sum += self.running;
        self.squares += u128::from(self.running) * u128::from(self.running);
        self.largest = self.largest.max(self.running);
        self.running = 0;
    }

    /// The index of dispersion, and the ratio of the busiest window to the mean.
    fn finish(mut self) -> Option<(f64, f64)> {
        self.close();
        let windows = self.index + 1;
        if windows < WINDOWS_MIN {
            return None;
        }
        let mean = self.sum as f64 / windows as f64;
        let variance = self.squares as f64 / windows as f64 - mean * mean;
        Some((variance / mean, self.largest as f64 / mean))
    }
}

/// Collects only the dispersion of arrivals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dispersion {
    windows: [Windows; 3],
}

impl Dispersion {
    /// Counts an arrival. Times never step back. Unit: picoseconds since the first arrival.
    pub fn add(&mut self, time_ps: u64) {
        for (windows, width) in self.windows.iter_mut().zip(WINDOWS_PS) {
            windows.add(time_ps / width);
        }
    }

    /// The value of [`TraceStatistics::idc`].
    #[must_use]
    pub fn idc(self) -> [Option<f64>; 3] {
        self.windows.map(|windows| windows.finish().map(|(idc, _)| idc))
    }

    /// The value of [`TraceStatistics::peak`].
    #[must_use]
    pub fn peak(self) -> [Option<f64>; 3] {
        self.windows.map(|windows| windows.finish().map(|(_, peak)| peak))
    }
}

/// Numbers of arrivals by short interval. The length of the intervals doubles as the trace grows.
#[derive(Debug, Default)]
struct Intervals {
    counts: Vec<u32>,
    width_log2: u32,
}

impl Intervals {
    fn add(&mut self, time_ps: u64) {
        while time_ps >> self.width_log2 >= INTERVALS as u64 {
            let half = self.counts.len().div_ceil(2);
            for at in 0..half {
                let right = self.counts.get(2 * at + 1).copied().unwrap_or(0);
                self.counts[at] = self.counts[2 * at] + right;
            }
            self.counts.truncate(half);
            self.width_log2 += 1;
        }
        let at = (time_ps >> self.width_log2) as usize;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
    }

    /// Numbers of arrivals in each of `parts` equal parts of the span.
    fn parts(&self, parts: u64, span_ps: u64) -> Vec<u64> {
        let mut counts = vec![0; parts as usize];
        for (at, &count) in (0_u64..).zip(&self.counts).filter(|(_, count)| **count > 0) {
            let time = u128::from(at << self.width_log2);
            let part = time * u128::from(parts) / u128::from(span_ps);
            counts[part.min(u128::from(parts - 1)) as usize] += u64::from(count);
        }
        counts
    }

    fn bias(&self, span_ps: u64, requests: u64) -> Option<f64> {
        let halvings = requests.max(1).ilog2().checked_sub(REQUESTS_LOG2_MIN)?.min(HALVINGS_MAX);
        if halvings < HALVINGS_MIN || span_ps == 0 {
            return None;
        }
        let mut counts = self.parts(1 << halvings, span_ps);
        let mut points: Vec<(f64, f64)> = Vec::new();
        for halvings in (1..=halvings).rev() {
            points.push((f64::from(halvings), entropy(&counts, requests)));
            counts = counts.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
        }
        // Fits a line over the halvings by least squares.
        let n = points.len() as f64;
        let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
        let up: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        let down: f64 = points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
        Some(bias_of_entropy(up / down))
    }
}

/// Entropy of the distribution of arrivals over the intervals. Unit: bits.
fn entropy(counts: &[u64], requests: u64) -> f64 {
    let part = |&count: &u64| {
        let p = count as f64 / requests as f64;
        if count > 0 { -p * libm::log2(p) } else { 0.0 }
    };
    counts.iter().map(part).sum()
}

/// The larger share of a split that has this entropy. Unit of the entropy: bits.
fn bias_of_entropy(bits: f64) -> f64 {
    let (mut low, mut high) = (0.5, 1.0);
    for _ in 0..50 {
        let b: f64 = (low + high) / 2.0;
        let entropy = -b * libm::log2(b) - (1.0 - b) * libm::log2(1.0 - b);
        if entropy > bits { low = b } else { high = b }
    }
    (low + high) / 2.0
}

/// Collects statistics of arrivals.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// Time of the first and of the latest request. Unit: picoseconds.
    first: u64,
    last: u64,
    /// Number of requests by type.
    counts: [u64; 2],
    previous: usize,
    /// Number of pairs of successive requests: by type of the first, then of the second.
    pairs: [[u64; 2]; 2],
    gaps: Moments,
    gaps_of: [Moments; 2],
    zero: u64,
    short: u64,
    dispersion: Dispersion,
    intervals: Intervals,
}

impl Arrivals {
    pub(super) fn add(&mut self, time_ps: u64, side: usize) {
        let is_first = self.counts == [0, 0];
        if is_first {
            (self.first, self.last) = (time_ps, time_ps);
        } else {
            let gap = time_ps.saturating_sub(self.last);
            self.gaps.add(gap as f64);
            self.gaps_of[side].add(gap as f64);
            self.zero += u64::from(gap == 0);
            self.short += u64::from(gap < SHORT_PS);
            self.pairs[self.previous][side] += 1;
        }
        self.last = self.last.max(time_ps);
        self.previous = side;
        self.counts[side] += 1;
        let time = self.last - self.first;
        self.dispersion.add(time);
        self.intervals.add(time);
    }

    pub(super) fn finish(self, into: &mut TraceStatistics) {
        let [reads, writes] = self.counts;
        if reads + writes == 0 {
            return;
        }
        let span = self.last - self.first;
        into.requests = reads + writes;
        into.span_s = span as f64 / 1e12;
        into.read_ratio = share(reads as f64, into.requests);
        into.gap_ms = self.gaps.mean / 1e9;
        into.gap_cv = self.gaps.variation();
        into.zero_gaps = share(self.zero as f64, self.gaps.count);
        into.short_gaps = share(self.short as f64, self.gaps.count);
        let [[rr, rw], [wr, ww]] = self.pairs;
        into.read_after_read = share(rr as f64, rr + rw);
        into.write_after_write = share(ww as f64, wr + ww);
        into.idc = self.dispersion.idc();
        into.peak = self.dispersion.peak();
        into.bias = self.intervals.bias(span, into.requests);
        for (side, at) in [(&mut into.read, super::READ), (&mut into.write, super::WRITE)] {
            side.requests = self.counts[at];
            side.gap_ms = self.gaps_of[at].mean / 1e9;
            side.gap_cv = self.gaps_of[at].variation();
        }
    }
}
