//! Finds how many tenants of one kind, or how much load of one tenant, fit on a drive while all
//! goals are met.
//!
//! A level is a number of copies or a factor of the load. Each level is run with a few seeds. If
//! the confidence interval of a goal contains its limit, more seeds are run. [`bracket`] picks the
//! levels.

mod alone;
mod bracket;
mod growth;
mod limit;
mod trial;

use std::cell::RefCell;

use flashlane::config::validate::FLOWS;
use flashlane::config::{FlowConfig, validate};
use flashlane::metrics::Summary;
use flashlane::{Error, RunOptions, Simulation, simulate_all};
use serde::Serialize;

use crate::base::{Base, Scenario};
pub use alone::TenantsAlone;
use bracket::{Bracket, Reply, largest};
pub use limit::Limit;
pub use trial::{GoalOver, Trial, Verdict};

/// Schema name written into every `plan.json`.
pub const SCHEMA: &str = "flashlane.plan/1";

/// The factor to which a load is found.
const RESOLUTION: f64 = 1.05;
/// The first move in steps of [`RESOLUTION`]: twice the load.
const TWICE: i64 = 14;
/// The largest number of steps of [`RESOLUTION`], up and down: 1,000 times the load.
const STEPS: i64 = 142;

/// The quantity that grows from level to level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grow {
    /// The number of tenants of this kind.
    Count(String),
    /// The load of this tenant, as a factor.
    Load(String),
}

impl Grow {
    /// The tenant that grows.
    #[must_use]
    pub fn flow(&self) -> &str {
        let (Self::Count(flow) | Self::Load(flow)) = self;
        flow
    }
}

/// A question about how much fits on a drive.
#[derive(Clone, Debug)]
pub struct Question {
    /// The drive and its tenants.
    pub base: Base,
    /// The quantity that grows.
    pub grow: Grow,
    /// The largest number of copies to try.
    pub max: u32,
    /// The largest number of seeds for a level. Three seeds are run first.
    pub seeds: u64,
    /// The options of each run.
    pub options: RunOptions,
    /// The tenants alone, against which goals of slowdown are judged.
    pub alone: TenantsAlone,
}

/// A variant of the drive for which the question is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// The settings of the variant, each written `KEY=VALUE`.
    pub sets: Vec<String>,
    /// The number of drives of this variant. The tenants that do not grow are on the first drive.
    pub drives: u32,
}

/// The levels that fit on one drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// The largest level at which all goals are met. Null if the smallest level misses one.
    pub fits: Option<f64>,
    /// The largest level at which all goals are met with their whole confidence interval.
    pub surely: Option<f64>,
    /// The smallest level at which a goal is missed with its whole confidence interval. Null if the
    /// search ended before it found one.
    pub surely_not: Option<f64>,
    /// The reason why no more fits. Null if the search ended before a goal was missed.
    pub limited_by: Option<Limit>,
    /// Every level that was tried, ordered by level.
    pub trials: Vec<Trial>,
    /// The number of simulations that were run.
    pub runs: usize,
}

/// The answer for one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The settings of the variant, each written `KEY=VALUE`.
    pub variant: Vec<String>,
    /// The number of drives.
    pub drives: u32,
    /// The level that fits on all drives together.
    pub fits: f64,
    /// What fits on the first drive, which also has the tenants that do not grow.
    pub first: Fit,
    /// What fits on each of the other drives. Null if there is only one drive.
    pub others: Option<Fit>,
    /// The number of simulations that were run.
    pub runs: usize,
}

impl Question {
    /// Answers the question for one variant. `told` receives a message for each level that is
    /// tried.
    ///
    /// # Errors
    /// Fails if the input is refused or a run fails.
    pub fn answer(&self, variant: &Variant, told: &dyn Fn(&str)) -> Result<Answer, Error> {
        let scenario = self.base.load(&variant.sets, &self.counts(1))?;
        self.check(&scenario, variant)?;
        let several = scenario.workload.config.flows.len() > 1;
        let first = self.fit(variant, true, told)?;
        let others = match variant.drives {
            0 | 1 => None,
            _ if !several => Some(first.clone()),
            _ => Some(self.fit(variant, false, told)?),
        };
        let more = others.as_ref().and_then(|fit| fit.fits).unwrap_or(0.0);
        let more = more * f64::from(variant.drives.saturating_sub(1));
        Ok(Answer {
            variant: variant.sets.clone(),
            drives: variant.drives.max(1),
            fits: first.fits.unwrap_or(0.0) + more,
            runs: first.runs + others.as_ref().filter(|_| several).map_or(0, |fit| fit.runs),
            first,
            others,
        })
    }

