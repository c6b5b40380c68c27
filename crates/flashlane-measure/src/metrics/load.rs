//! Whether the drive keeps up with the load: requests outstanding at the start, in the middle and
//! at the end of the window.
//!
//! The middle of the window is known only at the end, so outstanding requests are counted at equal
//! distances in time. The distance doubles whenever there are too many counts. The middle is thus
//! known within a sixty-fourth of the window.

use std::ops::Range;

use flashlane_engine::Time;

use super::window::TimeRange;
use flashlane_device::device::reading::Level;

/// The first distance between two counts.
const FIRST_INTERVAL: Time = Time::from_us(16);
/// Most counts; beyond that, half of them are dropped.
const COUNTS_MAX: usize = 64;
/// A flow is saturated if this share of its arrivals piles up.
const SHARE: f64 = 0.05;

/// Least rise of a backlog that counts as rising. Unit: requests.
const RISE_MIN: f64 = 16.0;
/// Least part of the rise since the first quarter that must come after the second quarter, so that
/// the backlog counts as still rising. For an even rise it would be 0.6.
const GOES_ON: f64 = 1.0 / 3.0;
/// Least number of counts in a quarter of the window.
const QUARTER_MIN: usize = 4;

/// A flow can starve only after this much of the window without a completion. It is longer than any
/// single command of a flash.
const STARVED_SPAN_MIN: Time = Time::from_ms(20);
/// Requests of other flows that must complete in that time.
const STARVED_OTHERS_MIN: u64 = 1_000;
/// Requests of other flows that must complete in that time, as a multiple of those that were
/// outstanding. The drive has then served many that came later.
const STARVED_OTHERS_TIMES: u64 = 10;

/// Follows the outstanding requests of all flows.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    interval: Time,
    times: Vec<Time>,
    /// For each count, the levels of all flows in order.
    levels: Vec<Level>,
    flows: usize,
}

impl Load {
    pub(crate) fn new(flows: usize) -> Self {
        Self { interval: FIRST_INTERVAL, times: Vec::new(), levels: Vec::new(), flows }
    }

    /// Adds a count. Returns the time of the next one.
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

    /// The last count up to `at`, or the first one.
    fn index(&self, at: Time) -> usize {
        self.times.partition_point(|&time| time <= at).saturating_sub(1)
    }

    /// The levels at the last count up to `at`, or at the first one.
    fn at(&self, at: Time) -> &[Level] {
        &self.levels[self.index(at) * self.flows..][..self.flows]
    }

    /// The flows that starve between `from` and `to`. `end`: the levels at `to`. Over the second
    /// half, requests of such a flow are outstanding all the time and none completes, while
    /// requests of other flows that came later complete.
    pub(crate) fn starved(&self, range: TimeRange, end: &[Level]) -> Vec<bool> {
        let (middle, to) = (range.middle(), range.to);
        if self.times.is_empty() || to - self.times[self.index(middle)] < STARVED_SPAN_MIN {
            return vec![false; self.flows];
        }
        let halves = || self.at(middle).iter().zip(end);
        let completed = |(middle, end): (&Level, &Level)| end.completed() - middle.completed();
        let all: u64 = halves().map(completed).sum();
        let outstanding: u64 = self.at(middle).iter().map(|level| level.outstanding).sum();
        let starves = |(middle, end): (&Level, &Level)| {
            let before = outstanding - middle.outstanding;
            let least = STARVED_OTHERS_MIN.max(STARVED_OTHERS_TIMES.saturating_mul(before));
            middle.outstanding > 0 && completed((middle, end)) == 0 && all >= least
        };
        halves().map(starves).collect()
    }

