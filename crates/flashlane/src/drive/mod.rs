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
//! - After [`Report::Nothing`] the event is over: a command for [`Drive::now`] enters after it.
//! - [`Drive::schedule`] is for arrivals by the clock: a command for [`Drive::now`] enters after
//!   everything that is scheduled for that time, as one for a later time does.
//! - Commands that are submitted for time 0 before the first step are there before the drive
//!   begins.
//!
//! So the same calls give the same completions, at the same picosecond.
//! [`Observe::submissions`](flashlane_measure::observe::Observe::submissions) records what the
//! flows of a run submit in just this form, and [`Drive::replay`] submits it again.

pub(crate) mod replay;
mod step;

use flashlane_engine::Time;

pub use flashlane_device::ftl::placement::{PlacementEvent, PlacementEventKind};
pub use flashlane_device::interface::zones::{
    CannotFail, ZoneFailure, ZoneRefusal, ZoneReport, ZoneState,
};
pub use flashlane_measure::command::{Command, Completion, Operation, Refused};
pub use flashlane_measure::recording::{Submissions, Submitted};

use crate::need;
use crate::run::{Prepared, RunOptions, Warmup};
use flashlane_config::validate::validate_tenants;
use flashlane_config::{DeviceConfig, FlowConfig, OUTSTANDING_MAX, WindowRule, WorkloadConfig};
use flashlane_device::device::watcher::Watcher;
use flashlane_device::event::Up;
use flashlane_device::host::Submission;
use flashlane_device::request::{Directive, Planned};
use flashlane_measure::metrics::metered::Metered;
use flashlane_measure::metrics::window::Window;
use flashlane_measure::metrics::{Summary, report};
use flashlane_measure::observe::{Blame, Completions, Observe, Observer};
use flashlane_reading::Error;
use flashlane_units::{FlowId, RequestOp};
use flashlane_workload::SourceReport;

/// A tenant of a drive: a flow of a workload file. [`Tenant::named`](FlowConfig::named) makes one.
/// A source of requests only tells what the tenant has done before: what data the drive and its
/// caches hold. The requests come from the caller.
pub type Tenant = FlowConfig;

/// Audits and records of a drive that is stepped from outside.
#[derive(Clone, Debug, Default)]
pub struct DriveOptions {
    /// Audits the full state of the model during the run.
    pub check: bool,
    /// Keeps which flow delays which: [`Drive::blame`].
    pub blame: bool,
}

/// News for the caller from a step.
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
///
/// ```
/// use flashlane::config::load::{Overrides, device};
/// use flashlane::drive::{Command, Drive, Tenant};
/// use flashlane::{Error, Time};
///
/// // A preset or a device file, and two tenants that share the drive.
/// let config = device("tiny", &Overrides::default())?.config;
/// let tenants = [Tenant::named("writer"), Tenant::named("reader")];
/// let mut drive = Drive::new(&config, &tenants, 1)?;
///
/// // Every 10 us a write of one tenant and a read of the other: 8 sectors are 4 KiB.
/// for i in 0..100 {
///     let at = Time(i * 10_000_000); // Unit: picoseconds.
///     drive.submit(at, 0, Command::write(i * 8, 8), i).expect("a valid command");
///     drive.submit(at, 1, Command::read(i * 8, 8), 100 + i).expect("a valid command");
/// }
///
/// // Up to 200 us at once, then event by event. A read that ends is followed by another one.
/// let mut completions = Vec::new();
/// drive.advance(Time(200_000_000), &mut completions)?;
/// let snapshot = drive.snapshot()?;
/// let (mut seen, mut more) = (completions.len(), 50);
/// while drive.step(&mut completions)?.is_some() {
///     for done in &completions[seen..] {
///         if done.record.flow == 1 && more > 0 {
///             more -= 1;
///             let read = Command::read(more * 64, 8);
///             drive.submit(drive.now(), 1, read, 200 + more).expect("a valid command");
///         }
///     }
///     seen = completions.len();
/// }
/// assert_eq!((completions.len(), drive.outstanding()), (250, 0));
///
/// let summary = drive.summary()?;
/// for flow in &summary.flows {
///     let latency = &flow.response_time_us;
///     println!("{}: {} requests, mean {:.1} us", flow.name, latency.count, latency.mean);
/// }
/// assert_eq!(summary.requests_completed, 250);
///
/// // Back to 200 us: this time no further reads are submitted.
/// drive.restore(&snapshot);
/// completions.clear();
/// drive.advance(Time(1_000_000_000_000), &mut completions)?;
/// assert_eq!(drive.summary()?.requests_completed, 200);
/// # Ok::<(), Error>(())
/// ```
pub struct Drive {
    drive: Metered,
    config: DeviceConfig,
    workload: WorkloadConfig,
    options: RunOptions,
    /// The event to which the caller may still react.
    open: Option<Up>,
    /// True if the drive has begun.
    begun: bool,
    /// True if the run failed.
    dead: bool,
}

