//! Parts of the command that are in the Python package.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use flashlane::Error;

/// A module of the package, about to be run by `python3`, or by `PYTHON` where that is set.
pub(crate) struct Module {
    /// What asks for it, for messages.
    place: &'static str,
    name: &'static str,
    extra: &'static str,
    python: OsString,
    pub(crate) command: Command,
}

/// Python loads no module from the current folder, where anybody's `json.py` may lie: neither the
/// process of this command nor those that it starts. Folders that `PYTHONPATH` names stay; its
/// empty entries go, since they mean the current folder.
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
    /// `extra`: the optional part of the package that it needs.
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

    /// Runs it to its end.
    ///
    /// # Errors
    /// There is no such Python, or the module failed: it has said why.
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
