//! The advice: what helps, what it costs, and what was tried.

use serde::Serialize;

use super::candidate::Candidate;
use super::course::Choice;
use super::field::Field;
use super::figures::Medians;
use super::goal::Goal;
use super::middle;
use super::race::{self, Scores};

/// Schema name written into `advice.json`.
pub const SCHEMA: &str = "flashlane.advice/1";

/// The answer in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The winner helps: the interval of its gain does not reach 0.
    Helps,
    /// The goal is met without any change.
    MetAlready,
    /// Nothing that was tried is better than the unchanged drive, as far as the seeds tell.
    NothingHelps,
    /// Some goal is missed with everything that was tried. The winner comes closest.
    Missed,
}

/// The judgement on a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The answer.
    Winner,
    /// The best one that shares no kind of setting with the answer.
    RunnerUp,
    /// Better than the unchanged drive.
    Helps,
    /// Not to be told from the unchanged drive.
    NoEffect,
    /// Worse than the unchanged drive.
    Worse,
    /// A tenant loses something that it has to keep.
    Breaks,
    /// A run of it has no result.
    Failed,
    /// The configuration is refused.
    Refused,
    /// Without a possible effect here, and not run.
    LeftOut,
}

/// A figure with its 95 % interval, which is null for fewer than six seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Span {
    /// The median over the seeds.
    pub median: f64,
    /// The ends of the interval: two of the seeds, whatever the distribution.
    pub interval: Option<[f64; 2]>,
}

impl Span {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let median = middle::median(values.clone())?;
        Some(Self { median, interval: middle::interval(values) })
    }
}

/// What a candidate does to a tenant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Name of the tenant.
    pub tenant: String,
    /// Completions per second.
    pub iops: f64,
    /// The change of this rate, as a part of that on the unchanged drive.
    pub rate_change: Option<f64>,
    /// The 99th percentile of the time from arrival to completion. Unit: microseconds.
    pub p99_us: f64,
    /// The change of this time, as a part of that on the unchanged drive. Null where a limit holds
    /// the tenant back, so that its times grow with the length of the run.
    pub p99_change: Option<f64>,
    /// The slowdown against the tenant alone on the unchanged drive. Null where nothing ran alone.
    pub slowdown: Option<f64>,
}

/// A candidate with what was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// The label, and the settings.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// The judgement.
    pub verdict: Verdict,
    /// Why it may not be chosen, or was not run.
    pub reason: Option<String>,
    /// The seeds of the figures.
    pub seeds: Vec<u64>,
    /// The figure of the goal.
    pub value: Option<Span>,
    /// The figure under the same seeds on the unchanged drive.
    pub before: Option<Span>,
    /// The difference of the two, seed by seed.
    pub change: Option<Span>,
    /// The largest part of its rate that a tenant loses.
    pub loss: Option<f64>,
    /// The half of a pair that is as good without the other one.
    pub as_good: Option<String>,
    /// True if nothing else gains as much and costs less.
    pub on_front: bool,
    /// Write amplification on the unchanged drive and with the candidate: medians over the seeds.
    /// Null where the host wrote nothing.
    pub amplification: Option<[f64; 2]>,
    /// What it does to each tenant.
    pub effects: Vec<Effect>,
}

/// The whole advice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// Name of the device.
    pub device: String,
    /// Name of the workload, or its tenants.
    pub workload: String,
    /// The goal, as `--goal` takes it.
    pub goal: Goal,
    /// The tenant that the goal protects, on the unchanged drive.
    pub victim: String,
    /// The answer in a word.
    pub answer: Answer,
    /// The answer in sentences.
    pub said: Vec<String>,
    /// The unchanged drive.
    pub unchanged: Tried,
    /// Every candidate, the best first.
    pub candidates: Vec<Tried>,
    /// The number of simulations, of tenants alone as well.
    pub simulations: usize,
    /// True if the time (`--budget`) was over before everything was tried. The advice then depends
    /// on the speed of the machine.
    pub cut_short: bool,
    /// Warnings that come first: tenants with which the drive does not keep up.
    pub warnings: Vec<String>,
    /// How many of the runs were found in the folder.
    #[serde(skip)]
    pub found: usize,
}

impl Advice {
    /// The candidate with this verdict.
    #[must_use]
    pub fn of(&self, verdict: Verdict) -> Option<&Tried> {
        self.candidates.iter().find(|one| one.verdict == verdict)
    }
}

impl Tried {
    /// True if the candidate may be chosen and was better.
    #[must_use]
    pub fn is_better(&self) -> bool {
        matches!(self.verdict, Verdict::Winner | Verdict::RunnerUp | Verdict::Helps)
    }

    /// True if it was better, and is no pair of which one half is as good.
    #[must_use]
    pub fn is_worth_a_row(&self) -> bool {
        self.is_better() && self.as_good.is_none()
    }
}

