//! Runs workloads under the three schedulers that the paper compares, over several seeds.

use flashlane::Error;

use super::mixes::{FEWEST, Load, Mix, geometric, mean, metric, mix_job};
use super::setup::{COMPARED, fewest_requests, grows};
use crate::{Job, Lab, Run};

/// Number of times that a workload with too few requests is run again, with twice the length each
/// time.
const LONGER: u32 = 2;
/// Index of FLIN in [`COMPARED`].
pub(super) const FLIN: usize = 2;
/// What the paper says of all of its workloads under FLIN: the largest slowdown of a flow, and the
/// largest standard deviation of the slowdowns.
pub(super) const SERVED: [f64; 2] = [80.0, 10.0];

/// Runs by workload, by scheduler, by seed.
pub(super) struct Compared {
    pub(super) mixes: Vec<Mix>,
    runs: Vec<Vec<Vec<Run>>>,
    /// Number of counted requests that every flow needs.
    needed: u64,
    seeds: u64,
}

/// What runs have on top of the usual drive.
#[derive(Clone, Copy)]
pub(super) struct Settings<'a> {
    pub(super) sets: &'a [String],
    /// Parameters of both baselines, as in a table; may be empty.
    pub(super) baselines: &'a str,
}

impl Settings<'_> {
    /// A scheduler with its parameters.
    fn policy(&self, name: &str) -> String {
        if self.baselines.is_empty() || name == COMPARED[FLIN] {
            return name.to_owned();
        }
        format!("{{ {name} = {{ {} }} }}", self.baselines)
    }
}

/// A ratio of a metric in the way of the paper. Slowdowns are better the smaller they are. Weighted
/// speedup is given as a change.
pub(super) fn better(which: usize, ratio: f64) -> f64 {
    match which {
        0 => ratio,
        3 => ratio - 1.0,
        _ => 1.0 / ratio,
    }
}

impl Compared {
    /// Runs every workload under every scheduler with every seed. A workload with a flow that has
    /// fewer than [`FEWEST`] counted requests is run again with twice the length, under all
    /// schedulers.
    pub(super) fn run(
        lab: &Lab<'_>,
        mixes: Vec<Mix>,
        load: Load,
        sets: &[String],
        seeds: u64,
    ) -> Result<Self, Error> {
        Self::run_with(lab, mixes, load, Settings { sets, baselines: "" }, seeds)
    }

    /// As [`Self::run`], with parameters of the baselines.
    pub(super) fn run_with(
        lab: &Lab<'_>,
        mixes: Vec<Mix>,
        load: Load,
        settings: Settings<'_>,
        seeds: u64,
    ) -> Result<Self, Error> {
        let all: Vec<usize> = (0..mixes.len()).collect();
        let needed = if lab.smoke { 1 } else { FEWEST };
        let mut compared = Self { runs: vec![Vec::new(); mixes.len()], mixes, needed, seeds };
        compared.fill(lab, &all, load, settings)?;
        let mut longer = load;
        for _ in 0..LONGER {
            let sparse: Vec<usize> =
                all.iter().copied().filter(|&at| compared.is_sparse(at)).collect();
            longer.trace_s *= 2.0;
            compared.fill(lab, &sparse, longer, settings)?;
        }
        Ok(compared)
    }

    fn fill(
        &mut self,
        lab: &Lab<'_>,
        which: &[usize],
        load: Load,
        settings: Settings<'_>,
    ) -> Result<(), Error> {
        let mut jobs: Vec<Job> = Vec::new();
        for &at in which {
            for policy in COMPARED {
                let policy = settings.policy(policy);
                let job = mix_job(lab, &self.mixes[at], load, &policy, settings.sets)?;
                jobs.push(job.sparse());
            }
        }
        let mut runs = lab.run_seeds(&jobs, self.seeds)?.into_iter();
        for &at in which {
            self.runs[at] = runs.by_ref().take(COMPARED.len()).collect();
        }
        Ok(())
    }

    /// Smallest number of counted requests of a flow, over all seeds.
    pub(super) fn fewest(&self, at: usize) -> u64 {
        let runs = self.runs[at].iter().flatten();
        runs.map(|run| fewest_requests(&run.summary)).min().unwrap_or(0)
    }

    /// True if a flow has too few requests for a slowdown, so that the workload is left out.
    pub(super) fn is_sparse(&self, at: usize) -> bool {
        self.fewest(at) < self.needed
    }

    /// True if FLIN serves a workload by the paper's own criterion, with every seed.
    pub(super) fn is_served(&self, at: usize) -> bool {
        let of = |run: &Run| [1, 2].map(|which| metric(&run.summary, which));
        self.runs[at][FLIN]
            .iter()
            .all(|run| of(run).iter().zip(SERVED).all(|(is, most)| *is <= most))
    }

    /// The runs of a workload under a scheduler.
    pub(super) fn seeds(&self, at: usize, policy: usize) -> &[Run] {
        &self.runs[at][policy]
    }

