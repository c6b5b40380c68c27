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

/// Makes a temporary file. A signal removes it, unless it has its final name by then; a signal in
/// between waits.
pub(crate) fn make_file(
    make: impl FnOnce() -> std::io::Result<tempfile::NamedTempFile>,
) -> std::io::Result<tempfile::NamedTempFile> {
    let mut temporary = hold();
    let file = make()?;
    temporary.files.push(file.path().to_owned());
    Ok(file)
}

/// Makes a folder. A signal removes it if it is empty; a signal in between waits.
pub(crate) fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut temporary = hold();
    std::fs::create_dir(path)?;
    temporary.folders.push(path.to_owned());
    Ok(())
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

/// From now on SIGINT and SIGTERM remove what is temporary and then end the process as they would
/// without that, so that a shell sees exit status 130 or 143.
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
