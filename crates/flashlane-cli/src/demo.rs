//! `flashlane demo`: two tenants on one drive, under two schedulers.

use std::path::PathBuf;

use flashlane::config::load::{self, Overrides};
use flashlane::config::validate;
use flashlane::{Error, RunOptions};

use crate::args::{DemoArgs, Format};
use crate::execute::{Scenario, execute};
use crate::output::{OutFolder, note, print};
use crate::table;

/// The schedulers that the demonstration compares.
const SCHEDULERS: [&str; 2] = ["fcfs", "out-of-order"];
const DEVICE: &str = include_str!("../demo/device.toml");
const WORKLOAD: &str = include_str!("../demo/workload.toml");

/// Runs the built-in scenario under both schedulers and shows them side by side.
pub(crate) fn demo(arguments: &DemoArgs) -> Result<(), Error> {
    let common = &arguments.common;
    if common.format == Format::MqsimXml {
        return Err(Error::config("--format", "found mqsim-xml, allowed: text, json"));
    }
    let workload = load::workload_from_toml(WORKLOAD, "demo workload", &Overrides::default())?;
    let folder = common.out.as_deref().map(OutFolder::prepare).transpose()?;
    let mut devices = Vec::new();
    for scheduler in SCHEDULERS {
        let overrides = Overrides { scheduler: Some(scheduler.to_owned()), ..Overrides::default() };
        let device = load::device_from_toml(DEVICE, "demo device", &overrides)?;
        validate::check_pair(&device, &workload)?;
        devices.push(device);
    }
    let options =
        RunOptions { seed: common.seed, alone: true, check: common.check, ..RunOptions::default() };
    let scenarios: Vec<Scenario<'_>> = devices
        .iter()
        .map(|device| Scenario {
            device: &device.config,
            workload: &workload.config,
            options: options.clone(),
            seeds: None,
        })
        .collect();
    let outcomes = execute(&scenarios, usize::from(common.threads), "simulating", common.quiet)?;
    if common.format == Format::Text || !common.quiet {
        for outcome in &outcomes {
            note(table::report(&outcome.summary, None).trim_end());
            note("");
        }
    }
    if let Some(folder) = folder {
        let mut files = Vec::new();
        for (scheduler, outcome) in SCHEDULERS.iter().zip(&outcomes) {
            for (name, text) in outcome.files()? {
                files.push((PathBuf::from(scheduler).join(name), text));
            }
        }
        folder.write(&files)?;
    }
    if common.format == Format::Text || !common.quiet {
        let summaries: Vec<_> = outcomes.iter().map(|outcome| &outcome.summary).collect();
        note(table::side_by_side(&SCHEDULERS, &summaries).trim_end());
    }
    if common.format == Format::Json {
        for outcome in &outcomes {
            print(&outcome.json_line()?)?;
        }
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
