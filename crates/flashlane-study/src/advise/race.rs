//! Decides which candidates stay in the race, by their scores under common seeds.
//!
//! Candidates are compared by the medians of their differences, seed by seed. With two seeds each,
//! the spread of one candidate says nothing: the typical one of all candidates stands in for it.

use std::collections::BTreeMap;

use super::middle::{error, median, spread};

/// The score under each seed. Small is good.
pub(super) type Scores = BTreeMap<u64, f64>;

/// Parts of the leader's score within which two candidates are as good as each other.
pub(super) const TIE: f64 = 0.01;

/// Standard errors within which a candidate may still be as good as the leader. More than the 2 of
/// a single comparison, since there are many.
const ERRORS: f64 = 3.0;

/// The scores of another candidate less those of this one, under the seeds that both have.
pub(super) fn differences(from: &Scores, to: &Scores) -> Vec<f64> {
    from.iter().filter_map(|(seed, from)| Some(to.get(seed)? - from)).collect()
}

/// The median of these differences. Infinite if there is none.
pub(super) fn difference(from: &Scores, to: &Scores) -> f64 {
    median(differences(from, to)).unwrap_or(f64::INFINITY)
}

/// Seeds with which the spread of a candidate stands for itself.
const OWN_SPREAD: usize = 4;

/// A race.
pub(super) struct Race<'a> {
    /// The scores of the unchanged drive, under all seeds of the runners.
    pub(super) unchanged: &'a Scores,
    /// The runners: a number and the scores of each.
    pub(super) runners: Vec<(usize, &'a Scores)>,
}

impl Race<'_> {
    /// The runners, the best first. Each is held against the unchanged drive under its own seeds,
    /// so that a runner with easy seeds has no advantage.
    pub(super) fn ranking(&self) -> Vec<usize> {
        let mut order: Vec<(usize, f64)> = self
            .runners
            .iter()
            .map(|&(at, scores)| (at, difference(self.unchanged, scores)))
            .collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        order.into_iter().map(|one| one.0).collect()
    }

    fn scores(&self, at: usize) -> &Scores {
        self.runners.iter().find(|one| one.0 == at).expect("a runner").1
    }

    /// The runners that may still be the best, the leader first. Others are worse than the leader
    /// by more than the spread of the differences explains, and by more than a tie.
    pub(super) fn in_reach(&self) -> Vec<usize> {
        let ranking = self.ranking();
        let Some(&leader) = ranking.first() else { return Vec::new() };
        let of_leader = self.scores(leader);
        let all: Vec<(usize, Vec<f64>)> =
            ranking.iter().map(|&at| (at, differences(of_leader, self.scores(at)))).collect();
        // A few runners far behind, with large spreads, must not keep others in the race.
        let typical = typical_spread(all.iter().skip(1).map(|one| &one.1[..]));
        let tie = TIE * level(of_leader);
        let stays = |(at, differences): &(usize, Vec<f64>)| {
            let Some(difference) = median(differences.iter().copied()) else { return false };
            let error = error(own_or(typical, differences), differences.len());
            *at == leader || difference <= tie.max(ERRORS * error)
        };
        all.iter().filter(|one| stays(one)).map(|one| one.0).collect()
    }

    /// True if some runner may be the best although its difference to the leader is not known to
    /// within a tie.
    pub(super) fn is_open(&self) -> bool {
        let reach = self.in_reach();
        let Some((&leader, others)) = reach.split_first() else { return false };
        let tie = TIE * level(self.scores(leader));
        others.iter().any(|&other| {
            let differences = differences(self.scores(leader), self.scores(other));
            error(spread(&differences), differences.len()) > tie
        })
    }

    /// True if the second is no better than the first, as far as the seeds tell: their difference
    /// is a tie, or it is small and within what chance explains.
    pub(super) fn is_tie(&self, best: usize, other: usize) -> bool {
        let (best, other) = (self.scores(best), self.scores(other));
        let differences = differences(best, other);
        let Some(difference) = median(differences.iter().copied()) else { return false };
        let chance = 2.0 * error(spread(&differences), differences.len());
        let level = level(best);
        let open = differences.len() < 2 || difference <= chance;
        difference <= TIE * level || (open && difference <= 3.0 * TIE * level)
    }
}

/// The size of a score, in parts of which ties are measured.
pub(super) fn level(scores: &Scores) -> f64 {
    median(scores.values().map(|score| score.abs())).unwrap_or(0.0)
}

/// The median of the spreads of several samples.
fn typical_spread<'a>(samples: impl Iterator<Item = &'a [f64]>) -> f64 {
    median(samples.filter(|one| one.len() > 1).map(spread)).unwrap_or(0.0)
}

/// The spread of a sample, and no less than the typical one while it has few values.
fn own_or(typical: f64, values: &[f64]) -> f64 {
    let own = spread(values);
    if values.len() >= OWN_SPREAD { own } else { own.max(typical) }
}

