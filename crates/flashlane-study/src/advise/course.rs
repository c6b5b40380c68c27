//! The course of an advice, round by round.
//!
//! 1. Every candidate alone, with one seed; those with an effect with a second one.
//! 2. Limits: for each other tenant, the level at which the goal is reached best.
//! 3. The best ones in pairs, and the best of the first three kinds with everything else.
//! 4. Loose limits beside the setting that would be best but for its slowest tenant.
//! 5. Each half of the best pairs with everything else, until no better pair comes up.
//! 6. If one of the two best has a limit and another setting: all limits of that tenant beside it.
//! 7. The leaders race: each gets seed after seed until the others are told apart from the best.
//!    Where chance decides, they get up to four times as many seeds as asked for.
//! 8. The winner and the runner-up run again with fresh seeds. The seeds by which a winner was
//!    chosen flatter it, so that only the fresh ones count for its figures.

mod limits;
mod pairs;

use flashlane::Error;

use super::candidate::Candidate;
use super::field::{Field, LeftOut};
use super::race::{self, Race, Scores};
use super::space;

/// Seeds of every candidate in the first rounds.
const FIRST_SEEDS: u64 = 2;
/// The number of candidates that race for the first place, with two seeds each at the start, and
/// the number of those that are left after each further seed.
const LEADERS: [usize; 4] = [40, 30, 20, 10];
/// So many times the seeds that were asked for are run where chance decides.
const MORE_SEEDS: u64 = 4;
/// The fewest fresh seeds for the winner's figures: as many as an interval of a median needs.
const FRESH_SEEDS: u64 = 6;

/// Who was chosen.
pub(super) struct Choice {
    /// The best candidate that may be chosen. `None` if nothing is better than the unchanged drive.
    pub(super) winner: Option<usize>,
    /// The second best one, which is no part of the winner and has the winner as no part.
    pub(super) runner_up: Option<usize>,
    /// The seeds of the winner's figures, which had no part in the choice.
    pub(super) fresh: Vec<u64>,
}

pub(super) struct Course<'f, 'a> {
    pub(super) field: &'f mut Field<'a>,
    pub(super) first_seed: u64,
    pub(super) seeds: u64,
    /// The place of the tenant that the goal protects.
    pub(super) victim: usize,
    /// False if only listed candidates are tried.
    pub(super) with_limits: bool,
}

impl Course<'_, '_> {
    fn seed(&self, number: u64) -> u64 {
        self.first_seed.wrapping_add(number)
    }

    /// Tries the candidates, then limits and pairs, and chooses.
    pub(super) fn run(&mut self, candidates: Vec<Candidate>) -> Result<Choice, Error> {
        self.alone(candidates)?;
        if self.with_limits && self.field.has_time() {
            self.limits()?;
        }
        if self.field.has_time() {
            let parents = self.parents();
            self.pairs("the best in pairs", parents)?;
        }
        if self.with_limits && self.field.has_time() {
            self.limits_beside_promising()?;
        }
        if self.field.has_time() {
            self.climb()?;
        }
        if self.with_limits && self.field.has_time() {
            self.limits_beside()?;
        }
        let leaders = if self.field.has_time() { self.race()? } else { Vec::new() };
        self.choose(&leaders)
    }

    /// Runs every candidate alone.
    fn alone(&mut self, candidates: Vec<Candidate>) -> Result<(), Error> {
        let seed = self.seed(0);
        let mut entered = Vec::new();
        for candidate in candidates {
            let before = self.field.before(seed);
            if let Some(reason) = space::pointless(&candidate, before) {
                let reason = reason.to_owned();
                self.field.left_out.push(LeftOut { candidate, reason, refused: false });
                continue;
            }
            entered.extend(self.field.enter(candidate).filter(|&at| at > 0));
        }
        self.field.run("each alone", &with(&entered, seed))?;
        for number in 1..FIRST_SEEDS.min(self.seeds) {
            entered.retain(|&at| !self.field.is_idle(at) && !self.is_hopeless(at));
            if !self.field.has_time() {
                return Ok(());
            }
            let seed = self.seed(number);
            self.field.run("each alone, once more", &with(&entered, seed))?;
        }
        Ok(())
    }

