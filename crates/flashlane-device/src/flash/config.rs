//! Configuration of the memory: geometry, timing, suspension; the limits of its geometry.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::page_types::{self, PageOrder, Programming};
use crate::layout::{Geometry, SECTOR_BYTES};
use flashlane_units::{ByteSize, Ratio, Span, TransferRate};

/// Channels of a device, and chips of a channel.
pub const CHANNELS: RangeInclusive<u32> = 1..=64;
/// Dies of a chip.
pub const DIES_PER_CHIP: RangeInclusive<u32> = 1..=16;
/// Planes of a die.
pub const PLANES_PER_DIE: RangeInclusive<u32> = 1..=8;
/// Blocks of a plane.
pub const BLOCKS_PER_PLANE: RangeInclusive<u32> = 8..=1_048_576;
/// Pages of a block.
pub const PAGES_PER_BLOCK: RangeInclusive<u32> = 4..=8192;
/// Bytes of a page: a multiple of 512 B in this range.
pub const PAGE_BYTES: RangeInclusive<u64> = 512..=32_768;
/// Pages of a device at most: page numbers are 32 bits wide with a little room for marks.
pub const MAX_PAGES: u64 = (1 << 32) - (1 << 20);

/// The flash memory, or memory that is written in place: geometry, timing, suspension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlashConfig {
    /// Bits per cell, which decide the latency of a page; or `in-place` for 3D XPoint, phase-change
    /// and other memory that is written in place. There a page is one media access; nothing is
    /// erased, mapped or collected, and logical pages keep their places, striped over the dies.
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
    /// The interface of the chips, which decides how long commands and addresses take;
    /// `channel_rate` must be one that it allows. Without it the timing of NV-DDR2, at any rate.
    pub channel_class: Option<ChannelClass>,
    /// Channel time of the command and address of a page, instead of that of the interface.
    pub command_time: Option<Span>,
    /// Whether commands and addresses share the bus of the data (`shared`, the default), or have a
    /// bus of their own beside it (separate command address, SCA; ONFI 5.2 and JESD230G). With a
    /// bus of its own, a read command is sent while data of another die moves. `command_time` may
    /// say how long the narrow bus takes for a command. Not with `compat.class_rotation`,
    /// `compat.one_die_per_dispatch`, `compat.scan_at_once` or `compat.data_before_commands`.
    #[serde(default, skip_serializing_if = "CommandBus::is_shared")]
    pub command_bus: CommandBus,
    /// How pages are programmed. With `one-shot` and `two-pass`, `pages_per_block` is a multiple of
    /// the pages of a word line, which are as many as a cell has bits; and TLC needs
    /// `page_order = "turns"`. `program_time` is one time with `one-shot`, that of a word line, and
    /// two with `two-pass`: those of the first and of the second pass.
    #[serde(default)]
    pub programming: Programming,
    /// The types of the pages of a block, in order.
    #[serde(default)]
    pub page_order: PageOrder,
    /// tR by page type: one value, or a list with one per type (2 for MLC, 3 for TLC, 4 for QLC).
    #[serde(deserialize_with = "page_types::one_or_list")]
    #[schemars(schema_with = "page_types::one_or_list_schema")]
    pub read_time: Vec<Span>,
    /// tPROG by page type, as `read_time`; with `programming = "two-pass"` the times of the first
    /// and of the second pass of a word line.
    pub program_time: Vec<Span>,
    /// A die takes the data of its next program while its array still programs the pages before
    /// (ONFI: page cache program, 15h), so that a program hides the transfer of the next one. Not
    /// with `in-place`, `suspend.program`, `ftl.gc.copyback`, or the schedulers `flin`, `sprinkler`
    /// and `sprinkler-fairness`.
    #[serde(default, skip_serializing_if = "is_off")]
    pub cache_program: bool,
    /// The planes of a die read independently (asynchronous independent plane read): each reads one
    /// page at any address, with a start of its own. Programs and erases occupy the whole die, as
    /// before. Not with `in-place`, `ftl.gc.copyback`, `[errors]`, or the schedulers `flin`,
    /// `sprinkler` and `sprinkler-fairness`.
    #[serde(default, skip_serializing_if = "is_off")]
    pub independent_plane_reads: bool,
    /// A plane senses the next page while the data of the last one crosses the channel (ONFI: read
    /// cache, 31h). Only with `independent_plane_reads`: each plane has a cache register of its
    /// own.
    #[serde(default, skip_serializing_if = "is_off")]
    pub cache_read: bool,
    /// Shorter times for reads of small parts of a page.
    pub small_read: Option<SmallReadConfig>,
    /// With `in-place`: bytes of one array read. A larger access takes `read_time` for each.
    /// Range: 16 B..=`page_size`, which is the default.
    pub read_unit: Option<ByteSize>,
    /// With `in-place`: bytes of one array write, as `read_unit`.
    pub write_unit: Option<ByteSize>,
    /// tBERS. Not with `in-place`.
    #[serde(default)]
    pub erase_time: Span,
    /// Which operations a more urgent one may interrupt.
    #[serde(default)]
    pub suspend: SuspendConfig,
}

