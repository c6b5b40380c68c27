//! The page tables: where every logical page is, and what every physical page holds.
//!
//! They are two flat arrays of 32-bit numbers and one bit a page. Entries are stored plus one, so
//! that zeroed memory means "nothing", and untouched parts of a device cost no memory. Pages that
//! are written only in part are rare; their sector masks are in a side table: [`Masks`].

use flashlane_engine::{Frozen, Table, Use};
use flashlane_units::{Lpa, Ppa};

use super::masks::{FrozenMasks, Masks};
use crate::grain::Grain;

/// Logical pages for one word of `partial`.
const WORD: u32 = u32::BITS;

/// Logical pages of a region, and regions for one word of `touched`.
const REGION: u32 = 4096;
const REGIONS: u32 = u64::BITS;

/// The page tables. Sizes: logical pages of all flows, physical pages of the device.
#[derive(Clone, Debug)]
pub struct PageTables {
    /// For each logical page its physical page plus one; 0 for none.
    l2p: Table,
    /// For each physical page its logical page (or translation page) plus one; 0 for free and
    /// invalid pages.
    p2l: Table,
    /// One bit for each region of logical pages: set if some page of it has, or had, a place. A
    /// drive that is almost empty answers from here, which is faster than the tables in memory.
    touched: Vec<u64>,
    /// True if any bit of `touched` is set.
    any_touched: bool,
    /// One bit for each logical page: set if only some sectors were written.
    partial: Table,
    masks: Masks,
    full_mask: u64,
    grain: Grain,
}

/// Page tables that change no more, and can be copied.
#[derive(Debug)]
pub(crate) struct FrozenPages {
    l2p: Frozen,
    p2l: Frozen,
    touched: Vec<u64>,
    any_touched: bool,
    partial: Frozen,
    masks: FrozenMasks,
    full_mask: u64,
    grain: Grain,
}

impl FrozenPages {
    /// A copy that can change.
    pub(crate) fn copy(&self) -> PageTables {
        PageTables {
            l2p: self.l2p.copy(),
            p2l: self.p2l.copy(),
            touched: self.touched.clone(),
            any_touched: self.any_touched,
            partial: self.partial.copy(),
            masks: self.masks.copy(),
            full_mask: self.full_mask,
            grain: self.grain,
        }
    }
}

/// For states that are kept on disk.
impl PageTables {
    /// The tables, in the order that [`take`](Self::take) expects.
    pub fn tables(&self) -> Vec<&Table> {
        [&self.l2p, &self.p2l, &self.partial].into_iter().chain(self.masks.tables()).collect()
    }

    /// Appends everything but the tables.
    pub(crate) fn put(&self, out: &mut Vec<u32>) {
        out.push(u32::from(self.any_touched));
        out.extend(self.touched.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]));
        self.masks.put(out);
    }

    /// Restores these empty tables from what [`put`](Self::put) and [`tables`](Self::tables) gave
    /// for the same number of pages. `None` for anything else.
    pub(crate) fn take(
        self,
        tables: &mut dyn Iterator<Item = Frozen>,
        from: &mut dyn Iterator<Item = u32>,
    ) -> Option<FrozenPages> {
        let mut fits = |table: &Table| tables.next().filter(|next| next.len() == table.len());
        let (l2p, p2l, partial) = (fits(&self.l2p)?, fits(&self.p2l)?, fits(&self.partial)?);
        let any_touched = from.next()? != 0;
        let mut touched = self.touched;
        for word in &mut touched {
            *word = u64::from(from.next()?) | u64::from(from.next()?) << 32;
        }
        let masks = self.masks.take(tables, from)?;
        let (full_mask, grain) = (self.full_mask, self.grain);
        Some(FrozenPages { l2p, p2l, touched, any_touched, partial, masks, full_mask, grain })
    }

    /// Does [`Table::let_go`] for all tables.
    pub(crate) fn let_go(&mut self) {
        self.l2p.let_go();
        self.p2l.let_go();
        self.partial.let_go();
        self.masks.let_go();
    }
}

/// Number and use of the entries of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableSize {
    /// Number of pages that the table is for.
    pub(crate) pages: u64,
    /// How the table will be used.
    pub(crate) purpose: Use,
}

impl PageTables {
    /// Empty tables, with entries for the logical and the physical pages. Sector masks have
    /// `mask_bits` bits. These are more than the sectors of a page if a part of a request may reach
    /// over the end of a page.
    pub(crate) fn new(
        logical: TableSize,
        physical: TableSize,
        sectors_per_page: u32,
        mask_bits: u32,
    ) -> Self {
        let TableSize { pages, purpose } = logical;
        let grain = Grain::of(sectors_per_page);
        let bits = grain.bits(sectors_per_page);
        assert!(mask_bits >= bits, "a mask has a bit for each sector of a page");
        let few = if purpose == Use::Filled { Use::Sparse } else { purpose };
        Self {
            l2p: Table::new(pages as usize, purpose),
            p2l: Table::new(physical.pages as usize, physical.purpose),
            touched: vec![0; pages.div_ceil(u64::from(REGION * REGIONS)) as usize],
            any_touched: false,
            partial: Table::new(pages.div_ceil(64) as usize * 2, few),
            masks: Masks::new(pages, mask_bits, purpose),
            full_mask: grain.covering(0, sectors_per_page),
            grain,
        }
    }

