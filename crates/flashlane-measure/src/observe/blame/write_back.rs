//! Pages on their way from the data cache to flash, which hold the room that writes wait for.

use flashlane_units::{FlowId, TransactionId};

use super::account::{Account, slot};
use super::charge::cell;
use flashlane_device::cause::Cause;

impl Account {
    /// Ends a write-back of a flow. It took `life`; the part that was no wait is charged to its
    /// flow. Its room in the pool is free.
    pub(crate) fn write_back_ends(
        &mut self,
        id: TransactionId,
        flow: FlowId,
        pool: usize,
        life: u64,
    ) {
        let record = slot(&mut self.transactions, id);
        let waits = &mut self.write_backs[flow.index()];
        let waited: u64 = record.charges.iter().map(|&(_, ps)| ps).sum();
        record.charges.iter().for_each(|&(cell, ps)| waits.charges.add(cell, ps));
        let alone = record.shadow.took().saturating_sub(life - waited);
        waits.alone += u128::from(alone + record.own);
        self.rooms[pool].held.add(cell(flow, Cause::CacheRoom), life - waited);
        self.forget(id);
    }

    /// Divides the waits of write-backs as for requests, and charges the room that they held.
    pub(super) fn settle_write_backs(&mut self) {
        let Self { write_backs, rooms, logs, charges, .. } = self;
        let shared = rooms.len() == 1;
        for (flow, waits) in (0..).map(FlowId::new).zip(write_backs) {
            let held = &mut rooms[if shared { 0 } else { flow.index() }].held;
            waits.settle(flow, logs.device, charges, |cell, _, all| held.add(cell, all));
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use flashlane_device::cause::CAUSES;

    /// A write-back that worked for 100 and waited 60 for its own flow and 40 for another flow.
    /// Alone it would have taken `took_alone`.
    fn held(took_alone: u64) -> Vec<u128> {
        let mut account = Account::new(2, 1, 1, 1, 1);
        let (id, flow) = (TransactionId::new(0), FlowId::new(0));
        let own = cell(flow, Cause::Program);
        let other = cell(FlowId::new(1), Cause::Program);
        let record = slot(&mut account.transactions, id);
        record.charges = vec![(own, 60), (other, 40)];
        record.shadow.starts((0, took_alone));
        account.write_back_ends(id, flow, 0, 200);
        account.settle_write_backs();
        let held = account.rooms[0].held.list();
        let of = |flow: u32| {
            held.iter().filter(move |(cell, _)| cell / CAUSES as u32 == flow).map(|&(_, ps)| ps)
        };
        vec![of(0).sum(), of(1).sum()]
    }

    #[test]
    fn room_is_held_by_those_for_whom_write_backs_wait_longer_than_alone() {
        assert_eq!(held(100), [100, 100], "alone it would not have waited");
        assert_eq!(held(160), [160, 40]);
        assert_eq!(held(900), [200, 0]);
    }
}
