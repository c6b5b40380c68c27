//! What the experiments share: the drive, the tenants and the part of their day that is run.

use flashlane::Error;
use flashlane::config::CloneConfig;
use flashlane::config::units::Span;
use flashlane::metrics::{Latency, Summary};

use crate::{Job, Lab, Run, row};

/// The paper's three tenants.
pub(super) const TENANTS: [&str; 3] = ["das-as", "dtrs", "lm-tbe"];

/// The three policies. A partition is four chips: the paper's baseline "dedicates separate chips to
/// each tenant". UPI has the guard of its section 3 as printed: an equal utility is enough for a
/// chip to move. `settle`, which is ours, is a variant.
pub(super) const POLICIES: [(&str, &str); 3] = [
    ("unified", "isolation=unified"),
    ("partitioned", "isolation={ partitioned = { by = \"chip\" } }"),
    ("upi", "isolation={ upi = { settle = false } }"),
];

/// Places in [`POLICIES`].
pub(super) const UNIFIED: usize = 0;
pub(super) const PARTITIONED: usize = 1;
pub(super) const UPI: usize = 2;

/// Scheduler of the paper's drive, "a simple priority scheduler: host requests have precedence
/// over GC requests". The paper has no order among the requests of the host. Choice: reads before
/// writes, as schedulers of drives have it (FLIN, section 3.3). `variants` has the order of
/// arrival.
pub(super) const SCHEDULER: &str = "out-of-order";

pub(super) const HOUR_S: f64 = 3600.0;
const DAY_S: f64 = 24.0 * HOUR_S;

/// Seeds of the main result.
pub(super) const SEEDS: u64 = 5;

/// Size of the drive and length of the day by default, relative to the paper's. Blocks, capacities,
/// footprints of the tenants and the day shrink together. Data is therefore overwritten and read as
/// often in a day, at the rates of each hour.
const SMALL: f64 = 1.0 / 16.0;

/// Blocks of a plane, and pages of a block, of the small drive: a sixteenth of those of Table 1.
const SMALL_BLOCKS: &str = "flash.blocks_per_plane=256";
const SMALL_PAGES: &str = "flash.pages_per_block=128";

/// The "50GB range for each tenant" of section 4.1, in GiB of the drive's flash. Three of them fill
/// the logical capacity of Table 1.
pub(super) const SPACE_GIB: f64 = 50.0;

/// The part of its range that the clone of das-as touches. Unit: GiB.
pub(super) const CRITICAL_GIB: f64 = 10.0;

/// Assumptions about das-as, the tenant that is to be sheltered.
#[derive(Clone, Debug)]
pub(super) struct Critical {
    /// Data of it that the drive holds. Unit: GiB.
    pub(super) held_gib: f64,
    /// The part of this data that it reads or writes during the day. Unit: GiB.
    pub(super) touched_gib: f64,
    /// Zipf exponent of what it reads, where it is not the clone's.
    pub(super) theta: Option<f64>,
    /// Sizes of its reads, where they are not the clone's. Unit: KiB, with weights.
    pub(super) read_sizes: Option<Vec<(f64, f64)>>,
}

impl Default for Critical {
    fn default() -> Self {
        Self { held_gib: SPACE_GIB, touched_gib: CRITICAL_GIB, theta: None, read_sizes: None }
    }
}

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
    /// Size of the drive and of what the tenants touch, over the paper's.
    pub(super) size: f64,
}

impl Piece {
    /// The whole day on the drive of Table 1, passing in `day_s` seconds but for `--full`.
    pub(super) fn day_of(lab: &Lab<'_>, day_s: f64) -> Self {
        let day_s = match (lab.smoke, lab.full) {
            (true, _) => 24.0,
            (_, true) => DAY_S,
            _ => day_s,
        };
        let (start_s, warmup_s, time_scale) = (0.0, 0.0, 1.0);
        Self { start_s, day_s, counted_s: day_s, warmup_s, time_scale, size: 1.0 }
    }

