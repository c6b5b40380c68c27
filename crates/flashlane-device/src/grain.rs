//! What a bit of a mask of sectors stands for.
//!
//! The sectors of a page, as it is mapped, are kept in masks of 64 bits. A bit is a sector. Pages
//! of more than 64 sectors are mapping units of more than 32 KiB (`ftl.mapping.unit`): a bit stands
//! for two sectors there. Reads and writes of such a unit are widened to whole bits, and trims are
//! cut to whole bits.

/// Sectors that a bit of a mask stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grain {
    /// Logarithm of the number to base 2.
    shift: u32,
}

impl Grain {
    /// The grain of pages of `sectors_per_page` sectors. Range: 1..=128.
    #[must_use]
    pub fn of(sectors_per_page: u32) -> Self {
        assert!((1..=2 * u64::BITS).contains(&sectors_per_page), "a page has few sectors");
        Self { shift: u32::from(sectors_per_page > u64::BITS) }
    }

    /// True if a bit stands for several sectors.
    #[inline]
    #[must_use]
    pub fn is_coarse(self) -> bool {
        self.shift > 0
    }

    /// Bits for `sectors` sectors, which must be whole bits.
    #[must_use]
    pub fn bits(self, sectors: u32) -> u32 {
        assert!(sectors.trailing_zeros() >= self.shift, "{sectors} sectors are whole bits");
        sectors >> self.shift
    }

    /// Sectors of a mask.
    #[inline]
    #[must_use]
    pub fn sectors(self, mask: u64) -> u32 {
        mask.count_ones() << self.shift
    }

    /// The mask of the sectors from `first` up to and without `end` of a page, of which there is at
    /// least one. Bits that only a part of them belongs to are in the mask.
    #[inline]
    #[must_use]
    pub fn covering(self, first: u32, end: u32) -> u64 {
        debug_assert!(first < end, "there is a sector");
        self.run(first >> self.shift, (end + (1 << self.shift) - 1) >> self.shift)
    }

    /// As [`covering`](Self::covering), without the bits that only a part of the sectors belongs
    /// to. May be empty.
    #[must_use]
    pub fn inside(self, first: u32, end: u32) -> u64 {
        let (first, end) = ((first + (1 << self.shift) - 1) >> self.shift, end >> self.shift);
        if first < end { self.run(first, end) } else { 0 }
    }

    /// Some bits in a row.
    #[inline]
    fn run(self, first: u32, end: u32) -> u64 {
        (u64::MAX >> (u64::BITS - (end - first))) << first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_a_sector_up_to_64_of_them() {
        let grain = Grain::of(64);
        assert!(!grain.is_coarse());
        assert_eq!((grain.bits(64), grain.sectors(u64::MAX)), (64, 64));
        assert_eq!(grain.covering(0, 64), u64::MAX);
        assert_eq!((grain.covering(3, 5), grain.inside(3, 5)), (0b11 << 3, 0b11 << 3));
    }

    #[test]
    fn two_sectors_are_a_bit_beyond() {
        let grain = Grain::of(128);
        assert!(grain.is_coarse());
        assert_eq!((grain.bits(128), grain.sectors(0b101)), (64, 4));
        assert_eq!((grain.covering(0, 128), grain.inside(0, 128)), (u64::MAX, u64::MAX));
        assert_eq!((grain.covering(1, 3), grain.inside(1, 3)), (0b11, 0));
        assert_eq!((grain.covering(1, 6), grain.inside(1, 6)), (0b111, 0b110));
        assert_eq!((grain.covering(127, 128), grain.inside(127, 128)), (1 << 63, 0));
    }
}
