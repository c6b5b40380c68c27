//! Simulated time.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in simulated time, or a span of it. Unit: picoseconds. Range: 0..2^64, about 213 days.
///
/// Additions stop at [`Time::MAX`]: they never wrap around to an earlier time. The event queue
/// hands out no event at or after [`Time::END`], so nothing ever happens at such a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The beginning.
    pub const ZERO: Self = Self(0);
    /// Later than all events.
    pub const MAX: Self = Self(u64::MAX);
    /// The end of simulated time, a little before 2^64 ps. All events happen before it.
    pub const END: Self = Self(u64::MAX - 1_000);

    /// From whole nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// From whole microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// From whole milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// From whole seconds.
    #[must_use]
    pub const fn from_s(s: u64) -> Self {
        Self(s * 1_000_000_000_000)
    }

    /// In seconds, for reports only.
    #[must_use]
    pub fn as_s(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// In microseconds, for reports only.
    #[must_use]
    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// `self - other`, or zero where `other` is later.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Time {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl Sub for Time {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        debug_assert!(other.0 <= self.0, "time runs back: {self} - {other}");
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06} us", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_stop_at_the_largest_time() {
        assert_eq!(Time(5) + Time(6), Time(11));
        assert_eq!(Time(u64::MAX - 5) + Time(6), Time::MAX);
        let mut time = Time::END;
        time += Time::from_s(10);
        assert_eq!(time, Time::MAX);
        assert!(Time::END < Time::MAX);
    }
}
