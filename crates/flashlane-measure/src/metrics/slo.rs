//! Checks of the promises to tenants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::summary::{FlowSummary, Latency, Summary};
use flashlane_config::{SloConfig, WorkloadConfig};

/// Key of the goal of slowdown.
pub(super) const SLOWDOWN: &str = "slowdown";

/// Goals of a tenant, with their results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SloSummary {
    /// True if all goals are met.
    pub met: bool,
    /// The goals, in the order of the keys of `slo`.
    pub goals: Vec<GoalSummary>,
}

/// A goal of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoalSummary {
    /// Key of the goal, for example `p99` or `min_iops`.
    pub goal: String,
    /// The promised value. Unit: microseconds for times, bytes per second for `min_bandwidth`,
    /// otherwise 1.
    pub limit: f64,
    /// The value that the tenant got, in the same unit; null where no request was counted.
    pub value: Option<f64>,
    /// True if the promise is kept.
    pub met: bool,
}

impl GoalSummary {
    fn new(goal: &str, limit: f64, value: Option<f64>) -> Self {
        Self { goal: goal.to_owned(), limit, value, met: false }
    }

    /// True if more is better: the limit is then the least value that keeps the promise.
    #[must_use]
    pub fn is_floor(&self) -> bool {
        self.goal.starts_with("min_")
    }

    /// True if the value is a time.
    #[must_use]
    pub fn is_time(&self) -> bool {
        !self.is_floor() && self.goal != SLOWDOWN
    }

    /// `met`, or `missed` with the reason where the figure alone does not show it.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match (self.met, self.strain() <= 1.0) {
            (true, _) => "met",
            (false, true) => "missed: its backlog grows",
            (false, false) => "missed",
        }
    }

    /// `at least` or `at most`.
    #[must_use]
    pub fn bound(&self) -> &'static str {
        if self.is_floor() { "at least" } else { "at most" }
    }

    /// How far the value exceeds the limit: the value over the limit, or the limit over the value
    /// where more is better. Below 1 the goal is met. Infinite without a value.
    #[must_use]
    pub fn strain(&self) -> f64 {
        match self.value {
            None => f64::INFINITY,
            Some(value) if self.is_floor() => self.limit / value,
            Some(value) => value / self.limit,
        }
    }
}

impl SloSummary {
    /// Judges a tenant by its figures.
    pub(crate) fn of(slo: &SloConfig, flow: &FlowSummary) -> Self {
        let some = |value: f64| (flow.requests.all() > 0).then_some(value);
        let mut goals = Vec::new();
        for (key, limit) in slo.times() {
            let Some(limit) = limit else { continue };
            let value = some(percentile(&flow.end_to_end_us, key));
            goals.push(GoalSummary::new(key, limit.0 as f64 / 1e6, value));
        }
        if let Some(limit) = slo.slowdown {
            goals.push(GoalSummary::new(SLOWDOWN, limit, flow.slowdown));
        }
        if let Some(limit) = slo.min_iops {
            goals.push(GoalSummary::new("min_iops", limit, some(flow.iops)));
        }
        if let Some(limit) = slo.min_bandwidth {
            let value = some(flow.bandwidth_bytes_per_s);
            goals.push(GoalSummary::new("min_bandwidth", limit.0 as f64, value));
        }
        let mut judged = Self { met: false, goals };
        judged.judge(flow.depends_on_length());
        judged
    }

    /// Judges all goals. `grow`: the drive does not keep up with the tenant, or serves nothing of
    /// it. Then times and slowdown grow with the length of the run, and exceed any limit in the
    /// end.
    pub(crate) fn judge(&mut self, grow: bool) {
        for goal in &mut self.goals {
            goal.met = goal.strain() <= 1.0 && (goal.is_floor() || !grow);
        }
        self.met = self.goals.iter().all(|goal| goal.met);
    }
}

