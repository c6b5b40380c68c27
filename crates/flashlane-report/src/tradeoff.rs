//! Gain and cost of another run, in a sentence.

use flashlane::metrics::{Estimate, FlowSummary};
use flashlane::visible_line;

use crate::data::RunData;
use flashlane_verdict::words::{number, time};

/// Smallest change that counts. Range: above 0.
const LEAST: f64 = 0.05;

/// A figure that tenants care about.
struct Figure {
    name: &'static str,
    /// Path of the figure below the flow in `summary.json`.
    path: &'static str,
    of: fn(&FlowSummary) -> Option<f64>,
    more_is_better: bool,
    shown: fn(f64) -> String,
}

const FIGURES: [Figure; 4] = [
    Figure {
        name: "slowdown",
        path: "slowdown",
        of: |flow| flow.slowdown,
        more_is_better: false,
        shown: |value| number(value) + "×",
    },
    Figure {
        name: "mean response time",
        path: "response_time_us.mean",
        of: |flow| some(flow.response_time_us.mean),
        more_is_better: false,
        shown: time,
    },
    Figure {
        name: "p99",
        path: "response_time_us.p99",
        of: |flow| some(flow.response_time_us.p99),
        more_is_better: false,
        shown: time,
    },
    Figure {
        name: "rate",
        path: "iops",
        of: |flow| some(flow.iops),
        more_is_better: true,
        shown: |value| number(value) + " IOPS",
    },
];

fn some(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

/// A figure of a tenant in two runs.
struct Change<'a> {
    flow: &'a str,
    figure: &'static Figure,
    from: f64,
    to: f64,
}

impl Change<'_> {
    /// Above 0 for an improvement: the logarithm of the factor.
    fn gain(&self) -> f64 {
        let grown = libm::log(self.to / self.from);
        if self.figure.more_is_better { grown } else { -grown }
    }

    /// `wsrch's slowdown from 26.3× to 4.03×`.
    fn ends(&self) -> String {
        let (name, shown) = (self.figure.name, self.figure.shown);
        format!(
            "{}'s {name} from {} to {}",
            visible_line(self.flow),
            shown(self.from),
            shown(self.to)
        )
    }

    /// `tpcc's p99 rises by 185 %`.
    fn by(&self) -> String {
        let share = 100.0 * (self.to / self.from - 1.0);
        let verb = if share > 0.0 { "rises" } else { "falls" };
        format!("{}'s {} {verb} by {:.0} %", visible_line(self.flow), self.figure.name, share.abs())
    }
}

/// A sentence for each run after the first: the gain of the tenant that gains most, and the cost
/// for the tenant that loses most. If both runs have the same seeds, a change counts if the 95 %
/// interval of the differences by seed does not include 0.
#[must_use]
pub fn tradeoffs(runs: &[RunData]) -> Vec<String> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    others.iter().map(|other| tradeoff(first, other)).collect()
}

fn tradeoff(first: &RunData, other: &RunData) -> String {
    let mut changes = Vec::new();
    for (index, from) in first.summary.flows.iter().enumerate() {
        let found = other.summary.flows.iter().position(|flow| flow.name == from.name);
        let Some(there) = found else { continue };
        let to = &other.summary.flows[there];
        // Figures of such a run depend on its length.
        if from.depends_on_length() || to.depends_on_length() {
            continue;
        }
        changes.extend(FIGURES.iter().filter_map(|figure| {
            let path = |index: usize| format!("flows[{index}].{}", figure.path);
            let (one, two) = (estimate(first, &path(index)), estimate(other, &path(there)));
            if let (Some(one), Some(two)) = (one, two)
                && !apart(first, one, other, two)
            {
                return None;
            }
            let from_value = one.map(|one| one.mean).or((figure.of)(from))?;
            let to_value = two.map(|two| two.mean).or((figure.of)(to))?;
            let change = Change { flow: &from.name, figure, from: from_value, to: to_value };
            (change.gain().abs() >= libm::log1p(LEAST)).then_some(change)
        }));
    }
    let labels = (visible_line(&first.label), visible_line(&other.label));
    let by_gain = |a: &&Change<'_>, b: &&Change<'_>| a.gain().total_cmp(&b.gain());
    let best = changes.iter().filter(|change| change.gain() > 0.0).max_by(by_gain);
    let worst = changes.iter().filter(|change| change.gain() < 0.0).min_by(by_gain);
    let against = format!("Against {}, {}", labels.0, labels.1);
    match (best, worst) {
        (None, None) => format!(
            "{against} changes no tenant's slowdown, mean, p99 or rate by {:.0} % or more.",
            100.0 * LEAST
        ),
        (None, Some(worst)) => format!("{against} helps no tenant; {}.", worst.by()),
        (Some(best), worst) => {
            let verb = if best.figure.more_is_better { "raises" } else { "cuts" };
            let cost = worst.map_or("no tenant pays for it".to_owned(), Change::by);
            format!("{against} {verb} {}; {cost}.", best.ends())
        }
    }
}

