//! Texts that a C program gets: versions, and results as JSON.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use flashlane::Error;

use crate::border::{guard, with_living};
use crate::drive::Drive;
use crate::error::{Failure, Status};
use crate::pointers::{free_text, give_text, needed};
use crate::types::FLASHLANE_ABI_VERSION;

/// A place for the pointer to a text.
type Place<'a> = Option<&'a mut MaybeUninit<Option<NonNull<c_char>>>>;

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("versions have no zero bytes"),
    };

/// The FLASHLANE_ABI_VERSION of the library. A program that loads the library itself compares it
/// with that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_abi_version() -> u32 {
    FLASHLANE_ABI_VERSION
}

/// The version of Flashlane, such as "0.1.0". Do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_version() -> *const c_char {
    VERSION.as_ptr()
}

/// What the drive has done so far, as a JSON text with the keys of summary.json (docs/results.md):
/// the summary of a run that ends now. Free *json with flashlane_string_free(). After a failure it
/// is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_summary(
    drive: Option<NonNull<Drive>>,
    json: Option<&mut MaybeUninit<Option<NonNull<c_char>>>>,
) -> Status {
    give(json, drive, |drive| json_of(&drive.summary()?))
}

/// Which tenant delayed which other so far, as a JSON text with the keys of blame.json
/// (docs/blame.md). The drive needs the flag FLASHLANE_BLAME. Free *json with
/// flashlane_string_free(). After a failure *json is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_blame(
    drive: Option<NonNull<Drive>>,
    json: Option<&mut MaybeUninit<Option<NonNull<c_char>>>>,
) -> Status {
    give(json, drive, |drive| match drive.blame()? {
        Some(blame) => json_of(&blame),
        None => {
            let text = "blame: found a drive without FLASHLANE_BLAME, allowed: one with it";
            Err(Failure::new(Status::Argument, text))
        }
    })
}

/// Frees a text that came from this library and has to be freed. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_string_free(text: Option<NonNull<c_char>>) {
    guard(|| {
        if let Some(text) = text {
            free_text(text);
        }
        Ok(Status::Ok)
    });
}

fn give(
    place: Place<'_>,
    drive: Option<NonNull<Drive>>,
    text: impl FnOnce(&mut flashlane::Drive) -> Result<String, Failure>,
) -> Status {
    guard(|| {
        let place = needed(place, "json")?.write(None);
        Ok(with_living(drive, |state| {
            *place = Some(give_text(text(&mut state.drive)?)?);
            Ok(Status::Ok)
        }))
    })
}

pub(crate) fn json_of<T: serde::Serialize>(value: &T) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Error::Output(format!("JSON: {error}")).into())
}
