//! Daily variation of a clone: rates of reads and of writes over the hour of the day.

use flashlane_engine::Time;

use super::params::CloneParams;
use flashlane_units::Span;

/// Number of hours of a day.
const DAY_HOURS: f64 = 24.0;
/// Hour of a day of usual length. Unit: picoseconds.
const HOUR_PS: f64 = 3.6e15;
/// Times per hour at which the rates are updated.
const STEPS: f64 = 720.0;

/// Rate over its mean, by hour of the day. Straight lines connect the points, and the last point
/// leads to the first of the next day.
///
/// Invariant: the mean over a day is 1.
#[derive(Clone, Debug)]
struct Profile {
    /// Hour and rate, in order of hours. Empty: 1 all day.
    points: Vec<(f64, f64)>,
}

impl Profile {
    fn new(points: &[(f64, f64)]) -> Self {
        let mut profile = Self { points: points.to_vec() };
        let area = |a: (f64, f64), b: (f64, f64)| (a.1 + b.1) / 2.0 * (b.0 - a.0);
        let count = points.len();
        let sum: f64 = (0..count).map(|i| area(profile.point(i), profile.point(i + 1))).sum();
        for (_, rate) in &mut profile.points {
            *rate *= DAY_HOURS / sum;
        }
        profile
    }

    /// A point by its index, which may continue into the next day.
    fn point(&self, index: usize) -> (f64, f64) {
        let (days, index) = (index / self.points.len(), index % self.points.len());
        let (hour, rate) = self.points[index];
        (hour + days as f64 * DAY_HOURS, rate)
    }

    /// The rate at an hour. Range: 0..24.
    fn at(&self, hour: f64) -> f64 {
        if self.points.is_empty() {
            return 1.0;
        }
        let behind = self.points.partition_point(|point| point.0 <= hour);
        // Before the first point, the line from the last point of the previous day applies.
        let (hour, behind) = match behind {
            0 => (hour + DAY_HOURS, self.points.len()),
            _ => (hour, behind),
        };
        let (a, b) = (self.point(behind - 1), self.point(behind));
        a.1 + (b.1 - a.1) * (hour - a.0) / (b.0 - a.0)
    }
}

/// The rates at an hour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rates {
    /// Share of reads.
    pub(super) read_ratio: f64,
    /// Mean gaps relative to those of the parameters, for both types.
    pub(super) gap: f64,
}

/// The day of a clone. Each pass starts at the same hour.
#[derive(Clone, Debug)]
pub(super) struct Day {
    read: Profile,
    write: Profile,
    read_ratio: f64,
    /// Mean gaps before a read and before a write, over that of all requests.
    gaps: [f64; 2],
    /// Hour at which a pass starts. Range: 0..24.
    first_hour: f64,
    /// Length of an hour after scaling. Unit: picoseconds.
    hour_ps: f64,
    origin: Time,
    /// Time until which the present rates hold.
    until: Time,
}

impl Day {
    /// `None` if the rates do not change over the day.
    pub(super) fn new(params: &CloneParams<'_>, time_scale: f64) -> Option<Self> {
        let (read, write) = (params.read.daily, params.write.daily);
        params.has_day().then(|| Self {
            read: Profile::new(read),
            write: Profile::new(write),
            read_ratio: params.read_ratio,
            gaps: [params.read.gap_ms, params.write.gap_ms].map(|ms| ms / params.gap_ms()),
            first_hour: 0.0,
            hour_ps: HOUR_PS * time_scale,
            origin: Time::ZERO,
            until: Time::ZERO,
        })
    }

    /// Makes passes start at this time of an unscaled day.
    pub(super) fn start_at(&mut self, start: Span) {
        self.first_hour = start.0 as f64 / HOUR_PS;
    }

    /// Makes the day pass within this time, which is scaled like all others.
    pub(super) fn squeeze(&mut self, day: Span) {
        self.hour_ps *= day.0 as f64 / DAY_HOURS / HOUR_PS;
    }

    /// Starts the day again.
    pub(super) fn restart(&mut self, now: Time) {
        (self.origin, self.until) = (now, now);
    }

