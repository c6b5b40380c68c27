//! The interface for policies from outside, which a program registers.
//!
//! Each family has two traits. The configuration trait is for the type that holds the parameters
//! and makes the policy; the other trait is for the policy itself. The configuration is a plain
//! struct that `serde` reads and writes, with [`PolicyDoc`] for its description. After
//! `Scheduling::register::<MyConfig>("my-name")` the name works wherever a built-in one does: in
//! device files, on the command line, in Python.
//!
//! | family | key | configuration | policy |
//! | --- | --- | --- | --- |
//! | [`Scheduling`] | `scheduler` | [`SchedulingConfig`] | [`SchedulingPolicy`] |
//! | [`Victim`] | `ftl.gc.victim` | [`VictimConfig`] | [`VictimPolicy`] |
//! | [`Separation`] | `ftl.separation` | [`SeparationConfig`] | [`SeparationPolicy`], with three frontiers |
//! | [`Allocation`] | `ftl.allocation` | [`AllocationConfig`] | [`AllocationPolicy`] |
//! | [`Isolation`] | `isolation` | [`IsolationConfig`] | [`MovingSets`], where sets change |
//! | [`Arbitration`] | `interface.arbitration` | [`ArbitrationConfig`] | [`Arbiter`] |
//!
//! A policy decides but cannot act: it returns a choice, or fills a command that it borrows.
//! [`crate::conformance`] checks the rules that it has to keep.

pub use dyn_clone::DynClone;
pub use flashlane_engine::{Array, Rng, Time};
pub use flashlane_units::outside::{Kind as PolicyKind, Outside, Registry};
pub use flashlane_units::{
    BlockId, ChannelId, ChipId, DieId, FlowId, Lpa, PlaneId, PolicyDoc, PolicyInfo, RequestId,
    Span, TransactionId,
};

pub use crate::collection_order::{CollectionOrder, Presses, Reads, Room, Steps};
pub use crate::ftl::allocation::{Allocation, AllocationConfig, AllocationPolicy, PageWrite};
pub use crate::ftl::blocks::Blocks;
pub use crate::ftl::gc::{PlaneView, SteadyState, Victim, VictimConfig, VictimPolicy};
pub use crate::ftl::moving::{IsolationSummary, IsolationWindow, MovingSets};
pub use crate::ftl::separation::{Frontiers, Separation, SeparationConfig, SeparationPolicy};
pub use crate::interface::arbitration::{Arbiter, Arbitration, ArbitrationConfig, QueueSet};
pub use crate::interface::costs::COST_UNIT;
pub use crate::isolation::{Isolation, IsolationConfig};
pub use crate::layout::{FlowSpace, Geometry};
pub use crate::scheduler::overhead::SchedulerOverhead;
pub use crate::scheduler::policy::{
    Scheduling, SchedulingConfig, SchedulingPolicy, flin_dram_bytes,
};
pub use crate::scheduler::queues::{Kind, Queues};
pub use crate::scheduler::view::View;
pub use crate::transaction::{Op, Source, Transaction};

/// The parameters of the built-in policies, for programs that build a configuration themselves.
pub mod parameters {
    pub use crate::ftl::allocation::{DynamicConfig, StripedConfig};
    pub use crate::ftl::gc::{
        CostBenefitConfig, FifoConfig, GreedyConfig, NoneConfig, RandomConfig, RandomPlusConfig,
        RandomPlusPlusConfig, RgaConfig,
    };
    pub use crate::ftl::separation::{CountsConfig, NoSeparationConfig, TwoFrontiersConfig};
    pub use crate::interface::arbitration::{RoundRobinConfig, StrideConfig, WeightedConfig};
    pub use crate::isolation::{
        FewestReads, PartitionBy, PartitionShares, PartitionedConfig, PastReads, UnifiedConfig,
        UpiConfig,
    };
    pub use crate::scheduler::policy::{
        FcfsConfig, FlinConfig, FlinFreePages, FlinHistory, FlinIntensities, FlinScope, FlinStage,
        HostFirstConfig, OutOfOrderConfig, PriorityOutOfOrderConfig, ReadPriorityConfig,
        SprinklerConfig, SprinklerFairnessConfig,
    };
}

/// Every policy, family by family: what `flashlane policies` lists.
#[must_use]
pub fn families() -> [Vec<PolicyInfo>; 6] {
    [
        Scheduling::list(),
        Isolation::list(),
        Allocation::list(),
        Victim::list(),
        Separation::list(),
        Arbitration::list(),
    ]
}
