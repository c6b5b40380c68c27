//! The policies that a page can try: those that ship with the simulator. What a program brought
//! along is not in the page.

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

/// The run has policies that a page has, too.
pub(crate) fn has(summary: &Summary) -> bool {
    schedulers().contains(&summary.scheduler) && isolations().contains(&summary.isolation)
}

fn shipped(all: Vec<PolicyInfo>, outside: &[PolicyInfo]) -> Vec<String> {
    let names = all.into_iter().map(|one| one.name.into_owned());
    names.filter(|name| !outside.iter().any(|one| one.name == *name)).collect()
}
