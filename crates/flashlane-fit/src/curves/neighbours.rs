//! Jobs beside the one that a figure is about.

use flashlane::config::units::ByteSize;
use serde::Serialize;

use super::figure::Operation;

/// Other jobs of the same host. All jobs spread their requests over all drives of the host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Neighbours {
    /// Number of jobs, each with a core of its own. Range: 0..=64.
    pub jobs: u32,
    /// What they do.
    pub operation: Operation,
    /// Size of their requests.
    pub size: ByteSize,
    /// Outstanding requests of each job. Range: 1..=4096.
    pub depth: u32,
    /// Drives of one kind behind the host. Range: 1..=64.
    pub drives: u32,
    /// Rate at which data of all drives reach the host. Unit: gigabytes (10^9) per second. Range:
    /// 0.01 to 100000.
    pub host_gb_per_s: f64,
}

impl Neighbours {
    /// The columns of a table.
    pub(super) const COLUMNS: [&str; 6] = [
        "neighbours",
        "neighbour_op",
        "neighbour_size",
        "neighbour_depth",
        "drives",
        "host_gb_per_s",
    ];

    /// Range of the rate of the host: a slower link would carry the largest requests for longer
    /// than simulated time lasts.
    pub(super) const HOST_GB_PER_S: (f64, f64) = (0.01, 1e5);

    /// What they do, for people: "64KiB writes".
    #[must_use]
    pub fn requests(&self) -> String {
        match self.operation {
            Operation::Read => format!("{} reads", self.size),
            Operation::Write => format!("{} writes", self.size),
        }
    }

    /// The name for people: "beside 4 jobs of 64KiB writes".
    #[must_use]
    pub fn name(&self) -> String {
        match self.jobs {
            0 => "without neighbours".to_owned(),
            1 => format!("beside a job of {}", self.requests()),
            jobs => format!("beside {jobs} jobs of {}", self.requests()),
        }
    }
}
