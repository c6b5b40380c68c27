//! Quantities as a configuration writes them: a number with its unit, `"75us"`, `"8KiB"`,
//! `"333MT/s"`.
//!
//! A bare number without its unit is refused, so that it is never unclear whether a field counts
//! microseconds or nanoseconds.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Splits `"12.5 MiB/s"` into its number and its unit.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            !(c.is_ascii_digit()
                || c == '.'
                || c == '_'
                || (matches!(c, 'e' | 'E')
                    && text[i + 1..].starts_with(|d: char| d.is_ascii_digit())))
        })
        .map_or(text.len(), |(i, _)| i);
    let (number, unit) = text.split_at(end);
    if number.is_empty() { None } else { Some((number, unit.trim())) }
}

/// Parses a non-negative decimal number times `scale` exactly where the result is an integer,
/// rounding to the nearest otherwise.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let clean: String = number.chars().filter(|&c| c != '_').collect();
    if !clean.contains(['.', 'e', 'E']) {
        return clean.parse::<u64>().ok()?.checked_mul(scale);
    }
    let value: f64 = clean.parse().ok()?;
    let product = value * scale as f64;
    if product.is_finite() && (0.0..=9.0e18).contains(&product) {
        Some(product.round() as u64)
    } else {
        None
    }
}

/// The specific parts of a quantity type; [`quantity`] makes the rest.
trait Quantity: Sized {
    /// Unit names with their values in base units, largest last.
    const UNITS: &'static [(&'static str, u64)];
    /// An example for error messages.
    const EXAMPLE: &'static str;
    fn from_base(base: u64) -> Self;
    fn base(&self) -> u64;

    fn parse(text: &str) -> Result<Self, String> {
        let refuse = |why: &str| {
            let units: Vec<&str> = Self::UNITS.iter().map(|&(u, _)| u).collect();
            format!(
                "{text:?} {why}; write a number with a unit, for example \"{}\" (units: {})",
                Self::EXAMPLE,
                units.join(", ")
            )
        };
        let (number, unit) = split(text).ok_or_else(|| refuse("is not a quantity"))?;
        if unit.is_empty() {
            return Err(refuse("has no unit"));
        }
        let &(_, scale) = Self::UNITS
            .iter()
            .find(|&&(u, _)| u == unit)
            .ok_or_else(|| refuse(&format!("has the unknown unit \"{unit}\"")))?;
        scaled(number, scale).map(Self::from_base).ok_or_else(|| refuse("is out of range"))
    }

    /// Writes the value with the largest unit that keeps it an integer.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.base();
        let (unit, scale) = Self::UNITS
            .iter()
            .rev()
            .find(|&&(_, scale)| base != 0 && base.is_multiple_of(scale))
            .copied()
            .unwrap_or(Self::UNITS[0]);
        write!(f, "{}{unit}", base / scale)
    }
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $example:literal, [$(($unit:literal, $scale:expr)),+ $(,)?]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub u64);

        impl Quantity for $name {
            const UNITS: &'static [(&'static str, u64)] = &[$(($unit, $scale)),+];
            const EXAMPLE: &'static str = $example;
            fn from_base(base: u64) -> Self { Self(base) }
            fn base(&self) -> u64 { self.0 }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { self.write(f) }
        }

        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> { <Self as Quantity>::parse(text) }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct V;
                impl Visitor<'_> for V {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "a number with a unit, for example {:?}", $example)
                    }
                    fn visit_str<E: de::Error>(self, v: &str) -> Result<$name, E> {
                        v.parse().map_err(E::custom)
                    }
                    fn visit_i64<E: de::Error>(self, v: i64) -> Result<$name, E> {
                        v.to_string().parse().map_err(E::custom)
                    }
                    fn visit_u64<E: de::Error>(self, v: u64) -> Result<$name, E> {
                        v.to_string().parse().map_err(E::custom)
                    }
                    fn visit_f64<E: de::Error>(self, v: f64) -> Result<$name, E> {
                        v.to_string().parse().map_err(E::custom)
                    }
                }
                d.deserialize_any(V)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($name).into() }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let units = [$($unit),+].join("|").replace('/', "\\/");
                json_schema!({
                    "type": "string",
                    "pattern": format!("^[0-9._]+ ?({units})$"),
                    "examples": [$example],
                })
            }
        }
    };
}

