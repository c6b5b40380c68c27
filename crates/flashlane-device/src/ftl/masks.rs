//! Sector masks of the pages of which only some sectors hold data.

use flashlane_engine::{Frozen, Table, Use};
use flashlane_units::Lpa;

/// Size of a small page of memory. Unit: bytes.
const SMALL_PAGE: usize = 4096;

/// Sector masks of partial pages, by logical page. The tables exist from the first partial page on,
/// and use memory only where partial pages are, in small pages. When the small pages come to the
/// size of large pages, the tables move to large pages.
#[derive(Clone, Debug)]
pub(super) struct Masks {
    tables: Option<Tables>,
    /// Partial pages.
    count: u32,
    logical: u64,
    purpose: Use,
    /// From this number of partial pages on, wherever they are, most of the table is in use, and it
    /// moves to large pages of memory.
    large_from: u32,
    /// Bits of a mask in the tables; a power of two.
    width: u32,
}

/// Masks of up to 32 bits, packed into the numbers of one table. The upper halves of longer masks
/// are in a second table.
#[derive(Clone, Debug)]
struct Tables {
    low: Table,
    high: Option<Table>,
}

/// Masks that change no more, and can be copied.
#[derive(Debug)]
pub(super) struct FrozenMasks {
    tables: Option<(Frozen, Option<Frozen>)>,
    /// Everything but the tables.
    rest: Masks,
}

impl FrozenMasks {
    /// A copy that can change.
    pub(super) fn copy(&self) -> Masks {
        let copy = |(low, high): &(Frozen, Option<Frozen>)| Tables {
            low: low.copy(),
            high: high.as_ref().map(Frozen::copy),
        };
        Masks { tables: self.tables.as_ref().map(copy), ..self.rest.clone() }
    }
}

/// For states that are kept on disk.
impl Masks {
    /// The tables: none, the lower one, or both.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        let tables = self.tables.as_ref();
        tables.into_iter().flat_map(|tables| [Some(&tables.low), tables.high.as_ref()]).flatten()
    }

    pub(super) fn put(&self, out: &mut Vec<u32>) {
        out.push(self.count);
    }

    /// Restores the masks from what [`put`](Self::put) and [`tables`](Self::tables) gave. `None`
    /// for anything else.
    pub(super) fn take(
        mut self,
        tables: &mut dyn Iterator<Item = Frozen>,
        from: &mut dyn Iterator<Item = u32>,
    ) -> Option<FrozenMasks> {
        self.count = from.next()?;
        let Some(low) = tables.next() else {
            return (self.count == 0).then_some(FrozenMasks { tables: None, rest: self });
        };
        self.make();
        self.large_from = u32::MAX;
        let made = self.tables.take()?;
        let fits = |frozen: &Frozen, table: &Table| frozen.len() == table.len();
        let high = if made.high.is_some() { Some(tables.next()?) } else { None };
        let all_fit = fits(&low, &made.low)
            && high.iter().zip(&made.high).all(|(high, made)| fits(high, made));
        all_fit.then(|| FrozenMasks { tables: Some((low, high)), rest: self })
    }

    /// Does [`Table::let_go`] for its tables.
    pub(super) fn let_go(&mut self) {
        if let Some(tables) = &mut self.tables {
            tables.low.let_go();
            if let Some(high) = &mut tables.high {
                high.let_go();
            }
        }
    }
}

impl Masks {
    /// No partial pages, on a drive with `logical` logical pages.
    pub(super) fn new(logical: u64, sectors_per_page: u32, purpose: Use) -> Self {
        let width = sectors_per_page.next_power_of_two();
        Self { tables: None, count: 0, logical, purpose, large_from: u32::MAX, width }
    }

    /// Ends all changes, so that the masks can be copied.
    pub(super) fn freeze(mut self) -> FrozenMasks {
        let freeze = |tables: Tables| (tables.low.freeze(), tables.high.map(Table::freeze));
        FrozenMasks { tables: self.tables.take().map(freeze), rest: self }
    }

