//! Judges one level under several seeds: which goals are met.

use flashlane::metrics::{Estimate, Summary};
use serde::Serialize;

/// A goal over all seeds. If there are several tenants of one kind, the tenant with the worst mean
/// counts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoalOver {
    /// The name of the tenant. For several tenants of one kind it is their name without the number.
    pub flow: String,
    /// Key of the goal, for example `p99`.
    pub goal: String,
    /// The limit of the goal. Unit: microseconds, a ratio, or bytes per second, by the goal.
    pub limit: f64,
    /// The mean over the seeds of the tenant's figure, in the unit of the limit. Null if there is
    /// no figure.
    pub value: Option<f64>,
    /// How far the value goes beyond the limit: 1 at the limit, above 1 if the goal is missed.
    pub strain: Option<f64>,
    /// The 95 % confidence interval of the strain. Null for one seed.
    pub strain_interval: Option<[f64; 2]>,
    /// The number of seeds with which the drive does not keep up with the tenant, or serves none of
    /// its requests.
    pub saturated_seeds: usize,
    /// The number of seeds with which the drive serves none of the tenant's requests.
    pub starved_seeds: usize,
}

/// The outcome of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every goal is met with its whole confidence interval.
    Met,
    /// Some goal is missed with its whole confidence interval.
    Missed,
    /// Every goal is met on average, but the confidence interval of one goal reaches beyond its
    /// limit.
    MetOnAverage,
    /// Some goal is missed on average, but no goal is missed with its whole confidence interval.
    MissedOnAverage,
}

impl Verdict {
    /// True if the goals are met, at least on average.
    #[must_use]
    pub fn is_met(self) -> bool {
        matches!(self, Self::Met | Self::MetOnAverage)
    }

    /// True if more seeds may change the outcome.
    #[must_use]
    pub fn is_close(self) -> bool {
        matches!(self, Self::MetOnAverage | Self::MissedOnAverage)
    }
}

/// A level that was tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The number of copies, or the load as a factor.
    pub level: f64,
    /// The number of seeds that were run.
    pub seeds: usize,
    /// The outcome.
    pub verdict: Verdict,
    /// The goals. Empty if the drive cannot be set up for this level.
    pub goals: Vec<GoalOver>,
    /// Why the drive cannot be set up for this level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Trial {
    /// A level for which the drive cannot be set up.
    pub(super) fn refused(level: f64, seeds: usize, why: String) -> Self {
        Self { level, seeds, verdict: Verdict::Missed, goals: Vec::new(), refused: Some(why) }
    }

    /// Judges the runs of one level. `kind` gives the kind of a tenant.
    pub(super) fn of(level: f64, runs: &[Summary], kind: &dyn Fn(&str) -> String) -> Self {
        let mut goals: Vec<GoalOver> = Vec::new();
        for (flow, slo) in runs[0].flows.iter().filter_map(|f| Some((f, f.slo.as_ref()?))) {
            for goal in &slo.goals {
                let name = kind(&flow.name);
                if goals.iter().all(|one| one.flow != name || one.goal != goal.goal) {
                    goals.push(over_seeds(&name, &goal.goal, goal.limit, runs, kind));
                }
            }
        }
        let verdict = verdict(&goals, runs.len());
        Self { level, seeds: runs.len(), verdict, goals, refused: None }
    }

    /// The largest strain of a goal. It is infinite if a figure is missing.
    pub(super) fn strain(&self) -> f64 {
        match self.refused {
            Some(_) => f64::INFINITY,
            None => self.goals.iter().map(strain).fold(0.0, f64::max),
        }
    }

    /// The goal with the largest strain.
    #[must_use]
    pub fn worst(&self) -> Option<&GoalOver> {
        self.goals.iter().max_by(|a, b| strain(a).total_cmp(&strain(b)))
    }
}

/// The strain of a goal. It is infinite if the figure is missing.
fn strain(goal: &GoalOver) -> f64 {
    goal.strain.unwrap_or(f64::INFINITY)
}

fn over_seeds(
    flow: &str,
    goal: &str,
    limit: f64,
    runs: &[Summary],
    kind: &dyn Fn(&str) -> String,
) -> GoalOver {
    let tenants = (0..runs[0].flows.len()).filter(|&at| kind(&runs[0].flows[at].name) == flow);
    let over = tenants.map(|at| one_over_seeds(goal, runs, at));
    let key = |one: &GoalOver| (2 * one.saturated_seeds >= runs.len(), strain(one));
    let worst = over.max_by(|a, b| key(a).partial_cmp(&key(b)).expect("no NaN"));
    GoalOver { flow: flow.to_owned(), limit, ..worst.expect("the kind has a tenant") }
}

/// Combines one goal of one tenant over the seeds.
fn one_over_seeds(goal: &str, runs: &[Summary], flow: usize) -> GoalOver {
    let of_run = |run: &Summary| {
        let flow = &run.flows[flow];
        let goal = flow.slo.as_ref()?.goals.iter().find(|one| one.goal == goal)?;
        let floor = goal.is_floor();
        let judged = (flow.depends_on_length() && !floor, flow.starved && !floor);
        Some((goal.value, goal.strain(), judged))
    };
    let missing = (None, f64::INFINITY, (false, false));
    let found: Vec<(Option<f64>, f64, (bool, bool))> =
        runs.iter().map(|run| of_run(run).unwrap_or(missing)).collect();
    let finite = found.iter().all(|one| one.1.is_finite());
    let estimate = Estimate::of(found.iter().map(|one| Some(one.1)).collect()).filter(|_| finite);
    let values = Estimate::of(found.iter().map(|one| one.0).collect());
    let interval = estimate.as_ref().and_then(|one| Some([one.ci95_low?, one.ci95_high?]));
    GoalOver {
        flow: String::new(),
        goal: goal.to_owned(),
        limit: 0.0,
        value: values.map(|one| one.mean),
        strain: estimate.map(|one| one.mean),
        strain_interval: interval,
        saturated_seeds: found.iter().filter(|one| one.2.0).count(),
        starved_seeds: found.iter().filter(|one| one.2.1).count(),
    }
}

