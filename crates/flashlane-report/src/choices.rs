//! The policies that a page can try: those that ship with the simulator. Policies that a program
//! registered are not in the page.

use flashlane::metrics::Summary;
use flashlane::policy::{Isolation, PolicyInfo, Scheduling};

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