impl FlashConfig {
    /// Pages that a plane programs at once: those of a word line with one-shot and two-pass
    /// programming, otherwise 1.
    #[must_use]
    pub fn pages_per_program(&self) -> u32 {
        if self.programming.by_word_line() { self.technology.page_types() as u32 } else { 1 }
    }

    /// Array operations that program a page or a word line.
    #[must_use]
    pub fn passes(&self) -> u64 {
        if self.programming == Programming::TwoPass { 2 } else { 1 }
    }

    /// Time for which the array programs a page, or a word line in all of its passes: the mean of
    /// the page types. Unit: picoseconds.
    #[must_use]
    pub fn mean_program(&self) -> u64 {
        let sum: u64 = self.program_time.iter().map(|time| time.0).sum();
        // Each entry of the list is a pass, and not a type of pages, with two passes.
        let types = self.program_time.len() as u64 / self.passes();
        sum / types.max(1)
    }
}

fn default_width() -> ByteSize {
    ByteSize(1)
}

fn is_off(switch: &bool) -> bool {
    !switch
}

impl FlashConfig {
    /// Every optional key at its default, and everything else empty: what a source that knows the
    /// geometry and the times of a drive begins with.
    #[must_use]
    pub fn without_options() -> Self {
        Self {
            technology: Technology::Slc,
            channels: 0,
            chips_per_channel: 0,
            dies_per_chip: 0,
            planes_per_die: 0,
            blocks_per_plane: 0,
            pages_per_block: 0,
            page_size: ByteSize(0),
            channel_width: default_width(),
            channel_rate: TransferRate(0),
            channel_class: None,
            command_time: None,
            command_bus: CommandBus::Shared,
            programming: Programming::default(),
            page_order: PageOrder::default(),
            read_time: Vec::new(),
            program_time: Vec::new(),
            cache_program: false,
            independent_plane_reads: false,
            cache_read: false,
            small_read: None,
            read_unit: None,
            write_unit: None,
            erase_time: Span::default(),
            suspend: SuspendConfig::default(),
        }
    }
}

/// Cell technology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Technology {
    /// One bit per cell.
    Slc,
    /// Two: LSB, MSB.
    Mlc,
    /// Three: LSB, CSB, MSB.
    Tlc,
    /// Four.
    Qlc,
    /// Written in place: 3D XPoint, phase-change memory.
    InPlace,
}

impl Technology {
    /// Page types of the technology.
    #[must_use]
    pub fn page_types(self) -> usize {
        match self {
            Self::Slc | Self::InPlace => 1,
            Self::Mlc => 2,
            Self::Tlc => 3,
            Self::Qlc => 4,
        }
    }
}

