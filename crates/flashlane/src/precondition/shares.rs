//! Steady state of a plane with very many pages: that of large superblocks.
//!
//! The small table of [`super::fill`] would be as large as the page table. So the logical pages of
//! a flow are divided into *shares* of pages in a row, whose places the processor's cache holds.
//! The valid pages of every block are divided into as many *slices*, and each share takes one slice
//! of each block, a different one in every block. The pages of a share are in random order over all
//! its slices. So a logical page is in a random block, and at a random place of it.
//!
//! Shares touch different parts of both tables, and are written by several threads. The result does
//! not depend on their number.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::thread;

use flashlane_engine::Rng;
use flashlane_units::{FlowId, Lpa, PlaneId};

use super::fill::{Filled, When, full_blocks};
use super::scatter::{CHUNK, Scatter};
use flashlane_device::ftl::FtlState;

/// Fewest pages of a flow on a plane that are divided into shares.
pub(super) const PAGES_MIN: u32 = 1 << 22;

/// Largest size of a share. A little less than a power of four, from which [`Scatter`] draws
/// without a second try. Unit: pages.
const SHARE: u32 = (1 << 18) - (1 << 12);

/// Most threads.
const THREADS_MAX: usize = 16;

/// An entry of a page table.
type Entry = [u8; 4];

/// A block whose slices are dealt out to shares.
#[derive(Clone, Copy, Debug)]
struct Sliced {
    block: Filled,
    pages_per_block: u32,
    shares: u32,
    /// The slice of share 0; the next share has the next slice, and the first slice follows the
    /// last one.
    turn: u32,
}

impl Sliced {
    /// The slice of a share.
    fn slice_of(&self, share: u32) -> u32 {
        (self.turn + share) % self.shares
    }

    /// The valid pages before a slice.
    fn valid_before(&self, slice: u32) -> u32 {
        (u64::from(slice) * u64::from(self.block.valid) / u64::from(self.shares)) as u32
    }

    /// The valid pages of the slice of a share, counted over the block.
    fn valid_of(&self, share: u32) -> Range<u32> {
        let slice = self.slice_of(share);
        self.valid_before(slice)..self.valid_before(slice + 1)
    }

    /// The page of the block that is its `index`th valid one: they are spread evenly, as by
    /// [`super::plan::spread`]. Behind the last valid page: the end of the block.
    fn offset(&self, index: u32) -> u32 {
        let (all, valid) = (u64::from(self.pages_per_block), u64::from(self.block.valid));
        match index < self.block.valid {
            true => ((u64::from(index) + 1) * all).div_ceil(valid) as u32 - 1,
            false => self.pages_per_block,
        }
    }

    /// First page of the slice of a share, counted over the block.
    fn start_of(&self, share: u32) -> u32 {
        match self.slice_of(share) {
            0 => 0,
            slice => self.offset(self.valid_before(slice)),
        }
    }
}

/// Entries of some pages in a row of a block, which belong to some shares in a row.
struct Strip<'a> {
    of: Sliced,
    /// The shares that have not taken their slice yet.
    shares: Range<u32>,
    /// The first page, counted over the block.
    start: u32,
    entries: &'a mut [Entry],
}

impl<'a> Strip<'a> {
    /// Takes the pages of the next shares, up to `end`.
    fn take(&mut self, end: u32) -> Strip<'a> {
        let (of, begin) = (self.of, self.shares.start);
        let start = self.start;
        let whole = std::mem::take(&mut self.entries);
        let stop = match end == self.shares.end {
            true => start + whole.len() as u32,
            false => of.start_of(end),
        };
        let (entries, rest) = whole.split_at_mut((stop - start) as usize);
        (self.shares.start, self.start, self.entries) = (end, stop, rest);
        Strip { of, shares: begin..end, start, entries }
    }
}

/// Shares in a row, which one thread writes.
struct Task<'a> {
    shares: Range<u32>,
    /// For each block, its strips in the order of the shares.
    blocks: Vec<Vec<Strip<'a>>>,
    /// The places of the logical pages of these shares.
    places: &'a mut [Entry],
    /// First of these logical pages.
    first: Lpa,
}

/// The pages of a flow that all lie on one plane, in a row.
struct Shares<'a> {
    first: Lpa,
    /// Entries of their places.
    places: &'a mut [Entry],
    /// Full blocks, from the lowest page.
    blocks: Vec<Filled>,
    pages_per_block: u32,
    /// Entries of the plane's physical pages, from the first page of the first block.
    held: &'a mut [Entry],
    /// Seed of the random order.
    seed: u64,
}

