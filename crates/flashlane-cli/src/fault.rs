//! Internal faults: one line, a request to report, exit status 1.

use std::io::Write;
use std::panic::PanicHookInfo;

/// Replaces the panic message by one line and ends the process with exit status 1.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|info| {
        let _ = writeln!(std::io::stderr(), "{}", describe(info));
        std::process::exit(1);
    }));
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let message = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
    format!(
        "internal fault: {}{}; this is a bug in flashlane {}: please report it with the command line \
        and its input files",
        message.split_whitespace().collect::<Vec<_>>().join(" "),
        place.unwrap_or_default(),
        env!("CARGO_PKG_VERSION")
    )
}
