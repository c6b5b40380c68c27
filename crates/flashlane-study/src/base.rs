//! Loads the device and the workload of a study. Both come from files, and each run can set further
//! keys on top.

use std::path::{Path, PathBuf};

use flashlane::Error;
use flashlane::config::load::{self, Loaded, Overrides};
use flashlane::config::{DeviceConfig, WorkloadConfig, validate};

/// A device and a workload that were checked together.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The device.
    pub device: Loaded<DeviceConfig>,
    /// The workload, with the tenants of the device.
    pub workload: Loaded<WorkloadConfig>,
}

/// The names of a device and a workload.
#[derive(Clone, Debug, Default)]
pub struct Base {
    /// A preset, or a path to a file.
    pub device: String,
    /// The path of the workload or scenario file.
    pub workload: PathBuf,
    /// The folder in which a relative path is looked for first. The current folder follows.
    pub folder: PathBuf,
    /// The settings that every run of the study applies to both files.
    pub overrides: Overrides,
}

impl Base {
    /// Loads the device and the workload with further settings on top, each written `KEY=VALUE`.
    /// The keys `device` and `workload` name another file.
    ///
    /// # Errors
    /// [`Error::Config`] if a file or a setting is refused.
    pub fn load(&self, sets: &[String], counts: &[(String, u32)]) -> Result<Scenario, Error> {
        let scenario = self.unchecked(sets, counts)?;
        validate::check_pair(&scenario.device, &scenario.workload)?;
        Ok(scenario)
    }

    /// Takes the name of another device or workload. Returns false for any other key.
    pub(crate) fn take(&mut self, key: &str, name: &str) -> bool {
        let beside = self.folder.join(name.trim());
        match key.trim() {
            "device" if beside.is_file() => self.device = beside.display().to_string(),
            "device" => name.trim().clone_into(&mut self.device),
            "workload" if beside.exists() => self.workload = beside,
            "workload" => self.workload = name.trim().into(),
            _ => return false,
        }
        true
    }

    /// Does what [`Base::load`] does, without checking the device and the workload.
    pub(crate) fn unchecked(
        &self,
        sets: &[String],
        counts: &[(String, u32)],
    ) -> Result<Scenario, Error> {
        let mut base = self.clone();
        base.overrides.counts.extend_from_slice(counts);
        for set in sets {
            let named = set.split_once('=').is_some_and(|(key, name)| base.take(key, name));
            if !named {
                base.overrides.sets.push(set.clone());
            }
        }
        refuse_streams(base.device.as_ref())?;
        refuse_streams(&base.workload)?;
        let device = load::device(&base.device, &base.overrides)?;
        let mut workloads = load::workloads(&base.workload, &base.overrides)?;
        if workloads.len() != 1 {
            let found = format!("found {} scenarios, allowed: one", workloads.len());
            return Err(Error::config(base.workload.display().to_string(), found));
        }
        let workload = workloads.pop().expect("one");
        Ok(Scenario { device, workload })
    }
}

/// Refuses a pipe or a device file. A study reads its files again for each run, but a pipe gives
/// its bytes only once and a device file may never end.
fn refuse_streams(path: &Path) -> Result<(), Error> {
    match std::fs::metadata(path) {
        Ok(data) if !data.is_file() && !data.is_dir() => {
            let message = "is no regular file; allowed: a file that can be read more than once";
            Err(Error::config(path.display().to_string(), message))
        }
        _ => Ok(()),
    }
}
