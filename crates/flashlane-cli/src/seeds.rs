//! Statistics over repetitions with different seeds.

use std::collections::BTreeMap;

use flashlane::metrics::Summary;
use serde::Serialize;
use serde_json::Value;

/// Fields that differ from run to run or say what was run: no metrics.
const NOT_METRICS: &[&str] = &[
    "seed",
    "wall_s",
    "precondition_wall_s",
    "requests_per_wall_s",
    "peak_rss_bytes",
    "waf_only.page_writes_per_wall_s",
    "waf_only.host_page_writes_per_wall_s",
];

/// Mean and 95 % confidence interval of one metric over the seeds in which it is a number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Estimate {
    /// Mean.
    pub(crate) mean: f64,
    /// Lower end of the interval (Student t); null for a single value.
    pub(crate) ci95_low: Option<f64>,
    /// Upper end.
    pub(crate) ci95_high: Option<f64>,
    /// Number of values.
    pub(crate) n: usize,
}

/// Estimates by metric path, for example `flows[0].response_time_us.mean`.
pub(crate) type Estimates = BTreeMap<String, Estimate>;

impl Estimate {
    fn of(values: &[f64]) -> Self {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        if n < 2 {
            return Self { mean, ci95_low: None, ci95_high: None, n };
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (n - 1) as f64 / n as f64).sqrt();
        let half = student_t_975(n - 1) * error;
        Self { mean, ci95_low: Some(mean - half), ci95_high: Some(mean + half), n }
    }

    /// Half the width of the interval.
    pub(crate) fn half_width(&self) -> Option<f64> {
        self.ci95_high.map(|high| high - self.mean)
    }
}

/// Estimates of every numeric metric.
pub(crate) fn estimate(summaries: &[Summary]) -> Estimates {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for summary in summaries {
        let tree = serde_json::to_value(summary).expect("summaries are plain data");
        collect("", &tree, &mut values);
    }
    values.into_iter().map(|(path, values)| (path, Estimate::of(&values))).collect()
}

fn collect(path: &str, value: &Value, into: &mut BTreeMap<String, Vec<f64>>) {
    match value {
        Value::Number(number) if !NOT_METRICS.contains(&path) => {
            if let Some(number) = number.as_f64() {
                into.entry(path.to_owned()).or_default().push(number);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                collect(&format!("{path}[{index}]"), element, into);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect(&path, field, into);
            }
        }
        _ => {}
    }
}

/// The 0.975 quantile of Student's t distribution.
fn student_t_975(degrees: usize) -> f64 {
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
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + first / v + second / (v * v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_follow_student_t() {
        // Hand computed: standard deviation 1.5811, standard error 0.7071, t(4) = 2.7764.
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((estimate.mean - 3.0).abs() < 1e-12);
        assert!((estimate.half_width().unwrap() - 1.9632).abs() < 1e-4);
        assert_eq!(Estimate::of(&[7.0]).ci95_low, None);
        assert!((student_t_975(60) - 2.0003).abs() < 1e-4);
        assert!((student_t_975(31) - 2.0395).abs() < 1e-4);
    }

    #[test]
    fn every_number_has_a_path_and_clocks_have_none() {
        let tree = serde_json::json!({
            "seed": 1, "wall_s": 0.5, "name": "x",
            "flows": [{ "iops": 3.0, "slowdown": null }],
        });
        let mut values = BTreeMap::new();
        collect("", &tree, &mut values);
        assert_eq!(values.keys().collect::<Vec<_>>(), ["flows[0].iops"]);
    }
}
