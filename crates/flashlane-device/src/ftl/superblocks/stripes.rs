//! The pages of superblocks on the flash: their order, their planes, and the progress of the
//! programs of each block of the flash.

use flashlane_engine::{Array, Divisor};
use flashlane_units::{BlockId, PlaneId, Ppa};

use super::Folded;
use crate::ftl::config::UnwrittenOrder;

/// Programs of one block of the flash, which leave in the order of its pages.
#[derive(Clone, Copy, Debug, Default)]
struct FlashBlock {
    /// Pages whose program was sent to the die.
    issued: u16,
    /// Pages whose program is done.
    programmed: u16,
    /// Erases in the run. The blocks of a superblock are not erased at the same moment.
    erases: u32,
}

/// The places of superblocks on the flash.
#[derive(Clone, Debug)]
pub(in crate::ftl) struct Stripes {
    /// Planes of a superblock: rows of a stripe, parity included.
    width: Divisor,
    /// Pages of a block of the flash.
    pages: Divisor,
    /// Pages, as they are mapped, of a row: of what a plane programs at once. 1 where every page is
    /// programmed by itself.
    row: u32,
    /// As many of these pages lie side by side in a page of the flash.
    units_per_page: u32,
    /// With pages that were never written a page of each die in turn: the positions of a stripe in
    /// this order, those of parity left out. Else empty.
    turns: Vec<u32>,
    /// Superblocks of a set.
    superblocks: Divisor,
    /// 1 if the plane of a position in the stripe changes from superblock to superblock, else 0.
    turn: u32,
    /// Planes of the positions of a stripe, set by set.
    planes: Vec<PlaneId>,
    /// The set of each plane. Planes that no flow writes to count as planes of the first set.
    set_of: Array<PlaneId, PlaneId>,
    /// By physical page number divided by `pages`.
    blocks: Vec<FlashBlock>,
    /// True if the last row of each stripe is its parity.
    pub(super) parity: bool,
}

impl Stripes {
    /// The stripes of an erased drive. `unwritten`: the order of the pages that were never written.
    pub(in crate::ftl) fn new(folded: &Folded, unwritten: UnwrittenOrder) -> Self {
        let geometry = folded.layout.geometry;
        assert!(
            folded.planes.len().is_multiple_of(folded.width as usize),
            "all sets have the same number of planes"
        );
        assert!(folded.pages_per_block <= u32::from(u16::MAX), "pages of a block are counted");
        let row = geometry.units_per_program();
        assert!(folded.pages_per_block.is_multiple_of(row), "a block has whole rows");
        let blocks = folded.planes.len() * geometry.blocks_per_plane as usize;
        Self {
            width: Divisor::new(folded.width),
            pages: Divisor::new(folded.pages_per_block),
            row,
            units_per_page: geometry.units_per_page,
            turns: match unwritten {
                UnwrittenOrder::Rows => Vec::new(),
                UnwrittenOrder::Dies => turns(folded),
            },
            superblocks: Divisor::new(geometry.blocks_per_plane),
            turn: u32::from(folded.parity),
            planes: folded.planes.clone(),
            set_of: folded.set_of.clone(),
            blocks: vec![FlashBlock::default(); blocks],
            parity: folded.parity,
        }
    }

    /// Pages of a superblock, parity included.
    pub(in crate::ftl) fn slots(&self) -> u32 {
        self.width.get() * self.pages.get()
    }

    /// Pages of a superblock that hold data.
    pub(in crate::ftl) fn data_pages(&self) -> u32 {
        (self.width.get() - u32::from(self.parity)) * self.pages.get()
    }

    /// Planes of a superblock.
    pub(in crate::ftl) fn width(&self) -> u32 {
        self.width.get()
    }

    /// The row of a place in the order of allocation, or in a block of the flash, and the place in
    /// this row.
    #[inline(always)]
    fn row_of(&self, place: u32) -> (u32, u32) {
        match self.row {
            1 => (place, 0),
            units => (place / units, place % units),
        }
    }

