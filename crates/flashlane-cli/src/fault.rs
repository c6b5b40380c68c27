//! Handles internal faults: prints one line that asks for a report, and ends with exit status 1.

use std::io::Write;
use std::panic::PanicHookInfo;
use std::sync::{Mutex, PoisonError};

use flashlane::policy::{Allocation, Arbitration, Isolation, Scheduling, Separation, Victim};
use flashlane::{need, visible};
use flashlane_engine::memory::WatchedAllocator;

use crate::commands;

/// Held by the thread whose fault ends the process.
static LAST: Mutex<()> = Mutex::new(());
/// Memory that is reserved for the last message.
static RESERVE: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Replaces the panic message by one line and ends the process with exit status 1. A second thread
/// with a fault waits for this end, because it would cut off the message of the first thread.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|info| {
        let _last = LAST.lock();
        let text = describe(info);
        let _ = writeln!(std::io::stderr(), "{}", visible(&text));
        if commands::note_fault(&text) {
            start_again();
        }
        std::process::exit(1);
    }));
}

/// From now on the process ends with exit status 2 if an allocation fails and the allocator reports
/// it, because a lack of memory is no fault of the program. A sweep continues after the point.
pub(crate) fn watch_memory() {
    // The reserve is released before the message, which needs memory.
    RESERVE.lock().unwrap_or_else(PoisonError::into_inner).reserve_exact(1 << 20);
    WatchedAllocator::watch(|bytes| {
        // If this thread is in the hook above, it already has the lock.
        let _last = LAST.try_lock();
        if let Ok(mut reserve) = RESERVE.try_lock() {
            drop(std::mem::take(&mut *reserve));
        }
        let text = need::lacking(bytes);
        let _ = writeln!(std::io::stderr(), "error: {text}");
        if commands::note_fault(&text) {
            start_again();
        }
        std::process::exit(2);
    });
}

/// Variable that tells a sweep that a fault at one of its points started it again.
const AGAIN: &str = "FLASHLANE_SWEEP_STARTED_AGAIN";

/// True if this process continues the work of a process that had a fault.
pub(crate) fn started_again() -> bool {
    std::env::var_os(AGAIN).is_some()
}

/// Starts the same command in this process again. Returns only if that fails.
#[cfg(unix)]
fn start_again() {
    use std::os::unix::process::CommandExt;
    if let Ok(program) = std::env::current_exe() {
        let arguments = std::env::args_os().skip(1);
        let _ = std::process::Command::new(program).args(arguments).env(AGAIN, "1").exec();
    }
}

#[cfg(not(unix))]
fn start_again() {}

/// True if the program registered policies of its own.
fn brought_policies() -> bool {
    !(Scheduling::outside().list().is_empty()
        && Isolation::outside().list().is_empty()
        && Allocation::outside().list().is_empty()
        && Victim::outside().list().is_empty()
        && Separation::outside().list().is_empty()
        && Arbitration::outside().list().is_empty())
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let message = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
    let version = env!("CARGO_PKG_VERSION");
    let whose = if brought_policies() {
        format!(
            "this is a bug in flashlane {version} or in a policy that the program brought along"
        )
    } else {
        format!(
            "this is a bug in flashlane {version}: please report it with the command line and its \
             input files"
        )
    };
    format!(
        "internal fault: {}{}; {whose}",
        message.split_whitespace().collect::<Vec<_>>().join(" "),
        place.unwrap_or_default(),
    )
}
