//! A drive by itself: commands go in at the times that the caller says, completions come out.
//!
//! [`crate::simulate`] loads a drive with the flows of a workload file. Other programs (host
//! simulators, programs in virtual time, learned policies) bring the load themselves and use
//! [`Drive`].
//!
//! # The order of ties
//!
//! Two events of one picosecond happen in the order in which they were scheduled. For a caller that
//! means:
//!
//! - [`Drive::advance`] is inclusive: it handles every event up to and including `until`.
//! - A command that is submitted for a time after [`Drive::now`] enters the drive at that time,
//!   after everything that was scheduled for the same time before it was submitted.
//! - A command that is submitted for the time [`Drive::now`] enters at once. After [`Drive::step`]
//!   has returned a completion, that is before the completion is over for the drive, as a host
//!   reacts within its completion handler; after [`Drive::advance`] it is after all events of that
//!   time so far.
//! - [`Drive::schedule`] is for arrivals by the clock: a command for [`Drive::now`] enters after
//!   everything that is scheduled for that time, as one for a later time does.
//! - Commands that are submitted for time 0 before the first step are there before the drive
//!   begins.
//!
//! So the same calls give the same completions, at the same picosecond.
//! [`Observe::submissions`](crate::observe::Observe::submissions) records what the flows of a run
//! submit in just this form, and [`Drive::replay`] submits it again.

pub(crate) mod command;
pub(crate) mod recording;
mod replay;

use flashlane_engine::Time;

pub use command::{Command, Completion, Operation, Refused};
pub use recording::{Submissions, Submitted};

use crate::config::validate::validate_tenants;
use crate::config::{DeviceConfig, FlowConfig, WindowRule, WorkloadConfig};
use crate::device::Device;
use crate::error::Error;
use crate::event::Up;
use crate::host::Submission;
use crate::metrics::window::Window;
use crate::metrics::{Summary, report};
use crate::observe::{Blame, Completions, Observe, Observer};
use crate::run::{Prepared, RunOptions, Warmup};
use crate::workload::{Planned, SourceReport};
use flashlane_units::RequestOp;

/// Who shares a drive: a flow of a workload file. Where it has a source of requests, that says only
/// what the tenant has done before (what the drive holds of it, what its caches hold); the requests
/// are the caller's.
pub type Tenant = FlowConfig;

/// How to make a drive.
#[derive(Clone, Debug, Default)]
pub struct DriveOptions {
    /// Audits the full state of the model during the run.
    pub check: bool,
    /// Keeps who made whom wait: [`Drive::blame`].
    pub blame: bool,
}

/// What the caller learns from a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// Something inside the drive happened.
    Nothing,
    /// A command that was submitted for a later time has arrived.
    Arrived,
    /// A command is complete.
    Completed,
}

/// A drive that is stepped from outside.
pub struct Drive {
    device: Device,
    config: DeviceConfig,
    workload: WorkloadConfig,
    options: RunOptions,
    /// The event that the caller may still react to.
    open: Option<Up>,
    /// The drive has begun.
    begun: bool,
    /// The run failed.
    dead: bool,
}

/// The state of a drive at an instant; see [`Drive::snapshot`].
pub struct Snapshot {
    device: Device,
    begun: bool,
}

impl Drive {
    /// A preconditioned drive at time 0.
    ///
    /// # Errors
    /// [`Error::Config`] for a configuration that is refused, [`Error::Trace`] for a trace that
    /// cannot be read.
    pub fn new(device: &DeviceConfig, tenants: &[Tenant], seed: u64) -> Result<Self, Error> {
        Self::with_options(device, tenants, seed, &DriveOptions::default())
    }

