//! Blocks as plain numbers, for states of drives that are kept on disk.

use std::cmp::Reverse;

use flashlane_units::{BlockId, FlowId};

use super::pool::Pool;
use super::{Block, BlockState, Blocks, Plane, Stream};

const STATES: [BlockState; 4] =
    [BlockState::Free, BlockState::Open, BlockState::Full, BlockState::Collected];

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
        self.numbers().for_each(|block| self.settle(block));
        self.count_valid();
        Some(())
    }
}

fn block_numbers(block: &Block) -> [u32; 7] {
    let &Block { valid, allocated, issued, programmed, reads, .. } = block;
    let &Block { flow, erases, filled, state, stream, .. } = block;
    assert_eq!(reads, 0, "no read is under way");
    let kind = (state as u32) | (stream.number() as u32) << 8;
    let flow = u32::from(flow.get()) | kind << 16;
    [valid, allocated, issued, programmed, flow, erases, filled]
}

fn take_block(from: &mut dyn Iterator<Item = u32>) -> Option<Block> {
    let (valid, allocated) = (from.next()?, from.next()?);
    let (issued, programmed) = (from.next()?, from.next()?);
    let flow = from.next()?;
    let kind = flow >> 16;
    Some(Block {
        valid,
        allocated,
        issued,
        programmed,
        reads: 0,
        flow: FlowId::new(flow as u16),
        erases: from.next()?,
        filled: from.next()?,
        state: *STATES.get((kind & 0xFF) as usize)?,
        stream: Stream::numbered((kind >> 8) as usize)?,
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
        slc,
        // Nothing was collected, as on a new drive.
        turns: _,
        // All static blocks are empty, as on a new drive.
        static_free: _,
        filled,
        erases_max,
        erases_min,
    } = plane;
    let busy = *gc_wanted || *urgent || *unparking || !parked.is_empty();
    assert!(!busy && (*jobs, *programs, *slc) == (0, 0, 0), "nothing is under way");
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