    /// Ends all changes, so that the tables can be copied.
    pub(crate) fn freeze(self) -> FrozenPages {
        FrozenPages {
            l2p: self.l2p.freeze(),
            p2l: self.p2l.freeze(),
            touched: self.touched,
            any_touched: self.any_touched,
            partial: self.partial.freeze(),
            masks: self.masks.freeze(),
            full_mask: self.full_mask,
            grain: self.grain,
        }
    }

    /// Mask of a whole page.
    #[inline]
    pub(crate) fn full_mask(&self) -> u64 {
        self.full_mask
    }

    /// Sectors of a page.
    pub fn sectors_per_page(&self) -> u32 {
        self.sectors_in(self.full_mask)
    }

    /// The mask of the sectors from `first` up to and without `end` of a page.
    pub fn covering(&self, first: u32, end: u32) -> u64 {
        self.grain.covering(first, end)
    }

    /// Sectors of a mask.
    #[inline]
    pub(crate) fn sectors_in(&self, mask: u64) -> u32 {
        self.grain.sectors(mask)
    }

    /// Physical page of a logical one, or `NONE`.
    #[inline]
    pub fn ppa(&self, lpa: Lpa) -> Ppa {
        if !self.is_touched(lpa) {
            return Ppa::NONE;
        }
        // 0 - 1 wraps to NONE.
        Ppa::new(self.l2p.get(lpa.get()).wrapping_sub(1))
    }

    /// Logical (or translation) page that a physical page holds, or `NONE`.
    #[inline]
    pub fn lpa(&self, ppa: Ppa) -> Lpa {
        Lpa::new(self.p2l.get(ppa.get()).wrapping_sub(1))
    }

    /// True if some page has, or had, a place.
    #[inline]
    pub(crate) fn any_touched(&self) -> bool {
        self.any_touched
    }

    /// True if some page in the region of a logical page has, or had, a place.
    #[inline]
    fn is_touched(&self, lpa: Lpa) -> bool {
        let region = lpa.get() / REGION;
        let word = self.touched.get((region / REGIONS) as usize);
        word.is_some_and(|word| word >> (region % REGIONS) & 1 != 0)
    }

    #[inline]
    fn touch(&mut self, lpa: Lpa) {
        let region = lpa.get() / REGION;
        self.touched[(region / REGIONS) as usize] |= 1 << (region % REGIONS);
        self.any_touched = true;
    }

    /// Points a logical page at a physical one, or at nothing.
    #[inline]
    pub fn set_ppa(&mut self, lpa: Lpa, ppa: Ppa) {
        self.touch(lpa);
        self.l2p.set(lpa.get(), ppa.get().wrapping_add(1));
    }

    /// Records what a physical page holds, or that it holds nothing valid.
    #[inline]
    pub fn set_lpa(&mut self, ppa: Ppa, lpa: Lpa) {
        self.p2l.set(ppa.get(), lpa.get().wrapping_add(1));
    }

    /// Prefetches the entries of a logical page.
    #[inline]
    pub fn prefetch(&self, lpa: Lpa) {
        if !self.is_touched(lpa) {
            return;
        }
        self.l2p.prefetch(lpa.get());
        self.partial.prefetch(lpa.get() / WORD);
        self.masks.prefetch(lpa);
    }

    /// Prefetches the entry of a physical page.
    #[inline]
    pub(crate) fn prefetch_physical(&self, ppa: Ppa) {
        self.p2l.prefetch(ppa.get());
    }

    /// True if some page was written in part.
    #[inline]
    pub(crate) fn any_partial(&self) -> bool {
        self.masks.any()
    }

    /// Sets both directions for a page that is written whole. Used by preconditioning.
    #[inline]
    pub fn place(&mut self, lpa: Lpa, ppa: Ppa) {
        debug_assert!(ppa != Ppa::NONE, "page {lpa} gets a place");
        self.set_ppa(lpa, ppa);
        self.set_lpa(ppa, lpa);
    }

    /// Sets both directions for a page that had another place before.
    #[inline]
    pub(crate) fn move_to(&mut self, lpa: Lpa, ppa: Ppa) {
        debug_assert!(self.is_touched(lpa), "page {lpa} had a place");
        debug_assert!(ppa != Ppa::NONE, "page {lpa} moves to a place");
        self.l2p.set(lpa.get(), ppa.get().wrapping_add(1));
        self.set_lpa(ppa, lpa);
    }

