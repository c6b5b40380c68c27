//! Handles faults of the simulator at a point, so that a fault does not end the sweep.
//!
//! Where panics unwind (as in the Python package) the fault is caught. Where a panic ends the
//! process, the panic hook of the command writes the fault to a file beside the result of the point
//! ([`note`]) and starts the sweep again. The sweep then finds this file in place of a result.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use flashlane_files::write_whole;

use super::outcome::{Outcome, Trouble};

thread_local! {
    /// The file for a fault on this thread, while a point runs.
    static PLACE: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// Describes the payload of a panic that is not a text.
pub type Describe = fn(&(dyn Any + Send)) -> Option<String>;

/// Runs a point. A fault is written to the file before the process ends or while the panic unwinds.
/// The error is the text of the fault.
pub(super) fn watched<T>(
    note: Option<PathBuf>,
    describe: Describe,
    run: impl FnOnce() -> T,
) -> Result<T, String> {
    PLACE.with(|place| *place.borrow_mut() = note);
    let result = catch_unwind(AssertUnwindSafe(run));
    PLACE.with(|place| *place.borrow_mut() = None);
    result.map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        let text = text.or_else(|| describe(&*payload));
        format!("internal fault: {}", text.unwrap_or_default())
    })
}

/// Writes down the fault of the point that runs on this thread, for the panic hook of a program
/// that a fault ends. Returns true if a point was running, so that the sweep can be started again.
pub fn note(what: &str) -> bool {
    let place = PLACE.with(|place| place.try_borrow().ok().and_then(|place| place.clone()));
    place.is_some_and(|place| write_whole(&place, what.as_bytes()).is_ok())
}

/// The fault that was written down at a point. The first word of the file tells a lack of memory
/// from other faults.
pub(super) fn noted(path: &Path) -> Option<Outcome> {
    let why = std::fs::read_to_string(path).ok()?;
    let trouble = if why.starts_with("memory: ") { Trouble::Memory } else { Trouble::Internal };
    Some(Outcome::failed(trouble, why))
}

/// Removes the faults that earlier sweeps wrote into a folder, so that their points are tried
/// again.
pub fn forget(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("point-") && name.ends_with(".fault") {
            let _ = std::fs::remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_an_error_with_its_words() {
        assert_eq!(watched(None, |_| None, || 3), Ok(3));
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("point-1.fault");
        let failed = watched(
            Some(place.clone()),
            |_| None,
            || {
                assert!(note("as the hook does"));
                panic!("entry {} is missing", 7);
            },
        );
        assert_eq!(failed, Err::<(), _>("internal fault: entry 7 is missing".to_owned()));
        let found = |trouble, why: &str| Some(Outcome::failed(trouble, why.to_owned()));
        assert_eq!(noted(&place), found(Trouble::Internal, "as the hook does"));
        assert!(!note("no point runs"));
        let memory = "memory: 9 more bytes could not be had";
        let noting = || assert!(note(memory));
        assert_eq!(watched(Some(place.clone()), |_| None, noting), Ok(()));
        assert_eq!(noted(&place), found(Trouble::Memory, memory));
        forget(folder.path());
        assert_eq!(noted(&place), None);
    }
}
