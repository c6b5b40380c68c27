//! `Drive`: a drive to which a Python program submits commands and which it steps.

mod commands;
mod snapshot;

pub(crate) use commands::Completion;
use commands::Row;
pub(crate) use snapshot::Snapshot;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use flashlane::config::load::{self, Overrides};
use flashlane::drive::{self, Command, DriveOptions, Refused, Report};
use flashlane::observe::RequestBatch;
use flashlane::{Error, Time, visible};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::config::{Device, toml_of};
use crate::error::{OrRaise, fault, raise};
use crate::simulate::json;
use crate::table::{self, Table};
use crate::values;

/// Time between two checks of Python's signals.
const LOOK: Duration = Duration::from_millis(20);

/// The drive, and completions that were not yet returned.
struct State {
    drive: drive::Drive,
    completions: Vec<drive::Completion>,
    /// Number of arrivals and completions that the drive has reported.
    reports: u64,
    /// True if a panic left the drive in an unknown state.
    broken: bool,
}

impl State {
    /// Submits a command for its time, or for the current time of the drive.
    fn submit(&mut self, it: &Row, by_clock: bool) -> Result<(), Refused> {
        let at = it.at.unwrap_or_else(|| self.drive.now());
        match by_clock {
            true => self.drive.schedule(at, it.tenant, it.command, it.cookie),
            false => self.drive.submit(at, it.tenant, it.command, it.cookie),
        }
    }
}

/// A drive that a program steps. One thread at a time may use it.
#[pyclass(frozen, module = "flashlane._flashlane", name = "_Drive")]
pub(crate) struct Drive {
    state: Mutex<State>,
    names: Vec<String>,
    /// Number of the drive, so that a snapshot is only restored to its own drive.
    number: u64,
}

/// The exception for a command that the drive refuses.
fn refused(py: Python<'_>, refused: &Refused, row: Option<usize>) -> PyErr {
    let text = match row {
        Some(row) => format!("row {row}: {refused}"),
        None => refused.to_string(),
    };
    let made = py
        .import("flashlane.errors")
        .and_then(|errors| errors.getattr("RefusedError"))
        .and_then(|exception| exception.call1((text, row)));
    made.map_or_else(|failure| failure, PyErr::from_value)
}

impl Drive {
    /// Locks the drive. It is an error of the program if another thread uses the drive at the
    /// moment.
    fn lock(&self) -> PyResult<MutexGuard<'_, State>> {
        let state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(PyRuntimeError::new_err(
                    "the drive is in use by another thread; allowed: one thread at a time",
                ));
            }
        };
        if state.broken {
            return Err(PyRuntimeError::new_err("the drive is dead after an internal fault"));
        }
        Ok(state)
    }

    /// Works with the drive, without the interpreter's lock. A panic becomes an exception, and the
    /// drive can no longer be used.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut state = self.lock()?;
            let done = catch_unwind(AssertUnwindSafe(|| work(&mut state)));
            done.unwrap_or_else(|panic| {
                state.broken = true;
                Err(fault(Some(panic), "; the drive is dead"))
            })
        })
    }

    /// The index of a tenant, which is given by name or by index.
    fn tenant(&self, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        if let Ok(name) = value.extract::<&str>() {
            return self.place_of(name);
        }
        let place: i64 = value.extract()?;
        usize::try_from(place).map_err(|_| {
            let last = self.names.len() - 1;
            PyValueError::new_err(format!("tenant: found {place}, allowed: 0 to {last}, or a name"))
        })
    }

    /// The index of the tenant with this name.
    fn place_of(&self, name: &str) -> PyResult<usize> {
        self.names.iter().position(|own| own == name).ok_or_else(|| {
            let known = self.names.join(", ");
            let found = visible(name);
            PyValueError::new_err(format!("tenant: found `{found}`, allowed: {known}"))
        })
    }

    fn to_table(&self, completions: &[drive::Completion]) -> Table {
        let mut rows = RequestBatch::default();
        rows.extend(&completions.iter().map(|done| done.record).collect::<Vec<_>>());
        let cookies = completions.iter().map(|done| done.cookie).collect();
        table::completions(cookies, rows, &self.names)
    }
}

