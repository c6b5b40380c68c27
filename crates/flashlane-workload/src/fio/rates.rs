//! The times at which requests of a limited rate are due, and from which pauses count.

use flashlane_engine::Time;

use super::draw::Draw;
use super::plan::Plan;

/// A microsecond, fio's unit of time. Unit: picoseconds.
const MICROSECOND: u64 = 1_000_000;

/// The rates of a copy of a job, by direction.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    gaps: [Draw; 3],
    /// Time at which the next request of a direction is due, from the start of the pass.
    due: [u64; 3],
    /// Time by which pauses have shifted those times.
    shift: u64,
}

impl Default for Rates {
    fn default() -> Self {
        Self { gaps: [0, 1, 2].map(Draw::new), due: [0; 3], shift: 0 }
    }
}

impl Rates {
    /// Sets the draws of gaps.
    pub(super) fn seed(&mut self, gaps: [Draw; 3]) {
        self.gaps = gaps;
    }

    /// The rates of the next pass, whose draws go on.
    pub(super) fn restarted(&self) -> Self {
        Self { gaps: self.gaps.clone(), ..Self::default() }
    }

    /// Moves all times by that of a pause.
    pub(super) fn shift(&mut self, time: u64) {
        self.shift += time;
    }

    /// The time at which the next request of a direction is due. `start`: of the pass.
    pub(super) fn time(&self, plan: &Plan, direction: usize, start: Time) -> Time {
        match plan.directions[direction].rate {
            Some(_) => Time((start.0 + self.shift).saturating_add(self.due[direction])),
            None => Time::ZERO,
        }
    }

    /// Sets the time of the next request of a direction that has issued `bytes`.
    pub(super) fn pace(&mut self, plan: &Plan, direction: usize, bytes: u64) {
        let one = &plan.directions[direction];
        let Some(rate) = one.rate else { return };
        let due = &mut self.due[direction];
        if plan.config.poisson {
            let per_second = (rate / one.smallest).max(1);
            let mean = (MICROSECOND / per_second * MICROSECOND) as f64;
            *due = due.saturating_add((mean * self.gaps[direction].exponential()) as u64);
        } else {
            let time = u128::from(bytes) * 1_000_000_000_000 / u128::from(rate);
            *due = u64::try_from(time).unwrap_or(u64::MAX);
        }
    }
}

/// Start of the time to the first pause of `thinktime_iotime`. fio 3.33 lets a job run longer
/// before the first pause, by the length of a pause.
pub(super) fn first_resumed(plan: &Plan, start: Time) -> Time {
    start + Time(plan.config.think.map_or(0, |think| think.time.0))
}
