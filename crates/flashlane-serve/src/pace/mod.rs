//! How simulated time passes.

mod lateness;
mod quiet;

use std::str::FromStr;
use std::time::{Duration, Instant};

use flashlane::Time;

pub use lateness::Lateness;
pub(crate) use quiet::Quiet;

/// How simulated time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Pace {
    /// As real time does.
    #[default]
    Real,
    /// So many times as slowly as real time.
    Dilated(u32),
    /// From completion to completion, as fast as the clients are.
    Virtual,
}

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let factor = text.strip_prefix("dilated=").map(str::parse);
        match (text, factor) {
            ("real", _) => Ok(Self::Real),
            ("virtual", _) => Ok(Self::Virtual),
            (_, Some(Ok(factor @ 1..=1_000_000))) => Ok(Self::Dilated(factor)),
            _ => Err(format!(
                "found `{text}`, allowed: real, virtual, dilated=N with N from 1 to 1000000"
            )),
        }
    }
}

/// Picoseconds of simulated time in a nanosecond of real time, by `factor`.
const PS_PER_NS: u128 = 1000;

/// A clock of simulated time that real time drives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: Instant,
    factor: u32,
}

impl Clock {
    /// The clock of a pace, which starts now; `None` for the virtual clock.
    pub(crate) fn of(pace: Pace) -> Option<Self> {
        let factor = match pace {
            Pace::Real => 1,
            Pace::Dilated(factor) => factor,
            Pace::Virtual => return None,
        };
        Some(Self { started: Instant::now(), factor })
    }

    /// The simulated time.
    pub(crate) fn now(&self) -> Time {
        let ps = self.started.elapsed().as_nanos() * PS_PER_NS / u128::from(self.factor);
        Time(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Real time from `from` to `to`; 0 if `to` is not later.
    pub(crate) fn between(&self, from: Time, to: Time) -> Duration {
        let ps = u128::from(to.0.saturating_sub(from.0)) * u128::from(self.factor);
        Duration::from_nanos(u64::try_from(ps / PS_PER_NS).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_are_read() {
        assert_eq!("real".parse(), Ok(Pace::Real));
        assert_eq!("dilated=20".parse(), Ok(Pace::Dilated(20)));
        assert_eq!("virtual".parse(), Ok(Pace::Virtual));
        for text in ["", "dilated", "dilated=0", "dilated=x", "dilated=1000001", "fast"] {
            let error = text.parse::<Pace>().expect_err(text);
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }

    #[test]
    fn a_dilated_clock_is_slower() {
        let clock = Clock::of(Pace::Dilated(10)).expect("a clock");
        let (from, to) = (Time(1_000_000), Time(3_000_000));
        assert_eq!(clock.between(from, to), Duration::from_micros(20));
        assert_eq!(clock.between(to, from), Duration::ZERO);
        let elapsed = clock.started.elapsed();
        assert!(u128::from(clock.now().0) >= elapsed.as_nanos() * 100);
    }
}
