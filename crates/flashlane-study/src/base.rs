//! Where device and tenants of a study come from: files, with keys on top that differ from run to
//! run.

use std::path::{Path, PathBuf};

use flashlane::Error;
use flashlane::config::load::{self, Loaded, Overrides};
use flashlane::config::{DeviceConfig, WorkloadConfig, validate};

/// A device and a workload that belong together, checked.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The drive.
    pub device: Loaded<DeviceConfig>,
    /// Its tenants.
    pub workload: Loaded<WorkloadConfig>,
}

/// Device and workload by name.
#[derive(Clone, Debug, Default)]
pub struct Base {
    /// Preset or file.
    pub device: String,
    /// File; of one scenario.
    pub workload: PathBuf,
    /// Where files that are named are looked for before the current folder.
    pub folder: PathBuf,
    /// What lies on top of both at every point.
    pub overrides: Overrides,
}

impl Base {
    /// Loads both with more keys on top, each as `KEY=VALUE`. The keys `device` and `workload` name
    /// others.
    ///
    /// # Errors
    /// [`Error::Config`] for what is refused.
    pub fn load(&self, sets: &[String], counts: &[(String, u32)]) -> Result<Scenario, Error> {
        let scenario = self.unchecked(sets, counts)?;
        validate::check_pair(&scenario.device, &scenario.workload)?;
        Ok(scenario)
    }

    /// Takes another device or workload. False for any other key.
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

    /// As [`Base::load`], before device and workload are checked.
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

/// Refuses a pipe or a device: a study reads its files for each run, and they give their bytes once
/// or without end.
fn refuse_streams(path: &Path) -> Result<(), Error> {
    match std::fs::metadata(path) {
        Ok(data) if !data.is_file() && !data.is_dir() => {
            let message = "is no regular file; allowed: a file that can be read more than once";
            Err(Error::config(path.display().to_string(), message))
        }
        _ => Ok(()),
    }
}
