//! Runs candidates, and keeps the figures of each run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use flashlane::config::{DeviceConfig, FlowConfig, WindowRule, WorkloadConfig};
use flashlane::metrics::{Baseline, Summary};
use flashlane::{Error, RunOptions, partial_runs};

use super::candidate::Candidate;
use super::figures::{Figures, Tenant};
use super::goal::Goal;
use super::keep::Keeps;
use super::kinds::{Kind, kind_of};
use super::middle;
use super::race::{self, Scores};
use crate::base::Scenario;
use crate::sweep::{Found, Outcome, Point, Sweep};

/// Most runs whose whole results are in memory at a time.
const AT_A_TIME: usize = 256;

/// A candidate that is in the race, or was.
pub(super) struct Entry {
    pub(super) candidate: Candidate,
    /// The figures of each seed.
    pub(super) runs: BTreeMap<u64, Run>,
    /// Why a run of it has no result.
    pub(super) failed: Option<String>,
    /// The whole configuration, to tell candidates that come to the same.
    pub(super) resolved: (DeviceConfig, WorkloadConfig),
}

/// A run of a candidate.
pub(super) struct Run {
    pub(super) figures: Figures,
    /// The figure of the goal.
    pub(super) value: f64,
}

/// A candidate that was not run, and the reason.
pub(super) struct LeftOut {
    pub(super) candidate: Candidate,
    pub(super) reason: String,
    /// True if the configuration is refused.
    pub(super) refused: bool,
}

/// What the caller wants to know while it waits: what is done, and runs that are over.
pub trait Told: Sync {
    /// A round begins. `runs`: the number of its runs.
    fn round(&self, what: &str, runs: usize);
    /// A run is over, or was found.
    fn run(&self, found: &Found);
}

/// All candidates with their runs. Number 0 is the unchanged drive.
pub(super) struct Field<'a> {
    pub(super) sweep: &'a Sweep,
    pub(super) goal: &'a Goal,
    pub(super) keeps: &'a Keeps,
    pub(super) kinds: Vec<Kind>,
    pub(super) scenario: Scenario,
    pub(super) entries: Vec<Entry>,
    pub(super) left_out: Vec<LeftOut>,
    /// The tenants alone on the unchanged drive, by seed.
    alone: BTreeMap<u64, Baseline>,
    needs_alone: bool,
    pub(super) jobs: usize,
    pub(super) told: &'a dyn Told,
    /// The number of simulations, of tenants alone as well.
    pub(super) simulations: usize,
    /// How many runs were found in the folder.
    pub(super) found: usize,
    pub(super) until: Option<Instant>,
    /// True if the time was over before the advice was complete.
    pub(super) cut: bool,
}

impl<'a> Field<'a> {
    pub(super) fn new(
        sweep: &'a Sweep,
        goal: &'a Goal,
        keeps: &'a Keeps,
        kinds: Vec<Kind>,
        scenario: Scenario,
        told: &'a dyn Told,
    ) -> Self {
        let flows = &scenario.workload.config.flows;
        let slowdown =
            flows.iter().any(|flow| flow.slo.as_ref().is_some_and(|slo| slo.slowdown.is_some()));
        let needs_alone = goal.needs_alone() || slowdown;
        let resolved = (scenario.device.config.clone(), scenario.workload.config.clone());
        let unchanged = Entry::new(Candidate::unchanged(), resolved);
        Self {
            sweep,
            goal,
            keeps,
            kinds,
            scenario,
            entries: vec![unchanged],
            left_out: Vec::new(),
            alone: BTreeMap::new(),
            needs_alone,
            jobs: 1,
            told,
            simulations: 0,
            found: 0,
            until: None,
            cut: false,
        }
    }

    pub(super) fn ends_after(&mut self, budget: Option<Duration>) {
        self.until = budget.and_then(|budget| Instant::now().checked_add(budget));
    }

    /// True if there is time for another round.
    pub(super) fn has_time(&mut self) -> bool {
        self.cut |= self.until.is_some_and(|until| Instant::now() >= until);
        !self.cut
    }

    /// Takes a candidate into the race, unless it is refused. Returns its number, or that of an
    /// earlier one that comes to the same: 0 if it changes nothing.
    pub(super) fn enter(&mut self, candidate: Candidate) -> Option<usize> {
        let resolved = match self.sweep.source.scenario(&super::candidate::point(&candidate.sets)) {
            Ok(changed) => (changed.device.config, changed.workload.config),
            Err(error) => {
                let why = error.to_string();
                let reason = why.lines().next().unwrap_or_default().to_owned();
                self.left_out.push(LeftOut { candidate, reason, refused: true });
                return None;
            }
        };
        if let Some(known) = self.entries.iter().position(|entry| entry.resolved == resolved) {
            return Some(known);
        }
        self.entries.push(Entry::new(candidate, resolved));
        Some(self.entries.len() - 1)
    }

