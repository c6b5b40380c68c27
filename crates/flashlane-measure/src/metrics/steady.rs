//! Steady state as SNIA measures it: rounds until five in a row agree.
//!
//! A round is a span of simulated time or a number of completed requests. The window is the last
//! five rounds. It is steady when the tracked value ranges over at most 20 % of its mean, and the
//! line of least squares through it over at most 10 %. After 25 rounds the run ends without steady
//! state. Source: SNIA Solid State Storage Performance Test Specification 2.0.2.

use std::collections::VecDeque;

use flashlane_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::recorder::FlowRecord;
use super::window::TimeRange;
pub use crate::rules::{Round, SteadyRule, Tracked};

/// Number of rounds of the window.
pub const WINDOW_ROUNDS: usize = 5;
/// Most rounds of a run.
pub const ROUNDS_MAX: usize = 25;
/// Largest range of the values of the window, as a share of their mean.
pub const RANGE_MAX: f64 = 0.20;
/// Largest range of the line through the values, as a share of their mean.
pub const SLOPE_MAX: f64 = 0.10;

/// A round of a run until steady state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundSummary {
    /// From the beginning of the run. Unit: seconds.
    pub start_s: f64,
    /// End, from the beginning of the run. Unit: seconds.
    pub end_s: f64,
    /// The tracked value.
    pub value: f64,
}

/// Result of a run until steady state, with its plot data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadySummary {
    /// True if both criteria were met.
    pub reached: bool,
    /// The tracked quantity.
    pub tracked: Tracked,
    /// Every round.
    pub rounds: Vec<RoundSummary>,
    /// First round of the window, counted from 0; the window ends with the last round.
    pub window_first: usize,
    /// Mean of the values in the window.
    pub mean: f64,
    /// 90 % and 110 % of the mean.
    pub band: [f64; 2],
    /// Largest less smallest value in the window, as a share of the mean. Allowed: 0.2.
    pub range: f64,
    /// The line of least squares at the first and at the last round of the window.
    pub line: [f64; 2],
    /// The difference of these two values, as a share of the mean. Allowed: 0.1.
    pub slope: f64,
}

/// The two criteria of steady state, over the values of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Criteria {
    mean: f64,
    range: f64,
    line: [f64; 2],
    slope: f64,
}

impl Criteria {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n.max(1.0);
        let centre = (n - 1.0) / 2.0;
        let (mut cross, mut squares) = (0.0, 0.0);
        for (index, value) in values.iter().enumerate() {
            let x = index as f64 - centre;
            cross += x * (value - mean);
            squares += x * x;
        }
        let gradient = if squares > 0.0 { cross / squares } else { 0.0 };
        let line = [mean - gradient * centre, mean + gradient * centre];
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let share = |part: f64| if mean > 0.0 { part / mean } else { 0.0 };
        Self {
            mean,
            range: share(largest - smallest),
            line,
            slope: share((line[1] - line[0]).abs()),
        }
    }

    fn steady(&self) -> bool {
        self.mean > 0.0 && self.range <= RANGE_MAX && self.slope <= SLOPE_MAX
    }
}

/// Watches the rounds of a run.
#[derive(Clone, Debug)]
pub struct Watch {
    rule: SteadyRule,
    rounds: Vec<RoundSummary>,
    /// Records of the last rounds, oldest first.
    records: VecDeque<Vec<FlowRecord>>,
    /// Start of the current round.
    start: Option<Time>,
    /// Starts and ends of the last rounds.
    spans: VecDeque<(Time, Time)>,
    /// True if the last round is over.
    finished: bool,
}

impl Watch {
    /// A watch before the first round.
    #[must_use]
    pub fn new(rule: SteadyRule) -> Self {
        Self {
            rule,
            rounds: Vec::new(),
            records: VecDeque::new(),
            start: None,
            spans: VecDeque::new(),
            finished: false,
        }
    }

    /// True if the last round is over.
    pub(crate) fn finished(&self) -> bool {
        self.finished
    }

    /// Share of the largest number of rounds that is over.
    pub(crate) fn progress(&self) -> f64 {
        self.rounds.len() as f64 / ROUNDS_MAX as f64
    }

    /// End of the current round, if the clock has ended it at `now`.
    pub(crate) fn over_by_time(&mut self, opened: Time, now: Time) -> Option<Time> {
        let start = *self.start.get_or_insert(opened);
        match self.rule.round {
            Round::Time(span) if now.0 >= start.0.saturating_add(span) => {
                Some(Time(start.0.saturating_add(span)))
            }
            _ => None,
        }
    }

