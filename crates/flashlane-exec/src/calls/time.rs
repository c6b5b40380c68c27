//! System calls on time: the clock of the program's core.

use flashlane::Time;

use super::{Call, EFAULT, EINVAL, Outcome};
use crate::process::Process;
use crate::threads::Wait;

/// Picoseconds in a nanosecond.
const NANOSECOND: u64 = 1000;

/// Real time at the start of a run, so that dates look like dates. Unit: seconds since 1970.
const EPOCH: u64 = 1_700_000_000;

impl Process {
    pub(super) fn time_call(&mut self, call: &Call) -> Option<Outcome> {
        let [first, second, third, ..] = call.arguments;
        let value = match call.number {
            101 => return Some(self.sleep(first, false)),
            113 => {
                let bytes = self.time_of(first, 1);
                self.give(second, &bytes)
            }
            114 if second == 0 => 0,
            114 => self.give(second, &[0u64.to_le_bytes(), 1u64.to_le_bytes()].concat()),
            115 => {
                let absolute = second & 1 != 0;
                let shift = if absolute && first == 0 { EPOCH } else { 0 };
                return Some(self.sleep_until(third, absolute, shift));
            }
            169 => {
                let bytes = self.time_of(0, 1000);
                self.give(first, &bytes)
            }
            _ => return None,
        };
        Some(Outcome::Value(value))
    }

    /// Seconds, and the rest in units of `unit` nanoseconds.
    fn time_of(&self, clock: u64, unit: u64) -> Vec<u8> {
        let nanoseconds = self.clock.now().0 / NANOSECOND;
        // Clocks 0 and 5 are the real time; the others count from the start.
        let epoch = if clock == 0 || clock == 5 { EPOCH } else { 0 };
        let seconds = nanoseconds / 1_000_000_000 + epoch;
        [seconds.to_le_bytes(), (nanoseconds % 1_000_000_000 / unit).to_le_bytes()].concat()
    }

    fn sleep(&mut self, address: u64, absolute: bool) -> Outcome {
        self.sleep_until(address, absolute, 0)
    }

    fn sleep_until(&mut self, address: u64, absolute: bool, shift: u64) -> Outcome {
        match self.deadline(address, absolute, shift) {
            Ok(at) => Outcome::Park(Wait::Sleep, Some(at)),
            Err(error) => Outcome::Value(error),
        }
    }

    /// The time that a `timespec` stands for. `shift`: seconds that its clock is ahead of ours.
    pub(super) fn deadline(
        &mut self,
        address: u64,
        absolute: bool,
        shift: u64,
    ) -> Result<Time, i64> {
        let (Some(seconds), Some(nanoseconds)) =
            (self.take_u64(address), self.take_u64(address.wrapping_add(8)))
        else {
            return Err(EFAULT);
        };
        if seconds > i64::MAX.cast_unsigned() || nanoseconds >= 1_000_000_000 {
            return Err(EINVAL);
        }
        let span = seconds.saturating_sub(shift).saturating_mul(1_000_000_000);
        let span = span.saturating_add(nanoseconds).saturating_mul(NANOSECOND);
        let now = self.clock.now();
        Ok(if absolute { Time(span).max(now) } else { Time(now.0.saturating_add(span)) })
    }

    /// Seconds that the time-out of a futex is ahead of the clock of the core. They are above 0 if
    /// the time-out is real time.
    pub(super) fn epoch(real: bool) -> u64 {
        if real { EPOCH } else { 0 }
    }
}