/// The figure of a distribution that a goal refers to. Unit: microseconds.
fn percentile(latency: &Latency, key: &str) -> f64 {
    match key {
        "mean" => latency.mean,
        "p50" => latency.p50,
        "p90" => latency.p90,
        "p95" => latency.p95,
        "p99" => latency.p99,
        "p99_9" => latency.p99_9,
        "p99_99" => latency.p99_99,
        _ => latency.max,
    }
}

impl Summary {
    /// Judges every tenant with a promise.
    pub fn judge(&mut self, workload: &WorkloadConfig) {
        for (flow, config) in self.flows.iter_mut().zip(&workload.flows) {
            let slo = config.slo.as_ref().filter(|slo| !slo.is_empty());
            flow.slo = slo.map(|slo| SloSummary::of(slo, flow));
        }
    }

    /// The goals that are missed, with their tenants.
    pub fn missed(&self) -> impl Iterator<Item = (&FlowSummary, &GoalSummary)> {
        self.flows.iter().flat_map(|flow| {
            let goals = flow.slo.iter().flat_map(|slo| &slo.goals);
            goals.filter(|goal| !goal.met).map(move |goal| (flow, goal))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::summary::RequestCounts;
    use flashlane_units::{Bandwidth, Span};

    fn flow() -> FlowSummary {
        FlowSummary {
            requests: RequestCounts { read: 10, ..RequestCounts::default() },
            end_to_end_us: Latency { mean: 80.0, p99: 100.0, max: 900.0, ..Latency::default() },
            slowdown: Some(2.0),
            iops: 5000.0,
            bandwidth_bytes_per_s: 2e7,
            ..FlowSummary::default()
        }
    }

    fn slo() -> SloConfig {
        SloConfig {
            p99: Some(Span(100_000_000)),
            slowdown: Some(2.0),
            min_iops: Some(5000.0),
            min_bandwidth: Some(Bandwidth(20_000_000)),
            ..SloConfig::default()
        }
    }

    /// The goals of `slo` that a flow meets.
    fn met(slo: &SloConfig, flow: &FlowSummary) -> Vec<bool> {
        let judged = SloSummary::of(slo, flow);
        assert_eq!(judged.met, judged.goals.iter().all(|goal| goal.met));
        judged.goals.iter().map(|goal| goal.met).collect()
    }

    #[test]
    fn limits_belong_to_what_keeps_the_promise() {
        assert_eq!(met(&slo(), &flow()), [true; 4]);
        let strict = SloConfig {
            p99: Some(Span(99_999_999)),
            slowdown: Some(1.99),
            min_iops: Some(5000.1),
            min_bandwidth: Some(Bandwidth(20_000_001)),
            ..SloConfig::default()
        };
        assert_eq!(met(&strict, &flow()), [false; 4]);
        assert!(met(&SloConfig::default(), &flow()).is_empty());
    }

    #[test]
    fn every_time_has_its_figure() {
        let latency = Latency {
            mean: 1.0,
            p50: 2.0,
            p90: 3.0,
            p95: 4.0,
            p99: 5.0,
            p99_9: 6.0,
            p99_99: 7.0,
            max: 8.0,
            ..Latency::default()
        };
        let figures = SloConfig::default().times().map(|(key, _)| percentile(&latency, key));
        assert_eq!(figures, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    }

    #[test]
    fn a_tenant_that_the_drive_does_not_keep_up_with_misses_its_times() {
        let saturated = FlowSummary { saturated: true, ..flow() };
        assert_eq!(met(&slo(), &saturated), [false, false, true, true]);
    }

    #[test]
    fn a_tenant_without_requests_or_without_a_run_alone_misses_everything() {
        let silent = FlowSummary { name: "silent".to_owned(), ..FlowSummary::default() };
        assert_eq!(met(&slo(), &silent), [false; 4]);
        let judged = SloSummary::of(&slo(), &silent);
        assert!(judged.goals.iter().all(|goal| goal.value.is_none() && goal.strain() > 1e300));
    }
}
