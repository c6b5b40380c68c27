//! Arrival clock of open loops, and the rule that ends a pass.

use flashlane_engine::Time;

/// Fractional bits of the clock: about 10^-10 ps, so that no drift becomes visible.
const FRACTION_BITS: u32 = 32;

/// A span of picoseconds with a fraction, as an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap(u128);

impl Gap {
    /// From picoseconds; negative and not-a-number count as 0. Saturates near 2^64 ps.
    pub(crate) fn from_ps(ps: f64) -> Self {
        let ps = if ps > 0.0 { ps.min(1.8e19) } else { 0.0 };
        Self((ps * (1_u64 << FRACTION_BITS) as f64) as u128)
    }

    /// The time in whole picoseconds.
    pub(crate) fn whole(self) -> Time {
        Clock { fixed: self.0 }.now()
    }
}

/// A clock that adds gaps without drift.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    fixed: u128,
}

impl Clock {
    /// A clock that shows `now`.
    pub(crate) fn at(now: Time) -> Self {
        Self { fixed: u128::from(now.0) << FRACTION_BITS }
    }

    /// The present time of the clock.
    pub(crate) fn now(&self) -> Time {
        Time(u64::try_from(self.fixed >> FRACTION_BITS).unwrap_or(u64::MAX))
    }

    /// Advances by `gap`, at most to [`Time::MAX`].
    pub(crate) fn advance(&mut self, gap: Gap) -> Time {
        self.fixed = (self.fixed + gap.0).min(u128::from(u64::MAX) << FRACTION_BITS);
        self.now()
    }
}

/// The limits of a pass, by number of requests and by time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassEnd {
    requests: Option<u64>,
    duration: Option<u64>,
    issued: u64,
    start: Time,
}

impl PassEnd {
    /// A pass from time 0 that ends after `requests` or after `duration` picoseconds, whichever
    /// comes first.
    pub(crate) fn new(requests: Option<u64>, duration: Option<u64>) -> Self {
        Self { requests, duration, issued: 0, start: Time::ZERO }
    }

    /// True if the pass has no end.
    pub(crate) fn never(&self) -> bool {
        self.requests.is_none() && self.duration.is_none()
    }

    /// Starts the next pass.
    pub(crate) fn restart(&mut self, now: Time) {
        self.issued = 0;
        self.start = now;
    }

    /// True if all requests of the pass were made.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.requests.is_some_and(|requests| self.issued >= requests)
    }

    /// True if `at` is `duration` or more after the start of the pass.
    pub(crate) fn is_late(&self, at: Time) -> bool {
        self.duration.is_some_and(|duration| at.saturating_sub(self.start).0 >= duration)
    }

    /// Time at which the pass ends by its duration; [`Time::MAX`] if that is not limited.
    pub(crate) fn ends_at(&self) -> Time {
        self.duration.map_or(Time::MAX, |duration| self.start + Time(duration))
    }

    /// Longest time of a pass.
    pub(crate) fn time_limit(&self) -> Option<Time> {
        self.duration.map(Time)
    }

    /// Share of the pass that is over at `now`. Range: 0..=1; 0 for a pass without end.
    pub(crate) fn share(&self, now: Time) -> f64 {
        let of = |part: u64, whole: u64| (part as f64 / whole.max(1) as f64).min(1.0);
        let issued = self.requests.map_or(0.0, |requests| of(self.issued, requests));
        let passed = now.saturating_sub(self.start).0;
        issued.max(self.duration.map_or(0.0, |duration| of(passed, duration)))
    }

    /// Requests of the pass so far.
    pub(crate) fn count_so_far(&self) -> u64 {
        self.issued
    }

    /// Counts a request.
    pub(crate) fn count(&mut self) {
        self.issued += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_of_picoseconds_add_up() {
        let mut clock = Clock::at(Time(5));
        let third = Gap::from_ps(1e3 / 3.0);
        let last = (0..3_000_000).map(|_| clock.advance(third)).last().unwrap();
        assert_eq!(last, Time(5 + 1_000_000_000 - 1));
        assert_eq!(Gap::from_ps(-1.0), Gap(0));
        assert_eq!(Gap::from_ps(f64::NAN), Gap(0));
    }

    #[test]
    fn the_share_of_a_pass_is_that_of_what_ends_it_first() {
        let mut end = PassEnd::new(Some(4), Some(1000));
        end.restart(Time(500));
        assert_eq!(end.share(Time(500)), 0.0);
        end.count();
        assert_eq!(end.share(Time(600)), 0.25, "requests");
        assert_eq!(end.share(Time(1400)), 0.9, "time");
        assert_eq!(end.share(Time(9000)), 1.0);
        assert_eq!(PassEnd::new(None, None).share(Time(7)), 0.0);
    }

    #[test]
    fn the_clock_stops_at_the_largest_time() {
        let mut clock = Clock::at(Time(u64::MAX - 2));
        assert_eq!(clock.advance(Gap::from_ps(1.0)), Time(u64::MAX - 1));
        for gap in [1.0, 1.0, 1e30] {
            assert_eq!(clock.advance(Gap::from_ps(gap)), Time::MAX);
        }
    }
}
