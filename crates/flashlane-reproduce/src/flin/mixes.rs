//! Workloads of four traces, and their results. Fig. 10 to 15 and 17 use them.

use flashlane::Error;
use flashlane::config::CloneConfig;
use flashlane::config::units::Span;
use flashlane::metrics::Summary;
use flashlane::workload::clone;
use flashlane_engine::Rng;

use super::setup::{job, trace_drive};
use crate::{Job, Lab, Run};

/// The traces of Table 2 with high interference.
pub(super) const HIGH: [&str; 6] = ["exch", "msnfs", "src1-0", "src1-1", "tpcc", "tpce"];
/// The two of them that together write more than the drive can.
const HEAVIEST: [&str; 2] = ["tpcc", "tpce"];
const LOW: [&str; 14] = [
    "dev", "fin1", "fin2", "msncfs", "prn-0", "prn-1", "prxy-0", "prxy-1", "rad-be", "rad-ps",
    "src1-2", "stg-0", "stg-1", "wsrch",
];
/// Number of workloads of each category in the paper: 40 in all.
pub(super) const OF_PAPER: usize = 10;

/// The categories: number of traces with high interference among the four.
pub(super) const CATEGORIES: [u32; 4] = [1, 2, 3, 4];

/// The percentage by which the paper names a category.
pub(super) fn percent(high: u32) -> u32 {
    25 * high
}

/// Length of the published traces that counts. A warm-up of half this length comes before. Unit:
/// seconds.
pub(super) const TRACE_S: f64 = 18.0;

/// Smallest number of counted requests with which the slowdown of a flow is compared.
pub(super) const FEWEST: u64 = 30;

/// Four traces that run together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mix {
    /// Number of traces with high interference.
    pub(super) high: u32,
    pub(super) traces: Vec<&'static str>,
    /// Factors on the gaps of each trace.
    pub(super) scales: Vec<f64>,
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
            mixes.push(Mix { high, traces, scales: vec![1.0; 4] });
        }
    }
    mixes
}

/// A third of the workloads of a category: of those with none, one and both of tpcc and tpce the
/// first, the fourth, and so on.
fn third(high: u32) -> Vec<Mix> {
    let all = draw_category(high);
    let heavy = |mix: &Mix| mix.traces.iter().filter(|name| HEAVIEST.contains(name)).count();
    let of = |count: usize| all.iter().filter(move |mix| heavy(mix) == count).step_by(3);
    (0..=HEAVIEST.len()).flat_map(of).cloned().collect()
}

/// The workloads of the comparison of the schedulers: all of each category, or a third of them.
pub(super) fn compared(lab: &Lab<'_>, categories: &[u32]) -> Vec<Mix> {
    match (lab.smoke, lab.quick) {
        (true, _) => draw(categories, 1),
        (_, true) => categories.iter().flat_map(|&high| third(high)).collect(),
        _ => draw(categories, OF_PAPER),
    }
}

/// Index of one workload of each category, for studies that run every workload many times. The
/// workload has either tpcc or tpce, because the drive cannot serve both together.
const SHOWN: [usize; 4] = [0, 2, 6, 7];

/// The workload with this index of each given category; in a full run, all workloads of the
/// categories.
pub(super) fn shown(lab: &Lab<'_>, categories: &[u32]) -> Vec<Mix> {
    if lab.full || lab.smoke {
        return draw(categories, per_category(lab, 1));
    }
    categories
        .iter()
        .map(|&high| draw_category(high).swap_remove(SHOWN[high as usize - 1]))
        .collect()
}

/// Number of workloads of each category that an experiment runs, at most the paper's ten.
pub(super) fn per_category(lab: &Lab<'_>, reduced: usize) -> usize {
    match (lab.smoke, lab.full) {
        (true, _) => 1,
        (_, true) => OF_PAPER,
        _ => reduced,
    }
}

/// The load of an experiment: the speed and the length of the traces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Factor on the gaps of the published traces.
    pub(super) time_scale: f64,
    /// Length that counts. Unit: seconds of the published traces.
    pub(super) trace_s: f64,
}

impl Load {
    /// A load with the published rates.
    pub(super) fn new(lab: &Lab<'_>) -> Self {
        Self { time_scale: 1.0, trace_s: if lab.smoke { 0.02 } else { TRACE_S } }
    }

    /// A load of half the length, for studies with many runs of each workload. A full run has the
    /// whole length.
    pub(super) fn short(lab: &Lab<'_>) -> Self {
        let whole = Self::new(lab);
        Self { trace_s: if lab.full { whole.trace_s } else { whole.trace_s / 2.0 }, ..whole }
    }

    /// Length that counts on the drive's clock. Unit: seconds.
    pub(super) fn counted_s(self) -> f64 {
        self.trace_s * self.time_scale
    }