quantity!(
    /// A span of time. Unit: picoseconds.
    Span, "75us",
    [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)]
);

quantity!(
    /// A size. Unit: bytes.
    ByteSize, "8KiB",
    [
        ("B", 1), ("kB", 1_000), ("KiB", 1 << 10), ("MB", 1_000_000), ("MiB", 1 << 20),
        ("GB", 1_000_000_000), ("GiB", 1 << 30), ("TB", 1_000_000_000_000), ("TiB", 1 << 40),
    ]
);

quantity!(
    /// A data rate. Unit: bytes per second.
    Bandwidth, "1GB/s",
    [
        ("B/s", 1), ("kB/s", 1_000), ("KiB/s", 1 << 10), ("MB/s", 1_000_000), ("MiB/s", 1 << 20),
        ("GB/s", 1_000_000_000), ("GiB/s", 1 << 30),
    ]
);

quantity!(
    /// A bus rate. Unit: transfers (beats) per second.
    TransferRate, "333MT/s",
    [("T/s", 1), ("kT/s", 1_000), ("MT/s", 1_000_000), ("GT/s", 1_000_000_000)]
);

quantity!(
    /// A clock. Unit: cycles per second.
    Frequency, "1GHz",
    [("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)]
);

quantity!(
    /// A power. Unit: microwatts.
    Power, "82.5mW",
    [("uW", 1), ("mW", 1_000), ("W", 1_000_000)]
);

/// A fraction, written as a percentage `"28%"` or as a plain number `0.28`. Unit: 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Ratio(pub f64);

impl std::str::FromStr for Ratio {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let (number, scale) =
            trimmed.strip_suffix('%').map_or((trimmed, 1.0), |n| (n.trim_end(), 100.0));
        match number.parse::<f64>() {
            Ok(v) if v.is_finite() => Ok(Self(v / scale)),
            _ => Err(format!("{text:?} is not a ratio; write \"28%\" or 0.28")),
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Ratio;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a ratio, \"28%\" or 0.28")
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Ratio, E> {
                v.parse().map_err(E::custom)
            }
            fn visit_f64<E: de::Error>(self, v: f64) -> Result<Ratio, E> {
                if v.is_finite() { Ok(Ratio(v)) } else { Err(E::custom("a ratio must be finite")) }
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Ratio, E> {
                Ok(Ratio(v as f64))
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Ratio, E> {
                Ok(Ratio(v as f64))
            }
        }
        d.deserialize_any(V)
    }
}

impl JsonSchema for Ratio {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Ratio".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "number" },
            { "type": "string", "pattern": "^[0-9.]+ ?%?$" },
        ], "examples": ["28%", 0.28] })
    }
}

/// A number of blocks of a plane, absolute `"4 blocks"` or as a share of the plane `"5%"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockShare {
    /// Absolute. Unit: blocks.
    Blocks(u32),
    /// Fraction of the blocks of a plane. Range: 0..1.
    Share(f64),
}

impl BlockShare {
    /// The number of blocks that this means in a plane of `blocks_per_plane`, rounded down.
    #[must_use]
    pub fn blocks(self, blocks_per_plane: u32) -> u32 {
        match self {
            Self::Blocks(n) => n,
            Self::Share(share) => (share * f64::from(blocks_per_plane)) as u32,
        }
    }
}

impl std::str::FromStr for BlockShare {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("{text:?} is not a share of blocks; write \"5%\" or \"4 blocks\"");
        let trimmed = text.trim();
        if let Some(number) = trimmed.strip_suffix('%') {
            let percent = number.trim_end();
            let sane = percent.parse().is_ok_and(|v: f64| (0.0..100.0).contains(&v));
            // The nearest number to the decimal one, so that a written share is read unchanged.
            let share = format!("{percent}e-2")
                .parse()
                .or_else(|_| percent.parse().map(|v: f64| v / 100.0));
            return share.ok().filter(|_| sane).map(Self::Share).ok_or_else(refuse);
        }
        let number = trimmed
            .strip_suffix("blocks")
            .or_else(|| trimmed.strip_suffix("block"))
            .ok_or_else(refuse)?;
        number.trim_end().parse().map(Self::Blocks).map_err(|_| refuse())
    }
}