/// The state of a drive at an instant; see [`Drive::snapshot`].
pub struct Snapshot {
    drive: Metered,
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

    /// A preconditioned drive at time 0, with options.
    ///
    /// # Errors
    ///
    /// Those of [`Drive::new`].
    pub fn with_options(
        device: &DeviceConfig,
        tenants: &[Tenant],
        seed: u64,
        options: &DriveOptions,
    ) -> Result<Self, Error> {
        let workload = WorkloadConfig {
            name: "drive".to_owned(),
            flows: tenants.to_vec(),
            groups: Vec::new(),
            window: WindowRule::WholeRun,
            warmup: None,
            outstanding_max: OUTSTANDING_MAX,
        };
        let problems = validate_tenants(device, &workload);
        if !problems.is_empty() {
            return Err(Error::Config(problems));
        }
        let observe = Observe { blame: options.blame, ..Observe::default() };
        let options = RunOptions { seed, check: options.check, observe, ..RunOptions::default() };
        need::check(device, &workload)?;
        let make = || Prepared::new(device, &workload, &options)?.into_drive();
        let mut made = need::guarded(make)?;
        let unprompted = vec![true; tenants.len()];
        let pages = made.device.layout().logical_pages;
        let observer = Observer::new(&options.observe, device, &workload, pages, &unprompted);
        made.device.watch(observer.map(|observer| observer as Box<dyn Watcher>));
        made.meters.completions = Some(Completions::returned());
        made.device.set_horizon(Time::ZERO);
        made.device.answer_refusals();
        let config = device.clone();
        Ok(Self { drive: made, config, workload, options, open: None, begun: false, dead: false })
    }

    /// Time of the last event, from the start; 0 before the first event.
    #[must_use]
    pub fn now(&self) -> Time {
        self.drive.device.now()
    }

