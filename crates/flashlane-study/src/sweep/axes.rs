//! Makes the points of a grid: every combination of the axes, or a sample of the space that they
//! span.

use flashlane_engine::Rng;
use serde_json::Value;

/// A point: its keys and values, in the order of the axes.
pub type Point = Vec<(String, Value)>;

/// An axis of the grid.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    /// The key of the axis: a key of the device or workload as in `--set`, a policy, or an option
    /// of the command line.
    pub(super) key: String,
    /// The values of the axis.
    pub(super) values: Values,
}

/// The values of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    /// The listed values.
    List(Vec<Value>),
    /// Every value between two numbers.
    Range(Range),
}

/// The numbers from one bound to another, both included.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Range {
    /// The smallest number.
    pub(super) from: f64,
    /// The largest number.
    pub(super) to: f64,
    /// The unit written after the number: `"us"` gives `"12us"`. Without a unit the value is a
    /// number.
    pub(super) unit: String,
    /// True if equal steps are equal factors. False if they are equal differences.
    pub(super) log: bool,
    /// True if only whole numbers are allowed.
    pub(super) whole: bool,
    /// The number of values that a grid takes from the range.
    pub(super) steps: Option<u32>,
}

impl Range {
    /// The value at `place`, from 0 for the smallest to 1 for the largest.
    fn at(&self, place: f64) -> Value {
        let number = match self.log {
            true => self.from * libm::pow(self.to / self.from, place),
            false => self.from + (self.to - self.from) * place,
        };
        let number = number.clamp(self.from, self.to);
        match (self.whole, self.unit.is_empty()) {
            (true, true) => Value::from(libm::round(number) as i64),
            (false, true) => Value::from(number),
            (true, false) => Value::String(format!("{:.0}{}", libm::round(number), self.unit)),
            (false, false) => Value::String(format!("{number}{}", self.unit)),
        }
    }

    /// The values of a grid in ascending order, each once.
    fn steps(&self) -> Vec<Value> {
        let steps = self.steps.unwrap_or(1).max(1);
        let last = f64::from(steps - 1).max(1.0);
        let mut values: Vec<Value> =
            (0..steps).map(|step| self.at(f64::from(step) / last)).collect();
        values.dedup();
        values
    }
}

impl Values {
    fn listed(&self) -> Vec<Value> {
        match self {
            Self::List(values) => values.clone(),
            Self::Range(range) => range.steps(),
        }
    }

    /// The value at `place`. Range: 0 to below 1.
    fn at(&self, place: f64) -> Value {
        match self {
            Self::List(values) => {
                let index = (place * values.len() as f64) as usize;
                values[index.min(values.len() - 1)].clone()
            }
            // Each whole number gets an equal share, so 0 to below 1 stands for `from - 0.5` to `to
            // + 0.5`.
            Self::Range(range) if range.whole && !range.log => {
                let count = range.to - range.from + 1.0;
                let step = libm::floor(place * count).min(count - 1.0);
                let last = (count - 1.0).max(1.0);
                range.at(step / last)
            }
            Self::Range(range) => range.at(place),
        }
    }
}

/// How points are drawn from the space of the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Points are drawn independently.
    Random,
    /// Every axis is divided into as many equal parts as there are points, and each part holds one
    /// point. Source: McKay, Beckman and Conover (Technometrics 1979).
    LatinHypercube,
}

/// A sample of the space of the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// How the points are drawn.
    pub(super) method: Method,
    /// The number of points.
    pub(super) points: u32,
    /// The seed of the draws.
    pub(super) seed: u64,
}

/// Further axes for the points that match a condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct When {
    /// Keys with one value or a list of values. A point matches if it has a listed value for every
    /// key.
    pub(super) matches: Point,
    /// The axes.
    pub(super) axes: Vec<Axis>,
}

/// The number of values that a grid takes from an axis.
pub(super) fn count(axis: &Axis) -> usize {
    match &axis.values {
        Values::List(values) => values.len(),
        Values::Range(range) => range.steps.map_or(1, |steps| steps as usize),
    }
}

/// Every combination of the axes. The last axis varies fastest.
pub(super) fn grid(axes: &[Axis]) -> Vec<Point> {
    axes.iter().fold(vec![Vec::new()], |points, axis| {
        let values = axis.values.listed();
        let with = |point: Point| {
            let add = |value: &Value| {
                let mut point = point.clone();
                point.push((axis.key.clone(), value.clone()));
                point
            };
            values.iter().map(add).collect::<Vec<_>>()
        };
        points.into_iter().flat_map(with).collect()
    })
}

/// Draws a sample of the space.
pub(super) fn sample(axes: &[Axis], sample: Sample) -> Vec<Point> {
    let count = sample.points as usize;
    let columns: Vec<Vec<Value>> = (0..)
        .zip(axes)
        .map(|(index, axis)| {
            let mut random = Rng::stream(sample.seed, "axis", index);
            let mut parts: Vec<usize> = (0..count).collect();
            for last in (1..count).rev() {
                parts.swap(last, random.below(last as u64 + 1) as usize);
            }
            let mut place = |part: usize| match sample.method {
                Method::Random => random.unit(),
                Method::LatinHypercube => (part as f64 + random.unit()) / count as f64,
            };
            parts.into_iter().map(|part| axis.values.at(place(part))).collect()
        })
        .collect();
    let point = |index: usize| {
        axes.iter()
            .zip(&columns)
            .map(move |(axis, column)| (axis.key.clone(), column[index].clone()))
    };
    (0..count).map(|index| point(index).collect()).collect()
}

