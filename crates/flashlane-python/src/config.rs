//! `Device` and `Workload`.

use std::path::{Path, PathBuf};

use flashlane::Error;
use flashlane::config::bounds::Capacity;
use flashlane::config::load::{self, Loaded, Overrides};
use flashlane::config::{DeviceConfig, WorkloadConfig, preset, validate};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde::Serialize;

use crate::error::OrRaise;
use crate::overrides::{device_overrides, overrides};
use crate::{values, words};

pub(crate) fn toml_of<T: Serialize>(value: &T) -> PyResult<String> {
    toml::to_string(value).map_err(|error| Error::Output(format!("TOML: {error}"))).or_raise()
}

/// A configuration as a table of keys.
fn table_of<T: Serialize>(value: &T) -> PyResult<toml::Table> {
    toml::Table::try_from(value).map_err(|error| Error::Output(format!("TOML: {error}"))).or_raise()
}

/// The result of `__reduce__`: a function and its arguments, which are TOML and warnings.
type Pickled<'py> = (Bound<'py, PyAny>, (String, Vec<String>));

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
///
/// Args:
///     source: name of a preset (see :meth:`presets`; ``"flin"`` without one), path of a TOML file
///         or of an MQSim ``ssdconfig.xml``, or a dict with the keys of a device file.
///     compat: ``"mqsim"`` for the arithmetic of the released MQSim.
///     set: keys by their paths, for example ``{"ftl.gc.victim": "greedy", "flash.channels": 4}``.
///     keys: keys of a device file by name, on top of the source: ``scheduler="flin"``,
///         ``isolation="partitioned"``, ``flash={"channels": 4}``. Those of
///         :class:`flashlane.keys.DeviceKeys`; units, ranges and defaults are in
///         docs/configuration.md.
///
/// Raises:
///     flashlane.errors.ConfigError: with the key, what was found and what is allowed.
///
/// Examples:
///     >>> Device("tiny", scheduler="fcfs", flash={"channels": 4})
///     Device("tiny", scheduler="fcfs", isolation="unified", 4 channels x 2 chips)
#[pyclass(frozen, module = "flashlane", name = "Device", eq)]
#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub(crate) loaded: Loaded<DeviceConfig>,
}

