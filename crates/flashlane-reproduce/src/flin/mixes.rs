//! Workloads of four traces, and their results: what Fig. 10 to 15 and 17 share.

use flashlane::Error;
use flashlane::metrics::Summary;
use flashlane::workload::clone;
use flashlane_engine::Rng;

use super::setup::{job, trace_drive};
use crate::{Job, Lab};

/// Traces of Table 2 with high interference, and the others.
const HIGH: [&str; 6] = ["exch", "msnfs", "src1-0", "src1-1", "tpcc", "tpce"];
const LOW: [&str; 14] = [
    "dev", "fin1", "fin2", "msncfs", "prn-0", "prn-1", "prxy-0", "prxy-1", "rad-be", "rad-ps",
    "src1-2", "stg-0", "stg-1", "wsrch",
];
/// Workloads of each category in the paper: 40 in all.
pub(super) const OF_PAPER: usize = 10;

/// Traces of high interference among four: the categories.
pub(super) const CATEGORIES: [u32; 4] = [1, 2, 3, 4];

/// Percent of a category, as the paper names it.
pub(super) fn percent(high: u32) -> u32 {
    25 * high
}

/// Gaps of the published traces are multiplied by this. At their published rates the traces leave
/// the drive nearly idle and no policy matters.
pub(super) const TIME_SCALE: f64 = 0.5;

/// Four traces that run together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mix {
    /// How many of them are of high interference.
    pub(super) high: u32,
    pub(super) traces: Vec<&'static str>,
}

impl Mix {
    pub(super) fn name(&self) -> String {
        self.traces.join("+")
    }
}

/// The first `count` workloads of each of the categories; the same ones for every policy and drive.
/// Choice: the paper draws at random and does not name its workloads; ours have no trace twice.
pub(super) fn draw(categories: &[u32], count: usize) -> Vec<Mix> {
    categories.iter().flat_map(|&high| draw_category(high).into_iter().take(count)).collect()
}

fn draw_category(high: u32) -> Vec<Mix> {
    let mut rng = Rng::stream(1, "reproduce.flin.mixes", u64::from(high));
    let mut mixes: Vec<Mix> = Vec::new();
    let mut known: Vec<Vec<&str>> = Vec::new();
    while mixes.len() < OF_PAPER {
        let mut pick = |from: &[&'static str], count: usize| {
            let mut rest = from.to_vec();
            (0..count)
                .map(|_| rest.swap_remove(rng.below(rest.len() as u64) as usize))
                .collect::<Vec<_>>()
        };
        let mut traces = pick(&HIGH, high as usize);
        traces.extend(pick(&LOW, 4 - high as usize));
        let mut sorted = traces.clone();
        sorted.sort_unstable();
        if !known.contains(&sorted) {
            known.push(sorted);
            mixes.push(Mix { high, traces });
        }
    }
    mixes
}

/// How many workloads of each category an experiment runs, of the paper's ten.
pub(super) fn per_category(lab: &Lab<'_>, reduced: usize) -> usize {
    match (lab.smoke, lab.full) {
        (true, _) => 1,
        (_, true) => OF_PAPER,
        _ => reduced,
    }
}

/// The load of an experiment: how fast the traces run, and how long at their published rates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) time_scale: f64,
    /// Unit: seconds of the published traces.
    pub(super) trace_s: f64,
}

impl Load {
    pub(super) fn new(lab: &Lab<'_>) -> Self {
        let trace_s = match (lab.smoke, lab.full) {
            (true, _) => 0.02,
            (_, true) => 60.0,
            _ => 6.0,
        };
        Self { time_scale: TIME_SCALE, trace_s }
    }
}

/// The flow of one trace; `keys` are those of its flow besides the source.
pub(super) fn flow(
    lab: &Lab<'_>,
    name: &str,
    trace: &str,
    load: Load,
    keys: &str,
) -> Result<String, Error> {
    let requests = (load.trace_s * 1e3 / clone::find(trace)?.gap_ms()).ceil().max(2.0) as u64;
    let source = lab.source(trace, requests, load.time_scale)?;
    Ok(format!("[[flow]]\nname = \"{name}\"\n{keys}\n{source}\n"))
}

/// Keys of flows that bypass the data cache, as in all figures but the last.
pub(super) const UNCACHED: &str = "cache = \"off\"";

/// The workload file of a mix.
pub(super) fn workload(lab: &Lab<'_>, mix: &Mix, load: Load, keys: &str) -> Result<String, Error> {
    mix.traces.iter().map(|trace| flow(lab, trace, trace, load, keys)).collect()
}

/// A mix under a policy on the drive of the trace studies, with `sets` on top.
pub(super) fn mix_job(
    lab: &Lab<'_>,
    mix: &Mix,
    load: Load,
    policy: &str,
    sets: &[String],
) -> Result<Job, Error> {
    let mut all = trace_drive(lab, policy);
    all.extend(sets.iter().cloned());
    // Half as long again before, so that collection runs as it will.
    let warmup = load.trace_s * load.time_scale / 2.0;
    job(&all, &workload(lab, mix, load, UNCACHED)?)?.alone().warmup(&format!("{warmup:.6}s"))
}

/// The four metrics of section 6 by request.
pub(super) const METRICS: [&str; 4] =
    ["fairness", "maximum slowdown", "STDEV of slowdown", "weighted speedup"];

/// A metric of a run, by its place in [`METRICS`].
pub(super) fn metric(summary: &Summary, which: usize) -> f64 {
    let f = summary.fairness;
    let all = [f.fairness, f.max_slowdown, f.stdev_slowdown, f.weighted_speedup];
    all[which].expect("the laboratory checks this")
}

/// Arithmetic mean.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Geometric mean of positive numbers.
pub(super) fn geometric(values: &[f64]) -> f64 {
    libm::exp(mean(&values.iter().map(|&value| libm::log(value)).collect::<Vec<f64>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_workloads_of_four_different_traces() {
        let all = draw(&CATEGORIES, OF_PAPER);
        assert_eq!(all.len(), 40);
        for mix in &all {
            let high = mix.traces.iter().filter(|trace| HIGH.contains(trace)).count();
            assert_eq!(high as u32, mix.high, "{}", mix.name());
            let mut sorted = mix.traces.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), 4, "{}", mix.name());
        }
        assert_eq!(draw(&[3], 2), draw(&CATEGORIES, OF_PAPER)[20..22], "fewer are the first ones");
        assert_eq!(HIGH.len() + LOW.len(), 20, "Table 2");
        assert!(HIGH.iter().chain(&LOW).all(|name| clone::find(name).is_ok()));
    }

    #[test]
    fn means() {
        assert_eq!(mean(&[1.0, 3.0]), 2.0);
        assert!((geometric(&[2.0, 8.0]) - 4.0).abs() < 1e-12);
    }
}
