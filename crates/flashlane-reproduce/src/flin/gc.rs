//! Fig. 7: flows with different demands for garbage collection.
//!
//! Section 3.4: the base flow writes 8 MB/s, the other one 2 to 64 MB/s, at random, on a drive in
//! its steady state. Without collection: on an empty drive that the run does not fill. Default
//! collection goes before the host's work; semi-preemptive collection after it, as long as there
//! are free pages.

use flashlane::Error;

use super::setup::{busy, fairness, job, slowdown, synthetic, trace_drive};
use crate::{Findings, Job, Lab, Row, Table};

const NAME: &str = "gc";
const BASE: u32 = 8;
/// Write rates of the interfering flow. Unit: MB/s.
const RATES: [u32; 6] = [2, 4, 8, 16, 32, 64];
const MODES: [&str; 3] = ["none", "default", "semi-preemptive"];

fn sets(lab: &Lab<'_>, mode: &str) -> Vec<String> {
    let mut sets = trace_drive(lab, "out-of-order");
    // Only Fig. 7 itself: no other way out for a read than collection gives.
    sets.retain(|set| !set.starts_with("flash.suspend"));
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

fn shared(lab: &Lab<'_>, mode: &str, rate: u32) -> Result<Job, Error> {
    let flows = flow(lab, "base", BASE) + &flow(lab, "interfering", rate);
    job(&sets(lab, mode), &flows)?.alone().warmup(if lab.smoke { "5ms" } else { "6s" })
}

/// A flow by itself, for Fig. 7a; the other one's half of the drive stays.
fn single(lab: &Lab<'_>, rate: u32) -> Result<Job, Error> {
    job(&sets(lab, "default"), &flow(lab, "alone", rate))?.warmup(if lab.smoke {
        "5ms"
    } else {
        "6s"
    })
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let points: Vec<(&str, u32)> =
        MODES.iter().flat_map(|&mode| RATES.iter().map(move |&rate| (mode, rate))).collect();
    let mut jobs: Vec<Job> =
        points.iter().map(|&(mode, rate)| shared(lab, mode, rate)).collect::<Result<_, _>>()?;
    for rate in RATES {
        jobs.push(single(lab, rate)?);
    }
    let runs = lab.run(&jobs)?;
    let (both, alone) = runs.split_at(points.len());
    let mut time = Table::new(
        "gc-time",
        "Fig. 7a: share of chip time, one flow alone, default collection",
        &["rate, MB/s", "host", "collection"],
    );
    let collection: Vec<f64> = alone.iter().map(|run| busy(&run.summary).1).collect();
    for (rate, run) in RATES.iter().zip(alone) {
        let (all, gc) = busy(&run.summary);
        time.row(vec![(*rate).into(), (all - gc).into(), gc.into()]);
    }
    let mut table = Table::new(
        NAME,
        "Fig. 7b-d: base flow of 8 MB/s of writes beside another",
        &["collection", "rate, MB/s", "base slowdown", "interfering slowdown", "fairness", "WAF"],
    );
    for (&(mode, rate), run) in points.iter().zip(both) {
        table.row(vec![
            mode.into(),
            rate.into(),
            slowdown(&run.summary, 0).into(),
            slowdown(&run.summary, 1).into(),
            fairness(&run.summary).into(),
            run.summary.flash.write_amplification.into(),
        ]);
    }
    let at = |mode: &str, rate: u32| {
        let found = points.iter().position(|&point| point == (mode, rate));
        &both[found.expect("a point of the sweep")].summary
    };
    let unequal = |mode: &str| {
        let rates = [BASE, 16, 32, 64];
        rates.map(|rate| fairness(at(mode, rate)))
    };
    let [default, semi] = ["default", "semi-preemptive"].map(unequal);
    let gain = fairness(at("semi-preemptive", 64)) / fairness(at("default", 64));
    let rows = vec![
        Row::statement(
            NAME,
            "collection's share of time at 64 MB/s over that at 8 MB/s",
            collection[5] / collection[2],
            collection.is_sorted(),
            "x",
            "\"increase proportionately with write intensity\"",
        ),
        Row::number(
            NAME,
            "base slowdown beside 64 MB/s, default collection",
            3.5,
            slowdown(at("default", 64), 0),
            1.0,
            "x",
            "section 1: \"by as much as 3.5x\"",
        ),
        Row::statement(
            NAME,
            "base slowdown beside 64 MB/s, default collection over none",
            slowdown(at("default", 64), 0) / slowdown(at("none", 64), 0),
            slowdown(at("default", 64), 0) > slowdown(at("none", 64), 0),
            "x",
            "default collection \"leads to a higher slowdown of the base flow\"",
        ),
        Row::statement(
            NAME,
            "fairness at 64 over that at 8 MB/s, default collection",
            default[3] / default[0],
            default[3] < default[0],
            "x",
            "\"as the write intensity of the interfering flow increases, fairness decreases\"",
        ),
        Row::statement(
            NAME,
            "fairness at 64 over that at 8 MB/s, semi-preemptive",
            semi[3] / semi[0],
            semi[3] < semi[0],
            "x",
            "the same",
        ),
        Row::statement(
            NAME,
            "fairness of semi-preemptive over default collection at 64 MB/s",
            gain,
            (1.0..1.5).contains(&gain),
            "x",
            "\"improves fairness, but only by a small amount\"; taken as at most by half",
        ),
    ];
    Ok(Findings { rows, tables: vec![time, table] })
}