    /// The page at a place in the order of allocation. `first`: first page of the superblock.
    #[inline]
    pub(in crate::ftl) fn nth(&self, first: Ppa, slot: u32) -> Ppa {
        let (row, unit) = self.row_of(slot);
        let (stripe, position) = (self.width.divide(row), self.width.remainder(row));
        first.plus(position * self.pages.get() + stripe * self.row + unit)
    }

    /// The place of a page in the order of allocation of its superblock.
    #[inline]
    pub(in crate::ftl) fn slot(&self, ppa: Ppa) -> u32 {
        let position = self.width.remainder(self.pages.divide(ppa.get()));
        let (stripe, unit) = self.row_of(self.pages.remainder(ppa.get()));
        (stripe * self.width.get() + position) * self.row + unit
    }

    /// The first place, from `slot` on, that is not the first of a stripe begun before it.
    pub(in crate::ftl) fn whole_stripes(&self, slot: u32) -> u32 {
        slot - slot % (self.width.get() * self.row)
    }

    /// The plane of a page.
    #[inline]
    pub(in crate::ftl) fn plane(&self, ppa: Ppa) -> PlaneId {
        let block = self.pages.divide(ppa.get());
        let (superblock, position) = (self.width.divide(block), self.width.remainder(block));
        let set = self.superblocks.divide(superblock);
        let position = self.width.remainder(position + superblock * self.turn);
        self.planes[(set * self.width.get() + position) as usize]
    }

    /// The set that a plane of the flash belongs to.
    #[inline]
    pub(in crate::ftl) fn set_of(&self, plane: PlaneId) -> PlaneId {
        self.set_of[plane]
    }

    /// The planes of a set.
    pub(in crate::ftl) fn planes_of(&self, set: PlaneId) -> &[PlaneId] {
        let width = self.width.get() as usize;
        &self.planes[set.index() * width..][..width]
    }

    /// The place, in the order of allocation, of the `nth` page of data that was never written.
    pub(in crate::ftl) fn data_slot(&self, nth: u32) -> u32 {
        let data = self.width.get() - u32::from(self.parity);
        let (row, unit) = match &self.turns[..] {
            [] => self.row_of(nth),
            turns => {
                let (page, unit) = (nth / self.units_per_page, nth % self.units_per_page);
                let pages_of_row = self.row / self.units_per_page;
                let (turn, position) = (page / data, turns[(page % data) as usize]);
                let (stripe, page_of_row) = (turn / pages_of_row, turn % pages_of_row);
                (stripe * data + position, page_of_row * self.units_per_page + unit)
            }
        };
        (row / data * self.width.get() + row % data) * self.row + unit
    }

    /// The first page that holds the parity of a stripe of which this page is the last with data.
    #[inline]
    pub(in crate::ftl) fn parity_after(&self, ppa: Ppa) -> Option<Ppa> {
        let position = self.width.remainder(self.pages.divide(ppa.get()));
        let completes = self.parity && position + 2 == self.width.get();
        let (_, unit) = self.row_of(ppa.get());
        (completes && unit + 1 == self.row).then(|| ppa.plus(self.pages.get() - unit))
    }

    /// True if a place in the order of allocation is for parity.
    #[inline]
    pub(in crate::ftl) fn is_parity(&self, slot: u32) -> bool {
        self.parity && self.width.remainder(self.row_of(slot).0) + 1 == self.width.get()
    }

    fn block(&self, ppa: Ppa) -> &FlashBlock {
        &self.blocks[self.pages.divide(ppa.get()) as usize]
    }

    fn block_mut(&mut self, ppa: Ppa) -> &mut FlashBlock {
        &mut self.blocks[self.pages.divide(ppa.get()) as usize]
    }

    /// True if the page is the next of its block of the flash to be programmed.
    pub(in crate::ftl) fn is_next(&self, ppa: Ppa) -> bool {
        u32::from(self.block(ppa).issued) == self.pages.remainder(ppa.get())
    }

    /// True if the page is programmed.
    pub(in crate::ftl) fn is_programmed(&self, ppa: Ppa) -> bool {
        u32::from(self.block(ppa).programmed) > self.pages.remainder(ppa.get())
    }

    /// The program of a row is sent to its die.
    pub(in crate::ftl) fn sent(&mut self, ppa: Ppa) {
        let row = self.row as u16;
        self.block_mut(ppa).issued += row;
    }