    /// The whole day: on the drive of Table 1 with `--full`, otherwise drive and day are smaller.
    pub(super) fn whole_day(lab: &Lab<'_>) -> Self {
        let size = if lab.full { 1.0 } else { SMALL };
        Self { size, ..Self::day_of(lab, DAY_S * SMALL) }
    }

    /// The day in half the time, so that half as much is written and moved; for many variants.
    pub(super) fn quick_day(lab: &Lab<'_>) -> Self {
        let day = Self::whole_day(lab);
        let day_s = if lab.full || lab.smoke { day.day_s } else { day.day_s / 2.0 };
        Self { day_s, counted_s: day_s, ..day }
    }

    /// Hour 17 of that day, in which the writes of lm-tbe have their peak, after eight hours for
    /// sets and collection to settle.
    pub(super) fn peak_hour(lab: &Lab<'_>, time_scale: f64) -> Self {
        let day = Self::whole_day(lab);
        let hour_s = day.day_s / 24.0;
        let (counted_s, warmup_s) = (hour_s, 8.0 * hour_s);
        Self { start_s: 9.0 * HOUR_S, counted_s, warmup_s, time_scale, ..day }
    }

    /// The flow of a tenant. `critical`: what is assumed of das-as, where each tenant has 50 GB of
    /// its own and not the whole drive.
    pub(super) fn flow(
        self,
        lab: &Lab<'_>,
        tenant: &str,
        critical: Option<&Critical>,
    ) -> Result<String, Error> {
        let span = |seconds: f64| Span((seconds * 1e12) as u64);
        let mut stand_in = CloneConfig {
            time_scale: self.time_scale,
            duration: Some(span((self.warmup_s + self.counted_s) * self.time_scale)),
            start: Some(span(self.start_s)),
            day: Some(span(self.day_s)),
            footprint: Some(self.size),
            ..CloneConfig::plain(tenant, None)
        };
        let mut held = String::new();
        if let Some(critical) = critical
            && tenant == TENANTS[0]
        {
            stand_in.footprint = Some(self.size * critical.touched_gib / CRITICAL_GIB);
            stand_in.theta = critical.theta;
            stand_in.read_sizes.clone_from(&critical.read_sizes);
            held = format!("occupancy = {:.3}\n", critical.held_gib / SPACE_GIB);
        }
        let source = lab.source_of(&stand_in)?;
        Ok(format!("{}{held}{source}\n", head(tenant)))
    }

    /// All three tenants under a policy, with `sets` on top of the drive's.
    pub(super) fn job(self, lab: &Lab<'_>, sets: &[&str]) -> Result<Job, Error> {
        self.job_with(lab, sets, &Critical::default())
    }

    /// The job with other assumptions about das-as.
    pub(super) fn job_with(
        self,
        lab: &Lab<'_>,
        sets: &[&str],
        critical: &Critical,
    ) -> Result<Job, Error> {
        let flows = TENANTS.iter().map(|tenant| self.flow(lab, tenant, Some(critical)));
        let flows = flows.collect::<Result<String, _>>()?;
        let mut all = if self.size < 1.0 { vec![SMALL_BLOCKS, SMALL_PAGES] } else { Vec::new() };
        all.extend(sets);
        drive(&all, &flows)?.warmup(&format!("{:.6}s", self.warmup_s * self.time_scale))
    }
}

/// A flow that bypasses the data cache: the SSD extension of DiskSim has none.
fn head(name: &str) -> String {
    format!("[[flow]]\nname = \"{name}\"\ncache = \"off\"\n")
}

/// The flow of a tenant with its source of requests.
pub(super) fn flow(name: &str, source: &str) -> String {
    format!("{}{source}\n", head(name))
}