    /// True if some page is partial.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.count > 0
    }

    /// Memory of the tables if all pages were partial. Unit: bytes.
    pub(super) fn bytes(&self) -> u64 {
        let high = |tables: &Tables| tables.high.as_ref().map_or(0, Table::bytes);
        self.tables.as_ref().map_or(0, |tables| (tables.low.bytes() + high(tables)) as u64)
    }

    /// Position of a mask: the number in the lower table, and its lowest bit in that number.
    #[inline]
    fn place(&self, lpa: Lpa) -> (u32, u32) {
        if self.width >= u32::BITS {
            return (lpa.get(), 0);
        }
        let masks = u32::BITS / self.width;
        (lpa.get() / masks, lpa.get() % masks * self.width)
    }

    /// The bits of one mask, at the lowest position.
    #[inline]
    fn ones(&self) -> u32 {
        u32::MAX >> (u32::BITS - self.width.min(u32::BITS))
    }

    /// Prefetches the mask of a page.
    #[inline]
    pub(super) fn prefetch(&self, lpa: Lpa) {
        if self.count > 0 {
            self.prefetch_tables(lpa);
        }
    }

    #[inline(never)]
    fn prefetch_tables(&self, lpa: Lpa) {
        if let Some(tables) = &self.tables {
            tables.low.prefetch(self.place(lpa).0);
        }
    }

    /// The sectors of a partial page.
    #[inline]
    pub(super) fn get(&self, lpa: Lpa) -> u64 {
        let tables = self.tables.as_ref().expect("a partial page has a mask");
        let (at, shift) = self.place(lpa);
        let low = tables.low.get(at) >> shift & self.ones();
        let high = tables.high.as_ref().map_or(0, |high| high.get(lpa.get()));
        u64::from(high) << 32 | u64::from(low)
    }

    /// Sets the sectors of a partial page.
    #[inline]
    pub(super) fn set(&mut self, lpa: Lpa, mask: u64) {
        let ((at, shift), ones) = (self.place(lpa), self.ones());
        let tables = self.tables.as_mut().expect("a partial page has a mask");
        let others = tables.low.get(at) & !(ones << shift);
        tables.low.set(at, others | (mask as u32 & ones) << shift);
        if let Some(high) = &mut tables.high {
            high.set(lpa.get(), (mask >> 32) as u32);
        }
    }

    /// Marks a page as partial.
    #[inline]
    pub(super) fn insert(&mut self, lpa: Lpa, mask: u64) {
        if self.tables.is_none() {
            self.make();
        }
        self.count += 1;
        if self.count >= self.large_from {
            self.enlarge();
        }
        self.set(lpa, mask);
    }

    /// Notes that a partial page became whole or lost its data.
    #[inline]
    pub(super) fn remove(&mut self) {
        self.count -= 1;
    }

    #[cold]
    fn make(&mut self) {
        let grows = self.purpose == Use::Filled;
        let purpose = if grows { Use::Sparse } else { self.purpose };
        let numbers = |bits: u32| (self.logical * u64::from(bits)).div_ceil(u64::from(u32::BITS));
        let table = |bits: u32| Table::new(numbers(bits) as usize, purpose);
        let low = table(self.width.min(u32::BITS));
        if grows {
            self.large_from = low.bytes().div_ceil(SMALL_PAGE) as u32;
        }
        let high = (self.width > u32::BITS).then(|| table(u32::BITS));
        self.tables = Some(Tables { low, high });
    }

    #[cold]
    fn enlarge(&mut self) {
        self.large_from = u32::MAX;
        if let Some(tables) = &mut self.tables {
            tables.low = tables.low.moved(Use::Filled);
            tables.high = tables.high.take().map(|high| high.moved(Use::Filled));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_of_all_widths_are_kept_apart() {
        let purposes = [Use::Copied, Use::Filled, Use::Sparse];
        let widths = [1, 2, 8, 16, 24, 32, 48, 64];
        for (sectors, purpose) in widths.iter().flat_map(|&w| purposes.map(|purpose| (w, purpose)))
        {
            let full = u64::MAX >> (64 - sectors);
            let mask =
                |lpa: Lpa| u64::from(lpa.get() + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) & full;
            let mut masks = Masks::new(1000, sectors, purpose);
            assert_eq!((masks.any(), masks.bytes()), (false, 0));
            (0..1000).for_each(|lpa| masks.insert(Lpa::new(lpa), mask(Lpa::new(lpa))));
            masks.set(Lpa::new(17), 0);
            masks.set(Lpa::new(18), full);
            masks.remove();
            let expected = |lpa| match lpa {
                17 => 0,
                18 => full,
                _ => mask(Lpa::new(lpa)),
            };
            assert!(
                (0..1000).all(|lpa| masks.get(Lpa::new(lpa)) == expected(lpa)),
                "{sectors} sectors"
            );
            let bits = u64::from(sectors.next_power_of_two());
            assert!(masks.bytes() >= 1000 * bits / 8 && masks.bytes() < 1000 * bits / 8 + 8);
            let frozen = masks.freeze();
            let mut copy = frozen.copy();
            copy.set(Lpa::new(3), 1);
            assert_eq!(
                (copy.get(Lpa::new(3)), copy.get(Lpa::new(4)), copy.count),
                (1, mask(Lpa::new(4)), 999)
            );
            assert_eq!(frozen.copy().get(Lpa::new(3)), mask(Lpa::new(3)));
        }
    }
}
