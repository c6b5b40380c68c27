//! The clock of a processor core, which instructions advance.

use flashlane::Time;

/// Picoseconds in a second.
const SECOND: u128 = 1_000_000_000_000;

/// A core's clock. Time is exact, because fractions of a picosecond are kept.
#[derive(Clone, Debug)]
pub(crate) struct CoreClock {
    now: u64,
    instructions: u64,
    /// Time of an instruction is `above / below`. Unit of the quotient: picoseconds.
    above: u128,
    below: u128,
    /// Fraction of a picosecond. Unit: 1 / `below`.
    rest: u128,
    hertz: u64,
}

impl CoreClock {
    /// A core at time 0. `thousandths`: instructions per cycle, times a thousand.
    pub(crate) fn new(hertz: u64, thousandths: u64) -> Self {
        assert!(hertz > 0);
        assert!(thousandths > 0);
        let (above, below) = (SECOND * 1000, u128::from(hertz) * u128::from(thousandths));
        Self { now: 0, instructions: 0, above, below, rest: 0, hertz }
    }

    /// The time of the core.
    pub(crate) fn now(&self) -> Time {
        Time(self.now)
    }

    /// Instructions that the core has executed.
    pub(crate) fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Executes instructions.
    pub(crate) fn spend(&mut self, instructions: u64) {
        let parts = u128::from(instructions) * self.above + self.rest;
        let time = u64::try_from(parts / self.below).unwrap_or(u64::MAX);
        self.rest = parts % self.below;
        self.now = self.now.saturating_add(time);
        self.instructions += instructions;
    }

    /// Waits until a time. Does nothing if the time has passed.
    pub(crate) fn idle_until(&mut self, at: Time) {
        if at.0 > self.now {
            self.now = at.0;
            self.rest = 0;
        }
    }

    /// Cycles in a span. Unit of the span: picoseconds.
    pub(crate) fn cycles(&self, span: u64) -> u64 {
        u64::try_from(u128::from(span) * u128::from(self.hertz) / SECOND).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_picosecond_is_lost() {
        // 3 GHz, 1 instruction a cycle: 333 1/3 ps.
        let mut core = CoreClock::new(3_000_000_000, 1000);
        for _ in 0..3 {
            core.spend(1);
        }
        assert_eq!((core.now(), core.instructions()), (Time(1000), 3));
        core.spend(1);
        core.idle_until(Time(5000));
        core.spend(3);
        assert_eq!((core.now(), core.cycles(6000)), (Time(6000), 18));
        core.idle_until(Time(10));
        assert_eq!(core.now(), Time(6000));
    }
}