    /// End of the round that starts at `start`, if time ends rounds.
    pub(crate) fn next_end(&self, start: Time) -> Option<Time> {
        match self.rule.round {
            Round::Time(span) if !self.finished => Some(Time(start.0.saturating_add(span))),
            _ => None,
        }
    }

    /// True if `completed` requests end the current round.
    pub(crate) fn over_by_count(&self, completed: u64) -> bool {
        matches!(self.rule.round, Round::Requests(count) if completed >= count)
    }

    /// Ends the current round at `end`; its records go to the window.
    pub(crate) fn close(&mut self, end: Time, records: Vec<FlowRecord>) {
        let start = self.start.replace(end).unwrap_or(end);
        let sum = |of: &dyn Fn(&FlowRecord) -> u64| records.iter().map(of).sum::<u64>() as f64;
        let completed = sum(&FlowRecord::completed);
        let seconds = (end - start).as_s();
        let rate = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let value = match self.rule.tracked {
            Tracked::Iops => rate(completed),
            Tracked::Bandwidth => rate(sum(&|f| f.bytes.read + f.bytes.write)),
            Tracked::Latency => {
                let all: f64 = {
                    let responses = records.iter().map(FlowRecord::response);
                    responses.map(|r| r.mean_us() * r.count() as f64).sum()
                };
                if completed > 0.0 { all / completed } else { 0.0 }
            }
        };
        self.rounds.push(RoundSummary { start_s: start.as_s(), end_s: end.as_s(), value });
        self.records.push_back(records);
        self.spans.push_back((start, end));
        if self.records.len() > WINDOW_ROUNDS {
            self.records.pop_front();
            self.spans.pop_front();
        }
        self.finished = self.reached() || self.rounds.len() == ROUNDS_MAX;
    }

    fn window(&self) -> Criteria {
        let first = self.rounds.len().saturating_sub(WINDOW_ROUNDS);
        let values: Vec<f64> = self.rounds[first..].iter().map(|round| round.value).collect();
        Criteria::of(&values)
    }

    fn reached(&self) -> bool {
        self.rounds.len() >= WINDOW_ROUNDS && self.window().steady()
    }

    /// Start and end of the window.
    pub(crate) fn span(&self) -> Option<TimeRange> {
        Some(TimeRange { from: self.spans.front()?.0, to: self.spans.back()?.1 })
    }

    /// All records of the window together.
    pub(crate) fn take_records(&mut self) -> Option<Vec<FlowRecord>> {
        let mut all = self.records.pop_front()?;
        for round in self.records.drain(..) {
            for (sum, flow) in all.iter_mut().zip(&round) {
                sum.add(flow);
            }
        }
        Some(all)
    }

    /// What to report.
    pub(crate) fn summary(&self) -> SteadySummary {
        let Criteria { mean, range, line, slope } = self.window();
        SteadySummary {
            reached: self.reached(),
            tracked: self.rule.tracked,
            rounds: self.rounds.clone(),
            window_first: self.rounds.len().saturating_sub(WINDOW_ROUNDS),
            mean,
            band: [0.9 * mean, 1.1 * mean],
            range,
            line,
            slope,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_criteria_have_to_hold() {
        let flat = Criteria::of(&[100.0, 104.0, 98.0, 101.0, 99.0]);
        assert!(flat.steady());
        assert!((flat.mean - 100.4).abs() < 1e-9);
        assert!((flat.range - 6.0 / 100.4).abs() < 1e-9);
        // Hand computed: gradient (-200 - 104 + 101 + 198) / 10 = -0.5.
        assert!((flat.slope - 2.0 / 100.4).abs() < 1e-9);
        assert!((flat.line[0] - 101.4).abs() < 1e-9);
        // Range 16 % and no slope; the same range as a slope of 16 %; range 24 % without slope.
        assert!(Criteria::of(&[92.0, 108.0, 100.0, 108.0, 92.0]).steady());
        assert!(!Criteria::of(&[92.0, 96.0, 100.0, 104.0, 108.0]).steady());
        assert!(!Criteria::of(&[88.0, 112.0, 100.0, 112.0, 88.0]).steady());
        assert!(!Criteria::of(&[0.0; 5]).steady(), "nothing is no steady state");
    }
}
