//! `Device` and `Workload`.

use std::path::{Path, PathBuf};

use flashlane::Error;
use flashlane::config::bounds::Capacity;
use flashlane::config::load::{self, Loaded, Overrides};
use flashlane::config::{DeviceConfig, PolicyInfo, WorkloadConfig, preset, validate};
use flashlane::layout::Layout;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde::Serialize;

use crate::error::OrRaise;
use crate::values;

pub(crate) fn toml_of<T: Serialize>(value: &T) -> PyResult<String> {
    toml::to_string(value).map_err(|error| Error::Output(format!("TOML: {error}"))).or_raise()
}

/// What `__reduce__` gives: a function, and its arguments: TOML and warnings.
type Pickled<'py> = (Bound<'py, PyAny>, (String, Vec<String>));

/// `{"ftl.gc.victim": "greedy"}` as `--set` takes it.
fn sets(dict: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let Some(dict) = dict else { return Ok(Vec::new()) };
    dict.iter()
        .map(|(key, value)| {
            let key: String = key.extract()?;
            Ok(format!("{key}={}", values::to_toml(&value, &key)?))
        })
        .collect()
}

/// A path or text.
fn text_of(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(text.to_str()?.to_owned()));
    }
    if value.hasattr("__fspath__")? {
        return value.call_method0("__fspath__")?.extract().map(Some);
    }
    Ok(None)
}

/// A drive: every key resolved and checked.
#[pyclass(frozen, module = "flashlane", name = "Device", eq)]
#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub(crate) loaded: Loaded<DeviceConfig>,
}

impl PartialEq for Device {
    /// Devices with the same keys are equal, wherever the keys were written.
    fn eq(&self, other: &Self) -> bool {
        self.loaded.config == other.loaded.config
    }
}

impl Device {
    fn checked(loaded: Result<Loaded<DeviceConfig>, Error>) -> PyResult<Self> {
        let loaded = loaded.or_raise()?;
        validate::check_device(&loaded).or_raise()?;
        Ok(Self { loaded })
    }
}

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (
        source = None, *, scheduler = None, isolation = None, compat = None, set = None
    ))]
    fn new(
        source: Option<&Bound<'_, PyAny>>,
        scheduler: Option<String>,
        isolation: Option<String>,
        compat: Option<&str>,
        set: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let overrides = Overrides {
            scheduler,
            isolation,
            compat_mqsim: compat_is_mqsim(compat)?,
            sets: sets(set)?,
            ..Overrides::default()
        };
        let loaded = match source {
            None => load::device("flin", &overrides),
            Some(source) => match (text_of(source)?, source.cast::<PyDict>()) {
                (Some(text), _) => load::device(&text, &overrides),
                (None, Ok(dict)) => {
                    let text = toml_of(&values::table(dict, "")?)?;
                    load::device_from_toml(&text, "Device", &overrides)
                }
                (None, Err(_)) => {
                    return Err(PyTypeError::new_err(format!(
                        "Device: found {}, allowed: the name of a preset, the path of a file, or a dict",
                        source.get_type().name()?
                    )));
                }
            },
        };
        Self::checked(loaded)
    }

    /// A device from the text of a TOML file.
    #[staticmethod]
    fn from_toml(text: &str) -> PyResult<Self> {
        Self::checked(load::device_from_toml(text, "Device", &Overrides::default()))
    }

    /// The device that was pickled, with what was ignored or assumed when it was made.
    #[staticmethod]
    fn _unpickled(text: &str, warnings: Vec<String>) -> PyResult<Self> {
        let mut device = Self::from_toml(text)?;
        device.loaded.warnings = warnings;
        Ok(device)
    }

    /// Names of the devices that ship with the package.
    #[staticmethod]
    fn presets() -> Vec<&'static str> {
        preset::Preset::names()
    }

    /// The same device with some keys changed.
    #[pyo3(signature = (*, scheduler = None, isolation = None, compat = None, set = None))]
    fn replace(
        &self,
        scheduler: Option<String>,
        isolation: Option<String>,
        compat: Option<&str>,
        set: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let overrides = Overrides {
            scheduler,
            isolation,
            compat_mqsim: compat_is_mqsim(compat)?,
            sets: sets(set)?,
            ..Overrides::default()
        };
        Self::checked(load::device_from_toml(&self.to_toml()?, "Device", &overrides))
    }

    /// Every key, as TOML.
    pub(crate) fn to_toml(&self) -> PyResult<String> {
        toml_of(&self.loaded.config)
    }

    /// Every key, as nested dictionaries.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::from_json(py, &json_of(&self.loaded.config)?)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.loaded.config.name
    }

    #[getter]
    fn scheduler(&self) -> PyResult<String> {
        policy_name(&json_of(&self.loaded.config)?["scheduler"])
    }

    #[getter]
    fn isolation(&self) -> PyResult<String> {
        policy_name(&json_of(&self.loaded.config)?["isolation"])
    }

    /// What was ignored or assumed.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.loaded.warnings.clone()
    }

    fn __repr__(&self) -> PyResult<String> {
        let flash = &self.loaded.config.flash;
        Ok(format!(
            "Device({:?}, scheduler={:?}, isolation={:?}, {} channels x {} chips)",
            self.loaded.config.name,
            self.scheduler()?,
            self.isolation()?,
            flash.channels,
            flash.chips_per_channel,
        ))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        let device = slf.get();
        let made = slf.get_type().getattr("_unpickled")?;
        Ok((made, (device.to_toml()?, device.warnings())))
    }
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

