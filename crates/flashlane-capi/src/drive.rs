//! Drives: making, loading, stepping and queries.

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use flashlane::Time;
use flashlane::drive;

use crate::border::{guard, with_living, with_state};
use crate::error::{Failure, Status};
use crate::make;
use crate::pointers::{self, Buffer, needed};
use crate::types::{Command, Completion, Config, FLASHLANE_NEVER, Report};

/// A simulated drive.
pub struct Drive {
    pub(crate) state: Mutex<State>,
}

/// What the lock of a drive protects.
pub(crate) struct State {
    pub(crate) drive: flashlane::Drive,
    /// Tells drives apart, for their snapshots.
    pub(crate) number: u64,
    pub(crate) tenants: usize,
    pub(crate) life: DriveLife,
    /// Completions on their way to the caller; empty between calls.
    completions: Vec<drive::Completion>,
}

/// Whether a drive can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DriveLife {
    /// The drive can continue.
    Alive,
    /// The drive cannot finish its work. A snapshot can be restored.
    Stuck,
    /// A panic left it in an unknown state.
    Broken,
}

/// Makes a preconditioned drive at time 0. After a failure *drive is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_drive_new(
    config: *const Config,
    drive: Option<&mut MaybeUninit<Option<Box<Drive>>>>,
) -> Status {
    static DRIVES: AtomicU64 = AtomicU64::new(0);
    guard(|| {
        let place = needed(drive, "drive")?.write(None);
        let (made, tenants) = make::drive(&pointers::config(config)?)?;
        let number = DRIVES.fetch_add(1, Ordering::Relaxed);
        let (life, completions) = (DriveLife::Alive, Vec::new());
        let state = State { drive: made, number, tenants, life, completions };
        *place = Some(Box::new(Drive { state: Mutex::new(state) }));
        Ok(Status::Ok)
    })
}

/// Frees a drive. NULL is allowed. No other thread may use the drive any more.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_drive_free(drive: Option<Box<Drive>>) {
    guard(|| {
        drop(drive);
        Ok(Status::Ok)
    });
}

/// Submits a command for a time. Unit: picoseconds.
///
/// A command for the drive's present enters the drive at once. After a step that completed a
/// command, this is how a host reacts to the completion. A command for a later time enters at that
/// time, after everything that was scheduled for the same time before. Commands for time 0 before
/// the first step are there before the drive begins.
///
/// A command that is refused leaves the drive as it was.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_submit(
    drive: Option<NonNull<Drive>>,
    at_ps: u64,
    command: Option<&Command>,
) -> Status {
    enter(drive, at_ps, command, flashlane::Drive::submit)
}

/// As flashlane_submit(), but a command for the drive's present enters after everything that is
/// scheduled for the present. This is how commands arrive that come by the clock.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_schedule(
    drive: Option<NonNull<Drive>>,
    at_ps: u64,
    command: Option<&Command>,
) -> Status {
    enter(drive, at_ps, command, flashlane::Drive::schedule)
}

/// How a command enters a drive: one of two methods.
type Enter =
    fn(&mut flashlane::Drive, Time, usize, drive::Command, u64) -> Result<(), drive::Refused>;

fn enter(
    drive: Option<NonNull<Drive>>,
    at_ps: u64,
    command: Option<&Command>,
    enter: Enter,
) -> Status {
    with_living(drive, |state| {
        let command = needed(command, "command")?;
        // A list has no element for a number that does not fit.
        let tenant = usize::try_from(command.tenant).unwrap_or(usize::MAX);
        enter(&mut state.drive, Time(at_ps), tenant, command.to_drive()?, command.cookie)?;
        Ok(Status::Ok)
    })
}

/// Handles one event and reports what it was. *completion is written if the report is
/// FLASHLANE_REPORT_COMPLETED, and only then: an event completes one command at most. Commands that
/// are submitted for the present before the next call are the host's reaction to the event.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_step(
    drive: Option<NonNull<Drive>>,
    report: Option<&mut MaybeUninit<Report>>,
    completion: Option<NonNull<MaybeUninit<Completion>>>,
) -> Status {
    with_living(drive, |state| {
        let report = needed(report, "report")?.write(Report::Idle);
        let mut buffer = Buffer::new(completion, 1)?;
        let stepped = state.drive.step(&mut state.completions);
        state.hand_over(&mut buffer);
        *report = match stepped? {
            None => Report::Idle,
            Some(drive::Report::Nothing) => Report::Internal,
            Some(drive::Report::Arrived) => Report::Arrived,
            Some(drive::Report::Completed) => Report::Completed,
        };
        assert_eq!(
            buffer.used() == 1,
            *report == Report::Completed,
            "every completion is handed over"
        );
        Ok(Status::Ok)
    })
}

