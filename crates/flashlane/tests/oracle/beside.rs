//! Every case with all switches on and with our defaults, beside each other: `docs/oracle.md`.

use std::fmt::Write as _;

use flashlane::config::CompatConfig;
use flashlane::metrics::Summary;
use serde_json::Value;

use super::frame::Job;
use super::judge::{Case, amplification, faults, pages, run_all};
use super::run_job;

/// Each switch is turned off alone where a case moves no more pages than this, so that the whole
/// takes minutes.
const SHORT: u64 = 5_000;

/// Longer cases for which it is done as well, with these switches; empty: with every one.
const REPRESENTATIVES: &[(&str, &[&str])] = &[
    ("g1_backend/s1_flow-1-flow-2", &[]),
    ("g1_backend/s8_flow-1-flow-2", LIKELY),
    ("g1_datacache/nopre_full_adv_s1_flow-1-flow-2", &[]),
    ("g1_datacache/nopre_full_adv_s4_flow-1-flow-2", &[]),
    ("g1_qfs16/s4_flow-1-flow-2", LIKELY),
    ("g1_qfs1024/s1_flow-1-flow-2", LIKELY),
    ("g2_latency_floor/wc_write_rand_8K", &[]),
    ("g3_qd_sweep/read8k_qd1", LIKELY),
    ("g3_qd_sweep/read8k_qd64", LIKELY),
    ("g3_qd_sweep/mixed7030_off_qd16", LIKELY),
    ("g3_qd_sweep/mixed7030_wc_qd4", &[]),
    ("g3_qd_sweep/write8k_off_qd8", LIKELY),
    ("g3_qd_sweep/write8k_wc_qd1", &[]),
    ("g3_qd_sweep/write8k_wc_qd16", &[]),
    ("g4_plane_alloc/PDWC_seq8k_qd8", LIKELY),
    ("g4_plane_alloc/CWDP_rand8k_qd64", LIKELY),
    ("g5_cmt/cmt64K_ws1_rand_read", &[]),
    ("g5_cmt/cmt64K_ws1_rand_write", &[]),
    ("g5_cmt/cmt64K_ws1_seq_read", &[]),
    ("g5_cmt/ideal_ws50_rand_read", LIKELY),
    ("g5_cmt/pre32GiB_2ch_cmt64K_ws2_rand_read", MAPPING),
    ("g5_cmt/small16GiB_cmt64K_ws10_rand_read", MAPPING),
    ("g6_traces/nvme_prio_ideal_both_HH", LIKELY),
    ("g6_traces/nvme_prio_cmt_both_HH", &[]),
    ("g6_traces/sata32_tpcc", &[]),
    ("g6_traces/sata32_both", &["sata_over_pcie", "sata_tags_freed_on_fetch"]),
    ("g7_gc/op0.28_GREEDY_qd1_n400000", COLLECTION),
    ("g7_gc/op0.28_GREEDY_preempt_n400000", COLLECTION),
    ("g7_gc/pre_b512_p64_occ90_n100000", COLLECTION),
    ("g7_gc/pre_b512_p64_occ100_n100000", COLLECTION),
    ("g7_gc/pre_b256_p256_n100000", COLLECTION),
    ("g7_gc/pre_op0.28_b512_FIFO_n150000", COLLECTION),
    ("g8_suspend/NONE_rd70_qd16_OUT", LIKELY),
    ("g8_suspend/PROGRAM_ERASE_rd70_qd16_PRI", LIKELY),
    ("g9_precondition_scaling/64GiB_occ75_ws50_rand", LIKELY),
    ("g10_default/scenario1_stock_rep1", MAPPING),
    ("g10_default/scenario3_stock_rep1", MAPPING),
    ("g11_determinism/gc_seed1", COLLECTION),
    ("g12_quiet_timing/write8k_wc_qd16_4s_inst", LIKELY),
];

/// What matters without a mapping cache and collection.
const LIKELY: &[&str] = &[
    "zero_firmware_time",
    "one_die_per_dispatch",
    "flash_unwritten_reads",
    "random_generators",
    "data_before_commands",
    "no_suspension",
    "dram_formula",
    "unordered_programs",
];

