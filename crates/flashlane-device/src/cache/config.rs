//! Configuration of the data cache and its memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_units::{Bandwidth, ByteSize, Ratio, Sharing, Span, TransferRate};

/// The DRAM data cache. Which flows use it, and how, is the flow's `cache` key.
/// Source: MQSim (FAST'18) section 4.2.2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheConfig {
    /// How the cache handles data.
    pub mechanism: CacheMechanism,
    /// Whether the flows share slots, bound and memory queue, or have their own.
    pub sharing: Sharing,
    /// Room for user data, cut into slots of one flash page. With `0B` the drive has no data cache:
    /// flows are served as with `cache = "off"`.
    pub capacity: ByteSize,
    /// Most dirty data on its way to flash, as pages per plane of the device, or as word lines per
    /// plane with `flash.programming = "one-shot"`. With `"two-pass"` one word line more for each
    /// plane and flow. A write that would exceed this bound waits. With
    /// `sharing = "equal-partitioning"` each flow has a bound of its own. Range: 1..=65536.
    pub write_back_pages_per_plane: u32,
    /// Send the first write of a page to flash at once and keep only rewritten ("hot") pages dirty.
    pub eager_write_back: bool,
    /// The epoch after which a page counts as cold again (with `eager_write_back`).
    pub hot_epoch: Span,
    /// When a write is admitted to the cache: while there is room, or at the rate at which the data
    /// on its way to flash gets there.
    pub admission: Admission,
    /// Part of the most data that may be on its way to flash, above which `admission = "rate"`
    /// delays writes. Range: 0..=0.95.
    pub admission_mark: Ratio,
    /// Pages over whose way to flash `admission = "rate"` averages the rate. The pace is smooth if
    /// these are more than collection moves between two pauses. Range: 16..=16777216.
    pub admission_window: u32,
    /// Pauses in which the data of writes stays in the buffer.
    #[serde(skip_serializing_if = "PauseConfig::is_off")]
    pub pause: PauseConfig,
    /// The memory behind the cache.
    pub dram: DramConfig,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self {
            mechanism: CacheMechanism::Advanced,
            sharing: Sharing::Shared,
            capacity: ByteSize(256 << 20),
            write_back_pages_per_plane: 1,
            eager_write_back: true,
            hot_epoch: Span(1_000_000_000_000),
            admission: Admission::Slots,
            admission_mark: Ratio(0.7),
            admission_window: 4096,
            pause: PauseConfig::default(),
            dram: DramConfig::default(),
        }
    }
}

/// How the data cache handles data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheMechanism {
    /// Pages stay while there is room: reads hit, rewrites merge, `eager_write_back` sends cold
    /// pages to flash early. The least recently used page leaves first.
    Advanced,
    /// A destaging buffer: every page that is written goes to flash at once and leaves when it is
    /// there. Flows that cache reads are refused.
    Simple,
}

/// When a write is admitted to the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// At once, while less than the bound of data is on its way to flash and a slot is free. Then
    /// each write waits for a page to get there.
    #[default]
    Slots,
    /// At once up to `admission_mark`. Above it, writes are admitted at a pace that follows the
    /// measured rate of the flash, the slower the more data is on its way, first come, first
    /// served. So a pause of the flash delays no write for long, and writes above the rate that the
    /// flash sustains have a smooth latency.
    Rate,
}

/// Pauses in which a drive does not empty its write buffer, for work of its own. From outside they
/// show as writes that wait for up to the length of a pause without `buffer / rate of writes`.
/// Reads do not notice. With `sharing = "equal-partitioning"` the buffer of each flow has pauses of
/// its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PauseConfig {
    /// Time from the end of a pause to the next one. With `0s` there are no pauses. Range: 0s, or
    /// 10us..=100s.
    pub interval: Span,
    /// Length of a pause. Range: 0s..=1s.
    pub time: Span,
    /// The pause is longer by the time in which what was written since the last one goes by at this
    /// rate. Range: 1MB/s..=1TB/s. Default: it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bandwidth>,
    /// Data of writes that the buffer takes during a pause. Range: 0B..=1TiB.
    pub buffer: ByteSize,
}

impl PauseConfig {
    /// True if there are pauses.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.interval.0 > 0
    }

    fn is_off(&self) -> bool {
        !self.is_on()
    }
}

/// DRAM timing of the data cache: banks with an open row each behind one data bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DramConfig {
    /// Bytes of one row.
    pub row: ByteSize,
    /// Banks; each keeps one row open. Range: 1..=256.
    pub banks: u32,
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
            banks: 8,
            data_rate: TransferRate(800_000_000),
            bus_width: ByteSize(4),
            t_rcd: Span(13_000),
            t_cl: Span(13_000),
            t_rp: Span(13_000),
        }
    }
}

/// The use of the data cache by a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheMode {
    /// Straight to flash.
    Off,
    /// Writes are acknowledged from DRAM; reads look in it but never fill it.
    #[default]
    Write,
    /// Reads fill it; writes go to flash and refresh what is cached.
    Read,
    /// Reads fill it, and writes are acknowledged from DRAM.
    WriteRead,
}

impl CacheMode {
    /// True if writes are acknowledged from DRAM.
    #[must_use]
    pub fn takes_writes(self) -> bool {
        matches!(self, Self::Write | Self::WriteRead)
    }

    /// True if pages that were read from flash stay in it.
    #[inline]
    pub(super) fn fills_on_read(self) -> bool {
        matches!(self, Self::Read | Self::WriteRead)
    }
}
