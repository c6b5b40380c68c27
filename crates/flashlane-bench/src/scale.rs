//! How the cost of a request grows with the problem: random 8 KiB reads of an empty drive, on which
//! one quantity grows and the rest stays. On the axis `writes` one request in ten is a write, and
//! reads wait for it. On the axis `limits` 1,024 flows have no limits of rates, and then those of
//! [`LIMITS`].

use std::process::Command;

use crate::cases;
use crate::child;
use crate::instructions::{Tool, count_run};
use crate::workloads::{MANY, hot_rewriter, many, readers, several};

/// Fewest requests of the shorter of two counted runs; the longer one has twice as many.
const COUNTED: u64 = 20_000;
/// Fewest requests of the shorter of two timed runs; the longer one has twice as many.
const TIMED: u64 = 200_000;
/// Most requests of a counted run.
const COUNTED_MAX: u64 = 1_000_000;
/// Number of outstanding requests, where it stays constant.
const DEPTH: u64 = 64;
/// Blocks and pages that keep thousands of chips small.
const FEW_BLOCKS: [&str; 2] = ["flash.blocks_per_plane=64", "flash.pages_per_block=64"];
/// A drive so small that many reads are of pages that are being written.
const FEW_CHIPS: [&str; 4] = [
    "flash.channels=2",
    "flash.chips_per_channel=2",
    "flash.dies_per_chip=1",
    "ftl.over_provisioning=0.28",
];

/// What each of 1,024 flows has on the axis `limits`: nothing; two rates that never bind; a rate of
/// a fifth of what it would get; a group of all with such a rate.
const LIMITS: [&str; 4] = [
    "",
    "limit = { iops = 100000, bandwidth = \"1GB/s\" }",
    "limit = { iops = 100 }",
    "# A group follows.",
];
/// The group of the last value of [`LIMITS`].
const GROUP: &str =
    "[[group]]\nname = \"all\"\nmembers = [\"tenant\"]\nlimit = { iops = 100000 }\n";

/// Keys of a drive with room for the open blocks of 1,024 flows.
const MANY_BLOCKS: [&str; 3] =
    ["flash.blocks_per_plane=8192", "flash.pages_per_block=16", "ftl.over_provisioning=0.5"];

/// The quantities that grow, with their values.
const AXES: [(&str, &[u64]); 6] = [
    ("flows", &[1, 4, 16, 64]),
    ("chips", &[1, 32, 256, 1024, 4096]),
    ("depth", &[1, 64, 1024, 65_535]),
    ("writes", &[64, 4096, 8192, 16_384]),
    ("limits", &[0, 1, 2, 3]),
    ("requests", &[10_000, 100_000, 1_000_000, 10_000_000]),
];

/// A point on an axis.
#[derive(Clone, Copy, Debug)]
struct Point {
    axis: &'static str,
    value: u64,
}

/// Cost of a run.
struct Cost {
    requests: u64,
    cpu_s: f64,
    peak_rss_bytes: u64,
}

impl Point {
    fn named(axis: &str, value: u64) -> Result<Self, String> {
        let known = AXES.iter().find(|(name, values)| *name == axis && values.contains(&value));
        let &(axis, _) = known.ok_or(format!("{axis} {value}: no such point"))?;
        Ok(Self { axis, value })
    }

    /// Keys of the drive.
    fn sets(self) -> Vec<String> {
        let mut sets = Vec::new();
        match self.axis {
            "chips" => {
                // As many channels as chips on each channel, or half as many.
                let channels = 1 << (self.value.ilog2() / 2);
                sets.push(format!("flash.channels={channels}"));
                sets.push(format!("flash.chips_per_channel={}", self.value / channels));
                sets.extend(FEW_BLOCKS.map(str::to_owned));
            }
            "limits" => sets.extend(MANY_BLOCKS.map(str::to_owned)),
            "depth" | "writes" => {
                sets.push(format!("interface.queue_depth={}", self.value + 1));
                sets.push(format!("interface.queue_fetch_size={}", self.value));
                if self.axis == "writes" {
                    sets.extend(FEW_BLOCKS.iter().chain(&FEW_CHIPS).map(ToString::to_string));
                }
            }
            _ => {}
        }
        sets
    }