fn json_of<T: Serialize>(value: &T) -> PyResult<serde_json::Value> {
    serde_json::to_value(value).map_err(|error| Error::Output(format!("JSON: {error}"))).or_raise()
}

/// A policy is written as a name, or as a table with its parameters under its name.
fn policy_name(value: &serde_json::Value) -> PyResult<String> {
    Ok(match value {
        serde_json::Value::String(name) => name.clone(),
        serde_json::Value::Object(table) => table.keys().next().cloned().unwrap_or_default(),
        other => other.to_string(),
    })
}

/// The flows that share a drive.
#[pyclass(frozen, module = "flashlane._flashlane", name = "_Workload", eq)]
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    pub(crate) loaded: Loaded<WorkloadConfig>,
}

impl PartialEq for Workload {
    /// Workloads with the same keys are equal, wherever the keys were written.
    fn eq(&self, other: &Self) -> bool {
        self.loaded.config == other.loaded.config
    }
}

impl Workload {
    fn checked(loaded: Loaded<WorkloadConfig>) -> PyResult<Self> {
        validate::check_workload(&loaded).or_raise()?;
        Ok(Self { loaded })
    }
}

#[pymethods]
impl Workload {
    /// From the text of a TOML file. Paths are relative to `folder`.
    #[staticmethod]
    #[pyo3(signature = (text, set = None, folder = None))]
    fn from_toml(
        text: &str,
        set: Option<&Bound<'_, PyDict>>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        let overrides = Overrides { sets: sets(set)?, ..Overrides::default() };
        let mut loaded = load::workload_from_toml(text, "Workload", &overrides).or_raise()?;
        let folder = folder.unwrap_or_default();
        load::resolve_paths(&mut loaded, &folder).or_raise()?;
        Self::checked(loaded)
    }

    /// The workload that was pickled, with what was ignored or assumed when it was made. Its files
    /// are not looked for: a result is of use without the trace that it came from.
    #[staticmethod]
    fn _unpickled(text: &str, warnings: Vec<String>) -> PyResult<Self> {
        let mut loaded =
            load::workload_from_toml(text, "Workload", &Overrides::default()).or_raise()?;
        loaded.warnings = warnings;
        Self::checked(loaded)
    }

    /// From nested dictionaries with the keys of a workload file.
    #[staticmethod]
    #[pyo3(signature = (keys, set = None))]
    fn from_dict(keys: &Bound<'_, PyDict>, set: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::from_toml(&toml_of(&values::table(keys, "")?)?, set, None)
    }

    /// From a file: the scenarios in it, one for a TOML file or a fio job file.
    #[staticmethod]
    #[pyo3(signature = (path, set = None))]
    fn from_file(path: PathBuf, set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Self>> {
        let overrides = Overrides { sets: sets(set)?, ..Overrides::default() };
        let loaded = load::workloads(Path::new(&path), &overrides).or_raise()?;
        loaded.into_iter().map(Self::checked).collect()
    }

    /// Every key, as TOML.
    pub(crate) fn to_toml(&self) -> PyResult<String> {
        toml_of(&self.loaded.config)
    }

    /// Every key, as nested dictionaries.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::from_json(py, &json_of(&self.loaded.config)?)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.loaded.config.name
    }

    /// Names of the flows.
    #[getter]
    fn flows(&self) -> Vec<&str> {
        self.loaded.config.flows.iter().map(|flow| flow.name.as_str()).collect()
    }

    /// What was ignored or assumed.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.loaded.warnings.clone()
    }

    fn __repr__(&self) -> String {
        let names = self.flows().join(", ");
        format!("Workload({:?}: {names})", self.loaded.config.name)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        let workload = slf.get();
        let made = slf.get_type().getattr("_unpickled")?;
        Ok((made, (workload.to_toml()?, workload.warnings())))
    }
}

/// Bytes that the host sees of a device under a workload, and over-provisioning.
#[pyfunction]
pub(crate) fn capacity<'py>(
    py: Python<'py>,
    device: &Device,
    workload: &Workload,
) -> PyResult<Bound<'py, PyAny>> {
    let layout = Layout::new(&device.loaded.config, &workload.loaded.config);
    values::from_json(py, &json_of(&Capacity::new(&layout))?)
}

/// Family, name, summary and source of every policy, and whether it is reconstructed.
#[pyfunction]
pub(crate) fn policies() -> Vec<(&'static str, String, String, String, bool)> {
    let one = |it: PolicyInfo| {
        let (name, summary) = (it.name.into_owned(), it.summary.into_owned());
        (it.family, name, summary, it.source.into_owned(), it.reconstructed)
    };
    flashlane::policy::families().into_iter().flatten().map(one).collect()
}
