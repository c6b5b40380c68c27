//! A published figure of a drive, and the simulation that gives the same figure.

use flashlane::config::load::{self, Overrides};
use flashlane::config::units::ByteSize;
use flashlane::{Error, RunOptions, Warmup, simulate};
use serde::{Deserialize, Serialize};

/// Operation of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

/// Addresses of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// To random addresses of the whole drive.
    Random,
    /// From the first address on.
    Sequential,
}

/// The measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Mean response time. Unit: microseconds.
    MeanUs,
    /// The response time that 99 % of the requests do not exceed. Unit: microseconds.
    P99Us,
    /// Thousand requests per second.
    Kiops,
    /// Rate. Unit: gigabytes (10^9) per second.
    GbPerS,
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
    /// Simulates a device (a preset, or a file with some keys set) and returns its value of the
    /// figure.
    ///
    /// `effort` scales the number of requests; 1 is enough to compare with published figures.
    ///
    /// A fresh drive is empty, and a read of an empty page costs a flash read, so that no drive has
    /// to be filled first. A drive in its sustained state has fewer and smaller blocks than its
    /// file says (512 of 64 pages in each plane), so that it reaches that state soon.
    ///
    /// # Errors
    /// A device that does not load, or that the simulation refuses.
    pub fn measure(&self, device: &str, sets: &[String], effort: f64) -> Result<f64, Error> {
        let state = match self.state {
            State::Fresh => &["ftl.precondition.enabled=false", "ftl.unwritten_read=flash"][..],
            State::Sustained => &[
                "flash.blocks_per_plane=512",
                "flash.pages_per_block=64",
                "ftl.gc.threshold=8 blocks",
            ],
        };
        let sets = state.iter().map(ToString::to_string).chain(sets.iter().cloned()).collect();
        let overrides = Overrides { sets, ..Overrides::default() };
        let device = load::device(device, &overrides)?.config;
        let text = self.workload(effort);
        let workload = load::workload_from_toml(&text, "figure", &Overrides::default())?.config;
        let before = match self.state {
            State::Fresh => u64::from(4 * self.depth),
            State::Sustained => (150_000.0 * effort) as u64,
        };
        let options = RunOptions { warmup: Warmup::Requests(before), ..RunOptions::default() };
        let summary = simulate(&device, &workload, &options, &|_| {})?;
        let flow = &summary.flows[0];
        Ok(match self.metric {
            Metric::MeanUs => flow.response_time_us.mean,
            Metric::P99Us => flow.response_time_us.p99,
            Metric::Kiops => flow.iops / 1e3,
            Metric::GbPerS => flow.bandwidth_bytes_per_s / 1e9,
        })
    }

    fn workload(&self, effort: f64) -> String {
        let requests = match (self.pattern, self.state) {
            (Pattern::Sequential, _) => 12_000,
            (_, State::Sustained) => 300_000,
            _ => (400 * self.depth).clamp(2_000, 60_000),
        };
        // The number includes the requests before counting starts.
        let least = 8 * u64::from(self.depth) + 100;
        format!(
            "[[flow]]\nname = \"one\"\n[flow.synthetic]\nqueue_depth = {}\nread_ratio = {}\n\
             size = \"{}\"\nalign = \"{}\"\naddress = \"{}\"\nrequests = {}\n",
            self.depth,
            u32::from(self.operation == Operation::Read),
            self.size,
            ByteSize(self.size.0.min(4096)),
            match self.pattern {
                Pattern::Sequential => "streaming",
                Pattern::Random => "uniform",
            },
            ((f64::from(requests) * effort) as u64).max(least),
        )
    }

    /// Name of the figure: "4 KiB random read, depth 1, us".
    #[must_use]
    pub fn name(&self) -> String {
        let operation = match self.operation {
            Operation::Read => "read",
            Operation::Write => "write",
        };
        let pattern = match self.pattern {
            Pattern::Random => "random",
            Pattern::Sequential => "sequential",
        };
        let state = match self.state {
            State::Fresh => "",
            State::Sustained => " in steady state",
        };
        let size = self.size.to_string();
        let digits = size.chars().take_while(char::is_ascii_digit).count();
        let (number, unit) = size.split_at(digits);
        let (depth, metric) = (self.depth, self.metric.unit());
        format!("{number} {unit} {pattern} {operation}{state}, depth {depth}, {metric}")
    }
}

impl Metric {
    /// The unit of the metric, for people.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::MeanUs => "us",
            Self::P99Us => "p99 us",
            Self::Kiops => "kIOPS",
            Self::GbPerS => "GB/s",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deeper_queue_gives_more_requests_per_second() {
        let figure = |depth, metric| Figure {
            operation: Operation::Read,
            pattern: Pattern::Random,
            size: ByteSize(4096),
            depth,
            metric,
            value: 1.0,
            sigma: 0.03,
            state: State::Fresh,
            role: Role::Fitted,
            source: String::new(),
        };
        let measure = |figure: Figure| figure.measure("zn540", &[], 0.05).expect("it runs");
        let (one, many) = (measure(figure(1, Metric::Kiops)), measure(figure(32, Metric::Kiops)));
        assert!(many > 10.0 * one, "{one} {many}");
        let mean = measure(figure(1, Metric::MeanUs));
        assert!((mean * one - 1e3).abs() < 30.0, "{mean} {one}");
        assert!(measure(figure(1, Metric::P99Us)) >= mean);
        assert_eq!(figure(1, Metric::MeanUs).name(), "4 KiB random read, depth 1, us");
    }
}
