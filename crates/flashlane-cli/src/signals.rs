//! Handles signals that end the process, so that no temporary file is left.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use flashlane_files::{Lock, Refusal};

/// Temporary files, in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Temporary {
    files: Vec<std::path::PathBuf>,
    folders: Vec<std::path::PathBuf>,
}

static TEMPORARY: std::sync::Mutex<Temporary> =
    std::sync::Mutex::new(Temporary { files: Vec::new(), folders: Vec::new() });

/// Delays signals while the result is held.
pub(crate) fn hold() -> std::sync::MutexGuard<'static, Temporary> {
    TEMPORARY.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Makes a temporary file. A signal removes the file unless it already has its final name. A signal
/// during this call waits.
pub(crate) fn make_file(
    make: impl FnOnce() -> std::io::Result<tempfile::NamedTempFile>,
) -> std::io::Result<tempfile::NamedTempFile> {
    let mut temporary = hold();
    let file = make()?;
    temporary.files.push(file.path().to_owned());
    Ok(file)
}

/// Takes a lock. A signal removes its file. A signal during this call waits.
pub(crate) fn take_lock(
    take: impl FnOnce() -> Result<Option<Lock>, Refusal>,
) -> Result<Option<Lock>, Refusal> {
    let mut temporary = hold();
    let lock = take()?;
    temporary.files.extend(lock.iter().map(|lock| lock.path().to_owned()));
    Ok(lock)
}

/// Notes that a file no longer belongs to this process.
pub(crate) fn forget(file: &Path) {
    hold().files.retain(|one| one != file);
}

/// Makes a folder. A signal removes it if it is empty. A signal during this call waits.
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

/// Set by the first signal, in a command that ends in order.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on the first signal only sets the result, so that the command can end in order. A
/// second signal ends the process.
pub(crate) fn stop_in_order() -> Arc<AtomicBool> {
    STOP.get_or_init(Arc::default).clone()
}

/// From now on a signal that ends the process first removes temporary files. The process then ends
/// as usual, so that a shell sees exit status 130 or 143. A signal that was ignored when the
/// process began (because of `nohup`, for example) is still ignored. A write beyond the largest
/// allowed file size (`ulimit -f`) fails, and no signal ends the process.
#[cfg(unix)]
pub(crate) fn clean_up_when_interrupted() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    // With a handler of any kind the write returns an error.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    let ignored = ignored();
    let ending = [SIGHUP, SIGINT, SIGTERM, SIGXCPU];
    let ending = ending.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let Ok(mut signals) = Signals::new(ending) else { return };
    let wait = move || {
        for signal in signals.forever() {
            if STOP.get().is_some_and(|stop| !stop.swap(true, Ordering::Relaxed)) {
                continue;
            }
            let temporary = hold();
            temporary.remove();
            let _ = emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
}

/// The signals that the process ignores, the first one in the lowest bit. 0 if the operating system
/// does not report them.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(not(unix))]
pub(crate) fn clean_up_when_interrupted() {}
