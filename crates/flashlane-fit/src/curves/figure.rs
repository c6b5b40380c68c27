//! A published figure of a drive.

use std::fmt;
use std::str::FromStr;

use flashlane::Error;
use flashlane::config::units::ByteSize;
use serde::{Deserialize, Serialize};

use super::hosted::Host;
use super::neighbours::Neighbours;
use super::pattern::Pattern;
use super::run::Outcome;

/// Operation of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

/// The measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Mean response time. Unit: microseconds.
    MeanUs,
    /// The response time that half of the requests do not exceed. Unit: microseconds.
    P50Us,
    /// As `p50_us`, of 90 % of the requests.
    P90Us,
    /// As `p50_us`, of 99 % of the requests.
    P99Us,
    /// As `p50_us`, of 99.9 % of the requests.
    P999Us,
    /// As `p50_us`, of 99.99 % of the requests.
    P9999Us,
    /// As `p50_us`, of 99.999 % of the requests.
    P99999Us,
    /// Thousand requests per second.
    Kiops,
    /// Rate. Unit: gigabytes (10^9) per second.
    GbPerS,
    /// Rate. Unit: megabytes (10^6) per second.
    MbPerS,
    /// Write amplification: bytes programmed over bytes that the host wrote.
    Waf,
    /// Rate of a fill or of a phase of it. Unit: megabytes (10^6) per second.
    FillMbPerS,
    /// Data that is written when a phase of a fill ends. Unit: gigabytes (10^9).
    FillGb,
    /// Mean response time beside neighbours over that without them.
    Slowdown,
}

/// The state of the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As new, with nothing to collect.
    #[default]
    Fresh,
    /// After so many writes that the rate no longer changes.
    Sustained,
}

/// Use of the figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The device is fitted to it.
    #[default]
    Fitted,
    /// The figure is held back from the fit, and the result is compared with it.
    Predicted,
}

impl Role {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fitted => "fitted",
            Self::Predicted => "predicted",
        }
    }
}

/// Requests at a rate, whether the drive keeps up or not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Load {
    /// Reads and writes. Unit: requests per second.
    pub iops: f64,
    /// Share of writes among them. Range: 0..=1.
    pub write_share: f64,
}

/// Times that the space in use is written in a run of amplification, if a table does not say so.
pub const USUAL_WRITTEN: f64 = 5.0;

/// Length of a run on the measured drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lasted {
    /// How many times the drive could write the space in use in sequence meanwhile.
    pub rounds: f64,
    /// How many writes of the host a copy of collection costs.
    pub copy: f64,
}

/// A phase of a fill: writes at one speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Phase {
    /// Which one it is, from 1 on.
    pub number: u32,
    /// Number of phases of the fill.
    pub of: u32,
}

impl FromStr for Phase {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Some(Self { number: number.parse().ok()?, of: of.parse().ok()? })
        });
        let right =
            |phase: &Self| phase.of <= MOST_PHASES && (1..=phase.of).contains(&phase.number);
        numbers.filter(right).ok_or_else(|| {
            format!("found {text}, allowed: 2/3 for the second of three, {MOST_PHASES} at most")
        })
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.number, self.of)
    }
}

/// Most phases of a fill.
const MOST_PHASES: u32 = 5;

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Operation of the requests.
    pub operation: Operation,
    /// Addresses of the requests.
    pub pattern: Pattern,
    /// Size of the requests.
    pub size: ByteSize,
    /// Number of outstanding requests. Range: 1..=65535.
    pub depth: u32,
    /// An open loop of reads and writes, instead of a number of outstanding requests.
    pub load: Option<Load>,
    /// The host whose software the measured figure contains; without one, the drive alone.
    pub host: Option<Host>,
    /// Other jobs of the same host; without any, the figure is about all jobs of one drive.
    pub neighbours: Option<Neighbours>,
    /// The phase of a fill that the figure is about; `None` for the whole fill.
    pub phase: Option<Phase>,
    /// Share of the drive that is in use. Range: above 0, 1 at most.
    pub used: f64,
    /// Length of the run: how many times the space in use is written at random, after it was filled
    /// in sequence. Only for amplification.
    pub written: f64,
    /// Length of the run by time, in place of `written`.
    pub lasted: Option<Lasted>,
    /// The measured quantity.
    pub metric: Metric,
    /// The figure, in the unit of the metric. Range: above 0.
    pub value: f64,
    /// Relative error of the figure: 0.03 for 3 %.
    pub sigma: f64,
    /// The state of the drive.
    pub state: State,
    /// Use of the figure.
    pub role: Role,
    /// Source of the figure; may be empty.
    pub source: String,
}

