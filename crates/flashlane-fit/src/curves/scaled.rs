//! Smaller drives that stand for a drive, so that its long runs take seconds.

use flashlane::config::units::{BlockShare, ByteSize, Ratio};
use flashlane::config::{DeviceConfig, Pacing, Superblock};

/// Most mapping units of a block of every plane in a run with time: a run lasts for several.
const ROW_WITH_TIME: u64 = 24 << 10;

/// Most mapping units of a drive for a run without time.
const UNITS_WITHOUT_TIME: u64 = 1 << 20;

/// Most blocks of a plane for a run with time.
const BLOCKS_WITH_TIME: u32 = 128;

/// Most blocks of a plane for a fill, and most pages of a block. The phases are as exact as a block
/// of every plane.
const BLOCKS_OF_FILL: u32 = 256;
const PAGES_OF_FILL: u64 = 96;

/// Fewest pages of a block. Blocks of fewer pages amplify less.
const FEWEST_PAGES: u32 = 96;

/// Fewest pages of a block in a run with time, in which superblocks have many planes.
const FEWEST_PAGES_WITH_TIME: u32 = 48;

/// Blocks that are kept free beyond the hard threshold in a run with time. A drive that is written
/// for hours has used up any others; a run of seconds would not, and would be too fast meanwhile.
const FREE_WITH_TIME: u32 = 5;

/// Pages of a block are multiples of this, for word lines of any kind of cell.
const PAGES_STEP: u32 = 12;

/// Blocks of a plane that are open for writing: one for the host and one for collection.
const OPEN: f64 = 2.0;

/// Logical size of a drive. Unit: bytes.
pub(super) fn logical_bytes(device: &DeviceConfig) -> u64 {
    let bytes = device.geometry().pages() * device.unit().0;
    (bytes as f64 / (1.0 + device.ftl.over_provisioning.0)) as u64
}

/// The drive for a run with time: as many dies, with fewer and smaller blocks. Erases are as much
/// shorter, and the spare space beyond the free blocks is the same share. With paced collection few
/// blocks are free, as after long writing.
pub(super) fn with_time(device: &mut DeviceConfig) {
    let before = device.flash.pages_per_block;
    let units = units_per_page_row(device);
    let free = device.ftl.gc.threshold;
    if let (Pacing::Proportional, BlockShare::Blocks(_), BlockShare::Blocks(hard)) =
        (device.ftl.gc.pacing, free, device.ftl.gc.hard_threshold)
    {
        device.ftl.gc.threshold = BlockShare::Blocks(hard + FREE_WITH_TIME);
    }
    let most = (BLOCKS_WITH_TIME, ROW_WITH_TIME / units);
    shrink(device, free, most, FEWEST_PAGES_WITH_TIME);
    shorten_erases(device, before);
}

/// The drive for a run without time: with superblocks of the whole drive, one plane with as many
/// blocks.
pub(super) fn without_time(device: &mut DeviceConfig) {
    if device.ftl.superblock == Superblock::Drive {
        let planes = f64::from(device.geometry().planes());
        let flash = &mut device.flash;
        (flash.channels, flash.chips_per_channel) = (1, 1);
        (flash.dies_per_chip, flash.planes_per_die) = (1, 1);
        if device.ftl.parity {
            // One row of each stripe holds no data; that of a single plane would leave nothing.
            device.ftl.parity = false;
            let spare = &mut device.ftl.over_provisioning;
            *spare = Ratio((1.0 + spare.0) * (1.0 - 1.0 / planes) - 1.0);
        }
    }
    let units = units_per_page_row(device);
    let blocks = u64::from(device.flash.blocks_per_plane);
    let free = device.ftl.gc.threshold;
    shrink(device, free, (u32::MAX, UNITS_WITHOUT_TIME / units / blocks), FEWEST_PAGES);
    device.slc_cache = None;
    // How many superblocks are in collection together is a matter of time.
    device.ftl.gc.max_concurrent_per_plane = 1;
}

/// The drive for a fill: as many dies, with fewer and smaller blocks. The SLC cache and the data
/// cache are as much smaller as the drive, so that its phases are the same shares of it. Speeds
/// stay.
pub(super) fn filling(device: &mut DeviceConfig) {
    let (before, bytes) = (device.flash.pages_per_block, device.geometry().pages() as f64);
    shrink(device, device.ftl.gc.threshold, (BLOCKS_OF_FILL, PAGES_OF_FILL), FEWEST_PAGES);
    shorten_erases(device, before);
    let geometry = device.geometry();
    let share = geometry.pages() as f64 / bytes;
    let smaller = |size: ByteSize| size.0 as f64 * share;
    // The data cache holds at least what is on its way to the flash.
    let row = u64::from(geometry.planes()) * geometry.page_bytes();
    let least = u64::from(device.cache.write_back_pages_per_plane) * row;
    let capacity = &mut device.cache.capacity;
    capacity.0 = capacity.0.min(least.max(smaller(*capacity) as u64));
    let block = u64::from(device.slc_pages()) * row;
    if let Some(cache) = &mut device.slc_cache {
        let whole =
            |size: ByteSize| ByteSize((smaller(size) / block as f64).round() as u64 * block);
        (cache.size, cache.static_size) = (whole(cache.size), whole(cache.static_size));
    }
}

