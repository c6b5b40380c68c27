//! Configuration of the translation layer: mapping, allocation, collection, wear, the state at the
//! start.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::allocation::Allocation;
use super::errors::ErrorSettings;
use super::gc::Victim;
use super::placement::PlacementConfig;
use super::separation::Separation;
use super::slc_cache::SlcSettings;
use super::superblocks::Superblock;
use crate::compat::CompatConfig;
use flashlane_units::{BlockShare, ByteSize, Ratio, Sharing, Span};

/// (physical - logical) / logical.
pub const OVER_PROVISIONING: RangeInclusive<f64> = 0.005..=10.0;

/// Longest time for which paced collection goes before reads that wait, by default.
const READ_WAIT_MAX: Span = Span(1_000_000_000);

/// Longest time for which a written unit waits until its page is full, by default.
const FILL_TIME: Span = Span(1_000_000_000);

/// Flash translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FtlConfig {
    /// (physical - logical) / logical capacity. Range: 0.5 %..=1000 %.
    pub over_provisioning: Ratio,
    /// The page-level mapping table and its cache.
    pub mapping: MappingConfig,
    /// The plane that a write goes to. With superblocks: the order of the planes in a stripe.
    pub allocation: Allocation,
    /// The blocks that are written, collected and erased together: `"block"`, a block of one plane;
    /// `"drive"`, a superblock of one block of each plane of the drive; `"4 dies"`, a superblock of
    /// a set of dies. Free blocks and thresholds then count superblocks. Flows that write to the
    /// same planes share superblocks; others have sets of their own. Mapping units fill the page or
    /// the word line of one plane, and then that of the next plane.
    pub superblock: Superblock,
    /// The last page of each stripe of a superblock holds parity, and no data (with one-shot
    /// programming: the last word line). The pages for parity are part of over-provisioning.
    pub parity: bool,
    /// The separation of hot and cold data: the write frontiers that the data of a flow has on each
    /// plane, and which pages go to which. Default: two-frontiers.
    #[serde(skip_serializing_if = "Separation::is_default")]
    pub separation: Separation,
    /// What a read of a never-written page costs.
    pub unwritten_read: UnwrittenRead,
    /// Where such a page lies in a superblock, with `unwritten_read = "flash"` and one-shot
    /// programming. Default: `rows`.
    #[serde(skip_serializing_if = "UnwrittenOrder::is_rows")]
    pub unwritten_order: UnwrittenOrder,
    /// Garbage collection.
    pub gc: GcConfig,
    /// Wear levelling.
    pub wear_leveling: WearConfig,
    /// Moves of data out of blocks that were read often (read scrubbing).
    pub read_scrubbing: ScrubbingConfig,
    /// The state in which a run starts.
    pub precondition: PreconditionConfig,
}

impl Default for FtlConfig {
    fn default() -> Self {
        Self {
            over_provisioning: Ratio(0.28),
            mapping: MappingConfig::default(),
            allocation: Allocation::by_name("cwdp").expect("registered"),
            superblock: Superblock::Block,
            parity: false,
            separation: Separation::default(),
            unwritten_read: UnwrittenRead::ZeroFill,
            unwritten_order: UnwrittenOrder::Rows,
            gc: GcConfig::default(),
            wear_leveling: WearConfig::default(),
            read_scrubbing: ScrubbingConfig::default(),
            precondition: PreconditionConfig::default(),
        }
    }
}

/// The parts of the configuration that a translation layer is built from.
#[derive(Clone, Copy, Debug)]
pub struct FtlSettings<'a> {
    pub(crate) config: &'a FtlConfig,
    pub(crate) compat: &'a CompatConfig,
    /// The memory is written in place: nothing is mapped or collected.
    pub(crate) in_place: bool,
    /// The isolation policy moves chips from flow to flow during the run.
    pub(crate) sets_move: bool,
    /// Bit errors, where they are modelled.
    pub(crate) errors: Option<ErrorSettings<'a>>,
    /// The SLC cache, if there is one.
    pub(crate) slc_cache: Option<SlcSettings>,
    /// Placement of data by the host.
    pub(crate) placement: &'a PlacementConfig,
}

