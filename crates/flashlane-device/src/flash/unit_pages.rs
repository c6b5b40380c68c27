//! Mapping units of several pages (`ftl.mapping.unit` larger than `flash.page_size`).
//!
//! A unit is `Geometry::pages_per_unit` pages in a row of a block. The translation layer knows
//! nothing of that: it places, moves and counts units. The flash programs all pages of a unit, one
//! after the other or as a part of their word line. A read senses those pages of the unit that hold
//! sectors which it wants, one after the other. Each has the time of its type, and the controller
//! notices the end of the last one.

use flashlane_units::TransactionId;

use super::Flash;
use super::config::FlashConfig;
use super::page_types::time_by_page;
use super::timing::{CellMode, Cells, READY_DELAY};
use crate::grain::Grain;
use crate::layout::{Geometry, SECTOR_BYTES};
use crate::transaction::{Op, Transaction, Transactions, pages_from};

/// Most pages of a unit.
pub const PAGES_MAX: u32 = u16::BITS;

/// Pages of a unit that a read senses, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageSet {
    /// Pages that are sensed in their whole time.
    whole: u16,
    /// Pages of which so few sectors are wanted that they take the shorter time of
    /// `flash.small_read`.
    small: u16,
}

impl PageSet {
    /// Pages that are sensed for either of two reads. A page that one of them wants whole is sensed
    /// whole.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        let whole = self.whole | other.whole;
        Self { whole, small: (self.small | other.small) & !whole }
    }

    /// True if all that another read wants is sensed, and takes no less time.
    #[must_use]
    pub(crate) fn serves(self, other: Self) -> bool {
        other.whole & !self.whole == 0 && other.small & !(self.small | self.whole) == 0
    }

    /// Pages that are sensed.
    #[must_use]
    pub fn len(self) -> u32 {
        (self.whole | self.small).count_ones()
    }

    /// True if nothing is sensed.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// How a unit consists of pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitPages {
    /// Pages of a unit; more than 1.
    pages: u32,
    /// Bits of a page in a mask of sectors.
    bits: u32,
    grain: Grain,
    /// Most sectors of a page that take the shorter time of `flash.small_read`; 0 without one.
    small: u32,
}

impl UnitPages {
    pub(crate) fn new(flash: &FlashConfig, geometry: Geometry) -> Self {
        let (pages, grain) = (geometry.pages_per_unit, geometry.grain());
        assert!((2..=PAGES_MAX).contains(&pages), "a unit has several pages, but few");
        let small = flash.small_read.as_ref().map_or(0, |small| small.size.0 / SECTOR_BYTES);
        let bits = grain.bits((flash.page_size.0 / SECTOR_BYTES) as u32);
        Self { pages, bits, grain, small: small as u32 }
    }

    /// The pages that a read senses: those that hold sectors which it wants. A read of no sector
    /// senses all of them.
    pub(crate) fn sensed(self, tr: &Transaction) -> PageSet {
        let of_page = u64::MAX >> (u64::BITS - self.bits);
        let (mut set, mut all) = (PageSet::default(), 0);
        for page in 0..self.pages {
            let wanted = self.grain.sectors(tr.mask() >> (page * self.bits) & of_page);
            all += wanted;
            match wanted {
                0 => {}
                few if few <= self.small => set.small |= 1 << page,
                _ => set.whole |= 1 << page,
            }
        }
        assert_eq!(all, tr.sectors(), "the pages of a unit hold all sectors of a read");
        if set.is_empty() {
            set.whole = u16::MAX >> (u16::BITS - self.pages);
        }
        set
    }
}

impl Flash {
    /// Array time of a command, which begins with the transaction `head`. `sectors`: the most that
    /// one of its pages reads.
    #[inline(always)]
    pub(super) fn array_time(
        &self,
        transactions: &Transactions,
        (op, head): (Op, TransactionId),
        cells: Cells,
        sectors: u32,
    ) -> u64 {
        if cells.mode == CellMode::Pages {
            return self.sensing_time(transactions, head, cells.page);
        }
        self.timing.array(op, cells, sectors)
    }

    /// Array time of reads of the units with one number in their blocks. The planes sense the same
    /// page of their units at a time.
    #[cold]
    #[inline(never)]
    fn sensing_time(&self, transactions: &Transactions, head: TransactionId, unit: u32) -> u64 {
        let pages = self.unit_pages.expect("units have several pages");
        let mut each = pages_from(transactions, head).map(|id| pages.sensed(&transactions[id]));
        let all = each.clone().fold(PageSet::default(), PageSet::or);
        assert!(each.all(|one| all.serves(one)), "a command senses what its reads want");
        self.timing.sensing(unit, all)
    }

