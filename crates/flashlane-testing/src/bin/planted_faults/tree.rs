//! The copy of the sources that faults are planted in, and its build.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flashlane_testing::faults::{Fault, repository};

/// Parts of the repository that are built.
const SOURCES: [&str; 3] = ["Cargo.toml", "Cargo.lock", "crates"];

/// The profile in `Cargo.toml`.
const PROFILE: &str = "planted-faults";

/// The folder `target/planted-faults`, with the copy in `tree`, the build in `build`, and files of
/// the runs in `runs`.
pub(crate) struct Tree {
    folder: PathBuf,
}

impl Tree {
    pub(crate) fn new() -> Self {
        Self { folder: repository().join("target/planted-faults") }
    }

    /// The folder for files of the runs.
    pub(crate) fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    /// The command-line tool with the fault.
    pub(crate) fn program(&self) -> PathBuf {
        self.folder.join("build").join(PROFILE).join("flashlane")
    }

    /// Makes the copy equal to the repository, except for the fault. Equal files stay untouched, so
    /// that little is built again.
    pub(crate) fn plant(&self, fault: Option<&Fault>) -> Result<(), String> {
        let (from, to) = (repository(), self.folder.join("tree"));
        let mut wanted = BTreeSet::new();
        for source in SOURCES {
            list(&from.join(source), &mut wanted)?;
        }
        let planted = fault.map(|fault| fault.path(&from));
        for path in &wanted {
            let inside = path.strip_prefix(&from).expect("a file of the repository");
            let text = match fault {
                Some(fault) if planted.as_ref() == Some(path) => fault.planted(&from)?.into_bytes(),
                _ => fs::read(path).map_err(|e| named(path, &e))?,
            };
            write_changed(&to.join(inside), &text)?;
        }
        let mut copies = BTreeSet::new();
        list(&to.join("crates"), &mut copies)?;
        for copy in copies {
            let inside = copy.strip_prefix(&to).expect("a file of the copy");
            if !wanted.contains(&from.join(inside)) {
                fs::remove_file(&copy).map_err(|e| named(&copy, &e))?;
            }
        }
        Ok(())
    }

    /// Builds the command-line tool of the copy.
    pub(crate) fn build(&self) -> Result<(), String> {
        let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
            .args(["build", "--quiet", "--locked", "--profile", PROFILE, "-p", "flashlane-cli"])
            .arg("--target-dir")
            .arg(self.folder.join("build"))
            .current_dir(self.folder.join("tree"))
            .output()
            .map_err(|e| format!("cargo: {e}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(format!("it does not compile:\n{said}")) }
    }
}

/// Writes a file, unless it has that text already.
fn write_changed(path: &Path, text: &[u8]) -> Result<(), String> {
    if fs::read(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let folder = path.parent().expect("a file lies in a folder");
    fs::create_dir_all(folder).map_err(|e| named(folder, &e))?;
    fs::write(path, text).map_err(|e| named(path, &e))
}

/// A file, or all files in a folder.
fn list(path: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), String> {
    if !path.is_dir() {
        files.insert(path.to_path_buf());
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(|e| named(path, &e))? {
        list(&entry.map_err(|e| named(path, &e))?.path(), files)?;
    }
    Ok(())
}

fn named(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
