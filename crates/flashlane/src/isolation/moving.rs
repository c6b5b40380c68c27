//! What a policy is told and asked whose sets change during a run.

use flashlane_engine::Time;

use crate::ftl::blocks::Blocks;
use crate::metrics::summary::IsolationSummary;

/// Sets of chips that change during a run.
///
/// A policy is told of what happens and decides; it cannot act. It sees the time whenever it is told
/// something, and ends its windows then: between two events of the host there is nothing to decide.
pub(crate) trait MovingSets: Send + dyn_clone::DynClone {
    /// The host reads a page of the flow that lies in this block.
    fn host_read(&mut self, flow: u16, block: u32, blocks: &Blocks, now: Time);

    /// The host writes a page of the flow to flash.
    fn host_write(&mut self, flow: u16, blocks: &Blocks, now: Time);

    /// Collection moved a page of the flow; `away`: to another chip.
    fn copied(&mut self, flow: u16, away: bool);

    /// A block was erased.
    fn erased(&mut self, block: u32);

    /// The plane that a write of the flow goes to; `old`: the plane of its page now, or `NONE`. It may
    /// have no free block at the moment, and then makes one.
    fn plane_of_write(&mut self, flow: u16, old: u32, blocks: &Blocks) -> u32;

    /// The plane that a page of the flow moves to which collection finds on `plane`: the same if it may
    /// stay, or must for want of room, and else one with room at once.
    fn plane_of_copy(&mut self, flow: u16, plane: u32, blocks: &Blocks) -> u32;

    /// Chips that the flow may write to.
    fn chips_of(&self, flow: u16) -> u32;

    /// The flow may write to the plane.
    fn may_write(&self, flow: u16, plane: u32) -> bool;

    /// The block of the plane, counted in it, to empty next; `None` where none is worth it.
    fn victim(&self, plane: u32, blocks: &Blocks) -> Option<u32>;

    /// Checks the policy's own state, with `--check`.
    fn audit(&self, blocks: &Blocks);

    /// What the summary says of the run so far.
    fn summary(&self, blocks: &Blocks) -> IsolationSummary;
}

dyn_clone::clone_trait_object!(MovingSets);
