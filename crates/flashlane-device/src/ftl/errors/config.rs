//! Configuration of bit errors: `[errors]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::flash::config::Technology;
use flashlane_units::{ByteSize, Span};

/// Bit errors of the flash, and their correction: hard decoding, read retries, soft decoding.
/// Without this section every read succeeds at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorsConfig {
    /// The raw bit error rate of a page.
    pub model: ErrorModel,
    /// With `model = "custom"`: the figures of the model.
    pub coefficients: Option<Coefficients>,
    /// Error rate by page type, as a multiple of that of the model. Default: in proportion to the
    /// reference voltages of the type (1, 2, 4, 8), with a mean of 1. Range of each: 0.001..=1000.
    pub page_types: Option<Vec<f64>>,
    /// Data of a codeword: 1, 2 or 4 KiB; a page has a whole number of them.
    #[serde(default = "default_codeword")]
    pub codeword: ByteSize,
    /// Bits of a codeword that hard decoding corrects. Default: 72 for each KiB. Range: 1..=4000.
    pub correctable_bits: Option<u32>,
    /// Time of hard decoding, after the data of a page has crossed the channel.
    #[serde(default = "default_decode_time")]
    pub decode_time: Span,
    /// Read retries at most, with shifted reference voltages, before soft decoding. Range: 0..=60.
    #[serde(default = "default_retries")]
    pub retries: u32,
    /// Error rate of a retry, as a multiple of that of the read before it. Range: 0.01..=1.
    #[serde(default = "default_retry_factor")]
    pub retry_factor: f64,
    /// Reads of the page for soft decoding, once all retries have failed; 0 for no soft decoding.
    /// Range: 0..=60.
    #[serde(default = "default_soft_senses")]
    pub soft_senses: u32,
    /// Bits of a codeword that soft decoding corrects. Default: twice `correctable_bits`.
    /// Range: `correctable_bits`..=8000.
    pub soft_correctable_bits: Option<u32>,
    /// Time of soft decoding, after the last of its reads.
    #[serde(default = "default_soft_decode_time")]
    pub soft_decode_time: Span,
    /// Error rate from which on the data of a block is moved. Without it no data is. Range:
    /// 0.000001..=0.5.
    pub refresh_at: Option<f64>,
    /// The age of the blocks at the start.
    #[serde(default)]
    pub age: AgeConfig,
}

fn default_codeword() -> ByteSize {
    ByteSize(1024)
}

fn default_decode_time() -> Span {
    Span(20_000_000)
}

fn default_retries() -> u32 {
    24
}

fn default_retry_factor() -> f64 {
    0.9
}

fn default_soft_senses() -> u32 {
    6
}

fn default_soft_decode_time() -> Span {
    Span(80_000_000)
}

/// Presets of the raw bit error rate. Source: Kim, Choi and Min, "Design Tradeoffs for SSD
/// Reliability" (FAST 2019); the figures are from memory and unverified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorModel {
    /// Planar flash of 3x nm with two bits a cell.
    #[serde(rename = "mlc-3x")]
    Mlc3x,
    /// Planar flash of 2y nm with two bits a cell.
    #[serde(rename = "mlc-2y")]
    Mlc2y,
    /// 3D flash of 72 layers with three bits a cell. Its read disturb is that of planar flash of
    /// 2y nm (Cai et al., DSN 2015).
    #[serde(rename = "tlc-3d")]
    Tlc3d,
    /// The figures in `errors.coefficients`.
    Custom,
}

/// The figures of the raw bit error rate: base + wear * cycles^wear_power + retention *
/// cycles^retention_cycles_power * days^retention_power + disturb * cycles^disturb_cycles_power *
/// reads^disturb_power. Range of the factors: 0..=1; of the powers: 0..=10.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Coefficients {
    /// Error rate of a new page.
    pub base: f64,
    /// Factor of wear.
    pub wear: f64,
    /// Power of the cycles in wear.
    pub wear_power: f64,
    /// Factor of retention.
    pub retention: f64,
    /// Power of the cycles in retention.
    pub retention_cycles_power: f64,
    /// Power of the days in retention.
    pub retention_power: f64,
    /// Factor of read disturb.
    pub disturb: f64,
    /// Power of the cycles in read disturb.
    pub disturb_cycles_power: f64,
    /// Power of the reads in read disturb.
    pub disturb_power: f64,
}

/// The age of all blocks at the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgeConfig {
    /// Program and erase cycles of each block. Range: 0..=1000000.
    pub cycles: u32,
    /// Days since the data was programmed. Range: 0..=3650.
    pub retention_days: f64,
    /// Page reads of each block since it was programmed. Range: 0..=4000000000.
    pub reads: u32,
}

impl ErrorsConfig {
    /// The figures of the model.
    #[must_use]
    pub fn coefficients(&self) -> Coefficients {
        match self.model {
            ErrorModel::Custom => self.coefficients.unwrap_or_default(),
            ErrorModel::Mlc3x => Coefficients {
                base: 5.06e-8,
                wear: 1.05e-14,
                wear_power: 2.16,
                retention: 9.31e-14,
                retention_cycles_power: 1.80,
                retention_power: 0.80,
                disturb: 4.17e-15,
                disturb_cycles_power: 1.07,
                disturb_power: 1.45,
            },
            ErrorModel::Mlc2y => Coefficients {
                base: 8.34e-5,
                wear: 3.30e-11,
                wear_power: 1.71,
                retention: 5.56e-19,
                retention_cycles_power: 2.49,
                retention_power: 3.33,
                disturb: 6.26e-13,
                disturb_cycles_power: 1.76,
                disturb_power: 0.47,
            },
            ErrorModel::Tlc3d => Coefficients {
                base: 1.48e-3,
                wear: 3.90e-10,
                wear_power: 2.05,
                retention: 6.28e-5,
                retention_cycles_power: 0.14,
                retention_power: 0.54,
                disturb: 1.5e-14,
                disturb_cycles_power: 1.46,
                disturb_power: 1.0,
            },
        }
    }

    /// Bits of data that are decoded together.
    #[must_use]
    pub fn codeword_bits(&self) -> u32 {
        (self.codeword.0 * 8) as u32
    }

    /// Bits of a codeword that hard decoding corrects.
    #[must_use]
    pub fn hard_bits(&self) -> u32 {
        self.correctable_bits.unwrap_or((72 * self.codeword.0 / 1024) as u32)
    }

    /// Bits of a codeword that soft decoding corrects.
    #[must_use]
    pub fn soft_bits(&self) -> u32 {
        self.soft_correctable_bits.unwrap_or(self.hard_bits().saturating_mul(2))
    }

    /// Error rate by page type, as a multiple of that of the model.
    #[must_use]
    pub fn factors(&self, technology: Technology) -> Vec<f64> {
        if let Some(factors) = &self.page_types {
            return factors.clone();
        }
        let types = technology.page_types();
        let mean = ((1_u32 << types) - 1) as f64 / types as f64;
        (0..types).map(|of| f64::from(1_u32 << of) / mean).collect()
    }
}
