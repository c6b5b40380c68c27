//! Against the released MQSim: every case of the reference results that MQSim itself finished.
//!
//! Skipped where the reference results are absent. `ORACLE_CASE=text` picks cases by name;
//! `--nocapture` prints the table.

#[path = "oracle/frame.rs"]
mod frame;

use flashlane::config::CompatConfig;
use frame::Closeness::{Loose, Strict};
use frame::{Closeness, Job, amplification, faults, jobs, pages, run, run_all, run_job, shared};

/// The groups that are compared, and how close they have to be. A new group is one line.
const GROUPS: &[(&str, Closeness)] = &[
    ("g1_backend", Strict),
    ("g1_datacache", Strict),
    ("g1_qfs16", Strict),
    ("g1_qfs1024", Strict),
    ("g2_latency_floor", Strict),
    ("g3_qd_sweep", Strict),
    ("g4_plane_alloc", Strict),
    ("g5_cmt", Strict),
    ("g6_traces", Loose),
    ("g7_gc", Loose),
    ("g8_suspend", Strict),
    ("g9_precondition_scaling", Loose),
    ("g10_default", Loose),
    ("g11_determinism", Loose),
    ("g12_quiet_timing", Strict),
];

/// Cases outside their tolerance, and the defects of the released MQSim that explain them.
struct Explained {
    why: &'static str,
    cases: &'static [&'static str],
}

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

/// At most one case in ten.
const EXPLAINED: &[Explained] = &[
    Explained {
        why: "D14: transactions whose reserved mapping entry is evicted wait for ever",
        cases: &["g5_cmt/cmt64K_ws1_seq_read", "g5_cmt/cmt64K_ws50_seq_read"],
    },
    Explained {
        why: "D35: the order of events of one nanosecond, where many writes wait for the cache",
        cases: &[
            "g1_datacache/nopre_full_adv_s1_flow-1",
            "g1_datacache/nopre_full_adv_s1_flow-2",
            "g1_datacache/nopre_full_adv_s2_flow-2",
            "g1_datacache/nopre_full_adv_s4_flow-1-flow-2",
            "g1_datacache/nopre_full_adv_s5_flow-1-flow-2",
            "g3_qd_sweep/write8k_wc_qd16",
            "g3_qd_sweep/write8k_wc_qd4",
            "g3_qd_sweep/write8k_wc_qd64",
            "g3_qd_sweep/write8k_wc_qd8",
        ],
    },
    Explained {
        why: "D34: blocks by number of valid pages are rounded down class by class, 257 of them here, \
              and the rest is free or wholly valid",
        cases: &["g7_gc/pre_b256_p256_n100000"],
    },
    Explained {
        why: "D34: the valid pages of blocks follow an occupancy of 100 %, of which only 90 % are drawn; \
              the distribution is shifted by whole pages to make up for it",
        cases: &["g7_gc/pre_b512_p64_occ100_n100000"],
    },
    Explained {
        why: "D5, D10 (likely, not traced): static levelling of unmarked blocks, and a first random \
              block that is taken unchecked",
        cases: &["g7_gc/steady_op0.127_RGA_qd1_n1800000"],
    },
    Explained {
        why: "the weighted round robin of the classes stops short of the low class and waits for the next \
              event; the same inputs with the class high are inside",
        cases: &[
            "g6_traces/nvme_prio_cmt_both_LU",
            "g6_traces/nvme_prio_ideal_both_LU",
            "g6_traces/nvme_prio_ideal_qd64read_LOW",
            "g6_traces/nvme_prio_ideal_tpcc_alone_LOW",
        ],
    },
];

#[test]
fn the_released_mqsim_is_met() {
    let Some(root) = shared() else { return };
    let (jobs, unusable) = jobs(&root, GROUPS);
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
            if let (true, Some(theirs)) = (case.lossy, &case.pages) {
                let (theirs, ours) = (amplification(theirs), amplification(&pages(summary)));
                println!(
                    "{:<44} - {theirs:>12.4} {ours:>12.4} {:>8.3} write amplification",
                    case.name,
                    100.0 * (ours / theirs - 1.0)
                );
            }
            for (index, theirs) in case.flows.iter().enumerate().filter(|_| !case.lossy) {
                let ours = summary.flows[index].response_time_us.mean;
                let difference = 100.0 * (ours / theirs.mean - 1.0);
                equal += u32::from(difference.abs() < 0.001);
                println!(
                    "{:<44} {index:>1} {:>12.3} {ours:>12.3} {difference:>8.3}",
                    case.name, theirs.mean
                );
            }
            let wrong = faults(case, summary);
            let known = EXPLAINED.iter().find(|e| e.cases.contains(&case.name.as_str()));
            match (wrong.is_empty(), known) {
                (true, None) => inside += 1,
                (true, Some(_)) => failures.push(format!("{}: explained, but inside", case.name)),
                (false, Some(known)) => {
                    println!("    explained by {}: {}", known.why, wrong.join("; "));
                    explained += 1;
                }
                (false, None) => {
                    let all = format!("{:?}, MQSim {:?}", pages(summary), case.pages);
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

/// From the released MQSim to our defaults, one switch after the other: what each changes, and that
/// nothing but the switches makes the difference.
#[test]
fn defaults_differ_by_the_switches_only() {
    let Some(root) = shared() else { return };
    let all = serde_json::to_value(CompatConfig::mqsim()).expect("plain switches");
    let names: Vec<&String> = all.as_object().expect("a table").keys().collect();
    let columns: Vec<Vec<f64>> = run_all(&STEPWISE, |case| {
        let (group, name) = case.split_once('/').expect("group and case");
        let inputs = root.join("inputs").join(group).join(name);
        let mut switches = all.clone();
        let mut means = Vec::new();
        for name in std::iter::once(None).chain(names.iter().map(Some)) {
            if let Some(name) = name {
                switches[*name] = false.into();
            }
            let compat = serde_json::from_value(switches.clone()).expect("plain switches");
            let summary = run(&inputs, compat).expect("the run finishes");
            means.push(summary.flows[0].response_time_us.mean);
        }
        means
    });
    println!("| | {} |", STEPWISE.map(|case| format!("`{case}`")).join(" | "));
    let (jobs, _) = jobs(&root, GROUPS);
    let theirs = STEPWISE.map(|case| {
        let named = jobs.iter().flat_map(|job| &job.cases).find(|known| known.name == case);
        named.expect("the case is in a group").flows[0].mean
    });
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
    let remainder = |at: usize| 100.0 * (columns[at][0] / theirs[at] - 1.0);
    row("remainder %", &remainder, true);
    for (at, case) in STEPWISE.iter().enumerate() {
        let remainder = remainder(at);
        assert!(remainder.abs() < 1.0, "{case}: {remainder} % of the difference has no switch");
    }
}