/// Interface of the chips. Sources: ONFI 3.x, 4.2 and 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelClass {
    /// ONFI 3: up to 533 MT/s.
    NvDdr2,
    /// ONFI 4: up to 1600 MT/s.
    NvDdr3,
    /// ONFI 5: up to 3600 MT/s.
    NvLpddr4,
}

impl ChannelClass {
    /// Transfers per second at most.
    #[must_use]
    pub fn fastest(self) -> TransferRate {
        TransferRate(match self {
            Self::NvDdr2 => 533_000_000,
            Self::NvDdr3 => 1_600_000_000,
            Self::NvLpddr4 => 3_600_000_000,
        })
    }
}

/// The bus of a channel that carries commands and addresses. Source: ONFI 5.2; JEDEC JESD230G.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommandBus {
    /// Commands take the bus of the data.
    #[default]
    Shared,
    /// Commands take a bus of their own.
    Separate,
}

impl CommandBus {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_shared(&self) -> bool {
        *self == Self::Shared
    }
}

/// Reads of small parts of a page. Source: NVMeVirt (FAST'23) gives such times for real drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmallReadConfig {
    /// Largest part of a page that counts as small. A multiple of 512 B, up to the page.
    pub size: ByteSize,
    /// tR of such a read by page type, as `flash.read_time`.
    pub time: Vec<Span>,
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
    /// Time from the suspend command until the die takes another one, for an erase.
    pub erase_time: Span,
    /// A program with less than this left is not interrupted.
    pub program_min_left: Span,
    /// An erase with less than this left is not interrupted by a read.
    pub erase_min_left: Span,
    /// A write may interrupt an erase too, unless collection goes before user work.
    pub erase_for_write: bool,
    /// An erase with less than this left is not interrupted by a write.
    pub erase_min_left_for_write: Span,
    /// A program or an erase is interrupted no more often than this. Without the key only
    /// `min_progress` bounds it. Range: 1..=65535.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_per_operation: Option<u32>,
    /// A resumed program or erase runs for this part of its whole time before it is interrupted
    /// again, and for no less than twice the time to settle. Range: 0.1 %..=100 %.
    #[serde(skip_serializing_if = "is_min_progress")]
    pub min_progress: Ratio,
}

/// A sixteenth: otherwise endless reads would stop an operation.
const MIN_PROGRESS: Ratio = Ratio(0.0625);

fn is_min_progress(value: &Ratio) -> bool {
    *value == MIN_PROGRESS
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
            max_per_operation: None,
            min_progress: MIN_PROGRESS,
        }
    }
}

impl Geometry {
    /// The geometry of a flash whose pages are mapped whole.
    #[must_use]
    pub fn new(flash: &FlashConfig) -> Self {
        Self {
            units_per_page: 1,
            pages_per_program: flash.pages_per_program(),
            pages_per_unit: 1,
            channels: flash.channels,
            chips_per_channel: flash.chips_per_channel,
            dies_per_chip: flash.dies_per_chip,
            planes_per_die: flash.planes_per_die,
            blocks_per_plane: flash.blocks_per_plane,
            pages_per_block: flash.pages_per_block,
            sectors_per_page: (flash.page_size.0 / SECTOR_BYTES) as u32,
        }
    }

    /// This array in mapping units of a size that divides the page, or that is a multiple of it.
    #[must_use]
    pub fn in_units(self, unit: ByteSize) -> Self {
        let page = self.page_bytes();
        let units_per_page = (page / unit.0.max(1)).max(1) as u32;
        let pages_per_unit = (unit.0 / page.max(1)).max(1) as u32;
        let whole = u64::from(units_per_page) * unit.0 == u64::from(pages_per_unit) * page;
        assert!(whole, "a page holds whole mapping units, or a unit holds whole pages");
        Self {
            pages_per_block: self.pages_per_block * units_per_page / pages_per_unit,
            sectors_per_page: self.sectors_per_page / units_per_page * pages_per_unit,
            units_per_page,
            pages_per_unit,
            ..self
        }
    }
}