    /// True if a candidate is clearly worse than the unchanged drive with the first seed.
    fn is_hopeless(&self, at: usize) -> bool {
        let (unchanged, scores) = (self.field.scores(0), self.field.scores(at));
        let worse = race::difference(&unchanged, &scores);
        self.field.entries[at].failed.is_some() || worse > 0.25 * race::level(&unchanged)
    }

    /// Candidates that may be chosen and are better than the unchanged drive, the best first.
    fn ranking(&self, among: impl Fn(&Candidate) -> bool) -> Vec<usize> {
        self.ranked(|at| {
            among(&self.field.entries[at].candidate) && self.field.barred(at).is_none()
        })
    }

    /// Candidates that are better than the unchanged drive, the best first.
    fn ranked(&self, among: impl Fn(usize) -> bool) -> Vec<usize> {
        let fit = (1..self.field.entries.len()).filter(|&at| among(at));
        let scores: Vec<(usize, Scores)> = fit.map(|at| (at, self.field.scores(at))).collect();
        let unchanged = self.field.scores(0);
        let runners = scores.iter().map(|one| (one.0, &one.1)).collect();
        let mut ranking = Race { unchanged: &unchanged, runners }.ranking();
        let some = -race::TIE * race::level(&unchanged);
        ranking.retain(|&at| race::difference(&unchanged, &self.field.scores(at)) < some);
        ranking
    }

    /// True if all settings of a candidate are among those of an entry.
    fn is_part(&self, part: &Candidate, whole: usize) -> bool {
        let whole = &self.field.entries[whole].candidate;
        part.sets.iter().all(|set| whole.sets.contains(set))
    }

    /// The best ones without pairs of which one half is as good, and the halves of the pairs among
    /// them: whether a second setting is worth it, only as many seeds of both show.
    fn leaders(&self) -> Vec<usize> {
        let ranking = self.ranking(|_| true);
        let is_worth = |at: &&usize| self.field.as_good_part(**at).is_none();
        let worth = ranking.iter().filter(is_worth).take(LEADERS[1]);
        let others = ranking.iter().filter(|at| !is_worth(at)).take(LEADERS[0] - LEADERS[1]);
        let best: Vec<usize> = worth.chain(others).copied().collect();
        let is_half = |at: usize| {
            let one = &self.field.entries[at].candidate;
            !one.is_pair() && best.iter().any(|&pair| self.is_part(one, pair))
        };
        let leads = |at: &usize| best.contains(at) || is_half(*at);
        ranking.into_iter().filter(leads).collect()
    }

    /// Gives the leaders seed after seed, and drops those that cannot win. Returns them, the best
    /// first.
    fn race(&mut self) -> Result<Vec<usize>, Error> {
        let mut leaders = self.leaders();
        for number in 0..MORE_SEEDS * self.seeds {
            let open = number < self.seeds || self.is_open(&leaders);
            if !open || !self.field.has_time() {
                break;
            }
            let seed = self.seed(number);
            self.field.run("the leaders", &with(&leaders, seed))?;
            leaders.retain(|&at| self.field.barred(at).is_none());
            if number + 1 >= FIRST_SEEDS {
                // One that is alone needs no further seed to be chosen.
                leaders = self.in_reach(&leaders);
                let round = ((number + 1 - FIRST_SEEDS) as usize).min(LEADERS.len() - 1);
                leaders.truncate(LEADERS[round]);
            }
            if leaders.len() <= 1 {
                break;
            }
        }
        Ok(leaders)
    }

    /// The leaders that may still be the best.
    fn in_reach(&self, among: &[usize]) -> Vec<usize> {
        self.raced(among, |race| race.in_reach())
    }

    /// True if chance decides who is the best.
    fn is_open(&self, among: &[usize]) -> bool {
        self.raced(among, |race| race.is_open())
    }

