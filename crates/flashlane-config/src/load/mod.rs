//! Reads files and command-line overrides into configuration structures.
//!
//! Layers, later ones over earlier ones, table by table and key by key:
//! 1. the preset that `base = "NAME"` at the top of a device file names;
//! 2. the file;
//! 3. `--compat mqsim`, `--scheduler`, `--isolation`;
//! 4. `--set path.to.key=value`, in the order given; then `--slo`, then `count` of flows.
//!
//! A policy (`scheduler`, `ftl.gc.victim`, ...) is replaced whole if a layer names another policy.
//! Lists are replaced whole. Every refusal names the file and line, preset or option that it is
//! about.

mod overrides;
mod tenants;

use std::path::{Path, PathBuf};

use serde::Serialize;
use toml::Value;

pub use flashlane_reading::{LEVELS_MAX, MAX_FILE_BYTES, Places, allowed, nearest, read_text};
pub use flashlane_workload::clone::clone_file;

pub use overrides::{Caller, Overrides};
use overrides::{WORKLOAD_KEYS, apply_sets};

use super::preset::Preset;
use super::{
    CompatConfig, DeviceConfig, MqsimFlowConfig, WorkloadConfig, fio_job, mqsim_xml as mqsim,
};
use flashlane_reading::{self, Draft};
use flashlane_reading::{Error, Problem};
use flashlane_workload::clone;

/// A configuration, with the places where its keys were written.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded<T> {
    /// The configuration.
    pub config: T,
    /// The places where its keys were written.
    pub places: Places,
    /// Warnings about keys that were ignored or assumed.
    pub warnings: Vec<String>,
}

/// Loads a device: the name of a preset, a TOML file, or an MQSim `ssdconfig.xml`.
///
/// # Errors
/// [`Error::Config`] with place, value and rule.
pub fn device(argument: &str, overrides: &Overrides) -> Result<Loaded<DeviceConfig>, Error> {
    if let Some(preset) = Preset::by_name(argument) {
        return device_from_toml(preset.text, &preset_file(preset), overrides);
    }
    let path = Path::new(argument);
    let looks_like_a_name = !argument.contains(['/', '\\', '.']);
    if looks_like_a_name && !path.exists() {
        let hint = allowed(argument, &Preset::names());
        let place = match overrides.caller {
            Caller::CommandLine => "--device",
            Caller::Program => "Device",
        };
        return Err(Error::config(
            place,
            format!("no preset and no file is named `{argument}`; {hint}, or a file"),
        ));
    }
    let text = read_text(path)?;
    if is_xml(path, &text) {
        let (config, warnings) = mqsim::load_device(path)?;
        let draft = draft_of(&config, argument, overrides)?;
        return finish_device(draft, overrides, Some(config), warnings);
    }
    device_from_toml(&text, argument, overrides)
}

/// Reads a device from TOML; `file` names it in messages.
///
/// # Errors
/// As [`device`].
pub fn device_from_toml(
    text: &str,
    file: &str,
    overrides: &Overrides,
) -> Result<Loaded<DeviceConfig>, Error> {
    device_from_draft(flashlane_reading::parse(text, file)?, file, overrides)
}

/// Reads a device from a table of keys from a program. Refusals name keys but no lines.
///
/// # Errors
///
/// Those of [`device`].
pub fn device_from_table(
    keys: toml::Table,
    overrides: &Overrides,
) -> Result<Loaded<DeviceConfig>, Error> {
    device_from_draft(Draft { value: keys, places: Places::default() }, "", overrides)
}

fn device_from_draft(
    mut draft: Draft,
    file: &str,
    overrides: &Overrides,
) -> Result<Loaded<DeviceConfig>, Error> {
    if let Some(base) = draft.value.remove("base") {
        let preset = base_preset(&base).map_err(|message| {
            Error::Config(vec![Problem { place: draft.places.locate("base"), message }])
        })?;
        let mut under = flashlane_reading::parse(preset.text, &preset_file(preset))?;
        under.merge(draft);
        under.places.rename(file);
        draft = under;
    }
    finish_device(draft, overrides, None, Vec::new())
}

