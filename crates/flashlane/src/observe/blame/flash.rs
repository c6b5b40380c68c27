//! Waits for dies and channels of a block of requests, told apart into a flow's own and others'.

use flashlane_units::FlowId;

use super::weights::Weights;
use crate::cause::CAUSES;

/// What the requests of one flow waited for at dies and channels. Unit: picoseconds.
#[derive(Clone, Debug)]
pub(super) struct FlashWaits {
    /// Who had what they waited for.
    pub(super) charges: Weights,
    /// Waits of counted requests, a part of the above.
    pub(super) counted: u128,
    /// What they would have waited with the drive to themselves, as far as it is not charged yet.
    pub(super) alone: u128,
}

/// The culprit of a cell.
fn culprit(cell: u32) -> u32 {
    cell / CAUSES as u32
}

impl FlashWaits {
    /// No waits.
    pub(super) fn new(cells: usize) -> Self {
        Self { charges: Weights::new(cells), counted: 0, alone: 0 }
    }

    /// Charges the waits, and is empty again. Of what the flow waited, it is charged what it would
    /// have waited by itself; others are charged the rest, in proportion to the time for which they
    /// had what it waited for. `charge` gets cell, time of counted requests, and of all.
    pub(super) fn settle(
        &mut self,
        flow: FlowId,
        device: FlowId,
        parts: &mut Weights,
        mut charge: impl FnMut(u32, u128, u128),
    ) {
        let (flow, device) = (u32::from(flow.get()), u32::from(device.get()));
        let list = self.charges.list();
        let sum = |of: &dyn Fn(u32) -> bool| -> u128 {
            list.iter().filter(|(cell, _)| of(culprit(*cell))).map(|&(_, ps)| ps).sum()
        };
        let own = sum(&|culprit| culprit == flow);
        let others = sum(&|culprit| culprit != flow && culprit != device);
        let alone = if others == 0 || own == 0 { own } else { self.alone.min(own + others) };
        self.alone = (self.alone - alone.min(self.alone)).min(own + others);
        for (mine, from, to) in [(true, own, alone), (false, others, own + others - alone)] {
            let (mut before, mut given) = (0, 0);
            for &(cell, ps) in list {
                let culprit = culprit(cell);
                if culprit == device || (culprit == flow) != mine {
                    continue;
                }
                before += ps;
                let until = super::weights::share(to, before, from);
                parts.add(cell, until - given);
                given = until;
            }
        }
        for &(cell, ps) in list.iter().filter(|(cell, _)| culprit(*cell) == device) {
            parts.add(cell, ps);
        }
        for &(cell, ps) in parts.list() {
            charge(cell, 0, ps);
        }
        parts.share_out(self.counted, |cell, ps| charge(cell, ps, 0));
        parts.clear();
        self.charges.clear();
        self.counted = 0;
    }
}