impl FtlSettings<'_> {
    /// True if frontiers are open before anything is written, which needs page-level mapping.
    pub fn opens_frontiers_at_start(&self) -> bool {
        self.compat.frontiers_at_start
            && !self.in_place
            && self.config.mapping.kind != MappingKind::Hybrid
    }
}

/// Page-level mapping. Source: MQSim (FAST'18) section 4.2.3, after DFTL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MappingConfig {
    /// Unit of mapping.
    pub kind: MappingKind,
    /// Page-level: size of the units that are mapped. Smaller ones, of which a page of the flash is
    /// a multiple, are packed into pages as they are written. Larger ones are 2 to 16 pages in a
    /// row of a block. Range: 512 B..=64 KiB. Default: `flash.page_size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<ByteSize>,
    /// With units smaller than a page, or `flash.programming = "one-shot"` or `"two-pass"`: longest
    /// time for which a written unit waits until its page or word line is full. Then the page or
    /// word line is programmed with empty units. With `"two-pass"` also the time for which a word
    /// line waits for the next one of its block, after which it has its second pass without that.
    /// Range: 1 us..=10 s. Default: 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_time: Option<Span>,
    /// Page-level: the whole table is in DRAM: every look-up hits and nothing is written back.
    pub ideal: bool,
    /// Room of the cached mapping table (CMT).
    pub cmt_capacity: ByteSize,
    /// Whether the flows share the CMT or have an equal part each.
    pub sharing: Sharing,
    /// Start with the entries that the workload would have left in the CMT.
    pub warm: bool,
    /// Hybrid: log blocks for random writes, for each plane and flow. Range: 2..=4096.
    pub log_blocks: u32,
}

impl Default for MappingConfig {
    fn default() -> Self {
        Self {
            kind: MappingKind::Page,
            unit: None,
            fill_time: None,
            ideal: true,
            cmt_capacity: ByteSize(2 << 20),
            sharing: Sharing::Shared,
            warm: true,
            log_blocks: 8,
        }
    }
}

impl MappingConfig {
    /// Longest time for which a written unit waits until its page or word line is full. Unit:
    /// picoseconds.
    #[must_use]
    pub fn fill_time(&self) -> Span {
        self.fill_time.unwrap_or(FILL_TIME)
    }

    /// True if the table lies on flash and only a part of it is cached.
    #[must_use]
    pub fn is_cached(&self) -> bool {
        self.kind == MappingKind::Page && !self.ideal
    }
}

/// Unit of the mapping from logical to physical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MappingKind {
    /// Every page on its own.
    Page,
    /// Data by blocks, recent writes by pages in log blocks, as FAST (ACM TECS 2007). Its merges
    /// take the place of garbage collection: of `ftl.gc` nothing applies.
    Hybrid,
}

/// The answer to a read of a page that was never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnwrittenRead {
    /// The controller answers with zeros: no flash access.
    ZeroFill,
    /// A timed array read and transfer at the page's static plane; nothing is allocated.
    Flash,
}

/// The order of pages that were never written, in a superblock whose word lines have several pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnwrittenOrder {
    /// A word line of a plane, then that of the next plane, as this drive writes.
    #[default]
    Rows,
    /// A page of each die in turn, until every plane of a stripe has one, then the next page of
    /// each: as a controller leaves data that fills the word lines of all dies side by side.
    Dies,
}

impl UnwrittenOrder {
    /// True for the default.
    #[must_use]
    pub fn is_rows(&self) -> bool {
        *self == Self::Rows
    }
}

