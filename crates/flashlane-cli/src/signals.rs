//! SIGINT and SIGTERM: nothing temporary is left behind.

use std::path::Path;

/// What is there for the time being, in the order in which it was made.
#[derive(Debug, Default)]
pub(crate) struct Temporary {
    files: Vec<std::path::PathBuf>,
    folders: Vec<std::path::PathBuf>,
}

static TEMPORARY: std::sync::Mutex<Temporary> =
    std::sync::Mutex::new(Temporary { files: Vec::new(), folders: Vec::new() });

/// While this is held a signal waits.
pub(crate) fn hold() -> std::sync::MutexGuard<'static, Temporary> {
    TEMPORARY.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A signal removes the file, unless it has its final name by then.
pub(crate) fn remove_file_when_interrupted(path: &Path) {
    hold().files.push(path.to_owned());
}

/// A signal removes the folder if it is empty.
pub(crate) fn remove_folder_when_interrupted(path: &Path) {
    hold().folders.push(path.to_owned());
}

impl Temporary {
    fn remove(&self) {
        for file in &self.files {
            let _ = std::fs::remove_file(file);
        }
        for folder in self.folders.iter().rev() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// From now on SIGINT and SIGTERM remove what is temporary and then end the process as they would without that, so that
/// a shell sees exit status 130 or 143.
#[cfg(unix)]
pub(crate) fn clean_up_when_interrupted() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    let wait = move || {
        for signal in signals.forever() {
            let temporary = hold();
            temporary.remove();
            let _ = emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
}

#[cfg(not(unix))]
pub(crate) fn clean_up_when_interrupted() {}
