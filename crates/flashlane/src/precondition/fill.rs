//! Writes the page tables of steady state: the logical pages that the blocks hold, and the places
//! of these pages.
//!
//! Logical pages go to their blocks in random order, so only one direction can be written in
//! sequence. Planes are filled some at a time. The places of the pages of each plane are first
//! collected in a small table, which the processor's cache holds. Neighbouring logical pages lie on
//! neighbouring planes, so this table is then copied into the page table row by row.

use flashlane_engine::{Table, prefetch};
use flashlane_units::{FlowId, Lpa, PlaneId, Ppa};

use super::plan::spread;
use super::scatter::{CHUNK, Scatter};
use flashlane_device::ftl::FtlState;
use flashlane_device::ftl::pages::PageTables;
use flashlane_device::layout::Layout;

/// Most planes that are filled together: as many as a cache line has entries of the table.
const TOGETHER: u64 = 16;

/// Largest size of the small table, unless the page table is large. Unit: pages.
const PUT_DOWN: u64 = 16 << 20;

/// Largest size of the small table, as a fraction of a large page table.
const PUT_DOWN_SHARE: u64 = 32;

/// Pages of a plane after which the copy turns to the next plane, if the planes are not neighbours.
const TURN: usize = 64;

/// Some logical pages of a flow on one plane. Numbers are relative to the flow.
pub(super) enum PagesOn {
    /// `index`, `index + period`, ...: the plane is the `index`th of `period` planes.
    Stride { index: u32, period: u32, count: u32 },
    /// In rising order.
    List(Vec<u32>),
}

impl PagesOn {
    pub(super) fn len(&self) -> u32 {
        match self {
            Self::Stride { count, .. } => *count,
            Self::List(list) => list.len() as u32,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.len()).map(move |k| match self {
            Self::Stride { index, period, .. } => index + k * period,
            Self::List(list) => list[k as usize],
        })
    }
}

/// A full block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled {
    /// First page of the block.
    pub(super) first: Ppa,
    /// Valid pages.
    pub(super) valid: u32,
}

/// When the blocks of a flow were filled, among those of the plane.
#[derive(Clone, Copy)]
pub(super) enum When {
    /// Evenly over the span in which this number of blocks was filled.
    Evenly(u32),
    /// The first block with the first ones of other flows. The rest follow one after the other,
    /// behind this number of blocks of other flows.
    After(u32),
}

impl When {
    /// Blocks of the plane that were filled before the `index`th of `count` of the flow.
    fn before(self, index: u64, count: usize) -> u32 {
        match self {
            Self::Evenly(span) => (index * u64::from(span) / count as u64) as u32,
            Self::After(_) if index == 0 => 0,
            Self::After(others) => others + index as u32,
        }
    }
}

/// Takes blocks of a plane for the pages of a flow: one for each number of valid pages, in the
/// order of filling.
pub(super) fn full_blocks(
    plane: PlaneId,
    flow: FlowId,
    valid: &[u32],
    when: When,
    state: &mut FtlState,
) -> Vec<Filled> {
    let blocks = &mut state.blocks;
    let filled_before = blocks.planes[plane].filled;
    let mut all = Vec::with_capacity(valid.len());
    for (index, &valid_pages) in (0_u64..).zip(valid) {
        let block = blocks.precondition_block(plane, flow, blocks.host_stream());
        let filled = blocks.block_mut(block);
        filled.valid = valid_pages;
        filled.filled = filled_before + when.before(index, valid.len());
        all.push(Filled { first: blocks.first_page(block), valid: valid_pages });
    }
    all
}

/// The pages of a flow on a plane.
pub(super) struct Part {
    pub(super) flow: FlowId,
    /// First logical page of the flow.
    pub(super) first: Lpa,
    pub(super) pages: PagesOn,
    /// First entry of these pages in the small table.
    pub(super) at: u32,
}