/// Loads the scenarios of a workload file: one from TOML, one or more from a fio job file or from
/// MQSim XML.
///
/// # Errors
/// As [`device`]; a trace file that does not exist.
pub fn workloads(path: &Path, overrides: &Overrides) -> Result<Vec<Loaded<WorkloadConfig>>, Error> {
    let file = path.display().to_string();
    let text = read_text(path)?;
    let mut loaded = Vec::new();
    if is_fio_job(path, &text) {
        for (config, places, warnings) in fio_job::parse(path, &text)? {
            let mut draft = draft_of(&config, &file, overrides)?;
            draft.places = places;
            loaded.push(finish_workload(draft, overrides, Some(config), warnings)?);
        }
    } else if is_xml(path, &text) {
        let (scenarios, warnings) = mqsim::load_scenarios(path)?;
        for config in scenarios {
            let draft = draft_of(&config, &file, overrides)?;
            loaded.push(finish_workload(draft, overrides, Some(config), warnings.clone())?);
        }
    } else {
        loaded.push(workload_from_toml(&text, &file, overrides)?);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut problems = Vec::new();
    for one in &mut loaded {
        problems.extend(find_traces(one, folder));
    }
    if problems.is_empty() { Ok(loaded) } else { Err(Error::Config(problems)) }
}

/// Reads a workload from TOML; `file` names it in messages. Trace paths stay as they are.
///
/// # Errors
/// As [`device`].
pub fn workload_from_toml(
    text: &str,
    file: &str,
    overrides: &Overrides,
) -> Result<Loaded<WorkloadConfig>, Error> {
    finish_workload(flashlane_reading::parse(text, file)?, overrides, None, Vec::new())
}

/// Reads a workload from a table of keys from a program. Refusals name keys but no lines.
///
/// # Errors
///
/// Those of [`device`].
pub fn workload_from_table(
    keys: toml::Table,
    overrides: &Overrides,
) -> Result<Loaded<WorkloadConfig>, Error> {
    let draft = Draft { value: keys, places: Places::default() };
    finish_workload(draft, overrides, None, Vec::new())
}

/// Finds the traces and parameter files of a workload from TOML: relative to `folder` or, if not
/// there, to the current folder.
///
/// # Errors
/// As [`device`], for files that do not exist or cannot be read.
pub fn resolve_paths(loaded: &mut Loaded<WorkloadConfig>, folder: &Path) -> Result<(), Error> {
    let problems = find_traces(loaded, folder);
    if problems.is_empty() { Ok(()) } else { Err(Error::Config(problems)) }
}

/// The kind of a configuration text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A device.
    Device,
    /// A workload.
    Workload,
}

/// Tells a device file from a workload file by its keys or its XML root.
///
/// # Errors
/// A file that cannot be read or parsed.
pub fn kind_of(path: &Path) -> Result<Kind, Error> {
    let text = read_text(path)?;
    if is_fio_job(path, &text) {
        return Ok(Kind::Workload);
    }
    if is_xml(path, &text) {
        let device = text.contains("<Execution_Parameter_Set");
        return Ok(if device { Kind::Device } else { Kind::Workload });
    }
    let draft = flashlane_reading::parse(&text, &path.display().to_string())?;
    let device_keys = ["flash", "base", "link", "interface", "cache", "ftl", "scheduler"];
    let near =
        |keys: &[&str]| draft.value.keys().any(|key| nearest(key, keys.iter().copied()).is_some());
    let exact = |keys: &[&str]| keys.iter().any(|&key| draft.value.contains_key(key));
    let workload = !exact(&device_keys)
        && (exact(WORKLOAD_KEYS) || (near(WORKLOAD_KEYS) && !near(&device_keys)));
    Ok(if workload { Kind::Workload } else { Kind::Device })
}

fn preset_file(preset: &Preset) -> String {
    format!("preset {}", preset.name)
}

fn base_preset(base: &Value) -> Result<&'static Preset, String> {
    let name = base.as_str().ok_or_else(|| {
        format!("found {base}, allowed: the name of a preset ({})", Preset::names().join(", "))
    })?;
    Preset::by_name(name)
        .ok_or_else(|| format!("no preset `{name}`; {}", allowed(name, &Preset::names())))
}