/// What matters with a mapping cache.
const MAPPING: &[&str] = &[
    "zero_firmware_time",
    "one_die_per_dispatch",
    "flash_unwritten_reads",
    "dram_formula",
    "translation_pages_from_start",
    "cmt_per_flow",
    "cmt_reserves",
    "short_mapping_reads",
    "unprogrammed_mapping",
    "scattered_occupancy",
];

/// What matters with collection.
const COLLECTION: &[&str] = &[
    "one_die_per_dispatch",
    "random_generators",
    "frontiers_at_start",
    "collection_per_block",
    "leveling_by_number",
    "writes_wait_for_erases",
    "fullest_blocks_oldest",
    "rounded_block_counts",
    "occupied_by_own_requests",
    "scattered_occupancy",
];

/// The measurements of a run: write amplification, then the mean of every flow.
type Measures = Vec<f64>;

/// A job with all switches on, with none, and with each turned off alone.
struct Outcome {
    compat: Result<Summary, String>,
    defaults: Result<Measures, String>,
    alone: Option<Vec<(String, Measures)>>,
}

fn measures(summary: &Summary) -> Measures {
    let means = summary.flows.iter().map(|flow| flow.response_time_us.mean);
    std::iter::once(amplification(&pages(summary))).chain(means).collect()
}

fn outcome(job: &Job) -> Outcome {
    let compat = run_job(job, CompatConfig::mqsim());
    let defaults = run_job(job, CompatConfig::default()).map(|summary| measures(&summary));
    let effort = compat.as_ref().map_or(u64::MAX, |summary| pages(summary).iter().sum());
    let named = job.cases.iter().find_map(|case| {
        REPRESENTATIVES.iter().find(|(name, _)| case.name == *name).map(|(_, switches)| *switches)
    });
    let alone = named.or((effort <= SHORT).then_some(&[])).map(|only| without_one(job, only));
    Outcome { compat, defaults, alone }
}

/// All switches on but one, for each of these switches; empty: for every one.
fn without_one(job: &Job, only: &[&str]) -> Vec<(String, Measures)> {
    let all = serde_json::to_value(CompatConfig::mqsim()).expect("plain switches");
    let names = all.as_object().expect("a table").keys();
    let run = |name: &String| {
        let mut switches = all.clone();
        switches[name] = Value::Bool(false);
        let compat = serde_json::from_value(switches).expect("plain switches");
        // A switch alone may leave a drive that is refused: then it has no number.
        Some((name.clone(), measures(&run_job(job, compat).ok()?)))
    };
    names.filter(|name| only.is_empty() || only.contains(&name.as_str())).filter_map(run).collect()
}

/// A change in percent, or as a factor from twice on.
fn change(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 2.0 => format!("x {ratio:.1}"),
        ratio => format!("{:+.1} %", 100.0 * (ratio - 1.0)),
    }
}

/// The switch that alone goes furthest in the direction of the whole change.
fn main_switch(compat: f64, defaults: f64, at: usize, alone: &[(String, Measures)]) -> String {
    let direction = (defaults - compat).signum();
    let best = alone
        .iter()
        .map(|(name, measured)| (name, measured[at] / compat))
        .max_by(|a, b| (direction * a.1).total_cmp(&(direction * b.1)));
    match best {
        Some((name, ratio)) if (ratio - 1.0).abs() >= 0.0005 => {
            format!("`{name}` {}", change(ratio))
        }
        _ => "none alone".to_owned(),
    }
}

