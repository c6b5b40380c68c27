//! Classification of flows by intensity, separately for reads and writes (section 5.1).

use flashlane_engine::Time;
use flashlane_units::{DieId, FlowId};

use super::{FlinConfig, Intensities, Scope};

/// A flow that became of high intensity, for reads (0) or writes (1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rise {
    /// The unit where it did so; `None` for the whole drive.
    pub(super) unit: Option<DieId>,
    pub(super) op: usize,
    pub(super) flow: FlowId,
}

/// Counts bytes by epoch, and classifies flows at the end of each epoch. All flows begin as
/// `first_intensity` says.
#[derive(Clone, Debug)]
pub(super) struct Intensity {
    epoch: u64,
    /// End of the current epoch. Unit: picoseconds.
    end: u64,
    /// Bytes of an epoch below which a flow is low: reads, writes.
    thresholds: [f64; 2],
    /// Bytes in this epoch, by place, operation and flow. There is one place in scope `device`.
    bytes: Vec<u64>,
    high: Vec<bool>,
    per_unit: bool,
    flows: usize,
}

impl Intensity {
    pub(super) fn new(config: &FlinConfig, units: u32, flows: usize) -> Self {
        let per_unit = config.intensity_scope != Scope::Device;
        let places = if per_unit { units as usize } else { 1 };
        let shares = if config.intensity_scope == Scope::Unit { f64::from(units) } else { 1.0 };
        let epoch_s = config.epoch.0 as f64 / 1e12;
        let threshold = |rate: u64| rate as f64 * epoch_s / shares;
        Self {
            epoch: config.epoch.0,
            end: config.epoch.0,
            thresholds: [threshold(config.read_intensity.0), threshold(config.write_intensity.0)],
            bytes: vec![0; places * 2 * flows],
            high: vec![config.first_intensity == Intensities::High; places * 2 * flows],
            per_unit,
            flows,
        }
    }

    fn at(&self, unit: u32, op: usize, flow: FlowId) -> usize {
        let place = if self.per_unit { unit as usize } else { 0 };
        debug_assert!(op < 2 && flow.index() < self.flows, "reads or writes of a flow of the run");
        (place * 2 + op) * self.flows + flow.index()
    }

    /// Ends the epochs that are over at `now`. Returns the flows that became of high intensity.
    pub(super) fn roll(&mut self, now: Time) -> Vec<Rise> {
        let mut rises = Vec::new();
        if now.0 < self.end {
            return rises;
        }
        for at in 0..self.bytes.len() {
            let (unit, op) = (at / self.flows / 2, at / self.flows % 2);
            // An epoch without a transaction leaves a flow low.
            let high = now.0 < self.end.saturating_add(self.epoch)
                && self.bytes[at] as f64 >= self.thresholds[op];
            if high && !self.high[at] {
                let unit = self.per_unit.then(|| DieId::at(unit));
                rises.push(Rise { unit, op, flow: FlowId::at(at % self.flows) });
            }
            self.high[at] = high;
            self.bytes[at] = 0;
        }
        self.end = (now.0 - now.0 % self.epoch).saturating_add(self.epoch);
        assert!(now.0 < self.end || self.end == u64::MAX, "the epoch of {now:?} is not over");
        rises
    }

    /// Counts a transaction of a page that arrives.
    pub(super) fn count(&mut self, unit: u32, op: usize, flow: FlowId, page_bytes: u64) {
        let at = self.at(unit, op, flow);
        self.bytes[at] += page_bytes;
    }

    /// True if the flow is of low intensity at the unit.
    pub(super) fn is_low(&self, unit: u32, op: usize, flow: FlowId) -> bool {
        !self.high[self.at(unit, op, flow)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_classified_at_the_end_of_an_epoch() {
        // 32 MB/s over 10 ms: 320 kB, 39.06 pages of 8 KiB.
        let config = FlinConfig { intensity_scope: Scope::Device, ..FlinConfig::default() };
        let mut intensity = Intensity::new(&config, 4, 2);
        for (flow, pages) in [(0, 39), (1, 40)] {
            (0..pages).for_each(|n| intensity.count(n % 4, 0, FlowId::new(flow), 8192));
        }
        assert!(intensity.is_low(0, 0, FlowId::new(1)), "low until the epoch ends");
        assert_eq!(intensity.roll(Time::from_us(9_999)), []);
        assert_eq!(
            intensity.roll(Time::from_ms(10)),
            [Rise { unit: None, op: 0, flow: FlowId::new(1) }]
        );
        assert!(intensity.is_low(2, 0, FlowId::new(0)) && !intensity.is_low(3, 0, FlowId::new(1)));
        assert!(intensity.is_low(0, 1, FlowId::new(1)), "writes have a class of their own");
        // 256 kB/s over 10 ms: 2.56 kB, less than a page.
        intensity.count(0, 1, FlowId::new(0), 8192);
        intensity.roll(Time::from_ms(20));
        assert!(!intensity.is_low(0, 1, FlowId::new(0)), "any write makes a flow write-intensive");
        assert!(intensity.is_low(0, 0, FlowId::new(1)), "and a silent epoch makes it low again");
    }

    #[test]
    fn flows_may_begin_as_high() {
        let config = FlinConfig { first_intensity: Intensities::High, ..FlinConfig::default() };
        let mut intensity = Intensity::new(&config, 1, 1);
        assert!(!intensity.is_low(0, 0, FlowId::new(0)));
        assert_eq!(intensity.roll(Time::from_ms(10)), [], "none rises");
        assert!(intensity.is_low(0, 0, FlowId::new(0)), "the epoch had no transaction");
    }

    #[test]
    fn a_pause_of_several_epochs_makes_low() {
        let mut intensity = Intensity::new(&FlinConfig::default(), 1, 1);
        (0..100).for_each(|_| intensity.count(0, 0, FlowId::new(0), 8192));
        assert_eq!(intensity.roll(Time::from_ms(35)), []);
        assert!(intensity.is_low(0, 0, FlowId::new(0)));
    }

    #[test]
    fn in_scope_unit_each_unit_counts_for_itself() {
        let config = FlinConfig { intensity_scope: Scope::Unit, ..FlinConfig::default() };
        let mut intensity = Intensity::new(&config, 4, 1);
        // A quarter of 39.06 pages.
        (0..10).for_each(|_| intensity.count(1, 0, FlowId::new(0), 8192));
        (0..9).for_each(|_| intensity.count(2, 0, FlowId::new(0), 8192));
        intensity.roll(Time::from_ms(10));
        assert!(!intensity.is_low(1, 0, FlowId::new(0)) && intensity.is_low(2, 0, FlowId::new(0)));
    }

    #[test]
    fn in_scope_each_unit_the_threshold_is_not_divided() {
        let config = FlinConfig { intensity_scope: Scope::EachUnit, ..FlinConfig::default() };
        let mut intensity = Intensity::new(&config, 4, 1);
        (0..40).for_each(|_| intensity.count(1, 0, FlowId::new(0), 8192));
        (0..39).for_each(|_| intensity.count(2, 0, FlowId::new(0), 8192));
        intensity.roll(Time::from_ms(10));
        assert!(!intensity.is_low(1, 0, FlowId::new(0)) && intensity.is_low(2, 0, FlowId::new(0)));
    }
}