/// Handles events up to a time, in slices of simulated time, so that Ctrl-C is noticed.
fn advance(state: &mut State, until: Time) -> PyResult<()> {
    let mut slice = 1_000_000_000_u64;
    let mut looked = Instant::now();
    loop {
        let State { drive, completions, reports, .. } = state;
        let next = drive.next_event().unwrap_or(until).max(drive.now());
        let to = Time(next.0.saturating_add(slice)).min(until);
        let (begun, before) = (Instant::now(), completions.len());
        let done = drive.advance(to, completions);
        *reports += (completions.len() - before) as u64;
        done.or_raise()?;
        if to >= until || drive.next_event().is_none() {
            return Ok(());
        }
        match begun.elapsed() {
            took if took < LOOK / 8 => slice = slice.saturating_mul(2),
            took if took > LOOK => slice = (slice / 2).max(1),
            _ => {}
        }
        if looked.elapsed() > LOOK {
            looked = Instant::now();
            Python::attach(|py| py.check_signals())?;
        }
    }
}

#[pymethods]
impl Drive {
    #[new]
    #[pyo3(signature = (device, tenants, *, seed, check, blame))]
    fn new(
        py: Python<'_>,
        device: &Device,
        tenants: &Bound<'_, PyDict>,
        seed: u64,
        check: bool,
        blame: bool,
    ) -> PyResult<Self> {
        static DRIVES: AtomicU64 = AtomicU64::new(0);
        let text = toml_of(&values::table(tenants, "")?)?;
        let overrides = Overrides::default();
        let flows = load::workload_from_toml(&text, "Drive", &overrides).or_raise()?.config.flows;
        let config = device.loaded.config.clone();
        let options = DriveOptions { check, blame };
        let drive = py.detach(|| drive::Drive::with_options(&config, &flows, seed, &options));
        let (completions, drive) = (Vec::new(), drive.or_raise()?);
        Ok(Self {
            state: Mutex::new(State { drive, completions, reports: 0, broken: false }),
            names: flows.into_iter().map(|flow| flow.name).collect(),
            number: DRIVES.fetch_add(1, Ordering::Relaxed),
        })
    }

    #[getter]
    fn tenants(&self) -> Vec<String> {
        self.names.clone()
    }

    #[getter]
    fn now(&self) -> PyResult<u64> {
        Ok(self.lock()?.drive.now().0)
    }

    #[getter]
    fn next_event(&self) -> PyResult<Option<u64>> {
        Ok(self.lock()?.drive.next_event().map(|at| at.0))
    }

    #[getter]
    fn outstanding(&self) -> PyResult<usize> {
        Ok(self.lock()?.drive.outstanding())
    }

    #[getter]
    fn reports(&self) -> PyResult<u64> {
        Ok(self.lock()?.reports)
    }

    fn sectors(&self, tenant: &Bound<'_, PyAny>) -> PyResult<u64> {
        let place = self.tenant(tenant)?;
        if place >= self.names.len() {
            let last = self.names.len() - 1;
            let message = format!("tenant: found {place}, allowed: 0 to {last}, or a name");
            return Err(PyValueError::new_err(message));
        }
        Ok(self.lock()?.drive.sectors(place))
    }

    /// Start, capacity, state and write pointer of each zone of a tenant.
    fn zones(&self, tenant: &Bound<'_, PyAny>) -> PyResult<Vec<commands::Zone>> {
        self.sectors(tenant)?;
        let zones = self.lock()?.drive.zones(self.tenant(tenant)?);
        Ok(zones.iter().map(commands::zone).collect())
    }

    /// A zone of a tenant fails.
    fn fail_zone(&self, tenant: &Bound<'_, PyAny>, zone: u32, state: &str) -> PyResult<()> {
        let failure = commands::failure(state)?;
        self.sectors(tenant)?;
        let found = self.lock()?.drive.fail_zone(self.tenant(tenant)?, zone, failure);
        found.map_err(|why| PyValueError::new_err(why.to_string()))
    }

    /// Time, kind, placement identifier and pages of each of the latest events of placement.
    fn placement_events(&self) -> PyResult<Vec<commands::Event>> {
        Ok(self.lock()?.drive.placement_events().iter().map(commands::event).collect())
    }