impl PartialEq for Device {
    /// Devices with equal keys are equal, wherever the keys were written.
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
    #[pyo3(signature = (source = None, *, compat = None, set = None, **keys))]
    fn new(
        source: Option<&Bound<'_, PyAny>>,
        compat: Option<&str>,
        set: Option<&Bound<'_, PyDict>>,
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let overrides = device_overrides(compat, set, keys)?;
        let loaded = match source {
            None => load::device("flin", &overrides),
            Some(source) => match (text_of(source)?, source.cast::<PyDict>()) {
                (Some(text), _) => load::device(&text, &overrides),
                (None, Ok(dict)) => load::device_from_table(values::table(dict, "")?, &overrides),
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
    ///
    /// Raises:
    ///     flashlane.errors.ConfigError: with the line, what was found and what is allowed.
    #[staticmethod]
    fn from_toml(text: &str) -> PyResult<Self> {
        Self::checked(load::device_from_toml(text, "Device", &Overrides::default()))
    }

    /// The device that was pickled, with the warnings from when it was made.
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

    /// A copy of this device with some keys changed.
    ///
    /// Args:
    ///     compat: ``"mqsim"`` for the arithmetic of the released MQSim.
    ///     set: keys by their paths.
    ///     keys: keys of a device file by name, as ``Device`` takes them.
    ///
    /// Raises:
    ///     flashlane.errors.ConfigError: with the key, what was found and what is allowed.
    #[pyo3(signature = (*, compat = None, set = None, **keys))]
    fn replace(
        &self,
        compat: Option<&str>,
        set: Option<&Bound<'_, PyDict>>,
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let overrides = device_overrides(compat, set, keys)?;
        Self::checked(load::device_from_table(table_of(&self.loaded.config)?, &overrides))
    }

    /// Every key, as TOML.
    pub(crate) fn to_toml(&self) -> PyResult<String> {
        toml_of(&self.loaded.config)
    }

    /// Every key, as nested dictionaries.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::from_json(py, &json_of(&self.loaded.config)?)
    }

    /// Name in reports.
    #[getter]
    fn name(&self) -> &str {
        &self.loaded.config.name
    }

    /// Name of the scheduling policy.
    #[getter]
    fn scheduler(&self) -> PyResult<String> {
        policy_name(&json_of(&self.loaded.config)?["scheduler"])
    }

    /// Name of the isolation policy.
    #[getter]
    fn isolation(&self) -> PyResult<String> {
        policy_name(&json_of(&self.loaded.config)?["isolation"])
    }

    /// Warnings about keys that were ignored or assumed.
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

fn json_of<T: Serialize>(value: &T) -> PyResult<serde_json::Value> {
    serde_json::to_value(value).map_err(|error| Error::Output(format!("JSON: {error}"))).or_raise()
}

/// The name of a policy, which is written as a name or as a table of parameters under its name.
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
    /// Workloads with equal keys are equal, wherever the keys were written.
    fn eq(&self, other: &Self) -> bool {
        self.loaded.config == other.loaded.config
    }
}

impl Workload {
    fn checked(loaded: Loaded<WorkloadConfig>) -> PyResult<Self> {
        let checked = validate::check_workload(&loaded);
        checked.map_err(|error| words::of_flows(error, &loaded)).or_raise()?;
        Ok(Self { loaded })
    }

    fn of_table(keys: toml::Table, set: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let names = words::names(&keys);
        let mut loaded = load::workload_from_table(keys, &overrides(set)?)
            .map_err(|error| words::renamed(error, &names))
            .or_raise()?;
        let found = load::resolve_paths(&mut loaded, Path::new(""));
        found.map_err(|error| words::of_flows(error, &loaded)).or_raise()?;
        Self::checked(loaded)
    }
}

#[pymethods]
impl Workload {
    /// A workload from the text of a TOML file. Paths are relative to `folder`.
    #[staticmethod]
    #[pyo3(signature = (text, set = None, folder = None))]
    fn from_toml(
        text: &str,
        set: Option<&Bound<'_, PyDict>>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        let mut loaded = load::workload_from_toml(text, "Workload", &overrides(set)?).or_raise()?;
        let folder = folder.unwrap_or_default();
        load::resolve_paths(&mut loaded, &folder).or_raise()?;
        Self::checked(loaded)
    }

    /// The workload that was pickled, with the warnings from when it was made. Its files are not
    /// looked for, because a result is useful without the trace from which it came.
    #[staticmethod]
    fn _unpickled(text: &str, warnings: Vec<String>) -> PyResult<Self> {
        let mut loaded =
            load::workload_from_toml(text, "Workload", &Overrides::default()).or_raise()?;
        loaded.warnings = warnings;
        Self::checked(loaded)
    }

    /// A workload from nested dictionaries with the keys of a workload file.
    #[staticmethod]
    #[pyo3(signature = (keys, set = None))]
    fn from_dict(keys: &Bound<'_, PyDict>, set: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of_table(values::table(keys, "")?, set)
    }

    /// A copy of this workload with some keys changed.
    fn changed(&self, set: &Bound<'_, PyDict>) -> PyResult<Self> {
        Self::of_table(table_of(&self.loaded.config)?, Some(set))
    }

    /// The scenarios of a file. A TOML file or a fio job file has one.
    #[staticmethod]
    #[pyo3(signature = (path, set = None))]
    fn from_file(path: PathBuf, set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Self>> {
        let loaded = load::workloads(Path::new(&path), &overrides(set)?).or_raise()?;
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

    /// Warnings about keys that were ignored or assumed.
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

/// Refuses keys that no flow has, and values that no key takes.
#[pyfunction]
pub(crate) fn check_flow(keys: &Bound<'_, PyDict>) -> PyResult<()> {
    let flow = toml::Value::Table(values::table(keys, "")?);
    let keys = toml::Table::from_iter([("flow".to_owned(), toml::Value::Array(vec![flow]))]);
    let names = words::names(&keys);
    let read = load::workload_from_table(keys, &overrides(None)?);
    read.map(drop).map_err(|error| words::renamed(error, &names)).or_raise()
}

/// The bytes of a device that the host sees under a workload, and its over-provisioning.
#[pyfunction]
pub(crate) fn capacity<'py>(
    py: Python<'py>,
    device: &Device,
    workload: &Workload,
) -> PyResult<Bound<'py, PyAny>> {
    let layout = workload.loaded.config.layout(&device.loaded.config);
    values::from_json(py, &json_of(&Capacity::new(&layout))?)
}
