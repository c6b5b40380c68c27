//! Standard output, standard error, and files that are written whole or not at all.

use std::fs::{self, File};
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use flashlane::{Error, visible, visible_json};
use flashlane_files::{
    Lock, OutputFile, Refusal, Rules, Staged, hold_folder, publish, refuse_others,
};
use tempfile::NamedTempFile;

use crate::signals;

/// Writes a line to standard error. A closed standard error is ignored.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(line));
}

/// Prints an error for people, one line per problem.
pub(crate) fn report(error: &Error) {
    for line in error.to_string().lines() {
        note(&format!("error: {line}"));
    }
}

/// Prints a table for people on standard output, or on standard error if standard output is for
/// data.
pub(crate) fn show(text: &str, data_on_stdout: bool) -> Result<(), Error> {
    if data_on_stdout {
        note(text);
        return Ok(());
    }
    print(&format!("{text}\n"))
}

/// Writes text to standard output. It is no error if the reader has closed the pipe.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    write_out(&visible(text))
}

/// Writes text of the program itself, with the colours of a terminal, to standard output.
pub(crate) fn print_as_is(text: &str) -> Result<(), Error> {
    write_out(text)
}

/// Writes JSON or TOML to standard output. Control characters are escaped in the way of both
/// formats.
pub(crate) fn print_data(text: &str) -> Result<(), Error> {
    write_out(&visible_json(text))
}

/// Writes a binary file to standard output. Refuses a terminal.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Error> {
    if std::io::stdout().is_terminal() {
        let message = "standard output is a terminal, allowed: a file or a pipe";
        return Err(Error::config("--format parquet", message));
    }
    write_bytes(bytes)
}

fn write_out(text: &str) -> Result<(), Error> {
    write_bytes(text.as_bytes())
}