/// Makes erases shorter, as blocks are smaller. `before`: pages of a block of the real drive.
fn shorten_erases(device: &mut DeviceConfig, before: u32) {
    let share = f64::from(device.flash.pages_per_block) / f64::from(before);
    let time = &mut device.flash.erase_time.0;
    *time = (*time as f64 * share).round() as u64;
}

/// Mapping units in a page of every plane.
fn units_per_page_row(device: &DeviceConfig) -> u64 {
    let geometry = device.geometry();
    u64::from(geometry.planes()) * u64::from(geometry.units_per_page)
}

/// Mapping units in a block of every plane.
pub(super) fn units_of_blocks(device: &DeviceConfig) -> u64 {
    units_per_page_row(device) * u64::from(device.flash.pages_per_block)
}

/// At most as many blocks a plane, of about as many pages, as `most` says, and pages no fewer than
/// `fewest`. The drive kept the blocks `kept` free before.
fn shrink(device: &mut DeviceConfig, kept: BlockShare, most: (u32, u64), fewest: u32) {
    let flash = &mut device.flash;
    let before = flash.blocks_per_plane;
    flash.blocks_per_plane = before.min(most.0);
    let pages = u32::try_from(most.1).unwrap_or(u32::MAX) / PAGES_STEP * PAGES_STEP;
    flash.pages_per_block = flash.pages_per_block.min(pages.max(fewest));
    let after = flash.blocks_per_plane;
    // As many blocks are kept free, which is a larger share of a plane with fewer blocks.
    if let (BlockShare::Blocks(kept), BlockShare::Blocks(free)) = (kept, device.ftl.gc.threshold) {
        let left = |blocks: u32, free: u32| 1.0 - (f64::from(free) + OPEN) / f64::from(blocks);
        let spare = &mut device.ftl.over_provisioning;
        *spare = Ratio((1.0 + spare.0) * left(before, kept) / left(after, free) - 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::config::load::{self, Overrides};

    fn device(sets: &[&str]) -> DeviceConfig {
        let sets = sets.iter().map(ToString::to_string).collect();
        let overrides = Overrides { sets, ..Overrides::default() };
        load::device("micron-7450-max", &overrides).expect("a preset").config
    }

    /// Flash beside the blocks that are kept free, over the logical size.
    fn room(device: &DeviceConfig) -> f64 {
        let BlockShare::Blocks(free) = device.ftl.gc.threshold else { panic!("it has blocks") };
        let kept = (f64::from(free) + OPEN) / f64::from(device.flash.blocks_per_plane);
        (1.0 + device.ftl.over_provisioning.0) * (1.0 - kept)
    }

    #[test]
    fn a_smaller_drive_has_the_same_share_of_spare_space() {
        let whole = device(&["ftl.gc.threshold=10 blocks"]);
        let (mut timed, mut untimed) = (whole.clone(), whole.clone());
        with_time(&mut timed);
        without_time(&mut untimed);
        for small in [&timed, &untimed] {
            assert!((room(small) - room(&whole)).abs() < 1e-9);
            assert!(logical_bytes(small) < logical_bytes(&whole) / 20);
        }
        assert_eq!(timed.flash.channels, whole.flash.channels, "parallelism is that of the drive");
        assert!(units_of_blocks(&timed) <= ROW_WITH_TIME);
        assert_eq!(timed.ftl.gc.threshold, BlockShare::Blocks(7), "few blocks are free");
        assert_eq!(untimed.ftl.gc.threshold, BlockShare::Blocks(10), "those of the drive");
        assert_eq!(untimed.flash.blocks_per_plane, whole.flash.blocks_per_plane);
    }

    #[test]
    fn parity_becomes_spare_space_on_a_single_plane() {
        let mut small = device(&["ftl.parity=true"]);
        let spare = small.ftl.over_provisioning.0;
        without_time(&mut small);
        assert!(!small.ftl.parity);
        assert!(small.ftl.over_provisioning.0 < spare, "64 planes: one part in 64 is parity");
    }
}
