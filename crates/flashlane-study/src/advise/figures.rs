//! The figures of a run that advice needs. Whole summaries of all runs would take much memory.

use flashlane::metrics::{Baseline, Latency, Summary};

use super::middle;

/// What a run gave each tenant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figures {
    /// The tenants, in the order of the workload.
    pub(super) tenants: Vec<Tenant>,
    /// True if collection moved a page or emptied a block.
    pub(super) collects: bool,
    /// True if a block was erased.
    pub(super) erases: bool,
    /// Pages programmed for each page that the host wrote; 0 where it wrote none.
    pub(super) amplification: f64,
}

/// What a tenant got.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tenant {
    pub(super) name: String,
    /// Completions per second.
    pub(super) iops: f64,
    /// Bytes per second.
    pub(super) bandwidth: f64,
    /// The time from arrival to completion. Unit: microseconds.
    pub(super) latency: Latency,
    /// The mean of this time over the mean alone on the unchanged drive.
    pub(super) slowdown: Option<f64>,
    /// True if the drive does not keep up with the tenant, or serves nothing of it.
    pub(super) grows: bool,
    /// True if the drive serves nothing of it.
    pub(super) starved: bool,
    /// The largest strain of its goals. Above 1 if a goal is missed.
    pub(super) strain: Option<f64>,
}

/// The strain of a goal whose figure is within its limit, but whose backlog grows. The figure
/// exceeds any limit in a run that is long enough.
const GROWS: f64 = 2.0;
/// The strain of a goal without a figure: no request of the tenant was counted.
const NOTHING: f64 = 1e3;

impl Figures {
    /// The figures of a summary, with slowdowns against the tenants alone of the unchanged drive.
    pub(super) fn of(mut summary: Summary, alone: Option<&Baseline>) -> Self {
        if let Some(alone) = alone {
            alone.apply(&mut summary, None);
        }
        let flash = &summary.flash;
        Self {
            collects: flash.gc_invocations > 0 || flash.gc_programs > 0,
            erases: flash.erases > 0,
            amplification: flash.write_amplification,
            tenants: summary.flows.iter().map(Tenant::of).collect(),
        }
    }

    /// The tenant with the largest slowdown.
    pub(super) fn slowest(&self) -> Option<usize> {
        self.largest(|tenant| tenant.slowdown)
    }

    /// The tenant with the largest strain.
    pub(super) fn most_strained(&self) -> Option<usize> {
        self.largest(|tenant| tenant.strain)
    }

    fn largest(&self, figure: impl Fn(&Tenant) -> Option<f64>) -> Option<usize> {
        let known = (0..).zip(&self.tenants).filter_map(|(at, one)| Some((at, figure(one)?)));
        let most = known.reduce(|most, one| if one.1 > most.1 { one } else { most });
        most.map(|one| one.0)
    }
}

impl Tenant {
    fn of(flow: &flashlane::metrics::FlowSummary) -> Self {
        let grows = flow.depends_on_length();
        let goals = flow.slo.iter().flat_map(|slo| &slo.goals);
        let strain = goals.map(|goal| {
            let strain = goal.strain();
            let strain = if strain.is_finite() { strain.min(NOTHING) } else { NOTHING };
            if grows && !goal.is_floor() { strain.max(GROWS) } else { strain }
        });
        Self {
            name: flow.name.clone(),
            iops: flow.iops,
            bandwidth: flow.bandwidth_bytes_per_s,
            latency: flow.end_to_end_us,
            slowdown: flow.slowdown,
            grows,
            starved: flow.starved,
            strain: strain.reduce(f64::max),
        }
    }

    /// The part of its rate that the tenant loses. Range: 0..=1.
    pub(super) fn loss(&self, before: &Self) -> f64 {
        if before.iops <= 0.0 { 0.0 } else { (1.0 - self.iops / before.iops).clamp(0.0, 1.0) }
    }
}

/// The medians of a tenant's figures over some runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Medians {
    pub(super) iops: f64,
    pub(super) bandwidth: f64,
    pub(super) p99: f64,
    pub(super) slowdown: Option<f64>,
    /// True if the drive keeps up with the tenant in none of the runs.
    pub(super) grows: bool,
}

impl Medians {
    pub(super) fn of<'a>(runs: impl Iterator<Item = &'a Tenant> + Clone) -> Self {
        let median =
            |figure: fn(&Tenant) -> f64| middle::median(runs.clone().map(figure)).unwrap_or(0.0);
        let slowdowns = runs.clone().map(|one| one.slowdown).collect::<Option<Vec<f64>>>();
        Self {
            iops: median(|one| one.iops),
            bandwidth: median(|one| one.bandwidth),
            p99: median(|one| one.latency.p99),
            slowdown: slowdowns.and_then(middle::median),
            grows: runs.clone().all(|one| one.grows),
        }
    }
}