fn write_bytes(bytes: &[u8]) -> Result<(), Error> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::Output(format!("standard output: cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

fn refuse(path: &Path, what: &str, error: &std::io::Error) -> Error {
    Error::Output(format!("{}: {what}: {error}", path.display()))
}

/// The content of a file.
#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
    Bytes(Vec<u8>),
    /// Content that is already written, under a temporary name.
    Staged(NamedTempFile),
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A folder for results. Folders that were made for it are removed again unless a result is
/// written. Files that Flashlane did not write are kept.
#[derive(Debug)]
pub(crate) struct OutFolder {
    root: PathBuf,
    overwrite: bool,
    set: Option<&'static str>,
    made: Vec<PathBuf>,
    keep: bool,
    /// The lock of the folder, which is held until the results are written.
    lock: Option<Lock>,
}

/// Name of the result set of `run`, `demo` and `exec`, which replace each other as a whole.
pub(crate) const RUN: &str = "run";

/// Name of the result set of the traces of tenants, which replace each other as a whole.
pub(crate) const SPLIT: &str = "split";

impl OutFolder {
    /// Makes the folder, locks it for this process, and tests it, so that no run is wasted on a
    /// full or closed disk. `overwrite`: true if files of others may be replaced.
    pub(crate) fn prepare(root: &Path, overwrite: bool) -> Result<Self, Error> {
        let mut folder = Self::shared(root, overwrite)?;
        folder.lock = signals::take_lock(|| hold_folder(root)).map_err(of_refusal)?;
        Ok(folder)
    }

    /// Does what [`OutFolder::prepare`] does, for a folder into which several processes write at a
    /// time.
    pub(crate) fn shared(root: &Path, overwrite: bool) -> Result<Self, Error> {
        let (root, made) = (root.to_owned(), Vec::new());
        let mut folder = Self { root, overwrite, set: None, made, keep: false, lock: None };
        folder.make(&folder.root.clone())?;
        stage(&folder.root, &folder.root, b"x")?;
        Ok(folder)
    }

    /// Sets the result set. Results of this set from an earlier process are removed.
    pub(crate) fn of_set(mut self, set: &'static str) -> Self {
        self.set = Some(set);
        self
    }

    /// The folder of a drive's results, and of `more` beside them.
    pub(crate) fn for_run(root: &Path, overwrite: bool, more: &[&str]) -> Result<Self, Error> {
        let folder = Self::prepare(root, overwrite)?.of_set(RUN);
        folder.expect(more)?;
        folder.expect(places_of_results::<PathBuf>([])).map(|()| folder)
    }

    fn rules(&self) -> Rules<'static> {
        Rules { set: self.set, ..rules(self.overwrite) }
    }

    /// Refuses a folder in which a file of others has one of these names, before any work is done.
    pub(crate) fn expect<P: Into<PathBuf>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<(), Error> {
        let paths: Vec<PathBuf> = paths.into_iter().map(Into::into).collect();
        refuse_others(&self.root, &paths, &self.rules()).map_err(of_refusal)
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

    /// Starts a file that takes long to write. It is removed unless it is written with the others.
    pub(crate) fn stage(&mut self, path: &Path) -> Result<NamedTempFile, Error> {
        let path = self.root.join(path);
        let folder = path.parent().unwrap_or(&self.root).to_owned();
        self.make(&folder)?;
        stage(&folder, &path, b"")
    }

    /// Does what [`OutFolder::stage`] does, and opens the file for a writer of its own.
    pub(crate) fn stage_to_write(&mut self, path: &Path) -> Result<(NamedTempFile, File), Error> {
        let staged = self.stage(path)?;
        let name = path.file_name().map_or(path, Path::new).display();
        let writer = staged.as_file().try_clone();
        let writer =
            writer.map_err(|error| Error::Output(format!("{name}: cannot be written: {error}")))?;
        Ok((staged, writer))
    }

    /// Writes all files, or none if one of them cannot be written. Paths are below the folder.
    pub(crate) fn write(
        mut self,
        files: impl IntoIterator<Item = (PathBuf, Content)>,
    ) -> Result<(), Error> {
        let mut staged = Vec::new();
        for (path, content) in files {
            let place = self.root.join(&path);
            let folder = place.parent().unwrap_or(&self.root).to_owned();
            self.make(&folder)?;
            if place.is_dir() {
                return Err(Error::Output(format!("{}: is a folder", place.display())));
            }
            let file = match content {
                Content::Text(text) => stage(&folder, &place, text.as_bytes())?,
                Content::Bytes(bytes) => stage(&folder, &place, &bytes)?,
                Content::Staged(file) => {
                    let sync = file.as_file().sync_all();
                    sync.map_err(|error| refuse(&place, "cannot be written", &error))?;
                    file
                }
            };
            staged.push(Staged { path, file });
        }
        // A signal waits until all files have their names.
        let _all_or_none = signals::hold();
        publish(&self.root, staged, &self.rules()).map_err(of_refusal)?;
        self.keep = true;
        Ok(())
    }
}

impl Drop for OutFolder {
    fn drop(&mut self) {
        if let Some(lock) = self.lock.take() {
            let path = lock.path().to_owned();
            drop(lock);
            signals::forget(&path);
        }
        if !self.keep {
            for path in self.made.iter().rev() {
                let _ = fs::remove_dir(path);
            }
        }
    }
}

fn rules(overwrite: bool) -> Rules<'static> {
    Rules { overwrite, set: None, hint: Some("--overwrite") }
}

fn of_refusal(refusal: Refusal) -> Error {
    Error::Output(refusal.to_string())
}

/// The files that a run may leave in the folder of a scenario.
pub(crate) const RESULTS: [&str; 11] = [
    "summary.json",
    "seeds.json",
    "steady.json",
    "blame.json",
    "report.html",
    "requests.parquet",
    "timeseries.parquet",
    "timeline.pftrace",
    "advice.json",
    "advice.csv",
    "advice.html",
];

/// The paths of results in a folder and in folders below it.
pub(crate) fn places_of_results<P: AsRef<Path>>(
    below: impl IntoIterator<Item = P>,
) -> Vec<PathBuf> {
    let in_folder = |folder: &Path| RESULTS.map(|name| folder.join(name));
    let below = below.into_iter().flat_map(|folder| in_folder(folder.as_ref()));
    in_folder(Path::new("")).into_iter().chain(below).collect()
}

/// A single output: a file that is removed unless it is kept, or a device or pipe.
#[derive(Debug)]
pub(crate) struct OutFile {
    path: PathBuf,
    overwrite: bool,
    output: OutputFile,
}

impl OutFile {
    /// Tests the path, so that no work is wasted. `overwrite`: true if a file of others may be
    /// replaced.
    pub(crate) fn prepare(path: &Path, overwrite: bool) -> Result<Self, Error> {
        if path.is_dir() {
            return Err(Error::Output(format!("{}: is a folder", path.display())));
        }
        let stage = |folder: &Path| signals::make_file(|| flashlane_files::stage(folder));
        let output = OutputFile::create(path, &rules(overwrite), stage).map_err(of_refusal)?;
        Ok(Self { path: path.to_owned(), overwrite, output })
    }

    /// Writes the content.
    pub(crate) fn write(
        &mut self,
        content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Error> {
        content(self.output.file()).map_err(|error| refuse(&self.path, "cannot be written", &error))
    }

    /// The file, for code that writes into it directly.
    pub(crate) fn file(&mut self) -> &mut File {
        self.output.file()
    }

    /// Makes the file durable under its name.
    pub(crate) fn keep(self) -> Result<(), Error> {
        // A signal waits until the file has its name.
        let _whole = signals::hold();
        self.output.keep(&rules(self.overwrite)).map_err(of_refusal)
    }
}

/// Refuses an output that is also an input, even under another name.
pub(crate) fn refuse_input<P: AsRef<Path>>(
    output: &Path,
    inputs: impl IntoIterator<Item = P>,
) -> Result<(), Error> {
    let Ok(place) = output.canonicalize() else { return Ok(()) };
    let is_it = |input: P| input.as_ref().canonicalize().is_ok_and(|input| input == place);
    let inputs: Vec<P> = inputs.into_iter().collect();
    let which = if inputs.len() == 1 { "the input" } else { "one of the inputs" };
    if place.is_file() && inputs.into_iter().any(is_it) {
        let message = format!("is {which}; allowed: another file");
        return Err(Error::config(output.display().to_string(), message));
    }
    Ok(())
}

/// Writes a temporary file, which is removed when it is dropped. Messages name `place`.
fn stage(folder: &Path, place: &Path, bytes: &[u8]) -> Result<NamedTempFile, Error> {
    let mut file = signals::make_file(|| flashlane_files::stage(folder))
        .map_err(|error| refuse(place, "cannot be written", &error))?;
    file.write_all(bytes)
        .and_then(|()| file.as_file().sync_all())
        .map_err(|error| refuse(place, "cannot be written", &error))?;
    Ok(file)
}
