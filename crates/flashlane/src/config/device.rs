//! The device: link, host interface, cache, translation layer, scheduler, flash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::units::{Bandwidth, BlockShare, ByteSize, Ratio, Span, TransferRate};
use crate::ftl::allocation::Allocation;
use crate::ftl::gc::Victim;
use crate::interface::arbitration::Arbitration;
use crate::isolation::Isolation;
use crate::scheduler::Scheduling;

/// A simulated drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceConfig {
    /// Name in reports.
    pub name: String,
    /// Where the figures come from, for people.
    #[serde(default)]
    pub source: String,
    /// The link between host and device.
    #[serde(default)]
    pub link: LinkConfig,
    /// The NVMe front end.
    #[serde(default)]
    pub interface: InterfaceConfig,
    /// The DRAM data cache.
    #[serde(default)]
    pub cache: CacheConfig,
    /// The flash translation layer.
    #[serde(default)]
    pub ftl: FtlConfig,
    /// Which transaction the flash serves next.
    #[serde(default = "default_scheduler")]
    pub scheduler: Scheduling,
    /// Who may write where.
    #[serde(default = "default_isolation")]
    pub isolation: Isolation,
    /// The flash memory.
    pub flash: FlashConfig,
    /// Switches to the released MQSim's arithmetic. All off by default.
    #[serde(default)]
    pub compat: CompatConfig,
}

fn default_scheduler() -> Scheduling {
    Scheduling::by_name("out-of-order").expect("registered")
}

fn default_isolation() -> Isolation {
    Isolation::by_name("unified").expect("registered")
}

/// PCIe: two independent directions, each a first-come-first-served server.
/// Source: MQSim (FAST'18) section 4; overheads of PCIe 3.0 packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkConfig {
    /// Number of lanes. Range: 1..=32.
    pub lanes: u32,
    /// Usable rate of one lane and direction.
    pub lane_bandwidth: Bandwidth,
    /// Largest payload of one packet. Range: 64B..=4KiB.
    pub max_payload: ByteSize,
    /// Header, link-layer and framing bytes of one packet. Range: 0..=64 bytes.
    pub packet_overhead: ByteSize,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            lanes: 4,
            lane_bandwidth: Bandwidth(1_000_000_000),
            max_payload: ByteSize(128),
            packet_overhead: ByteSize(28),
        }
    }
}

/// NVMe: one submission and one completion queue per flow, doorbells, fetch, arbitration, firmware.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InterfaceConfig {
    /// Entries of each submission and completion queue. Range: 2..=65536.
    pub queue_depth: u32,
    /// Commands of one queue that the device holds at a time (QueueFetchSize). Range: 1..=65535.
    /// Source: MQSim (FAST'18) section 6.1 and Fig. 12.
    pub queue_fetch_size: u32,
    /// How the device picks the next queue to fetch from.
    pub arbitration: Arbitration,
    /// Commands of all queues together that may be between fetch and the end of their firmware
    /// time. Small values let arbitration decide; range: 1..=65535.
    pub fetch_ahead: u32,
    /// Firmware time per command; `0ns` for none. Source: MQSim (FAST'18) section 3.3, about 1 us.
    pub firmware_time: Span,
    /// Processors that run the firmware in parallel. Range: 1..=64.
    pub firmware_servers: u32,
    /// Size of a submission queue entry. 64 by the NVMe standard.
    pub submission_entry: ByteSize,
    /// Size of a completion queue entry. 16 by the NVMe standard.
    pub completion_entry: ByteSize,
}

impl Default for InterfaceConfig {
    fn default() -> Self {
        Self {
            queue_depth: 65_535,
            queue_fetch_size: 512,
            arbitration: Arbitration::by_name("round-robin").expect("registered"),
            fetch_ahead: 16,
            firmware_time: Span(1_000_000),
            firmware_servers: 1,
            submission_entry: ByteSize(64),
            completion_entry: ByteSize(16),
        }
    }
}

/// The DRAM data cache. Which flows use it, and how, is the flow's `cache` key.
/// Source: MQSim (FAST'18) section 4.2.1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheConfig {
    /// Room for user data, cut into slots of one flash page.
    pub capacity: ByteSize,
    /// Dirty data on its way to flash at most, as pages per plane of the device; a write that would
    /// exceed it waits. Range: 1..=65536.
    pub write_back_pages_per_plane: u32,
    /// Send the first write of a page to flash at once and keep only rewritten ("hot") pages dirty.
    pub eager_write_back: bool,
    /// The epoch after which a page counts as cold again (with `eager_write_back`).
    pub hot_epoch: Span,
    /// The memory behind the cache.
    pub dram: DramConfig,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self {
            capacity: ByteSize(256 << 20),
            write_back_pages_per_plane: 1,
            eager_write_back: true,
            hot_epoch: Span(1_000_000_000_000),
            dram: DramConfig::default(),
        }
    }
}

