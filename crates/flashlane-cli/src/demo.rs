//! `flashlane demo`: two tenants on one drive, under two schedulers.

use std::path::{Path, PathBuf};

use flashlane::config::load::{self, Overrides};
use flashlane::config::validate;
use flashlane::{Error, RunOptions};

use crate::args::{DemoArgs, Format};
use crate::execute::{Scenario, execute};
use crate::flow_rows::print_rows;
use crate::output::{OutFolder, RUN, note, places_of_results, print_data, show};
use crate::side_by_side::{Column, side_by_side};
use crate::watch::Watched;
use crate::{blame_table, report, summary_table};

/// The schedulers that the demonstration compares.
const SCHEDULERS: [&str; 2] = ["fcfs", "out-of-order"];
const DEVICE: &str = include_str!("../demo/device.toml");
const WORKLOAD: &str = include_str!("../demo/workload.toml");

/// Runs the built-in scenario under both schedulers and shows them side by side.
pub(crate) fn demo(arguments: &DemoArgs) -> Result<(), Error> {
    let common = &arguments.common;
    if matches!(common.format, Format::FioJson | Format::MqsimXml) {
        let message = "with demo, allowed: text, json, csv, markdown, latex";
        return Err(Error::config("--format", message));
    }
    let workload = load::workload_from_toml(WORKLOAD, "demo workload", &Overrides::default())?;
    let folder = |root: &PathBuf| {
        let folder = OutFolder::prepare(root, common.overwrite.overwrite)?.of_set(RUN);
        folder.expect(places_of_results(SCHEDULERS)).map(|()| folder)
    };
    let mut folder = common.out.as_ref().map(folder).transpose()?;
    let mut devices = Vec::new();
    for scheduler in SCHEDULERS {
        let overrides = Overrides { scheduler: Some(scheduler.to_owned()), ..Overrides::default() };
        let device = load::device_from_toml(DEVICE, "demo device", &overrides)?;
        validate::check_pair(&device, &workload)?;
        devices.push(device);
    }
    let options =
        RunOptions { seed: common.seed, alone: true, check: common.check, ..RunOptions::default() };
    // Both schedulers on one page.
    let mut watch = common.watch;
    watch.report |= folder.is_some();
    let (mut scenarios, mut watched) = (Vec::new(), Vec::new());
    for (scheduler, device) in SCHEDULERS.iter().zip(&devices) {
        let (folder, path) = (folder.as_mut(), Path::new(scheduler));
        let (observe, files) = Watched::prepare(&watch, false, folder, path, &workload.config)?;
        watched.push(files);
        scenarios.push(Scenario {
            device: &device.config,
            workload: &workload.config,
            options: RunOptions { observe, ..options.clone() },
            seeds: None,
        });
    }
    let outcomes = execute(&scenarios, usize::from(common.threads), "simulating", common.quiet)?;
    let json = common.format != Format::Text;
    if common.format == Format::Text || !common.quiet {
        for outcome in &outcomes {
            show(summary_table::report(&outcome.summary, None).trim_end(), json)?;
            if let Some(blame) = &outcome.details.blame {
                show(blame_table::blame(blame).trim_end(), json)?;
            }
            show("", json)?;
        }
    }
    if let Some(folder) = folder {
        let (mut files, mut runs) = (Vec::new(), Vec::new());
        for ((scheduler, device), outcome) in SCHEDULERS.iter().zip(&devices).zip(&outcomes) {
            let mut run = report::data(outcome, &device.config, &workload.config)?;
            (*scheduler).clone_into(&mut run.label);
            runs.push(run);
        }
        files.push((PathBuf::from("report.html"), report::page(&runs)?));
        for ((scheduler, outcome), watched) in SCHEDULERS.iter().zip(&outcomes).zip(watched) {
            for (name, text) in outcome.files()? {
                files.push((PathBuf::from(scheduler).join(name), text.into()));
            }
            files.extend(watched.files(&watch, &outcome.details)?);
        }
        folder.write(files)?;
    }
    if common.format == Format::Text || !common.quiet {
        let columns: Vec<Column<'_>> = SCHEDULERS
            .iter()
            .zip(&outcomes)
            .map(|(label, outcome)| Column { label, summary: &outcome.summary, seeds: None })
            .collect();
        show(side_by_side(&columns).trim_end(), json)?;
    }
    if common.format == Format::Json {
        for outcome in &outcomes {
            print_data(&outcome.json_line()?)?;
        }
    }
    let named = SCHEDULERS.iter().zip(&outcomes);
    let named = named.map(|(name, outcome)| ((*name).to_owned(), &outcome.summary, None));
    print_rows(&named.collect::<Vec<_>>(), common.format)?;
    if let Some(folder) = &common.out {
        note(&format!("\nThe page to open: {}", folder.join("report.html").display()));
    }
    Ok(())
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
