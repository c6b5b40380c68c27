//! The configuration of superblocks.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The unit that is written, collected and erased together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Superblock {
    /// A block of a plane.
    #[default]
    Block,
    /// One block of each plane of all dies that the same flows write to.
    Drive,
    /// One block of each plane of a set with this number of dies.
    Dies(u32),
}

impl std::str::FromStr for Superblock {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || {
            format!("{text:?} is no superblock; write \"block\", \"drive\", or a set as \"4 dies\"")
        };
        match text.trim() {
            "block" => return Ok(Self::Block),
            "drive" => return Ok(Self::Drive),
            _ => {}
        }
        let trimmed = text.trim();
        let number = trimmed.strip_suffix("dies").or_else(|| trimmed.strip_suffix("die"));
        let dies = number.and_then(|number| number.trim_end().parse().ok());
        dies.filter(|&dies| dies > 0).map(Self::Dies).ok_or_else(refuse)
    }
}

impl fmt::Display for Superblock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block => f.write_str("block"),
            Self::Drive => f.write_str("drive"),
            Self::Dies(dies) => write!(f, "{dies} dies"),
        }
    }
}

impl Serialize for Superblock {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Superblock {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Superblock {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Superblock".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(block|drive|[0-9]+ ?dies?)$",
            "examples": ["block", "drive", "4 dies"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_are_written() {
        for value in [Superblock::Block, Superblock::Drive, Superblock::Dies(4)] {
            assert_eq!(value.to_string().parse(), Ok(value));
        }
        assert_eq!("1 die".parse(), Ok(Superblock::Dies(1)));
        for wrong in ["", "0 dies", "dies", "-1 dies", "all", "4"] {
            let refused = wrong.parse::<Superblock>().expect_err("it is refused");
            assert!(refused.contains("\"drive\""), "{refused}");
        }
    }
}
