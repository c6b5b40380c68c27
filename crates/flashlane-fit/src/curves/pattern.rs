//! Addresses of the requests of a figure, by the name that a table gives them.

use std::fmt;
use std::str::FromStr;

use flashlane::config::units::ByteSize;
use serde::{Serialize, Serializer};

/// Size of a zone if none is named: that of the public measurements.
const USUAL_ZONE: ByteSize = ByteSize(8 << 30);

/// Most active zones.
const MOST_ZONES: u32 = 65_536;

/// Addresses of the requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// To random addresses of the whole drive.
    Random,
    /// From the first address on.
    Sequential,
    /// Every block once a round, in another random order each round.
    Permutation,
    /// Zipf popularity of 4 KiB blocks anywhere, with this exponent.
    Zipf(f64),
    /// A share of the writes goes to a share of the space, whose blocks lie anywhere.
    TwoZones {
        /// Unit: percent of the writes.
        writes: f64,
        /// Unit: percent of the space.
        space: f64,
    },
    /// A stream in each of some zones, which take turns.
    Zones {
        /// Zones that are written at a time.
        active: u32,
        /// Size of a zone of the real drive.
        size: ByteSize,
    },
}

/// The patterns that a table may name, for messages.
const ALLOWED: &str = "random, sequential, permutation, zipf:0.8 (the exponent, 0 to 5), two-zones:95/5 (95 % of the writes \
     go to 5 % of the space), zones:4 (active zones of 8 GiB), zones:4/1GiB (of this size)";

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("found {text}, allowed: {ALLOWED}");
        let (name, values) = text.split_once(':').unwrap_or((text, ""));
        let number = |text: &str, low: f64, high: f64| {
            let value = text.parse::<f64>().ok().filter(|value| (low..=high).contains(value));
            value.ok_or_else(refused)
        };
        match (name, values.split_once('/')) {
            ("random", _) if values.is_empty() => Ok(Self::Random),
            ("sequential", _) if values.is_empty() => Ok(Self::Sequential),
            ("permutation", _) if values.is_empty() => Ok(Self::Permutation),
            ("zipf", None) => Ok(Self::Zipf(number(values, 0.0, 5.0)?)),
            ("two-zones", Some((writes, space))) => {
                let (writes, space) = (number(writes, 0.0, 100.0)?, number(space, 0.001, 99.999)?);
                Ok(Self::TwoZones { writes, space })
            }
            ("zones", parts) => {
                let (active, size) = parts.map_or((values, None), |(a, s)| (a, Some(s)));
                let active = active.parse().ok().filter(|active| (1..=MOST_ZONES).contains(active));
                let size = size.map_or(Ok(USUAL_ZONE), str::parse).map_err(|_| refused())?;
                if size.0 < 4096 || size.0 % 4096 != 0 {
                    return Err(refused());
                }
                Ok(Self::Zones { active: active.ok_or_else(refused)?, size })
            }
            _ => Err(refused()),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Sequential => f.write_str("sequential"),
            Self::Permutation => f.write_str("permutation"),
            Self::Zipf(theta) => write!(f, "zipf:{theta}"),
            Self::TwoZones { writes, space } => write!(f, "two-zones:{writes}/{space}"),
            Self::Zones { active, size } if *size == USUAL_ZONE => write!(f, "zones:{active}"),
            Self::Zones { active, size } => write!(f, "zones:{active}/{size}"),
        }
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Pattern {
    /// The key `address` of a flow on a drive that is scaled down by `scale`. `real`: logical size
    /// of the drive before that. Unit: bytes.
    pub(super) fn address(&self, scale: f64, real: u64) -> String {
        match *self {
            Self::Random => "\"uniform\"".to_owned(),
            Self::Sequential => "\"streaming\"".to_owned(),
            Self::Permutation => "\"permutations\"".to_owned(),
            Self::Zipf(theta) => {
                let whole = ByteSize(real / 4096 * 4096);
                format!(
                    "{{ zipf = {{ theta = {theta:?}, extent = \"4KiB\", stands_for = \"{whole}\" }} }}"
                )
            }
            Self::TwoZones { writes, space } => format!(
                "{{ hot-cold = {{ hot_region = {:?}, hot_traffic = {:?}, scattered = true }} }}",
                space / 100.0,
                writes / 100.0
            ),
            Self::Zones { active, size } => {
                let sectors = ((size.0 as f64 * scale / 512.0).round() as u64).max(8);
                let size = ByteSize(sectors * 512);
                format!("{{ zones = {{ active = {active}, size = \"{size}\" }} }}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_and_written() {
        for text in [
            "random",
            "sequential",
            "permutation",
            "zipf:0.8",
            "two-zones:95/5",
            "two-zones:100/80",
            "zones:4",
            "zones:1/1GiB",
        ] {
            assert_eq!(text.parse::<Pattern>().expect(text).to_string(), text);
        }
        assert_eq!("zones:2/8GiB".parse::<Pattern>(), "zones:2".parse());
        for text in [
            "zipf",
            "zipf:6",
            "zipf:x",
            "two-zones:95",
            "two-zones:95/0",
            "two-zones:101/5",
            "zones:0",
            "zones:1/7B",
            "random:1",
            "mixed",
            "",
        ] {
            let error = text.parse::<Pattern>().expect_err(text);
            assert!(error.starts_with(&format!("found {text}, allowed: random")), "{error}");
        }
    }
}