    /// Pages are allocated and count as programmed, without any work of the flash.
    pub(in crate::ftl) fn written_at_once(&mut self, ppa: Ppa, count: u32) {
        let block = self.block_mut(ppa);
        block.issued += count as u16;
        block.programmed += count as u16;
    }

    /// Some pages of a row are programmed. Returns the number of programmed pages of its block of
    /// the flash.
    pub(in crate::ftl) fn programmed(&mut self, ppa: Ppa, count: u32) -> u32 {
        let block = self.block_mut(ppa);
        block.programmed += count as u16;
        assert!(block.programmed <= block.issued, "a page is programmed once");
        u32::from(block.programmed)
    }

    /// A block of the flash is erased. `ppa`: a page of it.
    pub(in crate::ftl) fn erased(&mut self, ppa: Ppa) {
        self.block_mut(ppa).erases += 1;
    }

    /// Begins to count erases anew.
    pub(in crate::ftl) fn forget_erases(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.erases = 0);
    }

    /// Erases of every block of the flash, plane by plane.
    pub(in crate::ftl) fn erases(&self) -> Vec<u32> {
        let of_plane = self.superblocks.get();
        let mut erases = vec![0; self.set_of.len() * of_plane as usize];
        for (number, block) in (0_u32..).zip(&self.blocks) {
            let plane = self.plane(Ppa::new(number * self.pages.get()));
            let at = self.superblocks.remainder(self.width.divide(number));
            erases[plane.index() * of_plane as usize + at as usize] = block.erases;
        }
        erases
    }

    /// The first `slots` pages of a superblock are programmed, and no other.
    pub(in crate::ftl) fn set_programmed(&mut self, superblock: BlockId, slots: u32) {
        let width = self.width.get();
        let first = superblock.get() * width;
        assert!(slots <= self.slots(), "superblock {superblock} has {} pages", self.slots());
        let (rows, units) = self.row_of(slots);
        for position in 0..width {
            // The last row may be begun.
            let begun = if position == rows % width { units } else { 0 };
            let pages = (rows + width - 1 - position) / width * self.row + begun;
            let block = &mut self.blocks[(first + position) as usize];
            (block.issued, block.programmed) = (pages as u16, pages as u16);
        }
    }

    /// Sent and finished programs of a superblock.
    pub(super) fn programs(&self, superblock: BlockId) -> (u32, u32) {
        let width = self.width.get() as usize;
        let blocks = &self.blocks[superblock.index() * width..][..width];
        blocks.iter().fold((0, 0), |(issued, programmed), block| {
            (issued + u32::from(block.issued), programmed + u32::from(block.programmed))
        })
    }

    /// True if every row of every block was sent and programmed whole.
    pub(in crate::ftl) fn goes_by_rows(&self) -> bool {
        let whole = |count: u16| u32::from(count).is_multiple_of(self.row);
        self.blocks.iter().all(|block| whole(block.issued) && whole(block.programmed))
    }

    /// Checks the blocks of the flash of a superblock against its sums.
    pub(in crate::ftl) fn audit(&self, superblock: BlockId, issued: u32, programmed: u32) {
        let found = self.programs(superblock);
        assert_eq!(
            found,
            (issued, programmed),
            "programs of the blocks of superblock {superblock} sum up"
        );
        let width = self.width.get() as usize;
        let blocks = &self.blocks[superblock.index() * width..][..width];
        assert!(
            blocks.iter().all(|block| block.programmed <= block.issued),
            "the blocks of superblock {superblock} program what was issued"
        );
        let erases = blocks.iter().map(|block| block.erases);
        let (most, fewest) = (erases.clone().max(), erases.min());
        assert!(most <= fewest.map(|fewest| fewest + 1), "superblock {superblock} is erased whole");
    }
}

