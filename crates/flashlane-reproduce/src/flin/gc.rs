//! Fig. 7: flows with different demands for garbage collection.
//!
//! Section 3.4: the base flow writes 8 MB/s, the other one 2 to 64 MB/s, at random, on a drive in
//! its steady state. Without collection: on an empty drive that the run does not fill. Default
//! collection goes before the host's work; semi-preemptive collection after it, as long as there
//! are free pages. How full the drive is decides how long collection of a block takes; the paper
//! does not say it. Ours is three quarters full, and a table shows other shares, other thresholds
//! (GChard), and collection that is not preempted where writes wait.

use flashlane::Error;

use super::mixes::{FARTHER, NEARER, mean, ratios};
use super::setup::{busy, fairness, job, over, slowdown, synthetic, trace_drive};
use crate::{Bound, Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "gc";
const BASE: u32 = 8;
/// Write rates of the interfering flow. Unit: MB/s.
const RATES: [u32; 6] = [2, 4, 8, 16, 32, 64];
const MODES: [&str; 3] = ["none", "default", "semi-preemptive"];

fn sets(lab: &Lab<'_>, mode: &str) -> Vec<String> {
    let mut sets = trace_drive(lab, "out-of-order");
    // Fig. 7 studies collection alone, so reads cannot suspend anything.
    sets.retain(|set| !set.starts_with("flash.suspend"));
    sets.push("ftl.precondition.occupancy=0.75".to_owned());
    sets.push(match mode {
        "none" => "ftl.precondition.enabled=false".to_owned(),
        "default" => "ftl.gc.preemptible=false".to_owned(),
        _ => "ftl.gc.preemptible=true".to_owned(),
    });
    sets
}

fn flow(lab: &Lab<'_>, name: &str, rate: u32) -> String {
    let keys =
        format!("bandwidth = \"{rate}MB/s\"\nread_ratio = 0.0\nsize = \"8KiB\"\nalign = \"8KiB\"");
    synthetic(name, &keys, if lab.smoke { "10ms" } else { "12s" })
}

fn shared(lab: &Lab<'_>, mode: &str, rate: u32, more: &[String]) -> Result<Job, Error> {
    let flows = flow(lab, "base", BASE) + &flow(lab, "interfering", rate);
    let mut sets = sets(lab, mode);
    sets.extend(more.iter().cloned());
    job(&sets, &flows)?.alone().warmup(warmup(lab))
}

/// A job with one flow alone, for Fig. 7a. The other flow keeps its half of the drive.
fn single(lab: &Lab<'_>, rate: u32) -> Result<Job, Error> {
    job(&sets(lab, "default"), &flow(lab, "alone", rate))?.warmup(warmup(lab))
}

fn warmup(lab: &Lab<'_>) -> &'static str {
    if lab.smoke { "5ms" } else { "6s" }
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let points: Vec<(&str, u32)> =
        MODES.iter().flat_map(|&mode| RATES.iter().map(move |&rate| (mode, rate))).collect();
    let mut jobs: Vec<Job> = points
        .iter()
        .map(|&(mode, rate)| shared(lab, mode, rate, &[]))
        .collect::<Result<_, _>>()?;
    for rate in RATES {
        jobs.push(single(lab, rate)?);
    }
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let (both, alone) = runs.split_at(points.len());
    let mut time = Table::new(
        "gc-time",
        "Fig. 7a: share of chip time, one flow alone, default collection, means over seeds",
        &["rate, MB/s", "host", "collection"],
    );
    for (rate, runs) in RATES.iter().zip(alone) {
        let host = over(runs, |s| busy(s).0 - busy(s).1);
        time.row(vec![(*rate).into(), mean(&host).into(), mean(&over(runs, |s| busy(s).1)).into()]);
    }
    let mut table = Table::new(
        NAME,
        "Fig. 7b-d: base flow of 8 MB/s of writes beside another, means over seeds",
        &["collection", "rate, MB/s", "base slowdown", "interfering slowdown", "fairness", "WAF"],
    );
    for (&(mode, rate), runs) in points.iter().zip(both) {
        table.row(vec![
            mode.into(),
            rate.into(),
            mean(&over(runs, |s| slowdown(s, 0))).into(),
            mean(&over(runs, |s| slowdown(s, 1))).into(),
            mean(&over(runs, fairness)).into(),
            mean(&over(runs, |s| s.flash.write_amplification)).into(),
        ]);
    }
    let tables = vec![time, table, variants(lab)?];
    Ok(Findings { rows: rows(&points, both, alone), tables })
}

/// Comparisons with the paper's statements on the figure.
fn rows(points: &[(&str, u32)], both: &[Vec<Run>], alone: &[Vec<Run>]) -> Vec<Row> {
    let at = |mode: &str, rate: u32| {
        let found = points.iter().position(|&point| point == (mode, rate));
        &both[found.expect("a point of the sweep")]
    };
    let fair = |mode: &str, rate: u32| over(at(mode, rate), fairness);
    let base = |mode: &str| over(at(mode, 64), |s| slowdown(s, 0));
    let collection: Vec<Vec<f64>> = alone.iter().map(|runs| over(runs, |s| busy(s).1)).collect();
    let falls = |mode: &str| ratios(&fair(mode, 64), &fair(mode, BASE));
    let less = Bound::AtMost(NEARER);
    vec![
        Row::statement_over_seeds(
            NAME,
            "collection's share of time at 64 MB/s over that at 8 MB/s",
            &ratios(&collection[5], &collection[2]),
            Bound::Between(4.0, 16.0),
            "x",
            "\"increase proportionately with write intensity\": eightfold, within a factor of two",
        ),
        Row::number_over_seeds(
            NAME,
            "base slowdown beside 64 MB/s, default collection",
            3.5,
            &base("default"),
            1.0,
            "x",
            "section 1: \"by as much as 3.5x\"; gc-variants.csv: 3.2x at 40 % of the drive in use",
        ),
        Row::statement_over_seeds(
            NAME,
            "base slowdown beside 64 MB/s, default collection over none",
            &ratios(&base("default"), &base("none")),
            Bound::AtLeast(FARTHER),
            "x",
            "default collection \"leads to a higher slowdown of the base flow\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "fairness at 64 over that at 8 MB/s, default collection",
            &falls("default"),
            less,
            "x",
            "\"as the write intensity of the interfering flow increases, fairness decreases\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "fairness at 64 over that at 8 MB/s, semi-preemptive",
            &falls("semi-preemptive"),
            less,
            "x",
            "the same",
        ),
        Row::statement_over_seeds(
            NAME,
            "fairness of semi-preemptive over default collection at 64 MB/s",
            &ratios(&fair("semi-preemptive", 64), &fair("default", 64)),
            Bound::Between(1.0, 1.5),
            "x",
            "\"improves fairness, but only by a small amount\": at most by half",
        ),
    ]
}

/// Shares of the drive that hold data, for the variants.
const OCCUPANCIES: [f64; 4] = [0.4, 0.5, 0.6, 0.75];

/// The last point of the figure, 64 MB/s, with other states and other semi-preemptive collection.
fn variants(lab: &Lab<'_>) -> Result<Table, Error> {
    let hard = |blocks: u32| vec![format!("ftl.gc.hard_threshold={blocks} blocks")];
    let pending =
        |writes: u32| vec![format!("scheduler={{ sprinkler = {{ pending_writes = {writes} }} }}")];
    let all = [
        ("default", "", Vec::new()),
        ("semi-preemptive", "GChard 4 of 10", hard(4)),
        ("semi-preemptive", "GChard 8 of 10", hard(8)),
        ("semi-preemptive", "GChard 9 of 10", hard(9)),
        ("semi-preemptive", "not while 2 writes wait", pending(2)),
        ("semi-preemptive", "not while 4 writes wait", pending(4)),
    ];
    let occupancies = if lab.smoke { &OCCUPANCIES[..1] } else { &OCCUPANCIES[..] };
    let mut jobs = Vec::new();
    for occupancy in occupancies {
        for (mode, _, sets) in &all {
            let mut sets = sets.clone();
            sets.push(format!("ftl.precondition.occupancy={occupancy}"));
            jobs.push(shared(lab, mode, 64, &sets)?);
        }
    }
    let mut runs = lab.run(&jobs)?.into_iter();
    let mut table = Table::new(
        "gc-variants",
        "Fig. 7 at 64 MB/s, one seed: how full the drive is, and when collection is not preempted",
        &["in use", "collection", "preempted", "base slowdown", "interfering slowdown", "fairness"],
    );
    for occupancy in occupancies {
        for (mode, when, _) in &all {
            let summary = runs.next().expect("a run of every variant").summary;
            table.row(vec![
                (*occupancy).into(),
                (*mode).into(),
                (*when).into(),
                slowdown(&summary, 0).into(),
                slowdown(&summary, 1).into(),
                fairness(&summary).into(),
            ]);
        }
    }
    Ok(table)
}
