//! Checks of the cache's state.

use flashlane_engine::Time;
use flashlane_units::RequestId;

use super::Cache;
use super::flush::Flushes;
use super::pool::Pool;
use crate::transaction::{Op, Source, Transactions};

impl Cache {
    /// Checks the counters of the cache.
    pub(crate) fn audit(&self, transactions: &Transactions, now: Time) {
        let mut under_way = vec![0; self.pools.len()];
        let mut of_flow = vec![0; self.flushes.len()];
        let mut write_backs = Vec::new();
        for (id, tr) in transactions.iter() {
            if tr.source == Source::Cache && tr.op == Op::Program {
                let pool = tr.flow.index() % under_way.len();
                under_way[pool] += u64::from(tr.counted_sectors);
                of_flow[tr.flow.index()] += 1;
                assert!(tr.sectors() <= tr.counted_sectors, "trims only take sectors away");
                write_backs.push(id);
            }
        }
        self.write_backs.audit(&write_backs, transactions);
        for (pool, under_way) in self.pools.iter().zip(under_way) {
            pool.audit(under_way);
        }
        for (flushes, under_way) in self.flushes.iter().zip(of_flow) {
            assert_eq!(flushes.under_way(), under_way, "a flush waits for what is under way");
        }
        assert!(!self.is_gated() || self.gates.len() == self.pools.len(), "a gate for each pool");
        for (pool, gate) in self.pools.iter().zip(&self.gates) {
            gate.audit(pool.in_flight(), !pool.waiting().is_empty(), now);
        }
        self.audit_slots();
    }

    /// Checks that no request is left waiting at the end. `rests`: pages may wait for others of
    /// their zone.
    pub(crate) fn audit_end(&self, rests: bool) {
        for pool in &self.pools {
            pool.audit_end(rests);
        }
        assert!(self.dram.is_drained(), "no access waits for its turn");
    }

    /// Checks what must hold when no event is left.
    pub(crate) fn audit_stuck(&self) {
        assert!(self.dram.is_drained(), "no access waits for its turn");
    }

    /// Requests that wait for room or for the end of write-backs.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = RequestId> + '_ {
        let for_room = self.pools.iter().flat_map(Pool::waiting).copied();
        for_room.chain(self.flushes.iter().flat_map(Flushes::waiting))
    }
}
