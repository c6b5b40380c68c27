//! `flashlane compare`: results of several runs side by side.

use std::path::{Component, Path, PathBuf};

use flashlane::Error;
use flashlane::metrics::{SCHEMAS_READ, SeedStatistics, Summary};
use flashlane_report::{
    RunData, baseline_sentence, name_columns, render, share_baseline, tradeoffs,
};

use crate::args::{CompareArgs, CompareFormat};
use crate::commands::against;
use crate::commands::compared::{compared, json_lines};
use crate::output::{OutFile, print, print_bytes, print_data, refuse_input, show};
use crate::report;
use crate::side_by_side::{Column, side_by_side, table};

/// A run, the folders that lead to its files (outermost first), and the files themselves.
pub(crate) type Found = (RunData, Vec<String>, Vec<PathBuf>);

/// Reads the results, prints them side by side, and writes the page if it is wanted.
pub(crate) fn compare(arguments: &CompareArgs) -> Result<(), Error> {
    let mut found = Vec::new();
    for path in &arguments.results {
        found.extend(read(path)?);
    }
    let page = |path: &PathBuf| {
        let inputs = found.iter().flat_map(|(_, _, files)| files);
        refuse_input(path, inputs)?;
        OutFile::prepare(path, arguments.overwrite.overwrite)
    };
    let page = arguments.report.as_ref().map(page).transpose()?;
    let found = found.into_iter().map(|(run, steps, _)| (run, steps));
    let (mut runs, sources): (Vec<RunData>, Vec<Vec<String>>) = found.unzip();
    name_columns(&mut runs, &sources);
    let baseline = arguments.baseline.as_deref().map(against::one_run).transpose()?;
    share_baseline(&mut runs, baseline.as_ref().map(|(run, _)| run));
    match arguments.format {
        CompareFormat::Csv => print_data(&compared(&runs).csv())?,
        CompareFormat::Json => print_data(&json_lines(&compared(&runs)))?,
        CompareFormat::Parquet => {
            let bytes = compared(&runs)
                .parquet()
                .map_err(|error| Error::Output(format!("compare: {error}")));
            print_bytes(&bytes?)?;
        }
        CompareFormat::Text | CompareFormat::Markdown | CompareFormat::Latex => {
            for_people(&runs, arguments.format)?;
        }
    }
    if let Some(mut page) = page {
        let text = render(&runs, report::module().as_deref())?;
        page.write(|file| file.write_all(text.as_bytes()))?;
        page.keep()?;
    }
    Ok(())
}

/// Prints the trade-offs and the table.
fn for_people(runs: &[RunData], format: CompareFormat) -> Result<(), Error> {
    let means = runs.iter().map(RunData::shown_summary).collect::<Result<Vec<_>, _>>();
    let means = means.map_err(|what| Error::Output(format!("compare: {what}")))?;
    let columns = runs.iter().zip(&means).map(|(run, summary)| Column {
        label: &run.label,
        summary,
        seeds: run.seeds.as_ref(),
    });
    let columns: Vec<Column<'_>> = columns.collect();
    let data = format != CompareFormat::Text;
    for sentence in tradeoffs(runs) {
        show(&format!("{sentence}\n"), data)?;
    }
    show(side_by_side(&columns).trim_end(), data)?;
    if let Some(sentence) = baseline_sentence(runs) {
        show(&sentence, data)?;
    }
    notes(runs, data)?;
    match format {
        CompareFormat::Markdown => print(&table(&columns).markdown()),
        CompareFormat::Latex => print(&table(&columns).latex()),
        _ => Ok(()),
    }
}

/// Prints which columns are means, and over how many seeds.
fn notes(runs: &[RunData], data: bool) -> Result<(), Error> {
    for run in runs {
        if let Some(seeds) = &run.seeds {
            let text = format!(
                "{}: means over {} seeds; ± is half the width of the 95 % interval",
                run.label,
                seeds.seeds.len()
            );
            show(&text, data)?;
        }
    }
    Ok(())
}

pub(crate) fn refuse(path: &Path, what: impl std::fmt::Display) -> Error {
    Error::config(path.display().to_string(), what.to_string())
}

fn text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| refuse(path, format!("cannot be read: {error}")))
}

