//! Measurements of a program between the beginning and the end of its measured part.

use flashlane::Time;
use flashlane::drive::Command;

use crate::host::CacheCounts;
use crate::process::Requests;

/// A point in a program's life.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    time: Time,
    instructions: u64,
    user: u64,
    cache: CacheCounts,
}

/// Measures a program.
#[derive(Debug, Default)]
pub(crate) struct Measure {
    begin: Mark,
    end: Option<Mark>,
    /// True if the program marked the beginning of its measured part.
    pub(crate) marked: bool,
    /// Instructions of the program itself, without those of the kernel.
    pub(crate) user: u64,
    /// Requests in the measured part.
    pub(crate) requests: Requests,
    outstanding: usize,
    /// Time with each number of requests outstanding. Unit: picoseconds.
    depths: Vec<u64>,
    changed: Time,
}

impl Measure {
    /// Begins the measured part.
    pub(crate) fn begin(&mut self, time: Time, instructions: u64, cache: CacheCounts) {
        self.begin = Mark { time, instructions, user: self.user, cache };
        self.marked = true;
        self.requests = Requests::default();
        self.depths.clear();
        self.changed = time;
    }

    /// Ends the measured part; later ends do not count.
    pub(crate) fn end(&mut self, time: Time, instructions: u64, cache: CacheCounts) {
        if self.end.is_none() {
            self.pass(time);
            self.end = Some(Mark { time, instructions, user: self.user, cache });
        }
    }

    /// Counts a command that goes to the drive.
    pub(crate) fn submitted(&mut self, at: Time, command: &Command) {
        self.pass(at);
        self.outstanding += 1;
        if self.end.is_none() {
            self.requests.add(command);
        }
    }

    /// Counts a completed command.
    pub(crate) fn completed(&mut self, at: Time) {
        self.pass(at);
        self.outstanding = self.outstanding.checked_sub(1).expect("a command completes once");
    }

    fn pass(&mut self, at: Time) {
        if self.end.is_some() || at <= self.changed {
            return;
        }
        if self.depths.len() <= self.outstanding {
            self.depths.resize(self.outstanding + 1, 0);
        }
        self.depths[self.outstanding] += at.0 - self.changed.0;
        self.changed = at;
    }

    /// Length of the measured part. Unit: picoseconds.
    pub(crate) fn span(&self) -> u64 {
        self.end.map_or(0, |end| end.time.0 - self.begin.time.0)
    }

    /// Instructions in the measured part: all of them, and those of the program itself.
    pub(crate) fn instructions(&self) -> (u64, u64) {
        let end = self.end.unwrap_or(self.begin);
        (end.instructions - self.begin.instructions, end.user - self.begin.user)
    }

    /// Hits and misses of the page cache in the measured part. Unit: pages.
    pub(crate) fn cache(&self) -> CacheCounts {
        let (end, begin) = (self.end.unwrap_or(self.begin).cache, self.begin.cache);
        CacheCounts { hits: end.hits - begin.hits, misses: end.misses - begin.misses }
    }

    /// Time with each number of requests outstanding. Unit: picoseconds.
    pub(crate) fn depths(&self) -> &[u64] {
        &self.depths
    }
}
