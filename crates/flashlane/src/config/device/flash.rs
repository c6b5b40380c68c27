//! The flash memory: geometry, timing, suspension.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::units::{ByteSize, Span, TransferRate};

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
    /// An erase with less than this left is not interrupted by a read.
    pub erase_min_left: Span,
    /// A write may interrupt an erase too, unless collection goes before user work.
    pub erase_for_write: bool,
    /// An erase with less than this left is not interrupted by a write.
    pub erase_min_left_for_write: Span,
}

impl SuspendConfig {
    /// Something may interrupt something.
    #[must_use]
    pub fn any(&self) -> bool {
        self.program || self.erase || self.erase_for_write
    }
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
            erase_for_write: false,
            erase_min_left_for_write: Span(700_000_000),
        }
    }
}
