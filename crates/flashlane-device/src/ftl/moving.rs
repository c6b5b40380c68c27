//! The interface between the translation layer and an isolation policy whose sets of chips change
//! during a run, and the policy's report.

use flashlane_engine::Time;
use flashlane_units::{BlockId, FlowId, PlaneId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::Blocks;

/// Sets of chips that change during a run.
///
/// A policy is told of what happens and decides; it cannot act. Each call carries the time, and the
/// policy ends its windows in such calls: between two events of the host there is nothing to
/// decide.
pub trait MovingSets: Send + dyn_clone::DynClone {
    /// The host reads a page of the flow that lies in this block.
    fn host_read(&mut self, flow: FlowId, block: BlockId, blocks: &Blocks, now: Time) {
        let _ = (flow, block, blocks, now);
    }

    /// The host writes a page of the flow to flash.
    fn host_write(&mut self, flow: FlowId, blocks: &Blocks, now: Time) {
        let _ = (flow, blocks, now);
    }

    /// Collection moved a page of the flow. `away`: to another chip.
    fn copied(&mut self, flow: FlowId, away: bool) {
        let _ = (flow, away);
    }

    /// A block was erased.
    fn erased(&mut self, block: BlockId) {
        let _ = block;
    }

    /// Chooses the plane for a write of the flow, out of those that may hold another page
    /// ([`Blocks::within_limit`]). `old`: the plane of the page now, or `NONE`. The plane may have
    /// no free block at the moment; then the write waits for one.
    fn plane_of_write(&mut self, flow: FlowId, old: PlaneId, blocks: &Blocks) -> PlaneId;

    /// Chooses the plane for a page of the flow that collection moves out of `plane`. The result is
    /// `plane` if the page may stay there, or must stay for want of room; otherwise a plane with
    /// room at once.
    fn plane_of_copy(&mut self, flow: FlowId, plane: PlaneId, blocks: &Blocks) -> PlaneId {
        let _ = (flow, blocks);
        plane
    }

    /// Chips that the flow may write to.
    fn chips_of(&self, flow: FlowId) -> u32;

    /// True if the flow may write to the plane.
    fn may_write(&self, flow: FlowId, plane: PlaneId) -> bool;

    /// The block of the plane, counted inside the plane, to empty next; `None` where no block is
    /// worth it. Takes the place of the victim policy. Without this method: the block with the
    /// fewest valid pages.
    fn victim(&self, plane: PlaneId, blocks: &Blocks) -> Option<u32> {
        blocks.emptiest(plane)
    }

    /// Checks the policy's own state, with `--check`.
    fn audit(&self, blocks: &Blocks) {
        let _ = blocks;
    }

    /// The policy's summary of the run so far.
    fn summary(&self, blocks: &Blocks) -> IsolationSummary;
}

dyn_clone::clone_trait_object!(MovingSets);

/// Sets of chips that flows write to, over the whole run. Lists have one entry per flow, in the
/// order of the workload. Source: UPI (HotStorage) section 3.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IsolationSummary {
    /// Chips of each set at the end, numbered channel by channel.
    pub sets: Vec<Vec<u32>>,
    /// Windows that ended with an allocation step.
    pub ended_windows: u64,
    /// Chips that the allocation step moved.
    pub transfers: u64,
    /// Chips that went to a flow whose set had no room.
    pub forced_transfers: u64,
    /// Pages that collection moved to a chip of their owner.
    pub relocated_pages: Vec<u64>,
    /// Pages that the host read from chips that their owner did not write to at that moment.
    pub away_reads: Vec<u64>,
    /// Valid pages at the end on chips that their owner does not write to.
    pub away_pages: Vec<u64>,
    /// Copies that stayed on a chip that their owner does not write to, since its set had no room.
    pub stranded_copies: u64,
    /// Writes that went outside of their set, with `overflow`.
    pub overflow_pages: u64,
    /// Utility of each flow in the last window. Range: 0..=1.
    pub utilities: Vec<f64>,
    /// Running mean of the write amplification of each flow, as the equations use it.
    pub write_amplification: Vec<f64>,
    /// Windows in order; every second one, fourth one and so on of long runs.
    pub windows: Vec<IsolationWindow>,
}

/// Sets after the allocation step of a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IsolationWindow {
    /// End of the window, from the beginning of the run. Unit: seconds.
    pub end_s: f64,
    /// Chips of each set after the step.
    pub chips: Vec<u32>,
    /// The flow that alone writes to each chip after the step, counted in the order of the
    /// workload, by chip, channel by channel; null for chips that all or none write to.
    #[serde(default)]
    pub owners: Vec<Option<u32>>,
    /// Utility of each flow, by which the step decided.
    pub utilities: Vec<f64>,
}
