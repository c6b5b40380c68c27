//! A single output: a file that is written whole or not at all, or a stream.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::publish::{Refusal, Rules, Staged, publish, refuse_others};

/// A single output. If it is dropped before it is kept, no file remains.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// Under a temporary name.
    File(NamedTempFile),
    /// A device, a pipe, or an open file of this process.
    Stream(File),
}

impl OutputFile {
    /// Prepares the output. `stage` makes a temporary file in a folder, as [`stage`](crate::stage)
    /// does.
    ///
    /// # Errors
    /// If the path has a file of somebody else, or cannot be written.
    pub fn create(
        path: &Path,
        rules: &Rules<'_>,
        stage: impl FnOnce(&Path) -> io::Result<NamedTempFile>,
    ) -> Result<Self, Refusal> {
        let failed = |error| Refusal::Failed(path.to_owned(), error);
        let place = if is_stream(path).map_err(failed)? {
            Place::Stream(OpenOptions::new().write(true).open(path).map_err(failed)?)
        } else {
            let (folder, name) = split(path)?;
            refuse_others(folder, &[name], rules)?;
            Place::File(stage(folder).map_err(failed)?)
        };
        Ok(Self { path: path.to_owned(), place })
    }

    /// The file for the bytes.
    pub fn file(&mut self) -> &mut File {
        match &mut self.place {
            Place::File(file) => file.as_file_mut(),
            Place::Stream(file) => file,
        }
    }

    /// Makes a file durable under its name.
    ///
    /// # Errors
    ///
    /// If the path now has a file of somebody else, or cannot be written.
    pub fn keep(self, rules: &Rules<'_>) -> Result<(), Refusal> {
        let Self { path, place } = self;
        let failed = |error| Refusal::Failed(path.clone(), error);
        match place {
            Place::Stream(mut file) => file.flush().map_err(failed),
            Place::File(file) => {
                file.as_file().sync_all().map_err(failed)?;
                let (folder, name) = split(&path)?;
                publish(folder, vec![Staged { path: name, file }], rules)
            }
        }
    }
}

/// Writes a single output.
///
/// # Errors
///
/// If the path has a file of somebody else, or cannot be written; then no file remains.
pub fn write_file(path: &Path, bytes: &[u8], rules: &Rules<'_>) -> Result<(), Refusal> {
    let mut output = OutputFile::create(path, rules, crate::stage)?;
    let written = output.file().write_all(bytes);
    written.map_err(|error| Refusal::Failed(path.to_owned(), error))?;
    output.keep(rules)
}

/// Folder and name of a file.
fn split(path: &Path) -> Result<(&Path, PathBuf), Refusal> {
    let refuse = |what| Refusal::Failed(path.to_owned(), io::Error::other(what));
    let name = path.file_name().ok_or_else(|| refuse("is not the name of a file"))?;
    if path.is_dir() {
        return Err(refuse("is a folder"));
    }
    Ok((path.parent().unwrap_or(Path::new("")), PathBuf::from(name)))
}

/// True if bytes must be written directly: a temporary file in the folder would replace a device.
fn is_stream(path: &Path) -> io::Result<bool> {
    const OPEN_FILES: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];
    if OPEN_FILES.iter().any(|open| path.starts_with(open)) {
        return Ok(true);
    }
    let Ok(data) = fs::metadata(path) else { return Ok(false) };
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_block_device(&data.file_type()) {
        return Err(io::Error::other("is a block device"));
    }
    Ok(!data.is_file() && !data.is_dir())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Read;

    const RULES: Rules<'static> = Rules { overwrite: false, set: None, hint: Some("--overwrite") };

    #[test]
    fn devices_and_pipes_take_the_bytes_and_stay() {
        let full = write_file(Path::new("/dev/full"), b"x", &RULES).expect_err("it is full");
        let text = "/dev/full: cannot be written: No space left on device (os error 28)";
        assert_eq!(full.to_string(), text);
        assert!(!fs::metadata("/dev/full").expect("it is there").is_file());
        write_file(Path::new("/dev/null"), b"x", &RULES).expect("it takes all");
        assert!(!fs::metadata("/dev/null").expect("it is there").is_file());
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("it runs");
        assert!(made.success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut text = String::new();
                File::open(pipe).and_then(|mut pipe| pipe.read_to_string(&mut text)).expect("read");
                text
            }
        });
        write_file(&pipe, b"through", &RULES).expect("somebody reads");
        assert_eq!(reader.join().expect("it ends"), "through");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "no manifest");
    }

    #[test]
    fn a_file_of_somebody_else_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.html");
        write_file(&path, b"one", &RULES).expect("free");
        write_file(&path, b"two", &RULES).expect("it is ours");
        fs::write(&path, b"mine").expect("room");
        let refused = write_file(&path, b"three", &RULES).expect_err("it was changed").to_string();
        assert!(refused.contains("page.html: changed since flashlane wrote it"), "{refused}");
        assert_eq!(fs::read(&path).expect("it is there"), b"mine");
        write_file(&path, b"three", &Rules { overwrite: true, ..RULES }).expect("as asked for");
    }
}