    /// Number of commands that were submitted and are not complete, including those that have not
    /// arrived yet.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.drive.device.outstanding() + self.drive.device.upcoming()
    }

    /// Sectors of a tenant's space, which are numbered from 0; 0 for a tenant that does not exist.
    #[must_use]
    pub fn sectors(&self, tenant: usize) -> u64 {
        self.drive.device.layout().flows.get(tenant).map_or(0, |space| space.sectors)
    }

    /// The zones of a tenant, in order; none on a drive without zones, and for a tenant that does
    /// not exist. A command counts from its arrival on.
    #[must_use]
    pub fn zones(&self, tenant: usize) -> Vec<ZoneReport> {
        if tenant >= self.workload.flows.len() {
            return Vec::new();
        }
        self.drive.device.zones_of(FlowId::at(tenant)).unwrap_or_default()
    }

    /// A zone of a tenant fails, from now on. It then can only be read, or not even that; so a
    /// program tests what a host does. A recording of submissions does not tell of it.
    ///
    /// # Errors
    ///
    /// [`CannotFail`]; nothing has changed then.
    pub fn fail_zone(
        &mut self,
        tenant: usize,
        zone: u32,
        failure: ZoneFailure,
    ) -> Result<(), CannotFail> {
        if self.zones(tenant).is_empty() {
            return Err(CannotFail::NoZone { found: zone, count: 0 });
        }
        self.drive.device.fail_zone(FlowId::at(tenant), zone, failure)?;
        if self.begun {
            self.drive.device.dispatch_offered();
        }
        Ok(())
    }

    /// The latest events of flexible data placement and streams, oldest first, 63 at most: what the
    /// log page 23h of the standard has. Empty on a drive without them.
    #[must_use]
    pub fn placement_events(&self) -> Vec<PlacementEvent> {
        self.drive.device.placement_events()
    }

    /// Submits a command of a tenant for a time. `cookie` comes back with the completion; the drive
    /// does not look at it.
    ///
    /// # Errors
    ///
    /// [`Refused`]; the drive is then unchanged.
    pub fn submit(
        &mut self,
        at: Time,
        tenant: usize,
        command: Command,
        cookie: u64,
    ) -> Result<(), Refused> {
        if at > self.drive.device.now() {
            return self.schedule(at, tenant, command, cookie);
        }
        let submission = self.accept(at, tenant, command, cookie)?;
        self.drive.submit(submission.flow, &submission.planned, None, cookie);
        if self.open.is_none() && self.begun {
            self.drive.device.schedule_ringing();
            self.drive.device.dispatch_offered();
        }
        Ok(())
    }

    /// Submits a command as [`Drive::submit`] does, except that a command for [`Drive::now`] enters
    /// after everything that is scheduled for that time.
    ///
    /// # Errors
    ///
    /// Those of [`Drive::submit`].
    pub fn schedule(
        &mut self,
        at: Time,
        tenant: usize,
        command: Command,
        cookie: u64,
    ) -> Result<(), Refused> {
        let submission = self.accept(at, tenant, command, cookie)?;
        self.drive.device.submit_at(at, submission);
        Ok(())
    }

    /// Checks a command and turns it into a request.
    fn accept(
        &self,
        at: Time,
        tenant: usize,
        command: Command,
        cookie: u64,
    ) -> Result<Submission, Refused> {
        let now = self.drive.device.now();
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
        let op = command.check(self.sectors(tenant), &self.config)?;
        if self.drive.device.is_full(self.outstanding()) {
            return Err(Refused::Full);
        }
        let sector = if op == RequestOp::Flush { 0 } else { command.sector };
        let directive = Directive::named(command.placement);
        let sectors = command.sectors;
        let planned = Planned { arrival: at, op, sector, sectors, queue: 0, directive };
        Ok(Submission { flow: FlowId::at(tenant), planned, cookie })
    }

    /// The state of the drive, to which [`Drive::restore`] of this drive can return later.
    ///
    /// # Errors
    ///
    /// Those of [`Drive::step`].
    pub fn snapshot(&mut self) -> Result<Snapshot, Error> {
        let settled = self.settle();
        self.dies_with(settled)?;
        Ok(Snapshot { drive: self.drive.clone(), begun: self.begun })
    }

    /// Returns to a snapshot of this drive; this also revives a dead drive.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.drive = snapshot.drive.clone();
        (self.open, self.begun, self.dead) = (None, snapshot.begun, false);
    }

    /// The summary of the drive's work so far, as for a run that ends now: rates and means are
    /// over the whole time.
    ///
    /// # Errors
    ///
    /// Those of [`Drive::step`].
    pub fn summary(&mut self) -> Result<Summary, Error> {
        let settled = self.settle();
        self.dies_with(settled)?;
        // The end changes only the recorder.
        let recorder = self.drive.meters.recorder.clone();
        self.drive.settle_window();
        self.drive.settle();
        let ended = self.drive.ended(&self.config);
        let input = |_| SourceReport::default();
        let summary =
            report::summarise(&ended, input, &self.config, &self.workload, self.options.variant());
        self.drive.meters.recorder = recorder;
        Ok(summary)
    }

    /// Which flow delays which, so far; `None` without [`DriveOptions::blame`].
    ///
    /// # Errors
    ///
    /// Those of [`Drive::step`].
    pub fn blame(&mut self) -> Result<Option<Blame>, Error> {
        let settled = self.settle();
        self.dies_with(settled)?;
        let watcher = self.drive.device.watcher().map(dyn_clone::clone_box);
        let completions = self.drive.meters.completions.take();
        let observed = self.drive.observed(&self.workload);
        self.drive.device.watch(watcher);
        self.drive.meters.completions = completions;
        Ok(observed?.blame)
    }
}

/// Tests run the examples of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/drive.md")]
struct Page;

impl Prepared<'_> {
    /// The prepared drive, without tenants that load it.
    fn into_drive(mut self) -> Result<Metered, Error> {
        let state = self.take_state();
        let window = Window::new(WindowRule::WholeRun, Warmup::None);
        Ok(self.build(state, window, |_| false)?.drive)
    }
}
