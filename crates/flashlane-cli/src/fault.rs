//! Internal faults: one line, a request to report, exit status 1.

use std::io::Write;
use std::panic::PanicHookInfo;

use flashlane::policy::{Allocation, Arbitration, Isolation, Scheduling, Victim};

/// Replaces the panic message by one line and ends the process with exit status 1.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|info| {
        let _ = writeln!(std::io::stderr(), "{}", describe(info));
        std::process::exit(1);
    }));
}

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