impl Figure {
    /// A figure of a closed loop of a whole drive as new, for 4 KiB at depth 1.
    #[must_use]
    pub fn of(operation: Operation, pattern: Pattern, metric: Metric, value: f64) -> Self {
        Self {
            operation,
            pattern,
            size: ByteSize(4096),
            depth: 1,
            load: None,
            host: None,
            neighbours: None,
            phase: None,
            used: 1.0,
            written: USUAL_WRITTEN,
            lasted: None,
            metric,
            value,
            sigma: super::table::USUAL_SIGMA,
            state: State::Fresh,
            role: Role::Fitted,
            source: String::new(),
        }
    }

    /// Simulates a device (a preset, or a file with some keys set) and returns its value of the
    /// figure.
    ///
    /// `effort` scales the number of requests; 1 is enough to compare with published figures.
    ///
    /// A fresh drive is empty, and a read of an empty page costs a flash read, so that no drive has
    /// to be filled first. A drive in its sustained state has fewer and smaller blocks than its
    /// file says, so that it reaches that state soon. Amplification comes from a run without time.
    ///
    /// # Errors
    /// A device that does not load, or that the simulation refuses.
    pub fn measure(&self, device: &str, sets: &[String], effort: f64) -> Result<f64, Error> {
        Ok(Outcome::of(self, device, sets, effort)?.value(self))
    }

    /// True if one run gives this figure and `other`.
    #[must_use]
    pub fn shares_run(&self, other: &Self) -> bool {
        let kind = |figure: &Self| (figure.metric == Metric::Waf, figure.metric.is_of_fill());
        let closed = (self.operation, self.depth) == (other.operation, other.depth);
        (self.load.is_some() || closed)
            && (self.pattern, self.size, self.load) == (other.pattern, other.size, other.load)
            && (self.host, self.neighbours) == (other.host, other.neighbours)
            && (self.used, self.written, self.lasted) == (other.used, other.written, other.lasted)
            && (self.state, kind(self)) == (other.state, kind(other))
    }

    /// A text that only figures with the same simulated value share. The name for people is
    /// rounded.
    pub(super) fn identity(&self) -> String {
        let exact = (self.load, self.used, self.written, self.lasted, self.state);
        let host = (self.host, self.neighbours);
        format!("{} {exact:?} {host:?} {:?}", self.name(), self.phase)
    }

    fn name_of_fill(&self) -> String {
        let part = match (self.phase, self.metric) {
            (None, _) => "all of it".to_owned(),
            (Some(phase), Metric::FillGb) => format!("end of phase {phase}"),
            (Some(phase), _) => format!("phase {phase}"),
        };
        format!("fill, {part}, {}", self.metric.unit())
    }

