//! The flash memory of a device file: channels, array, latencies, suspension.

use super::tags::{Section, Tag};
use crate::{FlashConfig, PageOrder, SuspendConfig, Technology};
use flashlane_units::{ByteSize, Span, TransferRate};

/// Longest latency: ten seconds. Unit: nanoseconds.
const LATENCY_MAX_NS: u64 = 10_000_000_000;

/// A latency in nanoseconds.
pub(super) fn latency(section: &mut Section<'_, '_>, tag: Tag) -> Span {
    Span(section.number(tag, 0..=LATENCY_MAX_NS) * 1_000)
}

/// Reads the remaining times below which an operation is no longer suspended.
pub(super) fn suspend_margins(device: &mut Section<'_, '_>) -> SuspendConfig {
    let erase = Tag::new("Prefered_suspend_erase_time_for_read", "700000")
        .also(&["Preferred_suspend_erase_time_for_read"]);
    let program = Tag::new("Preferred_suspend_write_time_for_read", "100000")
        .also(&["Prefered_suspend_write_time_for_read"]);
    let erase_for_write = Tag::new("Preferred_suspend_erase_time_for_write", "700000")
        .also(&["Prefered_suspend_erase_time_for_write"]);
    SuspendConfig {
        erase_min_left: latency(device, erase),
        erase_min_left_for_write: latency(device, erase_for_write),
        program_min_left: latency(device, program),
        ..SuspendConfig::default()
    }
}

/// The channels, as the device section describes them.
pub(super) struct Channel {
    count: u32,
    width: u64,
    rate: u64,
    chips: u32,
}

/// Channels and the chips on them.
pub(super) fn channel(device: &mut Section<'_, '_>) -> Channel {
    Channel {
        count: device.number(Tag::new("Flash_Channel_Count", "8"), 1..=64),
        width: device.number(Tag::new("Flash_Channel_Width", "1"), 1..=8),
        rate: device.number(Tag::new("Channel_Transfer_Rate", "300"), 1..=100_000),
        chips: device.number(Tag::new("Chip_No_Per_Channel", "4"), 1..=64),
    }
}

/// Reads the flash section, with the channels of the device section.
pub(super) fn array(
    flash: &mut Section<'_, '_>,
    channel: Channel,
    margins: SuspendConfig,
) -> FlashConfig {
    let technology = flash.choice(
        Tag::new("Flash_Technology", "MLC"),
        &[
            ("SLC", Some(Technology::Slc)),
            ("MLC", Some(Technology::Mlc)),
            ("TLC", Some(Technology::Tlc)),
        ],
    );
    flash.skip("Block_PE_Cycles_Limit");
    flash.skip("Page_Metadat_Capacity");
    flash.skip("Page_Metadata_Capacity");
    FlashConfig {
        technology,
        channels: channel.count,
        chips_per_channel: channel.chips,
        dies_per_chip: flash.number(Tag::new("Die_No_Per_Chip", "2"), 1..=16),
        planes_per_die: flash.number(Tag::new("Plane_No_Per_Die", "2"), 1..=8),
        blocks_per_plane: flash.number(Tag::new("Block_No_Per_Plane", "2048"), 8..=1_048_576),
        pages_per_block: flash.number(Tag::new("Page_No_Per_Block", "256"), 4..=8192),
        page_size: page_size(flash),
        channel_width: ByteSize(channel.width),
        channel_rate: TransferRate(channel.rate * 1_000_000),
        page_order: PageOrder::Mqsim,
        read_time: page_times(flash, technology, &READ_TAGS),
        program_time: page_times(flash, technology, &PROGRAM_TAGS),
        erase_time: latency(flash, Tag::new("Block_Erase_Latency", "3800000")),
        suspend: suspend(flash, margins),
        ..FlashConfig::without_options()
    }
}

fn page_size(flash: &mut Section<'_, '_>) -> ByteSize {
    let bytes: u64 = flash.number(Tag::new("Page_Capacity", "8192"), 512..=32_768);
    if !bytes.is_multiple_of(512) {
        let line = flash.line_of("Page_Capacity");
        let message =
            format!("<Page_Capacity> is {bytes}; allowed: multiples of 512 from 512 to 32768");
        flash.notes.problem(line, message);
    }
    ByteSize(bytes)
}

const READ_TAGS: [Tag; 3] = [
    Tag::new("Page_Read_Latency_LSB", "75000"),
    Tag::new("Page_Read_Latency_CSB", "75000"),
    Tag::new("Page_Read_Latency_MSB", "75000"),
];

const PROGRAM_TAGS: [Tag; 3] = [
    Tag::new("Page_Program_Latency_LSB", "750000"),
    Tag::new("Page_Program_Latency_CSB", "750000"),
    Tag::new("Page_Program_Latency_MSB", "750000"),
];

/// Latencies of LSB, CSB and MSB pages, for as many page types as the technology has.
fn page_times(flash: &mut Section<'_, '_>, technology: Technology, tags: &[Tag; 3]) -> Vec<Span> {
    let used: &[usize] = match technology {
        Technology::Slc | Technology::InPlace => &[0],
        Technology::Mlc => &[0, 2],
        Technology::Tlc | Technology::Qlc => &[0, 1, 2],
    };
    for index in (0..tags.len()).filter(|index| !used.contains(index)) {
        flash.skip(tags[index].name());
    }
    used.iter().map(|&index| latency(flash, tags[index])).collect()
}

fn suspend(flash: &mut Section<'_, '_>, margins: SuspendConfig) -> SuspendConfig {
    let (program, erase) = flash.choice(
        Tag::new("CMD_Suspension_Support", "ERASE"),
        &[
            ("NONE", Some((false, false))),
            ("ERASE", Some((false, true))),
            ("PROGRAM", Some((true, false))),
            ("PROGRAM_ERASE", Some((true, true))),
        ],
    );
    SuspendConfig {
        program,
        erase,
        erase_for_write: erase,
        program_time: latency(flash, Tag::new("Suspend_Program_Time", "100000")),
        erase_time: latency(flash, Tag::new("Suspend_Erase_Time", "700000")),
        ..margins
    }
}