/// The figures of a candidate over some of its seeds.
fn tried(field: &Field<'_>, at: usize, seeds: &[u64], verdict: Verdict) -> Tried {
    let entry = &field.entries[at];
    let runs = || seeds.iter().filter_map(|seed| entry.runs.get(seed).map(|run| (*seed, run)));
    let before = |seed: u64| field.entries[0].runs[&seed].value;
    let tenants = field.entries[0].candidate_tenants();
    let effect = |tenant: usize| {
        let now = Medians::of(runs().map(|one| &one.1.figures.tenants[tenant]));
        let had = Medians::of(runs().map(|one| &field.before(one.0).tenants[tenant]));
        let change = |now: f64, had: f64| (had > 0.0).then(|| now / had - 1.0);
        Effect {
            tenant: field.before(seeds[0]).tenants[tenant].name.clone(),
            iops: now.iops,
            rate_change: change(now.iops, had.iops),
            p99_us: now.p99,
            // Times of a tenant that is held back grow with the length of the run.
            p99_change: change(now.p99, had.p99).filter(|_| had.grows || !now.grows),
            slowdown: now.slowdown,
        }
    };
    let effects: Vec<Effect> =
        if runs().next().is_some() { (0..tenants).map(effect).collect() } else { Vec::new() };
    let amplification = middle::median(runs().map(|one| field.before(one.0).amplification))
        .zip(middle::median(runs().map(|one| one.1.figures.amplification)))
        .map(|(before, now)| [before, now])
        .filter(|both| both.iter().all(|&one| one > 0.0));
    let losses = effects.iter().map(|one| (-one.rate_change.unwrap_or(0.0)).max(0.0));
    Tried {
        candidate: entry.candidate.clone(),
        verdict,
        reason: None,
        seeds: runs().map(|one| one.0).collect(),
        value: Span::of(runs().map(|one| one.1.value)),
        before: Span::of(runs().map(|one| before(one.0))),
        change: Span::of(runs().map(|one| one.1.value - before(one.0))),
        loss: losses.reduce(f64::max),
        as_good: None,
        on_front: false,
        amplification,
        effects,
    }
}

/// All candidates with their verdicts, the best first, and the answer.
pub(super) fn judged(field: &Field<'_>, choice: &Choice) -> (Tried, Vec<Tried>, Answer) {
    let own: Vec<u64> = {
        let seeds = field.entries[0].runs.keys().copied();
        seeds.filter(|seed| !choice.fresh.contains(seed)).collect()
    };
    let unchanged_scores = without(field.scores(0), &choice.fresh);
    let scores: Vec<(usize, Scores)> =
        (1..field.entries.len()).map(|at| (at, without(field.scores(at), &choice.fresh))).collect();
    let typical = race::spread_to(&unchanged_scores, scores.iter().map(|one| &one.1));
    let mut order: Vec<(f64, Tried)> = Vec::new();
    for (at, scores) in &scores {
        let chosen = Some(*at) == choice.winner || Some(*at) == choice.runner_up;
        let seeds = if chosen { &choice.fresh } else { &own };
        let barred = field.barred(*at);
        let gain = -race::difference(&unchanged_scores, scores);
        let some = race::TIE * race::level(&unchanged_scores);
        let helps = race::gains(&unchanged_scores, scores, typical);
        let verdict = match &barred {
            _ if field.entries[*at].failed.is_some() => Verdict::Failed,
            Some(_) => Verdict::Breaks,
            None if Some(*at) == choice.winner => Verdict::Winner,
            None if Some(*at) == choice.runner_up => Verdict::RunnerUp,
            None if field.is_idle(*at) => Verdict::NoEffect,
            None if helps => Verdict::Helps,
            None if gain > -some => Verdict::NoEffect,
            None => Verdict::Worse,
        };
        let as_good = field.as_good_part(*at).filter(|_| verdict == Verdict::Helps);
        let as_good = as_good.map(|part| field.entries[part].candidate.label.clone());
        let mut one = Tried { reason: barred, as_good, ..tried(field, *at, seeds, verdict) };
        // Promises that are kept need no gain.
        let needs_gain = *field.goal != Goal::Slo && one.verdict == Verdict::RunnerUp;
        if needs_gain && !surely_gains(field.goal, &one) {
            one.verdict = Verdict::NoEffect;
        }
        order.push((gain, one));
    }
    order.sort_by(|a, b| place(&a.1).cmp(&place(&b.1)).then(b.0.total_cmp(&a.0)));
    let mut candidates: Vec<Tried> = order.into_iter().map(|one| one.1).collect();
    mark_front(&mut candidates, field.goal);
    candidates.extend(field.left_out.iter().map(|one| Tried {
        candidate: one.candidate.clone(),
        verdict: if one.refused { Verdict::Refused } else { Verdict::LeftOut },
        reason: Some(one.reason.clone()),
        seeds: Vec::new(),
        value: None,
        before: None,
        change: None,
        loss: None,
        as_good: None,
        on_front: false,
        amplification: None,
        effects: Vec::new(),
    }));
    let seeds = if choice.fresh.is_empty() { &own } else { &choice.fresh };
    let unchanged = tried(field, 0, seeds, Verdict::NoEffect);
    let answer = answer(field.goal, &unchanged, candidates.first());
    (unchanged, candidates, answer)
}

