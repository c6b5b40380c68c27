//! Sums of times in files: seconds, so that no reader needs integers of more than 64 bits.

use serde::{Deserialize, Deserializer, Serializer};

const PS_PER_S: f64 = 1e12;

pub(super) fn serialize<S: Serializer>(ps: &u128, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(*ps as f64 / PS_PER_S)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
    f64::deserialize(from).map(|s| (s * PS_PER_S).round() as u128)
}
