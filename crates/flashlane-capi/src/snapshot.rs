//! Snapshots of drives.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use flashlane::drive;

use crate::border::{guard, with_living, with_state};
use crate::drive::{Drive, DriveLife};
use crate::error::{Failure, Status};
use crate::pointers::needed;

/// The state of a drive at an instant.
pub struct Snapshot {
    kept: drive::Snapshot,
    drive: u64,
}

/// Keeps the state of a drive. After a failure *snapshot is NULL. The snapshot belongs to the
/// drive: a thread that uses the snapshot uses the drive.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_snapshot_new(
    drive: Option<NonNull<Drive>>,
    snapshot: Option<&mut MaybeUninit<Option<Box<Snapshot>>>>,
) -> Status {
    guard(|| {
        let place = needed(snapshot, "snapshot")?.write(None);
        Ok(with_living(drive, |state| {
            let (kept, drive) = (state.drive.snapshot()?, state.number);
            *place = Some(Box::new(Snapshot { kept, drive }));
            Ok(Status::Ok)
        }))
    })
}

/// Takes a drive back to a snapshot of this drive. The snapshot can be used again. A drive that was
/// dead after FLASHLANE_STATUS_STUCK lives again.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_snapshot_restore(
    drive: Option<NonNull<Drive>>,
    snapshot: Option<&Snapshot>,
) -> Status {
    with_state(drive, |state| {
        let snapshot = needed(snapshot, "snapshot")?;
        if snapshot.drive != state.number {
            return Err(Failure::new(
                Status::Argument,
                "snapshot: found one of another drive, allowed: a snapshot of this drive",
            ));
        }
        state.drive.restore(&snapshot.kept);
        state.life = DriveLife::Alive;
        Ok(Status::Ok)
    })
}

/// Frees a snapshot, before or after its drive. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_snapshot_free(snapshot: Option<Box<Snapshot>>) {
    guard(|| {
        drop(snapshot);
        Ok(Status::Ok)
    });
}