    /// Name of the figure: "4 KiB random read, depth 1, us".
    #[must_use]
    pub fn name(&self) -> String {
        if self.metric.is_of_fill() {
            return self.name_of_fill();
        }
        let operation = match self.operation {
            Operation::Read => "read",
            Operation::Write => "write",
        };
        let size = self.size.to_string();
        let digits = size.chars().take_while(char::is_ascii_digit).count();
        let (number, unit) = size.split_at(digits);
        let (pattern, metric) = (self.pattern, self.metric.unit());
        let state = match (self.state, self.metric) {
            (State::Sustained, Metric::Waf) | (State::Fresh, _) => "",
            (State::Sustained, _) => " in steady state",
        };
        let used = match self.used {
            1.0 => String::new(),
            share => format!(", {:.0} % in use", 100.0 * share),
        };
        let load = match (self.load, self.metric) {
            (Some(load), _) => {
                format!("{:.1} kIOPS, {:.0} % writes", load.iops / 1e3, 100.0 * load.write_share)
            }
            (None, Metric::Waf) => match self.lasted {
                Some(lasted) => format!("for the time of {:.1} sequential rounds", lasted.rounds),
                None => format!("written {:.1} times", self.written),
            },
            (None, _) => format!("depth {}", self.depth),
        };
        let host = match (self.host, self.neighbours) {
            (None, _) => String::new(),
            (Some(host), None) => format!(", {host}"),
            (Some(host), Some(neighbours)) => format!(", {host}, {}", neighbours.name()),
        };
        format!("{number} {unit} {pattern} {operation}{state}{used}, {load}{host}, {metric}")
    }
}

impl Metric {
    /// True for a figure of a fill.
    #[must_use]
    pub fn is_of_fill(self) -> bool {
        matches!(self, Self::FillMbPerS | Self::FillGb)
    }

    /// The unit of the metric, for people.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::MeanUs => "us",
            Self::P50Us => "p50 us",
            Self::P90Us => "p90 us",
            Self::P99Us => "p99 us",
            Self::P999Us => "p99.9 us",
            Self::P9999Us => "p99.99 us",
            Self::P99999Us => "p99.999 us",
            Self::Kiops => "kIOPS",
            Self::GbPerS => "GB/s",
            Self::MbPerS => "MB/s",
            Self::Waf => "WAF",
            Self::FillMbPerS => "MB/s",
            Self::FillGb => "GB",
            Self::Slowdown => "slowdown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deeper_queue_gives_more_requests_per_second() {
        let figure = |depth, metric| Figure {
            depth,
            ..Figure::of(Operation::Read, Pattern::Random, metric, 1.0)
        };
        let measure = |figure: Figure| figure.measure("zn540", &[], 0.05).expect("it runs");
        let (one, many) = (measure(figure(1, Metric::Kiops)), measure(figure(32, Metric::Kiops)));
        assert!(many > 10.0 * one, "{one} {many}");
        let mean = measure(figure(1, Metric::MeanUs));
        assert!((mean * one - 1e3).abs() < 30.0, "{mean} {one}");
        assert!(measure(figure(1, Metric::P99Us)) >= mean);
        assert_eq!(figure(1, Metric::MeanUs).name(), "4 KiB random read, depth 1, us");
    }

    #[test]
    fn figures_of_different_runs_have_different_identities() {
        let plain = Figure::of(Operation::Write, Pattern::Random, Metric::Waf, 2.0);
        let lasted = |rounds, copy| Some(Lasted { rounds, copy });
        let load = |iops| Some(Load { iops, write_share: 0.5 });
        let all = [
            plain.clone(),
            Figure { used: 0.501, ..plain.clone() },
            Figure { used: 0.502, ..plain.clone() },
            Figure { written: 5.01, ..plain.clone() },
            Figure { lasted: lasted(10.01, 1.0), ..plain.clone() },
            Figure { lasted: lasted(10.02, 1.0), ..plain.clone() },
            Figure { lasted: lasted(10.02, 1.4), ..plain.clone() },
            Figure { load: load(10_001.0), ..plain.clone() },
            Figure { load: load(10_002.0), ..plain.clone() },
            Figure { state: State::Sustained, ..plain.clone() },
            Figure {
                metric: Metric::FillGb,
                phase: Some(Phase { number: 1, of: 2 }),
                ..plain.clone()
            },
            Figure {
                metric: Metric::FillGb,
                phase: Some(Phase { number: 2, of: 3 }),
                ..plain.clone()
            },
        ];
        let identities: std::collections::BTreeSet<_> = all.iter().map(Figure::identity).collect();
        assert_eq!(identities.len(), all.len());
        let same = Figure { value: 3.0, sigma: 0.1, role: Role::Predicted, ..plain.clone() };
        assert_eq!(same.identity(), plain.identity());
    }
}
