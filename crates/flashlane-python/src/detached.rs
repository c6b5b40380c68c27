//! Runs work on a thread of its own, so that Python stays responsive: Ctrl-C ends a run at once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flashlane::Error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::{OrRaise, fault};

/// Time between two checks of Python's signals.
const LOOK: Duration = Duration::from_millis(20);

/// Messages between a simulation and its caller during the run.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// The share that is done, as the bits of an `f64`.
    share: AtomicU64,
    /// Set to true to end the simulation.
    pub(crate) stop: Arc<AtomicBool>,
}

impl Watch {
    /// Notes the share that is done. Range: 0 to 1.
    pub(crate) fn note(&self, share: f64) {
        self.share.store(share.to_bits(), Ordering::Relaxed);
    }

    fn share(&self) -> f64 {
        f64::from_bits(self.share.load(Ordering::Relaxed))
    }
}

/// Does work on a thread of its own without the interpreter's lock. An exception in `progress`, or
/// a signal, asks the work to end and is raised at once.
pub(crate) fn detached<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let watch = Arc::new(Watch::default());
    let (sender, receiver) = channel();
    let theirs = Arc::clone(&watch);
    let thread = std::thread::Builder::new()
        .name("flashlane".to_owned())
        .spawn(move || drop(sender.send(work(&theirs))))
        .map_err(|error| {
            PyRuntimeError::new_err(format!("no thread for the simulation: {error}"))
        })?;
    // Only one thread may wait for a receiver. This is the thread, with or without the lock of the
    // interpreter.
    let receiver = Mutex::new(receiver);
    let wait = |receiver: &Mutex<Receiver<Result<T, Error>>>| {
        receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK)
    };
    let mut told = -1.0;
    loop {
        let outcome = py.detach(|| wait(&receiver));
        let share = if outcome.is_ok() { 1.0 } else { watch.share() };
        let heard = py.check_signals().and_then(|()| match progress {
            Some(progress) if share != told => progress.call1((share,)).map(drop),
            _ => Ok(()),
        });
        told = share;
        if let Err(exception) = heard {
            watch.stop.store(true, Ordering::Relaxed);
            return Err(exception);
        }
        match outcome {
            Ok(result) => return result.or_raise(),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let panic = thread.join().err();
                return Err(fault(panic, ""));
            }
        }
    }
}

/// Runs work that reports no progress on a thread of its own, without the interpreter's lock.
pub(crate) fn unwatched<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    detached(py, None, move |_| Ok(work()))
}
