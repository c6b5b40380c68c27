//! Isolation: which flow may write to which chips.
//!
//! A policy gives every tenant (a flow) a set of chips that it writes to; reads go wherever the
//! data is. Under every policy a block holds the data of one flow, and host writes and moved pages
//! go to different blocks. The sets at the start of a run divide the drive in [`crate::layout`], so
//! that preconditioning, static allocation and the check of capacities keep to them.

mod conformance;
mod deal;
mod partitioned;
mod unified;
mod upi;

pub use conformance::RULES;
pub use partitioned::{PartitionBy, PartitionShares, PartitionedConfig};
pub use unified::UnifiedConfig;
pub use upi::{FewestReads, PastReads, UpiConfig};

use flashlane_units::ChipId;

use crate::flash::config::FlashConfig;
use crate::ftl::moving::MovingSets;
use crate::layout::{FlowSpace, Geometry, Layout};

flashlane_units::policies! {
    /// Isolation of tenants in the flash.
    pub enum Isolation at "isolation" open to IsolationConfig {
        "unified" => Unified(UnifiedConfig),
        "partitioned" => Partitioned(PartitionedConfig),
        "upi" => Upi(UpiConfig),
    }
}

/// Configuration of an isolation policy from outside.
pub trait IsolationConfig: Send + Sync {
    /// The chips that each flow writes to at the start, among those that its resource lists name
    /// ([`FlowSpace::planes`]).
    fn starting_sets(&self, geometry: Geometry, flows: &[FlowSpace]) -> Vec<Vec<ChipId>>;

    /// The policy that changes the sets during the run; `None` where they stay.
    fn moving_sets(&self, geometry: Geometry, flows: &[FlowSpace]) -> Option<Box<dyn MovingSets>> {
        let _ = (geometry, flows);
        None
    }

    /// True if [`IsolationConfig::moving_sets`] gives a policy.
    fn moves(&self) -> bool {
        false
    }
}

impl Isolation {
    /// True if the sets of chips change during a run.
    pub fn moves(&self) -> bool {
        match self {
            Self::Unified(_) | Self::Partitioned(_) => false,
            Self::Upi(_) => true,
            Self::Outside(policy) => policy.config().moves(),
        }
    }

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
            Self::Outside(policy) => {
                let mut sets = policy.config().starting_sets(geometry, flows);
                let name = policy.name();
                assert_eq!(sets.len(), flows.len(), "isolation {name}: a set for each flow");
                sets.iter_mut().for_each(|set| set.sort_unstable());
                Some(sets)
            }
        }
    }

    /// The running policy, if its sets change during a run.
    pub fn moving_sets(&self, flash: &FlashConfig, layout: &Layout) -> Option<Box<dyn MovingSets>> {
        match self {
            Self::Unified(_) | Self::Partitioned(_) => None,
            Self::Upi(config) => Some(Box::new(upi::Upi::new(config, flash, layout))),
            Self::Outside(policy) => {
                let sets = policy.config().moving_sets(layout.geometry, &layout.flows);
                assert_eq!(
                    sets.is_some(),
                    policy.config().moves(),
                    "isolation {}: it moves sets if it says so",
                    policy.name()
                );
                sets
            }
        }
    }
}