/// The rows of a case: case, flow, distance from the release, verdict, defaults, switch.
fn rows(case: &Case, outcome: &Outcome) -> Vec<String> {
    let name = case.name.split_once('/').expect("group and case").1;
    let compat = match &outcome.compat {
        Ok(summary) => summary,
        Err(error) => return vec![format!("| `{name}` | | | error: {error} | | |")],
    };
    let verdict = if faults(case, compat).is_empty() { "inside" } else { "explained" };
    let ours = measures(compat);
    let theirs = case.figures.pages.as_ref().map_or(f64::NAN, amplification);
    let mut rows = Vec::new();
    for (at, &ours) in ours.iter().enumerate() {
        let (flow, release) = match (at, case.figures.lossy) {
            (0, true) => ("WA".to_owned(), format!("{:+.3}", 100.0 * (ours / theirs - 1.0))),
            (0, false) => continue,
            (_, true) => (at.to_string(), "lost requests".to_owned()),
            (_, false) => {
                let theirs = case.figures.flows[at - 1].mean;
                (at.to_string(), format!("{:+.3}", 100.0 * (ours / theirs - 1.0)))
            }
        };
        let verdict = if case.figures.lossy && at > 0 { "" } else { verdict };
        let (defaults, switch) = match (&outcome.defaults, &outcome.alone) {
            (Err(error), _) => (format!("refused: {error}"), String::new()),
            (Ok(defaults), None) => (change(defaults[at] / ours), String::new()),
            (Ok(defaults), Some(alone)) => {
                (change(defaults[at] / ours), main_switch(ours, defaults[at], at, alone))
            }
        };
        rows.push(format!("| `{name}` | {flow} | {release} | {verdict} | {defaults} | {switch} |"));
    }
    rows
}

/// The whole file.
pub(crate) fn document(jobs: &[Job], groups: &[&str]) -> String {
    let outcomes = run_all(jobs, outcome);
    let mut text = INTRODUCTION.to_owned();
    for group in groups {
        let (_, why) = WHY.iter().find(|(name, _)| name == group).expect("every group has a text");
        let _ = write!(
            text,
            "\n## `{group}`\n\n{why}\n\n| case | flow | all switches to release, % | | defaults to all \
             switches | switch |\n| --- | --- | ---: | --- | ---: | --- |\n"
        );
        let mut lines = Vec::new();
        for (job, outcome) in jobs.iter().zip(&outcomes) {
            for case in &job.cases {
                if case.name.split_once('/').is_some_and(|(own, _)| own == *group) {
                    lines.push((case.name.clone(), rows(case, outcome)));
                }
            }
        }
        lines.sort();
        for row in lines.into_iter().flat_map(|(_, rows)| rows) {
            text.push_str(&row);
            text.push('\n');
        }
    }
    text
}

const INTRODUCTION: &str = "\
# Every case of the comparison, with our defaults beside

Written by `UPDATE_DOCS=1 cargo test -p flashlane-tests --test slow oracle::the_defaults -- --ignored`, from the same reference runs
of the released MQSim as [mqsim.md](mqsim.md). One row per case and flow:

- **all switches to release**: how far the mean device response time under `--compat mqsim` is from that of the released
  MQSim. Where the release lost requests its times mean nothing: write amplification (WA) is compared, for the
  requests that it served. *inside* and *explained* as in mqsim.md;
- **defaults to all switches**: what our defaults change, in the same quantity, from the run with all switches on;
- **switch**: of the switches turned off *alone*, with all others on, the one that goes furthest in the direction of
  that change, and how far. *None alone* is less than 0.05 %. Measured for short cases and for a few long ones of
  every group, there with the switches that can matter; empty where it was not measured. Shares of single switches
  need not add up: they interact.

