//! Fig. 3 and 4: the three tenants under the three policies.

use flashlane::Error;
use flashlane::metrics::{Latency, Summary};

use super::setup::{
    HEADLINES, PARTITIONED, POLICIES, Piece, SEEDS, TENANTS, UNIFIED, UPI, Versus, changes, mean,
    reads,
};
use crate::{Bound, Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "isolation";

/// The paper's two changes of das-as' p99 against unified, UPI's over that of partitioned.
const WORSE_THAN_PARTITIONED: f64 = (1.0 - 0.385) / (1.0 - 0.477) - 1.0;

/// The most that we call slight, as a relative change.
const SLIGHTLY: f64 = 0.1;

/// Relative difference of the means of lm-tbe, UPI against unified.
const LIKE_UNIFIED: f64 = (1.0 - 0.161) / (1.0 - 0.138) - 1.0;

/// The comparisons of one piece of the day. `piece`: a prefix of the metrics.
fn rows(runs: &[Vec<Run>], piece: &str) -> Vec<Row> {
    let name = |metric: &str| format!("{piece}{metric}");
    let mut rows: Vec<Row> = HEADLINES
        .iter()
        .map(|line| {
            let (metric, changes) = (name(line.metric), line.changes(runs));
            Row::number_over_seeds(NAME, metric, line.paper, &changes, 0.0, "change", "")
        })
        .collect();
    let of = |tenant, of: fn(&Latency) -> f64, pair| changes(runs, tenant, of, pair);
    rows.push(Row::statement_over_seeds(
        NAME,
        name("das-as.mean.upi-vs-partitioned"),
        &of("das-as", |l| l.mean, Versus { policy: UPI, against: PARTITIONED }),
        Bound::Between(0.0, SLIGHTLY),
        "change",
        "\"slightly worse than the Partitioned scheme\"; a tenth is the most that we call slight",
    ));
    rows.push(Row::number_over_seeds(
        NAME,
        name("das-as.p99.upi-vs-partitioned"),
        WORSE_THAN_PARTITIONED,
        &of("das-as", |l| l.p99, Versus { policy: UPI, against: PARTITIONED }),
        0.0,
        "change",
        "from the paper's two changes against unified",
    ));
    rows.push(Row::statement_over_seeds(
        NAME,
        name("lm-tbe.mean.upi-vs-unified"),
        &of("lm-tbe", |l| l.mean, Versus { policy: UPI, against: UNIFIED }),
        Bound::Between(LIKE_UNIFIED - 0.15, LIKE_UNIFIED + 0.15),
        "change",
        "\"a similar improvement\", -0.027 from the paper's two changes; within 0.15 of that",
    ));
    rows.push(Row::statement_over_seeds(
        NAME,
        name("lm-tbe.p99.upi-vs-partitioned"),
        &of("lm-tbe", |l| l.p99, Versus { policy: UPI, against: PARTITIONED }),
        Bound::AtMost(-0.02),
        "change",
        "Partitioned costs LM-TBE \"in both the average response time and QoS figure\"",
    ));
    rows.push(Row::number_over_seeds(
        NAME,
        name("lm-tbe.p99.partitioned-vs-unified"),
        0.34,
        &of("lm-tbe", |l| l.p99, Versus { policy: PARTITIONED, against: UNIFIED }),
        0.0,
        "change",
        "the bar of 1.34 in Fig. 3b, read as this one",
    ));
    rows
}

/// Our own check: UPI shelters das-as in every seed.
fn every_seed(runs: &[Vec<Run>], piece: &str) -> Row {
    let changes = changes(runs, "das-as", |l| l.p99, Versus { policy: UPI, against: UNIFIED });
    let worst = changes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let metric = format!("{piece}das-as.p99.upi-vs-unified, worst seed");
    Row::check_over_seeds(NAME, metric, &[worst], Bound::AtMost(-0.02), "change", "below zero")
}

fn percent_busy(summary: &Summary) -> f64 {
    summary.chips.iter().map(|chip| chip.busy_fraction).sum::<f64>() * 100.0
        / summary.chips.len() as f64
}

/// The bars of Fig. 3.
fn bars(runs: &[Vec<Run>], stem: &str) -> Table {
    let mut table = Table::new(
        format!("{NAME}{stem}"),
        "Fig. 3: read response times over those under partitioned and under unified",
        &[
            "tenant",
            "policy",
            "mean, us",
            "mean, of partitioned",
            "mean, of unified",
            "p99, us",
            "p99, of partitioned",
            "p99, of unified",
            "write amplification",
        ],
    );
    for (at, tenant) in TENANTS.iter().enumerate() {
        for (policy, (name, _)) in POLICIES.iter().enumerate() {
            let value = |policy: usize, of: fn(&Latency) -> f64| {
                mean(&runs[policy], |summary| of(reads(summary, tenant)))
            };
            let mut cells = vec![(*tenant).into(), (*name).into()];
            for of in [(|l| l.mean) as fn(&Latency) -> f64, |l| l.p99] {
                let ours = value(policy, of);
                cells.push(ours.into());
                cells.push((ours / value(PARTITIONED, of)).into());
                cells.push((ours / value(UNIFIED, of)).into());
            }
            cells.push(mean(&runs[policy], |s| s.flows[at].write_amplification).into());
            table.row(cells);
        }
    }
    table
}

/// How busy the drive is, and what UPI does.
fn drives(runs: &[Vec<Run>], stem: &str) -> Table {
    let mut table = Table::new(
        format!("{NAME}{stem}-drive"),
        "load of the drive",
        &[
            "policy",
            "chips busy, %",
            "busiest chip, %",
            "busiest channel, %",
            "write amplification",
            "transfers of chips",
            "pages moved home",
        ],
    );
    let most = |list: &mut dyn Iterator<Item = f64>| list.fold(0.0, f64::max) * 100.0;
    for ((name, _), runs) in POLICIES.iter().zip(runs) {
        let sets = |of: fn(&flashlane::metrics::summary::IsolationSummary) -> u64| {
            let known = runs[0].summary.isolation_sets.is_some();
            let value = |s: &Summary| s.isolation_sets.as_ref().map_or(0.0, |sets| of(sets) as f64);
            known.then(|| mean(runs, value))
        };
        table.row(vec![
            (*name).into(),
            mean(runs, percent_busy).into(),
            mean(runs, |s| most(&mut s.chips.iter().map(|chip| chip.busy_fraction))).into(),
            mean(runs, |s| most(&mut s.channels.iter().map(|channel| channel.busy_fraction)))
                .into(),
            mean(runs, |s| s.flash.write_amplification).into(),
            sets(|sets| sets.transfers + sets.forced_transfers).into(),
            sets(|sets| sets.relocated_pages.iter().sum()).into(),
        ]);
    }
    table
}

/// The curves of Fig. 4, of the first seed.
fn curves(runs: &[Vec<Run>], stem: &str) -> Table {
    let mut table = Table::new(
        format!("{NAME}{stem}-cdf"),
        "Fig. 4: distribution functions of the read response times",
        &["tenant", "policy", "response time, us", "share of reads"],
    );
    table.long = true;
    for (at, tenant) in TENANTS.iter().enumerate() {
        for ((policy, _), runs) in POLICIES.iter().zip(runs) {
            for &(us, share) in &runs[0].details.read_distributions[at] {
                table.row(vec![(*tenant).into(), (*policy).into(), us.into(), share.into()]);
            }
        }
    }
    table
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let pieces =
        [("", Piece::whole_day(lab), ""), ("peak hour: ", Piece::peak_hour(lab, 1.0), "-peak")];
    let mut jobs: Vec<Job> = Vec::new();
    for (_, piece, _) in pieces {
        for (_, set) in POLICIES {
            jobs.push(piece.job(lab, &[set])?);
        }
    }
    let seeds = if lab.smoke { lab.seeds } else { SEEDS.max(lab.seeds) };
    let runs = lab.run_seeds(&jobs, seeds)?;
    let mut findings = Findings::default();
    for ((name, _, stem), runs) in pieces.iter().zip(runs.chunks(POLICIES.len())) {
        findings.rows.extend(rows(runs, name));
        findings.rows.push(every_seed(runs, name));
        findings.tables.extend([bars(runs, stem), drives(runs, stem), curves(runs, stem)]);
    }
    Ok(findings)
}
