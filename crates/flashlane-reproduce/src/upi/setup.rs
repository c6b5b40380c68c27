//! What the experiments share: the drive, the tenants and the part of their day that is run.

use flashlane::Error;
use flashlane::config::CloneConfig;
use flashlane::config::units::Span;
use flashlane::metrics::{Latency, Summary};

use crate::{Job, Lab, Run, row};

/// The paper's three tenants.
pub(super) const TENANTS: [&str; 3] = ["das-as", "dtrs", "lm-tbe"];

/// The three policies. A partition is a channel: the paper's baseline "completely isolates
/// performance", which chips on shared channels do not.
pub(super) const POLICIES: [(&str, &str); 3] = [
    ("unified", "isolation=unified"),
    ("partitioned", "isolation={ partitioned = { by = \"channel\" } }"),
    ("upi", "isolation=upi"),
];

/// Scheduler of the paper's drive, "a simple priority scheduler": host requests in their order,
/// then collection.
pub(super) const SCHEDULER: &str = "host-first";

pub(super) const HOUR_S: f64 = 3600.0;
const DAY_S: f64 = 24.0 * HOUR_S;

/// The part of the tenants' day that a run goes through. Unit: seconds, before scaling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Time of the day at the start.
    pub(super) start_s: f64,
    /// Length of the day: a short one is a sample of all hours at the rates of each.
    pub(super) day_s: f64,
    /// Time that counts.
    pub(super) counted_s: f64,
    /// Time before that.
    pub(super) warmup_s: f64,
    /// Gaps over those of the tenants.
    pub(super) time_scale: f64,
}

impl Piece {
    /// The whole day: of 24 hours with `--full`, otherwise of `day_s` seconds with the rates of all
    /// hours.
    pub(super) fn whole_day(lab: &Lab<'_>, day_s: f64) -> Self {
        let day_s = match (lab.smoke, lab.full) {
            (true, _) => 24.0,
            (_, true) => DAY_S,
            _ => day_s,
        };
        Self { start_s: 0.0, day_s, counted_s: day_s, warmup_s: 0.0, time_scale: 1.0 }
    }

    /// So long from hour 17 on, when the writes of lm-tbe begin to rise, after half as long for the
    /// sets and collection to settle.
    pub(super) fn hour_17(lab: &Lab<'_>, counted_s: f64, time_scale: f64) -> Self {
        let counted_s = if lab.smoke { 10.0 } else { counted_s };
        let warmup_s = counted_s / 2.0;
        Self { start_s: 17.0 * HOUR_S - warmup_s, day_s: DAY_S, counted_s, warmup_s, time_scale }
    }

    /// The flow of a tenant.
    pub(super) fn flow(self, lab: &Lab<'_>, tenant: &str) -> Result<String, Error> {
        let span = |seconds: f64| Span((seconds * 1e12) as u64);
        let source = lab.source_of(&CloneConfig {
            of: tenant.to_owned(),
            time_scale: self.time_scale,
            requests: None,
            duration: Some(span((self.warmup_s + self.counted_s) * self.time_scale)),
            start: Some(span(self.start_s)),
            day: Some(span(self.day_s)),
        })?;
        Ok(flow(tenant, &source))
    }

    /// All three tenants under a policy, with `sets` on top of the drive's.
    pub(super) fn job(self, lab: &Lab<'_>, sets: &[&str]) -> Result<Job, Error> {
        let flows: String =
            TENANTS.iter().map(|tenant| self.flow(lab, tenant)).collect::<Result<_, _>>()?;
        drive(sets, &flows)?.warmup(&format!("{:.6}s", self.warmup_s * self.time_scale))
    }
}

/// A flow that bypasses the data cache: the SSD extension of DiskSim has none.
pub(super) fn flow(name: &str, source: &str) -> String {
    format!("[[flow]]\nname = \"{name}\"\ncache = \"off\"\n{source}\n")
}

/// The drive of Table 1 under a workload. Open blocks are filled to random points, or all planes
/// would begin to collect at the same moment. The baselines collect the block with the fewest valid
/// pages, as UPI does where reads do not matter.
pub(super) fn drive(sets: &[&str], flows: &str) -> Result<Job, Error> {
    let scheduler = format!("scheduler={SCHEDULER}");
    let mut all =
        vec!["ftl.precondition.open_blocks=true", "ftl.gc.victim=greedy", scheduler.as_str()];
    all.extend(sets);
    Job::new("upi", &all, flows)
}

/// Read response times of a tenant.
pub(super) fn reads<'a>(summary: &'a Summary, tenant: &str) -> &'a Latency {
    let flow = summary.flows.iter().find(|flow| flow.name == tenant);
    &flow.expect("every tenant has a flow").read_response_time_us
}

/// One of the paper's four comparisons.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headline {
    pub(super) metric: &'static str,
    pub(super) paper: f64,
    tenant: &'static str,
    of: fn(&Latency) -> f64,
    /// Places in [`POLICIES`].
    policy: usize,
    against: usize,
}

const fn headline(
    (metric, paper): (&'static str, f64),
    tenant: &'static str,
    of: fn(&Latency) -> f64,
    (policy, against): (usize, usize),
) -> Headline {
    Headline { metric, paper, tenant, of, policy, against }
}

/// In the order of the paper's text.
pub(super) const HEADLINES: [Headline; 4] = [
    headline(("lm-tbe.mean.upi-vs-partitioned", -0.161), "lm-tbe", |l| l.mean, (2, 1)),
    headline(("lm-tbe.mean.unified-vs-partitioned", -0.138), "lm-tbe", |l| l.mean, (0, 1)),
    headline(("das-as.p99.upi-vs-unified", -0.385), "das-as", |l| l.p99, (2, 0)),
    headline(("das-as.p99.partitioned-vs-unified", -0.477), "das-as", |l| l.p99, (1, 0)),
];

impl Headline {
    /// Relative changes, by seed, of runs of the three policies.
    pub(super) fn changes(&self, runs: &[Vec<Run>]) -> Vec<f64> {
        changes(runs, self.tenant, self.of, (self.policy, self.against))
    }

    /// Mean relative change over the seeds.
    pub(super) fn change(&self, runs: &[Vec<Run>]) -> f64 {
        row::over_seeds(&self.changes(runs)).0
    }
}

/// Relative change of a read latency of a tenant from the second policy to the first, by seed.
pub(super) fn changes(
    runs: &[Vec<Run>],
    tenant: &str,
    of: fn(&Latency) -> f64,
    (policy, against): (usize, usize),
) -> Vec<f64> {
    let value = |run: &Run| of(reads(&run.summary, tenant));
    runs[policy].iter().zip(&runs[against]).map(|(a, b)| value(a) / value(b) - 1.0).collect()
}

/// Mean of the seeds of a number of a run.
pub(super) fn mean(runs: &[Run], of: impl Fn(&Summary) -> f64) -> f64 {
    row::over_seeds(&runs.iter().map(|run| of(&run.summary)).collect::<Vec<f64>>()).0
}