    /// Entries of `count` physical pages in a row, in the format of [`PageTables::set_lpa`]: plus
    /// one, 0 for nothing.
    pub fn held_entries_mut(&mut self, ppa: Ppa, count: u32) -> &mut [[u8; 4]] {
        self.p2l.row_mut(ppa.get(), count)
    }

    /// Entries of `count` logical pages in a row, in the format of [`PageTables::set_ppa`].
    pub fn place_entries_mut(&mut self, lpa: Lpa, count: u32) -> &mut [[u8; 4]] {
        (lpa.get() / REGION..(lpa.get() + count).div_ceil(REGION))
            .for_each(|region| self.touch(Lpa::new(region * REGION)));
        self.l2p.row_mut(lpa.get(), count)
    }

    /// Entries of some logical pages in a row, and of some physical pages in a row, as above: the
    /// first of each, and their number.
    pub fn both_entries_mut(
        &mut self,
        (lpa, logical): (Lpa, u32),
        (ppa, physical): (Ppa, u32),
    ) -> (&mut [[u8; 4]], &mut [[u8; 4]]) {
        self.place_entries_mut(lpa, logical);
        (self.l2p.row_mut(lpa.get(), logical), self.p2l.row_mut(ppa.get(), physical))
    }

    /// Sectors of a mapped logical page that hold data.
    #[inline]
    pub fn mask(&self, lpa: Lpa) -> u64 {
        if self.partial.get(lpa.get() / WORD) >> (lpa.get() % WORD) & 1 == 0 {
            return self.full_mask;
        }
        self.masks.get(lpa)
    }

    /// Sets the sectors of a logical page that hold data.
    pub fn set_mask(&mut self, lpa: Lpa, mask: u64) {
        let (at, bit) = (lpa.get() / WORD, 1 << (lpa.get() % WORD));
        let word = self.partial.get(at);
        let was_partial = word & bit != 0;
        if mask == self.full_mask {
            if was_partial {
                self.partial.set(at, word & !bit);
                self.masks.remove();
            }
        } else if was_partial {
            self.masks.set(lpa, mask);
        } else {
            self.partial.set(at, word | bit);
            self.masks.insert(lpa, mask);
        }
    }

    /// Number of logical pages.
    pub fn logical_pages(&self) -> u32 {
        self.l2p.len() as u32
    }

    /// Memory of the per-page tables. Unit: bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.l2p.bytes() + self.p2l.bytes() + self.partial.bytes()) as u64
    }

    /// Memory of the side table of partial pages, if all pages were partial; 0 if none ever was.
    /// Unit: bytes.
    pub(crate) fn side_table_bytes(&self) -> u64 {
        self.masks.bytes()
    }

    /// Removes the place of a logical page.
    pub(crate) fn forget(&mut self, lpa: Lpa) {
        self.set_mask(lpa, self.full_mask);
        self.set_ppa(lpa, Ppa::NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse(pages: u64) -> TableSize {
        TableSize { pages, purpose: Use::Sparse }
    }

    fn filled(pages: u64) -> TableSize {
        TableSize { pages, purpose: Use::Filled }
    }

    #[test]
    fn masks_come_and_go() {
        let mut pages = PageTables::new(sparse(100), sparse(200), 16, 16);
        assert_eq!(pages.ppa(Lpa::new(3)), Ppa::NONE);
        pages.place(Lpa::new(3), Ppa::new(7));
        assert_eq!((pages.ppa(Lpa::new(3)), pages.lpa(Ppa::new(7))), (Ppa::new(7), Lpa::new(3)));
        assert_eq!(pages.mask(Lpa::new(3)), 0xFFFF);
        pages.set_mask(Lpa::new(3), 0b11);
        pages.set_mask(Lpa::new(64), 0b1);
        assert_eq!(
            (pages.mask(Lpa::new(3)), pages.mask(Lpa::new(64)), pages.mask(Lpa::new(4))),
            (0b11, 0b1, 0xFFFF)
        );
        pages.set_mask(Lpa::new(3), 0xFFFF);
        assert_eq!(pages.mask(Lpa::new(3)), 0xFFFF);
        pages.set_mask(Lpa::new(5), 0b101);
        assert!(pages.any_partial());
        pages.forget(Lpa::new(5));
        assert_eq!(pages.ppa(Lpa::new(5)), Ppa::NONE);
        pages.set_mask(Lpa::new(64), 0xFFFF);
        assert!(!pages.any_partial());
    }

    #[test]
    fn a_page_costs_at_most_eight_and_a_half_bytes() {
        let pages = PageTables::new(filled(930_000), filled(1_000_000), 16, 16);
        assert!(pages.bytes() as f64 / 1e6 <= 8.5);
    }
}
