//! Runs the parts of a sweep as a job array of Slurm.
//!
//! The script of the array is written to the folder of the sweep, whose file system all nodes see.
//! Each task runs one part with `--shard`. A task that was killed leaves points without a result.
//! Parts with such points are submitted again.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use flashlane::Error;

use crate::args::SweepArgs;
use crate::output::{OutFile, note};

/// Time between two looks at the queue. `sbatch --wait` waits up to ten seconds between looks.
const LOOK: Duration = Duration::from_millis(500);
/// Number of times that parts are submitted before missing points are an error.
const TRIES: u32 = 3;

/// A job array for the parts of a sweep.
pub(super) struct Array<'a> {
    arguments: &'a SweepArgs,
    parts: u32,
}

fn failed(what: impl std::fmt::Display) -> Error {
    Error::config("--engine slurm", what.to_string())
}

/// Runs a program of Slurm and returns its output.
fn ask(program: &str, arguments: &[&str]) -> Result<String, Error> {
    let output =
        Command::new(program).args(arguments).output().map_err(|error| match error.kind() {
            ErrorKind::NotFound => failed(format!(
                "found no program `{program}`; allowed: a machine from which Slurm takes jobs"
            )),
            _ => failed(format!("{program}: {error}")),
        })?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(said(&output.stdout)),
        false => Err(failed(format!("{program}: {}", said(&output.stderr)))),
    }
}

impl<'a> Array<'a> {
    pub(super) fn new(arguments: &'a SweepArgs, points: usize) -> Self {
        let most = u32::try_from(points).unwrap_or(u32::MAX).max(1);
        Self { arguments, parts: arguments.parts.min(most) }
    }

    /// The part of a point, counted from 1.
    pub(super) fn part_of(&self, point: usize) -> u32 {
        (point % self.parts as usize) as u32 + 1
    }

    /// Submits all parts, waits for them, and submits parts again that left points without a
    /// result. `missing`: the numbers of the points without a result.
    ///
    /// # Errors
    /// Fails if Slurm refuses the job, or if points are missing after three tries.
    pub(super) fn run(
        &self,
        missing: &mut dyn FnMut() -> Result<Vec<usize>, Error>,
    ) -> Result<(), Error> {
        let mut left = missing()?;
        for _ in 0..TRIES {
            if left.is_empty() {
                return Ok(());
            }
            let mut parts: Vec<u32> = left.iter().map(|&point| self.part_of(point)).collect();
            parts.sort_unstable();
            parts.dedup();
            self.wait(&self.submit(&parts)?)?;
            left = missing()?;
        }
        match left.len() {
            0 => Ok(()),
            points => Err(failed(format!(
                "{points} points have no result after {TRIES} tries; what their tasks said is in {}",
                self.logs().display()
            ))),
        }
    }

    fn logs(&self) -> PathBuf {
        self.arguments.out.join("slurm")
    }

    /// Submits some parts. Returns the number of the job.
    fn submit(&self, parts: &[u32]) -> Result<String, Error> {
        let logs = self.logs();
        std::fs::create_dir_all(&logs)
            .map_err(|error| Error::Output(format!("{}: {error}", logs.display())))?;
        let script = self.arguments.out.join("sweep.sbatch");
        let mut file = OutFile::prepare(&script, self.arguments.overwrite.overwrite)?;
        let text = self.script()?;
        file.write(|file| file.write_all(text.as_bytes()))?;
        file.keep()?;
        let parts: Vec<String> = parts.iter().map(u32::to_string).collect();
        let array = format!("--array={}", parts.join(","));
        let script = script.display().to_string();
        let mut words = vec!["--parsable", array.as_str()];
        words.extend(self.arguments.sbatch.iter().flat_map(|words| words.split_whitespace()));
        words.push(&script);
        let job = ask("sbatch", &words)?;
        let job = job.split(';').next().unwrap_or_default().to_owned();
        if !self.arguments.quiet {
            note(&format!("job {job}: {} parts; `scancel {job}` ends it", parts.len()));
        }
        Ok(job)
    }

    /// The script of a task.
    fn script(&self) -> Result<String, Error> {
        let whole =
            |path: &Path| std::path::absolute(path).map(|path| quoted(&path.display().to_string()));
        let whole = |path: &Path| whole(path).map_err(failed);
        let program = whole(&std::env::current_exe().map_err(failed)?)?;
        let (grid, out) = (whole(&self.arguments.grid)?, whole(&self.arguments.out)?);
        let logs = whole(&self.logs().join("part-%a.log"))?;
        let states = match &self.arguments.states {
            Some(states) if states.as_os_str() == "off" => "off".to_owned(),
            Some(states) => whole(states)?,
            None => whole(&self.arguments.out.join("states"))?,
        };
        let folder = whole(Path::new("."))?;
        let memory = self.arguments.memory.map(|bytes| format!(" --memory {bytes}B"));
        Ok(format!(
            "#!/bin/sh\n\
             #SBATCH --job-name=flashlane-sweep\n\
             #SBATCH --output={logs}\n\
             #SBATCH --open-mode=append\n\
             # Written by `flashlane sweep --engine slurm`: a task for each part of the sweep.\n\
             cd {folder} || exit\n\
             exec {program} sweep {grid} --out {out} --states {states} --quiet{} \\\n    \
             --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\" --shard \"$SLURM_ARRAY_TASK_ID/{}\"\n",
            memory.unwrap_or_default(),
            self.parts,
        ))
    }

    /// Waits until no task of a job is left in the queue.
    fn wait(&self, job: &str) -> Result<(), Error> {
        loop {
            std::thread::sleep(LOOK);
            // A job that has ended leaves the queue after a while, and is unknown then.
            match ask("squeue", &["--noheader", "--jobs", job, "--format=%T"]) {
                Ok(tasks) if tasks.lines().all(|task| task.trim().is_empty()) => return Ok(()),
                Err(error) if error.to_string().contains("Invalid job id") => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_are_quoted() {
        assert_eq!(quoted("/a b/it's"), "'/a b/it'\\''s'");
    }
}