/// True for a job file of fio. It is recognised by its name or, for other files, standard input and
/// command lines, by its text.
fn is_fio_job(path: &Path, text: &str) -> bool {
    let by_name = path.extension().is_some_and(|extension| {
        ["fio", "ini", "job"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    });
    by_name || fio_job::is_job(text)
}

fn is_xml(path: &Path, text: &str) -> bool {
    let by_name = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
    by_name || text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// A draft of a finished configuration. It has no values if no overrides follow.
fn draft_of<T: Serialize>(config: &T, file: &str, over: &Overrides) -> Result<Draft, Error> {
    if *over == Overrides::default() {
        return Ok(Draft { value: toml::Table::new(), places: Places::new(file) });
    }
    Draft::of(config, file)
}

fn finish_device(
    mut draft: Draft,
    overrides: &Overrides,
    as_is: Option<DeviceConfig>,
    warnings: Vec<String>,
) -> Result<Loaded<DeviceConfig>, Error> {
    // Refuses problems of the file before the command line adds to it.
    let mut config = match as_is {
        Some(config) => config,
        None => draft.finish()?,
    };
    let mut changed = false;
    let mut set = |key: &str, value: Value, option: String| {
        changed = true;
        let place = overrides.caller.place(option);
        draft.set(key, value, &place).map_err(|problem| Error::Config(vec![problem]))
    };
    if overrides.compat_mqsim {
        let compat = Value::try_from(CompatConfig::mqsim()).expect("booleans serialise");
        set("compat", compat, "--compat mqsim".to_owned())?;
    }
    if let Some(name) = &overrides.scheduler {
        set("scheduler", Value::String(name.clone()), format!("--scheduler {name}"))?;
    }
    if let Some(name) = &overrides.isolation {
        set("isolation", Value::String(name.clone()), format!("--isolation {name}"))?;
    }
    if apply_sets(&mut draft, overrides, false)? || changed {
        config = draft.finish()?;
    }
    Ok(Loaded { config, places: draft.places, warnings })
}

fn finish_workload(
    mut draft: Draft,
    overrides: &Overrides,
    as_is: Option<WorkloadConfig>,
    warnings: Vec<String>,
) -> Result<Loaded<WorkloadConfig>, Error> {
    let mut config = match as_is {
        Some(config) => config,
        None => draft.finish()?,
    };
    if apply_sets(&mut draft, overrides, true)? {
        config = draft.finish()?;
    }
    if tenants::promise(&mut draft, &config, &overrides.slos)? {
        config = draft.finish()?;
    }
    if tenants::multiply(&mut draft, &config, &overrides.counts)? {
        config = draft.finish()?;
    }
    Ok(Loaded { config, places: draft.places, warnings })
}

/// Resolves the paths of traces and of clone parameters: relative to the workload file or, if not
/// there, to the current folder. Reads the clone parameters.
fn find_traces(loaded: &mut Loaded<WorkloadConfig>, folder: &Path) -> Vec<Problem> {
    let (mut problems, mut of_clones) = (Vec::new(), Vec::new());
    for (index, flow) in loaded.config.flows.iter_mut().enumerate() {
        let mut find = |path: &mut PathBuf, key: &str, what: &str| {
            let beside = folder.join(&*path);
            let place = || loaded.places.locate(&format!("flow[{index}].{key}"));
            if path.as_os_str().is_empty() {
                let message = format!("found an empty path, allowed: a {what} file");
                problems.push(Problem { place: place(), message });
            } else if beside.exists() {
                *path = beside;
            } else if !path.exists() {
                let message = format!(
                    "no such file: {} (looked beside the workload file and in the current folder)",
                    path.display()
                );
                problems.push(Problem { place: place(), message });
            }
            if path.is_dir() && !path.as_os_str().is_empty() {
                let message = format!("{} is a folder; a {what} file is expected", path.display());
                problems.push(Problem { place: place(), message });
            }
        };
        if let Some(trace) = &mut flow.trace {
            find(&mut trace.path, "trace.path", "trace");
        }
        if let Some(config) = flow.clone.as_mut().filter(|config| clone::is_file(&config.of)) {
            let mut path = PathBuf::from(&config.of);
            find(&mut path, "clone.of", "parameter");
            if path.is_file() {
                match clone_file(&path) {
                    Err(Error::Config(more)) => of_clones.extend(more),
                    _ => config.of = path.to_string_lossy().into_owned(),
                }
            }
        }
        if let Some(MqsimFlowConfig::Trace(trace)) = &mut flow.mqsim {
            find(&mut trace.path, "mqsim.trace.path", "trace");
        }
    }
    problems.extend(of_clones);
    problems
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
