//! `flashlane demo`: two tenants on one drive, under three policies.

use std::path::{Path, PathBuf};

use flashlane::config::load::{self, Overrides};
use flashlane::config::validate;
use flashlane::{Error, RunOptions};
use flashlane_report::{RunData, baseline_sentence, share_baseline};

use crate::args::{DemoArgs, Format};
use crate::execute::{Outcome, Scenario, execute};
use crate::flow_rows::print_rows;
use crate::output::{Content, OutFolder, RUN, note, places_of_results, print_data, show};
use crate::side_by_side::{Column, side_by_side};
use crate::watch::Watched;
use crate::{blame_table, report, states, summary_table};

/// A policy of the demonstration: the name of its column and folder, the scheduler, and the
/// isolation.
type Policy = (&'static str, &'static str, &'static str);

/// The policies that the demonstration compares.
const POLICIES: [Policy; 3] = [
    ("fcfs", "fcfs", "unified"),
    ("out-of-order", "out-of-order", "unified"),
    ("partitioned", "out-of-order", "partitioned"),
];
const DEVICE: &str = include_str!("../demo/device.toml");
const WORKLOAD: &str = include_str!("../demo/workload.toml");

/// Runs the built-in scenario under all policies and shows them side by side.
pub(crate) fn demo(arguments: &DemoArgs) -> Result<(), Error> {
    let common = &arguments.common;
    check_options(arguments)?;
    let workload = load::workload_from_toml(WORKLOAD, "demo workload", &Overrides::default())?;
    let folder = |root: &PathBuf| {
        let folder = OutFolder::prepare(root, common.overwrite.overwrite)?.of_set(RUN);
        let labels = POLICIES.iter().map(|(label, ..)| label);
        folder.expect(places_of_results(labels)).map(|()| folder)
    };
    let mut folder = common.out.as_ref().map(folder).transpose()?;
    let mut devices = Vec::new();
    for policy in POLICIES {
        let device = load::device_from_toml(DEVICE, "demo device", &overrides(policy))?;
        validate::check_pair(&device, &workload)?;
        devices.push(device.config);
    }
    // Policies that start from the same drive share its state.
    let kept = tempfile::tempdir().ok();
    let states = kept.as_ref().and_then(|folder| states::states(Some(folder.path()), true).ok());
    let states = states.flatten();
    let options = RunOptions { seed: common.seed, check: common.check, ..RunOptions::default() };
    let options = RunOptions { alone: true, states, ..options };
    // One page shows all policies.
    let mut watch = common.watch;
    watch.report |= folder.is_some();
    let (mut scenarios, mut watched) = (Vec::new(), Vec::new());
    for ((label, ..), device) in POLICIES.iter().zip(&devices) {
        let (folder, path) = (folder.as_mut(), Path::new(label));
        let (observe, files) = Watched::prepare(&watch, false, folder, path, &workload.config)?;
        watched.push(files);
        scenarios.push(Scenario {
            device,
            workload: &workload.config,
            options: RunOptions { observe, ..options.clone() },
            seeds: arguments.seeds,
        });
    }
    let outcomes = execute(&scenarios, usize::from(common.threads), "simulating", common.quiet)?;
    if common.format == Format::Text || !common.quiet {
        show_each(&outcomes, common.format != Format::Text)?;
    }
    if let Some(folder) = folder {
        let mut files = vec![page(&scenarios, &outcomes)?];
        for (((label, ..), outcome), watched) in POLICIES.iter().zip(&outcomes).zip(watched) {
            for (name, text) in outcome.files()? {
                files.push((PathBuf::from(label).join(name), text.into()));
            }
            files.extend(watched.files(&watch, &outcome.details)?);
        }
        folder.write(files)?;
    }
    show_beside(arguments, &outcomes)?;
    if let Some(folder) = &common.out {
        note(&format!("\nThe page to open: {}", folder.join("report.html").display()));
    }
    Ok(())
}

fn check_options(arguments: &DemoArgs) -> Result<(), Error> {
    let common = &arguments.common;
    if matches!(common.format, Format::FioJson | Format::MqsimXml) {
        let message = "with demo, allowed: text, json, csv, markdown, latex";
        return Err(Error::config("--format", message));
    }
    if arguments.seeds.is_some() && common.watch.any() {
        let message = "found, allowed: not given; one run is watched, choose it with --seed";
        return Err(Error::config("--seeds", message));
    }
    Ok(())
}

/// Prints each run for people. `json`: true if standard output is for data.
fn show_each(outcomes: &[Outcome], json: bool) -> Result<(), Error> {
    for outcome in outcomes {
        let (shown, seeds) = (outcome.shown()?, outcome.seeds.as_ref());
        show(summary_table::report(&shown, seeds).trim_end(), json)?;
        if let Some(blame) = &outcome.details.blame {
            show(blame_table::blame(blame).trim_end(), json)?;
        }
        show("", json)?;
    }
    Ok(())
}

/// A page of all runs.
fn page(scenarios: &[Scenario<'_>], outcomes: &[Outcome]) -> Result<(PathBuf, Content), Error> {
    let mut runs = Vec::new();
    for (((label, ..), scenario), outcome) in POLICIES.iter().zip(scenarios).zip(outcomes) {
        let mut run = report::data(outcome, scenario.device, scenario.workload)?;
        (*label).clone_into(&mut run.label);
        runs.push(run);
    }
    share_baseline(&mut runs, None);
    Ok((PathBuf::from("report.html"), report::page(&runs)?))
}

/// Prints the runs side by side, and the data that are wanted.
fn show_beside(arguments: &DemoArgs, outcomes: &[Outcome]) -> Result<(), Error> {
    let common = &arguments.common;
    let json = common.format != Format::Text;
    let run = |((label, ..), outcome): (&Policy, &Outcome)| {
        let run = RunData::from_summary(label, outcome.summary.clone());
        RunData { seeds: outcome.seeds.clone(), ..run }
    };
    let mut runs: Vec<RunData> = POLICIES.iter().zip(outcomes).map(run).collect();
    share_baseline(&mut runs, None);
    let shown = runs.iter().map(RunData::shown_summary).collect::<Result<Vec<_>, _>>();
    let shown = shown.map_err(Error::Output)?;
    let columns = runs.iter().zip(&shown).map(|(run, summary)| Column {
        label: &run.label,
        summary,
        seeds: run.seeds.as_ref(),
    });
    let columns: Vec<Column<'_>> = columns.collect();
    if common.format == Format::Text || !common.quiet {
        show(side_by_side(&columns).trim_end(), json)?;
        if let Some(sentence) = baseline_sentence(&runs) {
            show(&sentence, json)?;
        }
    }
    if common.format == Format::Json {
        for outcome in outcomes {
            print_data(&outcome.json_line()?)?;
        }
    }
    let rows = columns.iter().map(|column| (column.label.to_owned(), column.summary, column.seeds));
    print_rows(&rows.collect::<Vec<_>>(), common.format)
}

fn overrides((_, scheduler, isolation): Policy) -> Overrides {
    Overrides {
        scheduler: Some(scheduler.to_owned()),
        isolation: Some(isolation.to_owned()),
        ..Overrides::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_files_are_valid() {
        let none = Overrides::default();
        let device = load::device_from_toml(DEVICE, "demo device", &none).unwrap();
        let workload = load::workload_from_toml(WORKLOAD, "demo workload", &none).unwrap();
        validate::check_pair(&device, &workload).unwrap();
    }
}
