//! No panic leaves this library, and no two threads are in one drive.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::TryLockError;

use flashlane::need::{self, OutOfMemory};

use crate::drive::{Drive, DriveLife, State};
use crate::error::{Failure, Status, keep};
use crate::pointers::shared;

/// Runs work that needs no drive.
pub(crate) fn guard(work: impl FnOnce() -> Result<Status, Failure>) -> Status {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|panic| Err(fault(&*panic))).unwrap_or_else(|failure| keep(&failure))
}

/// Turns a panic into a failure.
fn fault(panic: &(dyn Any + Send)) -> Failure {
    if let Some(memory) = panic.downcast_ref::<OutOfMemory>() {
        return Failure::new(Status::Memory, need::lacking(memory.bytes));
    }
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    Failure::new(Status::Panic, format!("a fault of the simulator: {said}"))
}

/// Runs work on a drive, whether it is alive or dead. A panic makes it dead for good.
pub(crate) fn with_state(
    drive: Option<NonNull<Drive>>,
    work: impl FnOnce(&mut State) -> Result<Status, Failure>,
) -> Status {
    guard(|| {
        let drive = shared(drive, "drive")?;
        let mut state = match drive.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::new(
                    Status::Busy,
                    "the drive is in use by another thread; allowed: one thread at a time",
                ));
            }
        };
        if state.life == DriveLife::Broken {
            return Err(Failure::new(Status::Dead, "the drive is dead after a fault"));
        }
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut state)));
        done.unwrap_or_else(|panic| {
            state.life = DriveLife::Broken;
            Err(fault(&*panic))
        })
    })
}

/// Runs work on a drive that is alive.
pub(crate) fn with_living(
    drive: Option<NonNull<Drive>>,
    work: impl FnOnce(&mut State) -> Result<Status, Failure>,
) -> Status {
    with_state(drive, |state| {
        if state.life == DriveLife::Stuck {
            let text = "an earlier call failed, and the drive cannot go on";
            return Err(Failure::new(Status::Dead, text));
        }
        let done = work(state);
        if matches!(&done, Err(Failure { status: Status::Stuck, .. })) {
            state.life = DriveLife::Stuck;
        }
        done
    })
}

/// For tests: runs work on a drive, as every function of the header does.
#[doc(hidden)]
pub fn on_drive(
    drive: Option<NonNull<Drive>>,
    work: impl FnOnce(&mut flashlane::Drive) -> Result<(), Failure>,
) -> Status {
    with_living(drive, |state| work(&mut state.drive).map(|()| Status::Ok))
}
