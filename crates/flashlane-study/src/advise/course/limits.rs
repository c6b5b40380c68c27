//! Searches the limits of the other tenants' rates.

use flashlane::Error;

use super::{Course, FIRST_SEEDS, with};
use crate::advise::kinds::{Kind, kind_of};
use crate::advise::limit::{self, Search};
use crate::advise::{race, space};

/// Most tenants for whose rates limits are searched: those that move most data.
const LIMITED: usize = 6;
/// The part of the present score that a limit has to gain for its search to go on.
const TIE_TO_GO_ON: f64 = 0.01;

/// The number of settings that are tried although a tenant is slow beside them.
const PROMISING: usize = 2;
/// The number of limits of each tenant that are tried beside a promising setting.
const LOOSE: usize = 2;
/// The step from one of these limits to the next one, in the list of all.
const LOOSE_STEP: usize = 3;
/// The number of best candidates whose limits are searched again.
const REFINED: usize = 2;

impl Course<'_, '_> {
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

    /// Searches the best limit of each other tenant. All searches go on at the same time. One ends
    /// at once where a limit has no effect.
    pub(super) fn limits(&mut self) -> Result<(), Error> {
        let before = self.field.before(self.seed(0)).clone();
        let mut searches: Vec<(Kind, Search)> = Vec::new();
        for kind in self.limitable() {
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
                    let entered = self.field.enter(space::limit(kind, part, &before));
                    asked.extend(entered.map(|at| (number, level, at)));
                }
            }
            if asked.is_empty() {
                return Ok(());
            }
            let entries: Vec<usize> = asked.iter().map(|one| one.2).collect();
            self.run_limits(&entries)?;
            let unchanged = self.field.scores(0);
            for (number, level, at) in asked {
                let score = race::difference(&unchanged, &self.field.scores(at));
                searches[number].1.tell(level, score);
            }
            let some = TIE_TO_GO_ON * race::level(&unchanged);
            searches.retain(|(_, search)| search.best().is_some_and(|best| best.1 < -some));
        }
        Ok(())
    }

    fn run_limits(&mut self, entries: &[usize]) -> Result<(), Error> {
        let seeds = FIRST_SEEDS.min(self.seeds);
        let wanted: Vec<(usize, u64)> =
            (0..seeds).flat_map(|number| with(entries, self.seed(number))).collect();
        self.field.run("limits", &wanted)
    }

    /// Tries limits beside the settings that would be best if their slowest tenant were helped:
    /// another tenant may be what slows it down. The limits are loose, since that tenant may lose
    /// by the setting as well.
    pub(super) fn limits_beside_promising(&mut self) -> Result<(), Error> {
        let before = self.field.before(self.seed(0)).clone();
        let mut entries = Vec::new();
        for promising in self.promising() {
            let setting = self.field.entries[promising].candidate.clone();
            for kind in self.limitable() {
                for &part in self.parts(&kind).iter().step_by(LOOSE_STEP).take(LOOSE) {
                    let pair = setting.with(&space::limit(&kind, part, &before));
                    entries.extend(pair.and_then(|pair| self.field.enter(pair)));
                }
            }
        }
        self.field.run("loose limits", &with(&entries, self.seed(0)))
    }

    /// The settings that would be best if their slowest tenant were helped, without those that are
    /// no better even then than the best one as it is.
    fn promising(&self) -> Vec<usize> {
        let best = self.ranking(|_| true).first().copied().unwrap_or(0);
        let best = race::level(&self.field.scores(best));
        let all = self.singles().into_iter();
        let all = all.filter(|&at| !self.field.entries[at].candidate.is_limit());
        let promises = all.filter_map(|at| Some((at, self.field.promise(at)?)));
        let mut promises: Vec<(usize, f64)> = promises.filter(|one| one.1 < best).collect();
        promises.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        promises.into_iter().take(PROMISING).map(|one| one.0).collect()
    }

    /// Where one of the two best has a limit and another setting, tries all limits of that tenant
    /// beside the other setting: the search found the best one for the tenant alone, by few seeds.
    pub(super) fn limits_beside(&mut self) -> Result<(), Error> {
        let best: Vec<usize> = self.ranking(|_| true).into_iter().take(REFINED).collect();
        for pair in best {
            if self.field.entries[pair].candidate.is_pair() {
                self.limits_of(pair)?;
            }
        }
        Ok(())
    }

    fn limits_of(&mut self, pair: usize) -> Result<(), Error> {
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
                self.every_limit(half, &kind)?;
            }
        }
        Ok(())
    }

    fn every_limit(&mut self, half: usize, kind: &Kind) -> Result<(), Error> {
        let before = self.field.before(self.seed(0)).clone();
        let half = self.field.entries[half].candidate.clone();
        let limits = self.parts(kind).iter().map(|&part| space::limit(kind, part, &before));
        let pairs = limits.filter_map(|limit| half.with(&limit));
        let entries: Vec<usize> = pairs.filter_map(|pair| self.field.enter(pair)).collect();
        self.run_limits(&entries)
    }
}
