//! Where device and tenants of a study come from: files, with keys on top that differ from run to
//! run.

use std::path::PathBuf;

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
    /// What lies on top of both at every point.
    pub overrides: Overrides,
}

impl Base {
    /// Loads both with more keys on top, each as `KEY=VALUE`. The key `device` names another
    /// device.
    ///
    /// # Errors
    /// [`Error::Config`] for what is refused.
    pub fn load(&self, sets: &[String], counts: &[(String, u32)]) -> Result<Scenario, Error> {
        let scenario = self.unchecked(sets, counts)?;
        validate::check_pair(&scenario.device, &scenario.workload)?;
        Ok(scenario)
    }

    /// As [`Base::load`], before device and workload are checked.
    pub(crate) fn unchecked(
        &self,
        sets: &[String],
        counts: &[(String, u32)],
    ) -> Result<Scenario, Error> {
        let mut device = self.device.as_str();
        let mut overrides = self.overrides.clone();
        overrides.counts.extend_from_slice(counts);
        for set in sets {
            match set.split_once('=') {
                Some((key, name)) if key.trim() == "device" => device = name.trim(),
                _ => overrides.sets.push(set.clone()),
            }
        }
        let device = load::device(device, &overrides)?;
        let mut workloads = load::workloads(&self.workload, &overrides)?;
        if workloads.len() != 1 {
            let found = format!("found {} scenarios, allowed: one", workloads.len());
            return Err(Error::config(self.workload.display().to_string(), found));
        }
        let workload = workloads.pop().expect("one");
        Ok(Scenario { device, workload })
    }
}
