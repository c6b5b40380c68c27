//! One line of the comparison with a paper.

use serde::Serialize;

/// How our result stands to the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The number is within 15 %, or the statement holds in the whole interval over seeds.
    Agrees,
    /// The direction is the paper's, and the number is within a factor of three of the printed one.
    SameDirection,
    /// The direction is the paper's, but the number is more than a factor of three away.
    OtherMagnitude,
    /// Another direction, no direction beyond noise, or the statement does not hold.
    Disagrees,
    /// The statement holds only because what it speaks of has no effect in ours.
    NoEffect,
    /// Nothing public to compare with.
    NoReference,
}

impl Verdict {
    /// All of them, from best to worst.
    pub const ALL: [Self; 6] = [
        Self::Agrees,
        Self::SameDirection,
        Self::OtherMagnitude,
        Self::Disagrees,
        Self::NoEffect,
        Self::NoReference,
    ];

    /// For people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::SameDirection => "same direction",
            Self::OtherMagnitude => "other magnitude",
            Self::Disagrees => "disagrees",
            Self::NoEffect => "no effect",
            Self::NoReference => "no reference",
        }
    }
}

/// Who says what a row compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The paper: the row belongs to `results.json`.
    Paper,
    /// We do: the row is a check of our own and belongs to `checks.json`.
    Own,
}

/// The values for which a statement holds; its ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// This value or a larger one.
    AtLeast(f64),
    /// This value or a smaller one.
    AtMost(f64),
    /// From the first value to the second.
    Between(f64, f64),
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(low) => value >= low,
            Self::AtMost(high) => value <= high,
            Self::Between(low, high) => (low..=high).contains(&value),
        }
    }

    /// For people.
    fn text(self) -> String {
        // Four figures; products of round numbers have more.
        let short = |value: f64| format!("{value:.3e}").parse::<f64>().unwrap_or(value);
        match self {
            Self::AtLeast(low) => format!("at least {}", short(low)),
            Self::AtMost(high) => format!("at most {}", short(high)),
            Self::Between(low, high) => format!("{} to {}", short(low), short(high)),
        }
    }
}

/// Largest relative difference of numbers that agree.
const TOLERANCE: f64 = 0.15;

/// Closer to the neutral value than this, ours has no direction.
const MARGIN: f64 = 0.02;

/// A ratio closer to 1 than this is no effect.
const LEAST_EFFECT: f64 = 1.001;

/// Largest factor between the paper's printed number and ours for the same direction.
const FACTOR: f64 = 3.0;

/// A number or a statement of a paper beside ours: one entry of `results.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the experiment.
    pub experiment: &'static str,
    /// The quantity that is compared.
    pub metric: String,
    /// The paper's number, where it gives one.
    pub paper: Option<f64>,
    /// Ours: the mean over seeds. Absent where it cannot be had.
    pub ours: Option<f64>,
    /// 95 % interval of ours over seeds.
    pub interval: Option<[f64; 2]>,
    /// Unit of both numbers; `x` for ratios.
    pub unit: &'static str,
    /// How they compare.
    pub verdict: Verdict,
    /// The paper's statement, and what to know of ours.
    pub note: String,
    /// Who says what ours is compared with.
    #[serde(skip)]
    pub reference: Reference,
}