    /// Length of the warm-up. Unit: seconds.
    pub(super) fn warmup_s(self) -> f64 {
        self.counted_s() / 2.0
    }
}

/// The flow of one trace. `keys`: further keys of the flow.
pub(super) fn flow(
    lab: &Lab<'_>,
    name: &str,
    trace: &str,
    load: Load,
    keys: &str,
) -> Result<String, Error> {
    // The run has requests of the rarest trace even if it is the shortest.
    let all_s = load.counted_s() + load.warmup_s();
    let requests = (all_s / load.time_scale * 1e3 / clone::find(trace)?.gap_ms()).ceil();
    let (requests, duration) = match lab.smoke {
        true => (Some(requests.max(2.0) as u64), None),
        false => (None, Some(Span((all_s * 1e12) as u64))),
    };
    let time_scale = load.time_scale;
    let clone = CloneConfig { time_scale, duration, ..CloneConfig::plain(trace, requests) };
    let source = lab.source_of(&clone)?;
    Ok(format!("[[flow]]\nname = \"{name}\"\n{keys}\n{source}\n"))
}

/// Keys of flows that bypass the data cache, as in all figures but the last.
pub(super) const UNCACHED: &str = "cache = \"off\"";

/// The workload file of a mix.
pub(super) fn workload(lab: &Lab<'_>, mix: &Mix, load: Load, keys: &str) -> Result<String, Error> {
    let flows = mix.traces.iter().zip(&mix.scales).map(|(trace, scale)| {
        // The flow lasts as long on the drive's clock as the others.
        let load = Load { time_scale: load.time_scale * scale, trace_s: load.trace_s / scale };
        flow(lab, trace, trace, load, keys)
    });
    flows.collect()
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
    counted(job(&all, &workload(lab, mix, load, UNCACHED)?)?.alone(), load)
}

/// A job whose first third does not count, so that collection has started.
pub(super) fn counted(job: Job, load: Load) -> Result<Job, Error> {
    job.warmup(&format!("{:.6}s", load.warmup_s()))
}

/// The four metrics of section 6, computed from requests.
pub(super) const METRICS: [&str; 4] =
    ["fairness", "maximum slowdown", "STDEV of slowdown", "weighted speedup"];

/// A metric of a run, by its index in [`METRICS`].
pub(super) fn metric(summary: &Summary, which: usize) -> f64 {
    let f = summary.fairness;
    let all = [f.fairness, f.max_slowdown, f.stdev_slowdown, f.weighted_speedup];
    all[which].expect("the laboratory checks this")
}

/// Smallest factor between two figures that cannot come from random draws.
pub(super) const FARTHER: f64 = 1.02;

/// The factor for a decrease.
pub(super) const NEARER: f64 = 0.98;

/// The metric by seed of jobs that ran with every seed: geometric means over the jobs.
pub(super) fn by_seed(runs: &[Vec<Run>], which: usize) -> Vec<f64> {
    let seeds = runs.first().map_or(0, Vec::len);
    let seed = |at: usize| {
        let of = runs.iter().map(|seeds| metric(&seeds[at].summary, which));
        geometric(&of.collect::<Vec<f64>>())
    };
    (0..seeds).map(seed).collect()
}

/// Ratios of numbers, one by one.
pub(super) fn ratios(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a / b).collect()
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
    fn a_third_has_some_of_each_kind() {
        for high in CATEGORIES {
            let (all, third) = (draw_category(high), third(high));
            assert!((3..=5).contains(&third.len()), "{high}: {}", third.len());
            let kinds = |mixes: &[Mix]| {
                let heavy = |mix: &Mix| HEAVIEST.map(|name| mix.traces.contains(&name));
                let count = |mix: &Mix| heavy(mix).iter().filter(|has| **has).count();
                let mut kinds: Vec<usize> = mixes.iter().map(count).collect();
                kinds.sort_unstable();
                kinds.dedup();
                kinds
            };
            assert_eq!(kinds(&all), kinds(&third), "{high}");
        }
    }

    #[test]
    fn the_workloads_shown_have_one_of_the_two_heaviest_traces() {
        for (high, at) in CATEGORIES.into_iter().zip(SHOWN) {
            let mix = &draw_category(high)[at];
            let heavy = mix.traces.iter().filter(|trace| HEAVIEST.contains(trace));
            assert_eq!((mix.high, heavy.count()), (high, 1), "{}", mix.name());
        }
    }

    #[test]
    fn means() {
        assert_eq!(mean(&[1.0, 3.0]), 2.0);
        assert!((geometric(&[2.0, 8.0]) - 4.0).abs() < 1e-12);
    }
}