    #[pyo3(signature = (
        tenant, op, lba, sectors, *, at, cookie, namespace, placement, by_clock
    ))]
    #[expect(clippy::too_many_arguments, reason = "the fields of a command")]
    fn submit(
        &self,
        py: Python<'_>,
        tenant: &Bound<'_, PyAny>,
        op: &str,
        lba: u64,
        sectors: u32,
        at: Option<u64>,
        cookie: u64,
        namespace: u32,
        placement: Option<u16>,
        by_clock: bool,
    ) -> PyResult<()> {
        let operation = commands::operation(op)?;
        let tenant = self.tenant(tenant)?;
        let command = Command { operation, namespace, sector: lba, sectors, placement };
        let row = Row { at: at.map(Time), tenant, command, cookie, by_clock, after: 0 };
        self.lock()?.submit(&row, by_clock).map_err(|error| refused(py, &error, None))
    }

    /// Submits a recording to an unused drive, and runs the drive to the end of the recording.
    fn replay(&self, py: Python<'_>, table: &Bound<'_, PyAny>) -> PyResult<Table> {
        let rows = commands::from_arrow(table, |name| self.place_of(name))?;
        let recording: Vec<_> = rows.iter().map(Row::submitted).collect();
        let completions = self.with(py, |state| {
            if state.drive.now() > Time::ZERO || state.drive.outstanding() > 0 {
                let used = "found a drive that is in use, allowed: a drive at time 0";
                return Err(raise(&Error::config("replay", used)));
            }
            state.drive.replay(&recording, &mut state.completions).or_raise()?;
            Ok(std::mem::take(&mut state.completions))
        })?;
        Ok(py.detach(|| self.to_table(&completions)))
    }

    /// Submits the rows of an Arrow table, and returns how many there were.
    fn submit_batch(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        by_clock: bool,
    ) -> PyResult<usize> {
        let rows = commands::from_arrow(table, |name| self.place_of(name))?;
        let done = self.with(py, |state| {
            for (row, it) in rows.iter().enumerate() {
                if let Err(error) = state.submit(it, by_clock || it.by_clock) {
                    return Ok(Err((row, error)));
                }
            }
            Ok(Ok(rows.len()))
        })?;
        done.map_err(|(row, error)| refused(py, &error, Some(row)))
    }

    /// Handles every event up to and including `until`; all events without `until`.
    fn advance(&self, py: Python<'_>, until: Option<u64>) -> PyResult<Table> {
        let completions = self.with(py, |state| {
            advance(state, until.map_or(Time(Time::END.0 - 1), Time))?;
            Ok(std::mem::take(&mut state.completions))
        })?;
        Ok(py.detach(|| self.to_table(&completions)))
    }

    /// Handles one event that is not after `until`. Returns the report and the completions, or
    /// `None` if there is no event.
    fn step(
        &self,
        py: Python<'_>,
        until: Option<u64>,
    ) -> PyResult<Option<(&'static str, Vec<commands::Completion>)>> {
        let (report, completions) = self.with(py, |state| {
            let State { drive, completions, reports, .. } = state;
            let report = match until {
                Some(until) => drive.step_until(Time(until), completions).or_raise()?,
                None => drive.step(completions).or_raise()?,
            };
            *reports += u64::from(report.is_some_and(|report| report != Report::Nothing));
            Ok((report, std::mem::take(completions)))
        })?;
        let completions = || completions.iter().map(|done| self.completion(done)).collect();
        Ok(report.map(|report| match report {
            Report::Nothing => ("nothing", completions()),
            Report::Arrived => ("arrived", completions()),
            Report::Completed => ("completed", completions()),
        }))
    }

    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        self.with(py, |state| {
            let snapshot = state.drive.snapshot().or_raise()?;
            let (reports, now_ps) = (state.reports, state.drive.now().0);
            Ok(Snapshot { snapshot: Mutex::new(snapshot), reports, now_ps, drive: self.number })
        })
    }

    fn restore(&self, py: Python<'_>, snapshot: &Snapshot) -> PyResult<()> {
        if snapshot.drive != self.number {
            return Err(PyValueError::new_err(
                "restore: found a snapshot of another drive, allowed: one of this drive",
            ));
        }
        self.with(py, |state| {
            let kept = snapshot.snapshot.lock();
            state.drive.restore(&kept.unwrap_or_else(std::sync::PoisonError::into_inner));
            state.completions.clear();
            state.reports = snapshot.reports;
            Ok(())
        })
    }

    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| json(&state.drive.summary().map_err(|error| raise(&error))?))
    }

    fn blame(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |state| {
            let blame = state.drive.blame().map_err(|error| raise(&error))?;
            blame.as_ref().map(json).transpose()
        })
    }
}

impl Drive {
    fn completion(&self, done: &drive::Completion) -> commands::Completion {
        let tenant = self.names[usize::from(done.record.flow)].clone();
        commands::Completion { tenant, done: *done }
    }
}

/// The error of a table that is not one of commands.
fn not_commands(message: impl Into<String>) -> PyErr {
    raise(&Error::config("submit_batch", message))
}