impl Row {
    /// Compares one run with a number of the paper. Both have the same direction where they lie on
    /// the same side of `neutral` (1 for ratios, 0 for changes), ours by at least 0.02.
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
        Self::number_over_seeds(experiment, metric, paper, &[ours], neutral, unit, note)
    }

    /// Compares the mean over seeds with a number of the paper. Where the interval over seeds
    /// contains `neutral`, ours has no direction beyond noise, and the row disagrees.
    #[must_use]
    pub fn number_over_seeds(
        experiment: &'static str,
        metric: impl Into<String>,
        paper: f64,
        values: &[f64],
        neutral: f64,
        unit: &'static str,
        note: impl Into<String>,
    ) -> Self {
        let (ours, interval) = over_seeds(values);
        Self {
            experiment,
            metric: metric.into(),
            paper: Some(paper),
            ours: Some(ours),
            interval,
            unit,
            verdict: of_number(paper, ours, neutral),
            note: note.into(),
            reference: Reference::Paper,
        }
        .beyond_noise(neutral)
    }

    /// Compares one run with a statement of the paper that gives no number; `holds`: ours keeps it.
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
            reference: Reference::Paper,
        }
    }

    /// Compares several seeds with a statement of the paper that gives no number. It holds where
    /// the whole interval over seeds lies within `bound`, the values that we read into its words;
    /// the note says which these are.
    #[must_use]
    pub fn statement_over_seeds(
        experiment: &'static str,
        metric: impl Into<String>,
        values: &[f64],
        bound: Bound,
        unit: &'static str,
        note: impl Into<String>,
    ) -> Self {
        let note = bounded(note.into(), "read as", bound);
        Self::within(experiment, metric, values, bound, unit, note)
    }

    /// A check of our own, which the paper does not state: `agrees` where the whole interval over
    /// seeds lies within `bound`.
    #[must_use]
    pub fn check_over_seeds(
        experiment: &'static str,
        metric: impl Into<String>,
        values: &[f64],
        bound: Bound,
        unit: &'static str,
        note: impl Into<String>,
    ) -> Self {
        let note = bounded(note.into(), "allowed", bound);
        let row = Self::within(experiment, metric, values, bound, unit, note);
        Self { reference: Reference::Own, ..row }
    }

    /// Agrees where the whole interval over seeds lies within `bound`.
    fn within(
        experiment: &'static str,
        metric: impl Into<String>,
        values: &[f64],
        bound: Bound,
        unit: &'static str,
        note: String,
    ) -> Self {
        let (ours, interval) = over_seeds(values);
        let [low, high] = interval.unwrap_or([ours, ours]);
        let holds = bound.holds(low) && bound.holds(high);
        Self::statement(experiment, metric, ours, holds, unit, note).with_interval(interval)
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
            reference: Reference::Paper,
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

    /// Takes back an agreement where what the row speaks of has no effect. `effect`: by how much it
    /// changes ours at most, as a ratio of at least 1.
    #[must_use]
    pub fn if_effective(mut self, effect: f64) -> Self {
        if self.verdict == Verdict::Agrees && effect < LEAST_EFFECT {
            self.verdict = Verdict::NoEffect;
        }
        self
    }

    /// For a number that the paper's words bound on one side ("over half"): ours agrees where it is
    /// at least as far from `neutral` as the paper's, and within a factor of three of it. Does
    /// nothing to a row that disagrees.
    #[must_use]
    pub fn at_least(mut self, neutral: f64) -> Self {
        if let (Some(paper), Some(ours)) = (self.paper, self.ours) {
            let far = (ours - neutral).abs() >= (paper - neutral).abs();
            self.verdict = match self.verdict {
                Verdict::SameDirection if far => Verdict::Agrees,
                Verdict::Agrees if !far => Verdict::SameDirection,
                verdict => verdict,
            };
        }
        self
    }
}

/// A note and the bound that it is judged by.
fn bounded(note: String, word: &str, bound: Bound) -> String {
    let gap = if note.is_empty() { "" } else { "; " };
    format!("{note}{gap}{word}: {}", bound.text())
}