    /// Refuses a question that has no answer.
    fn check(&self, scenario: &Scenario, variant: &Variant) -> Result<(), Error> {
        let flows = &scenario.workload.config.flows;
        let names: Vec<&str> = flows.iter().map(|flow| flow.name.as_str()).collect();
        let (key, name) = match &self.grow {
            Grow::Count(name) => ("--count", name),
            Grow::Load(name) => ("--load", name),
        };
        if !names.iter().any(|name| self.grows(name)) {
            let allowed = flashlane::config::load::allowed(name, &names);
            return Err(Error::config(key, format!("no flow is named `{name}`; {allowed}")));
        }
        if flows.iter().all(|flow| flow.slo.as_ref().is_none_or(|slo| slo.is_empty())) {
            let message = "nobody is promised anything; give a flow `slo = { p99 = \"1ms\" }`, or --slo \
                           FLOW:p99=1ms";
            return Err(Error::config("--slo", message));
        }
        if let Grow::Load(name) = &self.grow {
            let flow = flows.iter().find(|flow| flow.name == *name).expect("just found");
            growth::check(flow)?;
            if variant.drives > 1 {
                let message = format!("found {}, allowed: 1 with --load", variant.drives);
                return Err(Error::config("--drives", message));
            }
        }
        Ok(())
    }

    /// Finds what fits on one drive, with or without the tenants that do not grow.
    fn fit(&self, variant: &Variant, with_others: bool, told: &dyn Fn(&str)) -> Result<Fit, Error> {
        let trials = RefCell::new(Vec::<(i64, Trial)>::new());
        let mut ask = |level: i64| {
            let trial = self.trial(variant, with_others, level, told)?;
            let reply = Reply { met: trial.verdict.is_met(), strain: trial.strain() };
            trials.borrow_mut().push((level, trial));
            Ok::<_, Error>(reply)
        };
        let bracket = match &self.grow {
            Grow::Count(_) => {
                largest(1..=i64::from(self.max), 1, 1, |count| libm::log(count as f64), &mut ask)?
            }
            Grow::Load(_) => largest(-STEPS..=STEPS, 0, TWICE, |level| level as f64, &mut ask)?,
        };
        let mut trials = trials.into_inner();
        trials.sort_by_key(|&(level, _)| level);
        let limited_by = self.limit(variant, with_others, &bracket, &trials, told)?;
        let is = |verdict: Verdict| move |one: &&(i64, Trial)| one.1.verdict == verdict;
        let runs: usize = trials.iter().map(|one| one.1.seeds).sum();
        Ok(Fit {
            fits: bracket.met.map(|level| self.level(level)),
            surely: trials.iter().rev().find(is(Verdict::Met)).map(|one| self.level(one.0)),
            surely_not: trials.iter().find(is(Verdict::Missed)).map(|one| self.level(one.0)),
            runs: runs + limited_by.as_ref().map_or(0, |limit| limit.runs),
            limited_by,
            trials: trials.into_iter().map(|one| one.1).collect(),
        })
    }

    /// A level as the user states it: a number of copies or a factor.
    fn level(&self, level: i64) -> f64 {
        match self.grow {
            Grow::Count(_) => level as f64,
            Grow::Load(_) => libm::pow(RESOLUTION, level as f64),
        }
    }

    /// The number of tenants of each kind at a level.
    fn counts(&self, level: i64) -> Vec<(String, u32)> {
        match &self.grow {
            Grow::Count(flow) => vec![(flow.clone(), level as u32)],
            Grow::Load(_) => Vec::new(),
        }
    }

    /// The drive and its tenants at a level.
    fn scenario(
        &self,
        variant: &Variant,
        with_others: bool,
        level: i64,
    ) -> Result<Scenario, Error> {
        let mut scenario = self.base.unchecked(&variant.sets, &self.counts(level))?;
        let flows = &mut scenario.workload.config.flows;
        if !with_others {
            flows.retain(|flow| self.grows(&flow.name));
        }
        if let Grow::Load(name) = &self.grow {
            let factor = self.level(level);
            let of_name = |flow: &&mut FlowConfig| flow.name == *name;
            flows.iter_mut().filter(of_name).for_each(|flow| flow.scale_load(factor));
        }
        validate::check_pair(&scenario.device, &scenario.workload)?;
        Ok(scenario)
    }