    /// The workloads that a condition admits, without those that are left out.
    pub(super) fn chosen(&self, admits: impl Fn(&Mix, &[Vec<Run>]) -> bool) -> Vec<usize> {
        let all = 0..self.mixes.len();
        all.filter(|&at| !self.is_sparse(at) && admits(&self.mixes[at], &self.runs[at])).collect()
    }

    /// The number of seeds.
    fn seed_count(&self) -> usize {
        self.runs[0][0].len()
    }

    /// A metric of workloads under a scheduler, with one seed.
    fn of_seed(&self, chosen: &[usize], policy: usize, which: usize, seed: usize) -> Vec<f64> {
        let of = |&at: &usize| metric(&self.runs[at][policy][seed].summary, which);
        chosen.iter().map(of).collect()
    }

    /// The values over all seeds.
    pub(super) fn values(&self, chosen: &[usize], policy: usize, which: usize) -> Vec<f64> {
        let seeds = 0..self.seed_count();
        seeds.flat_map(|seed| self.of_seed(chosen, policy, which, seed)).collect()
    }

    /// The gain of FLIN over another scheduler, as in [`Self::gains_of`].
    pub(super) fn gains(&self, chosen: &[usize], over: usize, which: usize) -> (Vec<f64>, f64) {
        self.gains_of(chosen, [FLIN, over], which)
    }

    /// The gain of the first of two schedulers over the second: the ratio of the arithmetic means
    /// by seed, and the geometric mean of all ratios.
    pub(super) fn gains_of(
        &self,
        chosen: &[usize],
        [policy, over]: [usize; 2],
        which: usize,
    ) -> (Vec<f64>, f64) {
        let by_seed = (0..self.seed_count()).map(|seed| {
            let of = |policy| mean(&self.of_seed(chosen, policy, which, seed));
            better(which, of(policy) / of(over))
        });
        let [these, those] = [policy, over].map(|policy| self.values(chosen, policy, which));
        let ratios: Vec<f64> = these.iter().zip(&those).map(|(a, b)| a / b).collect();
        (by_seed.collect(), better(which, geometric(&ratios)))
    }

    /// The number of workloads in which the first of two schedulers has at least this part of the
    /// fairness of the second, by seed.
    pub(super) fn as_fair(
        &self,
        chosen: &[usize],
        [policy, over]: [usize; 2],
        part: f64,
    ) -> Vec<f64> {
        let of_seed = |seed: usize| {
            let [these, those] = [policy, over].map(|policy| self.of_seed(chosen, policy, 0, seed));
            these.into_iter().zip(those).filter(|(a, b)| a / b >= part).count() as f64
        };
        (0..self.seed_count()).map(of_seed).collect()
    }

    /// The largest of a number over workloads, by seed.
    pub(super) fn most(
        &self,
        chosen: &[usize],
        policy: usize,
        number: &dyn Fn(&Run) -> f64,
    ) -> Vec<f64> {
        let largest = |seed: usize| {
            let of = chosen.iter().map(|&at| number(&self.runs[at][policy][seed]));
            of.fold(0.0, f64::max)
        };
        (0..self.seed_count()).map(largest).collect()
    }

    /// Number of workloads in which the backlog of a flow grows under a scheduler, with any seed.
    pub(super) fn growing(&self, chosen: &[usize], policy: usize) -> usize {
        let grow = |&&at: &&usize| self.runs[at][policy].iter().any(|run| grows(&run.summary));
        chosen.iter().filter(grow).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowdowns_are_better_the_smaller_they_are() {
        assert_eq!([0, 1, 2, 3].map(|which| better(which, 4.0)), [4.0, 0.25, 0.25, 3.0]);
    }

    #[test]
    fn parameters_of_the_baselines_are_theirs() {
        let policies = |baselines| {
            COMPARED.map(|name| Settings { sets: &[], baselines }.policy(name)).join(", ")
        };
        assert_eq!(policies(""), "sprinkler, sprinkler-fairness, flin");
        let window = policies("window = 64");
        assert!(window.starts_with("{ sprinkler = { window = 64 } }, {"), "{window}");
        assert!(window.ends_with(", flin"), "{window}");
    }

    #[test]
    fn a_workload_of_few_requests_is_run_longer_or_left_out() {
        let quiet = |_: f64| ();
        let mut lab = Lab::new(1, &quiet);
        (lab.smoke, lab.seeds) = (true, 1);
        let mix =
            Mix { high: 1, traces: vec!["src1-0", "fin2", "dev", "rad-be"], scales: vec![1.0; 4] };
        let load = Load { time_scale: 1.0, trace_s: 0.02 };
        let mut compared = Compared::run(&lab, vec![mix], load, &[], 1).expect("valid jobs");
        assert!(compared.fewest(0) > 0 && !compared.is_sparse(0));
        assert_eq!(compared.chosen(|_, _| true), [0]);
        compared.needed = 1_000_000;
        assert!(compared.is_sparse(0));
        assert!(compared.chosen(|_, _| true).is_empty(), "its ratios say nothing");
    }
}
