//! The flows of a run as CSV.

use flashlane::Error;
use flashlane_study::sweep;
use serde_json::Value;

use crate::execute::to_json;
use crate::flow_rows::Named;

/// The table of a sweep whose points are the scenarios, with all figures.
pub(crate) fn csv(scenarios: &[Named<'_>]) -> Result<String, Error> {
    const KEYS: [&str; 5] = ["scenario", "device", "scheduler", "isolation", "seed"];
    let mut points: Vec<(sweep::Point, sweep::Outcome)> = Vec::new();
    for (name, summary, _) in scenarios {
        let values: [Value; 5] = [
            name.as_str().into(),
            summary.device.as_str().into(),
            summary.scheduler.as_str().into(),
            summary.isolation.as_str().into(),
            summary.seed.into(),
        ];
        let point = KEYS.iter().map(|&key| key.to_owned()).zip(values).collect();
        points.push((point, sweep::Outcome::Done(to_json(summary)?)));
    }
    let keys = KEYS.map(str::to_owned);
    Ok(sweep::Table::of(&keys, points.iter().map(|(point, outcome)| (point, outcome))).csv())
}
