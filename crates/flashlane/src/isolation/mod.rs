//! Who may write where.
//!
//! A policy gives every tenant (a flow) a set of chips that it writes to; reads go wherever the
//! data is. A block holds the data of one flow, and host writes and moved pages go to different
//! blocks, under every policy. The sets of a run's start divide the drive in [`crate::layout`], so
//! that preconditioning, static allocation and the check of capacities keep to them.

mod deal;
mod partitioned;
mod unified;
mod upi;

pub use partitioned::{PartitionBy, PartitionShares, PartitionedConfig};
pub use unified::UnifiedConfig;
pub use upi::{FewestReads, UpiConfig};

use flashlane_units::ChipId;

use crate::flash::config::FlashConfig;
use crate::ftl::moving::MovingSets;
use crate::layout::{FlowSpace, Geometry, Layout};

flashlane_units::policies! {
    /// Isolation of tenants in the flash.
    pub enum Isolation at "isolation" {
        "unified" => Unified(UnifiedConfig),
        "partitioned" => Partitioned(PartitionedConfig),
        "upi" => Upi(UpiConfig),
    }
}

impl Isolation {
    /// The chips that each flow writes to at the start, sorted; `None` for all that its resource
    /// lists name. A set is empty where nothing is left for the flow, which validation refuses.
    pub(crate) fn starting_sets(
        &self,
        geometry: Geometry,
        flows: &[FlowSpace],
    ) -> Option<Vec<Vec<ChipId>>> {
        match self {
            Self::Unified(_) => None,
            Self::Partitioned(config) => Some(config.sets(geometry, flows)),
            Self::Upi(config) => Some(config.starting_sets(geometry, flows)),
        }
    }

    /// The policy at work, for sets that change during a run.
    pub(crate) fn moving_sets(
        &self,
        flash: &FlashConfig,
        layout: &Layout,
    ) -> Option<Box<dyn MovingSets>> {
        match self {
            Self::Unified(_) | Self::Partitioned(_) => None,
            Self::Upi(config) => Some(Box::new(upi::Upi::new(config, flash, layout))),
        }
    }
}
