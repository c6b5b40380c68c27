//! The common part of the experiments: the drive, its variants, and flows.

use flashlane::Error;
use flashlane::metrics::Summary;

use crate::{Job, Lab, Run};

/// The schedulers that the paper compares.
pub(super) const COMPARED: [&str; 3] = ["sprinkler", "sprinkler-fairness", "flin"];

/// A scheduler by name, or a table of its parameters.
pub(super) fn scheduler(policy: &str) -> String {
    format!("scheduler={policy}")
}

/// Settings of an empty drive on which every read costs a flash access. The place of the data does
/// not matter to uniform reads.
pub(super) const EMPTY: [&str; 2] = ["ftl.precondition.enabled=false", "ftl.unwritten_read=flash"];

/// The released simulator on which the paper's was built sends the data of a read before any
/// command of another; a saturated bus then reaches only half to three quarters of its rate.
pub(super) const RELEASED_ORDER: &str = "compat.data_before_commands=true";

/// Programs and erases can be suspended for reads, as section 6 has it for both baselines and 4.3
/// for FLIN. The paper gives no times. MQSim's 100 us and 700 us exceed the time of the read that
/// they make room for; ours are one pulse of a program that takes 1.3 ms in a few dozen, and five
/// of them.
pub(super) const SUSPEND: &str = "flash.suspend={ program = true, erase = true, \
     program_time = \"20us\", program_min_left = \"20us\", \
     erase_time = \"100us\", erase_min_left = \"100us\" }";

/// Settings of the studies with traces, besides Table 1.
///
/// * Collection begins at ten free blocks a plane for every policy and is served when nothing else
///   waits. It becomes urgent below four free blocks, which are FLIN's 1,024 free pages (GC_FLIN).
///   Under the baselines it then goes before the host's work, and under FLIN with the host's
///   writes.
/// * The drive fetches all waiting commands, as section 5.5 assumes (262,144 transactions fit its
///   DRAM), so that the scheduler sees it.
/// * A plane has 128 blocks instead of 4,096, of which some 18 are free or open. The remaining
///   blocks are as full as on the whole drive, whose user capacity of 480 GB holds data: 86 % of
///   ours.
pub(super) fn trace_drive(lab: &Lab<'_>, policy: &str) -> Vec<String> {
    vec![
        format!("flash.channels={}", if lab.smoke { 1 } else { 8 }),
        "flash.blocks_per_plane=128".to_owned(),
        "ftl.precondition.occupancy=0.86".to_owned(),
        "ftl.precondition.open_blocks=true".to_owned(),
        "ftl.gc.threshold=10 blocks".to_owned(),
        "ftl.gc.hard_threshold=4 blocks".to_owned(),
        "interface.queue_fetch_size=65535".to_owned(),
        SUSPEND.to_owned(),
        scheduler(policy),
    ]
}

/// A job on the paper's drive.
pub(super) fn job(sets: &[String], workload: &str) -> Result<Job, Error> {
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    Job::new("flin", &sets, workload)
}

/// Settings as owned strings.
pub(super) fn owned(sets: &[&str]) -> Vec<String> {
    sets.iter().map(|&set| set.to_owned()).collect()
}

/// A flow of uncached requests; `synthetic` has the keys of its table but the duration.
pub(super) fn synthetic(name: &str, synthetic: &str, duration: &str) -> String {
    format!(
        r#"
        [[flow]]
        name = "{name}"
        cache = "off"
        [flow.synthetic]
        {synthetic}
        duration = "{duration}"
        "#
    )
}

/// Keys of uniform random page reads with the given load.
pub(super) fn page_reads(load: &str) -> String {
    format!("{load}\nread_ratio = 1.0\nsize = \"8KiB\"\nalign = \"8KiB\"")
}

/// Slowdown of a flow (Eq. 1). [`Lab::run`] refuses runs without one.
pub(super) fn slowdown(summary: &Summary, flow: usize) -> f64 {
    summary.flows[flow].slowdown.expect("the laboratory checks this")
}

/// Fairness (Eq. 2).
pub(super) fn fairness(summary: &Summary) -> f64 {
    summary.fairness.fairness.expect("the laboratory checks this")
}

/// Share of chip time that was busy, and its part of collection.
pub(super) fn busy(summary: &Summary) -> (f64, f64) {
    let chips = summary.chips.len() as f64;
    let sum = |part: &dyn Fn(&flashlane::metrics::ChipSummary) -> f64| {
        summary.chips.iter().map(part).sum::<f64>() / chips
    };
    (sum(&|chip| chip.busy_fraction), sum(&|chip| chip.busy_by_source.gc))
}

/// Requests of a flow that are outstanding at the end and may be the last ones to come.
const LAST_ONES: u64 = 32;

/// The drive does not keep up with some flow: the summary says so, or at the end more than a
/// hundredth of the requests that counted is outstanding.
pub(super) fn grows(summary: &Summary) -> bool {
    summary.flows.iter().any(|flow| {
        let outstanding = flow.backlog_at_end;
        let many = outstanding > LAST_ONES && outstanding > flow.requests.all() / 100;
        flow.saturated || many
    })
}

/// Requests that count, of the flow that has fewest.
pub(super) fn fewest_requests(summary: &Summary) -> u64 {
    summary.flows.iter().map(|flow| flow.requests.all()).min().unwrap_or(0)
}

/// A number of one job by seed.
pub(super) fn over(runs: &[Run], number: impl Fn(&Summary) -> f64) -> Vec<f64> {
    runs.iter().map(|run| number(&run.summary)).collect()
}
