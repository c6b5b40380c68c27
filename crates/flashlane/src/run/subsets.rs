//! The runs of some of the flows: each flow alone, and the others without each flow.

use flashlane_config::{DeviceConfig, WorkloadConfig};
use flashlane_measure::metrics::{AloneBasis, Summary};

use super::{wants_slowdowns, whole_drive};
use crate::options::RunOptions;

/// The flows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subset {
    /// One flow.
    Only(usize),
    /// All flows but one.
    Without(usize),
}

impl Subset {
    /// True if a flow runs.
    pub(super) fn has(self, flow: usize) -> bool {
        match self {
            Self::Only(one) => flow == one,
            Self::Without(one) => flow != one,
        }
    }

    /// The flow without which all of `flows` run.
    fn left_out(self, flows: usize) -> Option<usize> {
        match self {
            Self::Only(one) if flows == 2 => Some(1 - one),
            Self::Only(_) => None,
            Self::Without(one) => Some(one),
        }
    }
}

/// The runs that the options ask for, beside that of all flows. Those of flows alone come first, in
/// the order of the flows.
pub(super) fn of(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    options: &RunOptions,
) -> Vec<Subset> {
    let flows = workload.flows.len();
    if options.waf_only {
        return Vec::new();
    }
    let whole =
        options.alone_basis == AloneBasis::WholeDrive && whole_drive::differs(device, workload);
    let slowdowns = wants_slowdowns(workload, options);
    // A single flow that has all it can have is alone already.
    let alone = slowdowns && (flows > 1 || whole);
    // Without the other one, each of two flows is alone.
    let two = options.leave_one_out && flows == 2 && !whole;
    let mut subsets = Vec::new();
    if alone || two {
        subsets.extend((0..flows).map(Subset::Only));
    }
    if options.leave_one_out && flows > 1 && !two {
        subsets.extend((0..flows).map(Subset::Without));
    }
    subsets
}

/// Fills in the mean end-to-end time of every flow without each other one. `runs` have the means of
/// all flows, in the order of the workload; `None` for a flow without a request that counts.
pub(super) fn fill_without(summary: &mut Summary, runs: &[(Subset, Vec<Option<f64>>)]) {
    // Runs of a flow alone are those without another one only if there are no others.
    let left_out = |subset: &&(Subset, Vec<_>)| matches!(subset.0, Subset::Without(_));
    let first = runs.iter().position(|run| left_out(&run)).unwrap_or(0);
    let names: Vec<String> = summary.flows.iter().map(|flow| flow.name.clone()).collect();
    for (index, flow) in summary.flows.iter_mut().enumerate() {
        let runs = runs[first..].iter().filter(|(subset, _)| subset.has(index));
        let without = runs.filter_map(|(subset, means)| {
            Some((names[subset.left_out(names.len())?].clone(), means[index]?))
        });
        flow.without = Some(without.collect());
    }
}