    /// The same with options.
    ///
    /// # Errors
    /// As [`Drive::new`].
    pub fn with_options(
        device: &DeviceConfig,
        tenants: &[Tenant],
        seed: u64,
        options: &DriveOptions,
    ) -> Result<Self, Error> {
        let workload = WorkloadConfig {
            name: "drive".to_owned(),
            flows: tenants.to_vec(),
            window: WindowRule::WholeRun,
        };
        let problems = validate_tenants(device, &workload);
        if !problems.is_empty() {
            return Err(Error::Config(problems));
        }
        let observe = Observe { blame: options.blame, ..Observe::default() };
        let options = RunOptions { seed, check: options.check, observe, ..RunOptions::default() };
        let mut made = Prepared::new(device, &workload, &options)?.into_drive()?;
        let unprompted = vec![true; tenants.len()];
        let pages = made.layout.logical_pages;
        made.observer = Observer::new(&options.observe, device, &workload, pages, &unprompted);
        made.completions = Some(Completions::returned());
        made.horizon = Time::ZERO;
        let config = device.clone();
        Ok(Self { device: made, config, workload, options, open: None, begun: false, dead: false })
    }

    /// The time of the last event, from the start. Before the first one it is 0.
    #[must_use]
    pub fn now(&self) -> Time {
        self.device.now
    }

