//! Configuration of a flow whose requests are of several kinds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::synthetic::{AddressConfig, SizeConfig, SyntheticConfig};
use flashlane_units::{ByteSize, Ratio};

/// Most parts of a flow.
pub const PARTS_MAX: usize = 64;

/// A part of the requests of a flow, with addresses, sizes and a placement handle of its own. Every
/// request draws its part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartConfig {
    /// Bytes of this part, relative to those of the other parts. Range: 1e-12..=1e12.
    pub share: f64,
    /// Placement identifier of the part's writes, instead of that of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<u16>,
    /// Start of the part's addresses, as a share of the flow's space, rounded down to a multiple of
    /// `align`. Range: 0..1. Default: 0.
    #[serde(default)]
    pub start: Ratio,
    /// End of the part's addresses, as a share of the flow's space. Range: above `start`, up to 1.
    /// Default: 1.
    #[serde(default = "whole")]
    pub end: Ratio,
    /// Share of reads among reads and writes. Range: 0..=1. Default: 0, only writes.
    #[serde(default)]
    pub read_ratio: Ratio,
    /// Share of trims among all requests. Range: 0..=1.
    #[serde(default)]
    pub trim_ratio: Ratio,
    /// Distribution of addresses.
    #[serde(default)]
    pub address: AddressConfig,
    /// The part first writes every one of its addresses once, in order. Parts do this one after the
    /// other, before anything else. Only where all of its requests are writes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fill_first: bool,
    /// Request sizes.
    #[serde(default)]
    pub size: SizeConfig,
    /// Request addresses are multiples of this, from the start of the part. Default: as for a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<ByteSize>,
}

fn whole() -> Ratio {
    Ratio(1.0)
}

impl PartConfig {
    /// A part for which only the share is given.
    pub(super) fn of_share(share: f64) -> Self {
        Self {
            share,
            placement: None,
            start: Ratio(0.0),
            end: whole(),
            read_ratio: Ratio(0.0),
            trim_ratio: Ratio(0.0),
            address: AddressConfig::default(),
            fill_first: false,
            size: SizeConfig::default(),
            align: None,
        }
    }

    /// The part as a flow of its own, of which only the draws of requests count.
    #[must_use]
    pub fn requests(&self, seed: Option<u64>) -> SyntheticConfig {
        SyntheticConfig {
            queue_depth: Some(1),
            read_ratio: self.read_ratio,
            trim_ratio: self.trim_ratio,
            address: self.address.clone(),
            fill_first: self.fill_first,
            size: self.size.clone(),
            align: self.align,
            seed,
            ..SyntheticConfig::default()
        }
    }
}
