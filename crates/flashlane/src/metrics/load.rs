//! Whether the drive keeps up with the load: requests outstanding at the start, in the middle and
//! at the end of the window.
//!
//! When the middle comes is known only at the end, so outstanding requests are counted at equal
//! distances in time. The distance doubles whenever there are too many counts: the middle is known
//! within a sixty-fourth of the window.

use flashlane_engine::Time;

/// The first distance between two counts.
const FIRST_INTERVAL: Time = Time::from_us(16);
/// Counts at most; half of them are dropped then.
const COUNTS_MAX: usize = 64;
/// A flow is saturated if this share of its arrivals piles up.
const SHARE: f64 = 0.05;

/// Requests of a flow at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Level {
    /// Arrived since the start of the run.
    pub(crate) arrived: u64,
    /// Of them, not complete.
    pub(crate) outstanding: u64,
}

/// Follows the outstanding requests of all flows.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    interval: Time,
    times: Vec<Time>,
    /// One after the other the flows of each count.
    levels: Vec<Level>,
    flows: usize,
}

impl Load {
    pub(crate) fn new(flows: usize) -> Self {
        Self { interval: FIRST_INTERVAL, times: Vec::new(), levels: Vec::new(), flows }
    }

    /// Keeps a count; returns when the next one is due.
    pub(crate) fn count(&mut self, at: Time, flows: &[Level]) -> Time {
        self.times.push(at);
        self.levels.extend_from_slice(flows);
        assert_eq!(self.levels.len(), self.times.len() * self.flows, "a level for each flow");
        if self.times.len() > COUNTS_MAX {
            let flows = self.flows;
            let kept = (0..self.times.len()).step_by(2);
            self.levels = kept
                .clone()
                .flat_map(|row| &self.levels[row * flows..][..flows])
                .copied()
                .collect();
            self.times = kept.map(|row| self.times[row]).collect();
            self.interval = Time(self.interval.0.saturating_mul(2));
        }
        let first = self.times[0];
        let steps = (at - first).0 / self.interval.0 + 1;
        Time(first.0.saturating_add(steps.saturating_mul(self.interval.0)))
    }

    /// The levels at the last count up to `at`, or at the first one.
    fn at(&self, at: Time) -> &[Level] {
        let index = self.times.partition_point(|&time| time <= at).saturating_sub(1);
        &self.levels[index * self.flows..][..self.flows]
    }

    /// The flows, of those that are open loops, that the drive does not keep up with between `from`
    /// and `to`, with the levels at `to`: the outstanding requests have grown by more than 5 % of
    /// the arrivals, over the second half, too.
    pub(crate) fn saturated(
        &self,
        (from, to): (Time, Time),
        end: &[Level],
        open_loops: &[bool],
    ) -> Vec<bool> {
        if self.times.is_empty() {
            return vec![false; self.flows];
        }
        let middle = Time(from.0 + (to.0 - from.0) / 2);
        let grown = |before: &Level, after: &Level, least: f64| {
            let more = after.outstanding as f64 - before.outstanding as f64;
            more > (SHARE * (after.arrived - before.arrived) as f64).max(least)
        };
        let flows = self.at(from).iter().zip(self.at(middle)).zip(end).zip(open_loops);
        // The request that arrives last is always outstanding.
        flows
            .map(|(((start, middle), end), &open)| {
                open && grown(start, end, 1.0) && grown(middle, end, 0.0)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One flow with an arrival each microsecond, and this many outstanding after each; open loop.
    fn saturated(outstanding: impl Fn(u64) -> u64) -> bool {
        let mut load = Load::new(1);
        let (end, mut due) = (10_000, Time::ZERO);
        let level = |us| Level { arrived: us, outstanding: outstanding(us) };
        while due < Time::from_us(end) {
            due = load.count(due, &[level(due.0 / 1_000_000)]);
        }
        assert!(load.times.len() <= COUNTS_MAX);
        load.saturated((Time::ZERO, Time::from_us(end)), &[level(end)], &[true])[0]
    }

    #[test]
    fn a_backlog_that_grows_is_saturation() {
        assert!(saturated(|us| us / 10));
        assert!(!saturated(|us| us / 25), "4 % of the arrivals");
        assert!(!saturated(|us| us.min(1_000)), "10 % of the arrivals, of which none come late");
        assert!(saturated(|us| us.saturating_sub(4_000)), "late, and steep");
        assert!(!saturated(|us| if us < 5_000 { us / 2 } else { 5_000 - us / 2 }), "worked off");
    }

    #[test]
    fn closed_loops_and_short_loads_are_not_saturated() {
        let mut load = Load::new(1);
        load.count(Time::ZERO, &[Level::default()]);
        let span = (Time::ZERO, Time::from_us(10));
        let full = [Level { arrived: 100, outstanding: 90 }];
        assert_eq!(load.saturated(span, &full, &[true]), [true]);
        assert_eq!(load.saturated(span, &full, &[false]), [false]);
        let last = [Level { arrived: 10, outstanding: 1 }];
        assert_eq!(load.saturated(span, &last, &[true]), [false], "the one that arrived last");
    }
}
