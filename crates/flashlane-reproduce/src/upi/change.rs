//! Fig. 5: what happens when lm-tbe turns to writing.
//!
//! The paper shows ten minutes of its hour 17, when the writes begin to rise: here the first ten of
//! that hour, at their pace, on the drive of Table 1.

use flashlane::Error;
use flashlane::metrics::{Interval, Summary};

use super::setup::{HOUR_S, PARTITIONED, POLICIES, Piece, TENANTS, UNIFIED, UPI};
use crate::{Bound, Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "change";

/// Unit: seconds.
const INTERVAL_S: f64 = 5.0;

/// Place of lm-tbe among the tenants.
const WRITER: usize = 2;

/// The ten minutes, after ten before.
fn piece(lab: &Lab<'_>) -> Piece {
    let counted_s = if lab.smoke { 60.0 } else { 600.0 };
    let start_s = 17.0 * HOUR_S - counted_s;
    let day_s = 24.0 * HOUR_S;
    Piece { start_s, day_s, counted_s, warmup_s: counted_s, time_scale: 1.0, size: 1.0 }
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
fn tables(runs: &[&Run], piece: Piece) -> Vec<Table> {
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
        "sizes of the sets over time, chips, and the tenant that writes to each chip, chip 0 first",
        &["time, s", TENANTS[0], TENANTS[1], TENANTS[2], "tenants by chip"],
    );
    sets.long = true;
    let of = runs[2].summary.isolation_sets.as_ref().expect("upi has sets");
    for window in &of.windows {
        let mut cells = vec![(window.end_s - piece.warmup_s).into()];
        cells.extend(window.chips.iter().map(|&chips| chips.into()));
        let owner = |owner: &Option<u32>| owner.map_or("-".to_owned(), |flow| flow.to_string());
        let owners: Vec<String> = window.owners.iter().map(owner).collect();
        cells.push(owners.join(" ").as_str().into());
        sets.row(cells);
    }
    vec![series, sets]
}

/// One seed of the three policies.
struct OneSeed<'a> {
    runs: Vec<&'a Run>,
    by_policy: Vec<Vec<Interval>>,
    /// Intervals of a tenth.
    length: usize,
    piece: Piece,
}

impl<'a> OneSeed<'a> {
    fn new(runs: Vec<&'a Run>, piece: Piece) -> Self {
        let by_policy: Vec<Vec<Interval>> = runs.iter().map(|run| counted(run, piece)).collect();
        let length = by_policy.iter().map(Vec::len).min().unwrap_or(0) / 10;
        Self { runs, by_policy, length, piece }
    }

    fn tenth(&self, policy: usize, tenth: usize) -> &[Interval] {
        &self.by_policy[policy][tenth * self.length..][..self.length]
    }

    /// Chips of lm-tbe in a tenth.
    fn chips(&self, tenth: usize) -> f64 {
        let tenth_s = self.piece.counted_s / 10.0;
        let from_s = self.piece.warmup_s + tenth as f64 * tenth_s;
        chips(&self.runs[UPI].summary, from_s, from_s + tenth_s)
    }

    /// Response in the last three minutes over that in the first three.
    fn rise(&self, policy: usize) -> f64 {
        let (of, length) = (&self.by_policy[policy], self.length);
        response(&of[7 * length..10 * length]) / response(&of[..3 * length])
    }

    fn whole(&self, policy: usize) -> f64 {
        response(&self.by_policy[policy])
    }

    fn summary(&self) -> Table {
        let columns = [
            "tenth",
            "writes, MB/s",
            "response unified, us",
            "response partitioned, us",
            "response upi, us",
            "chips of its set",
        ];
        let title = "Fig. 5: lm-tbe, means of tenths of the ten minutes, first seed";
        let mut table = Table::new("change-summary", title, &columns);
        for tenth in 0..10 {
            let written: u64 = self.tenth(PARTITIONED, tenth).iter().map(|i| i.written_bytes).sum();
            table.row(vec![
                (tenth as u32 + 1).into(),
                (written as f64 / 1e6 / (self.length as f64 * INTERVAL_S)).into(),
                response(self.tenth(UNIFIED, tenth)).into(),
                response(self.tenth(PARTITIONED, tenth)).into(),
                response(self.tenth(UPI, tenth)).into(),
                self.chips(tenth).into(),
            ]);
        }
        table
    }
}

fn rows(seeds: &[OneSeed<'_>]) -> Vec<Row> {
    let row = |metric, of: &dyn Fn(&OneSeed<'_>) -> f64, bound, unit, note| {
        let values: Vec<f64> = seeds.iter().map(of).collect();
        Row::statement_over_seeds(NAME, metric, &values, bound, unit, note)
    };
    vec![
        row(
            "lm-tbe, response under partitioned, last over first three minutes",
            &|ten| ten.rise(PARTITIONED),
            Bound::AtLeast(1.02),
            "x",
            "\"is affected by this, resulting in the overall increase in response time\"",
        ),
        row(
            "lm-tbe, that rise under upi over that under partitioned",
            &|ten| ten.rise(UPI) / ten.rise(PARTITIONED),
            Bound::AtMost(0.98),
            "x",
            "UPI \"balances the traffic across chips\"",
        ),
        row(
            "lm-tbe, response under upi over partitioned, the ten minutes",
            &|ten| ten.whole(UPI) / ten.whole(PARTITIONED),
            Bound::AtMost(0.98),
            "x",
            "\"thus achieving better performance\"",
        ),
        row(
            "lm-tbe, chips of its set, last minute less first",
            &|ten| ten.chips(9) - ten.chips(0),
            Bound::AtLeast(0.5),
            "chips",
            "\"dynamically increases the allocation set for LM-TBE\"",
        ),
    ]
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let piece = piece(lab);
    let interval = (INTERVAL_S * 1e12) as u64;
    let jobs: Vec<Job> = POLICIES
        .iter()
        .map(|(_, set)| Ok(piece.job(lab, &[set])?.series(interval)))
        .collect::<Result<_, Error>>()?;
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let of_seed = |seed: usize| runs.iter().map(|of_policy| &of_policy[seed]).collect();
    let seeds: Vec<OneSeed<'_>> =
        (0..lab.seeds as usize).map(|seed| OneSeed::new(of_seed(seed), piece)).collect();
    let mut all = vec![seeds[0].summary()];
    all.extend(tables(&seeds[0].runs, piece));
    Ok(Findings { rows: rows(&seeds), tables: all })
}