fn without(mut scores: Scores, seeds: &[u64]) -> Scores {
    scores.retain(|seed, _| !seeds.contains(seed));
    scores
}

/// The place of a verdict in the list.
fn place(one: &Tried) -> usize {
    match one.verdict {
        Verdict::Winner => 0,
        Verdict::RunnerUp => 1,
        Verdict::Helps => 2,
        Verdict::NoEffect => 3,
        Verdict::Worse => 4,
        _ => 5,
    }
}

/// The answer, by the winner under fresh seeds.
fn answer(goal: &Goal, unchanged: &Tried, best: Option<&Tried>) -> Answer {
    let met = |one: &Tried| one.value.is_some_and(|value| value.median <= 1.0);
    if *goal == Goal::Slo && met(unchanged) {
        return Answer::MetAlready;
    }
    let best = best.filter(|best| best.verdict == Verdict::Winner);
    if *goal == Goal::Slo {
        return if best.is_some_and(met) { Answer::Helps } else { Answer::Missed };
    }
    if best.is_some_and(|one| surely_gains(goal, one)) {
        Answer::Helps
    } else {
        Answer::NothingHelps
    }
}

/// True if the interval of a gain does not reach 0.
fn surely_gains(goal: &Goal, one: &Tried) -> bool {
    let Some(change) = one.change else { return false };
    let [low, high] = change.interval.unwrap_or([change.median; 2]);
    if goal.more_is_better() { low > 0.0 } else { high < 0.0 }
}

/// Marks those for which nothing else gains as much and costs less. Both are medians, of the seeds
/// that each has, against the unchanged drive under the same seeds.
fn mark_front(candidates: &mut [Tried], goal: &Goal) {
    let gain = |one: &Tried| {
        let change = one.change.map_or(0.0, |change| change.median);
        if goal.more_is_better() { change } else { -change }
    };
    let points: Vec<Option<(f64, f64)>> = candidates
        .iter()
        .map(|one| one.is_worth_a_row().then(|| (gain(one), one.loss.unwrap_or(0.0))))
        .collect();
    for (at, one) in candidates.iter_mut().enumerate() {
        let Some(own) = points[at] else { continue };
        let beats = |other: &(f64, f64)| {
            other.0 >= own.0 && other.1 <= own.1 && (other.0 > own.0 || other.1 < own.1)
        };
        one.on_front = !points.iter().flatten().any(beats);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(change: f64, loss: f64, verdict: Verdict) -> Tried {
        let span = |median| Some(Span { median, interval: Some([median - 0.1, median + 0.1]) });
        Tried {
            candidate: Candidate::default(),
            verdict,
            reason: None,
            seeds: vec![1, 2],
            value: span(4.0 + change),
            before: span(4.0),
            change: span(change),
            loss: Some(loss),
            as_good: None,
            on_front: false,
            amplification: None,
            effects: Vec::new(),
        }
    }

    #[test]
    fn the_front_has_what_gains_most_for_its_cost() {
        let mut all = [
            one(-3.0, 0.4, Verdict::Winner),
            one(-2.0, 0.1, Verdict::RunnerUp),
            one(-1.5, 0.2, Verdict::Helps),
            one(-1.0, 0.0, Verdict::Helps),
            one(0.0, 0.0, Verdict::NoEffect),
        ];
        mark_front(&mut all, &Goal::Fairness);
        assert_eq!(all.map(|one| one.on_front), [true, true, false, true, false]);
    }

    #[test]
    fn an_answer_needs_an_interval_off_zero_or_a_goal_that_is_met() {
        let of = |change: f64, verdict: Verdict| {
            answer(&Goal::Fairness, &one(0.0, 0.0, verdict), Some(&one(change, 0.0, verdict)))
        };
        assert_eq!(of(-1.0, Verdict::Winner), Answer::Helps);
        assert_eq!(of(-0.05, Verdict::Winner), Answer::NothingHelps);
        assert_eq!(of(-1.0, Verdict::NoEffect), Answer::NothingHelps);
        let up = answer(
            &Goal::Speedup,
            &one(0.0, 0.0, Verdict::NoEffect),
            Some(&one(1.0, 0.0, Verdict::Winner)),
        );
        assert_eq!(up, Answer::Helps);
        let slo = |before: f64, after: f64| {
            let (before, after) =
                (one(before - 4.0, 0.0, Verdict::NoEffect), one(after - 4.0, 0.0, Verdict::Winner));
            answer(&Goal::Slo, &before, Some(&after))
        };
        assert_eq!(slo(0.9, 0.5), Answer::MetAlready);
        assert_eq!(slo(2.0, 0.5), Answer::Helps);
        assert_eq!(slo(2.0, 1.5), Answer::Missed);
        assert_eq!(answer(&Goal::Slo, &one(0.0, 0.0, Verdict::NoEffect), None), Answer::Missed);
    }
}
