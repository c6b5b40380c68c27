//! Runs the parts of the command that are in the Python package.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use flashlane::Error;

/// A module of the package, which is run by `python3`, or by the program that `PYTHON` names.
pub(crate) struct Module {
    /// The option that needs the module, for messages.
    place: &'static str,
    name: &'static str,
    extra: &'static str,
    python: OsString,
    pub(crate) command: Command,
}

/// Keeps Python from loading modules from the current folder, where somebody's `json.py` may lie.
/// This holds for the process of this command and for its children. Folders that `PYTHONPATH` names
/// are kept; its empty entries are removed, since they mean the current folder.
fn isolate(command: &mut Command) {
    command.arg("-P").env("PYTHONSAFEPATH", "1");
    if let Some(path) = std::env::var_os("PYTHONPATH") {
        let named = std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
        match std::env::join_paths(named) {
            Ok(named) if !named.is_empty() => command.env("PYTHONPATH", named),
            _ => command.env_remove("PYTHONPATH"),
        };
    }
}

impl Module {
    /// `extra`: the optional part of the package that the module needs.
    pub(crate) fn new(place: &'static str, name: &'static str, extra: &'static str) -> Self {
        let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
        let mut command = Command::new(&python);
        isolate(&mut command);
        command.args(["-m", name]);
        Self { place, name, extra, python, command }
    }

    pub(crate) fn with_memory(&mut self, memory: Option<u64>) -> &mut Self {
        if let Some(memory) = memory {
            self.command.arg("--memory").arg(memory.to_string());
        }
        self
    }

    pub(crate) fn with_states(&mut self, states: Option<&Path>) -> &mut Self {
        if let Some(states) = states {
            self.command.arg("--states").arg(states);
        }
        self
    }

    /// Runs the module to its end.
    ///
    /// # Errors
    /// Fails if this Python does not exist, or if the module failed and has printed the reason.
    pub(crate) fn run(&mut self) -> Result<(), Error> {
        let Self { place, name, extra, .. } = *self;
        let shown = self.python.to_string_lossy();
        let status = self.command.status().map_err(|error| {
            let need = format!("allowed: a Python with the package flashlane[{extra}]");
            Error::config(place, format!("{shown}: {error}; {need}"))
        })?;
        match status.code() {
            Some(0) => Ok(()),
            _ => Err(Error::config(place, format!("{shown} -m {name} ended with {status}"))),
        }
    }
}
