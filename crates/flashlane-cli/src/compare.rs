//! `flashlane compare`: results of several runs side by side.

use std::path::{Path, PathBuf};

use flashlane::Error;
use flashlane::metrics::{SCHEMA, Summary};
use flashlane_report::{RunData, render};

use crate::args::{CompareArgs, Format};
use crate::execute::to_json;
use crate::output::{OutFile, note, print};
use crate::table;

/// Reads the results, prints them side by side, and writes the page if it is asked for.
pub(crate) fn compare(arguments: &CompareArgs) -> Result<(), Error> {
    let page = arguments.report.as_deref().map(OutFile::prepare).transpose()?;
    let mut runs = Vec::new();
    for path in &arguments.results {
        runs.extend(read(path)?);
    }
    tell_apart(&mut runs);
    let summaries: Vec<&Summary> = runs.iter().map(|run| &run.summary).collect();
    let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    match arguments.format {
        Format::Json => {
            for run in &runs {
                print(&format!("{}\n", to_json(&run.summary)?))?;
            }
        }
        _ => note(table::side_by_side(&labels, &summaries).trim_end()),
    }
    if let Some(mut page) = page {
        let text = render(&runs)?;
        page.write(|file| file.write_all(text.as_bytes()))?;
        page.keep()?;
    }
    Ok(())
}

fn refuse(path: &Path, what: impl std::fmt::Display) -> Error {
    Error::config(path.display().to_string(), what.to_string())
}

fn text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| refuse(path, format!("cannot be read: {error}")))
}

/// The runs behind a path: a report, a summary, or a folder with one of them or with folders of scenarios.
fn read(path: &Path) -> Result<Vec<RunData>, Error> {
    if path.is_dir() {
        return read_folder(path);
    }
    if path.extension().is_some_and(|extension| extension == "html") {
        return RunData::from_page(&text(path)?).map_err(|what| refuse(path, what));
    }
    let summary: Summary = serde_json::from_str(&text(path)?)
        .map_err(|error| refuse(path, format!("is no summary.json: {error}")))?;
    if summary.schema != SCHEMA {
        let message = format!("found schema `{}`, allowed: `{SCHEMA}`", summary.schema);
        return Err(refuse(path, message));
    }
    let label = path.parent().and_then(Path::file_name).unwrap_or(path.as_os_str());
    Ok(vec![RunData::from_summary(&label.to_string_lossy(), summary)])
}

fn read_folder(path: &Path) -> Result<Vec<RunData>, Error> {
    let name = |run: &mut RunData| {
        if let Some(folder) = path.file_name() {
            run.label = folder.to_string_lossy().into_owned();
        }
    };
    for file in ["report.html", "summary.json"] {
        let file = path.join(file);
        if file.is_file() {
            let mut runs = read(&file)?;
            if let [run] = &mut runs[..] {
                name(run);
            }
            return Ok(runs);
        }
    }
    let entries = std::fs::read_dir(path)
        .map_err(|error| refuse(path, format!("cannot be read: {error}")))?;
    let mut below: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|entry| entry.join("summary.json").is_file())
        .collect();
    below.sort();
    if below.is_empty() {
        return Err(refuse(path, "holds no report.html and no summary.json"));
    }
    let runs = below.iter().map(|folder| read_folder(folder)).collect::<Result<Vec<_>, _>>()?;
    Ok(runs.into_iter().flatten().collect())
}

/// Numbers the labels that several runs have.
fn tell_apart(runs: &mut [RunData]) {
    let labels: Vec<String> = runs.iter().map(|run| run.label.clone()).collect();
    for (index, run) in runs.iter_mut().enumerate() {
        if labels.iter().filter(|label| **label == run.label).count() > 1 {
            run.label = format!("{} ({})", run.label, index + 1);
        }
    }
}
