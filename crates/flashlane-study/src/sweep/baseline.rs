//! One baseline for the points of a sweep.

use std::collections::HashMap;

use flashlane::metrics::{Baseline, Summary};
use serde_json::Value;

use super::axes::Point;
use super::outcome::Outcome;

/// Points with another value of one of these keys have a baseline of their own.
const APART: [&str; 2] = ["workload", "seed"];

/// Takes slowdowns and fairness of all points against the tenants alone of the first point, so that
/// they can be compared. Points of another workload or seed have the first point of that workload
/// and seed. With `given`, all points have that baseline. What a point said against its own tenants
/// alone is the `own_slowdown` of its flows. Points without `alone` stay as they are.
pub fn share_baseline(points: &[Point], outcomes: &mut [Outcome], given: Option<&Baseline>) {
    let mut found: HashMap<Vec<String>, Baseline> = HashMap::new();
    for (point, outcome) in points.iter().zip(outcomes) {
        let Outcome::Done(value) = outcome else { continue };
        if given.is_none() && value["flows"][0]["alone_end_to_end_us"].is_null() {
            continue;
        }
        let Ok(mut summary) = serde_json::from_value::<Summary>(value.clone()) else { continue };
        let group = APART.map(|key| of_key(point, key)).to_vec();
        if given.is_none() && !found.contains_key(&group) {
            found.extend(Baseline::of(&summary, None).map(|baseline| (group.clone(), baseline)));
        }
        if given.or(found.get(&group)).is_some_and(|baseline| baseline.apply(&mut summary, None)) {
            *outcome = Outcome::done(&summary);
        }
    }
}

fn of_key(point: &Point, key: &str) -> String {
    let value = point.iter().find(|(name, _)| name.trim() == key).map(|(_, value)| value);
    value.map(Value::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::metrics::{AloneSummary, FlowSummary, Latency};
    use serde_json::json;

    fn outcome(shared: f64, alone: f64) -> Outcome {
        let flow = FlowSummary {
            name: "a".to_owned(),
            end_to_end_us: Latency { count: 1, mean: shared, ..Latency::default() },
            alone_end_to_end_us: Some(alone),
            slowdown: Some(shared / alone),
            alone: Some(AloneSummary::default()),
            ..FlowSummary::default()
        };
        Outcome::done(&Summary { flows: vec![flow], ..Summary::default() })
    }

    #[test]
    fn points_have_the_times_alone_of_the_first_one_with_their_seed() {
        let point = |scheduler: &str, seed: u64| -> Point {
            vec![("scheduler".into(), json!(scheduler)), ("seed".into(), json!(seed))]
        };
        let points = [point("fcfs", 1), point("fcfs", 2), point("flin", 1), point("flin", 2)];
        let mut outcomes = [
            outcome(400.0, 100.0),
            outcome(400.0, 200.0),
            outcome(300.0, 300.0),
            outcome(300.0, 300.0),
        ];
        share_baseline(&points, &mut outcomes, None);
        let of = |outcome: &Outcome| {
            let Outcome::Done(value) = outcome else { panic!("no summary") };
            let flow = &value["flows"][0];
            (flow["slowdown"].as_f64(), flow["own_slowdown"].as_f64())
        };
        let found: Vec<_> = outcomes.iter().map(of).collect();
        let expected =
            [(Some(4.0), None), (Some(2.0), None), (Some(3.0), Some(1.0)), (Some(1.5), Some(1.0))];
        assert_eq!(found, expected);
        let before = outcomes.clone();
        share_baseline(&points, &mut outcomes, None);
        assert_eq!(outcomes, before, "once more is the same");
    }
}
