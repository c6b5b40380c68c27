//! The length of a run without time that lasts as long as a run of the measured drive.
//!
//! The drive writes at a rate of one over the cost of a write, in which a copy of collection costs
//! some writes of the host. A run whose end is given as time thus ends where the costs of its
//! writes add up to that time. How many writes these are is found by runs.

use flashlane::Error;
use flashlane::metrics::{FlashSummary, Summary};

use super::figure::Lasted;

/// The part of the time that counts, as in the source of the figures.
const COUNTED: (f64, f64) = (0.6, 0.99);

/// Error of the ends that is good enough.
const NEAR: f64 = 0.01;

/// Most runs of a search.
const RUNS_MAX: u32 = 5;

/// Lengths of a run. Unit: times that the space in use is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    /// The part that does not count.
    pub(super) before: f64,
    /// The whole length.
    pub(super) all: f64,
}

/// The run that counts from 60 to 99 % of the time, which is found within a percent.
///
/// # Errors
/// Those of the runs.
pub(super) fn by_time(
    lasted: Lasted,
    run: &dyn Fn(Rounds) -> Result<Summary, Error>,
) -> Result<Summary, Error> {
    let wanted = (lasted.rounds * COUNTED.0, lasted.rounds * COUNTED.1);
    // Places and costs that are known, in rising order. A write costs 1 at least.
    let mut known = vec![(0.0, 0.0)];
    let mut rounds = Rounds { before: 0.3 * wanted.0, all: 0.5 * wanted.1 };
    for turn in 1.. {
        let summary = run(rounds)?;
        // The filling comes before all of it.
        let before = cost(&summary.before_window.flash, lasted.copy);
        let all = before + cost(&summary.flash, lasted.copy);
        let unit = writes(&summary) / (1.0 + rounds.all);
        let costs = (before / unit - 1.0, all / unit - 1.0);
        let near = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < NEAR;
        if turn == RUNS_MAX || (near(costs.0, wanted.0) && near(costs.1, wanted.1)) {
            return Ok(summary);
        }
        known.extend([(rounds.before, costs.0), (rounds.all, costs.1)]);
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        rounds = Rounds { before: place_of(wanted.0, &known), all: place_of(wanted.1, &known) };
    }
    unreachable!("the search ends with its last turn")
}

/// What the programs cost. Unit: programs for the host.
fn cost(flash: &FlashSummary, copy: f64) -> f64 {
    flash.user_programs as f64 + copy * (flash.gc_programs + flash.mapping_programs) as f64
}

/// Programs for the host in the whole run.
fn writes(summary: &Summary) -> f64 {
    (summary.before_window.flash.user_programs + summary.flash.user_programs) as f64
}

/// The place with a cost, on straight lines through what is known, in rising order, and beyond its
/// end as on its last line.
fn place_of(cost: f64, known: &[(f64, f64)]) -> f64 {
    let lines = known.windows(2).filter(|line| line[1].0 > line[0].0);
    let mut place = 0.0;
    for line in lines {
        let ((from, low), (to, high)) = (line[0], line[1]);
        // The cost of a write is 1 at least.
        let slope = ((high - low) / (to - from)).max(1.0);
        place = from + (cost - low) / slope;
        if cost <= high {
            break;
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive whose writes cost 1 for a round, and then 4.
    fn drive(rounds: Rounds) -> Summary {
        let copies = |rounds: f64| ((rounds - 1.0).max(0.0) * 3e6) as u64;
        let (mut summary, all) = (Summary::default(), copies(rounds.all));
        let before = &mut summary.before_window.flash;
        (before.user_programs, before.gc_programs) =
            (((1.0 + rounds.before) * 1e6) as u64, copies(rounds.before));
        summary.flash.user_programs = ((rounds.all - rounds.before) * 1e6) as u64;
        summary.flash.gc_programs = all - copies(rounds.before);
        summary
    }

    #[test]
    fn the_run_ends_where_costs_add_up_to_the_time() {
        let lasted = Lasted { rounds: 10.0, copy: 1.0 };
        let found = by_time(lasted, &|rounds| Ok(drive(rounds))).expect("nothing fails");
        let before = &found.before_window.flash;
        let (writes, copies) =
            (before.user_programs as f64 / 1e6 - 1.0, before.gc_programs as f64 / 1e6);
        assert!((writes + copies - 6.0).abs() < 0.1, "{writes} {copies}");
        let all = writes + copies + cost(&found.flash, 1.0) / 1e6;
        assert!((all - 9.9).abs() < 0.15, "{all}");
    }

    #[test]
    fn places_lie_on_straight_lines() {
        let known = [(0.0, 0.0), (1.0, 1.0), (2.0, 4.0)];
        let found = [0.5, 2.5, 7.0].map(|cost| place_of(cost, &known));
        assert_eq!(found, [0.5, 1.5, 3.0]);
    }
}
