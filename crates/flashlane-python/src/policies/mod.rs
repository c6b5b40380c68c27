//! Policies that are written in Python: how they are registered and called.
//!
//! A policy is a Python object. Its methods are called with the interpreter's lock, from the thread
//! that simulates. An exception in a method ends the simulation: it passes through the simulator as
//! a panic, and is raised where Python waits for the result.

mod scheduler;
mod victim;

use std::panic::resume_unwind;
use std::sync::Arc;

use flashlane::conformance::{Family, Verdict};
use flashlane::policy::{PolicyInfo, PolicyKind, Registry, Scheduling, Victim};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::detached::unwatched;
use crate::values;
pub(crate) use scheduler::{State, Work};
pub(crate) use victim::{Plane, Random};

/// A class of Python with parameters, from which a policy is made.
struct Made {
    class: Py<PyAny>,
    parameters: Value,
    /// Methods of the class that override those of its base class.
    methods: Vec<String>,
}

impl Made {
    fn has(&self, method: &str) -> bool {
        self.methods.iter().any(|own| own == method)
    }

    /// The working object. It is made from the shape of the drive and the parameters.
    fn object(&self, py: Python<'_>, shape: impl FnOnce() -> PyResult<Py<PyAny>>) -> Py<PyAny> {
        let made = || -> PyResult<Py<PyAny>> {
            let parameters = values::from_json(py, &self.parameters)?;
            self.class.call(py, (shape()?,), Some(parameters.cast::<PyDict>()?))
        };
        or_unwind(made())
    }

    /// The Python object of the policy, made without the shape of a drive.
    fn object_alone(&self, py: Python<'_>) -> Py<PyAny> {
        let made = || -> PyResult<Py<PyAny>> {
            let parameters = values::from_json(py, &self.parameters)?;
            self.class.call(py, (), Some(parameters.cast::<PyDict>()?))
        };
        or_unwind(made())
    }
}

/// Ends the simulation with an exception.
fn or_unwind<T>(result: PyResult<T>) -> T {
    result.unwrap_or_else(|exception| resume_unwind(Box::new(exception)))
}

/// A copy of a working policy, for a snapshot of a drive.
fn copied(py: Python<'_>, object: &Py<PyAny>) -> Py<PyAny> {
    let copy = || py.import("copy")?.call_method1("deepcopy", (object,)).map(Bound::unbind);
    or_unwind(copy())
}

/// Registers a class. `read` completes the given parameters, or `None`, to all parameters.
#[pyfunction]
#[pyo3(signature = (*, family, name, summary, source, class, read, methods, fingerprint))]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn register_policy(
    family: &str,
    name: String,
    summary: String,
    source: String,
    class: Py<PyAny>,
    read: Py<PyAny>,
    methods: Vec<String>,
    fingerprint: String,
) -> PyResult<()> {
    let class = Arc::new(Class { class, read, methods });
    let info = |key| PolicyInfo {
        family: key,
        name: name.into(),
        summary: summary.into(),
        source: source.into(),
        reconstructed: false,
    };
    let added = match family {
        "scheduler" => {
            let read = move |given| {
                let (parameters, made) = class.make(given)?;
                Ok((parameters, Arc::new(made) as Arc<dyn flashlane::policy::SchedulingConfig>))
            };
            let kind = PolicyKind::new(info(Scheduling::KEY), read).with_fingerprint(fingerprint);
            add(Scheduling::outside(), kind, Scheduling::NAMES)
        }
        _ => {
            let read = move |given| {
                let (parameters, made) = class.make(given)?;
                Ok((parameters, Arc::new(made) as Arc<dyn flashlane::policy::VictimConfig>))
            };
            let kind = PolicyKind::new(info(Victim::KEY), read).with_fingerprint(fingerprint);
            add(Victim::outside(), kind, Victim::NAMES)
        }
    };
    added.map_err(PyValueError::new_err)
}

/// Replaces a class of this name, because a cell of a notebook may be run again.
fn add<C: ?Sized + 'static>(
    registry: &Registry<C>,
    kind: PolicyKind<C>,
    built_in: &[&str],
) -> Result<(), String> {
    registry.add(kind, built_in, true)
}

/// A registered class.
struct Class {
    class: Py<PyAny>,
    read: Py<PyAny>,
    methods: Vec<String>,
}

impl Class {
    fn make(&self, given: Option<Value>) -> Result<(Value, Made), String> {
        Python::attach(|py| {
            let words = |error: PyErr| error.value(py).to_string();
            let given = match given {
                Some(value) => Some(values::from_json(py, &value).map_err(words)?),
                None => None,
            };
            let all = self.read.call1(py, (given,)).map_err(words)?;
            let all = all.cast_bound::<PyDict>(py).map_err(|error| error.to_string())?;
            let table = values::table(all, "").map_err(words)?;
            let parameters = serde_json::to_value(table).map_err(|error| error.to_string())?;
            let class = self.class.clone_ref(py);
            let methods = self.methods.clone();
            Ok((parameters.clone(), Made { class, parameters, methods }))
        })
    }
}

/// The result of each rule: its text, and how it was broken.
type Rows = Vec<(&'static str, Option<String>)>;

/// Tests a policy against the rules of its family, without the interpreter's lock.
#[pyfunction]
pub(crate) fn conformance(py: Python<'_>, family: &str, name: String) -> PyResult<Rows> {
    let unknown = || PyValueError::new_err(format!("no policy `{name}`"));
    let verdicts: Vec<Verdict> = match family {
        "scheduler" => {
            let policy = Scheduling::by_name(&name).ok_or_else(unknown)?;
            unwatched(py, move || policy.verdicts())?
        }
        _ => {
            let policy = Victim::by_name(&name).ok_or_else(unknown)?;
            unwatched(py, move || policy.verdicts())?
        }
    };
    Ok(verdicts.into_iter().map(|verdict| (verdict.rule, verdict.result.err())).collect())
}
