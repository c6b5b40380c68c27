//! What the advice is to reach.

use flashlane::Error;
use flashlane::metrics::Latency;
use serde::{Serialize, Serializer};

use super::figures::{Figures, Tenant};

/// The goal of an advice.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// The largest slowdown of a tenant is to be small. The ratio of the slowdowns, which is called
    /// fairness, is 1 as well where all tenants are equally slow.
    Fairness,
    /// All promises to tenants are to be kept, and then nobody is to lose much.
    Slo,
    /// The sum of the tenants' speeds, each as a part of its speed alone, is to be large.
    Speedup,
    /// A time of a tenant, from arrival to completion, is to be small.
    Time {
        /// The name of the time, such as `p99`.
        figure: &'static str,
        /// The name of the tenant.
        tenant: String,
    },
}

/// The times of a tenant, by the names that `slo` has for them.
pub(super) const TIMES: [&str; 8] = ["mean", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"];

/// The time of that name. Unit: microseconds.
pub(super) fn time(latency: &Latency, figure: &str) -> f64 {
    match figure {
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

impl Goal {
    /// Reads a goal as the command line has it. `names`: the tenants.
    ///
    /// # Errors
    /// [`Error::Config`] with what was found and what is allowed.
    pub fn parse(text: &str, names: &[String]) -> Result<Self, Error> {
        let refuse = |message: String| Err(Error::config(format!("--goal {text}"), message));
        match text {
            "fairness" => return Ok(Self::Fairness),
            "slo" => return Ok(Self::Slo),
            "speedup" => return Ok(Self::Speedup),
            _ => {}
        }
        let times = TIMES.join(", ");
        let Some((figure, tenant)) = text.split_once(':') else {
            return refuse(format!("allowed: fairness, slo, speedup, or TIME:NAME with {times}"));
        };
        let Some(&figure) = TIMES.iter().find(|&&one| one == figure) else {
            return refuse(format!("found the time `{figure}`; allowed: {times}"));
        };
        if !names.iter().any(|name| name == tenant) {
            return refuse(format!("no tenant `{tenant}`; allowed: {}", names.join(", ")));
        }
        Ok(Self::Time { figure, tenant: tenant.to_owned() })
    }

    /// The text that [`Goal::parse`] reads.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Fairness => "fairness".to_owned(),
            Self::Slo => "slo".to_owned(),
            Self::Speedup => "speedup".to_owned(),
            Self::Time { figure, tenant } => format!("{figure}:{tenant}"),
        }
    }

    /// True if more is better.
    #[must_use]
    pub fn more_is_better(&self) -> bool {
        *self == Self::Speedup
    }

    /// True if the figure is a time. Unit: microseconds.
    #[must_use]
    pub fn is_time(&self) -> bool {
        matches!(self, Self::Time { .. })
    }

    /// True if the figure needs the tenants alone.
    pub(super) fn needs_alone(&self) -> bool {
        matches!(self, Self::Fairness | Self::Speedup)
    }

    /// The tenant that the goal protects, on the unchanged drive.
    pub(super) fn victim(&self, before: &Figures) -> Option<usize> {
        match self {
            Self::Fairness | Self::Speedup => before.slowest(),
            Self::Slo => before.most_strained(),
            Self::Time { tenant, .. } => before.tenants.iter().position(|one| one.name == *tenant),
        }
    }

    /// The figure of a run. `limited` has the tenants whose rate the candidate limits. For
    /// [`Goal::Slo`] it is the largest strain.
    pub(super) fn value(&self, now: &Figures, before: &Figures, limited: &[usize]) -> Option<f64> {
        let slowdowns = || slowdowns(now, before, limited);
        match self {
            Self::Fairness => slowdowns()?.into_iter().reduce(f64::max),
            Self::Speedup => Some(slowdowns()?.into_iter().map(f64::recip).sum()),
            Self::Slo => now.tenants.iter().filter_map(|one| one.strain).reduce(f64::max),
            Self::Time { figure, tenant } => {
                let tenant = now.tenants.iter().find(|one| one.name == *tenant)?;
                (tenant.latency.count > 0).then(|| time(&tenant.latency, figure))
            }
        }
    }

    /// The figure of a run if its slowest tenant were helped by something else. `None` where the
    /// goal is not about the slowest one.
    pub(super) fn promise(
        &self,
        now: &Figures,
        before: &Figures,
        limited: &[usize],
    ) -> Option<f64> {
        let mut slowdowns = slowdowns(now, before, limited).filter(|_| *self == Self::Fairness)?;
        slowdowns.sort_by(f64::total_cmp);
        slowdowns.pop();
        slowdowns.pop()
    }

    /// The figure by which candidates are ranked: small is good. With [`Goal::Slo`] it is 2 and the
    /// strain while a promise is broken, and else 1 and the largest part of its rate that a tenant
    /// loses.
    pub(super) fn score(&self, value: f64, now: &Figures, before: &Figures) -> f64 {
        match self {
            Self::Fairness | Self::Time { .. } => value,
            Self::Speedup => -value,
            Self::Slo if value > 1.0 => 2.0 + value,
            Self::Slo => 1.0 + largest_loss(now, before),
        }
    }
}

impl Serialize for Goal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

/// The largest part of its rate that a tenant loses. Range: 0..=1.
fn largest_loss(now: &Figures, before: &Figures) -> f64 {
    let pairs = now.tenants.iter().zip(&before.tenants);
    pairs.map(|(now, before)| now.loss(before)).fold(0.0, f64::max)
}

/// The slowdowns of the tenants. Where a limit holds a tenant of an open loop back, its times grow
/// with the length of the run. Its slowdown is then the one before, times the part by which its
/// rate fell, as it is for a closed loop.
fn slowdowns(now: &Figures, before: &Figures, limited: &[usize]) -> Option<Vec<f64>> {
    let of = |at: usize| {
        let (now, before): (&Tenant, &Tenant) = (&now.tenants[at], &before.tenants[at]);
        let held_back = limited.contains(&at) && now.grows && !before.grows;
        match held_back && now.iops > 0.0 {
            true => Some(before.slowdown? * (before.iops / now.iops).max(1.0)),
            false => now.slowdown,
        }
    };
    (0..now.tenants.len()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(name: &str, iops: f64, slowdown: f64, strain: Option<f64>) -> Tenant {
        let latency = Latency { count: 1, p99: 10.0 * slowdown, ..Latency::default() };
        let slowdown = Some(slowdown);
        Tenant { name: name.into(), iops, latency, slowdown, strain, ..Tenant::default() }
    }

    fn run(tenants: Vec<Tenant>) -> Figures {
        Figures { tenants, collects: false, erases: false, amplification: 1.0 }
    }

    #[test]
    fn goals_are_read_and_refused() {
        let names = ["shop".to_owned(), "backup".to_owned()];
        for text in ["fairness", "slo", "speedup", "p99:shop", "p99_9:backup", "mean:shop"] {
            assert_eq!(Goal::parse(text, &names).expect("a goal").text(), text);
        }
        for (text, part) in [
            ("speed", "--goal speed: allowed: fairness, slo, speedup, or TIME:NAME with mean, p50"),
            ("p98:shop", "found the time `p98`; allowed: mean"),
            ("p99:sho", "no tenant `sho`; allowed: shop, backup"),
        ] {
            let error = Goal::parse(text, &names).expect_err("refused").to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn promises_come_first_and_then_what_they_cost() {
        let before = run(vec![tenant("a", 100.0, 4.0, Some(2.0)), tenant("b", 100.0, 1.0, None)]);
        let of = |strain: f64, iops: f64| {
            let now =
                run(vec![tenant("a", 100.0, 2.0, Some(strain)), tenant("b", iops, 1.0, None)]);
            let value = Goal::Slo.value(&now, &before, &[]).expect("a strain");
            assert_eq!(value, strain);
            Goal::Slo.score(value, &now, &before)
        };
        assert_eq!(of(1.5, 100.0), 3.5);
        assert_eq!(of(0.5, 100.0), 1.0);
        assert!((of(0.5, 60.0) - 1.4).abs() < 1e-12);
        assert!(of(1.01, 100.0) > of(0.9, 1.0), "a broken promise is worse than any loss");
        assert_eq!(Goal::Slo.victim(&before), Some(0));
    }

    #[test]
    fn a_tenant_under_a_limit_is_slowed_by_what_its_rate_fell() {
        let before = run(vec![tenant("a", 100.0, 4.0, None), tenant("b", 100.0, 1.5, None)]);
        let mut now = run(vec![tenant("a", 100.0, 2.0, None), tenant("b", 50.0, 700.0, None)]);
        now.tenants[1].grows = true;
        let value = |goal: &Goal, limited: &[usize]| goal.value(&now, &before, limited);
        assert_eq!(value(&Goal::Fairness, &[]), Some(700.0));
        assert_eq!(value(&Goal::Fairness, &[1]), Some(3.0));
        assert_eq!(value(&Goal::Speedup, &[1]), Some(0.5 + 1.0 / 3.0));
        let time = Goal::Time { figure: "p99", tenant: "a".into() };
        assert_eq!(value(&time, &[1]), Some(20.0));
        assert!(time.is_time() && !time.needs_alone() && Goal::Speedup.more_is_better());
    }
}
