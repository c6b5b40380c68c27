//! The log of a swarm: one line of JSON when a seed begins and one when it is over, so that a swarm
//! of many thousand seeds can be stopped, resumed and added up.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

/// How far a seed came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// The seed was started. If no later line follows, the program was killed or crashed in this
    /// seed.
    Begun,
    /// Validation refused the configuration.
    Refused,
    Finished,
    Failed,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// Hash of the test program: seeds done by the same program are not run again.
    pub(crate) program: String,
    /// What `SWARM_COMMIT` says; for people.
    pub(crate) commit: String,
    pub(crate) seed: u64,
    pub(crate) state: State,
    /// Why it was refused or failed; empty otherwise.
    #[serde(default)]
    pub(crate) why: String,
    /// Requests completed.
    #[serde(default)]
    pub(crate) requests: u64,
    /// Events of the run of all flows together.
    #[serde(default)]
    pub(crate) events: u64,
    /// Unit: seconds.
    #[serde(default)]
    pub(crate) wall_s: f64,
    /// Processor time of the thread. Unit: seconds.
    #[serde(default)]
    pub(crate) cpu_s: f64,
}

/// Which seeds a swarm runs first where its log has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Seed(u64),
    /// The seeds that were started and never ended, then the seeds after the largest one of the
    /// log.
    Next,
}

/// A log: what it holds, and the file that more lines go to.
pub(crate) struct Log {
    /// The last line of each seed.
    latest: BTreeMap<u64, Line>,
    /// The lines of this program, by seed.
    own: BTreeMap<u64, Line>,
    program: String,
    commit: String,
    file: Mutex<File>,
}

impl Log {
    /// Opens a log, or begins one. Lines that were cut off when a program was killed are left out.
    pub(crate) fn open(path: &Path, program: String, commit: String) -> std::io::Result<Self> {
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let (mut latest, mut own) = (BTreeMap::new(), BTreeMap::new());
        let lines = text.split(|&byte| byte == b'\n');
        for line in lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok()) {
            if line.program == program {
                own.insert(line.seed, line.clone());
            }
            latest.insert(line.seed, line);
        }
        if text.last().is_some_and(|&byte| byte != b'\n') {
            file.write_all(b"\n")?;
        }
        Ok(Self { latest, own, program, commit, file: Mutex::new(file) })
    }

    /// The seeds of a swarm that this program has not run yet. With [`Start::Next`] they are `runs`
    /// seeds. With a first seed they are the missing ones among the `runs` seeds from the first one
    /// on.
    pub(crate) fn seeds(&self, start: Start, runs: u64) -> Vec<u64> {
        let done = |seed: &u64| self.own.get(seed).is_some_and(|line| line.state != State::Begun);
        match start {
            Start::Seed(first) => (first..first + runs).filter(|seed| !done(seed)).collect(),
            Start::Next => {
                let begun = |line: &&Line| line.state == State::Begun;
                let unfinished = self.latest.values().filter(begun).map(|line| line.seed);
                let first = self.latest.last_key_value().map_or(0, |(seed, _)| seed + 1);
                unfinished.chain(first..).take(runs as usize).collect()
            }
        }
    }

    /// Appends a line about a seed, whole.
    pub(crate) fn write(&self, line: &Line) {
        let mut text = serde_json::to_string(line).expect("a line is plain data");
        text.push('\n');
        let mut file = self.file.lock().expect("no writer panics");
        file.write_all(text.as_bytes()).expect("the log of the swarm can be written");
    }

    /// A line about a seed, without results.
    pub(crate) fn line(&self, seed: u64, state: State) -> Line {
        Line {
            program: self.program.clone(),
            commit: self.commit.clone(),
            seed,
            state,
            why: String::new(),
            requests: 0,
            events: 0,
            wall_s: 0.0,
            cpu_s: 0.0,
        }
    }

    /// Adds up a log: the last line of every seed counts.
    pub(crate) fn totals(path: &Path) -> std::io::Result<Totals> {
        let log = Self::open(path, String::new(), String::new())?;
        let mut totals = Totals::default();
        for (seed, line) in log.latest {
            totals.seeds += 1;
            totals.requests += line.requests;
            totals.events += line.events;
            totals.cpu_s += line.cpu_s;
            match line.state {
                State::Begun => totals.unfinished.push(seed),
                State::Refused => totals.refused += 1,
                State::Finished => totals.finished += 1,
                State::Failed => totals.failed.push((seed, line.why)),
            }
        }
        Ok(totals)
    }
}

