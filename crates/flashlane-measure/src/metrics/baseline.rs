//! One baseline for several runs: the slowdowns of all of them against the runs alone of one.

use super::report;
use super::seeds::{Estimate, SeedStatistics};
use super::slo::SLOWDOWN;
use super::summary::{FlowSummary, Summary};

/// The times of tenants alone in one run, against which the slowdowns of other runs are taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    flows: Vec<Alone>,
    /// The seeds of the values in `flows`; one of them for a run without statistics.
    seeds: Vec<u64>,
}

/// A tenant alone.
#[derive(Clone, Debug, PartialEq)]
struct Alone {
    name: String,
    /// Mean end-to-end time. Unit: microseconds.
    end_to_end_us: f64,
    /// This time under each seed.
    by_seed: Vec<Option<f64>>,
    /// Mean response time, where it is known. Unit: microseconds.
    response_us: Option<f64>,
}

impl Baseline {
    /// The baseline that a run gives: `None` unless all its tenants ran alone. `seeds` has the
    /// figures of a run of several seeds, and `summary` then those of its first seed.
    #[must_use]
    pub fn of(summary: &Summary, seeds: Option<&SeedStatistics>) -> Option<Self> {
        let of_flow = |(index, flow): (usize, &FlowSummary)| {
            let path = format!("flows[{index}].alone_end_to_end_us");
            let over_seeds = seeds.map(|seeds| seeds.get(&path));
            let first = flow.alone_end_to_end_us;
            let (end_to_end_us, by_seed) = match over_seeds {
                Some(estimate) => estimate.map(|one| (one.mean, one.values.clone()))?,
                None => (first?, vec![first]),
            };
            Some(Alone {
                name: flow.name.clone(),
                end_to_end_us,
                by_seed,
                response_us: flow.alone.as_ref().map(|alone| alone.response_time_us.mean),
            })
        };
        let flows: Option<Vec<Alone>> = summary.flows.iter().enumerate().map(of_flow).collect();
        Some(Self {
            flows: flows.filter(|flows| !flows.is_empty())?,
            seeds: seeds.map_or_else(|| vec![summary.seed], |seeds| seeds.seeds.clone()),
        })
    }

    /// The baseline of tenants whose mean end-to-end times alone are known. Unit: microseconds.
    pub fn of_times(times: impl IntoIterator<Item = (String, f64)>) -> Self {
        let of_flow = |(name, time)| Alone {
            name,
            end_to_end_us: time,
            by_seed: Vec::new(),
            response_us: None,
        };
        Self { flows: times.into_iter().map(of_flow).collect(), seeds: Vec::new() }
    }

    /// True if a tenant has a time here.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.alone(name).is_some()
    }

    /// Takes slowdowns and fairness of a run against this baseline, and those in its figures over
    /// several seeds. Under common seeds each seed has the times of the same seed here. What the
    /// run said against its own runs alone goes to [`FlowSummary::own_slowdown`]. Goals of slowdown
    /// are judged anew. Slowdowns in windows and by transactions stay as they are.
    ///
    /// Returns false where the baseline lacks a tenant of the run, which then stays as it is.
    pub fn apply(&self, summary: &mut Summary, seeds: Option<&mut SeedStatistics>) -> bool {
        if !summary.flows.iter().all(|flow| self.has(&flow.name)) {
            return false;
        }
        for flow in &mut summary.flows {
            let Some(alone) = self.alone(&flow.name) else { continue };
            let time = self.time(alone, summary.seed);
            let own = flow.own_slowdown.or(flow.slowdown);
            flow.slowdown = ratio(flow.end_to_end_us.mean, time);
            flow.slowdown_device =
                alone.response_us.and_then(|time| ratio(flow.response_time_us.mean, time));
            flow.own_slowdown = own.filter(|_| flow.slowdown != own);
            judge(flow);
        }
        report::fairness(summary);
        if let Some(seeds) = seeds {
            self.apply_to_seeds(&summary.flows, seeds);
        }
        true
    }

    fn apply_to_seeds(&self, flows: &[FlowSummary], statistics: &mut SeedStatistics) {
        let mut slowdowns = Vec::new();
        for (index, flow) in flows.iter().enumerate() {
            let Some(alone) = self.alone(&flow.name) else { return };
            let path = |key: &str| format!("flows[{index}].{key}");
            let Some(shared) = statistics.get(&path("end_to_end_us.mean")) else { return };
            let pairs = statistics.seeds.iter().zip(&shared.values);
            let values: Vec<Option<f64>> = pairs
                .map(|(&seed, shared)| shared.and_then(|time| ratio(time, self.time(alone, seed))))
                .collect();
            let (now, own) = (path("slowdown"), path("own_slowdown"));
            let before = statistics.metrics.remove(&own).or_else(|| statistics.get(&now).cloned());
            if let Some(before) = before.filter(|before| before.values != values) {
                statistics.metrics.insert(own, before);
            }
            put(statistics, now, values.clone());
            judge_seeds(flow, index, &values, statistics);
            slowdowns.push(values);
        }
        let of_seed = |seed: usize| {
            let of_flows: Vec<f64> = slowdowns.iter().filter_map(|flow| flow[seed]).collect();
            report::comparison(&of_flows)
        };
        let by_seed: Vec<_> = (0..statistics.seeds.len()).map(of_seed).collect();
        for (key, values) in [
            ("fairness", by_seed.iter().map(|one| one.fairness).collect()),
            ("max_slowdown", by_seed.iter().map(|one| one.max_slowdown).collect()),
            ("stdev_slowdown", by_seed.iter().map(|one| one.stdev_slowdown).collect()),
            ("weighted_speedup", by_seed.iter().map(|one| one.weighted_speedup).collect()),
        ] {
            put(statistics, format!("fairness.{key}"), values);
        }
    }

    fn alone(&self, name: &str) -> Option<&Alone> {
        self.flows.iter().find(|flow| flow.name == name)
    }

    /// The time under a seed, or the mean where this seed did not run.
    fn time(&self, alone: &Alone, seed: u64) -> f64 {
        let at = self.seeds.iter().position(|one| *one == seed);
        at.and_then(|at| alone.by_seed[at]).unwrap_or(alone.end_to_end_us)
    }
}

