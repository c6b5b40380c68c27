//! Standard output, standard error, and files that are written whole or not at all.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use flashlane::{Error, visible, visible_json};
use tempfile::NamedTempFile;

use crate::signals;

/// Writes a line to standard error. A closed standard error is nobody's problem.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(line));
}

/// Tells people what went wrong, one line per problem.
pub(crate) fn report(error: &Error) {
    for line in error.to_string().lines() {
        note(&format!("error: {line}"));
    }
}

/// A table for people: on standard output, or on standard error where that is for data.
pub(crate) fn show(text: &str, data_on_stdout: bool) -> Result<(), Error> {
    if data_on_stdout {
        note(text);
        return Ok(());
    }
    print(&format!("{text}\n"))
}

/// Writes text to standard output. A reader that went away is no error.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    write_out(&visible(text))
}

/// Writes JSON or TOML to standard output: control characters are escaped as both escape them.
pub(crate) fn print_data(text: &str) -> Result<(), Error> {
    write_out(&visible_json(text))
}

fn write_out(text: &str) -> Result<(), Error> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::Output(format!("standard output: cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

fn refuse(path: &Path, what: &str, error: &std::io::Error) -> Error {
    Error::Output(format!("{}: {what}: {error}", path.display()))
}

/// What becomes a file.
#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
    Bytes(Vec<u8>),
    /// Written already, under a name for the time being.
    Staged(NamedTempFile),
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A folder for results. Folders that it made disappear again unless something is written.
#[derive(Debug)]
pub(crate) struct OutFolder {
    root: PathBuf,
    made: Vec<PathBuf>,
    keep: bool,
}

impl OutFolder {
    /// Makes the folder and tries it out, so that a run is not wasted on a full or closed disk.
    pub(crate) fn prepare(root: &Path) -> Result<Self, Error> {
        let mut folder = Self { root: root.to_owned(), made: Vec::new(), keep: false };
        folder.make(root)?;
        stage(root, root, b"x")?;
        Ok(folder)
    }

    fn make(&mut self, path: &Path) -> Result<(), Error> {
        if path.is_dir() || path.as_os_str().is_empty() {
            return Ok(());
        }
        if fs::symlink_metadata(path).is_ok() {
            return Err(Error::Output(format!("{}: is not a folder", path.display())));
        }
        if let Some(parent) = path.parent() {
            self.make(parent)?;
        }
        signals::make_folder(path).map_err(|error| refuse(path, "cannot be made", &error))?;
        self.made.push(path.to_owned());
        Ok(())
    }

    /// Starts a file that is long in the making. It disappears unless it is written with the
    /// others.
    pub(crate) fn stage(&mut self, path: &Path) -> Result<NamedTempFile, Error> {
        let path = self.root.join(path);
        let folder = path.parent().unwrap_or(&self.root).to_owned();
        self.make(&folder)?;
        stage(&folder, &path, b"")
    }

    /// Writes all files, or none if one of them cannot be written. Paths are below the folder.
    pub(crate) fn write(
        mut self,
        files: impl IntoIterator<Item = (PathBuf, Content)>,
    ) -> Result<(), Error> {
        let mut staged = Vec::new();
        for (path, content) in files {
            let path = self.root.join(path);
            let folder = path.parent().unwrap_or(&self.root).to_owned();
            self.make(&folder)?;
            if path.is_dir() {
                return Err(Error::Output(format!("{}: is a folder", path.display())));
            }
            let file = match content {
                Content::Text(text) => stage(&folder, &path, text.as_bytes())?,
                Content::Bytes(bytes) => stage(&folder, &path, &bytes)?,
                Content::Staged(file) => {
                    let sync = file.as_file().sync_all();
                    sync.map_err(|error| refuse(&path, "cannot be written", &error))?;
                    file
                }
            };
            staged.push((file, path));
        }
        // A signal waits until all files have their names.
        let _all_or_none = signals::hold();
        self.keep = true;
        let mut written = Vec::new();
        for (file, path) in staged {
            file.persist(&path)
                .map_err(|error| refuse(&path, "cannot be written", &error.error))?;
            // Makes the new name durable; not every file system can.
            let _ = path.parent().map(|parent| File::open(parent).and_then(|dir| dir.sync_all()));
            written.push(path);
        }
        self.remove_earlier(&written)
    }

    /// The results in a folder are of one run: where a summary was written, those of an earlier run
    /// go, its scenarios among them. Files of other names stay.
    fn remove_earlier(&self, written: &[PathBuf]) -> Result<(), Error> {
        if !written.iter().any(|path| path.ends_with("summary.json")) {
            return Ok(());
        }
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let of_scenario = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            let number = name.and_then(|name| name.strip_prefix("scenario-"));
            number.is_some_and(|number| number.parse::<u32>().is_ok()) && path.is_dir()
        };
        let scenarios = entries.map(|entry| entry.path()).filter(of_scenario);
        for folder in scenarios.chain([self.root.clone()]) {
            for path in RESULTS.map(|name| folder.join(name)) {
                if path.is_file() && !written.contains(&path) {
                    let removed = fs::remove_file(&path);
                    removed.map_err(|error| refuse(&path, "cannot be removed", &error))?;
                }
            }
            if folder != self.root {
                // Only an empty one goes.
                let _ = fs::remove_dir(&folder);
            }
        }
        Ok(())
    }
}

/// What `run` leaves in the folder of a scenario.
const RESULTS: [&str; 8] = [
    "summary.json",
    "seeds.json",
    "steady.json",
    "blame.json",
    "report.html",
    "requests.parquet",
    "timeseries.parquet",
    "timeline.pftrace",
];

/// A single file for results; nothing is left of it unless it is kept.
#[derive(Debug)]
pub(crate) struct OutFile {
    path: PathBuf,
    file: NamedTempFile,
}

impl OutFile {
    /// Tries the place out, so that work is not wasted.
    pub(crate) fn prepare(path: &Path) -> Result<Self, Error> {
        if path.is_dir() {
            return Err(Error::Output(format!("{}: is a folder", path.display())));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok(Self { path: path.to_owned(), file: stage(folder, path, b"")? })
    }

    /// Writes the content.
    pub(crate) fn write(
        &mut self,
        content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Error> {
        content(&mut self.file).map_err(|error| refuse(&self.path, "cannot be written", &error))
    }

    /// The file, for writers of their own.
    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Makes it durable under its name.
    pub(crate) fn keep(self) -> Result<(), Error> {
        let Self { path, file } = self;
        file.as_file().sync_all().map_err(|error| refuse(&path, "cannot be written", &error))?;
        file.persist(&path)
            .map_err(|error| refuse(&path, "cannot be written", &error.error))
            .map(drop)
    }
}

impl Drop for OutFolder {
    fn drop(&mut self) {
        if !self.keep {
            for path in self.made.iter().rev() {
                let _ = fs::remove_dir(path);
            }
        }
    }
}

/// Writes a temporary file; dropped, it disappears. Messages are about `place`.
fn stage(folder: &Path, place: &Path, bytes: &[u8]) -> Result<NamedTempFile, Error> {
    let mut file = signals::make_file(|| flashlane_files::stage(folder))
        .map_err(|error| refuse(place, "cannot be written", &error))?;
    file.write_all(bytes)
        .and_then(|()| file.as_file().sync_all())
        .map_err(|error| refuse(place, "cannot be written", &error))?;
    Ok(file)
}
