//! Promises to tenants, and their results.

use flashlane::metrics::GoalSummary;
use serde::Serialize;

use flashlane_verdict::words::{number, time};

/// A promise to the tenant.
#[derive(Debug, Serialize)]
pub(crate) struct Goal {
    /// `p99 at most 1 ms`.
    name: String,
    found: String,
    met: bool,
    verdict: &'static str,
}

impl Goal {
    pub(crate) fn of(goal: &GoalSummary) -> Self {
        let shown = |value: f64| match goal.goal.as_str() {
            "min_iops" => format!("{} IOPS", number(value)),
            "min_bandwidth" => format!("{} MB/s", number(value / 1e6)),
            "slowdown" => number(value) + "×",
            _ => time(value),
        };
        let name = match goal.is_time() || goal.goal == "slowdown" {
            true => format!("{} ", goal.goal.replace('_', ".")),
            false => String::new(),
        };
        Self {
            name: format!("{name}{} {}", goal.bound(), shown(goal.limit)),
            found: goal.value.map_or_else(|| "no figure".to_owned(), shown),
            met: goal.met,
            verdict: goal.verdict(),
        }
    }
}
