//! The waits of a block of requests for dies and channels, divided between the flow itself and the
//! others.

use flashlane_units::FlowId;

use super::weights::{Weights, share};
use flashlane_device::cause::{CAUSES, Cause};

/// Waits of the requests of one flow for dies and channels. Unit: picoseconds.
#[derive(Clone, Debug)]
pub(super) struct FlashWaits {
    /// The flows that had the resources.
    pub(super) charges: Weights,
    /// Waits of counted requests, as a part of all waits.
    pub(super) counted: u128,
    /// Time that the requests would have waited with the drive to themselves, as far as it is not
    /// charged yet.
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

    /// Charges the waits and clears them. The flow itself is charged the time that it would have
    /// waited alone. The others are charged the rest, in proportion to the time for which they had
    /// the resources. Time in which the scheduler held work back is a part of that rest. A flow
    /// that met no other flow keeps all charges. `charge` gets the cell, the time of counted
    /// requests, and the time of all requests.
    pub(super) fn settle(
        &mut self,
        flow: FlowId,
        device: FlowId,
        parts: &mut Weights,
        mut charge: impl FnMut(u32, u128, u128),
    ) {
        let (flow, device) = (u32::from(flow.get()), u32::from(device.get()));
        let (mut own, mut others, mut held) = (0, 0, 0);
        for &(cell, ps) in self.charges.list() {
            let sum = match culprit(cell) {
                of if of == flow => &mut own,
                of if of == device => &mut held,
                _ => &mut others,
            };
            *sum += ps;
        }
        let all = own + others + held;
        if others == 0 {
            self.charges.list().iter().for_each(|&(cell, ps)| parts.add(cell, ps));
        } else {
            let alone = if own == 0 { 0 } else { self.alone.min(all) };
            self.share(parts, |of| of == flow, own, |cell| cell, alone);
            let foreign = |of| of != flow && of != device;
            let rest = all - alone;
            let policy = share(rest, held, others + held);
            self.share(parts, foreign, others, |cell| cell, rest - policy);
            let policy_of = |cell| culprit(cell) * CAUSES as u32 + Cause::Policy as u32;
            self.share(parts, foreign, others, policy_of, policy);
            self.alone -= alone;
        }
        // The remainder is kept for blocks in which the flow waits longer.
        self.alone = self.alone.min(all);
        parts.list().iter().for_each(|&(cell, ps)| charge(cell, 0, ps));
        parts.share_out(self.counted, |cell, ps| charge(cell, ps, 0));
        parts.clear();
        self.charges.clear();
        self.counted = 0;
    }

    /// Divides a time among the cells of some culprits in proportion. `whole`: the sum of these
    /// cells.
    fn share(
        &self,
        parts: &mut Weights,
        of: impl Fn(u32) -> bool,
        whole: u128,
        to: impl Fn(u32) -> u32,
        time: u128,
    ) {
        let (mut before, mut given) = (0, 0);
        for &(cell, ps) in self.charges.list().iter().filter(|(cell, _)| of(culprit(*cell))) {
            before += ps;
            let until = share(time, before, whole);
            parts.add(to(cell), until - given);
            given = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: FlowId = FlowId::new(3);

    fn cell(culprit: u32, cause: Cause) -> u32 {
        culprit * CAUSES as u32 + cause as u32
    }

    /// The charges of flow 0 after the given waits, if it would have waited `alone` by itself.
    fn settled(waits: &[(u32, u128)], alone: u128) -> Vec<(u32, u128)> {
        let mut flash = FlashWaits::new(4 * CAUSES);
        waits.iter().for_each(|&(cell, ps)| flash.charges.add(cell, ps));
        (flash.alone, flash.counted) = (alone, flash.charges.total());
        let (mut parts, mut found) = (Weights::new(4 * CAUSES), Vec::new());
        flash.settle(FlowId::new(0), DEVICE, &mut parts, |cell, counted, _| {
            if counted > 0 {
                found.push((cell, counted));
            }
        });
        let sum: u128 = found.iter().map(|&(_, ps)| ps).sum();
        assert_eq!(sum, waits.iter().map(|&(_, ps)| ps).sum(), "to the picosecond");
        found
    }

    #[test]
    fn the_own_part_is_that_of_the_shadow_and_others_share_the_rest() {
        let [own, first, second] = [0, 1, 2].map(|flow| cell(flow, Cause::Read));
        let waits = [(own, 60), (first, 30), (second, 10)];
        assert_eq!(settled(&waits, 20), [(own, 20), (first, 60), (second, 20)]);
        assert_eq!(settled(&waits, 61), [(own, 61), (first, 29), (second, 10)]);
        // The flow cannot be charged more than it waited.
        assert_eq!(settled(&waits, 1000), [(own, 100)]);
    }

    #[test]
    fn what_is_held_back_is_charged_to_the_others_if_there_are_any() {
        let policy = cell(3, Cause::Policy);
        let [own, other] = [0, 1].map(|flow| cell(flow, Cause::Read));
        assert_eq!(settled(&[(own, 60), (policy, 40)], 10), [(own, 60), (policy, 40)]);
        let found = settled(&[(own, 50), (other, 20), (policy, 30)], 50);
        assert_eq!(found, [(own, 50), (other, 20), (cell(1, Cause::Policy), 30)]);
    }
}
