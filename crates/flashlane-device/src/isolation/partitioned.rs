//! Fixed disjoint sets of chips: complete isolation in the flash.

use flashlane_units::{ChipId, PolicyDoc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deal::{by_channel, by_chip, deal};
use crate::layout::{FlowSpace, Geometry};

/// Parameters of fixed partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PartitionedConfig {
    /// The units that are dealt out to the flows, among those that their resource lists name.
    pub by: PartitionBy,
    /// How much each flow gets. Logical capacities stay as with `unified`; a flow that does not fit
    /// is refused.
    pub shares: PartitionShares,
}

/// What partitions are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionBy {
    /// Whole channels: flows share no bus either.
    Channel,
    /// Single chips, in turns over the channels: every flow keeps several channels.
    #[default]
    Chip,
}

/// Sizes of partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionShares {
    /// An equal number for every flow, as far as possible.
    #[default]
    Equal,
    /// In proportion to the logical capacities of the flows, which their resource lists decide; at
    /// least one.
    Capacity,
}

impl PolicyDoc for PartitionedConfig {
    const SUMMARY: &'static str = "every flow has channels or chips of its own for good";
    const SOURCE: &'static str = "UPI (HotStorage) section 4, the baseline Partitioned";
}

impl PartitionedConfig {
    /// The chips of each flow.
    pub(super) fn sets(&self, geometry: Geometry, flows: &[FlowSpace]) -> Vec<Vec<ChipId>> {
        let units = match self.by {
            PartitionBy::Channel => by_channel(geometry),
            PartitionBy::Chip => by_chip(geometry),
        };
        let weights: Vec<u64> = match self.shares {
            PartitionShares::Equal => vec![1; flows.len()],
            PartitionShares::Capacity => flows.iter().map(|flow| flow.pages).collect(),
        };
        deal(geometry, &units, flows, &weights)
    }
}