/// Judges a tenant's goal of slowdown by its slowdown.
fn judge(flow: &mut FlowSummary) {
    let grows = flow.depends_on_length();
    let Some(slo) = &mut flow.slo else { return };
    let slowdown = flow.slowdown;
    slo.goals.iter_mut().filter(|one| one.goal == SLOWDOWN).for_each(|one| one.value = slowdown);
    slo.judge(grows);
}

/// Judges a tenant's goal of slowdown under each seed.
fn judge_seeds(
    flow: &FlowSummary,
    index: usize,
    slowdowns: &[Option<f64>],
    statistics: &mut SeedStatistics,
) {
    let Some(slo) = &flow.slo else { return };
    let Some(place) = slo.goals.iter().position(|one| one.goal == SLOWDOWN) else { return };
    let path = |key: &str| format!("flows[{index}].{key}");
    let is = |statistics: &SeedStatistics, key: &str, seed: usize| {
        statistics.get(&path(key)).is_some_and(|one| one.values[seed] == Some(1.0))
    };
    let limit = slo.goals[place].limit;
    let met = |seed: usize| {
        let grows = is(statistics, "saturated", seed) || is(statistics, "starved", seed);
        !grows && slowdowns[seed].is_some_and(|slowdown| slowdown <= limit)
    };
    let met: Vec<bool> = (0..slowdowns.len()).map(met).collect();
    let all_met = |seed: usize| {
        let others = (0..slo.goals.len()).filter(|&other| other != place);
        let mut others = others.map(|other| format!("slo.goals[{other}].met"));
        met[seed] && others.all(|other| is(statistics, &other, seed))
    };
    let all_met: Vec<bool> = (0..slowdowns.len()).map(all_met).collect();
    let shares = |met: &[bool]| met.iter().map(|&one| Some(f64::from(u8::from(one)))).collect();
    put(statistics, path(&format!("slo.goals[{place}].value")), slowdowns.to_vec());
    put(statistics, path(&format!("slo.goals[{place}].met")), shares(&met));
    put(statistics, path("slo.met"), shares(&all_met));
}

fn ratio(shared: f64, alone: f64) -> Option<f64> {
    (alone > 0.0 && shared > 0.0).then(|| shared / alone)
}

