//! Against the released MQSim: every case of the reference results that MQSim itself finished.
//!
//! The full reference runs are not part of the project; without them these tests say that they are
//! skipped. Inputs without a trace are part of the committed table, which `tests/reference.rs`
//! proves to be the same and runs: here only the others run. `ORACLE=all`, as in `make long`, runs
//! all; `ORACLE_CASE=text` picks cases by name; `--nocapture` prints the table.

mod beside;
pub(crate) mod explained;
pub(crate) mod frame;
pub(crate) mod judge;

use std::path::Path;

use crate::reference;
use explained::{EXPLAINED, Known, explanation};
use flashlane::config::CompatConfig;
use flashlane::metrics::Summary;
use frame::{Job, jobs, load, oracle};
use judge::{GROUPS, amplification, faults, only_served, pages, run_all, run_pair};

/// The cases of the table of switches.
const STEPWISE: [&str; 10] = [
    "g2_latency_floor/off_read_rand_512K",
    "g2_latency_floor/wc_write_rand_8K",
    "g3_qd_sweep/read8k_qd64",
    "g3_qd_sweep/mixed7030_off_qd64",
    "g3_qd_sweep/write8k_wc_qd16",
    "g4_plane_alloc/PDWC_seq8k_qd8",
    "g1_qfs16/s4_flow-1-flow-2",
    "g1_datacache/nopre_full_adv_s1_flow-1-flow-2",
    "g5_cmt/cmt64K_ws1_rand_read",
    "g5_cmt/cmt64K_ws1_rand_write",
];

/// Runs a job with the given switches.
fn run(inputs: &Path, compat: CompatConfig) -> Result<Summary, String> {
    let (device, workload) = load(inputs, compat);
    run_pair(&device, &workload)
}

/// Runs a job; where MQSim lost requests, with only as many as it served.
pub(crate) fn run_job(job: &Job, compat: CompatConfig) -> Result<Summary, String> {
    let (device, mut workload) = load(&job.inputs, compat);
    only_served(&job.cases[0], &mut workload);
    run_pair(&device, &workload)
}