/// True if a gain is told apart from nothing. `scores` are held against those of the unchanged
/// drive. With few seeds the `typical` spread of other candidates stands in for their own.
pub(super) fn gains(unchanged: &Scores, scores: &Scores, typical: f64) -> bool {
    let differences = differences(unchanged, scores);
    let Some(difference) = median(differences.iter().copied()) else { return false };
    let chance = 2.0 * error(own_or(typical, &differences), differences.len());
    difference < -(TIE * level(unchanged)).max(chance)
}

/// The typical spread of the differences of candidates to the unchanged drive.
pub(super) fn spread_to<'a>(unchanged: &Scores, all: impl Iterator<Item = &'a Scores>) -> f64 {
    let all: Vec<Vec<f64>> = all.map(|scores| differences(unchanged, scores)).collect();
    typical_spread(all.iter().map(Vec::as_slice))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(values: &[f64]) -> Scores {
        (1..).zip(values.iter().copied()).collect()
    }

    fn reach(unchanged: &[f64], runners: &[&[f64]]) -> Vec<usize> {
        let unchanged = scores(unchanged);
        let all: Vec<Scores> = runners.iter().map(|one| scores(one)).collect();
        Race { unchanged: &unchanged, runners: (1..).zip(&all).collect() }.in_reach()
    }

    #[test]
    fn the_best_one_leads_and_the_hopeless_are_dropped_early() {
        let found = reach(
            &[4.0, 5.0],
            &[&[4.1, 5.1], &[2.0, 3.02], &[2.05, 3.0], &[1.0, 2.03], &[0.97, 2.01]],
        );
        assert_eq!(found, [5, 4], "two of five may still be the best");
    }

    #[test]
    fn noise_of_the_seeds_cancels_in_pairs() {
        // The seeds differ by a factor of ten, and the second runner is better under each of them.
        let found = reach(&[10.0, 100.0, 50.0], &[&[9.0, 99.0, 49.0], &[6.0, 96.0, 46.0]]);
        assert_eq!(found[0], 2);
        assert_eq!(found.len(), 1, "3 of 50 are more than a tie");
    }

    #[test]
    fn a_wide_spread_keeps_runners_in_the_race() {
        let found = reach(&[4.0, 4.0], &[&[1.0, 3.0], &[3.5, 1.4], &[3.9, 3.9]]);
        assert_eq!(found, [1, 2, 3]);
        let found = reach(&[4.0; 5], &[&[2.0, 2.1, 1.9, 2.0, 2.0], &[2.6, 2.5, 2.4, 2.5, 2.5]]);
        assert_eq!(found, [1]);
    }

    #[test]
    fn a_race_is_open_while_chance_decides() {
        let is_open = |runners: &[&[f64]]| {
            let unchanged = scores(&[9.0; 4]);
            let all: Vec<Scores> = runners.iter().map(|one| scores(one)).collect();
            Race { unchanged: &unchanged, runners: (1..).zip(&all).collect() }.is_open()
        };
        let leader: &[f64] = &[2.0, 3.0, 2.5, 2.5];
        assert!(is_open(&[leader, &[3.0, 2.0, 2.6, 2.5]]), "each is better under some seed");
        assert!(!is_open(&[leader, &[2.01, 3.01, 2.5, 2.51]]), "a tie");
        assert!(!is_open(&[leader, &[4.0, 5.0, 4.4, 4.5]]), "far behind");
        assert!(!is_open(&[leader]) && !is_open(&[]));
    }

    #[test]
    fn runners_with_other_seeds_are_held_against_the_same_drive() {
        let unchanged = scores(&[4.0, 4.0, 10.0]);
        let (early, late) = (scores(&[3.0, 3.0]), scores(&[2.0, 2.0, 8.0]));
        let race = Race { unchanged: &unchanged, runners: vec![(1, &early), (2, &late)] };
        assert_eq!(race.ranking(), [2, 1]);
        assert!(!race.is_tie(2, 1));
        assert_eq!(Race { unchanged: &unchanged, runners: Vec::new() }.in_reach(), [0; 0]);
    }

    #[test]
    fn ties_are_small_or_not_to_be_told_apart() {
        let unchanged = scores(&[4.0, 4.0, 4.0]);
        let best = scores(&[2.0, 2.0, 2.0]);
        let near = scores(&[2.01, 2.02, 2.01]);
        let open = scores(&[2.2, 1.9, 2.0]);
        let apart = scores(&[2.05, 2.06, 2.05]);
        let runners = vec![(0, &best), (1, &near), (2, &open), (3, &apart)];
        let race = Race { unchanged: &unchanged, runners };
        assert_eq!([1, 2, 3].map(|other| race.is_tie(0, other)), [true, true, false]);
    }

    #[test]
    fn a_gain_has_to_stand_out() {
        let unchanged = scores(&[4.0, 4.4, 3.8, 4.1]);
        let gain = |values: &[f64]| gains(&unchanged, &scores(values), 0.05);
        assert!(gain(&[3.0, 3.4]));
        assert!(!gain(&[3.95, 4.36]), "1 % is nothing");
        assert!(!gain(&[3.0, 5.0]), "it depends on the seed");
        assert!(gain(&[3.7, 4.05, 3.52, 3.8]));
        assert!(!gain(&[4.2, 4.6]) && !gain(&[]));
    }
}
