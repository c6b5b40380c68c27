//! Between Python values, TOML and JSON.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value as Json;
use toml::Value as Toml;

/// A Python value as TOML. `None` in a dictionary leaves its key out.
pub(crate) fn to_toml(value: &Bound<'_, PyAny>, place: &str) -> PyResult<Toml> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Toml::Boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Toml::Integer(value.extract()?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Toml::Float(value.extract()?));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Toml::String(text.to_str()?.to_owned()));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return table(dict, place).map(Toml::Table);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.enumerate();
        let items = items.map(|(index, item)| to_toml(&item?, &format!("{place}[{index}]")));
        return items.collect::<PyResult<_>>().map(Toml::Array);
    }
    if value.hasattr("__fspath__")? {
        return Ok(Toml::String(value.call_method0("__fspath__")?.extract()?));
    }
    // numpy's numbers.
    if value.hasattr("item")? {
        return to_toml(&value.call_method0("item")?, place);
    }
    Err(PyTypeError::new_err(format!(
        "{place}: found {}, allowed: str, int, float, bool, path, list or dict",
        value.get_type().name()?
    )))
}

/// A dictionary as a TOML table.
pub(crate) fn table(dict: &Bound<'_, PyDict>, place: &str) -> PyResult<toml::Table> {
    let mut table = toml::Table::new();
    for (key, value) in dict {
        if value.is_none() {
            continue;
        }
        let key: String = key
            .extract()
            .map_err(|_| PyTypeError::new_err(format!("{place}: keys are text, found {key}")))?;
        let below = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
        table.insert(key, to_toml(&value, &below)?);
    }
    Ok(table)
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