/// DRAM timing of the data cache: one channel, one access at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DramConfig {
    /// Bytes of one row.
    pub row: ByteSize,
    /// Transfers per second of the interface.
    pub data_rate: TransferRate,
    /// Bytes of one transfer.
    pub bus_width: ByteSize,
    /// Row-to-column delay.
    pub t_rcd: Span,
    /// Column latency.
    pub t_cl: Span,
    /// Row precharge.
    pub t_rp: Span,
}

impl Default for DramConfig {
    fn default() -> Self {
        Self {
            row: ByteSize(8192),
            data_rate: TransferRate(800_000_000),
            bus_width: ByteSize(4),
            t_rcd: Span(13_000),
            t_cl: Span(13_000),
            t_rp: Span(13_000),
        }
    }
}

/// Flash translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FtlConfig {
    /// (physical - logical) / logical capacity. Range: 0.5 %..=1000 %.
    pub over_provisioning: Ratio,
    /// The page-level mapping table and its cache.
    pub mapping: MappingConfig,
    /// The plane that a write goes to.
    pub allocation: Allocation,
    /// What a read of a never-written page costs.
    pub unwritten_read: UnwrittenRead,
    /// Garbage collection.
    pub gc: GcConfig,
    /// Wear levelling.
    pub wear_leveling: WearConfig,
    /// The state in which a run starts.
    pub precondition: PreconditionConfig,
}

impl Default for FtlConfig {
    fn default() -> Self {
        Self {
            over_provisioning: Ratio(0.28),
            mapping: MappingConfig::default(),
            allocation: Allocation::by_name("cwdp").expect("registered"),
            unwritten_read: UnwrittenRead::ZeroFill,
            gc: GcConfig::default(),
            wear_leveling: WearConfig::default(),
            precondition: PreconditionConfig::default(),
        }
    }
}

/// Page-level mapping. Source: MQSim (FAST'18) section 4.2.2, after DFTL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MappingConfig {
    /// The whole table is in DRAM: every look-up hits and nothing is written back.
    pub ideal: bool,
    /// Room of the cached mapping table (CMT).
    pub cmt_capacity: ByteSize,
    /// Start with the entries that the workload would have left in the CMT.
    pub warm: bool,
}

impl Default for MappingConfig {
    fn default() -> Self {
        Self { ideal: true, cmt_capacity: ByteSize(2 << 20), warm: true }
    }
}

/// The answer to a read of a page that nobody wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnwrittenRead {
    /// The controller answers with zeros: no flash access.
    ZeroFill,
    /// A timed array read and transfer at the page's static plane; nothing is allocated.
    Flash,
}

/// Garbage collection. Source: MQSim (FAST'18) section 4.2.4.
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
    /// Blocks of a plane in collection at the same time. Range: 1..=16.
    pub max_concurrent_per_plane: u32,
}

impl Default for GcConfig {
    fn default() -> Self {
        Self {
            victim: Victim::by_name("rga").expect("registered"),
            threshold: BlockShare::Share(0.05),
            hard_threshold: BlockShare::Share(0.005),
            preemptible: true,
            max_concurrent_per_plane: 1,
        }
    }
}

/// Wear levelling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WearConfig {
    /// New frontiers take the least-erased free block of the plane, instead of the oldest.
    pub dynamic: bool,
}

impl Default for WearConfig {
    fn default() -> Self {
        Self { dynamic: true }
    }
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
    /// Start with the pages that the workload would have left in the data cache.
    pub warm_cache: bool,
}

impl Default for PreconditionConfig {
    fn default() -> Self {
        Self { enabled: true, occupancy: Ratio(1.0), warm_cache: true }
    }
}