/// The positions of a stripe, a die in turn: the first of each die, then the second of each.
fn turns(folded: &Folded) -> Vec<u32> {
    let data = folded.width - u32::from(folded.parity);
    let planes = &folded.planes[..data as usize];
    let mut of_die = Vec::new();
    // For each position, the number of those before it in the same die.
    let before: Vec<u32> = planes
        .iter()
        .map(|plane| {
            let die = (plane.get() / folded.planes_per_die) as usize;
            of_die.resize(of_die.len().max(die + 1), 0);
            of_die[die] += 1;
            of_die[die] - 1
        })
        .collect();
    let mut turns: Vec<u32> = (0..data).collect();
    turns.sort_by_key(|&position| before[position as usize]);
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{FlowSpace, Geometry, Layout};

    /// Two sets of four planes each: planes 0 to 3 in reverse order, and 4 to 7.
    fn stripes(parity: bool) -> Stripes {
        stripes_of_units(parity, 1)
    }

    /// The pages of a block are programmed by rows of `row` units.
    fn stripes_of_units(parity: bool, row: u32) -> Stripes {
        stripes_in(UnwrittenOrder::Rows, 1, parity, row)
    }

    /// Rows of a multiple of 3 units have three pages.
    fn stripes_in(
        unwritten: UnwrittenOrder,
        planes_per_die: u32,
        parity: bool,
        row: u32,
    ) -> Stripes {
        let geometry = Geometry {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 5,
            pages_per_block: 3 * row * (4 - u32::from(parity)),
            sectors_per_page: 8,
            units_per_page: if row.is_multiple_of(3) { row / 3 } else { row },
            pages_per_program: if row.is_multiple_of(3) { 3 } else { 1 },
            pages_per_unit: 1,
        };
        let flow = FlowSpace::empty([vec![0], vec![0], vec![0], vec![0]]);
        let folded = Folded {
            layout: Layout { geometry, flows: vec![flow], logical_pages: 120, zones: None },
            width: 4,
            pages_per_block: 3 * row,
            planes_per_die,
            planes: [3, 2, 1, 0, 4, 5, 6, 7].map(PlaneId::new).to_vec(),
            set_of: [0, 0, 0, 0, 1, 1, 1, 1].map(PlaneId::new).to_vec().into(),
            parity,
        };
        Stripes::new(&folded, unwritten)
    }

    #[test]
    fn a_stripe_visits_every_plane_once() {
        let stripes = stripes(false);
        let first = Ppa::new(7 * 12);
        let pages: Vec<Ppa> = (0..12).map(|slot| stripes.nth(first, slot)).collect();
        let planes: Vec<u32> = pages.iter().map(|&ppa| stripes.plane(ppa).get()).collect();
        assert_eq!(
            planes,
            [4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7],
            "superblock 7 is of the second set"
        );
        assert!((0..).zip(&pages).all(|(slot, &ppa)| stripes.slot(ppa) == slot));
        let mut sorted = pages.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (84..96).map(Ppa::new).collect::<Vec<_>>(), "each page comes once");
        assert_eq!(stripes.plane(stripes.nth(Ppa::new(0), 0)), PlaneId::new(3), "the given order");
        assert_eq!(stripes.parity_after(pages[3]), None);
    }

    #[test]
    fn parity_is_the_last_page_of_a_stripe_and_changes_its_plane() {
        let stripes = stripes(true);
        assert_eq!((stripes.slots(), stripes.data_pages()), (12, 9));
        let parity_of = |superblock: u32| {
            let last = stripes.nth(Ppa::new(superblock * 12), 2);
            let parity = stripes.parity_after(last).expect("the stripe is complete");
            assert_eq!(parity, stripes.nth(Ppa::new(superblock * 12), 3));
            stripes.plane(parity).get()
        };
        assert_eq!([0, 1, 2, 3].map(parity_of), [0, 3, 2, 1]);
        assert_eq!(stripes.parity_after(stripes.nth(Ppa::new(0), 1)), None);
        assert!(stripes.is_parity(3) && stripes.is_parity(11) && !stripes.is_parity(4));
        assert_eq!([0, 2, 3, 8].map(|nth| stripes.data_slot(nth)), [0, 2, 4, 10]);
    }

    #[test]
    fn units_fill_the_row_of_a_plane_before_that_of_the_next() {
        let mut stripes = stripes_of_units(true, 2);
        let pages: Vec<u32> = (0..24).map(|slot| stripes.nth(Ppa::new(0), slot).get()).collect();
        assert_eq!(pages[..10], [0, 1, 6, 7, 12, 13, 18, 19, 2, 3]);
        assert!((0..24).all(|slot| stripes.slot(Ppa::new(pages[slot as usize])) == slot));
        assert_eq!(
            [12, 13].map(|ppa| stripes.parity_after(Ppa::new(ppa))),
            [None, Some(Ppa::new(18))]
        );
        assert_eq!([5, 6, 7, 8].map(|slot| stripes.is_parity(slot)), [false, true, true, false]);
        assert_eq!([0, 5, 6, 7, 17].map(|nth| stripes.data_slot(nth)), [0, 5, 8, 9, 21]);
        assert_eq!([7, 8, 15, 16].map(|slot| stripes.whole_stripes(slot)), [0, 8, 8, 16]);
        stripes.set_programmed(BlockId::new(0), 11);
        let programmed = |slot: u32| stripes.is_programmed(Ppa::new(pages[slot as usize]));
        assert!((0..24).all(|slot| programmed(slot) == (slot < 11)), "the last row is begun");
        assert!(!stripes.goes_by_rows());
    }

    #[test]
    fn pages_that_nobody_wrote_may_lie_a_page_of_each_die_in_turn() {
        // Planes 3, 2, 1, 0, of which the last has the parity, or data as the others.
        let cases = [
            (1, false, &[3, 2, 1, 0][..]),
            (2, false, &[3, 1, 2, 0]),
            (1, true, &[3, 2, 1]),
            (2, true, &[3, 1, 2]),
        ];
        for (planes_per_die, parity, order) in cases {
            let stripes = stripes_in(UnwrittenOrder::Dies, planes_per_die, parity, 6);
            let slots: Vec<u32> =
                (0..stripes.data_pages()).map(|nth| stripes.data_slot(nth)).collect();
            let pages: Vec<Ppa> =
                slots.iter().map(|&slot| stripes.nth(Ppa::new(0), slot)).collect();
            let planes = pages.iter().map(|&page| stripes.plane(page).get());
            let turns = order.iter().flat_map(|&plane| [plane; 2]);
            assert!(
                planes.eq(turns.cycle().take(slots.len())),
                "two units of a page, then the next"
            );
            assert_eq!(pages[2 * order.len()].get(), 2, "the second page of the first word line");
            assert!(slots.iter().all(|&slot| !stripes.is_parity(slot)));
            let sorted = |mut slots: Vec<u32>| {
                slots.sort_unstable();
                slots
            };
            let rows = stripes_of_units(parity, 6);
            let usual = (0..rows.data_pages()).map(|nth| rows.data_slot(nth)).collect();
            assert_eq!(sorted(slots), sorted(usual), "the pages are the same");
        }
    }

    #[test]
    fn programs_of_each_block_of_the_flash_are_in_order() {
        let mut stripes = stripes(false);
        stripes.set_programmed(BlockId::new(1), 6);
        assert_eq!(stripes.programs(BlockId::new(1)), (6, 6));
        let page = |slot: u32| Ppa::new(12).plus(slot % 4 * 3 + slot / 4);
        assert!(stripes.is_programmed(page(5)) && !stripes.is_programmed(page(6)));
        assert!(stripes.is_next(page(6)) && stripes.is_next(page(8)) && !stripes.is_next(page(10)));
        stripes.sent(page(6));
        assert!(stripes.is_next(page(10)));
        assert_eq!(stripes.programmed(page(6), 1), 2);
        stripes.audit(BlockId::new(1), 7, 7);
    }

    #[test]
    fn erases_are_counted_plane_by_plane() {
        let mut stripes = stripes(true);
        // Superblock 7 is the third of the second set, and its stripes begin two planes further on.
        let first = Ppa::new(7 * 12);
        stripes.erased(first);
        let plane = stripes.plane(first).get() as usize;
        assert_eq!(plane, 7);
        let erases = stripes.erases();
        assert_eq!((erases.len(), erases.iter().sum::<u32>()), (8 * 5, 1));
        assert_eq!(erases[plane * 5 + 2], 1);
    }
}
