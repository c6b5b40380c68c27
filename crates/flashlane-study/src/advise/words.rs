//! The sentences of an advice.

use flashlane::visible_line;

use super::advice::{Advice, Answer, Effect, Span, Tried, Verdict};
use super::goal::Goal;
use super::space;

/// Changes of rates below this part are no cost worth a word.
const RATE: f64 = 0.01;
/// Changes of the 99th percentile below this part likewise.
const P99: f64 = 0.05;
/// Changes of write amplification below this part likewise.
const AMPLIFICATION: f64 = 0.05;

/// A number with three digits that say something.
#[must_use]
pub fn number(value: f64) -> String {
    match value.abs() {
        1e4.. => format!("{value:.0}"),
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Times in one unit that fits the largest. Input: microseconds.
fn times(values: &[f64]) -> (Vec<String>, &'static str) {
    let largest = values.iter().fold(0.0_f64, |most, one| most.max(one.abs()));
    let (size, unit) = match largest {
        1e6.. => (1e6, " s"),
        1e3.. => (1e3, " ms"),
        _ => (1.0, " us"),
    };
    (values.iter().map(|value| number(value / size)).collect(), unit)
}

/// Figures of the goal, and their unit.
pub(super) fn figures(goal: &Goal, values: &[f64]) -> (Vec<String>, &'static str) {
    match goal.is_time() {
        true => times(values),
        false => (values.iter().map(|value| number(*value)).collect(), ""),
    }
}

/// The figure of the goal, as the head of a column: `p99 of shop`.
#[must_use]
pub fn figure_name(goal: &Goal) -> String {
    match goal {
        Goal::Fairness => "largest slowdown".to_owned(),
        Goal::Slo => "largest strain".to_owned(),
        Goal::Speedup => "weighted speedup".to_owned(),
        Goal::Time { figure, tenant } => {
            let figure = match *figure {
                "mean" => "mean time".to_owned(),
                "max" => "longest time".to_owned(),
                other => other.replace("p99_9", "p99.9"),
            };
            format!("{figure} of {}", visible_line(tenant))
        }
    }
}

/// A figure with its interval: `1.24 (1.21 to 1.27)`.
#[must_use]
pub fn span(goal: &Goal, span: &Span) -> String {
    let [low, high] = span.interval.unwrap_or([span.median; 2]);
    let (texts, unit) = figures(goal, &[span.median, low, high]);
    match span.interval {
        Some(_) => format!("{}{unit} ({} to {})", texts[0], texts[1], texts[2]),
        None => format!("{}{unit}", texts[0]),
    }
}

/// What a candidate does, in a sentence: `the p99 of shop falls from 3.10 to 1.20 ms (95 % 1.10 to
/// 1.30)`.
fn gain(goal: &Goal, one: &Tried) -> String {
    let (Some(before), Some(value)) = (one.before, one.value) else { return String::new() };
    let [low, high] = value.interval.unwrap_or([value.median; 2]);
    let (texts, unit) = figures(goal, &[before.median, value.median, low, high]);
    let moves = if value.median < before.median { "falls" } else { "rises" };
    let interval = match value.interval {
        Some(_) => format!(" (95 % {} to {})", texts[2], texts[3]),
        None => String::new(),
    };
    let name = figure_name(goal);
    format!("the {name} {moves} from {} to {}{unit}{interval}", texts[0], texts[1])
}

fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part.abs())
}

/// What a candidate costs the tenant that pays most. A small gain rounds to 0 %, not to -0 %.
#[must_use]
pub fn loss(part: f64) -> String {
    // -0 + 0 is 0.
    format!("{:.0} %", (100.0 * part).round() + 0.0)
}

/// The costs of a candidate, tenant by tenant: `backup loses 9 % of its rate`.
#[must_use]
pub fn cost(one: &Tried) -> String {
    let loses = |effect: &Effect| {
        let lost = -effect.rate_change?;
        let name = visible_line(&effect.tenant);
        (lost >= RATE).then(|| format!("{name} loses {} of its rate", percent(lost)))
    };
    let slower = |effect: &Effect| {
        let longer = effect.p99_change.filter(|longer| *longer >= P99)?;
        let name = visible_line(&effect.tenant);
        Some(match longer {
            1.0.. => format!("the p99 of {name} is {} times as long", number(1.0 + longer)),
            _ => format!("the p99 of {name} rises by {}", percent(longer)),
        })
    };
    let mut costs: Vec<String> = one.effects.iter().filter_map(loses).collect();
    costs.extend(one.effects.iter().filter_map(slower));
    let more = costs.len().saturating_sub(SHOWN);
    costs.truncate(SHOWN);
    match (costs.is_empty(), more) {
        (true, _) => "nobody loses 1 % of its rate".to_owned(),
        (false, 0) => costs.join(", "),
        (false, more) => format!("{}, and {more} more", costs.join(", ")),
    }
}

/// Costs that a sentence lists.
const SHOWN: usize = 3;

/// A sentence about a candidate.
#[must_use]
pub fn sentence(goal: &Goal, one: &Tried) -> String {
    let label = label(one);
    let moved = amplifications(one).map(|moved| format!(", {moved}")).unwrap_or_default();
    format!("{label}: {}{moved}; {}.", gain(goal, one), cost(one))
}

/// The label at the start of a sentence.
fn label(one: &Tried) -> String {
    let mut label = visible_line(&one.candidate.label).into_owned();
    if let Some(first) = label.get(..1).map(str::to_uppercase) {
        label.replace_range(..1, &first);
    }
    label
}