/// How two numbers compare. The factor is that of the numbers as they are printed: of the
/// percentages for changes, of the ratios for ratios.
fn of_number(paper: f64, ours: f64, neutral: f64) -> Verdict {
    let differs = (ours - neutral).abs() > MARGIN;
    let same_side = (ours - neutral) * (paper - neutral) > 0.0 && differs;
    let factor = ours / paper;
    if (ours - paper).abs() <= TOLERANCE * paper.abs() {
        Verdict::Agrees
    } else if !same_side {
        Verdict::Disagrees
    } else if (1.0 / FACTOR..=FACTOR).contains(&factor) {
        Verdict::SameDirection
    } else {
        Verdict::OtherMagnitude
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
    fn a_number_agrees_in_size_in_direction_or_not() {
        assert_eq!(verdict(14.4, 13.0, 1.0), Verdict::Agrees);
        assert_eq!(verdict(14.4, 5.0, 1.0), Verdict::SameDirection);
        assert_eq!(verdict(14.4, 4.7, 1.0), Verdict::OtherMagnitude, "a factor of 3.06");
        assert_eq!(verdict(14.4, 44.0, 1.0), Verdict::OtherMagnitude, "too large, too");
        assert_eq!(verdict(14.4, 0.9, 1.0), Verdict::Disagrees);
        assert_eq!(verdict(14.4, 1.01, 1.0), Verdict::Disagrees, "no difference is no agreement");
        assert_eq!(verdict(-0.5, -0.17, 0.0), Verdict::SameDirection);
        assert_eq!(verdict(-0.5, -0.1, 0.0), Verdict::OtherMagnitude, "the percentages count");
        assert_eq!(verdict(-0.5, 0.1, 0.0), Verdict::Disagrees);
    }

    #[test]
    fn a_small_rise_of_the_paper_bounds_ours_from_above() {
        assert_eq!(verdict(0.176, 0.69, 0.0), Verdict::OtherMagnitude);
        assert_eq!(verdict(0.176, 0.4, 0.0), Verdict::SameDirection);
        assert_eq!(verdict(0.176, 0.19, 0.0), Verdict::Agrees);
    }

    #[test]
    fn over_half_means_more_than_half_but_not_by_any_factor() {
        let over = |ours| Row::number("test", "metric", -0.2, ours, 0.0, "x", "").at_least(0.0);
        assert_eq!(over(-0.5).verdict, Verdict::Agrees);
        assert_eq!(over(-0.61).verdict, Verdict::OtherMagnitude);
        assert_eq!(over(-0.19).verdict, Verdict::SameDirection);
        assert_eq!(over(0.19).verdict, Verdict::Disagrees);
    }

    #[test]
    fn an_interval_around_the_neutral_value_has_no_direction() {
        let verdict = |values: &[f64]| {
            Row::number_over_seeds("test", "metric", -0.5, values, 0.0, "change", "").verdict
        };
        assert_eq!(verdict(&[-0.21, -0.2, -0.19]), Verdict::SameDirection);
        assert_eq!(verdict(&[-0.5, -0.2, 0.1]), Verdict::Disagrees);
        assert_eq!(
            verdict(&[-1.5, -0.5, 0.5]),
            Verdict::Disagrees,
            "though the mean is the paper's"
        );
        assert_eq!(verdict(&[-0.2]), Verdict::SameDirection, "a single seed has no interval");
    }

    #[test]
    fn a_statement_holds_in_the_whole_interval() {
        let row = |values: &[f64], bound| {
            Row::statement_over_seeds("test", "metric", values, bound, "x", "words")
        };
        assert_eq!(row(&[2.0, 2.1, 2.2], Bound::AtLeast(1.5)).verdict, Verdict::Agrees);
        assert_eq!(row(&[1.6, 2.1, 2.6], Bound::AtLeast(1.5)).verdict, Verdict::Disagrees);
        assert_eq!(row(&[2.0, 2.1, 2.2], Bound::AtMost(2.15)).verdict, Verdict::Disagrees);
        assert_eq!(row(&[2.0, 2.1, 2.2], Bound::Between(1.5, 2.5)).verdict, Verdict::Agrees);
        assert_eq!(row(&[2.0], Bound::AtLeast(1.5)).note, "words; read as: at least 1.5");
    }

    #[test]
    fn what_has_no_effect_agrees_with_nothing() {
        let row = |value, effect| {
            let bound = Bound::AtLeast(0.9);
            Row::statement_over_seeds("test", "m", &[value], bound, "x", "").if_effective(effect)
        };
        assert_eq!(row(1.0, 1.0).verdict, Verdict::NoEffect);
        assert_eq!(row(0.99, 1.01).verdict, Verdict::Agrees);
        assert_eq!(row(0.5, 1.0).verdict, Verdict::Disagrees, "what fails, fails");
    }

    #[test]
    fn checks_of_our_own_are_no_comparison_with_a_paper() {
        let check = Row::check_over_seeds("test", "m", &[1.0], Bound::AtMost(2.0), "x", "");
        assert_eq!(check.reference, Reference::Own);
        assert_eq!(check.verdict, Verdict::Agrees);
        let of_paper = Row::number("test", "m", 1.0, 1.0, 0.0, "x", "");
        assert_eq!(of_paper.reference, Reference::Paper);
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
