//! Runs the points of a grid or of a list. Each result is kept under a digest of everything that
//! decides it, so that a sweep can continue after an interruption, on one machine or on several.

mod axes;
mod baseline;
pub mod fault;
mod grid;
mod memory;
mod outcome;
mod point;
mod store;
mod table;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flashlane::config::CompatConfig;
use flashlane::content::{InputFiles, content_key};
use flashlane::{Error, RunOptions, simulate};

pub use axes::Point;
pub use baseline::share_baseline;
pub use grid::Grid;
use memory::Room;
pub use memory::usual_limit;
pub use outcome::{Outcome, Trouble};
pub use point::{RUN_KEYS, Source, options};
use store::Kept;
pub use store::Store;
pub use table::{Cell, Table};

use crate::base::Scenario;

/// The drive and its tenants, the options, and the key of the point if results are kept.
type Resolved = (Scenario, RunOptions, Option<String>);

/// A sweep, which runs its points or finds their results.
#[derive(Debug)]
pub struct Sweep {
    /// Where the device and the tenants come from.
    pub source: Source,
    /// The options of each run. The keys of a point override them.
    pub options: RunOptions,
    /// Where results are kept. `None` keeps no results.
    pub store: Option<Store>,
    /// The file with the code of the simulator. Its digest is part of each key.
    pub program: PathBuf,
    /// The digests of the files that points read.
    pub files: InputFiles,
    /// The largest memory that the runs may take together. Unit: bytes.
    pub memory: u64,
    /// Set to true to end all runs.
    pub stop: Arc<AtomicBool>,
    /// Describes the payload of a panic that is not a text.
    pub describe: fault::Describe,
}

/// The result of a point, and the damage of the file that held an earlier result.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The result.
    pub outcome: Outcome,
    /// True if the result was already kept from an earlier run.
    pub was_kept: bool,
    /// The damage of the kept file. The point was run again.
    pub damage: Option<String>,
}

impl Found {
    fn new(outcome: Outcome) -> Self {
        Self { outcome, was_kept: false, damage: None }
    }
}

impl Sweep {
    /// Runs the points on several threads, or finds their results. `told` is called with the index
    /// of each point that is finished. The results are in the order of the points.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if [`Sweep::stop`] was called. [`Error::Output`] if a result cannot
    /// be kept.
    pub fn run(
        &self,
        points: &[Point],
        jobs: usize,
        told: &(dyn Fn(usize, &Found) + Sync),
    ) -> Result<Vec<Found>, Error> {
        let room = Room::new(self.memory);
        let next = AtomicUsize::new(0);
        let found: Mutex<Vec<Option<Found>>> = Mutex::new(vec![None; points.len()]);
        let failed: Mutex<Option<Error>> = Mutex::new(None);
        let work = || {
            while !self.stop.load(Ordering::Relaxed) {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(point) = points.get(index) else { return };
                match self.point(point, &room) {
                    Ok(one) => {
                        told(index, &one);
                        found.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(one);
                    }
                    Err(error) => {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        self.stop();
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..jobs.max(1).min(points.len().max(1)) {
                scope.spawn(work);
            }
            work();
        });
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.into_iter().collect::<Option<Vec<Found>>>().ok_or(Error::Interrupted)
    }

    /// Ends the runs that are under way.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.files.stop();
    }

    /// The result of a point, if it is known without a run: the kept result, or the reason why the
    /// point is refused. Returns `None` if the point has to be run.
    ///
    /// # Errors
    /// The errors of [`Sweep::run`].
    pub fn kept(&self, point: &Point) -> Result<Option<Outcome>, Error> {
        let (_, _, key) = match self.resolved(point)? {
            Ok(found) => found,
            Err(refused) => return Ok(Some(refused)),
        };
        let Some((store, key)) = self.store.as_ref().zip(key) else { return Ok(None) };
        Ok(match store.find(&key) {
            Kept::Result(outcome) => Some(outcome),
            Kept::Nothing | Kept::Damaged(_) => fault::noted(&store.fault_path(&key)),
        })
    }

    /// The drive, the options and the key of a point, or the result of a point that is refused.
    fn resolved(&self, point: &Point) -> Result<Result<Resolved, Outcome>, Error> {
        match self.resolve(point) {
            Ok(found) => Ok(Ok(found)),
            Err(error @ Error::Output(_)) => Err(error),
            Err(error) => Outcome::of_error(&error).map(Err).ok_or(Error::Interrupted),
        }
    }

    fn resolve(&self, point: &Point) -> Result<Resolved, Error> {
        let mut options = point::options(&self.options, point)?;
        let scenario = self.source.scenario(point)?;
        let compat = scenario.device.config.compat == CompatConfig::mqsim();
        options.compat = compat.then(|| "mqsim".to_owned());
        let key = self.key(&scenario, &options)?;
        Ok((scenario, options, key))
    }

    /// The digest of everything that decides a result. `None` if no results are kept.
    fn key(&self, scenario: &Scenario, options: &RunOptions) -> Result<Option<String>, Error> {
        if self.store.is_none() {
            return Ok(None);
        }
        let (device, workload) = (&scenario.device.config, &scenario.workload.config);
        content_key(&self.program, device, workload, options, &self.files).map(Some)
    }

    /// Finds or makes the result of a point.
    fn point(&self, point: &Point, room: &Room) -> Result<Found, Error> {
        let (scenario, options, key) = match self.resolved(point)? {
            Ok(found) => found,
            Err(refused) => return Ok(Found::new(refused)),
        };
        let Some((store, key)) = self.store.as_ref().zip(key) else {
            return self.simulated(&scenario, &options, room, None).map(Found::new);
        };
        let damage = match store.find(&key) {
            Kept::Result(outcome) => return Ok(Found { was_kept: true, ..Found::new(outcome) }),
            Kept::Nothing => None,
            Kept::Damaged(why) => Some(why),
        };
        let fault = store.fault_path(&key);
        let outcome = match fault::noted(&fault) {
            Some(outcome) => outcome,
            None => self.simulated(&scenario, &options, room, Some(fault))?,
        };
        let found = |outcome| Found { damage, ..Found::new(outcome) };
        if !outcome.is_final() {
            return Ok(found(outcome));
        }
        match self.key(&scenario, &options) {
            Ok(Some(same)) if same == key => {}
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            _ => {
                let said = "a file that the point reads changed while it ran; run the sweep again";
                return Ok(found(Outcome::failed(Trouble::Changed, said.to_owned())));
            }
        }
        store.keep(&key, point, &outcome)?;
        Ok(found(outcome))
    }

    fn simulated(
        &self,
        scenario: &Scenario,
        options: &RunOptions,
        room: &Room,
        fault: Option<PathBuf>,
    ) -> Result<Outcome, Error> {
        let needed = memory::estimate(scenario, options);
        let Some(_part) = room.take(needed) else {
            let why = format!(
                "it needs some {} MiB, allowed: {} MiB; give the sweep more memory",
                needed >> 20,
                self.memory >> 20
            );
            return Ok(Outcome::failed(Trouble::Memory, why));
        };
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let stop = Some(Arc::clone(&self.stop));
        let options = RunOptions { threads: 1, stop, ..options.clone() };
        let (device, workload) = (&scenario.device.config, &scenario.workload.config);
        let run = || simulate(device, workload, &options, &|_| {});
        match fault::watched(fault, self.describe, run) {
            Ok(Ok(summary)) => Ok(Outcome::done(&summary)),
            Ok(Err(error)) => Outcome::of_error(&error).ok_or(Error::Interrupted),
            Err(why) => Ok(Outcome::failed(Trouble::Internal, why)),
        }
    }
}