/// What all seeds of a log came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) seeds: u64,
    pub(crate) refused: u64,
    pub(crate) finished: u64,
    /// Seeds that failed when they ran last, and why.
    pub(crate) failed: Vec<(u64, String)>,
    /// Seeds that were begun and never ended.
    pub(crate) unfinished: Vec<u64>,
    pub(crate) requests: u64,
    pub(crate) events: u64,
    /// Unit: seconds.
    pub(crate) cpu_s: f64,
}

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { seeds, refused, finished, requests, events, cpu_s, .. } = self;
        writeln!(
            f,
            "log: {seeds} seeds, {refused} refused, {finished} finished, {} failed, {} begun and never ended; \
             {requests} requests, {events} events, {cpu_s:.0} s of processor time",
            self.failed.len(),
            self.unfinished.len()
        )?;
        for (seed, why) in &self.failed {
            writeln!(f, "  {seed} failed: {}", why.lines().next().unwrap_or_default())?;
        }
        for seed in &self.unfinished {
            writeln!(f, "  {seed} was begun and never ended")?;
        }
        Ok(())
    }
}

/// A hash of the running program, in hexadecimal digits: FNV-1a of its file.
pub(crate) fn program() -> std::io::Result<String> {
    let bytes = std::fs::read(std::env::current_exe()?)?;
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    Ok(format!("{hash:016x}"))
}

#[test]
fn a_log_resumes_and_adds_up() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("log.jsonl");
    let open = |program: &str| Log::open(&path, program.to_owned(), "c".to_owned()).expect("opens");
    let finished = |log: &Log, seed: u64| {
        log.write(&log.line(seed, State::Begun));
        let done = Line { requests: 10, events: 100, ..log.line(seed, State::Finished) };
        log.write(&done);
    };
    let log = open("one");
    assert_eq!(log.seeds(Start::Seed(5), 3), [5, 6, 7]);
    finished(&log, 5);
    let why = "what it was\nand more".to_owned();
    log.write(&Line { why: why.clone(), ..log.line(7, State::Failed) });
    // Killed while seed 6 ran and a line was written.
    log.write(&log.line(6, State::Begun));
    drop(log);
    let mut file = OpenOptions::new().append(true).open(&path).expect("the log");
    file.write_all(b"{\"program\":\"one\",\"se").expect("half a line");
    drop(file);

    let log = open("one");
    assert_eq!(log.seeds(Start::Seed(5), 4), [6, 8], "what is done is not run again");
    assert_eq!(log.seeds(Start::Next, 3), [6, 8, 9], "what was begun comes first");
    finished(&log, 6);
    let log = open("two");
    assert_eq!(log.seeds(Start::Seed(5), 2), [5, 6], "another program runs all again");
    assert_eq!(log.seeds(Start::Next, 2), [8, 9]);
    log.write(&log.line(8, State::Begun));
    log.write(&log.line(9, State::Refused));
    let totals = Log::totals(&path).expect("reads");
    assert_eq!((totals.seeds, totals.refused, totals.finished), (5, 1, 2));
    assert_eq!((totals.requests, totals.events), (20, 200));
    assert_eq!(
        (totals.failed.as_slice(), totals.unfinished.as_slice()),
        (&[(7, why)][..], &[8][..])
    );
    let text = totals.to_string();
    assert!(text.contains("7 failed: what it was\n") && text.contains("8 was begun"), "{text}");
}
