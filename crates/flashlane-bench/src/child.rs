//! The child process, which runs one simulation.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use flashlane::config::load::{self, Overrides};
use flashlane::config::{DeviceConfig, WorkloadConfig, validate};
use flashlane::metrics::Summary;
use flashlane::{RunOptions, simulate};
use serde::{Deserialize, Serialize};

use crate::allocations;
use crate::calibration::{Calibration, TABLE_BYTES};
use crate::cases::Case;

/// Length of a turn of the calibration loop, and the time between two turns.
const TURN: Duration = Duration::from_millis(100);
const BETWEEN_TURNS: Duration = Duration::from_secs(2);
/// Most calls of the progress function whose allocations are kept; later calls have no effect.
const LOOKS_MAX: usize = 1 << 20;

/// Report of the child to its parent.
#[derive(Serialize, Deserialize)]
pub(crate) struct ChildReport {
    pub(crate) summary: Summary,
    /// Time for the calibration loop and its table, which is not the simulator's. Unit: seconds.
    pub(crate) calibration_s: f64,
    /// Holds per second.
    pub(crate) holds_per_s: f64,
    /// Holds per second of processor time; null if the system does not report it.
    pub(crate) holds_per_cpu_s: Option<f64>,
    /// Processor time without the calibration loop; null if the system does not report it. Unit:
    /// seconds.
    pub(crate) cpu_s: Option<f64>,
    /// Peak resident memory without the table of the calibration loop. Unit: bytes.
    pub(crate) peak_rss_bytes: u64,
    /// Calls of the allocator per million requests in the second half of the run; null for short
    /// runs.
    pub(crate) allocations_per_million: Option<f64>,
}

/// Data of the progress function.
struct Watch {
    calibration: Calibration,
    /// Processor time of the calibration loop.
    calibration_cpu: Duration,
    last_turn: Instant,
    /// Calls of the allocator at each look; looks come after equal numbers of events.
    looks: Vec<u64>,
}

impl Watch {
    fn turn(&mut self) {
        let before = cpu_time();
        self.calibration.run(TURN);
        self.calibration_cpu += cpu_since(before);
        self.last_turn = Instant::now();
    }

    fn look(&mut self) {
        if self.looks.len() < LOOKS_MAX {
            self.looks.push(allocations::calls());
        }
        if self.last_turn.elapsed() >= BETWEEN_TURNS {
            self.turn();
        }
    }

    /// Calls of the allocator in the second half of the looks, scaled to a million requests of a
    /// run of `requests` requests.
    fn allocations_per_million(&self, requests: u64) -> Option<f64> {
        // The last look is at the end of the run, when the summary has been made.
        let looks = &self.looks[..self.looks.len().checked_sub(1)?];
        let (from, to) = (looks.get(looks.len() / 2)?, looks.last()?);
        let steps = looks.len() - 1 - looks.len() / 2;
        let share = steps as f64 / self.looks.len() as f64;
        (steps > 0).then(|| (to - from) as f64 * 1e6 / (requests as f64 * share))
    }
}

/// Simulates a case with the calibration loop beside it.
pub(crate) fn run(case: &Case, requests: u64) -> Result<ChildReport, String> {
    let (start, cpu_start) = (Instant::now(), cpu_time());
    let calibration = Calibration::new();
    let (table_time, table_cpu) = (start.elapsed(), cpu_since(cpu_start));
    let mut watch = Watch {
        calibration,
        calibration_cpu: Duration::ZERO,
        last_turn: Instant::now(),
        looks: Vec::with_capacity(LOOKS_MAX),
    };
    watch.turn();
    let watch = Mutex::new(watch);
    let (device, workload) = configurations(case, requests, &[])?;
    let progress = |_| watch.lock().expect("one thread").look();
    let summary = simulate(&device, &workload, &options(case), &progress)
        .map_err(|error| error.to_string())?;
    let mut watch = watch.into_inner().expect("one thread");
    watch.turn();
    let calibration = &watch.calibration;
    let cpu_s = watch.calibration_cpu.as_secs_f64();
    Ok(ChildReport {
        calibration_s: (table_time + calibration.time).as_secs_f64(),
        holds_per_s: calibration.rate(),
        holds_per_cpu_s: (cpu_s > 0.0).then(|| calibration.holds as f64 / cpu_s),
        cpu_s: cpu_time()
            .map(|cpu| cpu.saturating_sub(table_cpu + watch.calibration_cpu).as_secs_f64()),
        peak_rss_bytes: summary.peak_rss_bytes.saturating_sub(TABLE_BYTES),
        allocations_per_million: watch.allocations_per_million(summary.requests_completed),
        summary,
    })
}