    /// The flows whose outstanding requests rise between `from` and `to` and do not come back.
    ///
    /// In the last quarter they are always above their mean in the first quarter. The difference is
    /// more than chance would give over that time, if they varied as in the first half around a
    /// constant level. At least a third of the rise comes after the second quarter.
    fn rises(&self, range: TimeRange) -> Vec<bool> {
        let TimeRange { from, to } = range;
        let quarter = Time((to.0 - from.0) / 4);
        let rows = |from: Time, to: Time| {
            let first = self.times.partition_point(|&time| time < from);
            first..self.times.partition_point(|&time| time <= to).max(first)
        };
        let (first, second) =
            (rows(from, from + quarter), rows(from + quarter, from + quarter + quarter));
        let (late, all) = (rows(to - quarter, to), rows(from, to).len());
        if first.len() < QUARTER_MIN || second.len() < QUARTER_MIN || late.len() < QUARTER_MIN {
            return vec![false; self.flows];
        }
        let rises = |flow: usize| {
            let level = |row: usize| self.levels[row * self.flows + flow].outstanding as f64;
            let mean =
                |rows: &Range<usize>| rows.clone().map(level).sum::<f64>() / rows.len() as f64;
            let stays = late.clone().map(level).fold(f64::INFINITY, f64::min);
            let half: Vec<f64> = (first.start..second.end).map(level).collect();
            let least = wander(&half, all).max(RISE_MIN);
            let rise = stays - mean(&first);
            rise > least && stays - mean(&second) > rise * GOES_ON
        };
        (0..self.flows).map(rises).collect()
    }

    /// The open loops that the drive does not keep up with between `from` and `to`. `end`: the
    /// levels at `to`. Their outstanding requests have grown by more than 5 % of the arrivals, also
    /// over the second half; or they rise and do not come back.
    pub(crate) fn saturated(
        &self,
        range: TimeRange,
        end: &[Level],
        open_loops: &[bool],
    ) -> Vec<bool> {
        if self.times.is_empty() {
            return vec![false; self.flows];
        }
        let (from, middle) = (range.from, range.middle());
        let grown = |before: &Level, after: &Level, least: f64| {
            let more = after.outstanding as f64 - before.outstanding as f64;
            more > (SHARE * (after.arrived - before.arrived) as f64).max(least)
        };
        let rises = self.rises(range);
        let flows = self.at(from).iter().zip(self.at(middle)).zip(end).zip(open_loops).zip(rises);
        // The request that arrives last is always outstanding.
        flows
            .map(|((((start, middle), end), &open), rises)| {
                open && (rises || grown(start, end, 1.0) && grown(middle, end, 0.0))
            })
            .collect()
    }
}

