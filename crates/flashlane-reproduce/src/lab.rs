//! Runs the simulations of an experiment on all cores.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use flashlane::config::load::{self, Overrides};
use flashlane::config::units::Span;
use flashlane::config::{CloneConfig, DeviceConfig, WorkloadConfig, validate};
use flashlane::metrics::{AloneBasis, Summary};
use flashlane::workload::clone;
use flashlane::{Details, Error, RunOptions, Simulation, Warmup, simulate_all};

use crate::trace_folder::{Origin, TraceFolder};

/// Steps of progress per simulation.
const STEPS: f64 = 1000.0;

/// One simulation.
#[derive(Clone, Debug)]
pub struct Job {
    device: DeviceConfig,
    workload: WorkloadConfig,
    options: RunOptions,
    /// A flow may have no request that counts, and then no slowdown.
    sparse: bool,
}

impl Job {
    /// A shipped device with keys set on top, under a workload given as TOML.
    ///
    /// # Errors
    /// What a user would be told of the same device and workload.
    pub fn new(preset: &str, sets: &[&str], workload: &str) -> Result<Self, Error> {
        let overrides = Overrides {
            sets: sets.iter().map(|&set| set.to_owned()).collect(),
            ..Overrides::default()
        };
        let device = load::device(preset, &overrides)?;
        let workload = load::workload_from_toml(workload, "experiment", &Overrides::default())?;
        validate::check_pair(&device, &workload)?;
        let (device, workload) = (device.config, workload.config);
        Ok(Self { device, workload, options: RunOptions::default(), sparse: false })
    }

    /// A device and a workload, both given as TOML.
    ///
    /// # Errors
    /// What a user would be told of them.
    pub fn of_device(device: &str, workload: &str) -> Result<Self, Error> {
        let none = Overrides::default();
        let device = load::device_from_toml(device, "experiment", &none)?;
        let workload = load::workload_from_toml(workload, "experiment", &none)?;
        validate::check_pair(&device, &workload)?;
        let (device, workload) = (device.config, workload.config);
        Ok(Self { device, workload, options: RunOptions::default(), sparse: false })
    }

    /// Runs without time. The first `uncounted` requests do not count.
    #[must_use]
    pub fn without_time(mut self, uncounted: u64) -> Self {
        self.options.waf_only = true;
        self.options.warmup = Warmup::Requests(uncounted);
        self
    }

    /// Every flow also runs alone.
    #[must_use]
    pub fn alone(mut self) -> Self {
        self.options.alone = true;
        self
    }

    /// A flow without a counted request is no failure. The experiment checks the counts.
    #[must_use]
    pub fn sparse(mut self) -> Self {
        self.sparse = true;
        self
    }

    /// Load that does not count, as a span such as `"1s"`.
    ///
    /// # Errors
    /// A span that cannot be read.
    pub fn warmup(mut self, span: &str) -> Result<Self, Error> {
        let span: Span = span.parse().map_err(|error| Error::config("warmup", error))?;
        self.options.warmup = Warmup::Time(span.0);
        Ok(self)
    }

    /// Also compares every window of this length with the flow alone. Unit: picoseconds.
    #[must_use]
    pub fn windows(mut self, length: u64) -> Self {
        self.options.windows = Some(length);
        self
    }

    /// Keeps a time series. Unit of the interval: picoseconds.
    #[must_use]
    pub fn series(mut self, interval: u64) -> Self {
        self.options.series_interval = Some(interval);
        self
    }
}

/// What came out of a job.
#[derive(Clone, Debug)]
pub struct Run {
    /// The summary.
    pub summary: Summary,
    /// Distributions and time series.
    pub details: Details,
}

/// Where experiments run.
pub struct Lab<'a> {
    /// Everything the paper has, at full size; otherwise what fits into minutes.
    pub full: bool,
    /// A third of the workloads where an experiment compares many.
    pub quick: bool,
    /// Seeds of those experiments that repeat.
    pub seeds: u64,
    /// First seed.
    pub seed: u64,
    /// Shorter and smaller still, for tests: results mean nothing.
    pub smoke: bool,
    /// The user's own traces; the others are clones.
    pub trace_folder: TraceFolder,
    /// Ends the current experiment soon after it becomes true, with [`Error::Interrupted`].
    pub stop: Option<Arc<AtomicBool>>,
    origins: Mutex<BTreeSet<Origin>>,
    threads: usize,
    progress: &'a (dyn Fn(f64) + Sync),
}

impl<'a> Lab<'a> {
    /// A laboratory with `threads` parallel simulations; 0 for one on each core. Calls `progress`
    /// with the share of the current experiment that is done.
    pub fn new(threads: usize, progress: &'a (dyn Fn(f64) + Sync)) -> Self {
        Self {
            full: false,
            quick: false,
            seeds: 3,
            seed: 1,
            smoke: false,
            trace_folder: TraceFolder::default(),
            stop: None,
            origins: Mutex::default(),
            threads,
            progress,
        }
    }