    /// Runs these candidates with these seeds, unless that was done. The unchanged drive runs with
    /// all of these seeds, too.
    pub(super) fn run(&mut self, what: &str, wanted: &[(usize, u64)]) -> Result<(), Error> {
        let mut all: Vec<(usize, u64)> = wanted.iter().map(|&(_, seed)| (0, seed)).collect();
        all.extend_from_slice(wanted);
        all.sort_unstable();
        all.dedup();
        all.retain(|(at, seed)| {
            let entry = &self.entries[*at];
            entry.failed.is_none() && !entry.runs.contains_key(seed)
        });
        self.told.round(what, all.len());
        for part in all.chunks(AT_A_TIME) {
            let points: Vec<Point> = part.iter().map(|&(at, seed)| self.point(at, seed)).collect();
            let told = self.told;
            let found = self.sweep.run(&points, self.jobs, &|_, one| told.run(one))?;
            for (&(at, seed), one) in part.iter().zip(found) {
                self.found += usize::from(one.was_kept);
                self.simulations += 1 + if at == 0 { self.runs_alone() } else { 0 };
                self.take(at, seed, one.outcome)?;
            }
        }
        Ok(())
    }

    fn point(&self, at: usize, seed: u64) -> Point {
        self.entries[at].candidate.point(seed, at == 0 && self.needs_alone)
    }

    /// The number of runs of tenants alone for each run of the unchanged drive.
    fn runs_alone(&self) -> usize {
        let options = RunOptions { alone: self.needs_alone, ..self.sweep.options.clone() };
        partial_runs(&self.scenario.device.config, &self.scenario.workload.config, &options)
    }

    /// Takes the result of a run. The unchanged drive comes first.
    fn take(&mut self, at: usize, seed: u64, outcome: Outcome) -> Result<(), Error> {
        let summary = match outcome {
            Outcome::Done(value) => serde_json::from_value::<Summary>(value)
                .map_err(|error| Error::Output(format!("the result of a run: {error}")))?,
            Outcome::Failed(_, why) if at == 0 => {
                return Err(Error::config("the drive as it is", why));
            }
            Outcome::Failed(_, why) => {
                let first = why.lines().next().unwrap_or_default().to_owned();
                self.entries[at].failed = Some(first);
                return Ok(());
            }
        };
        if at == 0
            && let Some(alone) = Baseline::of(&summary, None)
        {
            self.alone.insert(seed, alone);
        }
        let mut figures = Figures::of(summary, self.alone.get(&seed));
        if at > 0 {
            self.keep_rates(at, seed, &mut figures);
        }
        let limited = &self.entries[at].candidate.limited;
        let before = if at == 0 { &figures } else { &self.entries[0].runs[&seed].figures };
        match self.goal.value(&figures, before, limited) {
            Some(value) => {
                self.entries[at].runs.insert(seed, Run { figures, value });
            }
            None if at == 0 => {
                let why = "no figure: a tenant has no counted request, or nobody has a goal";
                return Err(Error::config(format!("--goal {}", self.goal.text()), why));
            }
            None => {
                let why = "a tenant has no counted request".to_owned();
                self.entries[at].failed = Some(why);
            }
        }
        Ok(())
    }

    /// Where the whole run counts, its length is that of the slowest tenant, and the rates of
    /// others fall with it. An open loop that is neither limited nor saturated keeps its rate.
    fn keep_rates(&self, at: usize, seed: u64, figures: &mut Figures) {
        let workload = &self.scenario.workload.config;
        if workload.window != WindowRule::WholeRun {
            return;
        }
        let limited = &self.entries[at].candidate.limited;
        for (tenant, flow) in workload.flows.iter().enumerate() {
            let now = &mut figures.tenants[tenant];
            if is_open(flow) && !limited.contains(&tenant) && !now.grows {
                let before = &self.before(seed).tenants[tenant];
                (now.iops, now.bandwidth) = (before.iops, before.bandwidth);
            }
        }
    }

    /// The figures of the unchanged drive under a seed.
    pub(super) fn before(&self, seed: u64) -> &Figures {
        &self.entries[0].runs[&seed].figures
    }

    /// What a candidate is ranked by, under each of its seeds.
    pub(super) fn scores(&self, at: usize) -> Scores {
        let score = |(&seed, run): (&u64, &Run)| {
            (seed, self.goal.score(run.value, &run.figures, self.before(seed)))
        };
        self.entries[at].runs.iter().map(score).collect()
    }

