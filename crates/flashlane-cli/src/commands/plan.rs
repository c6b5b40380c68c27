//! `flashlane plan`.

use std::path::PathBuf;

use flashlane::config::load;
use flashlane::{Error, visible_line};
use flashlane_study::Base;
use flashlane_study::plan::{
    Answer, Fit, GoalOver, Grow, Limit, Question, SCHEMA, TenantsAlone, Variant,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use crate::args::{PlanArgs, TextOrJson};
use crate::execute::{pretty, to_json};
use crate::output::{OutFolder, print_data, show};
use crate::states;
use crate::table::{Table, number};

/// Largest number of combinations of `--over` and `--drives`. Each one is a row, and takes several
/// runs.
const VARIANTS_MAX: usize = 10_000;

/// Asks the question and prints the answer.
pub(crate) fn plan(arguments: &PlanArgs) -> Result<(), Error> {
    let base = Base {
        device: arguments.device.clone(),
        workload: arguments.workload.clone(),
        overrides: arguments.overrides(),
        ..Base::default()
    };
    let grow = grow(arguments)?;
    let variants = variants(arguments)?;
    let states = states::states(arguments.states.as_deref(), arguments.quiet)?;
    let options = flashlane::RunOptions { states, ..arguments.options() };
    let (max, seeds) = (arguments.max, arguments.seeds);
    let alone = variants.first().map(TenantsAlone::on).unwrap_or_default();
    let question = Question { base, grow, max, seeds, options, alone };
    let folder = |root: &PathBuf| {
        let folder = OutFolder::prepare(root, arguments.overwrite.overwrite)?;
        folder.expect(["plan.json"]).map(|()| folder)
    };
    let folder = arguments.out.as_ref().map(folder).transpose()?;
    let mut answers = Vec::new();
    for (at, variant) in variants.iter().enumerate() {
        let bar = spinner(arguments.quiet);
        let of_several = match variants.len() {
            1 => String::new(),
            all => format!("{} of {all}: {}: ", at + 1, name(&variant.sets, variant.drives)),
        };
        let answer =
            question.answer(variant, &|level| bar.set_message(format!("{of_several}{level}")));
        bar.finish_and_clear();
        answers.push(answer?);
    }
    let value = answer_json(&question, &answers)?;
    if let Some(folder) = folder {
        folder.write([(PathBuf::from("plan.json"), pretty(&value).into())])?;
    }
    if arguments.format == TextOrJson::Text || !arguments.quiet {
        show(text(&question, &answers).trim_end(), arguments.format != TextOrJson::Text)?;
    }
    match arguments.format {
        TextOrJson::Json => print_data(&format!("{value}\n")),
        _ => Ok(()),
    }
}

/// The quantity that grows: the one on the command line, or the number of the only flow.
fn grow(arguments: &PlanArgs) -> Result<Grow, Error> {
    if let Some(flow) = &arguments.load {
        return Ok(Grow::Load(flow.clone()));
    }
    if let Some(flow) = &arguments.count {
        return Ok(Grow::Count(flow.clone()));
    }
    let workloads = load::workloads(&arguments.workload, &arguments.overrides())?;
    match workloads.first().map(|one| &one.config.flows[..]) {
        Some([only]) => Ok(Grow::Count(only.name.clone())),
        flows => {
            let names: Vec<&str> =
                flows.unwrap_or_default().iter().map(|flow| flow.name.as_str()).collect();
            let message = format!(
                "missing, as --load is; allowed: the flow whose number is asked for, one of {}",
                names.join(", ")
            );
            Err(Error::config("--count", message))
        }
    }
}

/// Every combination of the values of `--over` and `--drives`.
fn variants(arguments: &PlanArgs) -> Result<Vec<Variant>, Error> {
    let values_of = |text: &String| text.split_once('=').map_or(1, |one| one.1.split(',').count());
    let counts = arguments.over.iter().map(values_of).chain([arguments.drives.len()]);
    let count = counts.fold(1_usize, usize::saturating_mul);
    if count > VARIANTS_MAX {
        let message = format!("found {count} combinations, allowed: 1 to {VARIANTS_MAX}");
        return Err(Error::config("--over, --drives", message));
    }
    let mut all = vec![Vec::new()];
    for text in &arguments.over {
        let (key, values) =
            text.split_once('=').filter(|one| !one.0.trim().is_empty()).ok_or_else(|| {
                Error::config(
                    format!("--over {text}"),
                    "write KEY=VALUE,VALUE, for example scheduler=fcfs,flin",
                )
            })?;
        let values: Vec<String> =
            values.split(',').map(|value| format!("{}={}", key.trim(), value.trim())).collect();
        let with = |sets: Vec<String>| {
            values
                .iter()
                .map(move |value| [sets.clone(), vec![value.clone()]].concat())
                .collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(with).collect();
    }
    let drives = |sets: Vec<String>| {
        arguments.drives.iter().map(move |&drives| Variant { sets: sets.clone(), drives })
    };
    Ok(all.into_iter().flat_map(drives).collect())
}

fn answer_json(question: &Question, answers: &[Answer]) -> Result<Value, Error> {
    let (grow, flow) = match &question.grow {
        Grow::Count(flow) => ("count", flow),
        Grow::Load(flow) => ("load", flow),
    };
    let first = question.options.seed;
    Ok(json!({
        "schema": SCHEMA,
        "device": question.base.device,
        "workload": question.base.workload.display().to_string(),
        "grow": grow,
        "flow": flow,
        "seed": first,
        "seeds_at_most": question.seeds,
        "answers": to_json(&answers)?,
    }))
}

/// The answer as sentences, and as a table if there are several variants.
fn text(question: &Question, answers: &[Answer]) -> String {
    let mut text = String::new();
    if let [one] = answers {
        text += &format!("{}\n\n", sentence(question, one));
        text += &trials(question, &one.first);
    } else {
        let header = ["variant", "fits", "surely", "surely not", "runs", "limited by"];
        let mut table = Table::new(&header);
        for answer in answers {
            let level =
                |level: Option<f64>| level.map_or("-".to_owned(), |one| shown(question, one));
            let limit = answer.first.limited_by.as_ref().map_or("-".to_owned(), short_limit);
            table.row(vec![
                name(&answer.variant, answer.drives),
                shown(question, answer.fits),
                level(answer.first.surely.filter(|_| answer.drives == 1)),
                level(answer.first.surely_not.filter(|_| answer.drives == 1)),
                answer.runs.to_string(),
                limit,
            ]);
        }
        text += &table.render();
    }
    let runs: usize = answers.iter().map(|answer| answer.runs).sum();
    text + &format!("\n{runs} simulations\n")
}

/// A sentence such as `12 of reader fit.`, and the reason why no more fit.
fn sentence(question: &Question, answer: &Answer) -> String {
    let flow = visible_line(question.grow.flow()).into_owned();
    let drives =
        if answer.drives > 1 { format!(" on {} drives", answer.drives) } else { String::new() };
    let mut said = match (&question.grow, answer.fits) {
        (Grow::Count(_), 0.0) => format!("Not even one {flow} fits."),
        (Grow::Count(_), count) => format!("{count} of {flow} fit{drives}."),
        (Grow::Load(_), 0.0) => format!("No load of {flow} fits."),
        (Grow::Load(_), load) => format!("{load:.2} times the load of {flow} fits."),
    };
    match &answer.first.limited_by {
        None => said += " More was not tried.",
        Some(limit) => said += &format!(" {}", long_limit(question, limit)),
    }
    said
}

fn long_limit(question: &Question, limit: &Limit) -> String {
    if let Some(why) = &limit.refused {
        return format!("More cannot be set up: {}.", visible_line(why));
    }
    let Some(missed) = &limit.missed else { return String::new() };
    let mut said = format!("With more, {} misses its {}", visible_line(&missed.flow), goal(missed));
    if let Some(grown) = &limit.grown {
        let before = match (grown.before_us, question.grow.flow()) {
            (Some(before), _) => format!(", up from {} us", number(before)),
            (None, _) => String::new(),
        };
        let whose = match grown.culprit.as_str() {
            "device" => String::new(),
            culprit => format!(" of {}", visible_line(culprit)),
        };
        said += &format!(
            ". What grows most is its wait for `{}`{whose}: {} us a request{before}",
            grown.cause,
            number(grown.after_us)
        );
    }
    said + "."
}

/// A text such as `p99 of 1000 us (found 1234)`.
fn goal(missed: &GoalOver) -> String {
    let name = missed.goal.replace("p99_9", "p99.9");
    let unit = match missed.goal.as_str() {
        "slowdown" => "",
        "min_iops" => " IOPS",
        "min_bandwidth" => " bytes/s",
        _ => " us",
    };
    let found = missed.value.map_or("nothing".to_owned(), number);
    let why = match (missed.starved_seeds, missed.saturated_seeds) {
        (0, 0) => "",
        (0, _) => ", and its backlog grows",
        _ => ", and it starves",
    };
    let name = name.trim_start_matches("min_");
    format!("{name} of {}{unit} (found {found}{why})", number(missed.limit))
}

fn short_limit(limit: &Limit) -> String {
    match (&limit.refused, &limit.missed, &limit.grown) {
        (Some(_), _, _) => "the drive has no room".to_owned(),
        (None, Some(missed), Some(grown)) => {
            let whose = visible_line(&grown.culprit).into_owned();
            format!("{} {}: {} of {whose}", visible_line(&missed.flow), missed.goal, grown.cause)
        }
        (None, Some(missed), None) => format!("{} {}", visible_line(&missed.flow), missed.goal),
        (None, None, _) => "-".to_owned(),
    }
}

/// Every level that was tried on the first drive, with its most strained goal.
fn trials(question: &Question, fit: &Fit) -> String {
    let mut table = Table::new(&["tried", "seeds", "tightest", "found", "promised", "verdict"]);
    for trial in &fit.trials {
        let mut row = vec![shown(question, trial.level), trial.seeds.to_string()];
        match (trial.worst(), &trial.refused) {
            (Some(worst), _) => row.extend([
                format!("{} {}", visible_line(&worst.flow), worst.goal),
                worst.value.map_or("-".to_owned(), number),
                number(worst.limit),
            ]),
            (None, _) => row.extend(["-".to_owned(), "-".to_owned(), "-".to_owned()]),
        }
        row.push(match (&trial.refused, trial.verdict.is_met(), trial.verdict.is_close()) {
            (Some(_), _, _) => "no room".to_owned(),
            (None, met, close) => {
                let verdict = if met { "met" } else { "missed" };
                if close { format!("{verdict}, on average") } else { verdict.to_owned() }
            }
        });
        table.row(row);
    }
    table.render()
}

fn shown(question: &Question, level: f64) -> String {
    match question.grow {
        Grow::Count(_) => format!("{level:.0}"),
        Grow::Load(_) => format!("{level:.2} x"),
    }
}

fn name(sets: &[String], drives: u32) -> String {
    let mut parts: Vec<String> = sets.iter().map(|set| visible_line(set).into_owned()).collect();
    if drives > 1 || parts.is_empty() {
        parts.push(format!("{drives} drive{}", if drives > 1 { "s" } else { "" }));
    }
    parts.join(", ")
}

fn spinner(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(None, target);
    let style = ProgressStyle::with_template("{spinner} trying {msg}").expect("it is constant");
    bar.set_style(style);
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar
}
