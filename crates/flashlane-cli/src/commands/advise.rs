//! `flashlane advise`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use flashlane::content::InputFiles;
use flashlane::{Error, RunOptions, visible_line};
use flashlane_study::Base;
use flashlane_study::advise::{
    Advice, Answer, Goal, Keep, Question, Told, Tried, Verdict, advise as ask, read_candidates,
    tenant_names, words,
};
use flashlane_study::sweep::{Found, Source, Store, Sweep, fault, usual_limit};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::{AdviseArgs, RunArgs, TextOrJson};
use crate::execute::{pretty, progress_bar, to_json};
use crate::fault::started_again;
use crate::output::{Content, OutFolder, note, print_data, show};
use crate::states;
use crate::table::Table;

/// Rows of the table on the screen. The files have all.
const ROWS: usize = 12;

/// Names of candidates that a line lists.
const NAMES: usize = 6;

/// Tries what may help, and prints the answer.
pub(crate) fn advise(arguments: &AdviseArgs) -> Result<(), Error> {
    let candidates = arguments.candidates.as_deref().map(read_candidates).transpose()?;
    let base = Base {
        device: arguments.device.clone(),
        workload: arguments.workload.clone(),
        overrides: arguments.overrides(),
        ..Base::default()
    };
    let states = states::states(arguments.states.as_deref(), arguments.quiet)?;
    let options = RunOptions { states, ..arguments.options() };
    let mut sweep = sweep(base, options, arguments.memory)?;
    let names = tenant_names(&sweep)?;
    let goal = arguments.goal.as_ref().map(|text| Goal::parse(text, &names)).transpose()?;
    let keeps = arguments.keeps.iter().map(|text| Keep::parse(text, &names));
    let keeps = keeps.collect::<Result<Vec<_>, _>>()?.concat();
    let folder = OutFolder::prepare(&arguments.out, arguments.overwrite.overwrite)?;
    folder.expect(FILES)?;
    sweep.store = Some(store(&arguments.out.join("points"))?);
    let question = Question {
        goal,
        keeps,
        candidates,
        seed: arguments.seed,
        seeds: arguments.seeds,
        budget: arguments.budget,
        jobs: jobs(arguments.jobs),
    };
    let bar = Bar(progress_bar(0, "advise", arguments.quiet));
    let advice = ask(&question, &sweep, &bar);
    bar.0.finish_and_clear();
    let advice = advice?;
    folder.write(files(&advice)?)?;
    if arguments.format == TextOrJson::Text || !arguments.quiet {
        show(text(&advice).trim_end(), arguments.format != TextOrJson::Text)?;
        if advice.found > 0 && !arguments.quiet {
            note(&format!("{} of the runs were found in the folder", advice.found));
        }
    }
    if arguments.format == TextOrJson::Json {
        print_data(&format!("{}\n", to_json(&advice)?))?;
    }
    match advice.answer {
        Answer::Missed => Err(Error::Missed(advice.said[0].clone())),
        _ => Ok(()),
    }
}

/// Tries what helps the tenants of a run, for `run --advise`. The results of the runs are in
/// `points` below its folder.
pub(crate) fn beside_run(
    arguments: &RunArgs,
    workload: &Path,
    options: &RunOptions,
) -> Result<Advice, Error> {
    let base = Base {
        device: arguments.device.clone(),
        workload: workload.to_owned(),
        overrides: arguments.overrides(),
        ..Base::default()
    };
    let common = &arguments.common;
    let options = RunOptions {
        states: options.states.clone(),
        warmup: options.warmup,
        ..RunOptions::default()
    };
    let mut sweep = sweep(base, options, None)?;
    let folder = common.out.as_deref().unwrap_or(Path::new(""));
    sweep.store = Some(store(&folder.join("points"))?);
    let question = Question {
        goal: None,
        keeps: Vec::new(),
        candidates: None,
        seed: common.seed,
        seeds: SEEDS,
        budget: None,
        jobs: jobs(common.threads),
    };
    let bar = Bar(progress_bar(0, "advise", common.quiet));
    let advice = ask(&question, &sweep, &bar);
    bar.0.finish_and_clear();
    advice
}

/// The sentences of an advice, for the page of a run and for the screen.
pub(crate) fn sentences(advice: &Advice) -> Vec<String> {
    advice.said.iter().map(|line| visible_line(line).into_owned()).collect()
}

/// Runs at a time; 0 stands for one on each core.
fn jobs(wanted: u16) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    if wanted == 0 { cores } else { usize::from(wanted) }
}

/// Seeds of `run --advise`: the default of `advise`.
const SEEDS: u64 = 5;

/// The files of an advice.
const FILES: [&str; 3] = ["advice.json", "advice.csv", "advice.html"];

/// The sweep whose engine runs the candidates.
fn sweep(base: Base, options: RunOptions, memory: Option<u64>) -> Result<Sweep, Error> {
    let program = std::env::current_exe()
        .map_err(|error| Error::Output(format!("the program's own file: {error}")))?;
    Ok(Sweep {
        source: Source::Files(base),
        options,
        store: None,
        program,
        files: InputFiles::new(),
        memory: memory.unwrap_or_else(usual_limit),
        stop: Arc::new(AtomicBool::new(false)),
        describe: |_| None,
    })
}

/// The folder with the results of the runs.
fn store(folder: &Path) -> Result<Store, Error> {
    let store = Store::open(folder)?;
    if !started_again() {
        fault::forget(folder);
    }
    Ok(store)
}

