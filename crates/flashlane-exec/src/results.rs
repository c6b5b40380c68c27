//! Results of a run of programs.

use flashlane::metrics::Summary;
use flashlane::observe::Blame;
use serde::Serialize;

use crate::capture::Captured;
use crate::config::{CoreConfig, ExecConfig};
use crate::process::Process;

/// A program on a drive that it shared, or had to itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramResult {
    /// Name of the program.
    pub name: String,
    /// Length of the measured part. Unit: seconds.
    pub measured_s: f64,
    /// Instructions in the measured part, including those of the kernel.
    pub instructions: u64,
    /// Instructions of the kernel in the measured part.
    pub kernel_instructions: u64,
    /// Cycles of the core in the measured part, busy or idle.
    pub cycles: u64,
    /// Instructions per cycle.
    pub ipc: f64,
    /// Requests of the program to the drive.
    pub requests: RequestCounts,
    /// Hits and misses of the program's page cache.
    pub page_cache: PageCache,
    /// Number of the program's requests at the drive.
    pub outstanding: Outstanding,
    /// Instructions per cycle with the drive to itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone_ipc: Option<f64>,
    /// IPC alone divided by IPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<f64>,
    /// Output of the program.
    pub output: String,
}

/// Requests in the measured part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RequestCounts {
    /// Reads.
    pub read: u64,
    /// Writes.
    pub write: u64,
    /// Trims.
    pub trim: u64,
    /// Flushes.
    pub flush: u64,
    /// Read data. Unit: bytes.
    pub bytes_read: u64,
    /// Written data. Unit: bytes.
    pub bytes_written: u64,
}

/// Pages of buffered reads in the measured part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PageCache {
    /// Pages that were in memory.
    pub hits: u64,
    /// Pages that were not in memory.
    pub misses: u64,
}

/// Requests of a program at the drive, weighted by time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outstanding {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Maximum.
    pub max: u64,
    /// Share of the time with more than 16.
    pub above_16: f64,
    /// Share of the time with 0, 1, 2, … requests outstanding.
    pub shares: Vec<f64>,
}

impl Outstanding {
    /// From the time with each number outstanding.
    fn new(times: &[u64]) -> Self {
        let total: u128 = times.iter().map(|&time| u128::from(time)).sum();
        if total == 0 {
            return Self::default();
        }
        let shares: Vec<f64> = times.iter().map(|&time| time as f64 / total as f64).collect();
        let quantile = |hundredths: u128| {
            let mut sum = 0;
            let reached = times.iter().position(|&time| {
                sum += u128::from(time);
                sum * 100 >= total * hundredths
            });
            reached.expect("the sum reaches the total") as u64
        };
        Self {
            mean: shares.iter().enumerate().map(|(depth, share)| depth as f64 * share).sum(),
            p50: quantile(50),
            p99: quantile(99),
            max: times.iter().rposition(|&time| time > 0).unwrap_or(0) as u64,
            above_16: shares.iter().skip(17).fold(0.0, |sum, share| sum + share),
            shares,
        }
    }
}

/// Fairness of a run whose programs also ran alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fairness {
    /// Smallest slowdown divided by the largest.
    pub fairness: f64,
    /// Largest slowdown.
    pub max_slowdown: f64,
    /// Sum of the speeds, relative to those alone.
    pub weighted_speedup: f64,
}

/// A run of programs.
#[derive(Debug)]
pub struct Run {
    /// The programs that ran.
    pub programs: Vec<ProgramResult>,
    /// Kept files: program, path, content.
    pub kept: Vec<(usize, String, Vec<u8>)>,
    /// Summary of the drive.
    pub summary: Summary,
    /// Which tenant delays which, if that was asked for.
    pub blame: Option<Blame>,
    /// Every request, if that was asked for.
    pub captured: Vec<Captured>,
    /// Time from submission to completion of each captured request. Unit: picoseconds.
    pub latencies: Vec<u64>,
}