fn verdict(goals: &[GoalOver], seeds: usize) -> Verdict {
    let mut all = Verdict::Met;
    for goal in goals {
        let [low, high] = match (goal.strain_interval, goal.strain) {
            (Some(interval), _) => interval,
            (None, Some(strain)) => [strain; 2],
            (None, None) => return Verdict::Missed,
        };
        let one = match goal.saturated_seeds {
            all if all == seeds => Verdict::Missed,
            some if 2 * some >= seeds => Verdict::MissedOnAverage,
            _ if low > 1.0 => Verdict::Missed,
            _ if strain(goal) > 1.0 => Verdict::MissedOnAverage,
            some if some > 0 || high > 1.0 => Verdict::MetOnAverage,
            _ => Verdict::Met,
        };
        all = worse(all, one);
    }
    all
}

fn worse(a: Verdict, b: Verdict) -> Verdict {
    use Verdict::{Met, MetOnAverage, Missed, MissedOnAverage};
    let order = [Met, MetOnAverage, MissedOnAverage, Missed];
    let place = |one: Verdict| order.iter().position(|&other| other == one);
    if place(a) >= place(b) { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::metrics::{FlowSummary, GoalSummary, SloSummary};

    fn flow(name: &str, value: f64, saturated: bool) -> FlowSummary {
        let goal = GoalSummary {
            goal: "p99".into(),
            limit: 100.0,
            value: Some(value),
            met: value <= 100.0,
        };
        let slo = Some(SloSummary { met: goal.met, goals: vec![goal] });
        FlowSummary { name: name.into(), saturated, slo, ..FlowSummary::default() }
    }

    fn trial(seeds: &[&[(f64, bool)]]) -> Trial {
        let runs: Vec<Summary> = seeds
            .iter()
            .map(|flows| Summary {
                flows: (1..)
                    .zip(*flows)
                    .map(|(n, &(value, grows))| flow(&format!("a-{n}"), value, grows))
                    .collect(),
                ..Summary::default()
            })
            .collect();
        Trial::of(2.0, &runs, &|name| name.split('-').next().unwrap_or(name).to_owned())
    }

    #[test]
    fn the_worst_tenant_of_a_kind_counts() {
        let found = trial(&[&[(50.0, false), (90.0, false)], &[(60.0, false), (92.0, false)]]);
        assert_eq!(found.goals.len(), 1);
        let goal = found.worst().expect("one goal");
        assert_eq!((goal.flow.as_str(), goal.value), ("a", Some(91.0)));
        assert!((found.strain() - 0.91).abs() < 1e-12);
        assert_eq!(trial(&[&[(100.0, false)]]).verdict, Verdict::Met);
        assert_eq!(trial(&[&[(101.0, false)]]).verdict, Verdict::Missed);
    }

    #[test]
    fn the_interval_decides_how_sure_a_verdict_is() {
        let seeds = |values: &[f64]| {
            let rows: Vec<[(f64, bool); 1]> =
                values.iter().map(|&value| [(value, false)]).collect();
            let rows: Vec<&[(f64, bool)]> = rows.iter().map(|row| &row[..]).collect();
            trial(&rows).verdict
        };
        assert_eq!(seeds(&[50.0, 52.0, 51.0]), Verdict::Met);
        assert_eq!(seeds(&[90.0, 99.0, 108.0]), Verdict::MetOnAverage);
        assert_eq!(seeds(&[95.0, 101.0, 110.0]), Verdict::MissedOnAverage);
        assert_eq!(seeds(&[150.0, 152.0, 151.0]), Verdict::Missed);
    }

    #[test]
    fn a_tenant_whose_backlog_grows_misses_its_promise() {
        assert_eq!(trial(&[&[(50.0, true)]]).verdict, Verdict::Missed);
        let some = trial(&[&[(50.0, true)], &[(50.0, false)], &[(51.0, false)], &[(49.0, false)]]);
        assert_eq!((some.verdict, some.goals[0].saturated_seeds), (Verdict::MetOnAverage, 1));
        let half = trial(&[&[(50.0, true)], &[(50.0, false)]]);
        assert_eq!(half.verdict, Verdict::MissedOnAverage);
    }

    #[test]
    fn a_tenant_that_starves_misses_its_promise_and_is_told_apart() {
        let starving = FlowSummary { starved: true, ..flow("a-1", 50.0, false) };
        let runs = [starving, flow("a-1", 50.0, true)]
            .map(|flow| Summary { flows: vec![flow], ..Summary::default() });
        let found = Trial::of(2.0, &runs, &|name| name.to_owned());
        assert_eq!(found.verdict, Verdict::Missed);
        assert_eq!((found.goals[0].saturated_seeds, found.goals[0].starved_seeds), (2, 1));
    }
}