/// The flash memory: geometry, timing, suspension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlashConfig {
    /// Bits per cell; decides which latency a page has.
    pub technology: Technology,
    /// Channels. Range: 1..=64.
    pub channels: u32,
    /// Chips on each channel. Range: 1..=64.
    pub chips_per_channel: u32,
    /// Dies of a chip. Range: 1..=16.
    pub dies_per_chip: u32,
    /// Planes of a die. Range: 1..=8.
    pub planes_per_die: u32,
    /// Blocks of a plane. Range: 8..=1048576.
    pub blocks_per_plane: u32,
    /// Pages of a block. Range: 4..=8192.
    pub pages_per_block: u32,
    /// User bytes of a page. A multiple of 512 B, 512 B..=32KiB.
    pub page_size: ByteSize,
    /// Bytes that the channel moves per transfer. Range: 1..=8 bytes.
    #[serde(default = "default_width")]
    pub channel_width: ByteSize,
    /// Transfers per second of a channel (NV-DDR2: two per clock).
    pub channel_rate: TransferRate,
    /// tR by page type: one value, or one per type (2 for MLC, 3 for TLC, 4 for QLC).
    pub read_time: Vec<Span>,
    /// tPROG by page type, as `read_time`.
    pub program_time: Vec<Span>,
    /// tBERS.
    pub erase_time: Span,
    /// Which operations a more urgent one may interrupt.
    #[serde(default)]
    pub suspend: SuspendConfig,
}

fn default_width() -> ByteSize {
    ByteSize(1)
}

/// Cell technology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Technology {
    /// One bit per cell.
    Slc,
    /// Two: pages alternate LSB, MSB.
    Mlc,
    /// Three: LSB, CSB, MSB.
    Tlc,
    /// Four.
    Qlc,
}

impl Technology {
    /// Page types of the technology.
    #[must_use]
    pub fn page_types(self) -> usize {
        match self {
            Self::Slc => 1,
            Self::Mlc => 2,
            Self::Tlc => 3,
            Self::Qlc => 4,
        }
    }
}

/// Program and erase suspension. Source: MQSim (FAST'18) section 4.1; reference values of its
/// released configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SuspendConfig {
    /// A read may interrupt a program.
    pub program: bool,
    /// A read may interrupt an erase.
    pub erase: bool,
    /// Time from the suspend command until the die takes another one, for a program.
    pub program_time: Span,
    /// The same for an erase.
    pub erase_time: Span,
    /// A program with less than this left is not interrupted.
    pub program_min_left: Span,
    /// An erase with less than this left is not interrupted.
    pub erase_min_left: Span,
}

impl Default for SuspendConfig {
    fn default() -> Self {
        Self {
            program: false,
            erase: true,
            program_time: Span(100_000_000),
            erase_time: Span(700_000_000),
            program_min_left: Span(100_000_000),
            erase_min_left: Span(700_000_000),
        }
    }
}

/// Switches to the released MQSim's arithmetic, so that its numbers can be checked one by one.
/// `--compat mqsim` turns all of them on. None of them reproduces lost requests, hangs or crashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CompatConfig {
    /// A submission queue entry is 72 bytes on the link (compiler padding) instead of 64.
    pub padded_sqe: bool,
    /// No firmware time and no limit on commands between fetch and firmware.
    pub zero_firmware_time: bool,
    /// A chip takes a command only when all of its dies are idle, and the oldest transaction of the
    /// class decides the die: no die-level parallelism inside a chip.
    pub one_die_per_dispatch: bool,
    /// Two beats of the channel last 2 * trunc(1000 / (MT/s)) ns instead of the exact time.
    pub truncated_bus_clock: bool,
    /// A read of a never-written page costs a flash read, at the page that the order of such reads
    /// gives it.
    pub flash_unwritten_reads: bool,
    /// DRAM access time by MQSim's formula (rows halved, delays charged once).
    pub dram_formula: bool,
    /// Random draws by MQSim's generator, draw for draw, and flows started last one first. Only for
    /// flows that come from MQSim XML.
    pub random_generators: bool,
    /// PCIe transfer times are cut to whole nanoseconds.
    pub truncated_link_time: bool,
    /// Multi-plane programs may pair pages out of the order of their block, and reads do not wait for
    /// the program of their page.
    pub unordered_programs: bool,
    /// Waiting read data goes before every command on a channel: the dies of a busy channel run in
    /// step, and its bus idles for one tR a round.
    pub data_before_commands: bool,
}

impl CompatConfig {
    /// Every switch on: `--compat mqsim`.
    #[must_use]
    pub fn mqsim() -> Self {
        Self {
            padded_sqe: true,
            zero_firmware_time: true,
            one_die_per_dispatch: true,
            truncated_bus_clock: true,
            flash_unwritten_reads: true,
            dram_formula: true,
            random_generators: true,
            truncated_link_time: true,
            unordered_programs: true,
            data_before_commands: true,
        }
    }
}
