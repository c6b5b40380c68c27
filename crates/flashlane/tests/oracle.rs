//! Against the released MQSim: every case of the reference results that MQSim itself finished.
//!
//! Skipped where the reference results are absent. `ORACLE_CASE=text` picks cases by name;
//! `--nocapture` prints the table.

#[path = "oracle/beside.rs"]
mod beside;
#[path = "oracle/frame.rs"]
mod frame;

use std::collections::BTreeSet;
use std::path::Path;

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
    shown: Shown,
}

/// What shows that an explanation holds; no switch of ours reproduces any of these defects.
enum Shown {
    /// The case beside it is inside, and its inputs differ in nothing but these tags.
    Beside { tags: &'static [&'static str], pairs: &'static [(&'static str, &'static str)] },
    /// As `Beside`; and the release served clearly fewer requests than its own mean lets a closed loop
    /// of this depth serve (Little's law), but we do not.
    Lost { depth: f64, span_us: f64, pairs: &'static [(&'static str, &'static str)] },
    /// Nothing shows it: means and counts are inside, percentiles are not. The cause is not traced.
    NotTraced,
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

/// At most one case in ten. Defects by their number in our notes, part by part.
const EXPLAINED: &[Explained] = &[
    Explained {
        why: "front end D14: transactions whose reserved mapping entry is evicted wait for ever",
        cases: &["g5_cmt/cmt64K_ws1_seq_read", "g5_cmt/cmt64K_ws50_seq_read"],
        shown: Shown::Lost {
            depth: 16.0,
            span_us: 300_000.0,
            pairs: &[
                ("g5_cmt/cmt64K_ws1_seq_read", "g5_cmt/cmt8192K_ws1_seq_read"),
                ("g5_cmt/cmt64K_ws50_seq_read", "g5_cmt/cmt256K_ws50_seq_read"),
            ],
        },
    },
    Explained {
        why: "not traced (likely front end D35: the order of events of one nanosecond, where many writes \
              wait for the cache)",
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
        shown: Shown::NotTraced,
    },
    Explained {
        why: "front end D34: blocks by number of valid pages are rounded down class by class, 257 of them \
              here, and the rest is free or wholly valid",
        cases: &["g7_gc/pre_b256_p256_n100000"],
        shown: Shown::Beside {
            tags: &["Block_No_Per_Plane", "Page_No_Per_Block", "Initial_Occupancy_Percentage"],
            pairs: &[("g7_gc/pre_b256_p256_n100000", "g7_gc/pre_b512_p64_occ90_n100000")],
        },
    },
    Explained {
        why: "front end D34: the valid pages of blocks follow an occupancy of 100 %, of which only 90 % are \
              drawn; the distribution is shifted by whole pages to make up for it",
        cases: &["g7_gc/pre_b512_p64_occ100_n100000"],
        shown: Shown::Beside {
            tags: &["Initial_Occupancy_Percentage"],
            pairs: &[("g7_gc/pre_b512_p64_occ100_n100000", "g7_gc/pre_b512_p64_occ90_n100000")],
        },
    },
    Explained {
        why: "back end D10 (in part; the rest is not traced): the choices of RGA include free blocks, which \
              wastes some of them; it matters at 93 % utilisation, the more the longer the run",
        cases: &["g7_gc/steady_op0.127_RGA_qd1_n1800000"],
        shown: Shown::Beside {
            tags: &["Total_Requests_To_Generate"],
            pairs: &[(
                "g7_gc/steady_op0.127_RGA_qd1_n1800000",
                "g7_gc/steady_op0.127_RGA_qd1_n1000000",
            )],
        },
    },
    Explained {
        why: "back end D15: the weighted round robin of the classes stops short of the low class and waits \
              for the next event",
        cases: &[
            "g6_traces/nvme_prio_cmt_both_LU",
            "g6_traces/nvme_prio_ideal_both_LU",
            "g6_traces/nvme_prio_ideal_qd64read_LOW",
            "g6_traces/nvme_prio_ideal_tpcc_alone_LOW",
        ],
        shown: Shown::Beside {
            // A closed loop does not use its bandwidth; the scheduler makes no difference to one class.
            tags: &["Priority_Class", "Bandwidth", "Stop_Time", "Transaction_Scheduling_Policy"],
            pairs: &[
                ("g6_traces/nvme_prio_cmt_both_LU", "g6_traces/nvme_prio_cmt_both_HH"),
                ("g6_traces/nvme_prio_ideal_both_LU", "g6_traces/nvme_prio_ideal_both_HH"),
                ("g6_traces/nvme_prio_ideal_qd64read_LOW", "g3_qd_sweep/read8k_qd64"),
                ("g6_traces/nvme_prio_ideal_tpcc_alone_LOW", "g6_traces/nvme_prio_ideal_tpcc"),
            ],
        },
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

/// What explains the cases outside is shown by runs and by the data, not only said.
#[test]
fn the_explanations_hold() {
    let Some(root) = shared() else { return };
    let (jobs, _) = jobs(&root, GROUPS);
    let find = |name: &str| {
        jobs.iter()
            .find_map(|job| Some((job, job.cases.iter().find(|case| case.name == name)?)))
            .unwrap_or_else(|| panic!("{name} is a case"))
    };
    let judge = |name: &str| {
        let (job, case) = find(name);
        let summary = run_job(job, CompatConfig::mqsim()).expect("the run finishes");
        (faults(case, &summary), summary)
    };
    if std::env::var_os("ORACLE_CASE").is_some() {
        return;
    }
    run_all(EXPLAINED, |explained| match &explained.shown {
        Shown::Beside { tags, pairs } => {
            assert_eq!(pairs.len(), explained.cases.len());
            for (outside, inside) in *pairs {
                let differ = differing_tags(&find(outside).0.inputs, &find(inside).0.inputs);
                assert!(!differ.is_empty(), "{outside} and {inside} have the same inputs");
                assert!(
                    differ.iter().all(|tag| tags.contains(&tag.as_str())),
                    "{outside}: {differ:?}"
                );
                assert_eq!(judge(inside).0, Vec::<String>::new(), "{inside} is inside");
            }
        }
        Shown::Lost { depth, span_us, pairs } => {
            for (outside, inside) in *pairs {
                let differ = differing_tags(&find(outside).0.inputs, &find(inside).0.inputs);
                assert!(differ.iter().eq(["CMT_Capacity"]), "{outside}: {differ:?}");
                assert_eq!(judge(inside).0, Vec::<String>::new(), "{inside} is inside");
                let served = |requests: u64, mean: f64| requests as f64 * mean / (depth * span_us);
                let theirs = &find(outside).1.flows[0];
                let ours = &judge(outside).1.flows[0];
                let theirs = served(theirs.requests, theirs.mean);
                let ours = served(ours.requests.read, ours.response_time_us.mean);
                println!("{outside}: {theirs:.3} of the depth is in use there, {ours:.3} here");
                assert!(theirs < 0.95 && (ours - 1.0).abs() < 0.01, "{outside}: {theirs}, {ours}");
            }
        }
        Shown::NotTraced => {
            for name in explained.cases {
                let faults = judge(name).0;
                assert!(
                    faults.iter().all(|fault| fault.contains(" p50 ") || fault.contains(" p99 "))
                );
            }
        }
    });
}

/// The tags of the lines in which two folders of inputs differ.
fn differing_tags(a: &Path, b: &Path) -> BTreeSet<String> {
    let mut tags = BTreeSet::new();
    for file in ["ssdconfig.xml", "workload.xml"] {
        let read = |folder: &Path| std::fs::read_to_string(folder.join(file)).expect("readable");
        let (a, b) = (read(a), read(b));
        assert_eq!(a.lines().count(), b.lines().count(), "{file}");
        for (line, _) in a.lines().zip(b.lines()).filter(|(a, b)| a != b) {
            let tag = line.trim().trim_start_matches('<').split('>').next().expect("a part");
            tags.insert(tag.to_owned());
        }
    }
    tags
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

/// Every case with all switches on and with our defaults beside it; `UPDATE_DOCS=1` writes
/// `docs/oracle.md`. Minutes long: `-- --ignored defaults`.
#[test]
#[ignore = "runs every case many times over"]
fn the_defaults_beside() {
    let Some(root) = shared() else { return };
    let (jobs, _) = jobs(&root, GROUPS);
    let groups: Vec<&str> = GROUPS.iter().map(|(group, _)| *group).collect();
    let text = beside::document(&jobs, &groups);
    println!("{text}");
    if std::env::var_os("UPDATE_DOCS").is_some() && std::env::var_os("ORACLE_CASE").is_none() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/oracle.md");
        std::fs::write(path, text).expect("the document is writable");
    }
}
