//! Compares the state of the cache with itself.

use flashlane_engine::Slab;
use flashlane_units::TransactionId;

use super::Cache;
use crate::transaction::{Op, Source, Transaction};

impl Cache {
    /// Checks the counters of the cache.
    pub(crate) fn audit(&self, transactions: &Slab<TransactionId, Transaction>) {
        let mut under_way = vec![0; self.pools.len()];
        let mut write_backs = Vec::new();
        for (id, tr) in transactions.iter() {
            if tr.source == Source::Cache && tr.op == Op::Program {
                let pool = tr.flow.index() % under_way.len();
                under_way[pool] += u64::from(tr.counted_sectors);
                assert!(tr.sectors() <= tr.counted_sectors, "trims only take sectors away");
                write_backs.push(id);
            }
        }
        self.write_backs.audit(&write_backs, transactions);
        for (pool, under_way) in self.pools.iter().zip(under_way) {
            pool.audit(under_way);
        }
        self.audit_slots();
    }

    /// No request may be left waiting at the end.
    pub(crate) fn audit_end(&self) {
        for pool in &self.pools {
            pool.audit_end();
        }
        assert!(self.dram.is_drained(), "no access waits for its turn");
    }
}
