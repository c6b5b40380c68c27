//! `flashlane reproduce`: runs the experiments of a paper and prints its numbers beside ours.

use std::path::PathBuf;

use flashlane::Error;
use flashlane_reproduce::{
    Cell, Experiment, Findings, Lab, Origin, PAPERS, Reference, Row, TraceFolder, Verdict, chosen,
};

use crate::args::ReproduceArgs;
use crate::execute::{STEPS, pretty, progress_bar, to_json};
use crate::output::{OutFolder, note, print};
use crate::table::{Table, maybe, number};

/// Runs experiments one after the other. Each experiment uses all cores.
pub(crate) fn reproduce(arguments: &ReproduceArgs) -> Result<(), Error> {
    if wants_list(arguments) {
        return list_all(arguments);
    }
    let (paper, experiments) = chosen(&arguments.paper, &arguments.experiments)?;
    let traces = arguments.traces.as_deref().map(TraceFolder::open).transpose()?;
    let folder = out_folder(arguments)?;
    let mut files = Vec::new();
    let (mut rows, mut checks): (Vec<Row>, Vec<Row>) = Default::default();
    let columns = ["experiment", "trace", "source", "file"];
    let mut sources = flashlane_reproduce::Table::new("sources", "", &columns);
    note(paper.title);
    for experiment in experiments {
        note("");
        if let Some(missing) = experiment.missing() {
            let place = format!("reproduce {} {}", paper.name, experiment.name);
            // An experiment that was named must run; in a whole paper it is skipped.
            if !arguments.experiments.is_empty() {
                return Err(Error::config(place, missing));
            }
            print(&format!("\nskipped: {place}: {missing}\n"))?;
            continue;
        }
        let (findings, origins) = run(experiment, arguments, traces.as_ref())?;
        for table in &findings.tables {
            let path = PathBuf::from(format!("{}.csv", table.name));
            // The check is made now, so that the later experiments are not wasted.
            folder.iter().try_for_each(|folder| folder.expect([&path]))?;
            files.push((path, table.csv()));
            if !table.long {
                print(&format!("\n{}\n{}", table.title, data(table).render()))?;
            }
        }
        print(&format!("\n{}, {}\n", experiment.name, experiment.figure))?;
        let (of_paper, own) = by_reference(findings.rows);
        print(&verdicts(&of_paper))?;
        if !own.is_empty() {
            print(&format!("\nChecks of our own\n{}", verdicts(&own)))?;
        }
        print(&said(&origins))?;
        for origin in &origins {
            sources.row(source_row(experiment, origin));
        }
        rows.extend(of_paper);
        checks.extend(own);
    }
    print(&format!("\n{} comparisons: {}\n", rows.len(), counts(&rows)))?;
    if !checks.is_empty() {
        print(&format!("{} checks of our own: {}\n", checks.len(), counts(&checks)))?;
    }
    if let Some(folder) = folder {
        files.push((PathBuf::from("sources.csv"), sources.csv()));
        files.push((PathBuf::from("checks.json"), pretty(&to_json(&checks)?)));
        files.push((PathBuf::from("results.json"), pretty(&to_json(&rows)?)));
        folder.write(files.into_iter().map(|(path, text)| (path, text.into())))?;
    }
    Ok(())
}

/// The folder for results. A file in it that has the name of a result, but that Flashlane did not
/// write, is refused.
fn out_folder(arguments: &ReproduceArgs) -> Result<Option<OutFolder>, Error> {
    let Some(root) = &arguments.out else { return Ok(None) };
    let folder = OutFolder::prepare(root, arguments.overwrite.overwrite)?;
    folder.expect(["results.json", "checks.json", "sources.csv"])?;
    Ok(Some(folder))
}

/// Splits rows into those that compare with the paper and checks of our own.
fn by_reference(rows: Vec<Row>) -> (Vec<Row>, Vec<Row>) {
    rows.into_iter().partition(|row| row.reference == Reference::Paper)
}