    /// True if this tenant grows.
    fn grows(&self, name: &str) -> bool {
        self.kind(name) == self.grow.flow()
    }

    /// The kind of a tenant: its name, without the number if there are copies.
    fn kind(&self, name: &str) -> String {
        let Grow::Count(kind) = &self.grow else { return name.to_owned() };
        let number = name.strip_prefix(kind.as_str()).and_then(|rest| rest.strip_prefix('-'));
        let copy = number.is_some_and(|number| number.parse::<usize>().is_ok());
        if copy { kind.clone() } else { name.to_owned() }
    }

    /// Runs a level with three seeds, and with all seeds if three do not decide it.
    fn trial(
        &self,
        variant: &Variant,
        with_others: bool,
        level: i64,
        told: &dyn Fn(&str),
    ) -> Result<Trial, Error> {
        told(&match self.grow {
            Grow::Count(_) => format!("{level} of {}", self.grow.flow()),
            Grow::Load(_) => format!("{:.2} x {}", self.level(level), self.grow.flow()),
        });
        let shown = self.level(level);
        let scenario = match self.scenario(variant, with_others, level) {
            Ok(scenario) => scenario,
            // Level 0 was checked first, so an error at level 0 is an error of the input and not of
            // the level.
            Err(Error::Config(problems)) if level != 0 => {
                return Ok(Trial::refused(shown, 0, problems[0].to_string()));
            }
            Err(error) => return Err(error),
        };
        let mut runs: Vec<Summary> = Vec::new();
        for seeds in [self.seeds.min(3), self.seeds] {
            let more = runs.len() as u64..seeds;
            match self.run(&scenario, more) {
                Ok(mut more) => {
                    self.compare(variant, with_others, level, &mut more)?;
                    runs.extend(more);
                }
                Err(Error::Stuck(why)) => {
                    let why = why.lines().next().unwrap_or_default().to_owned();
                    return Ok(Trial::refused(shown, runs.len(), why));
                }
                Err(error) => return Err(error),
            }
            let trial = Trial::of(shown, &runs, &|name| self.kind(name));
            if !trial.verdict.is_close() {
                return Ok(trial);
            }
        }
        Ok(Trial::of(shown, &runs, &|name| self.kind(name)))
    }

    /// Runs a scenario with some of the seeds.
    fn run(&self, scenario: &Scenario, seeds: std::ops::Range<u64>) -> Result<Vec<Summary>, Error> {
        let of = |seed: u64| RunOptions {
            seed: self.options.seed.wrapping_add(seed),
            ..self.options.clone()
        };
        let options: Vec<RunOptions> = seeds.map(of).collect();
        let (device, workload) = (&scenario.device.config, &scenario.workload.config);
        let runs: Vec<Simulation<'_>> =
            options.iter().map(|options| Simulation { device, workload, options }).collect();
        let results = simulate_all(&runs, self.options.threads, &|_, _| {});
        results.into_iter().map(|result| result.map(|(summary, _)| summary)).collect()
    }

    /// Finds the reason why the level above the largest that fits does not fit.
    fn limit(
        &self,
        variant: &Variant,
        with_others: bool,
        bracket: &Bracket,
        trials: &[(i64, Trial)],
        told: &dyn Fn(&str),
    ) -> Result<Option<Limit>, Error> {
        let Some(missed) = bracket.missed else { return Ok(None) };
        let trial = &trials.iter().find(|one| one.0 == missed).expect("it was tried").1;
        if let Some(why) = &trial.refused {
            return Ok(Some(Limit::refused(why)));
        }
        told("what limits it");
        let worst = trial.worst().expect("somebody was promised something").clone();
        // The comparison starts from the smallest level that fits, because the growth shows best
        // from there.
        let least = trials.iter().find(|one| one.1.verdict.is_met()).map(|one| one.0);
        let blame = |level: i64| {
            let scenario = self.scenario(variant, with_others, level)?;
            limit::blame(&scenario, &self.options)
        };
        let before = least.map(blame).transpose()?;
        let kind = |name: &str| self.kind(name);
        Ok(Some(Limit::of(worst, before.as_ref(), &blame(missed)?, &kind)))
    }
}

/// The largest number of copies that a question may ask for: the largest number of flows of a
/// drive.
#[must_use]
pub fn most_copies() -> u32 {
    *FLOWS.end() as u32
}
