//! Results of functions, and the text of the last failure.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

use flashlane::drive::{CannotFail, Refused};
use flashlane::{Error, visible};

/// What a function returns. Negative numbers are failures; flashlane_last_error() has their text.
/// Later versions may have further ones.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The function has done its work.
    Ok = 0,
    /// flashlane_advance() stopped before the time, because the buffer is full. Call it again.
    More = 1,
    /// An argument is NULL where that is not allowed, is no UTF-8, or has flags or numbers that it
    /// may not have. Nothing was done.
    Argument = -1,
    /// The device or the tenants are refused, or a file that they name does not exist or is not
    /// readable. There is no drive.
    Config = -2,
    /// A trace that a tenant names has a line that is refused, or cannot be read to its end. There
    /// is no drive.
    Trace = -3,
    /// The drive cannot finish its work. It is dead; a snapshot can be restored.
    Stuck = -4,
    /// The drive is dead, because an earlier call failed with FLASHLANE_STATUS_STUCK,
    /// FLASHLANE_STATUS_MEMORY or FLASHLANE_STATUS_PANIC. Nothing was done.
    Dead = -5,
    /// Another thread uses the drive at this moment. Nothing was done.
    Busy = -6,
    /// A fault of the simulator. The drive is dead and cannot be restored.
    Panic = -7,
    /// A text could not be made.
    Output = -8,
    /// There is less memory than the drive needs. Nothing was done; where that was found while the
    /// drive worked, it is dead for good.
    Memory = -9,
    /// Refused: the time is before the drive's present, or 213 days (2^64 ps) after its start.
    BadTime = -16,
    /// Refused: there is no such tenant.
    BadTenant = -17,
    /// Refused: there is no such namespace.
    BadNamespace = -18,
    /// Refused: the range is empty, too long, or ends outside of the tenant's space.
    BadRange = -19,
    /// Refused: 2^24 commands are outstanding, which is all that a drive takes.
    Full = -20,
    /// Refused: no drive does this yet.
    Unsupported = -21,
}

/// Every status and its name.
const NAMES: &[(Status, &CStr)] = &[
    (Status::Ok, c"FLASHLANE_STATUS_OK"),
    (Status::More, c"FLASHLANE_STATUS_MORE"),
    (Status::Argument, c"FLASHLANE_STATUS_ARGUMENT"),
    (Status::Config, c"FLASHLANE_STATUS_CONFIG"),
    (Status::Trace, c"FLASHLANE_STATUS_TRACE"),
    (Status::Stuck, c"FLASHLANE_STATUS_STUCK"),
    (Status::Dead, c"FLASHLANE_STATUS_DEAD"),
    (Status::Busy, c"FLASHLANE_STATUS_BUSY"),
    (Status::Panic, c"FLASHLANE_STATUS_PANIC"),
    (Status::Output, c"FLASHLANE_STATUS_OUTPUT"),
    (Status::Memory, c"FLASHLANE_STATUS_MEMORY"),
    (Status::BadTime, c"FLASHLANE_STATUS_BAD_TIME"),
    (Status::BadTenant, c"FLASHLANE_STATUS_BAD_TENANT"),
    (Status::BadNamespace, c"FLASHLANE_STATUS_BAD_NAMESPACE"),
    (Status::BadRange, c"FLASHLANE_STATUS_BAD_RANGE"),
    (Status::Full, c"FLASHLANE_STATUS_FULL"),
    (Status::Unsupported, c"FLASHLANE_STATUS_UNSUPPORTED"),
];

/// Reason why a function did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub(crate) status: Status,
    text: String,
}

impl Failure {
    /// A failure with a text that says what is wrong.
    pub fn new(status: Status, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    /// True if the drive cannot finish its work.
    pub(crate) fn is_stuck(&self) -> bool {
        self.status == Status::Stuck
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error {
            Error::Config(_) => Status::Config,
            Error::Trace(_) => Status::Trace,
            Error::Stuck(_) => Status::Stuck,
            Error::Memory(_) => Status::Memory,
            _ => Status::Output,
        };
        Self::new(status, error.to_string())
    }
}

impl From<CannotFail> for Failure {
    fn from(why: CannotFail) -> Self {
        let status = match why {
            CannotFail::NoZone { count: 0, .. } => Status::Unsupported,
            _ => Status::Argument,
        };
        Self::new(status, why.to_string())
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        let status = match refused {
            Refused::Time { .. } => Status::BadTime,
            Refused::Tenant { .. } => Status::BadTenant,
            Refused::Namespace { .. } => Status::BadNamespace,
            Refused::Range { .. } => Status::BadRange,
            Refused::Placement { identifiers: 1.., .. } => Status::Argument,
            Refused::Full => Status::Full,
            Refused::Dead => Status::Dead,
            _ => Status::Unsupported,
        };
        Self::new(status, refused.to_string())
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps the text of a failure for the thread, and returns its status.
pub(crate) fn keep(failure: &Failure) -> Status {
    // Names of users may hold control characters. Zero bytes are among them.
    let text = CString::new(visible(&failure.text).into_owned()).unwrap_or_default();
    // A thread that is ending has no place for the text any more.
    let _ = LAST.try_with(|last| last.replace(text));
    failure.status
}

/// The text of the last failure in this thread; an empty text before the first one. Do not free it.
/// It is valid until the next call of this thread that fails, and until the thread ends.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// The name of a flashlane_status, such as "FLASHLANE_STATUS_BAD_RANGE". Do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_status_name(status: i32) -> *const c_char {
    let named = NAMES.iter().find(|(known, _)| *known as i32 == status);
    named.map_or(c"unknown flashlane_status", |(_, name)| name).as_ptr()
}
