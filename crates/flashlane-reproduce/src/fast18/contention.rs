//! The common part of the contention studies: two flows, one knob, and a run of each flow alone.

use flashlane::Error;
use flashlane::metrics::{FlowSummary, Summary};

use crate::row::over_seeds;
use crate::{Job, Lab, Run, Table};

/// Columns of the slowdown table after the column of the knob.
pub(super) const COLUMNS: [&str; 4] =
    ["flow-1 slowdown", "flow-2 slowdown", "fairness", "weighted speedup"];

/// Name of a column, and its number.
pub(super) type Column<'a> = (&'static str, &'a dyn Fn(&Summary) -> f64);

/// The results of a sweep: one run for each value of the knob and each seed.
pub(super) struct Sweep {
    pub(super) points: Vec<(u32, Vec<Run>)>,
}

impl Sweep {
    /// Runs `job` for every value of the knob, and each flow alone.
    pub(super) fn run(
        lab: &Lab<'_>,
        values: &[u32],
        job: impl Fn(u32) -> Result<Job, Error>,
    ) -> Result<Self, Error> {
        let jobs: Vec<Job> =
            values.iter().map(|&value| job(value).map(Job::alone)).collect::<Result<_, _>>()?;
        let runs = lab.run_seeds(&jobs, lab.seeds)?;
        Ok(Self { points: values.iter().copied().zip(runs).collect() })
    }

    /// A number at one value of the knob, for every seed.
    pub(super) fn at(&self, value: u32, number: impl Fn(&Summary) -> f64) -> Vec<f64> {
        let (_, runs) =
            self.points.iter().find(|(v, _)| *v == value).expect("a value of the sweep");
        runs.iter().map(|run| number(&run.summary)).collect()
    }

    /// The mean of [`Self::at`].
    pub(super) fn mean(&self, value: u32, number: impl Fn(&Summary) -> f64) -> f64 {
        over_seeds(&self.at(value, number)).0
    }

    /// A number at one value of the knob divided by that at another, for every seed.
    pub(super) fn ratio(
        &self,
        value: u32,
        over: u32,
        number: impl Fn(&Summary) -> f64 + Copy,
    ) -> Vec<f64> {
        quotients(&self.at(value, number), &self.at(over, number))
    }

    /// The relative change of a number from one value of the knob to another, for every seed.
    pub(super) fn change(
        &self,
        from: u32,
        to: u32,
        number: impl Fn(&Summary) -> f64 + Copy,
    ) -> Vec<f64> {
        self.ratio(to, from, number).into_iter().map(|ratio| ratio - 1.0).collect()
    }

    /// The largest number over the values of the knob that `chosen` admits, for every seed.
    pub(super) fn most(
        &self,
        chosen: impl Fn(u32) -> bool,
        number: impl Fn(&Summary) -> f64 + Copy,
    ) -> Vec<f64> {
        let values = self.points.iter().map(|(value, _)| *value).filter(|&value| chosen(value));
        let larger = |a: Vec<f64>, b: Vec<f64>| a.into_iter().zip(b).map(|(a, b)| a.max(b));
        values
            .map(|value| self.at(value, number))
            .reduce(|a, b| larger(a, b).collect())
            .expect("a value is admitted")
    }

    /// The smallest and the largest value of the knob.
    pub(super) fn ends(&self) -> (u32, u32) {
        let values = || self.points.iter().map(|(value, _)| *value);
        (values().min().expect("a sweep has values"), values().max().expect("a sweep has values"))
    }

    /// A table of means: the knob, [`COLUMNS`], and further columns.
    pub(super) fn table(
        &self,
        name: &str,
        title: &str,
        knob: &'static str,
        more: &[Column<'_>],
    ) -> Table {
        let mut columns = vec![knob];
        columns.extend(COLUMNS);
        columns.extend(more.iter().map(|(column, _)| *column));
        let mut table = Table::new(name, title, &columns);
        for &(value, _) in &self.points {
            let mut cells = vec![
                value.into(),
                self.mean(value, |s| slowdown(s, 0)).into(),
                self.mean(value, |s| slowdown(s, 1)).into(),
                self.mean(value, fairness).into(),
                self.mean(value, weighted_speedup).into(),
            ];
            cells.extend(more.iter().map(|(_, number)| self.mean(value, number).into()));
            table.row(cells);
        }
        table
    }
}

/// One number divided by another, seed by seed.
pub(super) fn quotients(above: &[f64], below: &[f64]) -> Vec<f64> {
    above.iter().zip(below).map(|(above, below)| above / below).collect()
}

/// Slowdown of a flow as the paper defines it (section 3.1): from the submission queue to
/// completion.
pub(super) fn slowdown(summary: &Summary, flow: usize) -> f64 {
    summary.flows[flow].slowdown_device.expect("every flow ran alone and completed requests")
}

/// Fairness by equation 1 of the paper.
pub(super) fn fairness(summary: &Summary) -> f64 {
    let (a, b) = (slowdown(summary, 0), slowdown(summary, 1));
    a.min(b) / a.max(b)
}

/// Weighted speedup by equation 2 of the paper.
pub(super) fn weighted_speedup(summary: &Summary) -> f64 {
    1.0 / slowdown(summary, 0) + 1.0 / slowdown(summary, 1)
}

/// Share of mapping look-ups that hit, shared and alone.
pub(super) fn cmt_hit_rates(flow: &FlowSummary) -> (f64, f64) {
    let rate = |hits: u64, misses: u64| hits as f64 / (hits + misses).max(1) as f64;
    let alone = flow.alone.expect("every flow ran alone");
    (rate(flow.cmt.hits, flow.cmt.misses), rate(alone.cmt.hits, alone.cmt.misses))
}

/// Mean number of waiting transactions of a flow at a chip, shared divided by alone.
pub(super) fn queue_growth(summary: &Summary, flow: usize) -> f64 {
    let flow = &summary.flows[flow];
    let alone = flow.alone.expect("every flow ran alone");
    flow.mean_chip_queue_length / alone.mean_chip_queue_length.max(1e-12)
}
