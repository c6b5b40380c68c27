//! Pauses of the write buffer (`[cache.pause]`).
//!
//! At times the drive does not empty its buffer for a while. During this time the buffer takes as
//! much data as fits, and the writes after that wait for the end of the pause. So the longest wait
//! at a rate of writes is the length of the pause without `buffer / rate`. The length is a time,
//! and a time for each byte that came since the last pause. The reads and programs of the flash go
//! on.
//!
//! Invariants: between two pauses nothing is delayed; at most `buffer` and a page are admitted in a
//! pause.
//! Source: our own rule; `docs/drives.md` names the public measurements that it imitates.

use flashlane_engine::Time;

use super::config::PauseConfig;
use crate::layout::SECTOR_BYTES;

/// The pauses of a pool.
#[derive(Clone, Debug)]
pub(super) struct Pause {
    /// From the end of a pause to the next one.
    interval: Time,
    /// Length of a pause without any data.
    time: Time,
    /// Time that a sector adds to the next pause.
    sector_time: Time,
    /// Data that is admitted in a pause. Unit: sectors.
    buffer: u64,
    /// True from the time at which a pause is noticed to the time at which its end is.
    runs: bool,
    /// End of the pause that runs, or start of the next one.
    turn: Time,
    /// Data admitted since then. Unit: sectors.
    admitted: u64,
    /// Data admitted since the last pause began. Unit: sectors.
    written: u64,
    /// True if the pause that runs has delayed a write.
    delays: bool,
    count: u64,
}

impl Pause {
    /// The pauses that the configuration wants.
    pub(super) fn new(config: &PauseConfig) -> Option<Self> {
        let sector_time =
            config.rate.map_or(0, |rate| SECTOR_BYTES * 1_000_000_000_000 / rate.0.max(1));
        config.is_on().then_some(Self {
            interval: Time(config.interval.0),
            time: Time(config.time.0),
            sector_time: Time(sector_time),
            buffer: config.buffer.0 / SECTOR_BYTES,
            runs: false,
            turn: Time(config.interval.0),
            admitted: 0,
            written: 0,
            delays: false,
            count: 0,
        })
    }

    /// Lets pauses begin and end up to now.
    fn roll(&mut self, now: Time) {
        while now >= self.turn {
            self.runs = !self.runs;
            if self.runs {
                let of_data = self.sector_time.0.saturating_mul(self.written);
                self.turn = self.turn + self.time + Time(of_data.min(MOST_PS));
                (self.admitted, self.written, self.delays) = (0, 0, false);
            } else {
                // Nothing was written in whole periods that have passed since.
                let period = self.interval.0 + self.time.0;
                let idle = (now - self.turn).0 / period * period;
                self.turn = self.turn + Time(idle) + self.interval;
                self.written = if idle > 0 { 0 } else { self.written };
            }
        }
    }

    /// The end of the pause, if one runs and has no room for a write that waits now.
    pub(super) fn delays_until(&mut self, now: Time) -> Option<Time> {
        self.roll(now);
        let delays = self.runs && self.admitted >= self.buffer;
        self.count += u64::from(delays && !self.delays);
        self.delays |= delays;
        delays.then_some(self.turn)
    }

    /// True if a write that waits now is rightly delayed.
    pub(super) fn delays(&self, now: Time) -> bool {
        self.runs && self.delays && now <= self.turn
    }

    /// Some sectors were admitted.
    pub(super) fn admitted(&mut self, sectors: u64, now: Time) {
        self.roll(now);
        self.admitted += sectors;
        self.written += sectors;
    }

    /// Pauses that delayed a write.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Checks the state between two events.
    pub(super) fn audit(&self) {
        assert!(!self.delays || self.admitted >= self.buffer, "a pause delays what has no room");
        assert!(self.turn >= self.interval, "the first pause comes after an interval");
    }
}

/// Longest time by which data makes a pause longer. Unit: picoseconds.
const MOST_PS: u64 = 1_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::{Bandwidth, ByteSize, Span};

    /// A pause of 100 ps after each 900 ps, with a buffer for 20 sectors.
    fn pause(rate: Option<Bandwidth>) -> Pause {
        let config = PauseConfig {
            interval: Span(900),
            time: Span(100),
            buffer: ByteSize(20 * SECTOR_BYTES),
            rate,
        };
        Pause::new(&config).expect("pauses are on")
    }

    #[test]
    fn pauses_are_off_by_default() {
        assert!(Pause::new(&PauseConfig::default()).is_none());
    }

    #[test]
    fn the_buffer_of_a_pause_fills() {
        let mut pause = pause(None);
        pause.admitted(500, Time(899));
        pause.admitted(19, Time(900));
        assert_eq!(pause.delays_until(Time(900)), None);
        pause.admitted(1, Time(950));
        assert_eq!(pause.delays_until(Time(950)), Some(Time(1_000)));
        assert_eq!(pause.delays_until(Time(999)), Some(Time(1_000)));
        assert!(pause.delays(Time(1_000)), "the event that ends the wait has yet to come");
        assert_eq!(pause.delays_until(Time(1_000)), None, "the pause is over");
        assert_eq!(pause.delays_until(Time(1_950)), None, "the next one has its own buffer");
        pause.admitted(30, Time(1_950));
        assert_eq!(pause.delays_until(Time(1_951)), Some(Time(2_000)));
        assert_eq!(pause.count(), 2, "each pause counts once");
        pause.audit();
    }

    #[test]
    fn data_makes_a_pause_longer() {
        // A sector takes 10 ps.
        let mut pause = pause(Some(Bandwidth(51_200_000_000_000)));
        pause.admitted(30, Time(10));
        pause.admitted(20, Time(900));
        assert_eq!(pause.delays_until(Time(900)), Some(Time(1_300)), "20 sectors come after it");
        pause.admitted(20, Time(1_300));
        pause.admitted(20, Time(2_200));
        assert_eq!(pause.delays_until(Time(2_200)), Some(Time(2_700)), "in the pause and after it");
    }

    #[test]
    fn an_idle_drive_keeps_its_rhythm() {
        let mut pause = pause(None);
        pause.admitted(20, Time(1_000_950));
        assert_eq!(pause.delays_until(Time(1_000_950)), Some(Time(1_001_000)));
        assert_eq!(pause.delays_until(Time(2_000_899)), None);
    }
}