/// Simulates a case on its small drive, without the calibration loop. Returns the number of
/// requests.
pub(crate) fn run_small(case: &Case, requests: u64) -> Result<u64, String> {
    let sets = case.count.as_ref().map_or(&[][..], |count| count.sets);
    let (device, workload) = configurations(case, requests, sets)?;
    simulate(&device, &workload, &options(case), &|_| {})
        .map(|summary| summary.requests_completed)
        .map_err(|error| error.to_string())
}

/// Simulates a workload on the drive of a case with some keys set.
pub(crate) fn run_with(case: &Case, flows: &str, sets: &[String]) -> Result<Summary, String> {
    let (device, workload) = loaded(case, flows, sets)?;
    simulate(&device, &workload, &options(case), &|_| {}).map_err(|error| error.to_string())
}

fn options(case: &Case) -> RunOptions {
    RunOptions { waf_only: case.waf_only, ..RunOptions::default() }
}

/// Drive and workload of a case, checked.
pub(crate) fn configurations(
    case: &Case,
    requests: u64,
    sets: &[&str],
) -> Result<(DeviceConfig, WorkloadConfig), String> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    loaded(case, &(case.workload)(requests), &sets)
}

/// The drive of a case with some keys set, and a workload, checked.
pub(crate) fn loaded(
    case: &Case,
    flows: &str,
    sets: &[String],
) -> Result<(DeviceConfig, WorkloadConfig), String> {
    let text = |error: flashlane::Error| format!("{}: {error}", case.name);
    let none = Overrides::default();
    let overrides = Overrides { sets: sets.to_vec(), ..Overrides::default() };
    let device = load::device_from_toml(case.device, "bench device", &overrides).map_err(text)?;
    let workload = load::workload_from_toml(flows, "bench workload", &none).map_err(text)?;
    validate::check_pair(&device, &workload).map_err(text)?;
    Ok((device.config, workload.config))
}

/// Processor time of this process. The simulation has one thread, so the time of the first thread
/// is all.
pub(crate) fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}

/// Processor time since an earlier look; zero if the system does not report it.
pub(crate) fn cpu_since(before: Option<Duration>) -> Duration {
    cpu_time().zip(before).map_or(Duration::ZERO, |(now, before)| now - before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;

    #[test]
    fn every_case_is_a_valid_scenario() {
        for case in CASES {
            configurations(case, 10_000_000, &[]).unwrap();
            let sets = case.count.as_ref().map_or(&[][..], |count| count.sets);
            configurations(case, 10_000, sets).unwrap();
        }
    }

    #[test]
    fn allocations_count_in_the_second_half() {
        let mut watch = Watch {
            calibration: Calibration::new(),
            calibration_cpu: Duration::ZERO,
            last_turn: Instant::now(),
            looks: vec![500, 800, 900, 900, 901, 1_000],
        };
        // Looks 2 to 4 of the five before the end: one call in two of six parts of the requests.
        assert_eq!(watch.allocations_per_million(6_000_000), Some(0.5));
        watch.looks.truncate(2);
        assert_eq!(watch.allocations_per_million(6_000_000), None);
    }
}
