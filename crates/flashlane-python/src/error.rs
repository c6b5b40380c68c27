//! Converts the errors of the simulator to the exceptions of `flashlane.errors`.

use std::any::Any;

use flashlane::need::{self, OutOfMemory};
use flashlane::{Error, Problem, visible};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::words;

/// The exception for an error.
pub(crate) fn raise(error: &Error) -> PyErr {
    Python::attach(|py| made(py, error).unwrap_or_else(|failure| failure))
}

fn made(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let module = py.import("flashlane.errors")?;
    // Names of users may hold control characters, and tracebacks go to terminals.
    let text = visible(&words::without_options(&error.to_string())).into_owned();
    let exception = match error {
        Error::Config(problems) => {
            let shown = |one: &Problem| {
                let part = |text: &str| visible(&words::without_options(text)).into_owned();
                (part(&one.place), part(&one.message))
            };
            let pairs: Vec<(String, String)> = problems.iter().map(shown).collect();
            module.getattr("ConfigError")?.call1((text, pairs))?
        }
        Error::Trace(_) => module.getattr("TraceError")?.call1((text,))?,
        Error::Output(_) => module.getattr("OutputError")?.call1((text,))?,
        Error::Stuck(_) => module.getattr("StuckError")?.call1((text,))?,
        Error::Memory(_) => module.getattr("OutOfMemoryError")?.call1((text,))?,
        _ => module.getattr("Error")?.call1((text,))?,
    };
    Ok(PyErr::from_value(exception))
}

/// The exception for a panic, with its message. Returns `None` for a thread that ended without a
/// message. An exception of a policy in Python is returned unchanged.
pub(crate) fn fault(panic: Option<Box<dyn Any + Send>>, consequence: &str) -> PyErr {
    let panic = match panic.map(|panic| panic.downcast::<PyErr>()) {
        Some(Ok(exception)) => return *exception,
        Some(Err(panic)) => Some(panic),
        None => None,
    };
    if let Some(memory) = panic.as_ref().and_then(|panic| panic.downcast_ref::<OutOfMemory>()) {
        return raise(&Error::Memory(need::lacking(memory.bytes)));
    }
    let said = panic.as_ref().map_or("the thread ended", |panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic")
    });
    let said = visible(said);
    PyRuntimeError::new_err(format!("internal fault: {said}{consequence}"))
}

/// An extension of `Result`.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception for the error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Error> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| raise(&error))
    }
}
