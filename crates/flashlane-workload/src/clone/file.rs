//! Parameters of a clone in a separate file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{CloneParams, Side};

/// A file of clone parameters: `flashlane trace clone` writes it, and `[flow.clone] of =
/// "FILE.toml"` reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloneFile {
    /// Name, for people.
    pub name: String,
    /// The origin of the parameters, in one line that starts with "synthetic".
    pub summary: String,
    /// Seed of traces that `flashlane trace clone` generates from the file; runs use their own.
    #[serde(default = "one")]
    pub seed: u64,
    /// Share of reads. Range: 0..=1.
    pub read_ratio: f64,
    /// Correlation of successive types: P(read after read) + P(write after write) - 1. Range:
    /// 0..=1.
    pub kappa: f64,
    /// Coefficient of variation of all gaps. Range: 0..=100.
    pub gap_cv: f64,
    /// Share of gaps of a few microseconds, inside batches. Range: 0..=0.99.
    pub batch: f64,
    /// Larger half's share in the burst cascade. Range: 0.5..=0.95; 0.5 has no bursts.
    pub bias: f64,
    /// Halvings of the burst cascade; its longest bursts span `2^(levels + leaf_log2)` requests.
    /// Range: 0..=20.
    pub levels: u32,
    /// Size of the shortest bursts: they span `2^leaf_log2` requests. Range: 0..=20.
    pub leaf_log2: u32,
    /// Index of dispersion of the arrivals in windows of 1 s, as measured. Draws nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idc_1s: Option<f64>,
    /// Share of the smaller set of extents that both reads and writes use. Range: 0..=1.
    pub overlap: f64,
    /// Unit of popularity. Unit: KiB. Range: 1..=1048576.
    pub extent_kib: u32,
    /// Reads.
    pub read: CloneSide,
    /// Writes.
    pub write: CloneSide,
}

/// The reads, or the writes, of a clone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloneSide {
    /// Mean size, between the smallest and the largest of `sizes`, whose weights are tilted to it.
    /// Unit: KiB.
    pub mean_kib: f64,
    /// Mean gap from the previous request of any type. Unit: milliseconds. Range: 1e-6..=1e9.
    pub gap_ms: f64,
    /// Pairs of size and weight. Unit: KiB, multiples of 0.5, up to 16384; 1 to 1024 of them.
    pub sizes: Vec<(f64, f64)>,
    /// Share that starts where the previous request ended. Range: 0..=`seq32`.
    pub seq1: f64,
    /// Share that starts where one of the previous 32 requests ended; `seq1` is part of it. Range:
    /// 0..=1.
    pub seq32: f64,
    /// Share of the other starts that are drawn among multiples of 4 KiB. An eighth of the rest are
    /// multiples by chance. Range: 0..=1.
    pub aligned: f64,
    /// Zipf exponent of the popularity of extents. Range: 0..=5.
    pub theta: f64,
    /// Size of the set of extents. Unit: MiB. Range: 1..=1073741824.
    pub footprint_mib: u32,
    /// Daily variation: pairs of hour of the day, ascending (range: 0..24), and rate (range:
    /// 0.001..=1000), at most 1440. Straight lines connect the points, and the last point leads to
    /// the first. Only ratios count, because the mean rate stays. Hour 0 is the start, and a day
    /// lasts 24 hours times the time scale. Empty: the rate does not change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub daily: Vec<(f64, f64)>,
}

fn one() -> u64 {
    1
}

impl CloneFile {
    /// The parameters for the generator.
    #[must_use]
    pub fn params(&self) -> CloneParams<'_> {
        CloneParams {
            name: &self.name,
            summary: &self.summary,
            read_ratio: self.read_ratio,
            kappa: self.kappa,
            gap_cv: self.gap_cv,
            batch: self.batch,
            bias: self.bias,
            levels: self.levels as usize,
            leaf_log2: self.leaf_log2,
            idc_1s: self.idc_1s,
            overlap: self.overlap,
            extent_kib: self.extent_kib,
            read: self.read.params(),
            write: self.write.params(),
        }
    }
}

impl CloneSide {
    fn params(&self) -> Side<'_> {
        Side {
            mean_kib: self.mean_kib,
            gap_ms: self.gap_ms,
            sizes: &self.sizes,
            seq1: self.seq1,
            seq32: self.seq32,
            aligned: self.aligned,
            theta: self.theta,
            footprint_mib: self.footprint_mib,
            daily: &self.daily,
        }
    }
}

impl From<&Side<'_>> for CloneSide {
    fn from(side: &Side<'_>) -> Self {
        Self {
            mean_kib: side.mean_kib,
            gap_ms: side.gap_ms,
            sizes: side.sizes.to_vec(),
            seq1: side.seq1,
            seq32: side.seq32,
            aligned: side.aligned,
            theta: side.theta,
            footprint_mib: side.footprint_mib,
            daily: side.daily.to_vec(),
        }
    }
}

impl From<&CloneParams<'_>> for CloneFile {
    fn from(params: &CloneParams<'_>) -> Self {
        Self {
            name: params.name.to_owned(),
            summary: params.summary.to_owned(),
            seed: one(),
            read_ratio: params.read_ratio,
            kappa: params.kappa,
            gap_cv: params.gap_cv,
            batch: params.batch,
            bias: params.bias,
            levels: params.levels as u32,
            leaf_log2: params.leaf_log2,
            idc_1s: params.idc_1s,
            overlap: params.overlap,
            extent_kib: params.extent_kib,
            read: (&params.read).into(),
            write: (&params.write).into(),
        }
    }
}