/// Handles every event up to and including a time, in order, and writes the commands that complete
/// to a buffer, in order. *count is their number.
///
/// Where the buffer becomes full, the drive stops right after the event that filled it, and the
/// function returns FLASHLANE_STATUS_MORE. The present is then the time of the last completion, and
/// commands that are submitted for the present are the host's reaction to it, as after a step. The
/// next call goes on from there. With a capacity of 1 the drive thus stops at every completion.
/// Otherwise the function returns FLASHLANE_STATUS_OK, and the buffer is not full.
///
/// After FLASHLANE_STATUS_STUCK, *count and the buffer hold what was completed before.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_advance(
    drive: Option<NonNull<Drive>>,
    until_ps: u64,
    completions: Option<NonNull<MaybeUninit<Completion>>>,
    capacity: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    with_living(drive, |state| {
        let count = needed(count, "count")?.write(0);
        let mut buffer = Buffer::new(completions, capacity)?;
        let advanced = state.advance(Time(until_ps), &mut buffer);
        *count = buffer.used();
        advanced
    })
}

impl State {
    /// The place of a tenant that exists.
    pub(crate) fn tenant(&self, tenant: u32) -> Result<usize, Failure> {
        let (found, tenants) = (usize::try_from(tenant).unwrap_or(usize::MAX), self.tenants);
        match found < tenants {
            true => Ok(found),
            false => Err(drive::Refused::Tenant { found, tenants }.into()),
        }
    }

    fn advance(&mut self, until: Time, buffer: &mut Buffer<'_>) -> Result<Status, Failure> {
        while buffer.left() > 0 {
            // No more commands can complete than are outstanding.
            let fits = self.drive.outstanding() < buffer.left();
            let advanced = match fits {
                true => self.drive.advance(until, &mut self.completions).map(|()| None),
                false => self.drive.step_until(until, &mut self.completions),
            };
            self.hand_over(buffer);
            if advanced?.is_none() {
                return Ok(Status::Ok);
            }
        }
        Ok(Status::More)
    }

    fn hand_over(&mut self, buffer: &mut Buffer<'_>) {
        for done in self.completions.drain(..) {
            buffer.push(Completion::from(&done));
        }
    }
}

/// The time of the next event, which is never before the present; FLASHLANE_NEVER if nothing is
/// left to do until something is submitted. Unit: picoseconds. Right after an event that the host
/// may react to, it is the present.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_next_event(
    drive: Option<NonNull<Drive>>,
    at_ps: Option<&mut MaybeUninit<u64>>,
) -> Status {
    with_living(drive, |state| {
        let next = state.drive.next_event();
        needed(at_ps, "at_ps")?.write(next.map_or(FLASHLANE_NEVER, |at| at.0));
        Ok(Status::Ok)
    })
}

/// The present: the time of the last event. Before the first one it is 0. Unit: picoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_now(
    drive: Option<NonNull<Drive>>,
    now_ps: Option<&mut MaybeUninit<u64>>,
) -> Status {
    with_state(drive, |state| {
        needed(now_ps, "now_ps")?.write(state.drive.now().0);
        Ok(Status::Ok)
    })
}

/// The number of commands that were submitted and are not complete. Those that have not arrived yet
/// count as well.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_outstanding(
    drive: Option<NonNull<Drive>>,
    count: Option<&mut MaybeUninit<u64>>,
) -> Status {
    with_state(drive, |state| {
        needed(count, "count")?.write(state.drive.outstanding() as u64);
        Ok(Status::Ok)
    })
}

/// The sectors of a tenant's space, which are numbered from 0. Unit: sectors of 512 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_sectors(
    drive: Option<NonNull<Drive>>,
    tenant: u32,
    sectors: Option<&mut MaybeUninit<u64>>,
) -> Status {
    with_state(drive, |state| {
        let place = needed(sectors, "sectors")?;
        let tenant = state.tenant(tenant)?;
        place.write(state.drive.sectors(tenant));
        Ok(Status::Ok)
    })
}