/// Fills blocks of a plane with all pages of a flow that hold data, from `first` on. `valid`: valid
/// pages of each block, which was filled within a span of `span` blocks.
pub(super) fn fill_in_shares(
    (plane, flow, first): (PlaneId, FlowId, Lpa),
    valid: &[u32],
    span: u32,
    seed: u64,
    state: &mut FtlState,
) {
    let mut blocks = full_blocks(plane, flow, valid, When::Evenly(span), state);
    blocks.sort_unstable_by_key(|block| block.first);
    let pages_per_block = state.blocks.pages_per_block();
    let (Some(lowest), Some(highest)) = (blocks.first(), blocks.last()) else { return };
    let physical = highest.first.get() - lowest.first.get() + pages_per_block;
    let (places, held) =
        state.pages.both_entries_mut((first, valid.iter().sum()), (lowest.first, physical));
    let key = u64::from(plane.get()) << 16 | u64::from(flow.get());
    let seed = Rng::stream(seed, "precondition.shares", key).next_u64();
    Shares { first, places, blocks, pages_per_block, held, seed }.write();
}

impl<'a> Shares<'a> {
    /// Writes both tables.
    pub(super) fn write(self) {
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.write_on(threads.min(THREADS_MAX));
    }

    /// Writes both tables on a number of threads.
    fn write_on(self, threads: usize) {
        let seed = self.seed;
        let mut tasks = self.tasks(threads);
        let last = tasks.pop().expect("there is a share");
        thread::scope(|scope| {
            for task in tasks {
                scope.spawn(move || task.run(seed));
            }
            last.run(seed);
        });
    }

    /// Divides the shares among threads.
    fn tasks(self, threads: usize) -> Vec<Task<'a>> {
        let total = self.places.len() as u32;
        let shares = total.div_ceil(SHARE).max(1);
        let mut turns = Rng::stream(self.seed, "precondition.slices", 0);
        let sliced: Vec<Sliced> = self
            .blocks
            .iter()
            .map(|&block| Sliced {
                block,
                pages_per_block: self.pages_per_block,
                shares,
                turn: turns.below(u64::from(shares)) as u32,
            })
            .collect();
        let mut strips = strips(&sliced, self.held);
        let (mut places, mut first) = (self.places, self.first);
        let mut tasks = Vec::new();
        let threads = threads as u32;
        for thread in 0..threads {
            let part =
                |thread: u32| (u64::from(shares) * u64::from(thread) / u64::from(threads)) as u32;
            let shares = part(thread)..part(thread + 1);
            if shares.is_empty() {
                continue;
            }
            let pages: u32 = shares.clone().map(|share| pages_of(&sliced, share)).sum();
            let (own, rest) = places.split_at_mut(pages as usize);
            places = rest;
            let blocks = strips.iter_mut().map(|strips| cut(strips, shares.end)).collect();
            tasks.push(Task { shares, blocks, places: own, first });
            first = first.plus(pages);
        }
        assert!(places.is_empty(), "every page is in a share");
        tasks
    }
}

/// Logical pages of a share.
fn pages_of(sliced: &[Sliced], share: u32) -> u32 {
    sliced.iter().map(|block| block.valid_of(share).len() as u32).sum()
}

/// The strips of each block: from the slice of share 0 to the end, and what is before it.
fn strips<'a>(sliced: &[Sliced], mut held: &'a mut [Entry]) -> Vec<Vec<Strip<'a>>> {
    let mut at = sliced.first().map_or(0, |of| of.block.first.get());
    let mut all = Vec::with_capacity(sliced.len());
    for &of in sliced {
        let (_, rest) = held.split_at_mut((of.block.first.get() - at) as usize);
        let (block, rest) = rest.split_at_mut(of.pages_per_block as usize);
        (held, at) = (rest, of.block.first.get() + of.pages_per_block);
        let start = of.start_of(0);
        let (before, behind) = block.split_at_mut(start as usize);
        let turned = of.shares - of.turn;
        let mut strips = vec![Strip { of, shares: 0..turned, start, entries: behind }];
        if of.turn > 0 {
            strips.push(Strip { of, shares: turned..of.shares, start: 0, entries: before });
        }
        all.push(strips);
    }
    all
}

/// Takes what belongs to the shares up to `end` out of the strips of a block.
fn cut<'a>(strips: &mut Vec<Strip<'a>>, end: u32) -> Vec<Strip<'a>> {
    let mut own = Vec::with_capacity(2);
    while let Some(first) = strips.first_mut()
        && first.shares.start < end
    {
        if first.shares.end > end {
            own.push(first.take(end));
            break;
        }
        own.push(strips.remove(0));
    }
    own
}

