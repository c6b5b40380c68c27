//! The changes that a page can try. Policies are those that ship with the simulator. Policies that
//! a program registered are not in the page.

use flashlane::config::load::{Overrides, device_from_toml, workload_from_toml};
use flashlane::config::{HandleEach, WorkloadConfig, handle_each};
use flashlane::metrics::Summary;
use flashlane::policy::{Isolation, PolicyInfo, Scheduling};
use serde::Serialize;

use crate::data::RunData;

/// The line between device and workload in the configuration of a run.
pub(crate) const WORKLOAD_MARK: &str = "\n# workload\n";

/// Names of the schedulers.
pub(crate) fn schedulers() -> Vec<String> {
    shipped(Scheduling::list(), &Scheduling::outside().list())
}

/// Names of the isolation policies.
pub(crate) fn isolations() -> Vec<String> {
    shipped(Isolation::list(), &Isolation::outside().list())
}

/// True if the page has the policies of the run.
pub(crate) fn has(summary: &Summary) -> bool {
    schedulers().contains(&summary.scheduler) && isolations().contains(&summary.isolation)
}

fn shipped(all: Vec<PolicyInfo>, outside: &[PolicyInfo]) -> Vec<String> {
    let names = all.into_iter().map(|one| one.name.into_owned());
    names.filter(|name| !outside.iter().any(|one| one.name == *name)).collect()
}

/// The tenants of a run; `None` where its configuration is not known.
pub(crate) fn workload(run: &RunData) -> Option<WorkloadConfig> {
    let (_, workload) = run.configuration.split_once(WORKLOAD_MARK)?;
    let loaded = workload_from_toml(workload, "workload", &Overrides::default()).ok()?;
    Some(loaded.config)
}

/// A change of keys, for the page.
#[derive(Debug, Serialize)]
struct Change {
    label: String,
    set: Vec<String>,
}

/// For each run, the ways to give each tenant a placement handle, as JSON. `None` where no drive
/// could offer handles.
pub(crate) fn handles(runs: &[RunData]) -> Option<String> {
    let changes: Vec<Vec<Change>> = runs.iter().map(handles_of).collect();
    let some = changes.iter().any(|of_run| !of_run.is_empty());
    some.then(|| serde_json::to_string(&changes).ok()).flatten()
}

fn handles_of(run: &RunData) -> Vec<Change> {
    let device = || {
        let (device, _) = run.configuration.split_once(WORKLOAD_MARK)?;
        device_from_toml(device, "device", &Overrides::default()).ok()
    };
    let Some(device) = device() else { return Vec::new() };
    let flows: Vec<String> =
        (0..run.summary.flows.len()).map(|flow| format!("flow[{flow}]")).collect();
    let change = |each: HandleEach| Change { label: each.label, set: each.sets };
    handle_each(&device.config, &flows).into_iter().map(change).collect()
}
