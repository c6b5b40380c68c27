//! Internal faults: one line, a request to report, exit status 1.

use std::io::Write;
use std::panic::PanicHookInfo;
use std::sync::Mutex;

use flashlane::policy::{Allocation, Arbitration, Isolation, Scheduling, Victim};

/// Held by the thread whose fault ends the process.
static LAST: Mutex<()> = Mutex::new(());

/// Replaces the panic message by one line and ends the process with exit status 1. A second thread
/// with a fault waits for that end: it would cut short what the first one writes.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|info| {
        let _last = LAST.lock();
        let text = describe(info);
        let _ = writeln!(std::io::stderr(), "{text}");
        if flashlane_study::sweep::fault::note(&text) {
            start_again();
        }
        std::process::exit(1);
    }));
}

/// Says to a sweep that a fault at one of its points started it again.
const AGAIN: &str = "FLASHLANE_SWEEP_STARTED_AGAIN";

/// This process goes on where the one before it had a fault.
pub(crate) fn started_again() -> bool {
    std::env::var_os(AGAIN).is_some()
}

/// Starts the same command in this process again. Comes back only if that cannot be done.
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

/// The program registered policies of its own.
fn brought_policies() -> bool {
    !(Scheduling::outside().list().is_empty()
        && Isolation::outside().list().is_empty()
        && Allocation::outside().list().is_empty()
        && Victim::outside().list().is_empty()
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
