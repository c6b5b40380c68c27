//! How many tenants of a kind, or how much load of one, fit on a drive within all promises.
//!
//! Each level (so many copies, or so many times the load) is run under a few seeds. Where the
//! interval over them reaches over a limit, more seeds are run. [`bracket`] picks the levels.

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
use bracket::{Bracket, Reply, largest};
pub use limit::Limit;
pub use trial::{GoalOver, Trial, Verdict};

/// Schema name written into every `plan.json`.
pub const SCHEMA: &str = "flashlane.plan/1";

/// A load is found to this factor.
const RESOLUTION: f64 = 1.05;
/// Steps of that factor of the first move: twice the load.
const TWICE: i64 = 14;
/// Steps of that factor at most, up and down: 1,000 times.
const STEPS: i64 = 142;

/// What grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grow {
    /// The number of tenants of this kind.
    Count(String),
    /// The load of this tenant, as a factor.
    Load(String),
}

impl Grow {
    /// The tenant.
    #[must_use]
    pub fn flow(&self) -> &str {
        let (Self::Count(flow) | Self::Load(flow)) = self;
        flow
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The drive and its tenants.
    pub base: Base,
    /// What grows.
    pub grow: Grow,
    /// Copies at most.
    pub max: u32,
    /// Seeds of each level at most; three are run first.
    pub seeds: u64,
    /// How to run.
    pub options: RunOptions,
}

/// A drive that the question is asked of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// Keys on top, as `KEY=VALUE`.
    pub sets: Vec<String>,
    /// How many of these drives there are. The first has the tenants that do not grow.
    pub drives: u32,
}

/// What fits on one drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// The largest level within all promises; null where not even the smallest is.
    pub fits: Option<f64>,
    /// The largest level at which they are kept with their whole intervals.
    pub surely: Option<f64>,
    /// The smallest level at which one is missed with its whole interval; null where the search
    /// ended before.
    pub surely_not: Option<f64>,
    /// What stands in the way of more; null where the search ended before.
    pub limited_by: Option<Limit>,
    /// Every level that was tried, in the order of the levels.
    pub trials: Vec<Trial>,
    /// Simulations that were run.
    pub runs: usize,
}

/// The answer for one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// What is special about it, as `KEY=VALUE`.
    pub variant: Vec<String>,
    /// How many drives there are.
    pub drives: u32,
    /// What fits on all of them.
    pub fits: f64,
    /// On the first drive, which has the other tenants as well.
    pub first: Fit,
    /// On each of the others; null where there are none.
    pub others: Option<Fit>,
    /// Simulations that were run.
    pub runs: usize,
}

impl Question {
    /// Answers for one variant. `told` hears of each level that is tried.
    ///
    /// # Errors
    /// Input that is refused; a fault of a run.
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

    /// Refuses questions without an answer.
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

    /// What fits on one drive, with the tenants that do not grow or without.
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

    /// A level in words of the user: copies, or a factor.
    fn level(&self, level: i64) -> f64 {
        match self.grow {
            Grow::Count(_) => level as f64,
            Grow::Load(_) => libm::pow(RESOLUTION, level as f64),
        }
    }

    /// The numbers of tenants at a level.
    fn counts(&self, level: i64) -> Vec<(String, u32)> {
        match &self.grow {
            Grow::Count(flow) => vec![(flow.clone(), level as u32)],
            Grow::Load(_) => Vec::new(),
        }
    }

    /// Drive and tenants at a level.
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

    /// True for the tenants that grow.
    fn grows(&self, name: &str) -> bool {
        self.kind(name) == self.grow.flow()
    }

    /// The kind of a tenant: its name, without its number where there are copies.
    fn kind(&self, name: &str) -> String {
        let Grow::Count(kind) = &self.grow else { return name.to_owned() };
        let number = name.strip_prefix(kind.as_str()).and_then(|rest| rest.strip_prefix('-'));
        let copy = number.is_some_and(|number| number.parse::<usize>().is_ok());
        if copy { kind.clone() } else { name.to_owned() }
    }

    /// Runs a level under three seeds, and under all where these do not decide.
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
            // What is refused without any growth was refused before.
            Err(Error::Config(problems)) if level != 0 => {
                return Ok(Trial::refused(shown, 0, problems[0].to_string()));
            }
            Err(error) => return Err(error),
        };
        let mut runs: Vec<Summary> = Vec::new();
        for seeds in [self.seeds.min(3), self.seeds] {
            let more = runs.len() as u64..seeds;
            match self.run(&scenario, more) {
                Ok(more) => runs.extend(more),
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

    /// Runs a scenario under some of the seeds.
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

    /// What stands in the way of one level more than fits.
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
        // The smallest level that fits shows best what grew.
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

/// The largest count that a question may ask for: so many flows has a drive at most.
#[must_use]
pub fn most_copies() -> u32 {
    *FLOWS.end() as u32
}