/// The drive of Table 1 under a workload. Data is "randomly written to physical locations", and
/// writes go to any plane of the tenant's chips, under the baselines as under UPI. Open blocks are
/// filled to random points, or all planes would begin to collect at the same moment. The baselines
/// collect the block with the fewest valid pages, as UPI does where reads do not matter.
pub(super) fn drive(sets: &[&str], flows: &str) -> Result<Job, Error> {
    let scheduler = format!("scheduler={SCHEDULER}");
    let mut all = vec![
        "ftl.precondition.open_blocks=true",
        "ftl.precondition.placement=random",
        "ftl.allocation=dynamic",
        "ftl.gc.victim=greedy",
        scheduler.as_str(),
    ];
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
    versus: Versus,
}

/// Two policies that are compared, as indices of [`POLICIES`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Versus {
    /// The policy.
    pub(super) policy: usize,
    /// The policy with which it is compared.
    pub(super) against: usize,
}

const fn headline(
    (metric, paper): (&'static str, f64),
    tenant: &'static str,
    of: fn(&Latency) -> f64,
    versus: Versus,
) -> Headline {
    Headline { metric, paper, tenant, of, versus }
}

/// In the order of the paper's text.
pub(super) const HEADLINES: [Headline; 4] = [
    headline(
        ("lm-tbe.mean.upi-vs-partitioned", -0.161),
        "lm-tbe",
        |l| l.mean,
        Versus { policy: 2, against: 1 },
    ),
    headline(
        ("lm-tbe.mean.unified-vs-partitioned", -0.138),
        "lm-tbe",
        |l| l.mean,
        Versus { policy: 0, against: 1 },
    ),
    headline(
        ("das-as.p99.upi-vs-unified", -0.385),
        "das-as",
        |l| l.p99,
        Versus { policy: 2, against: 0 },
    ),
    headline(
        ("das-as.p99.partitioned-vs-unified", -0.477),
        "das-as",
        |l| l.p99,
        Versus { policy: 1, against: 0 },
    ),
];

impl Headline {
    /// Relative changes, by seed, of runs of the three policies.
    pub(super) fn changes(&self, runs: &[Vec<Run>]) -> Vec<f64> {
        changes(runs, self.tenant, self.of, self.versus)
    }

    /// Mean relative change over the seeds, and half of its 95 % interval.
    pub(super) fn change(&self, runs: &[Vec<Run>]) -> (f64, Option<f64>) {
        let (mean, interval) = row::over_seeds(&self.changes(runs));
        (mean, interval.map(|[low, high]| (high - low) / 2.0))
    }
}

/// Relative change of a read latency of a tenant, by seed: a policy against another.
pub(super) fn changes(
    runs: &[Vec<Run>],
    tenant: &str,
    of: fn(&Latency) -> f64,
    Versus { policy, against }: Versus,
) -> Vec<f64> {
    let value = |run: &Run| of(reads(&run.summary, tenant));
    runs[policy].iter().zip(&runs[against]).map(|(a, b)| value(a) / value(b) - 1.0).collect()
}

/// Mean of the seeds of a number of a run.
pub(super) fn mean(runs: &[Run], of: impl Fn(&Summary) -> f64) -> f64 {
    row::over_seeds(&runs.iter().map(|run| of(&run.summary)).collect::<Vec<f64>>()).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_holds_more_than_it_touches() {
        let lab = Lab::new(1, &|_| ());
        let piece = Piece::whole_day(&lab);
        let text = |critical: &Critical| piece.flow(&lab, TENANTS[0], Some(critical)).unwrap();
        let by_default = text(&Critical::default());
        assert!(by_default.contains("occupancy = 1.000"), "all of its 50 GiB: {by_default}");
        assert!(by_default.contains("footprint = 0.0625"), "a sixteenth of 10 GiB: {by_default}");
        let critical = Critical { held_gib: 40.0, touched_gib: 20.0, ..Critical::default() };
        let other = text(&critical);
        assert!(other.contains("occupancy = 0.800"), "40 of its 50 GiB: {other}");
        assert!(other.contains("footprint = 0.125"), "a sixteenth of 20 GiB: {other}");
        let heavy = piece.flow(&lab, TENANTS[2], Some(&Critical::default())).unwrap();
        assert!(!heavy.contains("occupancy"), "the others hold all by default: {heavy}");
    }
}