/// The runs at a path: a report, a summary, or a folder with one of these or with folders of
/// scenarios.
pub(crate) fn read(path: &Path) -> Result<Vec<Found>, Error> {
    if path.is_dir() {
        return read_folder(path);
    }
    if path.extension().is_some_and(|extension| extension == "html") {
        let runs = RunData::from_page(&text(path)?).map_err(|what| refuse(path, what))?;
        let several = runs.len() > 1;
        let source = |run: &RunData| {
            let mut steps = steps_to(path);
            if several {
                steps.push(run.label.clone());
            }
            steps
        };
        return Ok(runs
            .into_iter()
            .map(|run| (source(&run), run))
            .map(|(s, run)| (run, s, vec![path.to_owned()]))
            .collect());
    }
    let summary: Summary = serde_json::from_str(&text(path)?)
        .map_err(|error| refuse(path, format!("is no summary.json: {error}")))?;
    if !SCHEMAS_READ.contains(&summary.schema.as_str()) {
        let allowed = SCHEMAS_READ.map(|schema| format!("`{schema}`")).join(", ");
        let message = format!("found schema `{}`, allowed: {allowed}", summary.schema);
        return Err(refuse(path, message));
    }
    let seeds = seeds_beside(path, &summary)?;
    let label = path.parent().and_then(Path::file_name).unwrap_or(path.as_os_str());
    let mut run = RunData::from_summary(&label.to_string_lossy(), summary);
    run.seeds = seeds;
    let files = vec![path.to_owned(), path.with_file_name("seeds.json")];
    Ok(vec![(run, steps_to(path), files)])
}

/// The statistics over several seeds, from the file beside the summary of the first seed.
fn seeds_beside(path: &Path, summary: &Summary) -> Result<Option<SeedStatistics>, Error> {
    let file = path.with_file_name("seeds.json");
    if !path.ends_with("summary.json") || !file.is_file() {
        return Ok(None);
    }
    let seeds = SeedStatistics::from_json(&text(&file)?, summary);
    let seeds = seeds.map_err(|what| refuse(&file, what))?;
    // A single seed has no interval: its figures are those of the summary.
    Ok(Some(seeds).filter(|seeds| seeds.seeds.len() > 1))
}

/// The folders that lead to a file, and the name of the file unless it is a name that `run` gives.
fn steps_to(path: &Path) -> Vec<String> {
    let usual = ["summary.json", "report.html"].iter().any(|name| path.ends_with(name));
    let place = if usual { path.parent().unwrap_or(Path::new("")) } else { path };
    let names = |path: &Path| -> Vec<String> {
        let normal = path.components().filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        });
        normal.collect()
    };
    let found = names(place);
    match found.is_empty() {
        // The current folder, by its real name.
        true => place.canonicalize().map(|path| names(&path)).unwrap_or_default(),
        false => found,
    }
}

fn read_folder(path: &Path) -> Result<Vec<Found>, Error> {
    let (page, summary) = (path.join("report.html"), path.join("summary.json"));
    match (page.is_file(), summary.is_file()) {
        (true, true) => {
            let (mut runs, newer) = (read(&page)?, read(&summary)?);
            if runs.len() != 1 || runs[0].0.summary != newer[0].0.summary {
                let message = "is of another run than the summary.json beside it; allowed: both of one \
                               run, or the name of the file that is meant";
                return Err(refuse(&page, message));
            }
            runs[0].2.extend(newer.into_iter().flat_map(|(_, _, files)| files));
            return Ok(runs);
        }
        (true, false) => return read(&page),
        (false, true) => return read(&summary),
        (false, false) => {}
    }
    let entries = std::fs::read_dir(path)
        .map_err(|error| refuse(path, format!("cannot be read: {error}")))?;
    let mut below: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|entry| entry.join("summary.json").is_file())
        .collect();
    below.sort_by_key(|folder| scenario_order(folder));
    if below.is_empty() {
        return Err(refuse(path, "holds no report.html and no summary.json"));
    }
    let runs = below.iter().map(|folder| read_folder(folder)).collect::<Result<Vec<_>, _>>()?;
    Ok(runs.into_iter().flatten().collect())
}

/// Sorts `scenario-2` before `scenario-10`, other names by letters.
fn scenario_order(folder: &Path) -> (Option<u64>, PathBuf) {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    (name.strip_prefix("scenario-").and_then(|number| number.parse().ok()), folder.to_owned())
}