    fn raced<R>(&self, among: &[usize], ask: impl Fn(&Race<'_>) -> R) -> R {
        let scores: Vec<(usize, Scores)> =
            among.iter().map(|&at| (at, self.field.scores(at))).collect();
        let unchanged = self.field.scores(0);
        let runners = scores.iter().map(|one| (one.0, &one.1)).collect();
        ask(&Race { unchanged: &unchanged, runners })
    }

    /// Chooses: among those as good as the best, the one with the fewest settings, then the one
    /// that costs least. The runner-up is the best one that shares no setting with the winner.
    fn choose(&mut self, leaders: &[usize]) -> Result<Choice, Error> {
        let ranking = self.ranking(|_| true);
        let leaders = if leaders.is_empty() { &ranking[..] } else { leaders };
        let winner = self.simplest(leaders)?;
        let shares = |one: usize, other: usize| {
            let sets = |at: usize| &self.field.entries[at].candidate.sets;
            let kind = |at: usize| &self.field.entries[at].candidate.families;
            sets(one).iter().any(|set| sets(other).contains(set))
                || kind(one).iter().any(|family| kind(other).contains(family))
        };
        let others = |winner: usize| ranking.iter().copied().find(|&at| !shares(at, winner));
        let runner_up = winner.and_then(others);
        let used = self.seeds.max(FIRST_SEEDS).max(self.field.entries[0].runs.len() as u64);
        let fresh = self.seeds.max(FRESH_SEEDS);
        let fresh: Vec<u64> = (used..used + fresh).map(|number| self.seed(number)).collect();
        let chosen: Vec<usize> = winner.into_iter().chain(runner_up).collect();
        // The drive as it is comes along, and is the answer where nothing else is.
        let chosen = if chosen.is_empty() { vec![0] } else { chosen };
        let wanted: Vec<(usize, u64)> =
            fresh.iter().flat_map(|&seed| with(&chosen, seed)).collect();
        self.field.run("the answer with fresh seeds", &wanted)?;
        Ok(Choice { winner, runner_up, fresh })
    }

    /// The simplest one that is as good as the best. Each has as many seeds as the best before it
    /// counts as that good.
    fn simplest(&mut self, leaders: &[usize]) -> Result<Option<usize>, Error> {
        // After more seeds, a leader may be no better than the unchanged drive.
        let ranking = self.ranking(|_| true);
        let best = leaders.iter().copied().find(|at| ranking.contains(at));
        let Some(best) = best else { return Ok(None) };
        let seeds: Vec<u64> = self.field.entries[best].runs.keys().copied().collect();
        loop {
            let found = self.simplest_so_far(best);
            let runs = &self.field.entries[found].runs;
            let missing: Vec<(usize, u64)> =
                seeds.iter().filter(|seed| !runs.contains_key(seed)).map(|&s| (found, s)).collect();
            if missing.is_empty() || !self.field.has_time() {
                return Ok(Some(found));
            }
            self.field.run("as good with fewer seeds", &missing)?;
        }
    }

    fn simplest_so_far(&self, best: usize) -> usize {
        let scores: Vec<(usize, Scores)> =
            self.ranking(|_| true).into_iter().map(|at| (at, self.field.scores(at))).collect();
        let unchanged = self.field.scores(0);
        let runners = scores.iter().map(|one| (one.0, &one.1)).collect();
        let race = Race { unchanged: &unchanged, runners };
        let as_good = scores.iter().map(|one| one.0);
        let as_good = as_good.filter(|&at| at == best || race.is_tie(best, at));
        let simplest = as_good.min_by(|&a, &b| {
            let sets = |at: usize| self.field.entries[at].candidate.families.len();
            let loss = |at: usize| self.field.loss(at);
            sets(a).cmp(&sets(b)).then(loss(a).total_cmp(&loss(b))).then(a.cmp(&b))
        });
        simplest.unwrap_or(best)
    }
}

fn with(entries: &[usize], seed: u64) -> Vec<(usize, u64)> {
    entries.iter().map(|&at| (at, seed)).collect()
}