/// True if a point has all of these values. A list stands for any one of its values.
pub(super) fn matches(point: &Point, wanted: &Point) -> bool {
    wanted.iter().all(|(key, wanted)| {
        let found = point.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        found.is_some_and(|found| {
            let among = wanted.as_array().is_some_and(|list| list.contains(found));
            found == wanted || among
        })
    })
}

/// Multiplies the points that match the condition by the further axes.
pub(super) fn extend(points: Vec<Point>, when: &When) -> Vec<Point> {
    let more = grid(&when.axes);
    let each = |point: Point| match matches(&point, &when.matches) {
        false => vec![point],
        true => more.iter().map(|add| [point.clone(), add.clone()].concat()).collect(),
    };
    points.into_iter().flat_map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn list(key: &str, values: &[i64]) -> Axis {
        let values = values.iter().map(|&value| Value::from(value)).collect();
        Axis { key: key.to_owned(), values: Values::List(values) }
    }

    fn range(from: f64, to: f64) -> Range {
        Range { from, to, unit: String::new(), log: false, whole: false, steps: None }
    }

    fn numbers(points: &[Point], key: &str) -> Vec<i64> {
        let of = |point: &Point| {
            let found = point.iter().find(|(name, _)| name == key);
            found.map_or(-1, |(_, value)| value.as_i64().expect("a number"))
        };
        points.iter().map(of).collect()
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let points = grid(&[list("a", &[1, 2]), list("b", &[3, 4, 5])]);
        assert_eq!(numbers(&points, "a"), [1, 1, 1, 2, 2, 2]);
        assert_eq!(numbers(&points, "b"), [3, 4, 5, 3, 4, 5]);
        assert_eq!(grid(&[]), [Vec::new()]);
    }

    #[test]
    fn ranges_have_steps_units_and_logarithms() {
        let steps = |range: Range| range.steps();
        let whole = Range { whole: true, steps: Some(4), ..range(1.0, 8.0) };
        assert_eq!(steps(Range { log: true, ..whole.clone() }), [1, 2, 4, 8].map(Value::from));
        assert_eq!(steps(Range { to: 2.0, ..whole }), [1, 2].map(Value::from), "each once");
        let unit = Range { unit: "us".into(), steps: Some(3), ..range(10.0, 15.0) };
        assert_eq!(steps(unit), ["10us", "12.5us", "15us"].map(|text| Value::String(text.into())));
        assert_eq!(steps(Range { steps: Some(1), ..range(0.5, 2.0) }), [Value::from(0.5)]);
    }

    #[test]
    fn a_latin_hypercube_has_a_point_in_every_part_of_every_axis() {
        let whole = Range { whole: true, ..range(1.0, 20.0) };
        let axes = [
            Axis { key: "a".into(), values: Values::Range(whole.clone()) },
            Axis { key: "b".into(), values: Values::Range(range(0.0, 1.0)) },
            list("c", &[7, 8]),
        ];
        let of = |method, seed| sample(&axes, Sample { method, points: 20, seed });
        let points = of(Method::LatinHypercube, 1);
        let distinct: BTreeSet<i64> = numbers(&points, "a").into_iter().collect();
        assert_eq!(distinct.len(), 20, "each of twenty numbers once");
        let parts: BTreeSet<i64> = points
            .iter()
            .map(|point| (point[1].1.as_f64().expect("given") * 20.0) as i64)
            .collect();
        assert_eq!(parts.len(), 20);
        assert_eq!(numbers(&points, "c").iter().filter(|&&value| value == 7).count(), 10);
        assert_eq!(of(Method::LatinHypercube, 1), points, "the seed decides");
        assert_ne!(of(Method::LatinHypercube, 2), points);
        let random: BTreeSet<i64> = numbers(&of(Method::Random, 1), "a").into_iter().collect();
        assert!(random.len() < 20 && random.iter().all(|value| (1..=20).contains(value)));
    }

    #[test]
    fn conditions_add_axes_and_leave_points_out() {
        let points = grid(&[list("a", &[1, 2, 3])]);
        let wanted = |values: &[i64]| {
            let list = values.iter().map(|&value| Value::from(value)).collect();
            vec![("a".to_owned(), Value::Array(list))]
        };
        let when = When { matches: wanted(&[2, 3]), axes: vec![list("b", &[5, 6])] };
        let points = extend(points, &when);
        assert_eq!(numbers(&points, "a"), [1, 2, 2, 3, 3]);
        assert_eq!(numbers(&points, "b"), [-1, 5, 6, 5, 6]);
        let left: Vec<_> = points.iter().filter(|point| matches(point, &wanted(&[1]))).collect();
        assert_eq!(left.len(), 1);
        assert!(!matches(&points[0], &vec![("b".to_owned(), Value::from(5))]), "it has no b");
    }
}