/// The number of rows with each verdict, as text.
fn counts(rows: &[Row]) -> String {
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let parts = Verdict::ALL.map(|verdict| format!("{} {}", count(verdict), verdict.name()));
    parts.join(", ")
}

fn run(
    experiment: &Experiment,
    arguments: &ReproduceArgs,
    traces: Option<&TraceFolder>,
) -> Result<(Findings, Vec<Origin>), Error> {
    let label = format!("{} ({})", experiment.name, experiment.figure);
    let bar = progress_bar(STEPS, &label, arguments.quiet);
    let progress = |share: f64| bar.set_position((share * STEPS as f64) as u64);
    let mut lab = Lab::new(usize::from(arguments.jobs), &progress);
    lab.full = arguments.full;
    lab.quick = arguments.quick;
    lab.smoke = arguments.smoke;
    lab.seed = arguments.seed;
    if arguments.smoke {
        lab.seeds = 1;
    }
    lab.trace_folder = traces.cloned().unwrap_or_default();
    let findings = (experiment.run)(&lab);
    bar.finish_and_clear();
    Ok((findings?, lab.origins()))
}

/// A line that names the real traces and the clones of an experiment; empty without traces.
fn said(origins: &[Origin]) -> String {
    let list = |real: bool| {
        let names: Vec<&str> =
            origins.iter().filter(|o| o.file.is_some() == real).map(|o| o.name).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    if origins.is_empty() {
        return String::new();
    }
    format!("  traces: yours: {}; clones (synthetic): {}\n", list(true), list(false))
}

fn source_row(experiment: &Experiment, origin: &Origin) -> Vec<Cell> {
    let (source, file) = match &origin.file {
        Some(file) => ("trace", Cell::Text(file.display().to_string())),
        None => ("clone", Cell::Empty),
    };
    vec![experiment.name.into(), origin.name.into(), source.into(), file]
}

fn wants_list(arguments: &ReproduceArgs) -> bool {
    arguments.paper == "list" && arguments.experiments.is_empty()
        || arguments.experiments == ["list"]
}

/// Prints the experiments of a paper, or of all papers.
fn list_all(arguments: &ReproduceArgs) -> Result<(), Error> {
    if !arguments.experiments.is_empty() {
        return list(chosen(&arguments.paper, &[])?.0.experiments, "");
    }
    for paper in PAPERS {
        print(&format!("{}: {}\n", paper.name, paper.title))?;
        list(paper.experiments, "  ")?;
    }
    Ok(())
}

/// Prints experiments.
fn list(experiments: &[Experiment], indent: &str) -> Result<(), Error> {
    for experiment in experiments {
        print(&format!(
            "{indent}{:<14} {:<14} {}\n",
            experiment.name, experiment.figure, experiment.about
        ))?;
    }
    Ok(())
}

/// The data of a figure.
fn data(table: &flashlane_reproduce::Table) -> Table {
    let mut out = Table::new(&table.columns);
    for row in &table.rows {
        let cell = |cell: &Cell| match cell {
            Cell::Text(text) => text.clone(),
            Cell::Number(value) if value.fract() == 0.0 && value.abs() < 1e6 => format!("{value}"),
            Cell::Number(value) => number(*value),
            Cell::Empty => "-".to_owned(),
        };
        out.row(row.iter().map(cell).collect());
    }
    out
}

/// The numbers of the paper beside ours, with the notes below.
fn verdicts(rows: &[Row]) -> String {
    let mut out = Table::new(&["metric", "paper", "ours", "95 % interval", "unit", "verdict"]);
    for row in rows {
        let interval = row
            .interval
            .map_or_else(|| "-".to_owned(), |[a, b]| format!("{}..{}", number(a), number(b)));
        out.row(vec![
            row.metric.clone(),
            maybe(row.paper),
            maybe(row.ours),
            interval,
            row.unit.to_owned(),
            row.verdict.name().to_owned(),
        ]);
    }
    let mut text = out.render();
    for row in rows.iter().filter(|row| !row.note.is_empty()) {
        text.push_str(&format!("  {}: {}\n", row.metric, row.note));
    }
    text
}