/// The files: the whole advice, its table, and its page.
pub(crate) fn files(advice: &Advice) -> Result<Vec<(PathBuf, Content)>, Error> {
    let json = pretty(&to_json(advice)?);
    Ok(vec![
        (PathBuf::from(FILES[0]), json.into()),
        (PathBuf::from(FILES[1]), flashlane_study::advise::csv(advice).into()),
        (PathBuf::from(FILES[2]), flashlane_study::advise::page(advice)?.into()),
    ])
}

/// Shows which round goes on.
struct Bar(ProgressBar);

impl Told for Bar {
    fn round(&self, what: &str, runs: usize) {
        let style = "{msg} [{wide_bar}] {pos} of {len}";
        let style = ProgressStyle::with_template(style).expect("it is constant");
        self.0.set_style(style.progress_chars("=> "));
        self.0.set_message(format!("trying {what}"));
        self.0.set_position(0);
        self.0.set_length(runs as u64);
    }

    fn run(&self, found: &Found) {
        if let Some(damage) = &found.damage {
            self.0.suspend(|| note(&format!("warning: {damage}; the point was run again")));
        }
        self.0.inc(1);
    }
}

/// One screen: the answer, the best ones with their costs, and what does not help.
fn text(advice: &Advice) -> String {
    let mut text = String::new();
    for line in advice.warnings.iter().chain(&advice.said) {
        text += &format!("{}\n", wrapped(&visible_line(line)));
    }
    let better: Vec<&Tried> = advice.candidates.iter().filter(|one| one.is_worth_a_row()).collect();
    if !better.is_empty() {
        text += &format!("\n{}", table(advice, &better));
    }
    for (verdict, what) in [
        (Verdict::NoEffect, "No effect that can be told"),
        (Verdict::Worse, "Worse"),
        (Verdict::Breaks, "Takes too much from a tenant"),
        (Verdict::Failed, "Could not be run"),
        (Verdict::Refused, "Refused by the configuration"),
        (Verdict::LeftOut, "Not tried"),
    ] {
        text += &names(advice, verdict, what);
    }
    let seeds = advice.unchanged.seeds.len();
    let fresh = if advice.of(Verdict::Winner).is_some() {
        format!("; the answer has {seeds} seeds that had no part in the choice")
    } else {
        String::new()
    };
    text += &format!("\n{} simulations{fresh}\n", advice.simulations);
    if advice.cut_short {
        text +=
            "The time was over before everything was tried: the advice depends on the machine.\n";
    }
    text
}

fn table(advice: &Advice, better: &[&Tried]) -> String {
    let goal = &advice.goal;
    let figure = words::figure_name(goal);
    let mut table = Table::new(&["what helps", &figure, "costs at most", "seeds"]);
    let now = advice.unchanged.value.as_ref().map(|value| words::span(goal, value));
    let seeds = advice.unchanged.seeds.len().to_string();
    table.row(vec!["as it is".to_owned(), now.unwrap_or_default(), "-".to_owned(), seeds]);
    for one in better.iter().take(ROWS) {
        let value = one.value.as_ref().map(|value| words::span(goal, value));
        let loss = one.loss.map_or("-".to_owned(), words::loss);
        table.row(vec![
            shortened(&visible_line(&one.candidate.label)),
            value.unwrap_or_default(),
            loss,
            one.seeds.len().to_string(),
        ]);
    }
    let more = better.len().saturating_sub(ROWS);
    let more =
        if more > 0 { format!("… and {more} more, in advice.csv\n") } else { String::new() };
    table.render() + &more
}

/// A label that leaves room for the figures in a line of 100 columns.
fn shortened(label: &str) -> String {
    const MOST: usize = 56;
    if label.chars().count() <= MOST {
        return label.to_owned();
    }
    let start: String = label.chars().take(MOST - 1).collect();
    format!("{start}…")
}

/// The start of a reason. The files have all of it.
fn first_part(why: &str) -> String {
    const MOST: usize = 120;
    match why.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &why[..end]),
        None => why.to_owned(),
    }
}

/// A line with the names of the single candidates of this verdict, and the first reason.
fn names(advice: &Advice, verdict: Verdict, what: &str) -> String {
    let all: Vec<&Tried> = advice
        .candidates
        .iter()
        .filter(|one| one.verdict == verdict && !one.candidate.is_pair())
        .collect();
    if all.is_empty() {
        return String::new();
    }
    let label = |one: &&Tried| visible_line(&one.candidate.label).into_owned();
    let mut named: Vec<String> = all.iter().take(NAMES).map(label).collect();
    if all.len() > NAMES {
        named.push(format!("{} more", all.len() - NAMES));
    }
    let reason = all.iter().find_map(|one| one.reason.as_deref());
    let reason = reason.map(|why| format!(" ({})", first_part(&visible_line(why))));
    let reason = reason.unwrap_or_default();
    format!("{}\n", wrapped(&format!("{what}: {}{reason}.", named.join(", "))))
}

/// A text in lines of 100 columns; those behind the first are indented.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one");
        match line.chars().count() + 1 + word.chars().count() {
            _ if line.is_empty() => line.push_str(word),
            0..=100 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("  {word}")),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_the_screen() {
        let text = wrapped(&"word ".repeat(60));
        assert!(text.lines().all(|line| line.chars().count() <= 100));
        assert!(
            text.lines().count() > 2 && text.lines().nth(1).is_some_and(|l| l.starts_with("  w"))
        );
        assert_eq!(shortened(&"é".repeat(60)).chars().count(), 56);
    }
}
