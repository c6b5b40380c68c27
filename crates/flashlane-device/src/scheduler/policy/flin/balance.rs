//! Stage 3: proportional waits, and the share of collection that goes with a write (section 5.4).

use flashlane_units::{DieId, FlowId};

use super::{FlinConfig, History};

/// Eq. 6 and 7: the wait of a transaction if `other` were done first, over its own cost.
pub(super) fn proportional_wait(waited: u64, other: u64, cost: u64) -> f64 {
    (waited + other) as f64 / cost.max(1) as f64
}

/// Collection that goes before a write (GCMigrationCount of Algorithm 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    pub(super) migrations: u32,
    /// Erases of blocks that are empty or will be.
    pub(super) erases: u32,
    /// Commands that write pages of collection on other dies.
    pub(super) relocations: u32,
}

/// Eq. 10: apportions pending migrations to the flows that write.
#[derive(Clone, Debug)]
pub(super) struct GcShares {
    /// Pages written since the last erase, by flow; with a history by unit: by unit and flow.
    writes: Vec<u64>,
    /// Fractions of migrations that were not charged yet, by flow. Choice: the paper's product is
    /// usually below one; rounding it down every time would starve collection.
    credit: Vec<f64>,
    history: History,
    flows: usize,
}

impl GcShares {
    pub(super) fn new(config: &FlinConfig, units: u32, flows: usize) -> Self {
        let histories = if config.gc_history == History::Unit { units as usize } else { 1 };
        Self {
            writes: vec![0; histories * flows],
            credit: vec![0.0; flows],
            history: config.gc_history,
            flows,
        }
    }

    /// The write counts that apply to a unit.
    fn writes_of(&mut self, die: DieId) -> &mut [u64] {
        let at = if self.history == History::Unit { die.index() * self.flows } else { 0 };
        debug_assert!(at + self.flows <= self.writes.len(), "die {die} has a history");
        &mut self.writes[at..at + self.flows]
    }

    /// Counts a page of the flow that is on its way to flash.
    pub(super) fn wrote(&mut self, die: DieId, flow: FlowId) {
        self.writes_of(die)[flow.index()] += 1;
    }

    /// Starts the history of writes anew after an erase.
    pub(super) fn erased(&mut self, die: DieId) {
        if self.history != History::Run {
            self.writes_of(die).fill(0);
        }
    }

    /// Migrations that go before a write of the flow, out of `pending`. The write itself counts.
    pub(super) fn migrations(&mut self, die: DieId, flow: FlowId, pending: u32, valid: f64) -> u32 {
        debug_assert!(valid >= 0.0, "a share is not negative");
        let at = flow.index();
        let writes = self.writes_of(die);
        let writes = (writes[at] + 1) as f64 / (writes.iter().sum::<u64>() + 1) as f64;
        self.credit[at] += writes * valid * f64::from(pending);
        let count = (self.credit[at] as u32).min(pending);
        assert!(self.credit[at].is_finite(), "what flow {flow} owes of collection is a number");
        self.credit[at] -= f64::from(count);
        count
    }

    /// Charges migrations that went with a write beyond its flow's share, so that later writes take
    /// fewer.
    pub(super) fn moved_ahead(&mut self, flow: FlowId, count: u32) {
        self.credit[flow.index()] -= f64::from(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_proportional_to_cost() {
        // A read of 100 that waited 50, with a write of 1000 first, against the write that
        // waited 500.
        assert_eq!(proportional_wait(50, 1000, 100), 10.5);
        assert_eq!(proportional_wait(500, 100, 1000), 0.6);
    }

    #[test]
    fn migrations_follow_writes_and_valid_pages() {
        let mut shares = GcShares::new(&FlinConfig::default(), 2, 2);
        let (here, there) = (DieId::new(0), DieId::new(1));
        (0..7).for_each(|_| shares.wrote(here, FlowId::new(0)));
        (0..4).for_each(|_| shares.wrote(there, FlowId::new(1)));
        // Eq. 10: 8/12 of the writes, 9/12 of the pages, 8 pending: 4.
        assert_eq!(shares.migrations(here, FlowId::new(0), 8, 0.75), 4);
        // 5/12 * 3/12 * 8 = 0.83: the fraction is kept, and makes one migration the next time.
        assert_eq!(shares.migrations(here, FlowId::new(1), 8, 0.25), 0);
        assert_eq!(shares.migrations(here, FlowId::new(1), 8, 0.25), 1);
        shares.erased(there);
        assert_eq!(shares.migrations(here, FlowId::new(0), 4, 0.75), 3, "alone: 9/12 of 4");
    }

    #[test]
    fn an_erase_ends_the_history_of_the_drive_of_its_unit_or_none() {
        // One write of the other flow: the next write of this flow is half of the history, or all
        // of it.
        for (history, after_other, after_own) in
            [(History::Device, 8, 8), (History::Unit, 4, 8), (History::Run, 4, 4)]
        {
            let config = FlinConfig { gc_history: history, ..FlinConfig::default() };
            let mut shares = GcShares::new(&config, 2, 2);
            let (here, there) = (DieId::new(0), DieId::new(1));
            shares.wrote(here, FlowId::new(1));
            shares.erased(there);
            assert_eq!(shares.migrations(here, FlowId::new(0), 8, 1.0), after_other, "{history:?}");
            shares.erased(here);
            assert_eq!(shares.migrations(here, FlowId::new(0), 8, 1.0), after_own, "{history:?}");
        }
    }
}