/// Garbage collection. Source: MQSim (FAST'18) section 4.2.3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GcConfig {
    /// Which block is emptied.
    pub victim: Victim,
    /// Collection of a plane starts when its free blocks fall below this.
    pub threshold: BlockShare,
    /// Below this many free blocks collection goes before user work; host writes wait when
    /// only the reserve is left.
    pub hard_threshold: BlockShare,
    /// User transactions go before collection while free blocks are at or above the hard threshold.
    pub preemptible: bool,
    /// Blocks of a plane in collection at the same time, wear levelling included. Range: 1..=16.
    pub max_concurrent_per_plane: u32,
    /// Valid pages move inside their plane, by way of its page register: read and programmed at
    /// once, their data never on the channel. Not with hybrid mapping.
    pub copyback: bool,
    /// When the valid pages of a block move.
    pub pacing: Pacing,
    /// With `pacing = "proportional"`: longest time for which collection goes before the reads of a
    /// die that wait. After it, these reads go first. At least one command of collection goes in
    /// each such turn. Range: 1us..=1s. Default: 1ms.
    pub read_wait_max: Option<Span>,
    /// With `pacing = "proportional"`: collection goes on without writes, page by page, when no
    /// request has been in the drive for this time. Range: 1us..=1000s. Default: never.
    pub idle_after: Option<Span>,
}

/// When the valid pages of a block in collection move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// All at once, when the collection of the block starts.
    #[default]
    Burst,
    /// In proportion to the writes: for each page that is written to the plane, as many pages move
    /// as the block has valid pages for each page that its erase gains. Below `hard_threshold` the
    /// rest moves at once. Reads wait for collection no longer than `read_wait_max`.
    Proportional,
}

impl GcConfig {
    /// Longest time for which collection goes before reads that wait; `None` if nothing bounds it.
    #[must_use]
    pub fn read_wait_max(&self) -> Option<Span> {
        let paced = self.pacing == Pacing::Proportional;
        paced.then_some(self.read_wait_max.unwrap_or(READ_WAIT_MAX))
    }
}

impl Default for GcConfig {
    fn default() -> Self {
        Self {
            victim: Victim::by_name("rga").expect("registered"),
            threshold: BlockShare::Share(0.05),
            hard_threshold: BlockShare::Share(0.005),
            preemptible: true,
            max_concurrent_per_plane: 1,
            copyback: false,
            pacing: Pacing::Burst,
            read_wait_max: None,
            idle_after: None,
        }
    }
}

/// Wear levelling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WearConfig {
    /// New frontiers take the least-erased free block of the plane, instead of the oldest.
    pub dynamic: bool,
    /// Difference between the most and the least erased block of a plane at which the data of a
    /// least erased block is moved, so that the block is used again; 0 for never.
    /// Range: 0..=1000000. Source: MQSim (FAST'18), its released configuration.
    pub static_threshold: u32,
}

impl Default for WearConfig {
    fn default() -> Self {
        Self { dynamic: true, static_threshold: 100 }
    }
}

/// Read scrubbing: every read disturbs the other pages of its block a little, so that data is moved
/// out of a block that was read often. Only where pages are mapped one by one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScrubbingConfig {
    /// Host pages read from a block since its erase at which its data is moved; 0 for never.
    /// Vendors do not publish theirs: tens of thousands for flash with three bits a cell, a
    /// million for one. Range: 0..=4000000000.
    pub limit: u32,
}

/// Instant steady state: valid and invalid pages are set directly before the run.
/// Source: MQSim (FAST'18) section 5; mean-field model of the GC policy in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PreconditionConfig {
    /// Start from the steady state, instead of an empty drive.
    pub enabled: bool,
    /// Share of each flow's logical pages that hold data. Range: 0..=1. A flow can override it.
    pub occupancy: Ratio,
    /// The planes on which the data of a flow lies.
    pub placement: Placement,
    /// Start with the pages that the workload would have left in the data cache.
    pub warm_cache: bool,
    /// Start with the blocks that each flow is writing, filled up to a random page, so that the
    /// planes do not begin to collect at the same time. Only where pages are mapped one by one;
    /// with `compat.frontiers_at_start` these blocks are open and empty instead.
    pub open_blocks: bool,
}

impl Default for PreconditionConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            occupancy: Ratio(1.0),
            placement: Placement::Striped,
            warm_cache: true,
            open_blocks: false,
        }
    }
}

/// The planes on which the data of a flow lies at the start, among those that it writes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Logical pages in turns, in the order of the static allocation.
    #[default]
    Striped,
    /// Logical pages at random, the same number on each plane, as writes leave them that go to
    /// whichever plane has time. Needs an allocation without static planes: `dynamic`, or isolation
    /// `upi`.
    Random,
}
