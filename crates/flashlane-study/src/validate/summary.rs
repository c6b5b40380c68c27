//! What the errors come to.

use flashlane_fit::curves::Role;
use serde::Serialize;

use super::{Kind, Point, is_uniform};

/// Smallest measured effect of a pattern whose sign counts. Unit: share.
const SMALLEST_EFFECT: f64 = 0.02;

/// Errors of the points of a drive and a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// The drive; `None` for all of them.
    pub drive: Option<String>,
    /// What the points are about.
    pub kind: Kind,
    /// Whether the presets were fitted to them.
    pub role: Role,
    /// Number of points.
    pub points: usize,
    /// Median of the sizes of the errors.
    pub median: f64,
    /// 90th percentile of the sizes of the errors.
    pub p90: f64,
}

impl Errors {
    /// Heads of the columns of [`Errors::row`].
    pub const HEADS: [&str; 6] =
        ["drive", "kind", "role", "points", "median error", "90th percentile"];

    /// The cells of a table, for people.
    #[must_use]
    pub fn row(&self) -> Vec<String> {
        vec![
            self.drive.clone().unwrap_or_else(|| "all".to_owned()),
            self.kind.name().to_owned(),
            self.role.name().to_owned(),
            self.points.to_string(),
            format!("{:.1} %", 100.0 * self.median),
            format!("{:.1} %", 100.0 * self.p90),
        ]
    }
}

/// An error for people: with its sign, in percent.
#[must_use]
pub fn percent(error: f64) -> String {
    format!("{:+.1} %", 100.0 * error)
}

/// The errors by kind and role: first of each drive, then of all.
#[must_use]
pub fn summary(points: &[Point]) -> Vec<Errors> {
    let mut drives: Vec<Option<&str>> = Vec::new();
    for point in points {
        if !drives.contains(&Some(&point.drive)) {
            drives.push(Some(&point.drive));
        }
    }
    if drives.len() > 1 {
        drives.push(None);
    }
    let mut all = Vec::new();
    for drive in drives {
        for kind in Kind::ALL {
            for role in [Role::Fitted, Role::Predicted] {
                let of = |point: &&Point| {
                    drive.is_none_or(|drive| point.drive == drive)
                        && (point.kind, point.role) == (kind, role)
                };
                let mut sizes: Vec<f64> =
                    points.iter().filter(of).map(|point| point.error.abs()).collect();
                sizes.sort_by(f64::total_cmp);
                if let Some((median, p90)) = quantile(&sizes, 0.5).zip(quantile(&sizes, 0.9)) {
                    let drive = drive.map(str::to_owned);
                    all.push(Errors { drive, kind, role, points: sizes.len(), median, p90 });
                }
            }
        }
    }
    all
}

/// The smallest value that a share of the values does not exceed.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// Effects of patterns, compared with uniform writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Signs {
    /// Patterns whose measured effect is 2 % or more.
    pub effects: usize,
    /// Names of the patterns whose effect has the other sign here.
    pub wrong: Vec<String>,
}

/// The signs of the effects of patterns on amplification and rates of writes.
#[must_use]
pub fn signs(points: &[Point]) -> Signs {
    let mut signs = Signs::default();
    for point in points.iter().filter(|point| matches!(point.kind, Kind::Waf | Kind::WriteRate)) {
        let reference = points.iter().find(|other| {
            (other.kind, &other.drive) == (point.kind, &point.drive) && is_uniform(&other.figure)
        });
        let Some(reference) =
            reference.filter(|other| other.figure.pattern != point.figure.pattern)
        else {
            continue;
        };
        let (measured, ours) =
            (point.measured / reference.measured - 1.0, point.ours / reference.ours - 1.0);
        if measured.abs() >= SMALLEST_EFFECT {
            signs.effects += 1;
            if measured * ours <= 0.0 {
                signs.wrong.push(format!("{} {}", point.drive, point.point));
            }
        }
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::super::{Fact, point};
    use super::*;
    use flashlane_fit::curves::{Figure, Metric, Operation, Pattern};

    fn of(pattern: Pattern, measured: f64, ours: f64) -> Point {
        let figure = Figure::of(Operation::Write, pattern, Metric::Waf, measured);
        point(&Fact { drive: "tiny".to_owned(), kind: Kind::Waf, figure }, ours)
    }

    #[test]
    fn errors_and_signs_are_counted() {
        let points = [
            of(Pattern::Random, 2.0, 2.0),
            of(Pattern::Zipf(0.2), 2.02, 1.9),
            of(Pattern::Zipf(0.8), 2.2, 2.1),
            of(Pattern::Zipf(1.0), 2.4, 1.9),
        ];
        let signs = signs(&points);
        assert_eq!(signs.effects, 2, "1 % is no effect");
        assert_eq!(signs.wrong.len(), 1);
        assert!(signs.wrong[0].contains("zipf:1"), "{signs:?}");
        let [errors] = &summary(&points)[..] else { panic!("one drive, one kind, one role") };
        assert_eq!((errors.points, errors.drive.as_deref()), (4, Some("tiny")));
        assert!((errors.median - 0.045).abs() < 0.001, "{errors:?}");
        assert!((errors.p90 - 0.208).abs() < 0.001, "{errors:?}");
    }

    #[test]
    fn quantiles_are_values_of_the_list() {
        let sorted: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!((quantile(&sorted, 0.5), quantile(&sorted, 0.9)), (Some(5.0), Some(9.0)));
        assert_eq!((quantile(&[3.0], 0.9), quantile(&[], 0.5)), (Some(3.0), None));
    }
}