impl Part {
    /// Writes blocks of the plane: `valid` pages of each hold logical pages in the given order, and
    /// the others are invalid. Valid pages are spread over their block, or at its front where the
    /// order falls. The places of the logical pages go to `places`, plus one.
    pub(super) fn fill_blocks(
        &self,
        plane: PlaneId,
        valid: &[u32],
        when: When,
        order: &Scatter,
        state: &mut FtlState,
        places: &mut Table,
    ) {
        let pages_per_block = state.blocks.pages_per_block();
        let total = self.pages.len();
        let places = places.row_mut(self.at, total);
        let mut chunk = [0; CHUNK];
        let mut offsets: Vec<u32> = Vec::with_capacity(pages_per_block as usize);
        let mut next = 0;
        for Filled { first, valid: count } in full_blocks(plane, self.flow, valid, when, state) {
            if offsets.len() != count as usize {
                offsets.clear();
                match order.is_falling() {
                    true => offsets.extend(0..count),
                    false => offsets.extend(spread(count, pages_per_block)),
                }
            }
            let row = state.pages.held_entries_mut(first, pages_per_block);
            let mut left = &offsets[..];
            while !left.is_empty() {
                let at = next as usize % CHUNK;
                if at == 0 {
                    let count = CHUNK.min((total - next) as usize);
                    order.fill(next, &mut chunk[..count]);
                    chunk[..count].iter().for_each(|&k| prefetch(places, k as usize));
                }
                let (now, rest) = left.split_at(left.len().min(CHUNK - at));
                let drawn = &chunk[at..at + now.len()];
                match &self.pages {
                    PagesOn::Stride { index, period, .. } => {
                        let one = self.first.get() + index + 1;
                        place(now, drawn, first, |k| one + k * period, places, row);
                    }
                    PagesOn::List(list) => {
                        let one = self.first.get() + 1;
                        place(now, drawn, first, |k| one + list[k as usize], places, row);
                    }
                }
                next += now.len() as u32;
                left = rest;
            }
        }
    }
}

/// Puts drawn pages at offsets of a block, in both directions. It is a separate function, so that
/// all its variables stay in registers.
#[inline(never)]
fn place(
    offsets: &[u32],
    drawn: &[u32],
    first: Ppa,
    lpa_plus_one: impl Fn(u32) -> u32,
    places: &mut [[u8; 4]],
    row: &mut [[u8; 4]],
) {
    for (&offset, &k) in offsets.iter().zip(drawn) {
        places[k as usize] = (first.get() + offset + 1).to_ne_bytes();
        row[offset as usize] = lpa_plus_one(k).to_ne_bytes();
    }
}

/// Number of planes that are filled together.
pub(super) fn planes_together(layout: &Layout) -> usize {
    let planes = u64::from(layout.geometry.planes());
    let room = PUT_DOWN.max(layout.logical_pages / PUT_DOWN_SHARE);
    (room * planes / layout.logical_pages.max(1)).clamp(1, TOGETHER) as usize
}

/// Copies the places of the pages of some planes from the small table into the page table.
pub(super) fn copy_places(parts: &mut [Part], places: &Table, pages: &mut PageTables) {
    parts.sort_by_key(|part| match part.pages {
        PagesOn::Stride { index, .. } => (part.flow, index),
        PagesOn::List(_) => (part.flow, 0),
    });
    for parts in parts.chunk_by(are_neighbours) {
        if let PagesOn::Stride { index, period, .. } = parts[0].pages {
            copy_neighbours(parts, parts[0].first.plus(index), period, places, pages);
        }
    }
    for at in (0..).step_by(TURN) {
        let mut over = true;
        for part in parts.iter() {
            if let PagesOn::List(list) = &part.pages
                && at < list.len()
            {
                over = false;
                for (page, k) in list[at..].iter().zip(at as u32..).take(TURN) {
                    pages.set_ppa(part.first.plus(*page), place_of(places.get(part.at + k)));
                }
            }
        }
        if over {
            return;
        }
    }
}

/// A place from an entry of [`Filler::places`], which is stored plus one.
fn place_of(entry: u32) -> Ppa {
    Ppa::new(entry - 1)
}

/// Copies the places of the pages of neighbouring planes. `first`: first logical page of the first
/// plane.
fn copy_neighbours(
    parts: &[Part],
    first: Lpa,
    period: u32,
    places: &Table,
    pages: &mut PageTables,
) {
    // The last planes may have one page less than the others.
    let all = parts.last().map_or(0, |part| part.pages.len());
    let rows: Vec<&[[u8; 4]]> = parts.iter().map(|part| places.row(part.at, all)).collect();
    for k in 0..all {
        let entries = pages.place_entries_mut(first.plus(k * period), rows.len() as u32);
        for (entry, row) in entries.iter_mut().zip(&rows) {
            *entry = row[k as usize];
        }
    }
    for (lpa, part) in (first.get() + all * period..).zip(parts) {
        if part.pages.len() > all {
            pages.set_ppa(Lpa::new(lpa), place_of(places.get(part.at + all)));
        }
    }
}

/// True if the pages of two planes alternate.
fn are_neighbours(one: &Part, other: &Part) -> bool {
    match (&one.pages, &other.pages) {
        (
            &PagesOn::Stride { index, period, .. },
            &PagesOn::Stride { index: next, period: same, .. },
        ) => one.flow == other.flow && next == index + 1 && same == period,
        _ => false,
    }
}