fn estimate<'a>(run: &'a RunData, path: &str) -> Option<&'a Estimate> {
    run.seeds.as_ref().filter(|seeds| seeds.seeds.len() > 1)?.get(path)
}

/// True if two figures over seeds differ: pair by pair under common seeds, otherwise if their
/// intervals do not overlap.
fn apart(first: &RunData, one: &Estimate, other: &RunData, two: &Estimate) -> bool {
    let seeds = |run: &RunData| run.seeds.as_ref().map(|seeds| seeds.seeds.clone());
    if seeds(first) == seeds(other) {
        let interval =
            one.difference_to(two).and_then(|paired| Some((paired.ci95_low?, paired.ci95_high?)));
        return interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    }
    let half = |one: &Estimate| one.half_width().unwrap_or(0.0);
    (one.mean - two.mean).abs() > half(one) + half(two)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::metrics::{Latency, SeedStatistics, Summary};

    fn run(label: &str, seed: u64, flows: &[(&str, f64, f64)]) -> RunData {
        let flow = |&(name, slowdown, p99): &(&str, f64, f64)| FlowSummary {
            name: name.to_owned(),
            slowdown: Some(slowdown),
            response_time_us: Latency { mean: 100.0, p99, ..Latency::default() },
            iops: 1000.0,
            ..FlowSummary::default()
        };
        let flows = flows.iter().map(flow).collect();
        RunData::from_summary(label, Summary { seed, flows, ..Summary::default() })
    }

    #[test]
    fn the_largest_gain_and_the_largest_cost_are_named() {
        let fcfs = run("fcfs", 1, &[("wsrch", 26.26, 12_853.0), ("tpcc", 1.04, 30_179.0)]);
        let other = run("out-of-order", 1, &[("wsrch", 4.03, 11_000.0), ("tpcc", 1.08, 85_262.0)]);
        assert_eq!(
            tradeoffs(&[fcfs.clone(), other.clone(), fcfs.clone()]),
            [
                "Against fcfs, out-of-order cuts wsrch's slowdown from 26.3× to 4.03×; tpcc's p99 rises by \
                 183 %.",
                "Against fcfs, fcfs changes no tenant's slowdown, mean, p99 or rate by 5 % or more.",
            ]
        );
        let free = run("free", 1, &[("wsrch", 13.0, 12_853.0)]);
        assert!(tradeoffs(&[fcfs.clone(), free])[0].ends_with("no tenant pays for it."));
        let only = run("only", 1, &[("tpcc", 3.0, 30_179.0), ("new", 9.0, 1.0)]);
        let said = &tradeoffs(&[fcfs, only])[0];
        assert_eq!(said, "Against fcfs, only helps no tenant; tpcc's slowdown rises by 188 %.");
    }

    #[test]
    fn over_seeds_a_change_has_to_be_sure() {
        let over = |label: &str, values: &[f64]| {
            let runs: Vec<RunData> = (1..)
                .zip(values)
                .map(|(seed, &p99)| run(label, seed, &[("a", 1.0, p99)]))
                .collect();
            let summaries: Vec<Summary> = runs.iter().map(|run| run.summary.clone()).collect();
            RunData { seeds: Some(SeedStatistics::of(&summaries)), ..runs[0].clone() }
        };
        let wild = over("wild", &[100.0, 200.0, 300.0]);
        // Each seed takes a fifth longer: the intervals overlap, but the pairs are certain.
        let longer = over("longer", &[120.0, 240.0, 360.0]);
        let said = &tradeoffs(&[wild.clone(), longer])[0];
        assert!(said.contains("changes no tenant"), "differences of 20, 40 and 60: {said}");
        let longer = over("longer", &[139.0, 240.0, 341.0]);
        let said = &tradeoffs(&[wild.clone(), longer])[0];
        assert!(said.ends_with("a's p99 rises by 20 %."), "differences of 39, 40 and 41: {said}");
        let mixed = over("mixed", &[300.0, 200.0, 160.0]);
        assert!(tradeoffs(&[wild, mixed])[0].contains("changes no tenant"));
    }
}
