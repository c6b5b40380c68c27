//! Configuration of the host interface.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arbitration::Arbitration;
use super::processors::ProcessorsConfig;
use flashlane_units::{Bandwidth, ByteSize, Span};

/// The host interface: NVMe with one submission and one completion queue per flow, doorbells, fetch
/// and arbitration, or SATA with one tagged queue for all flows. Firmware is the same for both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InterfaceConfig {
    /// The protocol. With `sata` the keys of queues, entries and arbitration, the link and the
    /// priorities of flows have no effect, nor have their lists of channels, chips, dies and
    /// planes: such a drive cannot tell flows apart.
    pub kind: InterfaceKind,
    /// Entries of each submission and completion queue. Range: 2..=65536.
    pub queue_depth: u32,
    /// Entries of a submission queue for which the host writes the doorbell once: when that
    /// many entries wait for it, or after `doorbell_limit`. Completions have a
    /// doorbell each. Range: 1..=65535; 1 for a doorbell per entry, and in effect at most
    /// `queue_depth - 1`. NVMe only.
    pub doorbell_batch: u32,
    /// Longest time for which an entry waits for others before the host writes the doorbell. No
    /// effect with `doorbell_batch = 1`. Range: 1ns..=10s. The default is Flashlane's assumption.
    pub doorbell_limit: Span,
    /// Commands of one queue that the device holds at a time (QueueFetchSize). Range: 1..=65535.
    /// Source: MQSim (FAST'18) section 6.1 and Fig. 12.
    pub queue_fetch_size: u32,
    /// How the device picks the next queue to fetch from.
    pub arbitration: Arbitration,
    /// What a command costs, for shares by weight (`arbitration = "stride"`) and for limits of
    /// commands per second. NVMe only.
    #[serde(skip_serializing_if = "CostModel::is_commands")]
    pub cost: CostModel,
    /// Commands of all queues together that may be between fetch and the end of their firmware
    /// time. Small values let arbitration decide; range: 1..=65535.
    pub fetch_ahead: u32,
    /// Buffers for the data of reads: while the reads that were fetched, and whose data has not
    /// been sent, have this much or more, no command is fetched. So large reads cannot fill the
    /// dies. Range: 4KiB..=1GiB; without it there is no bound. NVMe only. Source: our own rule;
    /// `docs/drives.md` names the measurements that it imitates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_buffer: Option<ByteSize>,
    /// Firmware time per command; `0ns` for none. Source: MQSim (FAST'18) section 3.3, about 1 us.
    pub firmware_time: Span,
    /// Firmware time of a write, where it differs; a write that is acknowledged from the cache
    /// often takes less.
    pub write_firmware_time: Option<Span>,
    /// Firmware time that a read or write adds for each page (or mapping unit) after its first, by
    /// its size. Without it the size has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_firmware_time: Option<Span>,
    /// Processors that run the firmware in parallel. Range: 1..=64.
    pub firmware_servers: u32,
    /// A model of the processors, in place of the four keys before. Without it firmware takes a
    /// constant time for each command, and no time for other work.
    pub processors: Option<ProcessorsConfig>,
    /// Size of a submission queue entry. 64 by the NVMe standard.
    pub submission_entry: ByteSize,
    /// Size of a completion queue entry. 16 by the NVMe standard.
    pub completion_entry: ByteSize,
    /// Most data that one read or write may move (MDTS of NVMe). The host splits larger ones into
    /// pieces that arrive together, the rest last. Trims have no such limit. Range: 4KiB..=16MiB,
    /// whole sectors of 512 bytes.
    pub max_transfer: ByteSize,
    /// Host bus adapter, tags and link of a SATA drive (with `kind = "sata"`).
    pub sata: SataConfig,
}

impl Default for InterfaceConfig {
    fn default() -> Self {
        Self {
            kind: InterfaceKind::Nvme,
            queue_depth: 65_535,
            doorbell_batch: 1,
            doorbell_limit: Span(1_000_000),
            queue_fetch_size: 512,
            arbitration: Arbitration::by_name("round-robin").expect("registered"),
            cost: CostModel::Commands,
            fetch_ahead: 16,
            read_buffer: None,
            firmware_time: Span(1_000_000),
            write_firmware_time: None,
            page_firmware_time: None,
            firmware_servers: 1,
            processors: None,
            submission_entry: ByteSize(64),
            completion_entry: ByteSize(16),
            max_transfer: ByteSize(16 << 20),
            sata: SataConfig::default(),
        }
    }
}

/// The cost of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CostModel {
    /// Every command costs 1.
    #[default]
    Commands,
    /// A read or write costs 1 for each page of flash that it touches, and other commands cost 1.
    Pages,
    /// As `pages`, but a page costs the time that reads of pages, or programs, of the flow took so
    /// far on die and bus in the mean. A read of a page by `flash.read_time` costs 1.
    DeviceTime,
}

impl CostModel {
    /// True for the default.
    #[must_use]
    pub fn is_commands(&self) -> bool {
        *self == Self::Commands
    }
}

/// The protocol between host and drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InterfaceKind {
    /// A queue pair per flow, over PCIe.
    Nvme,
    /// One queue of 32 tags for all flows (native command queuing), over a Serial ATA link.
    Sata,
}

/// A SATA drive and its host bus adapter. Source: Serial ATA specification 3.x; the adapter that
/// takes one command at a time is MQSim's (FAST'18).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SataConfig {
    /// Commands with a tag, from the command to the host's sight of its completion. Range: 1..=32,
    /// which is NCQ's.
    pub tags: u32,
    /// Time of the adapter per command on the way to the drive, and the same again per completion;
    /// one of each at a time. The default is Flashlane's assumption.
    pub adapter_time: Span,
    /// Rate of the link after 8b/10b coding, one direction at a time: 600 MB/s for the 6 Gb/s of
    /// SATA III.
    pub link_rate: Bandwidth,
    /// Largest payload of a data frame. Range: 512B..=8KiB.
    pub frame_payload: ByteSize,
    /// Bytes of a frame besides its contents: start, checksum and end take 12. Range: 0..=256
    /// bytes.
    pub frame_overhead: ByteSize,
}

impl Default for SataConfig {
    fn default() -> Self {
        Self {
            tags: 32,
            adapter_time: Span(1_000_000),
            link_rate: Bandwidth(600_000_000),
            frame_payload: ByteSize(8192),
            frame_overhead: ByteSize(12),
        }
    }
}

/// NVMe weighted-round-robin class.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// Before all others.
    Urgent,
    /// Weighted, highest weight.
    High,
    /// Weighted.
    #[default]
    Medium,
    /// Weighted, lowest weight.
    Low,
}