    /// The rates from `now` on, if it is time to update them.
    #[inline]
    pub(super) fn turn(&mut self, now: Time) -> Option<Rates> {
        if now < self.until {
            return None;
        }
        let step = (self.hour_ps / STEPS).max(1.0);
        self.until = Time(now.0.saturating_add(step as u64));
        let hours = now.saturating_sub(self.origin).0 as f64 / self.hour_ps;
        Some(self.rates((self.first_hour + hours) % DAY_HOURS))
    }

    fn rates(&self, hour: f64) -> Rates {
        let reads = self.read_ratio * self.read.at(hour);
        let rate = reads + (1.0 - self.read_ratio) * self.write.at(hour);
        let read_ratio = reads / rate;
        let [read, write] = self.gaps;
        Rates { read_ratio, gap: 1.0 / (rate * (read_ratio * read + (1.0 - read_ratio) * write)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clone::find;

    #[test]
    fn a_profile_goes_in_straight_lines_around_the_day() {
        let profile = Profile::new(&[(6.0, 2.0), (18.0, 6.0)]);
        for (hour, rate) in [(6.0, 0.5), (12.0, 1.0), (18.0, 1.5), (0.0, 1.0), (3.0, 0.75)] {
            assert!((profile.at(hour) - rate).abs() < 1e-12, "{hour}: {}", profile.at(hour));
        }
        assert_eq!(Profile::new(&[]).at(5.0), 1.0);
        assert_eq!(Profile::new(&[(7.0, 3.0)]).at(5.0), 1.0);
    }

    /// Worked by hand: 3 reads to 1 write; reads at twice their mean rate, writes at half of their
    /// mean rate.
    #[test]
    fn rates_of_both_types_add_up() {
        let mut params = *find("tpcc").expect("built in");
        params.read_ratio = 0.75;
        (params.read.gap_ms, params.write.gap_ms) = (1.0, 3.0);
        params.read.daily = &[(0.0, 2.0), (12.0, 0.0)];
        params.write.daily = &[(0.0, 0.5), (12.0, 1.5)];
        let found = Day::new(&params, 1.0).expect("a day").rates(0.0);
        // Mean gap 1.5 ms; 0.75 * 2 + 0.25 / 2 = 1.625 times as many requests, 12 of 13 reads.
        assert!((found.read_ratio - 12.0 / 13.0).abs() < 1e-12);
        let mean = found.gap * (12.0 * 1.0 + 3.0) / 13.0;
        assert!((mean - 1.5 / 1.625).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn the_day_is_scaled_with_time_and_starts_with_the_pass() {
        let params = find("lm-tbe").expect("built in");
        let hour = |hours: f64| Time((hours * HOUR_PS) as u64);
        let mut plain = Day::new(params, 1.0).expect("a day");
        let mut fast = Day::new(params, 0.01).expect("a day");
        let busy = plain.turn(hour(18.2)).expect("the first time");
        assert_eq!(plain.turn(Time(hour(18.2).0 + 4_000_000_000_000)), None);
        let scaled = fast.turn(hour(0.182)).expect("the first time");
        assert!((busy.gap - scaled.gap).abs() < 1e-9);
        let mut late = Day::new(params, 0.01).expect("a day");
        late.start_at(Span(hour(17.0).0));
        let after = late.turn(hour(0.012)).expect("the first time");
        assert!((busy.gap - after.gap).abs() < 1e-9, "1.2 hours after the start at hour 17");
        let next = late.turn(hour(0.15)).expect("later");
        let eight = Day::new(params, 1.0).expect("a day").rates(8.0);
        assert!((next.gap - eight.gap).abs() < 1e-9, "the day goes round");
        let mut short = Day::new(params, 0.01).expect("a day");
        short.squeeze(Span(hour(2.4).0));
        let of_short = short.turn(hour(0.0182)).expect("the first time");
        assert!((busy.gap - of_short.gap).abs() < 1e-9, "a tenth of 18.2 hours, scaled");
        assert_ne!(busy, plain.turn(hour(36.0)).expect("later"));
        plain.restart(hour(100.0));
        let again = plain.turn(hour(118.2)).expect("a new pass");
        assert!((busy.gap - again.gap).abs() < 1e-9);
        let writing = Day::new(params, 1.0).expect("a day").rates(17.28);
        assert!(writing.read_ratio < 0.5 && busy.read_ratio > 0.7, "writes have their peak");
        assert!(Day::new(find("tpcc").expect("built in"), 1.0).is_none());
    }
}
