//! Stage 3: proportional waits, and the share of collection that goes with a write (section 5.4).

use std::ops::Range;

use flashlane_units::{DieId, FlowId};

use super::{FlinConfig, History};
use crate::layout::Geometry;

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
    /// Pages written of late, alike.
    recent: Vec<u64>,
    /// Pages over which the counts of late reach: a block of every plane of the drive or the unit.
    /// When there are twice as many, all counts are halved.
    reach: u64,
    /// Fractions of migrations that were not charged yet, by flow. Choice: the paper's product is
    /// usually below one; rounding it down every time would starve collection.
    credit: Vec<f64>,
    history: History,
    flows: usize,
}

impl GcShares {
    pub(super) fn new(config: &FlinConfig, geometry: Geometry, flows: usize) -> Self {
        let by_unit = config.gc_history == History::Unit;
        let histories = if by_unit { geometry.dies() as usize } else { 1 };
        let planes = geometry.planes() / histories as u32;
        Self {
            writes: vec![0; histories * flows],
            recent: vec![0; histories * flows],
            reach: u64::from(planes) * u64::from(geometry.pages_per_block),
            credit: vec![0.0; flows],
            history: config.gc_history,
            flows,
        }
    }

    /// The places of the write counts that apply to a unit.
    fn places(&self, die: DieId) -> Range<usize> {
        let at = if self.history == History::Unit { die.index() * self.flows } else { 0 };
        debug_assert!(at + self.flows <= self.writes.len(), "die {die} has a history");
        at..at + self.flows
    }

    /// Counts a page of the flow that is on its way to flash.
    pub(super) fn wrote(&mut self, die: DieId, flow: FlowId) {
        let places = self.places(die);
        self.writes[places.start + flow.index()] += 1;
        let recent = &mut self.recent[places];
        recent[flow.index()] += 1;
        if recent.iter().sum::<u64>() >= 2 * self.reach {
            recent.iter_mut().for_each(|count| *count /= 2);
        }
    }

    /// Starts the history of writes anew after an erase.
    pub(super) fn erased(&mut self, die: DieId) {
        let places = self.places(die);
        if self.history != History::Run {
            self.writes[places].fill(0);
        }
    }

    /// True if a flow writes at least as much of late as the mean of the flows that write. Choice:
    /// the history of Eq. 10 is too short to tell, since it ends with each erase, and then a burst
    /// of a light flow counts as much as the flow that fills the drive. A flow that goes on to
    /// write becomes such a flow in the end. So collection always has someone to go before.
    pub(super) fn causes_collection(&self, die: DieId, flow: FlowId) -> bool {
        let recent = &self.recent[self.places(die)];
        let writers = recent.iter().filter(|count| **count > 0).count() as u64;
        recent[flow.index()] * writers >= recent.iter().sum()
    }

    /// Migrations that go before a write of the flow, out of `pending`. The write itself counts.
    pub(super) fn migrations(&mut self, die: DieId, flow: FlowId, pending: u32, valid: f64) -> u32 {
        debug_assert!(valid >= 0.0, "a share is not negative");
        let at = flow.index();
        let writes = &self.writes[self.places(die)];
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
    use crate::scheduler::bench::Bench;

    fn geometry(dies: u32) -> Geometry {
        Bench::new(dies, 1).geometry
    }

    #[test]
    fn waits_are_proportional_to_cost() {
        // A read of 100 that waited 50, with a write of 1000 first, against the write that
        // waited 500.
        assert_eq!(proportional_wait(50, 1000, 100), 10.5);
        assert_eq!(proportional_wait(500, 100, 1000), 0.6);
    }

    #[test]
    fn migrations_follow_writes_and_valid_pages() {
        let mut shares = GcShares::new(&FlinConfig::default(), geometry(2), 2);
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
    fn who_writes_most_causes_collection() {
        let mut shares = GcShares::new(&FlinConfig::default(), geometry(1), 3);
        let (die, [heavy, light, idle]) = (DieId::new(0), [0, 1, 2].map(FlowId::new));
        let causes = |shares: &GcShares| {
            [heavy, light, idle].map(|flow| shares.causes_collection(die, flow))
        };
        assert_eq!(causes(&shares), [true; 3], "nobody has written");
        (0..40).for_each(|_| shares.wrote(die, heavy));
        shares.wrote(die, light);
        assert_eq!(causes(&shares), [true, false, false]);
        shares.erased(die);
        (0..30).for_each(|_| shares.wrote(die, light));
        assert_eq!(causes(&shares), [true, false, false], "an erase forgets nothing");
        let all = 2 * shares.reach;
        (0..all).for_each(|_| shares.wrote(die, light));
        assert_eq!(causes(&shares), [false, true, false], "long ago");
        assert!(shares.recent.iter().sum::<u64>() < all);
    }

    #[test]
    fn an_erase_ends_the_history_of_the_drive_of_its_unit_or_none() {
        // One write of the other flow: the next write of this flow is half of the history, or all
        // of it.
        for (history, after_other, after_own) in
            [(History::Device, 8, 8), (History::Unit, 4, 8), (History::Run, 4, 4)]
        {
            let config = FlinConfig { gc_history: history, ..FlinConfig::default() };
            let mut shares = GcShares::new(&config, geometry(2), 2);
            let (here, there) = (DieId::new(0), DieId::new(1));
            shares.wrote(here, FlowId::new(1));
            shares.erased(there);
            assert_eq!(shares.migrations(here, FlowId::new(0), 8, 1.0), after_other, "{history:?}");
            shares.erased(here);
            assert_eq!(shares.migrations(here, FlowId::new(0), 8, 1.0), after_own, "{history:?}");
        }
    }
}