    /// What a candidate would be ranked by if its slowest tenant were helped by something else.
    pub(super) fn promise(&self, at: usize) -> Option<f64> {
        let entry = &self.entries[at];
        let limited = &entry.candidate.limited;
        let of = |(&seed, run): (&u64, &Run)| {
            self.goal.promise(&run.figures, self.before(seed), limited)
        };
        middle::median(entry.runs.iter().map(of).collect::<Option<Vec<f64>>>()?)
    }

    /// Why a candidate may not be chosen. `None` if it may.
    pub(super) fn barred(&self, at: usize) -> Option<String> {
        let entry = &self.entries[at];
        if let Some(why) = &entry.failed {
            return Some(why.clone());
        }
        if entry.runs.is_empty() {
            return Some("it was not run".to_owned());
        }
        (0..self.entries[0].candidate_tenants()).find_map(|tenant| self.breaks(at, tenant))
    }

    /// What a candidate breaks for a tenant.
    fn breaks(&self, at: usize, tenant: usize) -> Option<String> {
        let entry = &self.entries[at];
        let now: Vec<&Tenant> =
            entry.runs.values().map(|run| &run.figures.tenants[tenant]).collect();
        let before: Vec<&Tenant> =
            entry.runs.keys().map(|&seed| &self.before(seed).tenants[tenant]).collect();
        let kind = &kind_of(&self.kinds, tenant).name;
        if let Some(why) = self.keeps.broken(kind, &now, &before) {
            return Some(why);
        }
        let often = |runs: &[&Tenant], is: fn(&Tenant) -> bool| {
            2 * runs.iter().filter(|one| is(one)).count() > runs.len()
        };
        let name = &self.before(*entry.runs.keys().next()?).tenants[tenant].name;
        if often(&now, |one| one.starved) && !often(&before, |one| one.starved) {
            return Some(format!("the drive would serve nothing of {name}"));
        }
        let limited = entry.candidate.limited.contains(&tenant);
        let falls_behind = often(&now, |one| one.grows) && !often(&before, |one| one.grows);
        (falls_behind && !limited).then(|| format!("the drive would not keep up with {name}"))
    }

    /// True if every figure of a candidate is that of the unchanged drive.
    pub(super) fn is_idle(&self, at: usize) -> bool {
        let entry = &self.entries[at];
        let same = |(&seed, run): (&u64, &Run)| run.figures == *self.before(seed);
        !entry.runs.is_empty() && entry.runs.iter().all(same)
    }

    /// The part of a pair that is as good as the pair, by the seeds that both have.
    pub(super) fn as_good_part(&self, at: usize) -> Option<usize> {
        let pair = &self.entries[at].candidate;
        let scores = self.scores(at);
        let some = race::TIE * race::level(&scores);
        let is_part = |one: &Candidate| one.sets.iter().all(|set| pair.sets.contains(set));
        (1..self.entries.len()).find(|&one| {
            let part = &self.entries[one].candidate;
            pair.is_pair()
                && !part.is_pair()
                && is_part(part)
                && race::difference(&scores, &self.scores(one)) <= some
        })
    }

    /// The largest part of its rate that a tenant loses, by the medians.
    pub(super) fn loss(&self, at: usize) -> f64 {
        let entry = &self.entries[at];
        let of = |tenant: usize| {
            let rate = |at: usize| -> f64 {
                let runs = entry.runs.keys().filter_map(|seed| self.entries[at].runs.get(seed));
                middle::median(runs.map(|run| run.figures.tenants[tenant].iops)).unwrap_or(0.0)
            };
            let (now, before) = (rate(at), rate(0));
            if before > 0.0 { (1.0 - now / before).max(0.0) } else { 0.0 }
        };
        (0..self.entries[0].candidate_tenants()).map(of).fold(0.0, f64::max)
    }
}

/// True if the requests of a flow come by the clock.
fn is_open(flow: &FlowConfig) -> bool {
    let synthetic = flow.synthetic.as_ref();
    let by_rate = synthetic.is_some_and(|one| one.iops.is_some() || one.bandwidth.is_some());
    let by_trace = flow.trace.as_ref().is_some_and(|trace| trace.queue_depth.is_none());
    by_rate || by_trace || flow.clone.is_some()
}

impl Entry {
    fn new(candidate: Candidate, resolved: (DeviceConfig, WorkloadConfig)) -> Self {
        Self { candidate, runs: BTreeMap::new(), failed: None, resolved }
    }

    /// The number of tenants, by the first run.
    pub(super) fn candidate_tenants(&self) -> usize {
        self.runs.values().next().map_or(0, |run| run.figures.tenants.len())
    }
}