/// All results: of the programs together and, if that was asked for, of each program alone.
#[derive(Debug)]
pub struct Results {
    /// The programs together, with slowdowns.
    pub shared: Run,
    /// Each program alone.
    pub alone: Vec<Run>,
    /// Fairness over the programs.
    pub fairness: Option<Fairness>,
}

/// `exec.json`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    device: &'a str,
    seed: u64,
    core: &'a CoreConfig,
    simulated_s: f64,
    programs: &'a [ProgramResult],
    alone: Option<Vec<&'a ProgramResult>>,
    fairness: Option<Fairness>,
}

impl Results {
    /// Fills in the figures that need the runs alone.
    pub(crate) fn new(mut shared: Run, alone: Vec<Run>) -> Self {
        let mut fairness = None;
        if !alone.is_empty() {
            for (program, alone) in shared.programs.iter_mut().zip(&alone) {
                let ipc = alone.programs[0].ipc;
                program.alone_ipc = Some(ipc);
                program.slowdown = (program.ipc > 0.0).then(|| ipc / program.ipc);
            }
            let slowdowns: Option<Vec<f64>> =
                shared.programs.iter().map(|program| program.slowdown).collect();
            fairness = slowdowns.map(|all| {
                let max = all.iter().copied().fold(f64::MIN, f64::max);
                let min = all.iter().copied().fold(f64::MAX, f64::min);
                let weighted_speedup = all.iter().map(|slowdown| 1.0 / slowdown).sum();
                Fairness { fairness: min / max, max_slowdown: max, weighted_speedup }
            });
        }
        Self { shared, alone, fairness }
    }

    /// `exec.json`.
    ///
    /// # Panics
    /// Never, because every value is a number or a text.
    #[must_use]
    pub fn json(&self, config: &ExecConfig) -> String {
        let alone = self.alone.iter().map(|run| &run.programs[0]).collect::<Vec<_>>();
        let document = Document {
            schema: "flashlane.exec/1",
            version: env!("CARGO_PKG_VERSION"),
            device: &config.device,
            seed: config.seed,
            core: &config.core,
            simulated_s: self.shared.summary.simulated_s,
            programs: &self.shared.programs,
            alone: (!alone.is_empty()).then_some(alone),
            fairness: self.fairness,
        };
        let value = serde_json::to_value(&document).expect("numbers and texts become JSON");
        format!("{value:#}\n")
    }
}

impl ProgramResult {
    /// The measurements of a program that has ended.
    pub(crate) fn of(process: &Process) -> Self {
        let measure = &process.measure;
        let (instructions, user) = measure.instructions();
        let cycles = process.clock.cycles(measure.span());
        let cache = measure.cache();
        let requests = measure.requests;
        Self {
            name: process.name.clone(),
            measured_s: measure.span() as f64 / 1e12,
            instructions,
            kernel_instructions: instructions - user,
            cycles,
            ipc: if cycles > 0 { instructions as f64 / cycles as f64 } else { 0.0 },
            requests: RequestCounts {
                read: requests.reads,
                write: requests.writes,
                trim: requests.trims,
                flush: requests.flushes,
                bytes_read: requests.bytes_read,
                bytes_written: requests.bytes_written,
            },
            page_cache: PageCache { hits: cache.hits, misses: cache.misses },
            outstanding: Outstanding::new(measure.depths()),
            alone_ipc: None,
            slowdown: None,
            output: String::from_utf8_lossy(&process.output).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_weighted_by_time() {
        let mut times = vec![0; 21];
        (times[0], times[4], times[20]) = (50, 30, 20);
        let outstanding = Outstanding::new(&times);
        assert_eq!((outstanding.p50, outstanding.p99, outstanding.max), (0, 20, 20));
        assert!((outstanding.mean - 5.2).abs() < 1e-12);
        assert!((outstanding.above_16 - 0.2).abs() < 1e-12);
        assert_eq!(Outstanding::new(&[]), Outstanding::default());
    }
}
