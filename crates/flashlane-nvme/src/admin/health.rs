//! The health logs: SMART, and that of the Open Compute Project.

use flashlane::metrics::{EraseSummary, FlashSummary, Summary};

use crate::bytes::Page;
use crate::media::{Counts, SECTOR_BYTES};

/// SMART counts data in thousands of sectors.
const UNIT_SECTORS: u64 = 1000;

/// What the health logs are made from.
pub(crate) struct Health {
    counts: Counts,
    flash: FlashSummary,
    /// Unit: bytes.
    page_bytes: u64,
    /// Erases that a block is rated for.
    rated_erases: Option<u32>,
    /// Unit: seconds of simulated time.
    simulated_s: f64,
    errors: u64,
}

impl Health {
    /// From the summary of the drive and the counts of its clients.
    pub(crate) fn new(
        summary: &Summary,
        counts: Counts,
        page_bytes: u64,
        rated_erases: Option<u32>,
        errors: u64,
    ) -> Self {
        let (flash, simulated_s) = (summary.flash, summary.simulated_s);
        Self { counts, flash, page_bytes, rated_erases, simulated_s, errors }
    }

    /// Mean erases of a block over those that it is rated for. Unit: percent, at most 255.
    fn used(&self) -> u8 {
        let EraseSummary { mean, .. } = self.flash.block_erases;
        let rated = self.rated_erases.map(f64::from);
        rated.map_or(0, |rated| (mean * 100.0 / rated).min(255.0) as u8)
    }

    /// The SMART log page. The model has no temperature, which is 0 kelvin.
    pub(crate) fn smart(&self) -> Vec<u8> {
        let units = |sectors: u64| u128::from(sectors.div_ceil(UNIT_SECTORS));
        let mut page = Page::new(512);
        page.u8(3, 100); // Spare blocks. Unit: percent.
        page.u8(5, self.used());
        page.u128(32, units(self.counts.sectors_read));
        page.u128(48, units(self.counts.sectors_written));
        page.u128(64, self.counts.reads.into());
        page.u128(80, self.counts.writes.into());
        page.u128(112, 1); // Power cycles.
        page.u128(128, (self.simulated_s / 3600.0) as u128);
        page.u128(160, self.counts.media_errors.into());
        page.u128(176, self.errors.into());
        page.into_bytes()
    }

    /// Everything that was programmed. Unit: bytes.
    fn programmed(&self) -> u128 {
        let flash = &self.flash;
        let programs = flash.user_programs + flash.gc_programs + flash.mapping_programs;
        u128::from(programs) * u128::from(self.page_bytes)
    }

    /// Log page C0h. `used_blocks`: what the first namespace says of itself.
    pub(crate) fn open_compute(&self, used_blocks: u64) -> Vec<u8> {
        let flash = &self.flash;
        let reads = flash.user_reads + flash.gc_reads + flash.mapping_reads;
        let bytes = |pages: u64| u128::from(pages) * u128::from(self.page_bytes);
        let mut page = Page::new(512);
        page.u128(0, self.programmed());
        page.u128(16, bytes(reads));
        page.u8(80, self.used());
        page.u32(88, flash.block_erases.max);
        page.u32(92, flash.block_erases.min);
        page.u64(152, used_blocks);
        page.u16(494, 3);
        page.put(496, &OPEN_COMPUTE_GUID);
        page.into_bytes()
    }
}

/// The log of an endurance group counts data in billions of bytes.
const BILLION: u128 = 1_000_000_000;

impl Health {
    /// The log page of the endurance group, which is the whole drive. `capacity`: unit: bytes.
    pub(crate) fn endurance_group(&self, capacity: u128) -> Vec<u8> {
        let sectors = |count: u64| u128::from(count) * u128::from(SECTOR_BYTES);
        let mut page = Page::new(512);
        page.u8(3, 100); // Spare blocks. Unit: percent.
        page.u8(5, self.used());
        page.u128(48, sectors(self.counts.sectors_read).div_ceil(BILLION));
        page.u128(64, sectors(self.counts.sectors_written).div_ceil(BILLION));
        page.u128(80, self.programmed().div_ceil(BILLION));
        page.u128(96, self.counts.reads.into());
        page.u128(112, self.counts.writes.into());
        page.u128(128, self.counts.media_errors.into());
        page.u128(144, self.errors.into());
        page.u128(160, capacity);
        page.into_bytes()
    }
}

/// AFD514C9-7C6F-4F9C-A4F2-BFEA2810AFC5, the lowest byte first.
const OPEN_COMPUTE_GUID: [u8; 16] = [
    0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf,
];
