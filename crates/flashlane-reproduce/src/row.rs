//! One line of the comparison with a paper.

use serde::Serialize;

/// How our result stands to the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The number within 15 %, or the statement holds.
    Agrees,
    /// The same direction, another size.
    AgreesInShape,
    /// Another direction, or the statement does not hold.
    Disagrees,
    /// Nothing public to compare with.
    NoReference,
}

impl Verdict {
    /// For people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::AgreesInShape => "agrees in shape",
            Self::Disagrees => "disagrees",
            Self::NoReference => "no reference",
        }
    }
}

/// Largest relative difference of numbers that agree.
const TOLERANCE: f64 = 0.15;

/// Closer to the neutral value than this, ours has no direction.
const MARGIN: f64 = 0.02;

/// A number or a statement of a paper beside ours: one entry of `results.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the experiment.
    pub experiment: &'static str,
    /// What is compared.
    pub metric: String,
    /// The paper's number, where it gives one.
    pub paper: Option<f64>,
    /// Ours; absent where it cannot be had.
    pub ours: Option<f64>,
    /// 95 % interval of ours over seeds.
    pub interval: Option<[f64; 2]>,
    /// Unit of both numbers; `x` for ratios.
    pub unit: &'static str,
    /// How they compare.
    pub verdict: Verdict,
    /// The paper's statement, and what to know of ours.
    pub note: String,
}

impl Row {
    /// Compares with a number of the paper; both have the same direction where they lie on the same
    /// side of `neutral` (1 for ratios, 0 for changes), ours by at least 0.02.
    #[must_use]
    pub fn number(
        experiment: &'static str,
        metric: impl Into<String>,
        paper: f64,
        ours: f64,
        neutral: f64,
        unit: &'static str,
        note: impl Into<String>,
    ) -> Self {
        let close = (ours - paper).abs() <= TOLERANCE * paper.abs();
        let differs = (ours - neutral).abs() > MARGIN;
        let same_side = (ours - neutral) * (paper - neutral) > 0.0 && differs;
        let verdict = match (close, same_side) {
            (true, _) => Verdict::Agrees,
            (false, true) => Verdict::AgreesInShape,
            (false, false) => Verdict::Disagrees,
        };
        Self {
            experiment,
            metric: metric.into(),
            paper: Some(paper),
            ours: Some(ours),
            interval: None,
            unit,
            verdict,
            note: note.into(),
        }
    }

    /// Compares with a statement of the paper that gives no number: `holds` for ours or not.
    #[must_use]
    pub fn statement(
        experiment: &'static str,
        metric: impl Into<String>,
        ours: f64,
        holds: bool,
        unit: &'static str,
        note: impl Into<String>,
    ) -> Self {
        Self {
            experiment,
            metric: metric.into(),
            paper: None,
            ours: Some(ours),
            interval: None,
            unit,
            verdict: if holds { Verdict::Agrees } else { Verdict::Disagrees },
            note: note.into(),
        }
    }

    /// A figure of the paper that nothing public can be compared with.
    #[must_use]
    pub fn no_reference(
        experiment: &'static str,
        metric: impl Into<String>,
        paper: Option<f64>,
        ours: Option<f64>,
        unit: &'static str,
        note: impl Into<String>,
    ) -> Self {
        Self {
            experiment,
            metric: metric.into(),
            paper,
            ours,
            interval: None,
            unit,
            verdict: Verdict::NoReference,
            note: note.into(),
        }
    }

    /// Adds the interval of ours over seeds.
    #[must_use]
    pub fn with_interval(mut self, interval: Option<[f64; 2]>) -> Self {
        self.interval = interval;
        self
    }

    /// Takes back an agreement in direction where the interval of ours contains `neutral`: then
    /// there is none.
    #[must_use]
    pub fn beyond_noise(mut self, neutral: f64) -> Self {
        if self.interval.is_some_and(|[low, high]| low <= neutral && neutral <= high) {
            self.verdict = Verdict::Disagrees;
        }
        self
    }

    /// Takes back an agreement that the paper's words bound on one side: ours has to be at least as
    /// far from `neutral` as the paper's number.
    #[must_use]
    pub fn at_least(mut self, neutral: f64) -> Self {
        if let (Some(paper), Some(ours)) = (self.paper, self.ours)
            && (ours - neutral) * (paper - neutral) > 0.0
        {
            let far = (ours - neutral).abs() >= (paper - neutral).abs();
            self.verdict = if far { Verdict::Agrees } else { Verdict::AgreesInShape };
        }
        self
    }
}

/// Mean and 95 % interval (Student's t) of one number over seeds; no interval of a single one.
#[must_use]
pub(crate) fn over_seeds(values: &[f64]) -> (f64, Option<[f64; 2]>) {
    /// Two-sided 95 % quantiles of Student's t for 1, 2, … degrees of freedom.
    const T: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return (mean, None);
    }
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    let t = T.get(values.len() - 2).copied().unwrap_or(1.96);
    let half = t * (variance / n).sqrt();
    (mean, Some([mean - half, mean + half]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(paper: f64, ours: f64, neutral: f64) -> Verdict {
        Row::number("test", "metric", paper, ours, neutral, "x", "").verdict
    }

    #[test]
    fn a_number_agrees_in_size_in_shape_or_not() {
        assert_eq!(verdict(14.4, 13.0, 1.0), Verdict::Agrees);
        assert_eq!(verdict(14.4, 5.0, 1.0), Verdict::AgreesInShape);
        assert_eq!(verdict(14.4, 0.9, 1.0), Verdict::Disagrees);
        assert_eq!(verdict(14.4, 1.01, 1.0), Verdict::Disagrees, "no difference is no agreement");
        assert_eq!(verdict(-0.5, -0.1, 0.0), Verdict::AgreesInShape);
        assert_eq!(verdict(-0.5, 0.1, 0.0), Verdict::Disagrees);
    }

    #[test]
    fn over_half_means_more_than_half() {
        let over = |ours| Row::number("test", "metric", -0.5, ours, 0.0, "x", "").at_least(0.0);
        assert_eq!(over(-0.8).verdict, Verdict::Agrees);
        assert_eq!(over(-0.45).verdict, Verdict::AgreesInShape);
        assert_eq!(over(0.45).verdict, Verdict::Disagrees);
    }

    #[test]
    fn an_interval_around_the_neutral_value_has_no_direction() {
        let row = |interval| {
            Row::number("test", "metric", -0.5, -0.2, 0.0, "x", "").with_interval(interval)
        };
        let verdict = |interval| row(interval).beyond_noise(0.0).verdict;
        assert_eq!(verdict(Some([-0.3, -0.1])), Verdict::AgreesInShape);
        assert_eq!(verdict(Some([-0.5, 0.1])), Verdict::Disagrees);
        assert_eq!(verdict(None), Verdict::AgreesInShape, "a single seed has no interval");
    }

    #[test]
    fn intervals_follow_students_t() {
        let (mean, interval) = over_seeds(&[1.0, 2.0, 3.0]);
        let [low, high] = interval.unwrap();
        assert_eq!(mean, 2.0);
        assert!((high - 2.0 - 4.303 / 3.0_f64.sqrt()).abs() < 1e-9);
        assert!((low + high - 4.0).abs() < 1e-9);
        assert_eq!(over_seeds(&[1.0]), (1.0, None));
    }
}
