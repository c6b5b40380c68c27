//! Runs of the command-line tool, and how they end.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use flashlane_testing::faults::Run;

use crate::tree::Tree;

/// Time limit of a run. Without a fault the slowest run takes a second.
const LIMIT: Duration = Duration::from_secs(30);

/// Memory limit of a run: a fault may make a list grow without end. Unit: KiB.
const MEMORY_MAX: u64 = 4 << 20;

/// Prefix of the tool's message about a panic.
const PANIC: &str = "internal fault: ";

/// Exit status of the tool where the drive noticed that it cannot finish its work.
const STUCK: i32 = 3;

/// A run whose input files are written.
pub(crate) struct Prepared<'a> {
    run: &'a Run,
    device: PathBuf,
    workload: PathBuf,
    errors: PathBuf,
}

/// End of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Success,
    /// A panic, with message and place; or a drive that noticed that it cannot finish its work.
    Fault(String),
    /// Another failure, with the message of the tool.
    Failure(String),
    TooLong,
}

impl Ending {
    /// True if the fault was noticed, and its message contains the text.
    pub(crate) fn is_fault(&self, text: &str) -> bool {
        matches!(self, Self::Fault(message) if message.contains(text))
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success => f.write_str("passes"),
            Self::Fault(message) => f.write_str(message),
            Self::Failure(said) => write!(f, "fails otherwise: {said}"),
            Self::TooLong => write!(f, "takes longer than {} s", LIMIT.as_secs()),
        }
    }
}

impl<'a> Prepared<'a> {
    /// Writes the input files of all runs.
    pub(crate) fn all(runs: &'a [Run], tree: &Tree) -> Result<Vec<Self>, String> {
        let folder = tree.runs();
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        runs.iter().map(|run| Self::new(run, &folder)).collect()
    }

    fn new(run: &'a Run, folder: &Path) -> Result<Self, String> {
        let file = |kind: &str| folder.join(format!("{}-{kind}", run.name));
        let (device, workload) = (file("device.toml"), file("workload.toml"));
        let errors = file("errors.txt");
        for (path, text) in [(&device, &run.device), (&workload, &run.workload)] {
            fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        Ok(Self { run, device, workload, errors })
    }

    pub(crate) fn name(&self) -> &str {
        &self.run.name
    }

    pub(crate) fn execute(&self, tree: &Tree) -> Result<Ending, String> {
        let errors = File::create(&self.errors).map_err(|e| format!("a file for errors: {e}"))?;
        let mut child = limited(&tree.program())
            .args(["run", "--quiet", "--format", "json", "--threads", "1", "--device"])
            .arg(&self.device)
            .arg("--workload")
            .arg(&self.workload)
            .args(&self.run.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .map_err(|e| format!("the run does not start: {e}"))?;
        let Some(status) = wait(&mut child)? else { return Ok(Ending::TooLong) };
        if status == Some(0) {
            return Ok(Ending::Success);
        }
        let said = fs::read_to_string(&self.errors).unwrap_or_default();
        let message = said.lines().find_map(|line| line.strip_prefix(PANIC));
        Ok(match message {
            Some(message) if status == Some(1) => {
                // The message ends with a request to report it.
                let message = message.split("; this is a bug").next().unwrap_or(message);
                Ending::Fault(message.to_owned())
            }
            None if status == Some(STUCK) => Ending::Fault(said),
            _ => {
                let status = status.map_or("a signal".to_owned(), |status| status.to_string());
                Ending::Failure(format!("{status}: {}", said.lines().next().unwrap_or_default()))
            }
        })
    }
}

/// The program with a bound on its memory.
#[cfg(unix)]
fn limited(program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -v {MEMORY_MAX}; exec \"$0\" \"$@\"")).arg(program);
    command
}

/// The program.
#[cfg(not(unix))]
fn limited(program: &Path) -> Command {
    let _ = MEMORY_MAX;
    Command::new(program)
}

/// The exit status of a process; a process that was ended by a signal has none. `None` if the
/// process had to be killed because its time was over.
fn wait(child: &mut Child) -> Result<Option<Option<i32>>, String> {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(Some(status.code()));
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().map_err(|e| e.to_string())?;
    child.wait().map_err(|e| e.to_string())?;
    Ok(None)
}
