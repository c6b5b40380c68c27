//! Fig. 3 and 4: the three tenants under the three policies.

use flashlane::Error;
use flashlane::metrics::{Latency, Summary};

use super::setup::{HEADLINES, HOUR_S, POLICIES, Piece, TENANTS, changes, mean, reads};
use crate::row::over_seeds;
use crate::{Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "isolation";

/// Time from hour 17 on, where it is not the whole day. Unit: seconds.
const COUNTED_S: f64 = 1200.0;

/// Places in [`POLICIES`].
const UNIFIED: usize = 0;
const PARTITIONED: usize = 1;
const UPI: usize = 2;

/// What the paper says beside its four numbers.
fn statements(runs: &[Vec<Run>]) -> Vec<Row> {
    let row =
        |metric, tenant, of: fn(&Latency) -> f64, pair, holds: fn(f64) -> bool, note: &str| {
            let (ours, interval) = over_seeds(&changes(runs, tenant, of, pair));
            Row::statement(NAME, metric, ours, holds(ours), "change", note).with_interval(interval)
        };
    vec![
        row(
            "das-as.mean.upi-vs-partitioned",
            "das-as",
            |l| l.mean,
            (UPI, PARTITIONED),
            |change| change > 0.0,
            "\"slightly worse than the Partitioned scheme\"",
        ),
        row(
            "das-as.p99.upi-vs-partitioned",
            "das-as",
            |l| l.p99,
            (UPI, PARTITIONED),
            |change| change > 0.0,
            "a balance \"between the two extremes\": the paper's two changes give +0.176",
        ),
        row(
            "lm-tbe.mean.upi-vs-unified",
            "lm-tbe",
            |l| l.mean,
            (UPI, UNIFIED),
            |change| change.abs() < 0.15,
            "\"a similar improvement\", -0.027 from the paper's two changes; taken as within 15 %",
        ),
        row(
            "lm-tbe.p99.upi-vs-partitioned",
            "lm-tbe",
            |l| l.p99,
            (UPI, PARTITIONED),
            |change| change < 0.0,
            "Partitioned costs LM-TBE \"in both the average response time and QoS figure\"",
        ),
    ]
}

fn percent_busy(summary: &Summary) -> f64 {
    summary.chips.iter().map(|chip| chip.busy_fraction).sum::<f64>() * 100.0
        / summary.chips.len() as f64
}

/// The bars of Fig. 3.
fn bars(runs: &[Vec<Run>]) -> Table {
    let mut table = Table::new(
        NAME,
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
fn drives(runs: &[Vec<Run>]) -> Table {
    let mut table = Table::new(
        "isolation-drive",
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
fn curves(runs: &[Vec<Run>]) -> Table {
    let mut table = Table::new(
        "isolation-cdf",
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
    let piece = match lab.full {
        true => Piece::whole_day(lab, 24.0 * HOUR_S),
        false => Piece::hour_17(lab, COUNTED_S, 1.0),
    };
    let jobs: Vec<Job> =
        POLICIES.iter().map(|(_, set)| piece.job(lab, &[set])).collect::<Result<_, _>>()?;
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let mut rows: Vec<Row> = HEADLINES
        .iter()
        .map(|line| {
            let (ours, interval) = over_seeds(&line.changes(&runs));
            Row::number(NAME, line.metric, line.paper, ours, 0.0, "change", "")
                .with_interval(interval)
                .beyond_noise(0.0)
        })
        .collect();
    rows.extend(statements(&runs));
    let worse = over_seeds(&changes(&runs, "lm-tbe", |l| l.p99, (PARTITIONED, UNIFIED)));
    let bar = Row::number(
        NAME,
        "lm-tbe.p99.partitioned-vs-unified",
        0.34,
        worse.0,
        0.0,
        "change",
        "the bar of 1.34 in Fig. 3b, read as this one",
    );
    rows.push(bar.with_interval(worse.1));
    Ok(Findings { rows, tables: vec![bars(&runs), drives(&runs), curves(&runs)] })
}
