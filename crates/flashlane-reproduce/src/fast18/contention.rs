//! What the contention studies share: two flows, one knob, every flow also alone.

use flashlane::Error;
use flashlane::metrics::{FlowSummary, Summary};

use crate::row::over_seeds;
use crate::{Job, Lab, Run, Table};

/// Columns of the slowdown table, after the knob.
pub(super) const COLUMNS: [&str; 4] =
    ["flow-1 slowdown", "flow-2 slowdown", "fairness", "weighted speedup"];

/// Name of a column, and the number in it.
pub(super) type Column<'a> = (&'static str, &'a dyn Fn(&Summary) -> f64);

/// The results of a sweep: for each value of the knob one run a seed.
pub(super) struct Sweep {
    pub(super) points: Vec<(u32, Vec<Run>)>,
}

impl Sweep {
    /// Runs `job` for every value of the knob, with every flow also alone.
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

    /// Mean and interval of a number at one value of the knob.
    pub(super) fn at(
        &self,
        value: u32,
        number: impl Fn(&Summary) -> f64,
    ) -> (f64, Option<[f64; 2]>) {
        let (_, runs) =
            self.points.iter().find(|(v, _)| *v == value).expect("a value of the sweep");
        over_seeds(&runs.iter().map(|run| number(&run.summary)).collect::<Vec<f64>>())
    }

    /// The mean of [`Self::at`].
    pub(super) fn mean(&self, value: u32, number: impl Fn(&Summary) -> f64) -> f64 {
        self.at(value, number).0
    }

    /// The largest mean over the values that `chosen` admits.
    pub(super) fn most(
        &self,
        chosen: impl Fn(u32) -> bool,
        number: impl Fn(&Summary) -> f64 + Copy,
    ) -> f64 {
        let values = self.points.iter().map(|(value, _)| *value).filter(|&value| chosen(value));
        values.map(|value| self.mean(value, number)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The smallest and the largest value of the knob.
    pub(super) fn ends(&self) -> (u32, u32) {
        let values = || self.points.iter().map(|(value, _)| *value);
        (values().min().expect("a sweep has values"), values().max().expect("a sweep has values"))
    }

    /// A table of means: the knob, [`COLUMNS`], and more.
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

/// Slowdown of a flow as the paper defines it (section 3.1): from the submission queue to
/// completion.
pub(super) fn slowdown(summary: &Summary, flow: usize) -> f64 {
    summary.flows[flow].slowdown_device.expect("every flow ran alone and completed requests")
}

/// Equation 1.
pub(super) fn fairness(summary: &Summary) -> f64 {
    let (a, b) = (slowdown(summary, 0), slowdown(summary, 1));
    a.min(b) / a.max(b)
}

/// Equation 2.
pub(super) fn weighted_speedup(summary: &Summary) -> f64 {
    1.0 / slowdown(summary, 0) + 1.0 / slowdown(summary, 1)
}

/// Share of mapping look-ups that hit, shared and alone.
pub(super) fn cmt_hit_rates(flow: &FlowSummary) -> (f64, f64) {
    let rate = |hits: u64, misses: u64| hits as f64 / (hits + misses).max(1) as f64;
    let alone = flow.alone.expect("every flow ran alone");
    (rate(flow.cmt.hits, flow.cmt.misses), rate(alone.cmt.hits, alone.cmt.misses))
}

/// Mean number of waiting transactions of a flow at a chip, shared over alone.
pub(super) fn queue_growth(summary: &Summary, flow: usize) -> f64 {
    let flow = &summary.flows[flow];
    let alone = flow.alone.expect("every flow ran alone");
    flow.mean_chip_queue_length / alone.mean_chip_queue_length.max(1e-12)
}
