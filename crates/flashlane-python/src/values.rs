//! Converts between Python values, TOML and JSON.

use flashlane::config::load::LEVELS_MAX;
use flashlane::{Error, shortened, visible_line};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value as Json;
use toml::Value as Toml;

use crate::error::{OrRaise, raise};

/// Largest depth of dictionaries and lists, as for keys.
const DEPTH_MAX: usize = LEVELS_MAX;
/// Largest number of values in one object. A list that contains one list many times could exceed
/// any memory.
const VALUES_MAX: usize = 4_000_000;

/// A Python value as TOML. `None` in a dictionary leaves its key out.
pub(crate) fn to_toml(value: &Bound<'_, PyAny>, place: &str) -> PyResult<Toml> {
    Walk::default().value(value, place)
}

/// A dictionary as a TOML table.
pub(crate) fn table(dict: &Bound<'_, PyDict>, place: &str) -> PyResult<toml::Table> {
    let mut walk = Walk::default();
    walk.enter(dict.as_any(), place)?;
    walk.table(dict, place)
}

/// A walk through a Python object, which may be deep, endless, or contain itself.
#[derive(Default)]
struct Walk {
    /// The containers of the current value, outermost first.
    inside: Vec<usize>,
    /// Number of values so far.
    values: usize,
}

impl Walk {
    fn value(&mut self, value: &Bound<'_, PyAny>, place: &str) -> PyResult<Toml> {
        self.values += 1;
        if self.values > VALUES_MAX {
            let message = format!("found more than {VALUES_MAX} values, allowed: so many");
            return Err(refuse(place, message));
        }
        if value.is_instance_of::<PyBool>() {
            return Ok(Toml::Boolean(value.extract()?));
        }
        if value.is_instance_of::<PyInt>() {
            let number = value.extract().map_err(|_| {
                refuse(place, format!("found an integer beyond 64 bits, allowed: {}", i64_range()))
            })?;
            return Ok(Toml::Integer(number));
        }
        if value.is_instance_of::<PyFloat>() {
            return Ok(Toml::Float(value.extract()?));
        }
        if let Ok(text) = value.cast::<PyString>() {
            let text = text.to_str().map_err(|_| {
                refuse(place, "found text with a lone surrogate, allowed: Unicode text".to_owned())
            })?;
            return Ok(Toml::String(text.to_owned()));
        }
        if let Ok(dict) = value.cast::<PyDict>() {
            self.enter(value, place)?;
            let table = self.table(dict, place)?;
            self.inside.pop();
            return Ok(Toml::Table(table));
        }
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            self.enter(value, place)?;
            let mut items = Vec::new();
            for (index, item) in value.try_iter()?.enumerate() {
                items.push(self.value(&item?, &format!("{place}[{index}]"))?);
            }
            self.inside.pop();
            return Ok(Toml::Array(items));
        }
        if value.hasattr("__fspath__")? {
            return Ok(Toml::String(value.call_method0("__fspath__")?.extract()?));
        }
        // A number of numpy. Its value is a plain Python number.
        if value.hasattr("item")? {
            self.enter(value, place)?;
            let value = self.value(&value.call_method0("item")?, place)?;
            self.inside.pop();
            return Ok(value);
        }
        Err(PyTypeError::new_err(format!(
            "{}: found {}, allowed: str, int, float, bool, path, list or dict",
            visible_line(place),
            value.get_type().name()?
        )))
    }

    fn table(&mut self, dict: &Bound<'_, PyDict>, place: &str) -> PyResult<toml::Table> {
        let mut table = toml::Table::new();
        // Iterates over a copy, because code that runs meanwhile may change the dictionary.
        for pair in dict.items() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
            if value.is_none() {
                continue;
            }
            let key: String = key.extract().map_err(|_| {
                let kind = key.get_type().name().map_or("?".to_owned(), |name| name.to_string());
                let place = visible_line(place);
                PyTypeError::new_err(format!("{place}: found a key of type {kind}, allowed: str"))
            })?;
            let below = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
            table.insert(key, self.value(&value, &below)?);
        }
        Ok(table)
    }

    /// Enters a container. The caller removes it from `inside` when it leaves the container.
    fn enter(&mut self, container: &Bound<'_, PyAny>, place: &str) -> PyResult<()> {
        let id = container.as_ptr() as usize;
        if self.inside.contains(&id) {
            let kind = container.get_type().name()?;
            return Err(refuse(
                place,
                format!("found a {kind} that contains itself, allowed: values that end"),
            ));
        }
        if self.inside.len() == DEPTH_MAX {
            return Err(refuse(
                place,
                format!(
                    "found more than {DEPTH_MAX} dicts and lists inside each other, allowed: so many"
                ),
            ));
        }
        self.inside.push(id);
        Ok(())
    }
}

fn i64_range() -> String {
    format!("{} to {}", i64::MIN, i64::MAX)
}

/// The error for a value. A long place is shown in part.
fn refuse(place: &str, message: String) -> PyErr {
    let place = if place.is_empty() { "the dict".into() } else { shortened(place) };
    raise(&Error::config(place, message))
}

/// A value as plain Python objects: dict, list, str, int, float and bool for values that
/// [`to_toml`] accepts, and `None`.
#[pyfunction]
pub(crate) fn plain<'py>(value: &Bound<'py, PyAny>, place: &str) -> PyResult<Bound<'py, PyAny>> {
    if value.is_none() {
        return Ok(value.clone());
    }
    let tree = serde_json::to_value(to_toml(value, place)?)
        .map_err(|error| Error::config(place, error.to_string()))
        .or_raise()?;
    from_json(value.py(), &tree)
}

/// JSON as Python values.
pub(crate) fn from_json<'py>(py: Python<'py>, value: &Json) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Json::Null => py.None().into_bound(py),
        Json::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Json::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(value), ..) => value.into_pyobject(py)?.into_any(),
            (_, Some(value), _) => value.into_pyobject(py)?.into_any(),
            (.., value) => value.unwrap_or(f64::NAN).into_pyobject(py)?.into_any(),
        },
        Json::String(text) => text.into_pyobject(py)?.into_any(),
        Json::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(from_json(py, item)?)?;
            }
            list.into_any()
        }
        Json::Object(members) => {
            let dict = PyDict::new(py);
            for (key, member) in members {
                dict.set_item(key, from_json(py, member)?)?;
            }
            dict.into_any()
        }
    })
}
