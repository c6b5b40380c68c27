//! The parts of the drive in a summary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time of the arrays of the dies by cause. The time of a command over several planes is divided
/// equally among its pages. A page that collection moves or erases belongs to the flow that owns
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceTime {
    /// Host reads and programs. Unit: seconds.
    pub host_s: f64,
    /// Collection: copies and erases. Unit: seconds.
    pub gc_s: f64,
    /// Translation pages. Unit: seconds.
    pub mapping_s: f64,
    /// `host_s` over the time of all dies. Range: 0..=1.
    pub host_share: f64,
    /// `gc_s` over the time of all dies. Range: 0..=1.
    pub gc_share: f64,
    /// `mapping_s` over the time of all dies. Range: 0..=1.
    pub mapping_share: f64,
}

/// Memory of the page tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemorySummary {
    /// Pages of the flash.
    pub physical_pages: u64,
    /// Tables with an entry per page. Unit: bytes, whether touched or not.
    pub page_table_bytes: u64,
    /// Side table of pages written in part; 0 if there was no such page. Unit: bytes, whether
    /// touched or not.
    pub partial_page_bytes: u64,
}

/// Hits and misses of look-ups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HitCounts {
    /// Found.
    pub hits: u64,
    /// Not found.
    pub misses: u64,
}

/// Flash operations. Unit: pages unless named otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlashSummary {
    /// Pages read for the host, reads that complete partial writes included. With mapping units of
    /// several pages: those that were sensed, as in all counts of reads.
    pub user_reads: u64,
    /// Reads of never-written pages answered by the controller.
    pub zero_fill_reads: u64,
    /// Pages programmed for the host; with one-shot and two-pass programming, word lines, as in all
    /// counts of programs. A mapping unit of several pages counts each of them.
    pub user_programs: u64,
    /// Pages read by collection.
    pub gc_reads: u64,
    /// Pages programmed by collection.
    pub gc_programs: u64,
    /// Translation pages read.
    pub mapping_reads: u64,
    /// Translation pages programmed.
    pub mapping_programs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Blocks moved by static wear levelling.
    pub wear_leveling_moves: u64,
    /// Blocks moved by read scrubbing, or because of their errors (`errors.refresh_at`).
    #[serde(default)]
    pub read_scrubbing_moves: u64,
    /// Erases of each block.
    pub block_erases: EraseSummary,
    /// Pages that collection moved inside their plane, without the channel.
    pub copybacks: u64,
    /// Commands that used more than one plane.
    pub multiplane_commands: u64,
    /// Commands sent to a chip while another of its dies was busy.
    pub interleaved_commands: u64,
    /// Programs suspended.
    pub program_suspends: u64,
    /// Erases suspended.
    pub erase_suspends: u64,
    /// Blocks that collection started on; with hybrid mapping, blocks that merges
    /// gave up.
    pub gc_invocations: u64,
    /// Free blocks that planes lacked at the end to reach `ftl.gc.threshold`. Collection goes on
    /// until this is 0, or nothing is left to collect. 0 with hybrid mapping, and without time
    /// (`--waf-only`).
    #[serde(default)]
    pub blocks_owed_at_end: u64,
    /// Hybrid mapping: logical blocks gathered in a new data block.
    pub full_merges: u64,
    /// Hybrid mapping: sequential log blocks completed by copies.
    pub partial_merges: u64,
    /// Hybrid mapping: sequential log blocks that became data blocks unchanged.
    pub switch_merges: u64,
    /// All page programs divided by host page programs; 0 without writes. With mapping units
    /// smaller than a page: of units, empty ones included.
    pub write_amplification: f64,
}

/// Erases by block. Unit: erases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EraseSummary {
    /// Erases of the least erased block.
    pub min: u32,
    /// Erases of the most erased block.
    pub max: u32,
    /// Mean over the blocks.
    pub mean: f64,
    /// Population standard deviation.
    pub stddev: f64,
}

impl EraseSummary {
    /// Statistics from the erases of each block.
    pub fn of(erases: impl Iterator<Item = u32> + Clone) -> Self {
        let sum: u64 = erases.clone().map(u64::from).sum();
        let squares: f64 = erases.clone().map(|e| f64::from(e) * f64::from(e)).sum();
        let count = erases.clone().count().max(1) as f64;
        let mean = sum as f64 / count;
        Self {
            min: erases.clone().min().unwrap_or(0),
            max: erases.max().unwrap_or(0),
            mean,
            stddev: root(squares / count - mean * mean),
        }
    }
}

/// The root of a variance, which rounding may have made negative. Never -0, because it depends on
/// the machine which of two zeros `max` returns.
fn root(variance: f64) -> f64 {
    if variance > 0.0 { variance.sqrt() } else { 0.0 }
}

/// Commands sent to dies, by operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandSummary {
    /// Reads.
    pub read: CommandCounts,
    /// Programs, copybacks included.
    pub program: CommandCounts,
    /// Erases.
    pub erase: CommandCounts,
}

/// Commands of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandCounts {
    /// Commands of one plane, while no other die of the chip was busy.
    pub single: u64,
    /// Commands of several planes, while no other die of the chip was busy.
    pub multiplane: u64,
    /// Commands of one plane, while another die of the chip was busy.
    pub interleaved: u64,
    /// Commands of several planes, while another die of the chip was busy.
    pub interleaved_multiplane: u64,
}

/// Data cache. Unit: pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheSummary {
    /// Page accesses found.
    pub hits: u64,
    /// Page accesses not found.
    pub misses: u64,
    /// Pages evicted, clean or dirty.
    pub evictions: u64,
}

/// Cached mapping table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CmtSummary {
    /// Look-ups that found the entry.
    pub hits: u64,
    /// Look-ups that did not find the entry.
    pub misses: u64,
    /// Translation pages written back.
    pub writebacks: u64,
}

/// A channel in a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelSummary {
    /// Index.
    pub channel: u32,
    /// Share of the window in which the bus was taken. With `flash.command_bus = "separate"`, by
    /// data.
    pub busy_fraction: f64,
    /// Share of the window in which the command bus was taken. Only with
    /// `flash.command_bus = "separate"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_bus_busy_fraction: Option<f64>,
}

/// A chip in a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChipSummary {
    /// Channel index.
    pub channel: u32,
    /// Index on the channel.
    pub chip: u32,
    /// Share of the window in which at least one die was in an array operation.
    pub busy_fraction: f64,
    /// Array time of the dies by cause, as a share of the window.
    pub busy_by_source: BusyBySource,
    /// Time average of waiting transactions.
    pub mean_queue_length: f64,
    /// Largest number of waiting transactions.
    pub max_queue_length: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// Array time by cause, as a share of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BusyBySource {
    /// Host reads and programs.
    pub host: f64,
    /// Collection: copies and erases.
    pub gc: f64,
    /// Translation pages.
    pub mapping: f64,
}