impl fmt::Display for BlockShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks(n) => write!(f, "{n} blocks"),
            Self::Share(s) => write!(f, "{}%", in_percent(*s)),
        }
    }
}

/// A share in percent, to the last digit.
fn in_percent(share: f64) -> String {
    if share == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{share:e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    // Digits before the point.
    let whole = exponent.parse::<i32>().unwrap_or(0) + 3;
    match usize::try_from(whole) {
        Ok(0) | Err(_) => format!("0.{}{digits}", "0".repeat(whole.unsigned_abs() as usize)),
        Ok(whole) if whole >= digits.len() => format!("{digits:0<whole$}"),
        Ok(whole) => format!("{}.{}", &digits[..whole], &digits[whole..]),
    }
}

impl Serialize for BlockShare {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BlockShare {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for BlockShare {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BlockShare".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^([0-9.]+ ?%|[0-9]+ ?blocks?)$",
            "examples": ["5%", "4 blocks"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_blocks_are_read_as_they_were_written() {
        let mut rng = flashlane_engine::Rng::stream(1, "shares", 0);
        let scales = [1.0, 0.1, 1e-2, 1e-3, 1e-5, 1e-7];
        let drawn = (0..20_000).map(|at| rng.unit() * scales[at % scales.len()]);
        for share in drawn.chain([0.0, 0.05, 0.5, 0.07, 0.99, 0.001, 0.1, 0.09920192647537994]) {
            let written = BlockShare::Share(share).to_string();
            assert_eq!(written.parse(), Ok(BlockShare::Share(share)), "{written}");
        }
        assert_eq!(BlockShare::Share(0.05).to_string(), "5%");
        assert_eq!(BlockShare::Share(0.125).to_string(), "12.5%");
        assert_eq!(BlockShare::Share(0.0005).to_string(), "0.05%");
        assert_eq!(BlockShare::Share(0.0).to_string(), "0%");
        assert_eq!("5 %".parse(), Ok(BlockShare::Share(0.05)));
        assert_eq!("1e1%".parse(), Ok(BlockShare::Share(0.1)));
        assert!("100%".parse::<BlockShare>().is_err() && "x%".parse::<BlockShare>().is_err());
    }

    #[test]
    fn quantities_read_and_write_their_units() {
        assert_eq!("75us".parse(), Ok(Span(75_000_000)));
        assert_eq!("3.8ms".parse(), Ok(Span(3_800_000_000)));
        assert_eq!("1 s".parse(), Ok(Span(1_000_000_000_000)));
        assert_eq!("8KiB".parse(), Ok(ByteSize(8192)));
        assert_eq!("333MT/s".parse(), Ok(TransferRate(333_000_000)));
        assert_eq!("1GB/s".parse(), Ok(Bandwidth(1_000_000_000)));
        for text in ["75us", "3800us", "1s", "7ps", "0ps"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
        assert_eq!(ByteSize(256 << 20).to_string(), "256MiB");
    }

    #[test]
    fn a_bare_number_is_refused_with_an_example() {
        let error = "75".parse::<Span>().unwrap_err();
        assert!(error.contains("has no unit"), "{error}");
        assert!(error.contains("75us"), "{error}");
        assert!("75 parsecs".parse::<Span>().unwrap_err().contains("unknown unit"));
        assert!("us".parse::<Span>().is_err());
        assert!("99999999999s".parse::<Span>().unwrap_err().contains("out of range"));
    }

    #[test]
    fn ratios_and_block_shares() {
        assert_eq!("28%".parse(), Ok(Ratio(0.28)));
        assert_eq!("0.28".parse(), Ok(Ratio(0.28)));
        assert!("x%".parse::<Ratio>().is_err());
        assert_eq!("5%".parse::<BlockShare>().unwrap().blocks(2048), 102);
        assert_eq!("4 blocks".parse::<BlockShare>().unwrap().blocks(2048), 4);
        assert!("4".parse::<BlockShare>().is_err());
        assert!("100%".parse::<BlockShare>().is_err());
    }
}