    /// Array time of a command of one transaction alone.
    #[inline(always)]
    pub(crate) fn array_of(&self, tr: &Transaction, op: Op, cells: Cells) -> u64 {
        match cells.mode {
            CellMode::Pages => self.sensing_of(tr, cells.page),
            _ => self.timing.array(op, cells, tr.sectors()),
        }
    }

    /// Array time of a read of some pages of a unit.
    #[cold]
    #[inline(never)]
    fn sensing_of(&self, tr: &Transaction, unit: u32) -> u64 {
        let pages = self.unit_pages.expect("only units of several pages have reads of some pages");
        self.timing.sensing(unit, pages.sensed(tr))
    }
}

/// Times of the pages of units, one after the other for all pages of a block. Unit: picoseconds.
#[derive(Clone, Debug)]
pub(super) struct UnitTimes {
    pages: usize,
    /// tR by page.
    read: Vec<u64>,
    /// tR of reads of a few sectors by page; empty without such a time.
    small: Vec<u64>,
}

impl UnitTimes {
    pub(super) fn new(flash: &FlashConfig, geometry: Geometry) -> Self {
        let small = flash.small_read.iter().flat_map(|small| time_by_page(flash, &small.time));
        let read = time_by_page(flash, &flash.read_time).collect();
        Self { pages: geometry.pages_per_unit as usize, read, small: small.collect() }
    }

    /// Array time of a read of these pages of a unit.
    pub(super) fn read(&self, unit: u32, pages: PageSet) -> u64 {
        let first = unit as usize * self.pages;
        let of = |set: u16, times: &[u64]| -> u64 {
            let sensed = (0..self.pages).filter(|&page| set >> page & 1 != 0);
            sensed.map(|page| times[first + page]).sum()
        };
        READY_DELAY + of(pages.whole, &self.read) + of(pages.small, &self.small)
    }

    /// Array times of reads of whole units, by unit.
    pub(super) fn whole_reads(&self) -> Vec<u64> {
        let units = self.read.chunks(self.pages);
        units.map(|unit| READY_DELAY + unit.iter().sum::<u64>()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::config::SmallReadConfig;
    use crate::transaction::{Op, Source};
    use flashlane_engine::Time;
    use flashlane_units::{ByteSize, FlowId, Span};

    /// Pages of 4 KiB with eight sectors in blocks of 32, in units of `unit` bytes.
    fn flash(unit: u64) -> (FlashConfig, Geometry) {
        let small = SmallReadConfig { size: ByteSize(512), time: vec![Span(1)] };
        let flash = FlashConfig {
            pages_per_block: 32,
            page_size: ByteSize(4096),
            read_time: vec![Span(100)],
            small_read: Some(small),
            ..FlashConfig::without_options()
        };
        let geometry = Geometry::new(&flash).in_units(ByteSize(unit));
        (flash, geometry)
    }

    /// The pages that a read of the sectors of a mask senses, whole and small.
    fn sensed(unit: u64, mask: u64) -> (u16, u16) {
        let (flash, geometry) = flash(unit);
        let mut tr = Transaction::new(Source::User, Op::Read, FlowId::new(0), 0, Time::ZERO);
        tr.set_part(mask, geometry.grain().sectors(mask));
        let set = UnitPages::new(&flash, geometry).sensed(&tr);
        (set.whole, set.small)
    }

    #[test]
    fn pages_are_sensed_that_hold_a_sector() {
        assert_eq!(sensed(16 << 10, 0b11), (0b0001, 0));
        assert_eq!(sensed(16 << 10, 1 << 7 | 0b11 << 8), (0b0010, 0b0001));
        assert_eq!(sensed(16 << 10, u64::from(u32::MAX)), (0b1111, 0));
        assert_eq!(sensed(16 << 10, 0), (0b1111, 0), "a read of nothing");
        // A bit is two sectors.
        assert_eq!(sensed(64 << 10, 1 << 3 | 1 << 4 | 1 << 63), (0b11 | 1 << 15, 0));
        assert_eq!(sensed(64 << 10, u64::MAX), (u16::MAX, 0));
    }

    #[test]
    fn a_read_takes_the_time_of_its_pages() {
        let (flash, geometry) = flash(16 << 10);
        let times = UnitTimes::new(&flash, geometry);
        let set = |whole, small| PageSet { whole, small };
        assert_eq!(times.read(7, set(0b1011, 0b0100)), READY_DELAY + 301);
        assert_eq!(times.whole_reads(), [READY_DELAY + 400; 8]);
        let both = set(0b0001, 0b0110).or(set(0b0010, 0b1000));
        assert_eq!((both, both.len()), (set(0b0011, 0b1100), 4));
        assert!(both.serves(set(0b0010, 0b1001)));
        assert!(!both.serves(set(0b0100, 0)), "the third page is wanted whole");
    }
}
