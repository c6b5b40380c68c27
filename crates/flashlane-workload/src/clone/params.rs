//! The parameters of a clone.

/// The parameters of a clone. [`super::list`] has all built-in sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloneParams<'a> {
    /// Name of the trace, in lower case.
    pub name: &'a str,
    /// The origin of the parameters, in one line: the published row, and the measured shape.
    pub summary: &'a str,
    /// Share of reads. Range: 0..1. Source: FLIN Table 2.
    pub read_ratio: f64,
    /// Correlation of successive types: P(read after read) + P(write after write) - 1. Range: 0..1.
    pub kappa: f64,
    /// Coefficient of variation of all gaps.
    pub gap_cv: f64,
    /// Share of gaps of a few microseconds, inside batches. Range: 0..1.
    pub batch: f64,
    /// Larger half's share in the burst cascade. Range: 0.5..1; 0.5 has no bursts.
    pub bias: f64,
    /// Halvings of the burst cascade. Its longest bursts span `2^(levels + leaf_log2)` requests.
    pub levels: usize,
    /// Size of the shortest bursts: they span `2^leaf_log2` requests.
    pub leaf_log2: u32,
    /// Index of dispersion of the arrivals in windows of 1 s, where it was measured on a piece of
    /// this very trace. Not used to draw; the tests hold the clone to it.
    pub idc_1s: Option<f64>,
    /// Share of the smaller set of extents that both reads and writes use. Range: 0..=1.
    pub overlap: f64,
    /// Unit of popularity. Unit: KiB.
    pub extent_kib: u32,
    /// Reads.
    pub read: Side<'a>,
    /// Writes.
    pub write: Side<'a>,
}

/// The parameters of the reads, or of the writes, of a clone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side<'a> {
    /// Mean size. Unit: KiB. Source: FLIN Table 2.
    pub mean_kib: f64,
    /// Mean gap from the previous request of any type. Unit: milliseconds. Source: FLIN Table 2.
    pub gap_ms: f64,
    /// Sizes in KiB, multiples of 0.5, with weights before the tilt to the mean.
    pub sizes: &'a [(f64, f64)],
    /// Share that starts where the previous request ended.
    pub seq1: f64,
    /// Share that starts where one of the previous 32 requests ended; `seq1` is part of it.
    pub seq32: f64,
    /// Share of the other starts that are multiples of 4 KiB.
    pub aligned: f64,
    /// Zipf exponent of the popularity of extents.
    pub theta: f64,
    /// Size of the set of extents. Unit: MiB.
    pub footprint_mib: u32,
    /// Pairs of hour of the day and rate over the mean, in order of hours. Empty: the rate does not
    /// change.
    pub daily: &'a [(f64, f64)],
}

impl<'a> Side<'a> {
    /// This shape with the means of another trace.
    pub(super) const fn with(self, mean_kib: f64, gap_ms: f64) -> Self {
        Self { mean_kib, gap_ms, ..self }
    }

    /// These parameters with other sizes.
    pub(super) const fn sized(self, sizes: &'a [(f64, f64)]) -> Self {
        Self { sizes, ..self }
    }

    /// These parameters with a day.
    pub(super) const fn daily(self, daily: &'a [(f64, f64)]) -> Self {
        Self { daily, ..self }
    }
}

impl CloneParams<'_> {
    /// True if the rate of reads or of writes follows the hour.
    #[must_use]
    pub fn has_day(&self) -> bool {
        !self.read.daily.is_empty() || !self.write.daily.is_empty()
    }

    /// Mean gap of all requests. Unit: milliseconds.
    #[must_use]
    pub fn gap_ms(&self) -> f64 {
        self.read_ratio * self.read.gap_ms + (1.0 - self.read_ratio) * self.write.gap_ms
    }

    /// Mean square of the types' mean gaps over the square of the mean gap.
    pub(super) fn type_mean_square(&self) -> f64 {
        let reads = self.read_ratio * self.read.gap_ms * self.read.gap_ms;
        let writes = (1.0 - self.read_ratio) * self.write.gap_ms * self.write.gap_ms;
        (reads + writes) / (self.gap_ms() * self.gap_ms())
    }
}