/// Write amplification before and with a candidate that changes it.
fn amplifications(one: &Tried) -> Option<String> {
    let [before, now] = one.amplification?;
    let differs = (now / before - 1.0).abs() >= AMPLIFICATION;
    differs.then(|| format!("amplification from {} to {}", number(before), number(now)))
}

/// What handles would do to write amplification, if they are not a part of the answer.
fn handles(advice: &Advice) -> Option<String> {
    let mut all = advice.candidates.iter();
    let one = all.find(|one| one.candidate.families == [space::PLACEMENT])?;
    if matches!(one.verdict, Verdict::Winner | Verdict::RunnerUp) {
        return None;
    }
    let moved = amplifications(one)?;
    let gained = match one.is_better() {
        true => format!(", and {}", gain(&advice.goal, one)),
        false => String::new(),
    };
    Some(format!("{} takes {moved}{gained}.", label(one)))
}

/// The answer in sentences.
pub(super) fn said(advice: &Advice) -> Vec<String> {
    let goal = &advice.goal;
    let mut said = Vec::new();
    let now = advice.unchanged.value.as_ref().map(|value| span(goal, value)).unwrap_or_default();
    let winner = advice.of(Verdict::Winner);
    match advice.answer {
        Answer::MetAlready => {
            said.push(format!("Every goal is met as it is: the largest strain is {now}."));
            return said;
        }
        Answer::NothingHelps => {
            let name = figure_name(goal);
            said.push(format!("Nothing that was tried helps: the {name} is {now} as it is."));
        }
        Answer::Missed => {
            let what = "No setting that was tried meets every goal";
            said.push(format!("{what}: the largest strain is {now} as it is, and 1 is allowed."));
            said.extend(winner.map(|one| format!("Closest: {}", sentence(goal, one))));
        }
        Answer::Helps => said.extend(winner.map(|one| sentence(goal, one))),
    }
    let shown = matches!(advice.answer, Answer::Helps | Answer::Missed);
    if shown && let Some(second) = advice.of(Verdict::RunnerUp) {
        said.push(format!("Runner-up: {}", sentence(goal, second)));
    }
    if let Some(cheap) = cheaper(advice).filter(|_| shown) {
        said.push(format!("At less cost: {}", sentence(goal, cheap)));
    }
    said.extend(handles(advice));
    said
}

/// The one on the front that gains at least half of what the winner gains, for the least cost, if
/// it costs clearly less and is not named yet.
fn cheaper(advice: &Advice) -> Option<&Tried> {
    let winner = advice.of(Verdict::Winner)?;
    let gain = |one: &Tried| one.change.map_or(0.0, |change| change.median.abs());
    let loss = |one: &Tried| one.loss.unwrap_or(0.0);
    let fit = advice.candidates.iter().filter(|one| {
        one.on_front && gain(one) >= gain(winner) / 2.0 && loss(one) < loss(winner) - 0.02
    });
    let least = fit.min_by(|a, b| loss(a).total_cmp(&loss(b)))?;
    (least.verdict == Verdict::Helps).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::candidate::Candidate;

    fn handles_of(amplification: [f64; 2], change: f64, verdict: Verdict) -> Advice {
        let span = |median| Some(Span { median, interval: None });
        let of = |candidate, verdict, change: f64| Tried {
            candidate,
            verdict,
            reason: None,
            seeds: vec![1, 2],
            value: span(4.0 + change),
            before: span(4.0),
            change: span(change),
            loss: Some(0.0),
            as_good: None,
            on_front: false,
            amplification: Some(amplification),
            effects: Vec::new(),
        };
        let handles = Candidate::new(space::PLACEMENT, "a handle each".to_owned(), &[]);
        Advice {
            schema: super::super::advice::SCHEMA,
            device: String::new(),
            workload: String::new(),
            goal: Goal::Fairness,
            victim: String::new(),
            answer: Answer::NothingHelps,
            said: Vec::new(),
            unchanged: of(Candidate::unchanged(), Verdict::NoEffect, 0.0),
            candidates: vec![of(handles, verdict, change)],
            simulations: 0,
            cut_short: false,
            warnings: Vec::new(),
            found: 0,
        }
    }

    #[test]
    fn an_answer_has_what_handles_do_to_amplification() {
        let last = |advice: &Advice| said(advice).pop().expect("a sentence");
        let without = handles_of([2.9, 1.3], 0.1, Verdict::NoEffect);
        assert_eq!(last(&without), "A handle each takes amplification from 2.90 to 1.30.");
        let better = handles_of([2.9, 1.3], -1.0, Verdict::Helps);
        let expected = "A handle each takes amplification from 2.90 to 1.30, and the largest \
                        slowdown falls from 4.00 to 3.00.";
        assert_eq!(last(&better), expected);
        let small = handles_of([1.3, 1.28], -1.0, Verdict::Helps);
        assert!(!last(&small).contains("amplification"), "2 % is not worth a word");
        let winner =
            Advice { answer: Answer::Helps, ..handles_of([2.9, 1.3], -1.0, Verdict::Winner) };
        let expected = "A handle each: the largest slowdown falls from 4.00 to 3.00, amplification \
                        from 2.90 to 1.30; nobody loses 1 % of its rate.";
        assert_eq!(said(&winner), [expected]);
    }
}