impl Task<'_> {
    /// Writes the shares one after the other.
    fn run(mut self, seed: u64) {
        let (mut order, mut offsets) = (Scatter::new(), Vec::new());
        for share in self.shares.clone() {
            let parts: Vec<Strip<'_>> =
                self.blocks.iter_mut().flat_map(|strips| cut(strips, share + 1)).collect();
            let pages: u32 = parts.iter().map(|part| part.of.valid_of(share).len() as u32).sum();
            let (places, rest) = std::mem::take(&mut self.places).split_at_mut(pages as usize);
            order.draw(pages, Rng::stream(seed, "precondition.share", u64::from(share)));
            let mut next = 0;
            for part in parts {
                let valid = part.of.valid_of(share);
                offsets.clear();
                offsets.extend(valid.map(|index| part.of.offset(index)));
                part.write(&offsets, (&order, next), self.first, places);
                next += offsets.len() as u32;
            }
            (self.places, self.first) = (rest, self.first.plus(pages));
        }
    }
}

impl Strip<'_> {
    /// Writes the valid pages at some offsets of the block: those from `next` in the order of the
    /// share, whose first logical page is `first`.
    fn write(
        self,
        offsets: &[u32],
        (order, mut next): (&Scatter, u32),
        first: Lpa,
        places: &mut [Entry],
    ) {
        let mut drawn = [0; CHUNK];
        let (block, lpa_plus_one) = (self.of.block.first.get(), first.get() + 1);
        for offsets in offsets.chunks(CHUNK) {
            let drawn = &mut drawn[..offsets.len()];
            order.fill(next, drawn);
            for (&offset, &k) in offsets.iter().zip(&*drawn) {
                places[k as usize] = (block + offset + 1).to_ne_bytes();
                self.entries[(offset - self.start) as usize] = (lpa_plus_one + k).to_ne_bytes();
            }
            next += offsets.len() as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precondition::plan::spread;
    use flashlane_units::Ppa;

    /// Blocks of 300,000 pages at 10, 400,000 and so on, and both tables after the shares.
    fn written(threads: usize, valid: &[u32]) -> (Vec<Filled>, Vec<Entry>, Vec<Entry>) {
        let blocks: Vec<Filled> = (0..)
            .zip(valid)
            .map(|(index, &valid)| Filled { first: Ppa::new(10 + index * 400_000), valid })
            .collect();
        let pages: u32 = valid.iter().sum();
        let mut places = vec![[0; 4]; pages as usize];
        let mut held = vec![[0; 4]; 400_000 * valid.len()];
        let shares = Shares {
            first: Lpa::new(7),
            places: &mut places,
            blocks: blocks.clone(),
            pages_per_block: 300_000,
            held: &mut held,
            seed: 3,
        };
        shares.write_on(threads);
        (blocks, places, held)
    }

    #[test]
    fn every_page_has_a_place_that_holds_it() {
        let valid = [300_000, 123_456, 0, 299_999, 17, 200_000];
        let (blocks, places, held) = written(3, &valid);
        for (lpa, entry) in (7_u32..).zip(&places) {
            let ppa = u32::from_ne_bytes(*entry) - 1;
            assert_eq!(u32::from_ne_bytes(held[(ppa - 10) as usize]), lpa + 1);
        }
        for block in &blocks {
            let first = (block.first.get() - 10) as usize;
            let used = |&offset: &usize| held[first + offset] != [0; 4];
            let expected = spread(block.valid, 300_000).map(|offset| offset as usize);
            assert!((0..300_000).filter(used).eq(expected), "{block:?}");
        }
        assert_eq!(held.iter().filter(|entry| **entry != [0; 4]).count(), places.len());
    }

    #[test]
    fn any_number_of_threads_writes_the_same() {
        let valid = [250_000, 240_000, 260_000, 1];
        let one = written(1, &valid);
        for threads in [2, 5, 16] {
            let others = written(threads, &valid);
            assert!(one.1 == others.1 && one.2 == others.2, "{threads} threads");
        }
    }

    /// Neighbouring pages are in all blocks, and at different places of them.
    #[test]
    fn neighbours_are_anywhere() {
        let (_, places, _) = written(2, &[250_000; 16]);
        let mut seen = [[0_u32; 16]; 8];
        for entry in &places[100_000..108_192] {
            let ppa = u32::from_ne_bytes(*entry) - 11;
            seen[(ppa % 400_000 / 37_500) as usize][(ppa / 400_000) as usize] += 1;
        }
        let blocks: Vec<u32> =
            (0..16).map(|block| seen.iter().map(|part| part[block]).sum()).collect();
        assert!(blocks.iter().all(|count| (400..=630).contains(count)), "{blocks:?}");
        // A slice of each of 16 blocks falls into any eighth of its block.
        let parts = seen.iter().filter(|part| part.iter().sum::<u32>() > 0).count();
        assert!(parts >= 5, "{seen:?}");
    }
}
