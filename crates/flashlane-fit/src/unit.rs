//! Conversion of fitted numbers to values in a device file.

use serde::Serialize;

/// The form of a fitted number in a device file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A time. The number is in picoseconds.
    Time,
    /// A list of times. The number is the first of them, in picoseconds. The others keep their
    /// ratios to it, which are given here and start with 1.
    Times(Vec<f64>),
    /// A number of bytes.
    Bytes,
    /// A rate. The number is in bytes per second.
    BytesPerSecond,
    /// Transfers per second; the file has millions of them.
    TransfersPerSecond,
    /// A share, above 0.
    Ratio,
    /// A whole number.
    Whole,
}

impl Unit {
    /// The value as TOML, to the precision of the simulator. Every base unit is a whole number, so
    /// times are rounded to picoseconds.
    #[must_use]
    pub fn toml(&self, value: f64) -> String {
        let whole = |unit: &str| format!("\"{}{unit}\"", value.round() as u64);
        match self {
            Self::Time => whole("ps"),
            Self::Times(ratios) => {
                let times: Vec<_> =
                    ratios.iter().map(|ratio| Self::Time.toml(value * ratio)).collect();
                format!("[{}]", times.join(", "))
            }
            Self::Bytes => whole("B"),
            Self::BytesPerSecond => whole("B/s"),
            Self::TransfersPerSecond => format!("\"{}MT/s\"", shortest(value / 1e6)),
            Self::Ratio => shortest(value),
            Self::Whole => format!("{}", value.round() as u64),
        }
    }

    /// The value as TOML for people: times in the largest unit that keeps them at 1 or more, and
    /// four significant digits.
    #[must_use]
    pub fn toml_rounded(&self, value: f64) -> String {
        match self {
            Self::Time => format!("\"{}\"", self.text(value)),
            Self::Times(ratios) => {
                let times: Vec<_> =
                    ratios.iter().map(|ratio| Self::Time.toml_rounded(value * ratio)).collect();
                format!("[{}]", times.join(", "))
            }
            Self::Bytes | Self::Whole => self.toml(value),
            Self::BytesPerSecond | Self::TransfersPerSecond => format!("\"{}\"", self.text(value)),
            Self::Ratio => shortest(significant(value)),
        }
    }

    /// The value for people, without quotation marks; of a list, the first value.
    #[must_use]
    pub fn text(&self, value: f64) -> String {
        let rounded = significant(value);
        let scaled = |units: &[(&str, f64)]| {
            let fits = units.iter().find(|(_, scale)| rounded >= *scale);
            let (unit, scale) = fits.or(units.last()).copied().expect("there are units");
            format!("{}{unit}", shortest(significant(rounded / scale)))
        };
        match self {
            Self::Time | Self::Times(_) => {
                scaled(&[("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3), ("ps", 1.0)])
            }
            Self::Bytes => format!("{}B", value.round() as u64),
            Self::BytesPerSecond => {
                scaled(&[("GB/s", 1e9), ("MB/s", 1e6), ("KB/s", 1e3), ("B/s", 1.0)])
            }
            Self::TransfersPerSecond => scaled(&[("MT/s", 1e6)]),
            Self::Ratio => shortest(rounded),
            Self::Whole => format!("{}", value.round() as u64),
        }
    }
}

/// The value with four significant digits.
fn significant(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The fewest digits that give this number again, with a point if TOML needs one.
fn shortest(value: f64) -> String {
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_device_files_have_them() {
        assert_eq!(Unit::Time.toml(29_760_000.4), "\"29760000ps\"");
        assert_eq!(Unit::Time.toml_rounded(29_764_321.0), "\"29.76us\"");
        assert_eq!(Unit::Times(vec![1.0, 1.5]).toml_rounded(2e7), "[\"20us\", \"30us\"]");
        assert_eq!(Unit::Time.text(1.3e9), "1.3ms");
        assert_eq!(Unit::TransfersPerSecond.toml_rounded(4.5e8), "\"450MT/s\"");
        assert_eq!(Unit::Ratio.toml_rounded(0.070_004), "0.07");
        assert_eq!(Unit::Whole.toml(5.6), "6");
    }
}
