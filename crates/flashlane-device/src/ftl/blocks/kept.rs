//! Blocks as plain numbers, for states of drives that are kept on disk.

use std::cmp::Reverse;

use flashlane_units::{BlockId, FlowId};

use super::pool::Pool;
use super::{Block, BlockState, Blocks, Plane, Stream};

const STATES: [BlockState; 4] =
    [BlockState::Free, BlockState::Open, BlockState::Full, BlockState::Collected];
const STREAMS: [Stream; 5] =
    [Stream::Host, Stream::Gc, Stream::Mapping, Stream::GcMapping, Stream::Relocated];

impl Blocks {
    /// Appends what preconditioning left behind. Nothing is under way.
    pub(crate) fn put(&self, out: &mut Vec<u32>) {
        assert!(self.held.is_empty(), "limits are for runs");
        out.extend(self.blocks.iter().flat_map(block_numbers));
        for plane in &self.planes {
            put_plane(plane, out);
        }
        out.extend(self.frontiers.iter().map(|block| block.get()));
    }

    /// Restores what [`put`](Self::put) wrote for a drive with the same number of blocks. `None`
    /// for anything else.
    pub(crate) fn take(&mut self, from: &mut dyn Iterator<Item = u32>) -> Option<()> {
        for block in self.blocks.iter_mut() {
            *block = take_block(from)?;
        }
        for plane in self.planes.iter_mut() {
            take_plane(plane, from)?;
        }
        for frontier in &mut self.frontiers {
            *frontier = BlockId::new(from.next()?);
        }
        self.count_valid();
        Some(())
    }
}

fn block_numbers(block: &Block) -> [u32; 5] {
    let &Block { valid, allocated, issued, programmed, reads, .. } = block;
    let &Block { flow, erases, filled, state, stream, .. } = block;
    assert_eq!(reads, 0, "no read is under way");
    let pair = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
    let kind = (state as u16) | (stream as u16) << 8;
    [pair(valid, allocated), pair(issued, programmed), pair(flow.get(), kind), erases, filled]
}

fn take_block(from: &mut dyn Iterator<Item = u32>) -> Option<Block> {
    let mut pair = || from.next().map(|both| (both as u16, (both >> 16) as u16));
    let ((valid, allocated), (issued, programmed), (flow, kind)) = (pair()?, pair()?, pair()?);
    Some(Block {
        valid,
        allocated,
        issued,
        programmed,
        reads: 0,
        flow: FlowId::new(flow),
        erases: from.next()?,
        filled: from.next()?,
        state: *STATES.get(usize::from(kind & 0xFF))?,
        stream: *STREAMS.get(usize::from(kind >> 8))?,
    })
}

fn put_plane(plane: &Plane, out: &mut Vec<u32>) {
    let Plane {
        pool: Pool { virgin, by_wear, by_age, sequence },
        free,
        jobs,
        owed,
        gc_wanted,
        urgent,
        parked,
        unparking,
        programs,
        filled,
        erases_max,
        erases_min,
    } = plane;
    let busy = *gc_wanted || *urgent || *unparking || !parked.is_empty();
    assert!(!busy && (*jobs, *programs) == (0, 0), "nothing is under way");
    out.extend([*free, *owed, *filled, *erases_max, *erases_min, *virgin, *sequence]);
    let mut worn: Vec<_> = by_wear.iter().map(|&Reverse(entry)| entry).collect();
    worn.sort_unstable();
    out.push(worn.len() as u32);
    out.extend(worn.iter().flat_map(|&(erases, sequence, block)| [erases, sequence, block.get()]));
    out.push(by_age.len() as u32);
    out.extend(by_age.iter().map(|block| block.get()));
}

fn take_plane(plane: &mut Plane, from: &mut dyn Iterator<Item = u32>) -> Option<()> {
    let numbers = [
        &mut plane.free,
        &mut plane.owed,
        &mut plane.filled,
        &mut plane.erases_max,
        &mut plane.erases_min,
        &mut plane.pool.virgin,
        &mut plane.pool.sequence,
    ];
    for number in numbers {
        *number = from.next()?;
    }
    plane.pool.by_wear.clear();
    for _ in 0..from.next()? {
        let (erases, sequence) = (from.next()?, from.next()?);
        plane.pool.by_wear.push(Reverse((erases, sequence, BlockId::new(from.next()?))));
    }
    plane.pool.by_age.clear();
    for _ in 0..from.next()? {
        plane.pool.by_age.push_back(BlockId::new(from.next()?));
    }
    Some(())
}