    /// The source of a flow that runs one of the traces of FLIN's Table 2, as the TOML table
    /// `[flow.trace]` or `[flow.clone]`: the user's own file where there is one, otherwise the
    /// clone. Gaps are multiplied by `time_scale`.
    ///
    /// # Errors
    /// An unknown name; a file that cannot be read.
    pub fn source(&self, name: &str, requests: u64, time_scale: f64) -> Result<String, Error> {
        let clone = CloneConfig { time_scale, ..CloneConfig::plain(name, Some(requests)) };
        self.source_of(&clone)
    }

    /// The source of a piece of the day of a clone, which has a number of requests or a duration. A
    /// file of the user starts with its first request; for a duration, it gives as many requests as
    /// the clone on average.
    ///
    /// # Errors
    /// As [`Lab::source`].
    pub fn source_of(&self, clone: &CloneConfig) -> Result<String, Error> {
        let gap_ms = clone::find(&clone.of)?.gap_ms() * clone.time_scale;
        let drawn = |span: Span| (span.0 as f64 / (gap_ms * 1e9)).ceil().max(1.0) as u64;
        let requests = clone.requests.or(clone.duration.map(drawn)).unwrap_or(u64::MAX);
        let (table, origin) = self.trace_folder.source(clone, requests)?;
        self.origins.lock().expect("nothing panics with the lock").insert(origin);
        Ok(table)
    }

    /// The traces that [`Lab::source`] was asked for, by name.
    pub fn origins(&self) -> Vec<Origin> {
        self.origins.lock().expect("nothing panics with the lock").iter().cloned().collect()
    }

    /// Runs every job with every seed: by job, then by seed. The result does not depend on the
    /// number of threads.
    ///
    /// # Errors
    /// The first failure, in the order of the jobs.
    pub fn run_seeds(&self, jobs: &[Job], seeds: u64) -> Result<Vec<Vec<Run>>, Error> {
        let options: Vec<RunOptions> = jobs
            .iter()
            .flat_map(|job| {
                let seeds = self.seed..self.seed + seeds;
                seeds.map(|seed| RunOptions {
                    seed,
                    stop: self.stop.clone(),
                    // As the papers compare: UPI's tenants alone keep their part of the drive.
                    alone_basis: AloneBasis::SameIsolation,
                    ..job.options.clone()
                })
            })
            .collect();
        let per_job = |index: usize| &jobs[index / seeds as usize];
        let simulations: Vec<Simulation<'_>> = (0..)
            .zip(&options)
            .map(|(index, options)| {
                let Job { device, workload, .. } = per_job(index);
                Simulation { device, workload, options }
            })
            .collect();
        let done: Vec<AtomicU64> = options.iter().map(|_| AtomicU64::new(0)).collect();
        let all = AtomicU64::new(0);
        let progress = |index: usize, share: f64| {
            let steps = (share.clamp(0.0, 1.0) * STEPS) as u64;
            let before = done[index].swap(steps, Ordering::Relaxed);
            let now = all.fetch_add(steps.saturating_sub(before), Ordering::Relaxed);
            (self.progress)(now as f64 / (done.len() as f64 * STEPS));
        };
        let results = simulate_all(&simulations, self.threads, &progress);
        let mut runs = results.into_iter().enumerate().map(|(index, result)| {
            let (summary, details) = result?;
            let silent = summary.flows.iter().find(|flow| flow.slowdown.is_none());
            let needed = options[index].alone && !per_job(index).sparse;
            if let Some(flow) = silent.filter(|_| needed) {
                let message = "completed no request that counts, so that it has no slowdown; \
                               a longer run is needed";
                return Err(Error::config(format!("flow {}", flow.name), message));
            }
            Ok(Run { summary, details })
        });
        jobs.iter().map(|_| runs.by_ref().take(seeds as usize).collect()).collect()
    }

    /// Does jobs that are no simulations of flows, in parallel. Results are in the order of the
    /// jobs.
    ///
    /// # Errors
    /// The first failure; [`Error::Interrupted`] where the experiment was ended.
    #[cfg(feature = "exec")]
    pub(crate) fn each<J: Sync, R: Send>(
        &self,
        jobs: &[J],
        work: impl Fn(&J) -> Result<R, Error> + Sync,
    ) -> Result<Vec<R>, Error> {
        let done = AtomicU64::new(0);
        let results = flashlane_exec::in_parallel(jobs, self.threads, |job| {
            if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(Error::Interrupted);
            }
            let result = work(job);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)(done as f64 / jobs.len() as f64);
            result
        });
        results.into_iter().collect()
    }

    /// Runs every job once.
    ///
    /// # Errors
    /// The first failure, in the order of the jobs.
    pub fn run(&self, jobs: &[Job]) -> Result<Vec<Run>, Error> {
        let runs = self.run_seeds(jobs, 1)?;
        Ok(runs.into_iter().flatten().collect())
    }
}