fn put(statistics: &mut SeedStatistics, path: String, values: Vec<Option<f64>>) {
    match Estimate::of(values) {
        Some(estimate) => statistics.metrics.insert(path, estimate),
        None => statistics.metrics.remove(&path),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::AloneBasis;
    use crate::metrics::slo::{GoalSummary, SloSummary};
    use crate::metrics::summary::Latency;

    fn flow(name: &str, shared: f64, alone: f64) -> FlowSummary {
        let of = |mean| FlowSummary {
            name: name.to_owned(),
            end_to_end_us: Latency { count: 1, mean, ..Latency::default() },
            response_time_us: Latency { count: 1, mean, ..Latency::default() },
            ..FlowSummary::default()
        };
        let mut flow = of(shared);
        report::slowdowns(&mut flow, &of(alone), AloneBasis::WholeDrive);
        flow
    }

    fn run(seed: u64, flows: Vec<FlowSummary>) -> Summary {
        let mut summary = Summary { seed, flows, ..Summary::default() };
        report::fairness(&mut summary);
        summary
    }

    #[test]
    fn the_order_of_fairness_is_that_of_the_common_baseline() {
        // By its own runs alone the second run is fair: both tenants lost half of the drive.
        let first = run(1, vec![flow("a", 200.0, 100.0), flow("b", 300.0, 100.0)]);
        let mut second = run(1, vec![flow("a", 400.0, 400.0), flow("b", 200.0, 200.0)]);
        assert_eq!(
            (second.fairness.fairness, second.fairness.max_slowdown),
            (Some(1.0), Some(1.0))
        );
        let baseline = Baseline::of(&first, None).unwrap();
        assert!(baseline.apply(&mut second, None));
        let slowdowns: Vec<_> = second.flows.iter().map(|f| (f.slowdown, f.own_slowdown)).collect();
        assert_eq!(slowdowns, [(Some(4.0), Some(1.0)), (Some(2.0), Some(1.0))]);
        assert_eq!(
            (second.fairness.fairness, second.fairness.max_slowdown),
            (Some(0.5), Some(4.0))
        );
        let again = second.clone();
        assert!(baseline.apply(&mut second, None), "once more is the same");
        assert_eq!(second, again);
        let mut same = first.clone();
        assert!(baseline.apply(&mut same, None), "its own baseline changes nothing");
        assert_eq!(same, first);
        let own = Baseline::of(&second, None).unwrap();
        assert!(own.apply(&mut second, None), "and its own one takes it back");
        assert_eq!(second.flows[0].own_slowdown, None);
        assert_eq!(second.fairness.fairness, Some(1.0));
    }

    #[test]
    fn goals_of_slowdown_are_judged_by_the_common_baseline() {
        let with_goals = |seed: u64, shared: f64, alone: f64| {
            let goal = |goal: &str, limit: f64, value: f64| GoalSummary {
                goal: goal.to_owned(),
                limit,
                value: Some(value),
                met: false,
            };
            let mut flow = flow("a", shared, alone);
            let goals = vec![goal("mean", 450.0, shared), goal(SLOWDOWN, 2.5, shared / alone)];
            let mut slo = SloSummary { met: false, goals };
            slo.judge(false);
            flow.slo = Some(slo);
            run(seed, vec![flow])
        };
        let firsts = [with_goals(1, 200.0, 100.0), with_goals(2, 200.0, 180.0)];
        let seconds = [with_goals(1, 400.0, 400.0), with_goals(2, 400.0, 400.0)];
        let baseline = Baseline::of(&firsts[0], Some(&SeedStatistics::of(&firsts))).unwrap();
        let mut second = seconds[0].clone();
        let mut seeds = SeedStatistics::of(&seconds);
        assert!(second.flows[0].slo.as_ref().unwrap().met);
        assert!(baseline.apply(&mut second, Some(&mut seeds)));
        let slo = second.flows[0].slo.as_ref().unwrap();
        let goals: Vec<_> = slo.goals.iter().map(|one| (one.value, one.met)).collect();
        assert_eq!(goals, [(Some(400.0), true), (Some(4.0), false)]);
        assert!(!slo.met);
        let values = |path: &str| seeds.get(path).unwrap().values.clone();
        assert_eq!(values("flows[0].slo.goals[1].value"), [Some(4.0), Some(400.0 / 180.0)]);
        assert_eq!(values("flows[0].slo.goals[1].met"), [Some(0.0), Some(1.0)]);
        assert_eq!(values("flows[0].slo.met"), [Some(0.0), Some(1.0)]);
    }

    #[test]
    fn a_baseline_without_a_tenant_changes_nothing() {
        let first = run(1, vec![flow("a", 200.0, 100.0)]);
        let mut second = run(1, vec![flow("a", 400.0, 400.0), flow("b", 200.0, 200.0)]);
        let before = second.clone();
        let baseline = Baseline::of(&first, None).unwrap();
        assert!(baseline.has("a") && !baseline.has("b"));
        assert!(!baseline.apply(&mut second, None));
        assert_eq!(second, before);
        let shared = FlowSummary { name: "a".to_owned(), ..FlowSummary::default() };
        assert_eq!(Baseline::of(&run(1, vec![shared]), None), None, "it did not run alone");
    }

    #[test]
    fn under_common_seeds_each_seed_has_its_own_pair() {
        let over = |times: [(f64, f64); 2]| {
            let runs: Vec<Summary> = (1..)
                .zip(times)
                .map(|(seed, (shared, alone))| run(seed, vec![flow("a", shared, alone)]))
                .collect();
            (runs[0].clone(), SeedStatistics::of(&runs))
        };
        let (first, first_seeds) = over([(200.0, 100.0), (300.0, 150.0)]);
        let (mut second, mut seeds) = over([(100.0, 100.0), (300.0, 300.0)]);
        let baseline = Baseline::of(&first, Some(&first_seeds)).unwrap();
        assert!(baseline.apply(&mut second, Some(&mut seeds)));
        let values = |path: &str| seeds.get(path).unwrap().values.clone();
        assert_eq!(values("flows[0].slowdown"), [Some(1.0), Some(2.0)]);
        assert_eq!(values("flows[0].own_slowdown"), [Some(1.0), Some(1.0)]);
        assert_eq!(values("fairness.max_slowdown"), [Some(1.0), Some(2.0)]);
        let mean = seeds.mean_summary(&second).unwrap();
        assert_eq!(mean.flows[0].slowdown, Some(1.5));
    }
}
