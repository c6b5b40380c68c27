//! Chooses the settings that are tried in pairs, and runs them.

use flashlane::Error;

use super::{Course, FIRST_SEEDS, with};
use crate::advise::candidate::Candidate;

/// The number of candidates that are tried in pairs.
const PARENTS: usize = 8;
/// The number of them of the same kind.
const OF_A_KIND: usize = 2;
/// The number of kinds whose best candidate is tried with everything.
const BESIDE_ALL: usize = 3;
/// The number of them that are tried with limits, too.
const BESIDE_LIMITS: usize = 2;
/// The number of kinds whose best candidate is tried with everything although a tenant loses by it
/// what it has to keep.
const BROKEN_BESIDE_ALL: usize = 2;
/// The number of pairs whose halves are tried with everything.
const CLIMBED: usize = 2;
/// How often that is repeated at most.
const CLIMBS: usize = 3;

impl Course<'_, '_> {
    /// The candidates that are tried in pairs: the best ones with each other, and the best of the
    /// first kinds with everything, since some settings only matter beside these.
    pub(super) fn parents(&self) -> Vec<(usize, usize)> {
        let family = |at: usize| &self.field.entries[at].candidate.families[0];
        let first = |ranking: Vec<usize>, of_a_kind: usize, count: usize| {
            let mut first: Vec<usize> = Vec::new();
            for at in ranking {
                let same = first.iter().filter(|&&one| family(one) == family(at)).count();
                if same < of_a_kind && first.len() < count {
                    first.push(at);
                }
            }
            first
        };
        let parents = first(self.ranking(|one| !one.is_pair()), OF_A_KIND, PARENTS);
        let mut beside = first(parents.clone(), 1, BESIDE_ALL);
        // What one setting breaks for a tenant, another one may mend.
        let breaks = self.ranked(|at| {
            let entry = &self.field.entries[at];
            let is_whole = entry.failed.is_none() && !entry.runs.is_empty();
            is_whole && !entry.candidate.is_pair() && self.field.barred(at).is_some()
        });
        let allowed = beside.len();
        beside.extend(first(breaks, 1, BROKEN_BESIDE_ALL));
        let singles = self.singles();
        let is_limit = |at: usize| self.field.entries[at].candidate.is_limit();
        let mut pairs = Vec::new();
        for (place, &best) in beside.iter().enumerate() {
            let limits = place < BESIDE_LIMITS || place >= allowed;
            let others = singles.iter().filter(|&&at| limits || !is_limit(at));
            pairs.extend(others.map(|&at| (best, at)));
        }
        for (number, &one) in parents.iter().enumerate() {
            pairs.extend(parents[number + 1..].iter().map(|&other| (one, other)));
        }
        // The order of the space, whatever the ranking.
        let mut pairs: Vec<(usize, usize)> =
            pairs.into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// All candidates that are no pairs and have results.
    pub(super) fn singles(&self) -> Vec<usize> {
        let is_single = |&at: &usize| {
            let entry = &self.field.entries[at];
            !entry.candidate.is_pair() && entry.failed.is_none()
        };
        (1..self.field.entries.len()).filter(is_single).collect()
    }

    /// Tries each half of the best pairs with everything, as long as that gives better pairs.
    pub(super) fn climb(&mut self) -> Result<(), Error> {
        let mut before = Vec::new();
        for _ in 0..CLIMBS {
            let best = self.ranking(Candidate::is_pair);
            let best: Vec<usize> = best.into_iter().take(CLIMBED).collect();
            if best == before || !self.field.has_time() {
                break;
            }
            let singles = self.singles();
            let halves = singles.iter().filter(|&&half| {
                best.iter().any(|&pair| self.is_part(&self.field.entries[half].candidate, pair))
            });
            let limited = |at: usize| self.field.entries[at].candidate.is_limit();
            let others = |&half: &usize| singles.iter().map(move |&other| (half, other));
            let pairs = halves.flat_map(others).filter(|&(_, other)| !limited(other)).collect();
            self.pairs("the best pairs, half by half", pairs)?;
            before = best;
        }
        Ok(())
    }

    /// Pairs: one seed for all of them, and a second one for the best.
    pub(super) fn pairs(&mut self, what: &str, pairs: Vec<(usize, usize)>) -> Result<(), Error> {
        let mut entered = Vec::new();
        for (first, second) in pairs {
            let of = |at: usize| &self.field.entries[at].candidate;
            if let Some(pair) = of(first).with(of(second)) {
                entered.extend(self.field.enter(pair).filter(|&at| at > 0));
            }
        }
        for number in 0..FIRST_SEEDS.min(self.seeds) {
            if !self.field.has_time() {
                return Ok(());
            }
            let seed = self.seed(number);
            self.field.run(what, &with(&entered, seed))?;
            let ranking = self.ranking(Candidate::is_pair);
            entered.retain(|at| ranking.iter().take(2 * PARENTS).any(|one| one == at));
        }
        Ok(())
    }
}
