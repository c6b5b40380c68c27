//! Reading of request sizes, so that a mistake is reported at its key.

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::SizeConfig;
use flashlane_units::ByteSize;

const KINDS: &[&str] = &["normal", "discrete"];

impl<'de> Deserialize<'de> for SizeConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SizeVisitor)
    }
}

struct SizeVisitor;

impl<'de> Visitor<'de> for SizeVisitor {
    type Value = SizeConfig;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "\"4KiB\", { normal = { mean = \"8KiB\", stddev = \"2KiB\" } } \
            or { discrete = [[\"4KiB\", 0.7], [\"64KiB\", 0.3]] }",
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SizeConfig, E> {
        text.parse::<ByteSize>().map(SizeConfig::Fixed).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SizeConfig, A::Error> {
        let kind: Option<String> = map.next_key()?;
        let size = match kind.as_deref() {
            Some("normal") => SizeConfig::Normal { normal: map.next_value()? },
            Some("discrete") => SizeConfig::Discrete { discrete: map.next_value()? },
            Some(other) => return Err(A::Error::unknown_field(other, KINDS)),
            None => {
                return Err(A::Error::custom("found an empty table, allowed: normal, discrete"));
            }
        };
        match map.next_key::<String>()? {
            None => Ok(size),
            Some(second) => Err(A::Error::custom(format!(
                "two size distributions, and one of them is {second:?}; give one"
            ))),
        }
    }
}