    /// Flows of `requests` requests in all.
    fn workload(self, requests: u64) -> String {
        match self.axis {
            "flows" => several(self.value, DEPTH / self.value, requests),
            "chips" => several(1, DEPTH, requests),
            "depth" => several(1, self.value, requests),
            "writes" => hot_rewriter(self.value, requests),
            "limits" => {
                let group = if self.value == 3 { GROUP } else { "" };
                many(LIMITS[self.value as usize], requests) + group
            }
            _ => readers((2, requests / 2), (2, requests / 2)),
        }
    }

    /// Number of requests of a shorter run, which has at least `least`.
    fn requests(self, least: u64) -> u64 {
        match self.axis {
            "depth" | "writes" => least.max(4 * self.value),
            "limits" => least.max(64 * MANY),
            "requests" => self.value,
            _ => least,
        }
    }
}

/// The child process: a single run. Returns requests, processor time (unit: seconds) and peak
/// memory (unit: bytes).
pub(crate) fn run_point(axis: &str, value: u64, requests: u64) -> Result<String, String> {
    let point = Point::named(axis, value)?;
    let case = cases::find("backend-2-2").expect("the case exists");
    let summary = child::run_with(case, &point.workload(requests), &point.sets())?;
    let cpu_s = child::cpu_time().map_or(f64::NAN, |cpu| cpu.as_secs_f64());
    Ok(format!("{} {cpu_s} {}", summary.requests_completed, summary.peak_rss_bytes))
}

fn arguments(point: Point, requests: u64) -> [String; 4] {
    ["point".into(), point.axis.into(), point.value.to_string(), requests.to_string()]
}

/// Runs a point in a separate process.
fn cost(point: Point, requests: u64) -> Result<Cost, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .args(arguments(point, requests))
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    let mut words = said.split_whitespace();
    let mut word = || words.next().and_then(|word| word.parse::<f64>().ok());
    match (word(), word(), word()) {
        (Some(requests), Some(cpu_s), Some(rss)) => {
            Ok(Cost { requests: requests as u64, cpu_s, peak_rss_bytes: rss as u64 })
        }
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Instructions per request, by two runs of unlike length.
fn counted(tool: Tool, point: Point) -> Result<f64, String> {
    let requests = point.requests(COUNTED);
    let (few, short) = count_run(tool, point.axis, &arguments(point, requests))?;
    let (many, long) = count_run(tool, point.axis, &arguments(point, 2 * requests))?;
    Ok((long - short) as f64 / (many - few) as f64)
}

/// Largest ratio of the costs of a request at a large and at a small depth.
const STEEPEST: f64 = 1.15;

/// Fails if a request beside writes costs more at a large queue depth than at a small one: that
/// would mean a search through all waiting transactions.
pub(crate) fn check_depth(tool: Tool) -> Result<(), String> {
    let at = |value| counted(tool, Point::named("writes", value)?);
    let (small, large) = (at(4096)?, at(16_384)?);
    println!("writes, depth 4,096 {small:>9.0}, depth 16,384 {large:>9.0}");
    if large <= STEEPEST * small {
        return Ok(());
    }
    Err("a request costs more at a larger queue depth".to_owned())
}

/// Measures every point of the axes named, or of all, and prints a table.
pub(crate) fn scale(names: &[String]) -> Result<(), String> {
    let tool = Tool::found();
    println!("random 8 KiB reads    instructions/request  ns/request  peak MiB");
    for (axis, values) in AXES {
        if !names.is_empty() && !names.iter().any(|name| name == axis) {
            continue;
        }
        for &value in values {
            let point = Point { axis, value };
            let requests = point.requests(COUNTED);
            let counted = match tool {
                Some(tool) if requests <= COUNTED_MAX => format!("{:.0}", counted(tool, point)?),
                _ => "-".to_owned(),
            };
            let (short, long) =
                (cost(point, point.requests(TIMED))?, cost(point, 2 * point.requests(TIMED))?);
            let ns = (long.cpu_s - short.cpu_s) * 1e9 / (long.requests - short.requests) as f64;
            let mib = short.peak_rss_bytes as f64 / 1_048_576.0;
            println!("{axis:<10} {value:>10} {counted:>20} {ns:>11.0} {mib:>9.1}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_a_valid_scenario() {
        let case = cases::find("backend-2-2").unwrap();
        for (axis, values) in AXES {
            for &value in values {
                let point = Point::named(axis, value).unwrap();
                let sets = point.sets();
                child::loaded(case, &point.workload(1_000_000), &sets).unwrap();
            }
        }
        assert!(Point::named("chips", 3).is_err());
    }
}