    /// Commands that were submitted and are not complete, those included that have not arrived yet.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.device.requests.len() + self.device.host.upcoming()
    }

    /// Sectors of a tenant's space, which are numbered from 0; 0 for a tenant that does not exist.
    #[must_use]
    pub fn sectors(&self, tenant: usize) -> u64 {
        self.device.layout.flows.get(tenant).map_or(0, |space| space.sectors)
    }

    /// Submits a command of a tenant for a time. `cookie` comes back with the completion; the drive
    /// does not look at it.
    ///
    /// # Errors
    /// By value; the drive is then as it was before.
    pub fn submit(
        &mut self,
        at: Time,
        tenant: usize,
        command: Command,
        cookie: u64,
    ) -> Result<(), Refused> {
        if at > self.device.now {
            return self.schedule(at, tenant, command, cookie);
        }
        let submission = self.accept(at, tenant, command, cookie)?;
        self.device.submit(submission.flow, &submission.planned, None, cookie);
        if self.open.is_none() && self.begun {
            self.device.schedule_ringing();
            self.device.dispatch_offered();
        }
        Ok(())
    }

    /// As [`Drive::submit`], but a command for [`Drive::now`] enters after everything that is
    /// scheduled for that time.
    ///
    /// # Errors
    /// As [`Drive::submit`].
    pub fn schedule(
        &mut self,
        at: Time,
        tenant: usize,
        command: Command,
        cookie: u64,
    ) -> Result<(), Refused> {
        let submission = self.accept(at, tenant, command, cookie)?;
        self.device.submit_at(at, submission);
        Ok(())
    }

    /// Checks a command and makes it a request.
    fn accept(
        &self,
        at: Time,
        tenant: usize,
        command: Command,
        cookie: u64,
    ) -> Result<Submission, Refused> {
        let now = self.device.now;
        if self.dead {
            return Err(Refused::Dead);
        }
        let tenants = self.workload.flows.len();
        if tenant >= tenants {
            return Err(Refused::Tenant { found: tenant, tenants });
        }
        if at < now || at >= Time::END {
            return Err(Refused::Time { at, now });
        }
        let op = command.check(self.sectors(tenant))?;
        if self.device.host.is_full(self.outstanding()) {
            return Err(Refused::Full);
        }
        let sector = if op == RequestOp::Flush { 0 } else { command.sector };
        let planned = Planned { arrival: at, op, sector, sectors: command.sectors };
        Ok(Submission { flow: tenant as u16, planned, cookie })
    }

    /// The time of the next event. `None`: nothing is left to do until something is submitted.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        let inside = self.open.is_some() || !self.begun;
        if inside { Some(self.device.now) } else { self.device.queue.next_time() }
    }

    /// Handles one event, and adds what completes to `completions`. `None` if there was none to
    /// handle. What the caller submits for [`Drive::now`] before the next call is the host's
    /// reaction to the event.
    ///
    /// # Errors
    /// [`Error::Stuck`] where the drive cannot finish its work; the drive is dead then.
    pub fn step(&mut self, completions: &mut Vec<Completion>) -> Result<Option<Report>, Error> {
        let stepped = self.settle().and_then(|()| {
            let Some(at) = self.device.queue.next_time() else { return Ok(None) };
            self.device.horizon = at;
            self.open = self.device.step();
            let report = self.open.map(|up| match up {
                Up::Nothing | Up::Woken { .. } => Report::Nothing,
                Up::Arrived { .. } => Report::Arrived,
                Up::Completed { .. } | Up::TagFreed { .. } => Report::Completed,
            });
            self.device.failed().map_or(Ok(report), Err)
        });
        self.take_completions(completions);
        self.dies_with(stepped)
    }

    /// Handles every event up to and including `until`, and adds what completes to `completions`,
    /// in order.
    ///
    /// # Errors
    /// As [`Drive::step`].
    pub fn advance(&mut self, until: Time, completions: &mut Vec<Completion>) -> Result<(), Error> {
        let advanced = self.advance_to(until);
        self.take_completions(completions);
        self.dies_with(advanced)
    }

    fn advance_to(&mut self, until: Time) -> Result<(), Error> {
        self.settle()?;
        self.device.horizon = until;
        while self.device.queue.next_time().is_some_and(|at| at <= until) {
            self.open = self.device.step();
            self.settle()?;
        }
        Ok(())
    }

    /// Ends the event that the caller could react to.
    fn settle(&mut self) -> Result<(), Error> {
        if self.dead {
            return Err(Error::Stuck(Refused::Dead.to_string()));
        }
        if !self.begun {
            self.begun = true;
            self.device.schedule_ringing();
            self.device.start();
        }
        match self.open.take() {
            None => return Ok(()),
            Some(Up::Nothing | Up::TagFreed { .. }) => {}
            Some(Up::Completed { .. }) => self.device.completion_over(),
            Some(Up::Arrived { .. } | Up::Woken { .. }) => self.device.ring(),
        }
        if self.device.step_over() {
            self.device.look_around(&|_| {})?;
        }
        self.device.failed().map_or(Ok(()), Err)
    }

    /// The drive is dead after an error.
    fn dies_with<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        self.dead |= result.is_err();
        result
    }

    fn take_completions(&mut self, completions: &mut Vec<Completion>) {
        if let Some(kept) = &mut self.device.completions {
            kept.hand_over(completions);
        }
    }

    /// The state of the drive, to go on from later: with [`Drive::restore`] of this drive.
    ///
    /// # Errors
    /// As [`Drive::step`].
    pub fn snapshot(&mut self) -> Result<Snapshot, Error> {
        let settled = self.settle();
        self.dies_with(settled)?;
        Ok(Snapshot { device: self.device.clone(), begun: self.begun })
    }

    /// Goes back to a snapshot of this drive; a dead drive lives again.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.device = snapshot.device.clone();
        (self.open, self.begun, self.dead) = (None, snapshot.begun, false);
    }

    /// What the drive has done so far, as the summary of a run that ends now: rates and means are
    /// over the whole time.
    ///
    /// # Errors
    /// As [`Drive::step`].
    pub fn summary(&mut self) -> Result<Summary, Error> {
        let settled = self.settle();
        self.dies_with(settled)?;
        // Only the recorder is changed by an end.
        let recorder = self.device.recorder.clone();
        self.device.settle_window();
        self.device.recorder.settle();
        let ended = self.device.ended(&self.config);
        let input = |_| SourceReport::default();
        let summary = report::summarise(&ended, input, &self.config, &self.workload, &self.options);
        self.device.recorder = recorder;
        Ok(summary)
    }

    /// Who made whom wait so far; `None` without [`DriveOptions::blame`].
    ///
    /// # Errors
    /// As [`Drive::step`].
    pub fn blame(&mut self) -> Result<Option<Blame>, Error> {
        let settled = self.settle();
        self.dies_with(settled)?;
        let (observer, completions) =
            (self.device.observer.clone(), self.device.completions.take());
        let observed = self.device.observed(&self.workload);
        (self.device.observer, self.device.completions) = (observer, completions);
        Ok(observed?.blame)
    }
}

impl Prepared<'_> {
    /// The prepared drive, without anybody who loads it.
    fn into_drive(mut self) -> Result<Device, Error> {
        let state = self.take_state();
        let window = Window::new(WindowRule::WholeRun, Warmup::None);
        Ok(self.build(state, window, |_| false)?.drive)
    }
}
