//! `flashlane serve` as a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::text;

/// A server that is killed if the test ends before it does.
pub(crate) struct Served {
    child: Child,
    out: BufReader<ChildStdout>,
    /// A line for each door.
    pub(crate) doors: Vec<Value>,
}

/// What a server leaves.
pub(crate) struct Left {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Left {
    /// The lines after those of the doors: the summary, and what is not in it.
    pub(crate) fn results(&self) -> [Value; 2] {
        assert_eq!(self.status, Some(0), "{}", self.err);
        let lines: Vec<Value> = self.out.lines().map(|it| it.parse().expect("JSON")).collect();
        lines.try_into().expect("two lines")
    }
}

impl Served {
    /// Serves `tiny` through some doors.
    pub(crate) fn start(folder: &Path, doors: usize, arguments: &str) -> Self {
        // A shell without a terminal lets the processes behind it ignore SIGINT.
        let mut child = Command::new("env")
            .args(["--default-signal=INT", env!("CARGO_BIN_EXE_flashlane")])
            .current_dir(folder)
            .args(["serve", "--device", "tiny", "--format", "json", "--quiet"])
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = || {
            let mut line = String::new();
            out.read_line(&mut line).expect("the server says where it listens");
            line.parse().unwrap_or_else(|error| panic!("{error}: `{line}`"))
        };
        let doors = (0..doors).map(|_| line()).collect();
        Self { child, out, doors }
    }

    pub(crate) fn address(&self, door: usize) -> &str {
        self.doors[door]["address"].as_str().expect("an address")
    }

    /// Sends a signal, and waits for the end.
    pub(crate) fn end(mut self, signal: &str) -> Left {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().expect("kill runs");
        assert!(sent.success());
        let (mut out, mut err) = (String::new(), Vec::new());
        self.out.read_to_string(&mut out).expect("UTF-8");
        let mut pipe = self.child.stderr.take().expect("a pipe");
        pipe.read_to_end(&mut err).expect("a pipe");
        let status = self.child.wait().expect("it ends").code();
        Left { status, out, err: text(&err) }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