Anybody can check the column *all switches to release*: `cargo test -p flashlane-tests --test slow reference::` runs the cases whose
figures are part of the repository. 263 of 267 cases agree; the other 4 have a known cause
([how](validation.md#check-the-comparison-with-mqsim-yourself)).

Defaults draw other random numbers than the release (`random_generators`): short runs differ by that alone.
";

/// What changes with correct defaults, and why, by group.
const WHY: &[(&str, &str)] = &[
    (
        "g1_backend",
        "Reads of one or two flows, cache off. The dies of a chip work side by side (`one_die_per_dispatch`), which the\n\
         release lost: 4 % at little load, a third at much. Measured on `s1_flow-1-flow-2` and `s8_flow-1-flow-2`.",
    ),
    (
        "g1_datacache",
        "Write cache. Where writes hit it (s1, s2) their time is DRAM time, and banks with rows take nearly twice MQSim's\n\
         formula (`dram_formula`). Where the cache is full (s3 on), writes wait for programs, which dies in parallel\n\
         shorten by two fifths. Measured on the rows that name a switch.",
    ),
    (
        "g1_qfs16",
        "As `g1_backend`, with 16 entries of a queue fetched at most: the gain of dies in parallel stops at a quarter,\n\
         since no more requests reach them. Measured on `s4_flow-1-flow-2`.",
    ),
    ("g1_qfs1024", "As `g1_backend`, with 1024 entries. Measured on `s1_flow-1-flow-2`."),
    (
        "g2_latency_floor",
        "One request at a time. Firmware adds its microsecond to small ones, which is 1 % of a read. Requests of 512 KiB and\n\
         more reach both dies of a chip, which no longer take turns (see the table by switches in mqsim.md for\n\
         `off_read_rand_512K`). Cached writes: two large changes against each other, slower DRAM and write-backs on dies in\n\
         parallel; which one wins depends on size and order.",
    ),
    (
        "g3_qd_sweep",
        "Depth 1 to 256. At depth 1 firmware time is all that changes (`mixed7030_off_qd1`: other random numbers, 3 %);\n\
         from a few outstanding requests on dies in parallel, more with each doubling. Cached writes: the same at every\n\
         depth, since the write-backs are the bottleneck.",
    ),
    (
        "g4_plane_alloc",
        "All orders of static allocation. Dies in parallel, as measured on `PDWC_seq8k_qd8` and `CWDP_rand8k_qd64`.\n\
         Sequential orders that spread requests over chips before dies gain little or nothing.",
    ),
    (
        "g5_cmt",
        "Mapping tables on flash. On an empty drive there is no translation page to read (`translation_pages_from_start`); this\n\
         is the larger part of most changes, dies in parallel the next. On the preconditioned drive with the smallest table our\n\
         defaults are slower. Evicted entries are really written back, which in the release they never are\n\
         (`unprogrammed_mapping`). With no other switch off, that doubles the mean. With larger tables our defaults are faster,\n\
         which was not measured switch by switch.",
    ),
    (
        "g6_traces",
        "Trace replay. The trace with bursts of writes, tpcc, gains most from dies in parallel. The other one, wsrch, gains\n\
         nothing from them, but no longer reads translation pages that nobody wrote. SATA: a link of its own with less than\n\
         PCIe's rate (`sata_over_pcie`) costs 6 to 8 %. The distance from the release in the class `LOW` is explained in\n\
         mqsim.md.",
    ),
    (
        "g7_gc",
        "Collection: mostly WA. On drives that start empty little changes at 28 % over-provisioning: no switch alone makes more\n\
         than about 1 %. At 12.7 % up to 30 % less is written, likely because the release keeps blocks in collection and in\n\
         frontiers. That was not measured switch by switch. On preconditioned drives the start differs: `fifo` starts with its\n\
         emptiest blocks instead of its fullest (`fullest_blocks_oldest`), and what is occupied is not the pages of the first\n\
         requests (`occupied_by_own_requests`). Mean times follow WA. The combined effect on the mean of\n\
         `op0.28_GREEDY_seq_n600000` was not traced.",
    ),
    (
        "g8_suspend",
        "Reads between writes. Most is dies in parallel, with `NONE` as well. `PROGRAM` and `PROGRAM_ERASE` gain 1 to 2 %\n\
         more than `NONE` and `ERASE`: suspension, which never happens in the release (`no_suspension`). No erase occurs\n\
         in these runs.",
    ),
    (
        "g9_precondition_scaling",
        "One preconditioned drive and two empty ones, about a thousand requests each: dies in parallel.",
    ),
    (
        "g10_default",
        "MQSim's own default workloads. In scenarios 1 and 3 DRAM by banks and rows (`dram_formula`) is the whole change:\n\
         half as much again, and a factor of eight for the trace of scenario 3. Scenario 2 was not measured switch by\n\
         switch.",
    ),
    (
        "g11_determinism",
        "Collection with other seeds: our defaults change less than 2 %, no switch alone more than 0.3 %.",
    ),
    ("g12_quiet_timing", "Cases of other groups once more, some for longer."),
];
