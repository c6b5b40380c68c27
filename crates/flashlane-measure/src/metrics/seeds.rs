//! `seeds.json`: one scenario under several seeds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::summary::Summary;

/// Schema name written into every `seeds.json`.
pub const SEEDS_SCHEMA: &str = "flashlane.seeds/1";

/// Paths of numbers that are no metrics. The seed and the numbers of channels and chips are
/// identifiers. The others depend on the machine, or are in lists whose elements belong to
/// different moments in each run: element 3 of one run has nothing to do with element 3 of another.
const NOT_METRICS: &[&str] = &[
    "seed",
    "channels[].channel",
    "chips[].channel",
    "chips[].chip",
    "wall_s",
    "precondition_wall_s",
    "requests_per_wall_s",
    "peak_rss_bytes",
    "waf_only.page_writes_per_wall_s",
    "waf_only.host_page_writes_per_wall_s",
    "isolation_sets.sets",
    "isolation_sets.windows",
    "slowdown_over_time",
    "flows[].slo.goals[].limit",
    "steady_state.rounds",
    "steady_state.window_first",
];

/// A metric over the seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Mean of the values.
    pub mean: f64,
    /// Lower end of the 95 % confidence interval (Student t); null for a single value.
    pub ci95_low: Option<f64>,
    /// Upper end of that interval.
    pub ci95_high: Option<f64>,
    /// Number of seeds in which the metric has a value.
    pub n: usize,
    /// The value under each seed, in the order of [`SeedStatistics::seeds`]; null where there is
    /// none.
    pub values: Vec<Option<f64>>,
}

impl Estimate {
    /// The estimate from the value under each seed; none where no seed has a value.
    #[must_use]
    pub fn of(values: Vec<Option<f64>>) -> Option<Self> {
        let there: Vec<f64> = values.iter().flatten().copied().collect();
        let n = there.len();
        if n == 0 {
            return None;
        }
        let mean = there.iter().sum::<f64>() / n as f64;
        let half = (n > 1).then(|| {
            let squares: f64 = there.iter().map(|value| (value - mean) * (value - mean)).sum();
            student_t_975(n - 1) * (squares / (n - 1) as f64 / n as f64).sqrt()
        });
        let (ci95_low, ci95_high) = (half.map(|half| mean - half), half.map(|half| mean + half));
        Some(Self { mean, ci95_low, ci95_high, n, values })
    }

    /// The differences of another metric, or of the metric in another run, from this one, seed by
    /// seed; none where no seed has both. Both are of the same seeds.
    #[must_use]
    pub fn difference_to(&self, other: &Self) -> Option<Self> {
        let pairs = self.values.iter().zip(&other.values);
        Self::of(pairs.map(|(from, to)| Some(to.as_ref()? - from.as_ref()?)).collect())
    }

    /// Half the width of the interval.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        self.ci95_high.map(|high| high - self.mean)
    }
}

/// Every metric of a summary over several seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeedStatistics {
    /// Always `flashlane.seeds/1`.
    pub schema: String,
    /// The seeds, in the order of the values of each metric.
    pub seeds: Vec<u64>,
    /// Warnings that come before any other number, over all seeds: see
    /// [`SeedStatistics::verdict()`].
    #[serde(default)]
    pub verdict: Vec<String>,
    /// Estimates by the path of the metric in `summary.json`, for example
    /// `flows[0].response_time_us.mean`. A metric that is true or false counts as 1 or 0, so that
    /// its mean is the share of the seeds in which it is true.
    #[serde(flatten)]
    pub metrics: BTreeMap<String, Estimate>,
}

impl SeedStatistics {
    /// The statistics of one scenario from its summary under each seed.
    ///
    /// # Panics
    ///
    /// Never, because summaries are plain data.
    #[must_use]
    pub fn of(summaries: &[Summary]) -> Self {
        let mut values: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
        for (index, summary) in summaries.iter().enumerate() {
            let tree = serde_json::to_value(summary).expect("summaries are plain data");
            visit("", "", &tree, &mut |path, value| {
                let of_path = values.entry(path.to_owned());
                of_path.or_insert_with(|| vec![None; summaries.len()])[index] = Some(value);
            });
        }
        let estimates = values.into_iter().filter_map(|(path, v)| Some((path, Estimate::of(v)?)));
        let mut statistics = Self {
            schema: SEEDS_SCHEMA.to_owned(),
            seeds: summaries.iter().map(|summary| summary.seed).collect(),
            verdict: Vec::new(),
            metrics: estimates.collect(),
        };
        if let Some(first) = summaries.first() {
            statistics.verdict = statistics.verdict(first);
        }
        statistics
    }

