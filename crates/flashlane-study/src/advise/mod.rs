//! Finds the settings of a drive that help its tenants, by trying them.

mod advice;
mod candidate;
mod course;
mod field;
mod figures;
mod goal;
mod keep;
mod kinds;
mod limit;
mod middle;
mod page;
mod race;
mod space;
mod table;
#[cfg(test)]
mod truth;
pub mod words;

use std::time::Duration;

use flashlane::Error;

pub use advice::{Advice, Answer, Effect, SCHEMA, Span, Tried, Verdict};
pub use candidate::{Candidate, read_candidates};
use course::{Choice, Course};
use field::Field;
pub use field::Told;
pub use goal::Goal;
use keep::Keeps;
pub use keep::{Keep, RATE_KEPT};
pub use page::page;
pub use table::csv;

use crate::sweep::Sweep;

/// A question for the best settings.
#[derive(Clone, Debug)]
pub struct Question {
    /// The goal. `None`: the promises to tenants if there are any, else the largest
    /// slowdown.
    pub goal: Option<Goal>,
    /// What tenants have to keep.
    pub keeps: Vec<Keep>,
    /// The candidates. `None` for everything that the drive can do.
    pub candidates: Option<Vec<Candidate>>,
    /// The first seed.
    pub seed: u64,
    /// Seeds of a candidate for the choice, and up to four times as many where chance decides. The
    /// answer has this number of fresh ones, and at least six.
    pub seeds: u64,
    /// No round starts after this time.
    pub budget: Option<Duration>,
    /// Runs at a time.
    pub jobs: usize,
}

/// Names of the tenants that goals and bounds may name: those of a workload, and of flows with
/// copies.
///
/// # Errors
/// [`Error::Config`] if the device or the workload is refused.
pub fn tenant_names(sweep: &Sweep) -> Result<Vec<String>, Error> {
    let scenario = sweep.source.scenario(&Vec::new())?;
    let flows = &scenario.workload.config.flows;
    let kinds = kinds::kinds(flows, &sweep.source);
    let mut names: Vec<String> = flows.iter().map(|flow| flow.name.clone()).collect();
    let more = kinds.into_iter().map(|kind| kind.name).filter(|name| !names.contains(name));
    let more: Vec<String> = more.collect();
    names.extend(more);
    Ok(names)
}

/// Answers the question by runs of the sweep's drive.
///
/// # Errors
/// [`Error::Config`] if the question does not fit the workload, or the drive as it is cannot be
/// run. Errors of [`Sweep::run`].
pub fn advise(question: &Question, sweep: &Sweep, told: &dyn Told) -> Result<Advice, Error> {
    let scenario = sweep.source.scenario(&Vec::new())?;
    let flows = &scenario.workload.config.flows;
    let promises = flows.iter().any(|flow| flow.slo.as_ref().is_some_and(|slo| !slo.is_empty()));
    let goal = match &question.goal {
        Some(Goal::Slo) if !promises => {
            let message = "found slo, but no tenant has a goal (`slo`); allowed: a workload with \
                           one, or --slo NAME:p99=1ms";
            return Err(Error::config("--goal", message));
        }
        Some(goal) => goal.clone(),
        None if promises => Goal::Slo,
        None => Goal::Fairness,
    };
    let kinds = kinds::kinds(flows, &sweep.source);
    let keeps = Keeps(question.keeps.clone());
    let mut field = Field::new(sweep, &goal, &keeps, kinds, scenario, told);
    field.jobs = question.jobs;
    field.ends_after(question.budget);
    let seeds: Vec<(usize, u64)> =
        (0..question.seeds.min(2)).map(|n| (0, question.seed.wrapping_add(n))).collect();
    field.run("the drive as it is", &seeds)?;
    let victim = goal.victim(field.before(question.seed)).unwrap_or(0);
    let choice = if is_met(&field, &goal) {
        Choice { winner: None, runner_up: None, fresh: Vec::new() }
    } else {
        let device = &field.scenario.device.config;
        let space = || space::all(device, &field.kinds, victim);
        let candidates = question.candidates.clone().unwrap_or_else(space);
        let with_limits = question.candidates.is_none();
        let (first_seed, seeds) = (question.seed, question.seeds);
        let field = &mut field;
        Course { field, first_seed, seeds, victim, with_limits }.run(candidates)?
    };
    Ok(written(&field, &choice, victim, question))
}

/// True if every promise is kept without any change, under all seeds so far.
fn is_met(field: &Field<'_>, goal: &Goal) -> bool {
    *goal == Goal::Slo && field.entries[0].runs.values().all(|run| run.value <= 1.0)
}

fn written(field: &Field<'_>, choice: &Choice, victim: usize, question: &Question) -> Advice {
    let (unchanged, candidates, answer) = advice::judged(field, choice);
    let before = field.before(question.seed);
    let grow = before.tenants.iter().filter(|one| one.grows);
    let warnings = grow.map(|one| {
        format!(
            "The drive as it is does not keep up with {}, whose times grow with the length of \
             the run.",
            one.name
        )
    });
    let (device, workload) = (&field.scenario.device.config, &field.scenario.workload.config);
    let names: Vec<&str> = workload.flows.iter().map(|flow| flow.name.as_str()).collect();
    let mut advice = Advice {
        schema: SCHEMA,
        device: device.name.clone(),
        workload: if workload.name.is_empty() { names.join(", ") } else { workload.name.clone() },
        goal: field.goal.clone(),
        victim: before.tenants[victim].name.clone(),
        answer,
        said: Vec::new(),
        unchanged,
        candidates,
        simulations: field.simulations,
        cut_short: field.cut,
        warnings: warnings.collect(),
        found: field.found,
    };
    advice.said = words::said(&advice);
    advice
}
