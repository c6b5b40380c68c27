//! Waits for places that earlier work holds: slots of a queue, commands that may be in the device,
//! room in the data cache.
//!
//! It is not possible to say whose work a wait for one such place was for: the holder of each place
//! waited itself. Therefore the waits of a block of requests are divided in proportion to the work
//! and the waits of the holders in that block. Their waits are charged to the flows that they
//! waited for, and their work to the holders themselves.

use super::weights::Weights;
use flashlane_units::FlowId;

/// Waits of one flow for places. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    counted: u128,
    all: u128,
}

/// Places of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// Work and waits of the holders.
    pub(crate) held: Weights,
    /// By flow.
    waits: Vec<Waits>,
    waited: bool,
}

impl Places {
    pub(crate) fn new(flows: usize, cells: usize) -> Self {
        Self { held: Weights::new(cells), waits: vec![Waits::default(); flows], waited: false }
    }

    /// Adds a wait of a request of the flow.
    pub(crate) fn wait(&mut self, flow: FlowId, ps: u64, counted: bool) {
        if ps == 0 {
            return;
        }
        let waits = &mut self.waits[flow.index()];
        waits.all += u128::from(ps);
        waits.counted += if counted { u128::from(ps) } else { 0 };
        self.waited = true;
    }

    /// Waits of counted requests of a flow that are not charged yet.
    pub(crate) fn owed(&self, flow: usize) -> u128 {
        self.waits[flow].counted
    }

    /// Ends a block and charges its waits. `charge` gets the flow, the cell, the time of counted
    /// requests, and the time of all requests. Without holders a flow waited for itself, in the
    /// cell that `own` names.
    pub(crate) fn share_out(
        &mut self,
        own: impl Fn(FlowId) -> u32,
        mut charge: impl FnMut(FlowId, u32, u128, u128),
    ) {
        if self.waited {
            for (flow, waits) in (0..).map(FlowId::new).zip(&mut self.waits) {
                let Waits { counted, all } = std::mem::take(waits);
                if all == 0 {
                    continue;
                }
                let shared = self.held.share_out(counted, |cell, ps| charge(flow, cell, ps, 0))
                    && self.held.share_out(all, |cell, ps| charge(flow, cell, 0, ps));
                if !shared {
                    charge(flow, own(flow), counted, all);
                }
            }
            self.waited = false;
        }
        self.held.clear();
    }
}
