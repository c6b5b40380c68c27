//! The page: the answer, the front of gain against cost, and everything that was tried.

use flashlane::Error;
use flashlane_fit::write::{STYLE, environment};
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::advice::{Advice, Answer, Tried, Verdict};
use super::words;

const TEMPLATE: &str = include_str!("page.html");

/// Size of the chart, without its labels. Unit: pixels of the drawing.
const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 220.0;

/// The advice as a single HTML page without external parts.
///
/// # Errors
/// Numbers that cannot be written.
pub fn page(advice: &Advice) -> Result<String, Error> {
    let environment = environment(TEMPLATE);
    let template = environment.get_template("page").expect("the environment has it");
    let rows = std::iter::once(&advice.unchanged).chain(&advice.candidates);
    let rows: Vec<Row> = rows.map(|one| Row::of(advice, one)).collect();
    let chart = Chart::of(advice);
    let page = context! {
        style => STYLE,
        advice => Value::from(Serde(advice)),
        bad => matches!(advice.answer, Answer::Missed | Answer::NothingHelps),
        figure => words::figure_name(&advice.goal),
        better => if advice.goal.more_is_better() { "Upper left" } else { "Lower left" },
        marks => Value::from(Serde(chart.marks)),
        front => chart.front,
        x => chart.x,
        y => Value::from(Serde(chart.y)),
        rows => Value::from(Serde(rows)),
    };
    template.render(page).map_err(|error| Error::Output(format!("advice.html: {error}")))
}

/// A row of the table.
#[derive(Serialize)]
struct Row {
    label: String,
    verdict: &'static str,
    value: String,
    seeds: usize,
    loss: String,
    costs: String,
    sets: String,
}

impl Row {
    fn of(advice: &Advice, one: &Tried) -> Self {
        let is_change = !one.candidate.sets.is_empty();
        let costs = match (&one.reason, &one.as_good) {
            (Some(why), _) => why.clone(),
            (None, Some(half)) => format!("no better than {half}"),
            (None, None) if is_change => words::cost(one),
            (None, None) => String::new(),
        };
        Self {
            label: one.candidate.label.clone(),
            verdict: if is_change { said(one.verdict) } else { "as it is" },
            value: one.value.map(|value| words::span(&advice.goal, &value)).unwrap_or_default(),
            seeds: one.seeds.len(),
            loss: one.loss.map(words::loss).unwrap_or_default(),
            costs,
            sets: one.candidate.sets.join("; "),
        }
    }
}

fn said(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Winner => "the answer",
        Verdict::RunnerUp => "runner-up",
        Verdict::Helps => "helps",
        Verdict::NoEffect => "no effect that can be told",
        Verdict::Worse => "worse",
        Verdict::Breaks => "takes too much",
        Verdict::Failed => "could not be run",
        Verdict::Refused => "refused",
        Verdict::LeftOut => "not tried",
    }
}

#[derive(Serialize)]
struct Mark {
    x: String,
    y: String,
    front: bool,
    title: String,
}

/// The chart of gain against cost. It has no marks where nothing helps.
struct Chart {
    marks: Vec<Mark>,
    front: String,
    x: String,
    y: [String; 2],
}

impl Chart {
    fn of(advice: &Advice) -> Self {
        let shown: Vec<(&Tried, f64, f64)> = std::iter::once(&advice.unchanged)
            .chain(advice.candidates.iter().filter(|one| one.is_worth_a_row()))
            .filter_map(|one| Some((one, one.loss.unwrap_or(0.0), one.value?.median)))
            .collect();
        let most = shown.iter().map(|one| one.1).fold(0.01, f64::max);
        let high = shown.iter().map(|one| one.2).fold(f64::MIN_POSITIVE, f64::max);
        let x = |loss: f64| format!("{:.1}", WIDTH * loss / most);
        let y = |value: f64| format!("{:.1}", HEIGHT * (1.0 - value / high));
        let mut front: Vec<&(&Tried, f64, f64)> =
            shown.iter().filter(|one| one.0.on_front).collect();
        front.sort_by(|a, b| a.1.total_cmp(&b.1));
        let front: Vec<String> =
            front.iter().map(|one| format!("{},{}", x(one.1), y(one.2))).collect();
        let mark = |&(one, loss, value): &(&Tried, f64, f64)| Mark {
            x: x(loss),
            y: y(value),
            front: one.on_front,
            title: format!(
                "{}: {}, {}",
                one.candidate.label,
                one.value.map(|value| words::span(&advice.goal, &value)).unwrap_or_default(),
                words::loss(loss)
            ),
        };
        let ends = words::figures(&advice.goal, &[0.0, high]);
        Self {
            marks: if shown.len() > 1 { shown.iter().map(mark).collect() } else { Vec::new() },
            front: front.join(" "),
            x: words::loss(most),
            y: ["0".to_owned(), format!("{}{}", ends.0[1], ends.1)],
        }
    }
}
