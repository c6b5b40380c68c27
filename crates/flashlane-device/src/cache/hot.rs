//! Hot pages: pages that were written before in this epoch. They stay changed in the cache, and
//! other pages are written back at once.

use flashlane_engine::{DenseMap, Time};
use flashlane_units::{FlowId, Lpa};

use crate::cache::config::{CacheConfig, CacheMechanism};
use crate::compat::CompatConfig;

/// Start of the write-back of a page that the host writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// When the page leaves the cache.
    OnEviction,
    /// At once, unless the page was written before in this epoch.
    FirstOfEpoch,
    /// As in the released MQSim: an epoch ends with the first call after a second, for the calling
    /// flow only, and the very first call ends an epoch.
    FirstSinceMilestone,
    /// At once.
    Always,
}

/// The pages that were written in the epoch.
#[derive(Clone, Debug)]
pub(super) struct HotPages {
    rule: Rule,
    /// By flow.
    written: Vec<DenseMap>,
    epoch: u64,
    length: u64,
    milestone: Time,
}

impl HotPages {
    /// No page was written yet.
    pub(super) fn new(config: &CacheConfig, compat: &CompatConfig, flows: usize) -> Self {
        let rule = match (config.mechanism, config.eager_write_back) {
            (CacheMechanism::Simple, _) => Rule::Always,
            (CacheMechanism::Advanced, false) => Rule::OnEviction,
            (CacheMechanism::Advanced, true) if compat.cache_milestones => {
                Rule::FirstSinceMilestone
            }
            (CacheMechanism::Advanced, true) => Rule::FirstOfEpoch,
        };
        Self {
            rule,
            written: vec![DenseMap::default(); flows],
            epoch: 0,
            length: config.hot_epoch.0.max(1),
            milestone: Time::ZERO,
        }
    }

    /// From now on, every write is written back at once.
    pub(super) fn none_is_hot(&mut self) {
        self.rule = Rule::Always;
    }

    /// Notes a write of a page by the host. True if its write-back starts at once.
    pub(super) fn goes_at_once(&mut self, flow: FlowId, lpa: Lpa, now: Time) -> bool {
        match self.rule {
            Rule::OnEviction => return false,
            Rule::Always => return true,
            Rule::FirstOfEpoch => {
                let epoch = now.0 / self.length;
                if epoch != self.epoch {
                    self.epoch = epoch;
                    self.forget();
                }
            }
            Rule::FirstSinceMilestone => {}
        }
        self.written[flow.index()].insert(lpa.get(), 0).is_none()
    }

    /// Prefetches the record of a page.
    #[inline]
    pub(super) fn prefetch(&self, flow: FlowId, lpa: Lpa) {
        self.written[flow.index()].prefetch(lpa.get());
    }

    /// Notes that pages of a flow were accepted, or tried to be accepted.
    pub(super) fn call_over(&mut self, flow: FlowId, now: Time) {
        if self.rule == Rule::FirstSinceMilestone && now > self.milestone {
            self.written[flow.index()].clear();
            self.milestone = now + Time(self.length);
        }
    }

    /// Begins a new epoch.
    pub(super) fn forget(&mut self) {
        self.written.iter_mut().for_each(DenseMap::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(mechanism: CacheMechanism, eager: bool, milestones: bool) -> HotPages {
        let config = CacheConfig {
            mechanism,
            eager_write_back: eager,
            hot_epoch: flashlane_units::Span(100),
            ..CacheConfig::default()
        };
        let compat = CompatConfig { cache_milestones: milestones, ..CompatConfig::default() };
        HotPages::new(&config, &compat, 2)
    }

    #[test]
    fn the_first_write_of_an_epoch_goes_at_once() {
        let mut hot = pages(CacheMechanism::Advanced, true, false);
        assert!(hot.goes_at_once(FlowId::new(0), Lpa::new(5), Time(10)));
        assert!(!hot.goes_at_once(FlowId::new(0), Lpa::new(5), Time(99)));
        assert!(hot.goes_at_once(FlowId::new(0), Lpa::new(5), Time(100)), "a new epoch");
        assert!(!pages(CacheMechanism::Advanced, false, false).goes_at_once(
            FlowId::new(0),
            Lpa::new(5),
            Time(1)
        ));
        let mut simple = pages(CacheMechanism::Simple, false, false);
        assert!(
            simple.goes_at_once(FlowId::new(0), Lpa::new(5), Time(1))
                && simple.goes_at_once(FlowId::new(0), Lpa::new(5), Time(2))
        );
    }

    #[test]
    fn a_milestone_ends_the_epoch_of_one_flow() {
        let mut hot = pages(CacheMechanism::Advanced, true, true);
        assert!(hot.goes_at_once(FlowId::new(1), Lpa::new(9), Time(5)));
        assert!(hot.goes_at_once(FlowId::new(0), Lpa::new(5), Time(10)));
        hot.call_over(FlowId::new(0), Time(10));
        assert!(
            hot.goes_at_once(FlowId::new(0), Lpa::new(5), Time(11)),
            "the first call wipes its own pages"
        );
        hot.call_over(FlowId::new(0), Time(11));
        assert!(!hot.goes_at_once(FlowId::new(0), Lpa::new(5), Time(12)));
        assert!(
            !hot.goes_at_once(FlowId::new(1), Lpa::new(9), Time(12)),
            "those of the other flow stay"
        );
    }
}