    /// Reads `seeds.json`, which stands beside the summary of the first seed. Means, intervals and
    /// the verdict are calculated from the values anew.
    ///
    /// # Errors
    ///
    /// A text that says what is wrong.
    pub fn from_json(text: &str, first: &Summary) -> Result<Self, String> {
        let mut read: Self =
            serde_json::from_str(text).map_err(|error| format!("is no seeds.json: {error}"))?;
        if read.schema != SEEDS_SCHEMA {
            return Err(format!("found schema `{}`, allowed: `{SEEDS_SCHEMA}`", read.schema));
        }
        if read.seeds.first() != Some(&first.seed) {
            return Err(format!(
                "belongs to another summary.json: its first seed is {}, that of the summary {}",
                read.seeds.first().map_or("none".to_owned(), u64::to_string),
                first.seed
            ));
        }
        let summary = Self::of(std::slice::from_ref(first));
        for (path, metric) in &mut read.metrics {
            let (ours, its) = (metric.values.first(), summary.get(path).map(|one| one.mean));
            if ours.is_some_and(|ours| *ours != its) {
                return Err(format!(
                    "belongs to another summary.json: {path} of seed {} is {}, in the summary {}",
                    first.seed,
                    shown(ours.copied().flatten()),
                    shown(its)
                ));
            }
            if metric.values.len() != read.seeds.len() {
                return Err(format!(
                    "{path}: found {} values, allowed: one for each of the {} seeds",
                    metric.values.len(),
                    read.seeds.len()
                ));
            }
            let values = std::mem::take(&mut metric.values);
            *metric = Estimate::of(values).ok_or_else(|| format!("{path}: found no value"))?;
        }
        read.verdict = read.verdict(first);
        Ok(read)
    }

    /// The estimate of a metric, by its path.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Estimate> {
        self.metrics.get(path)
    }

    /// The summary of the first seed with the mean over the seeds in place of each metric, and the
    /// verdict over all seeds. Counts are rounded; a metric that is true under any seed is true.
    /// Wall times, lists over time and the chips of sets stay those of the first seed.
    ///
    /// # Errors
    ///
    /// A text, if a mean does not fit its place, as in a file that was edited.
    pub fn mean_summary(&self, first: &Summary) -> Result<Summary, String> {
        let mut tree = serde_json::to_value(first).map_err(|error| error.to_string())?;
        self.put_means("", &mut tree);
        let mean: Result<Summary, _> = serde_json::from_value(tree);
        let mut mean = mean.map_err(|error| format!("means over the seeds: {error}"))?;
        mean.verdict = self.verdict(first);
        for (index, flow) in mean.flows.iter_mut().enumerate() {
            // A backlog that grows in half of the seeds counts as growing.
            let in_half = |key: &str| {
                let share = self.get(&format!("flows[{index}].{key}"));
                share.is_some_and(|share| share.mean >= 0.5)
            };
            let grow = in_half("saturated") || in_half("starved");
            flow.slo.iter_mut().for_each(|slo| slo.judge(grow));
        }
        Ok(mean)
    }

    fn put_means(&self, path: &str, value: &mut Value) {
        match value {
            Value::Array(elements) => {
                for (index, element) in elements.iter_mut().enumerate() {
                    self.put_means(&format!("{path}[{index}]"), element);
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields {
                    self.put_means(&joined(path, key), field);
                }
            }
            Value::String(_) => {}
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                let Some(estimate) = self.get(path) else { return };
                *value = match value {
                    Value::Bool(_) => Value::Bool(estimate.mean > 0.0),
                    Value::Number(number) if number.is_u64() => {
                        Value::from(estimate.mean.round() as u64)
                    }
                    _ => Value::from(estimate.mean),
                };
            }
        }
    }
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| value.to_string())
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Calls `found` for every metric below a value: its path and its value. `pattern` is the path
/// without the indices of lists.
fn visit(path: &str, pattern: &str, value: &Value, found: &mut dyn FnMut(&str, f64)) {
    if NOT_METRICS.contains(&pattern) {
        return;
    }
    match value {
        Value::Number(number) => {
            if let Some(number) = number.as_f64() {
                found(path, number);
            }
        }
        Value::Bool(yes) => found(path, f64::from(u8::from(*yes))),
        Value::Array(elements) => {
            let pattern = format!("{pattern}[]");
            for (index, element) in elements.iter().enumerate() {
                visit(&format!("{path}[{index}]"), &pattern, element, found);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                visit(&joined(path, key), &joined(pattern, key), field, found);
            }
        }
        Value::Null | Value::String(_) => {}
    }
}

/// The 0.975 quantile of Student's t distribution. `degrees`: degrees of freedom, at least 1.
#[must_use]
pub fn student_t_975(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010,
        2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739,
        2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
    ];
    if let Some(&value) = TABLE.get(degrees.wrapping_sub(1)) {
        return value;
    }
    // Expansion in 1/degrees around the normal quantile (Abramowitz and Stegun 26.7.5).
    let (z, v) = (1.959_963_985_f64, degrees as f64);
    let first = (z * z * z + z) / 4.0;
    let second = z * (z * z * (5.0 * z * z + 16.0) + 3.0) / 96.0;
    z + first / v + second / (v * v)
}

#[cfg(test)]
#[path = "seeds_tests.rs"]
mod tests;
