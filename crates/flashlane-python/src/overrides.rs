//! Settings from Python on top of a preset, a file or a dict: `set`, and keys by name.

use flashlane::Error;
use flashlane::config::load::{Caller, Overrides};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::OrRaise;
use crate::values;

/// Settings such as `{"ftl.gc.victim": "greedy"}`.
pub(crate) fn overrides(dict: Option<&Bound<'_, PyDict>>) -> PyResult<Overrides> {
    let mut sets = Vec::new();
    for (key, value) in dict.into_iter().flatten() {
        let key: String = key.extract()?;
        sets.push(format!("{key}={}", values::to_toml(&value, &key)?));
    }
    Ok(Overrides { sets, caller: Caller::Program, ..Overrides::default() })
}

/// Converts keys of a device in nested dictionaries to the form of `set`: `flash={"channels": 4}`
/// becomes `flash.channels`.
fn flatten(key: &str, value: toml::Value, sets: &mut Vec<String>) {
    match value {
        toml::Value::Table(table) if !table.is_empty() => {
            for (below, value) in table {
                flatten(&format!("{key}.{below}"), value, sets);
            }
        }
        leaf => sets.push(format!("{key}={leaf}")),
    }
}

/// Settings for a device on top of its source.
pub(crate) fn device_overrides(
    compat: Option<&str>,
    set: Option<&Bound<'_, PyDict>>,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Overrides> {
    let mut all = overrides(set)?;
    all.compat_mqsim = compat_is_mqsim(compat)?;
    let mut named = Vec::new();
    if let Some(keys) = keys {
        for (key, value) in values::table(keys, "")? {
            flatten(&key, value, &mut named);
        }
    }
    // Settings of `set` override keys by name.
    all.sets.splice(0..0, named);
    Ok(all)
}

fn compat_is_mqsim(compat: Option<&str>) -> PyResult<bool> {
    match compat {
        None => Ok(false),
        Some("mqsim") => Ok(true),
        Some(other) => {
            Err(Error::config("compat", format!("found `{other}`, allowed: mqsim"))).or_raise()
        }
    }
}
