//! The library with one more function: a panic in the middle of the work of a drive.

use std::ptr::NonNull;

use flashlane_capi::{Drive, Status, on_drive};

/// Handles an event, and panics before the function is over.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_test_panic(drive: Option<NonNull<Drive>>) -> Status {
    on_drive(drive, |drive| {
        drive.step(&mut Vec::new())?;
        panic!("provoked by a test");
    })
}
