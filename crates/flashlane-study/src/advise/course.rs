//! The course of an advice, round by round.
//!
//! 1. Every candidate alone, with one seed; those with an effect with a second one.
//! 2. Limits: for each other tenant, the level at which the goal is reached best.
//! 3. The best ones in pairs, and the best of the first three kinds with everything else.
//! 4. A limit that is half of the best pair is searched again, beside the other half.
//! 5. The leaders race: each gets seed after seed until the others are told apart from the best.
//! 6. The winner and the runner-up run again with fresh seeds. The seeds by which a winner was
//!    chosen flatter it, so that only the fresh ones count for its figures.

use flashlane::Error;

use super::candidate::Candidate;
use super::field::{Field, LeftOut};
use super::kinds::{Kind, kind_of};
use super::limit::{self, Search};
use super::race::{self, Race, Scores};
use super::space;

/// Seeds of every candidate in the first rounds.
const FIRST_SEEDS: u64 = 2;
/// The number of candidates that are tried in pairs.
const PARENTS: usize = 8;
/// The number of them of the same kind.
const OF_A_KIND: usize = 2;
/// The number of kinds whose best candidate is tried with everything.
const BESIDE_ALL: usize = 3;
/// The number of candidates that race for the first place.
const LEADERS: usize = 10;
/// Most tenants for whose rates limits are searched: those that move most data.
const LIMITED: usize = 6;

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
            self.limits(None)?;
        }
        if self.field.has_time() {
            self.pairs()?;
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
        let worse = race::mean_difference(&unchanged, &scores);
        self.field.entries[at].failed.is_some() || worse > 0.25 * race::level(&unchanged)
    }

    /// The kinds of tenants whose rates may be limited: all but that of the victim.
    fn limitable(&self) -> Vec<Kind> {
        let field = &self.field;
        let before = field.before(self.seed(0));
        let own = &kind_of(&field.kinds, self.victim).name;
        let rate = |kind: &Kind| -> f64 {
            kind.members.iter().map(|&at| before.tenants[at].bandwidth).sum()
        };
        let others = field.kinds.iter().filter(|kind| kind.name != *own && rate(kind) > 0.0);
        let mut others: Vec<Kind> = others.cloned().collect();
        others.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
        others.truncate(LIMITED);
        others
    }

    /// The parts of its rate to which a kind may be limited.
    fn parts(&self, kind: &Kind) -> &'static [f64] {
        let before = self.field.before(self.seed(0));
        let least = kind.members.iter().map(|&at| {
            let tenant = &before.tenants[at];
            self.field.keeps.least_part(tenant, &kind.name)
        });
        limit::parts(least.fold(0.0, f64::max))
    }

    /// Searches the best limit of each other tenant, beside another candidate if there is one. All
    /// searches go on at the same time. One ends at once where a limit has no effect.
    fn limits(&mut self, beside: Option<(usize, Kind)>) -> Result<(), Error> {
        let kinds = beside.as_ref().map_or_else(|| self.limitable(), |one| vec![one.1.clone()]);
        let beside = beside.map(|one| self.field.entries[one.0].candidate.clone());
        let before = self.field.before(self.seed(0)).clone();
        let mut searches: Vec<(Kind, Search)> = Vec::new();
        for kind in kinds {
            let levels = self.parts(&kind).len();
            if levels > 0 {
                searches.push((kind, Search::new(levels)));
            }
        }
        while self.field.has_time() {
            let mut asked: Vec<(usize, usize, usize)> = Vec::new();
            for (number, (kind, search)) in searches.iter_mut().enumerate() {
                for level in search.wanted() {
                    let part = self.parts(kind)[level];
                    let one = space::limit(kind, part, &before);
                    let both = beside.as_ref().map_or(Some(one.clone()), |other| other.with(&one));
                    let entered = both.and_then(|both| self.field.enter(both));
                    asked.extend(entered.map(|at| (number, level, at)));
                }
            }
            if asked.is_empty() {
                return Ok(());
            }
            let entries: Vec<usize> = asked.iter().map(|one| one.2).collect();
            let seeds = FIRST_SEEDS.min(self.seeds);
            let wanted: Vec<(usize, u64)> =
                (0..seeds).flat_map(|number| with(&entries, self.seed(number))).collect();
            self.field.run("limits", &wanted)?;
            let unchanged = self.field.scores(0);
            for (number, level, at) in asked {
                let score = race::mean_difference(&unchanged, &self.field.scores(at));
                searches[number].1.tell(level, score);
            }
            let some = TIE_TO_GO_ON * race::level(&unchanged);
            searches.retain(|(_, search)| search.best().is_some_and(|best| best.1 < -some));
        }
        Ok(())
    }

    /// Candidates that may be chosen and are better than the unchanged drive, the best first.
    fn ranking(&self, among: impl Fn(&Candidate) -> bool) -> Vec<usize> {
        let all = 1..self.field.entries.len();
        let fit = all.filter(|&at| {
            among(&self.field.entries[at].candidate) && self.field.barred(at).is_none()
        });
        let scores: Vec<(usize, Scores)> = fit.map(|at| (at, self.field.scores(at))).collect();
        let unchanged = self.field.scores(0);
        let runners = scores.iter().map(|one| (one.0, &one.1)).collect();
        let mut ranking = Race { unchanged: &unchanged, runners }.ranking();
        let some = -race::TIE * race::level(&unchanged);
        ranking.retain(|&at| race::mean_difference(&unchanged, &self.field.scores(at)) < some);
        ranking
    }

    /// The candidates that are tried in pairs: the best ones with each other, and the best of the
    /// first kinds with everything, since some settings only matter beside these.
    fn parents(&self) -> Vec<(usize, usize)> {
        let mut parents: Vec<usize> = Vec::new();
        for at in self.ranking(|one| !one.is_pair()) {
            let family = |at: usize| &self.field.entries[at].candidate.families[0];
            let same = parents.iter().filter(|&&one| family(one) == family(at)).count();
            if same < OF_A_KIND && parents.len() < PARENTS {
                parents.push(at);
            }
        }
        let family = |at: usize| &self.field.entries[at].candidate.families[0];
        let mut beside: Vec<usize> = Vec::new();
        for &at in &parents {
            if beside.len() < BESIDE_ALL && beside.iter().all(|&one| family(one) != family(at)) {
                beside.push(at);
            }
        }
        let singles = (1..self.field.entries.len()).filter(|&at| {
            let entry = &self.field.entries[at];
            let limited = entry.candidate.families[0].starts_with(space::LIMIT);
            !entry.candidate.is_pair() && entry.failed.is_none() && !limited
        });
        let singles: Vec<usize> = singles.collect();
        let with_all = |&best: &usize| singles.iter().map(move |&at| (best, at));
        let mut pairs: Vec<(usize, usize)> = beside.iter().flat_map(with_all).collect();
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

    /// The pairs: one seed for all of them, and a second one for the best.
    fn pairs(&mut self) -> Result<(), Error> {
        let mut entered = Vec::new();
        for (first, second) in self.parents() {
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
            self.field.run("the best in pairs", &with(&entered, seed))?;
            let ranking = self.ranking(Candidate::is_pair);
            entered.retain(|at| ranking.iter().take(2 * PARENTS).any(|one| one == at));
        }
        Ok(())
    }

    /// Where the best pair has a limit, searches the limit again beside the other half.
    fn limits_beside(&mut self) -> Result<(), Error> {
        let best = self.ranking(|_| true).first().copied();
        let Some(pair) = best.filter(|&at| self.field.entries[at].candidate.is_pair()) else {
            return Ok(());
        };
        let families = self.field.entries[pair].candidate.families.clone();
        for family in &families {
            let limited = family.strip_prefix(space::LIMIT);
            let kind = self.field.kinds.iter().find(|kind| Some(kind.name.as_str()) == limited);
            let Some(kind) = kind.cloned() else { continue };
            let rest = families.iter().find(|other| *other != family);
            let half = self.ranking(|one| {
                !one.is_pair() && one.families.first() == rest && self.is_part(one, pair)
            });
            if let Some(&half) = half.first() {
                self.limits(Some((half, kind)))?;
            }
        }
        Ok(())
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
        let worth = ranking.iter().filter(|&&at| self.field.as_good_part(at).is_none());
        let best: Vec<usize> = worth.take(LEADERS).copied().collect();
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
        for number in 0..self.seeds {
            if !self.field.has_time() {
                break;
            }
            let seed = self.seed(number);
            self.field.run("the leaders", &with(&leaders, seed))?;
            leaders.retain(|&at| self.field.barred(at).is_none());
            if number + 1 >= FIRST_SEEDS {
                // One that is alone needs no further seed to be chosen.
                leaders = self.in_reach(&leaders);
            }
            if leaders.len() <= 1 {
                break;
            }
        }
        Ok(leaders)
    }

    fn in_reach(&self, among: &[usize]) -> Vec<usize> {
        let scores: Vec<(usize, Scores)> =
            among.iter().map(|&at| (at, self.field.scores(at))).collect();
        let unchanged = self.field.scores(0);
        let runners = scores.iter().map(|one| (one.0, &one.1)).collect();
        Race { unchanged: &unchanged, runners }.in_reach()
    }

    /// Chooses: among those as good as the best, the one with the fewest settings, then the one
    /// that costs least. The runner-up is the best one that shares no setting with the winner.
    fn choose(&mut self, leaders: &[usize]) -> Result<Choice, Error> {
        let ranking = self.ranking(|_| true);
        let leaders = if leaders.is_empty() { &ranking[..] } else { leaders };
        let winner = self.simplest(leaders);
        let shares = |one: usize, other: usize| {
            let sets = |at: usize| &self.field.entries[at].candidate.sets;
            let kind = |at: usize| &self.field.entries[at].candidate.families;
            sets(one).iter().any(|set| sets(other).contains(set))
                || kind(one).iter().any(|family| kind(other).contains(family))
        };
        let others = |winner: usize| ranking.iter().copied().find(|&at| !shares(at, winner));
        let runner_up = winner.and_then(others);
        let fresh: Vec<u64> =
            (self.seeds..2 * self.seeds.max(2)).map(|number| self.seed(number)).collect();
        let chosen: Vec<usize> = winner.into_iter().chain(runner_up).collect();
        // The drive as it is comes along, and is the answer where nothing else is.
        let chosen = if chosen.is_empty() { vec![0] } else { chosen };
        let wanted: Vec<(usize, u64)> =
            fresh.iter().flat_map(|&seed| with(&chosen, seed)).collect();
        self.field.run("the answer with fresh seeds", &wanted)?;
        Ok(Choice { winner, runner_up, fresh })
    }

    fn simplest(&self, leaders: &[usize]) -> Option<usize> {
        let ranking = self.ranking(|_| true);
        // After more seeds, a leader may be no better than the unchanged drive.
        let best = leaders.iter().copied().find(|at| ranking.contains(at))?;
        let scores: Vec<(usize, Scores)> =
            ranking.into_iter().map(|at| (at, self.field.scores(at))).collect();
        let unchanged = self.field.scores(0);
        let runners = scores.iter().map(|one| (one.0, &one.1)).collect();
        let race = Race { unchanged: &unchanged, runners };
        let as_good = scores.iter().map(|one| one.0);
        let as_good = as_good.filter(|&at| at == best || race.is_tie(best, at));
        as_good.min_by(|&a, &b| {
            let sets = |at: usize| self.field.entries[at].candidate.families.len();
            let loss = |at: usize| self.field.loss(at);
            sets(a).cmp(&sets(b)).then(loss(a).total_cmp(&loss(b))).then(a.cmp(&b))
        })
    }
}

/// The part of the present score that a limit has to gain for its search to go on.
const TIE_TO_GO_ON: f64 = 0.01;

fn with(entries: &[usize], seed: u64) -> Vec<(usize, u64)> {
    entries.iter().map(|&at| (at, seed)).collect()
}
