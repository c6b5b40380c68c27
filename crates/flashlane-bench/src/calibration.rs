//! A fixed piece of work beside the simulation, which makes results of different machines and of
//! noisy machines comparable: the hold model of event queues (take the earliest event, schedule
//! another) and reads of a table at random places.
//!
//! It shares no code with the simulator, and it must never change: every recorded rate is divided
//! by its rate.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// Events that are pending at any time.
const PENDING: u64 = 4_096;
/// Entries of the table; a power of two.
const ENTRIES: usize = 8 << 20;
/// Table reads per hold.
const READS: u32 = 4;
/// Holds between two looks at the clock.
const BATCH: u64 = 4_096;

/// Memory of the table. Unit: bytes.
pub(crate) const TABLE_BYTES: u64 = (ENTRIES * size_of::<u64>()) as u64;

/// The loop, the work it has done and the time it took.
pub(crate) struct Calibration {
    pending: BinaryHeap<Reverse<(u64, u64)>>,
    table: Vec<u64>,
    random: u64,
    /// Sum of the values that were read.
    sum: u64,
    /// Holds done.
    pub(crate) holds: u64,
    /// Time in the loop.
    pub(crate) time: Duration,
}

impl Calibration {
    pub(crate) fn new() -> Self {
        let mut random = 1;
        let pending = (0..PENDING).map(|id| Reverse((step(&mut random) >> 48, id))).collect();
        let table = (0..ENTRIES).map(|_| step(&mut random)).collect();
        Self { pending, table, random, sum: 0, holds: 0, time: Duration::ZERO }
    }

    /// Works for `span`, or a little longer.
    pub(crate) fn run(&mut self, span: Duration) {
        let start = Instant::now();
        while start.elapsed() < span {
            self.hold(BATCH);
        }
        self.time += start.elapsed();
    }

    /// Holds per second so far.
    pub(crate) fn rate(&self) -> f64 {
        self.holds as f64 / self.time.as_secs_f64()
    }

    fn hold(&mut self, times: u64) {
        for _ in 0..times {
            let Reverse((now, id)) = self.pending.pop().expect("the number pending stays");
            let mut place = step(&mut self.random);
            self.pending.push(Reverse((now + (place >> 48), id)));
            for _ in 0..READS {
                place ^= self.table[place as usize % ENTRIES];
                self.sum = self.sum.wrapping_add(place);
            }
        }
        self.holds += times;
        std::hint::black_box(self.sum);
    }
}

/// Marsaglia's xorshift64: <https://www.jstatsoft.org/article/view/v008i14>.
fn step(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_always_the_same() {
        let mut calibration = Calibration::new();
        calibration.hold(10_000);
        let Reverse((now, id)) = *calibration.pending.peek().expect("not empty");
        assert_eq!((calibration.holds, now, id), (10_000, 91_482, 3_166));
        assert_eq!(calibration.sum, 15_927_912_054_959_849_297);
    }

    #[test]
    fn it_runs_as_long_as_it_is_told() {
        let mut calibration = Calibration::new();
        calibration.run(Duration::from_millis(1));
        assert!(calibration.time >= Duration::from_millis(1));
        assert!(calibration.rate() > 0.0);
    }
}
