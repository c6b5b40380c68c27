//! `flashlane check`.

use std::path::Path;

use flashlane::config::load::{self, Kind, Loaded, Overrides};
use flashlane::config::preset::Preset;
use flashlane::config::{DeviceConfig, WorkloadConfig, validate};
use flashlane::{Error, Problem};

use crate::output::{note, print};

/// The content of a file.
enum Checked {
    Device(Box<Loaded<DeviceConfig>>),
    Workloads(Vec<Loaded<WorkloadConfig>>),
}

/// Prints OK for each good file and all problems of the others.
pub(crate) fn check(files: &[String]) -> Result<(), Error> {
    let mut problems: Vec<Problem> = Vec::new();
    let mut good: Vec<(&String, Checked)> = Vec::new();
    for file in files {
        match load_any(file) {
            Ok(checked) => good.push((file, checked)),
            Err(Error::Config(more)) => problems.extend(more),
            Err(error) => return Err(error),
        }
    }
    let devices: Vec<&Loaded<DeviceConfig>> = good
        .iter()
        .filter_map(|(_, checked)| match checked {
            Checked::Device(device) => Some(&**device),
            Checked::Workloads(_) => None,
        })
        .collect();
    let device = if devices.len() == 1 { devices.first().copied() } else { None };
    for (file, checked) in &good {
        match check_one(checked, device) {
            Ok(what) => print(&format!("{file}: OK ({what})\n"))?,
            Err(Error::Config(more)) => problems.extend(more),
            Err(error) => return Err(error),
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Config(problems)) }
}

fn load_any(file: &str) -> Result<Checked, Error> {
    let none = Overrides::default();
    let path = Path::new(file);
    let is_preset = Preset::by_name(file).is_some();
    if is_preset || load::kind_of(path)? == Kind::Device {
        return Ok(Checked::Device(Box::new(load::device(file, &none)?)));
    }
    Ok(Checked::Workloads(load::workloads(path, &none)?))
}

fn check_one(checked: &Checked, device: Option<&Loaded<DeviceConfig>>) -> Result<String, Error> {
    match checked {
        Checked::Device(device) => {
            warn(&device.warnings);
            validate::check_device(device)?;
            Ok(format!("device {}", device.config.name))
        }
        Checked::Workloads(workloads) => {
            // The scenarios of one file have most warnings in common.
            let mut told: Vec<String> = Vec::new();
            for workload in workloads {
                let new = workload.warnings.iter().filter(|warning| !told.contains(warning));
                let new: Vec<String> = new.cloned().collect();
                warn(&new);
                told.extend(new);
                match device {
                    Some(device) => {
                        validate::check_pair(device, workload)?;
                        validate::check_traces(&device.config, &workload.config)?;
                    }
                    None => validate::check_workload(workload)?,
                }
            }
            let flows: usize = workloads.iter().map(|one| one.config.flows.len()).sum();
            let on = device.map(|device| format!(", on device {}", device.config.name));
            Ok(format!(
                "workload, {} scenario(s), {flows} flow(s){}",
                workloads.len(),
                on.unwrap_or_default()
            ))
        }
    }
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        note(&format!("warning: {warning}"));
    }
}