#[test]
fn the_released_mqsim_is_met() {
    let Some(root) = oracle() else { return };
    let (mut jobs, unusable) = jobs(&root, GROUPS);
    let asked = ["ORACLE", "ORACLE_CASE"].iter().any(|name| std::env::var_os(name).is_some());
    jobs.retain(|job| asked || !reference::has(&job.inputs));
    assert!(!jobs.is_empty(), "some cases are not part of the committed table");
    let summaries = run_all(&jobs, |job: &Job| run_job(job, CompatConfig::mqsim()));
    let (mut inside, mut explained, mut failures, mut equal) = (0, 0, Vec::new(), 0);
    println!("{:<46} {:>12} {:>12} {:>8}", "case, flow", "MQSim us", "ours us", "diff %");
    for (job, summary) in jobs.iter().zip(&summaries) {
        for case in &job.cases {
            let summary = match summary {
                Ok(summary) => summary,
                Err(error) => {
                    failures.push(format!("{}: {error}", case.name));
                    continue;
                }
            };
            if let (true, Some(theirs)) = (case.figures.lossy, &case.figures.pages) {
                let (theirs, ours) = (amplification(theirs), amplification(&pages(summary)));
                println!(
                    "{:<44} - {theirs:>12.4} {ours:>12.4} {:>8.3} write amplification",
                    case.name,
                    100.0 * (ours / theirs - 1.0)
                );
            }
            for (index, theirs) in
                case.figures.flows.iter().enumerate().filter(|_| !case.figures.lossy)
            {
                let ours = summary.flows[index].response_time_us.mean;
                let difference = 100.0 * (ours / theirs.mean - 1.0);
                equal += u32::from(difference.abs() < 0.001);
                println!(
                    "{:<44} {index:>1} {:>12.3} {ours:>12.3} {difference:>8.3}",
                    case.name, theirs.mean
                );
            }
            let wrong = faults(case, summary);
            match (wrong.is_empty(), explanation(&case.name)) {
                (true, None) => inside += 1,
                (true, Some(_)) => failures.push(format!("{}: explained, but inside", case.name)),
                (false, Some(known)) => {
                    println!("    explained by {}: {}", known.why, wrong.join("; "));
                    explained += 1;
                }
                (false, None) => {
                    let all = format!("{:?}, MQSim {:?}", pages(summary), case.figures.pages);
                    failures.push(format!("{}: {} (pages {all})", case.name, wrong.join("; ")));
                }
            }
        }
    }
    println!(
        "{inside} cases inside, {explained} explained, {} unexplained, {unusable} that MQSim did not \
         finish; {equal} flows equal to five digits",
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(explained * 10 <= inside + explained, "at most one case in ten is explained");
}

/// What explains the cases outside is shown by runs and by the data, not only said.
#[test]
fn the_explanations_hold() {
    let Some(root) = oracle() else { return };
    let (jobs, _) = jobs(&root, GROUPS);
    if std::env::var_os("ORACLE_CASE").is_some() {
        return;
    }
    let find = |name: &str| {
        let (job, case) = jobs
            .iter()
            .find_map(|job| Some((job, job.cases.iter().find(|case| case.name == name)?)))?;
        let summary = run_job(job, CompatConfig::mqsim()).expect("the run finishes");
        Some(Known { case, inputs: &job.inputs, summary })
    };
    run_all(EXPLAINED, |explained| {
        assert_eq!(explained.check(&find), explained.cases.len(), "{}", explained.why);
    });
}

/// With all switches on, nothing but the switches makes the difference to the released MQSim.
#[test]
fn defaults_differ_by_the_switches_only() {
    let Some(root) = oracle() else { return };
    let theirs = means_of_mqsim(&root);
    let ours = run_all(&STEPWISE, |case| mean(&root, case, CompatConfig::mqsim()));
    for (at, case) in STEPWISE.iter().enumerate() {
        let remainder = 100.0 * (ours[at] / theirs[at] - 1.0);
        assert!(remainder.abs() < 1.0, "{case}: {remainder} % of the difference has no switch");
    }
}

/// From the released MQSim to our defaults, one switch after the other: what each changes.
#[test]
#[ignore = "prints a table: `-- --ignored --nocapture switch_by_switch`"]
fn switch_by_switch() {
    let Some(root) = oracle() else { return };
    let all = serde_json::to_value(CompatConfig::mqsim()).expect("plain switches");
    let names: Vec<&String> = all.as_object().expect("a table").keys().collect();
    let columns: Vec<Vec<f64>> = run_all(&STEPWISE, |case| {
        let mut switches = all.clone();
        let mut means = Vec::new();
        for name in std::iter::once(None).chain(names.iter().map(Some)) {
            if let Some(name) = name {
                switches[*name] = false.into();
            }
            let compat = serde_json::from_value(switches.clone()).expect("plain switches");
            means.push(mean(&root, case, compat));
        }
        means
    });
    println!("| | {} |", STEPWISE.map(|case| format!("`{case}`")).join(" | "));
    let theirs = means_of_mqsim(&root);
    let row = |name: &str, value: &dyn Fn(usize) -> f64, sign: bool| {
        let cells = (0..STEPWISE.len()).map(|at| match sign {
            true => format!("{:+.3}", value(at)),
            false => format!("{:.3}", value(at)),
        });
        println!("| {name} | {} |", cells.collect::<Vec<String>>().join(" | "));
    };
    row("MQSim us", &|at| theirs[at], false);
    for (step, name) in names.iter().enumerate() {
        row(&format!("`{name}`"), &|at| columns[at][step + 1] - columns[at][step], true);
    }
    row("default us", &|at| columns[at][names.len()], false);
    row("remainder %", &|at| 100.0 * (columns[at][0] / theirs[at] - 1.0), true);
}

/// The mean response time of a case. Unit: microseconds.
fn mean(root: &Path, case: &str, compat: CompatConfig) -> f64 {
    let (group, name) = case.split_once('/').expect("group and case");
    let inputs = root.join("inputs").join(group).join(name);
    run(&inputs, compat).expect("the run finishes").flows[0].response_time_us.mean
}

/// The results of the released MQSim for [`STEPWISE`].
fn means_of_mqsim(root: &Path) -> [f64; STEPWISE.len()] {
    let (jobs, _) = jobs(root, GROUPS);
    STEPWISE.map(|case| {
        let named = jobs.iter().flat_map(|job| &job.cases).find(|known| known.name == case);
        named.expect("the case is in a group").figures.flows[0].mean
    })
}

/// Every case with all switches on and with our defaults beside it; `UPDATE_DOCS=1` writes
/// `docs/oracle.md`. Minutes long: `-- --ignored defaults`.
#[test]
#[ignore = "runs every case many times over"]
fn the_defaults_beside() {
    let Some(root) = oracle() else { return };
    let (jobs, _) = jobs(&root, GROUPS);
    let groups: Vec<&str> = GROUPS.iter().map(|(group, _)| *group).collect();
    let text = beside::document(&jobs, &groups);
    println!("{text}");
    if std::env::var_os("UPDATE_DOCS").is_some() && std::env::var_os("ORACLE_CASE").is_none() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/oracle.md");
        std::fs::write(path, text).expect("the document is writable");
    }
}

#[test]
fn without_the_shared_data_tests_say_that_they_are_skipped() {
    flashlane_testing::assert_skipped_without_shared(
        module_path!(),
        &[
            "the_released_mqsim_is_met",
            "the_explanations_hold",
            "defaults_differ_by_the_switches_only",
            "switch_by_switch",
            "the_defaults_beside",
        ],
    );
}
