//! Fig. 5: what happens when lm-tbe turns to writing.
//!
//! The paper shows ten minutes of its hour 17. The hour in which the writes of the clone rise
//! passes within these ten minutes here, in a day of four hours.

use flashlane::Error;
use flashlane::metrics::{Interval, Summary};

use super::setup::{HOUR_S, POLICIES, Piece, TENANTS};
use crate::{Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "change";

/// Unit: seconds.
const INTERVAL_S: f64 = 5.0;

/// Place of lm-tbe among the tenants.
const WRITER: usize = 2;

/// Ten minutes from hour 16.9 to 17.9.
fn piece(lab: &Lab<'_>) -> Piece {
    let counted_s = if lab.smoke { 60.0 } else { 600.0 };
    Piece {
        start_s: 16.8 * HOUR_S,
        day_s: 14_400.0,
        counted_s,
        warmup_s: counted_s / 10.0,
        time_scale: 1.0,
    }
}

/// Mean read response over some intervals. Unit: microseconds.
fn response(intervals: &[Interval]) -> f64 {
    let reads: u64 = intervals.iter().map(|i| i.reads).sum();
    intervals.iter().map(|i| i.read_mean_us * i.reads as f64).sum::<f64>() / reads.max(1) as f64
}

/// The counted intervals of lm-tbe.
fn counted(run: &Run, piece: Piece) -> Vec<Interval> {
    let series = &run.details.series[WRITER];
    let end_s = piece.warmup_s + piece.counted_s;
    let inside = |i: &&Interval| i.start_s >= piece.warmup_s && i.start_s < end_s;
    series.iter().filter(inside).copied().collect()
}

/// Chips of lm-tbe's set between two times, their mean. Unit of times: seconds.
fn chips(summary: &Summary, from_s: f64, to_s: f64) -> f64 {
    let sets = summary.isolation_sets.as_ref().expect("upi has sets");
    let inside = sets.windows.iter().filter(|w| w.end_s > from_s && w.end_s <= to_s);
    let sizes: Vec<f64> = inside.map(|w| f64::from(w.chips[WRITER])).collect();
    sizes.iter().sum::<f64>() / sizes.len().max(1) as f64
}

/// The three panels of the figure.
fn tables(runs: &[Run], piece: Piece) -> Vec<Table> {
    let columns = ["tenant", "policy", "time, s", "reads", "response, us", "writes, MB/s"];
    let mut series =
        Table::new(NAME, "Fig. 5: read responses and write bandwidth over time", &columns);
    series.long = true;
    for (tenant, name) in TENANTS.iter().enumerate() {
        for ((policy, _), run) in POLICIES.iter().zip(runs) {
            for i in &run.details.series[tenant] {
                series.row(vec![
                    (*name).into(),
                    (*policy).into(),
                    (i.start_s - piece.warmup_s).into(),
                    (i.reads as f64).into(),
                    (i.reads > 0).then_some(i.read_mean_us).into(),
                    (i.written_bytes as f64 / 1e6 / INTERVAL_S).into(),
                ]);
            }
        }
    }
    let mut sets = Table::new(
        "change-sets",
        "sizes of the sets over time, chips",
        &["time, s", TENANTS[0], TENANTS[1], TENANTS[2]],
    );
    sets.long = true;
    let of = runs[2].summary.isolation_sets.as_ref().expect("upi has sets");
    for window in &of.windows {
        let mut cells = vec![(window.end_s - piece.warmup_s).into()];
        cells.extend(window.chips.iter().map(|&chips| chips.into()));
        sets.row(cells);
    }
    vec![series, sets]
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let piece = piece(lab);
    let interval = (INTERVAL_S * 1e12) as u64;
    let jobs: Vec<Job> = POLICIES
        .iter()
        .map(|(_, set)| Ok(piece.job(lab, &[set])?.series(interval)))
        .collect::<Result<_, Error>>()?;
    let runs = lab.run(&jobs)?;
    let mut summary = Table::new(
        "change-summary",
        "Fig. 5: lm-tbe, means of tenths of the ten minutes",
        &[
            "tenth",
            "writes, MB/s",
            "response unified, us",
            "response partitioned, us",
            "response upi, us",
            "chips of its set",
        ],
    );
    let by_policy: Vec<Vec<Interval>> = runs.iter().map(|run| counted(run, piece)).collect();
    let length = by_policy.iter().map(Vec::len).min().unwrap_or(0) / 10;
    let tenth_s = piece.counted_s / 10.0;
    let set_of = |tenth: u32| {
        let from_s = piece.warmup_s + f64::from(tenth) * tenth_s;
        chips(&runs[2].summary, from_s, from_s + tenth_s)
    };
    for tenth in 0..10 {
        let of = |policy: usize| &by_policy[policy][tenth as usize * length..][..length];
        let written: u64 = of(1).iter().map(|i| i.written_bytes).sum();
        summary.row(vec![
            (tenth + 1).into(),
            (written as f64 / 1e6 / (length as f64 * INTERVAL_S)).into(),
            response(of(0)).into(),
            response(of(1)).into(),
            response(of(2)).into(),
            set_of(tenth).into(),
        ]);
    }
    let rise = |policy: usize| {
        let of = &by_policy[policy];
        response(&of[7 * length..10 * length]) / response(&of[..3 * length])
    };
    let whole = |policy: usize| response(&by_policy[policy]);
    let (before, after) = (set_of(0), set_of(9));
    let rows = vec![
        Row::statement(
            NAME,
            "lm-tbe, response under partitioned, last over first three minutes",
            rise(1),
            rise(1) > 1.0,
            "x",
            "\"is affected by this, resulting in the overall increase in response time\"",
        ),
        Row::statement(
            NAME,
            "lm-tbe, that rise under upi over that under partitioned",
            rise(2) / rise(1),
            rise(2) < rise(1),
            "x",
            "UPI \"balances the traffic across chips\"",
        ),
        Row::statement(
            NAME,
            "lm-tbe, response under upi over partitioned, the ten minutes",
            whole(2) / whole(1),
            whole(2) < whole(1),
            "x",
            "\"thus achieving better performance\"",
        ),
        Row::statement(
            NAME,
            "lm-tbe, chips of its set, last minute less first",
            after - before,
            after > before,
            "chips",
            "\"dynamically increases the allocation set for LM-TBE\"",
        ),
    ];
    let mut all = vec![summary];
    all.extend(tables(&runs, piece));
    Ok(Findings { rows, tables: all })
}