/// Distance from its start of a level after `steps` random steps like these, as often up as down:
/// one standard deviation. Each step is compared with the one before, so a level that rises evenly
/// does not count as one that varies.
fn wander(levels: &[f64], steps: usize) -> f64 {
    let turns = levels.windows(3).map(|three| three[2] - 2.0 * three[1] + three[0]);
    let (count, sum) =
        turns.fold((0.0, 0.0), |(count, sum), turn| (count + 1.0, sum + turn * turn));
    if count == 0.0 { 0.0 } else { libm::sqrt(sum / (2.0 * count) * steps as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two flows over 100 ms. The first completes a request each 20 us and has 8 outstanding. The
    /// other has had `outstanding` requests since `since` and completes one at `completes`. Unit:
    /// microseconds.
    fn starved(outstanding: u64, since: u64, completes: u64, end: u64) -> Vec<bool> {
        let mut load = Load::new(2);
        let levels = |us: u64| {
            let there = if us >= since { outstanding } else { 0 };
            let done = u64::from(us >= completes && there > 0);
            [
                Level { arrived: us / 20 + 8, outstanding: 8 },
                Level { arrived: there, outstanding: there - done },
            ]
        };
        let mut due = Time::ZERO;
        while due < Time::from_us(end) {
            due = load.count(due, &levels(due.0 / 1_000_000));
        }
        load.starved(TimeRange { from: Time::ZERO, to: Time::from_us(end) }, &levels(end))
    }

    #[test]
    fn a_flow_starves_if_none_of_its_requests_completes_while_others_do() {
        assert_eq!(starved(4, 10, u64::MAX, 100_000), [false, true]);
        assert_eq!(starved(4, 10, 90_000, 100_000), [false, false], "one completed");
        assert_eq!(starved(4, 10, 10_000, 100_000), [false, true], "but not since");
        assert_eq!(starved(4, 60_000, u64::MAX, 100_000), [false, false], "not for long");
        assert_eq!(starved(0, 10, u64::MAX, 100_000), [false, false], "it asks for nothing");
        assert_eq!(starved(4, 10, u64::MAX, 30_000), [false, false], "a short window");
    }

    /// An open loop with an arrival each microsecond, and this many requests outstanding after each
    /// arrival.
    fn saturated(outstanding: impl Fn(u64) -> u64) -> bool {
        let mut load = Load::new(1);
        let (end, mut due) = (10_000, Time::ZERO);
        let level = |us| Level { arrived: us, outstanding: outstanding(us) };
        while due < Time::from_us(end) {
            due = load.count(due, &[level(due.0 / 1_000_000)]);
        }
        assert!(load.times.len() <= COUNTS_MAX);
        let range = TimeRange { from: Time::ZERO, to: Time::from_us(end) };
        load.saturated(range, &[level(end)], &[true])[0]
    }

    #[test]
    fn a_backlog_that_grows_is_saturation() {
        assert!(saturated(|us| us / 10));
        assert!(saturated(|us| us / 100), "1 % of the arrivals, and it never comes back");
        assert!(!saturated(|us| us / 1_000), "ten requests");
        assert!(!saturated(|us| us / 25 * (us % 7 % 2)), "4 % of the arrivals, and it comes back");
        assert!(!saturated(|us| 40 + us * 7919 % 97), "noise");
        assert!(saturated(|us| 40 + us * 7919 % 23 + us / 25), "noise that rises");
        assert!(!saturated(|us| us.min(1_000)), "10 % of the arrivals, of which none come late");
        assert!(!saturated(|us| us.min(4_000) / 20), "nor if it takes longer to get there");
        assert!(saturated(|us| us.saturating_sub(4_000)), "late, and steep");
        let late = |us| if us < 5_000 { 4 + us * 7919 % 7 } else { 150 + us * 7919 % 400 };
        assert!(saturated(late), "collection sets in: it varies more than it rises, but stays");
        assert!(!saturated(|us| if us < 5_000 { us / 2 } else { 5_000 - us / 2 }), "worked off");
    }

    #[test]
    fn what_varies_at_random_wanders_with_the_root_of_time() {
        assert_eq!(wander(&[], 9), 0.0);
        assert_eq!(wander(&[0.0, 3.0, 6.0, 9.0], 9), 0.0, "it rises evenly");
        // Steps of one up or down by the low bit of a product.
        let mut level = 0.0;
        let walk = (0..4_096_u64).map(|at| {
            level += if (at * at * 7_919 / 31) % 2 == 0 { 1.0 } else { -1.0 };
            level
        });
        let found = wander(&walk.collect::<Vec<f64>>(), 4_096);
        assert!((48.0..80.0).contains(&found), "64 is right: {found}");
    }

    #[test]
    fn closed_loops_and_short_loads_are_not_saturated() {
        let mut load = Load::new(1);
        load.count(Time::ZERO, &[Level::default()]);
        let span = TimeRange { from: Time::ZERO, to: Time::from_us(10) };
        let full = [Level { arrived: 100, outstanding: 90 }];
        assert_eq!(load.saturated(span, &full, &[true]), [true]);
        assert_eq!(load.saturated(span, &full, &[false]), [false]);
        let last = [Level { arrived: 10, outstanding: 1 }];
        assert_eq!(load.saturated(span, &last, &[true]), [false], "the one that arrived last");
    }
}
