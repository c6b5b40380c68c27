//! A host of a measurement: jobs with a core each, the drives that they share, and the link between
//! both.
//!
//! Each job is a closed loop. After a completion has reached the host (which takes a fixed time),
//! the core of the job ends that request and submits the next one in its place, one after another.
//! A request lasts from its submission to its end at the core, as fio measures it.

use flashlane::config::units::ByteSize;
use flashlane::drive::{Command, Drive};
use flashlane::{Error, Time};
use flashlane_engine::Rng;

use super::figure::Operation;
use super::hosted::Software;

const SECTOR: u64 = 512;

/// A job of the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) operation: Operation,
    pub(super) size: ByteSize,
    /// Outstanding requests.
    pub(super) depth: u64,
    /// The tenant of the drives whose space it has.
    pub(super) tenant: usize,
}

/// A request that is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) job: usize,
    /// Unit: picoseconds.
    pub(super) begun: u64,
    /// Unit: picoseconds.
    pub(super) end: u64,
    /// Part of that time in which its data waited for the link of the host. Unit: picoseconds.
    pub(super) link_wait: u64,
}

/// Whether requests go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Submit,
    Stop,
}

/// The host and its drives. A cookie of a drive is the index of an outstanding request.
pub(super) struct Machine {
    software: Software,
    drives: Vec<Drive>,
    jobs: Vec<Job>,
    rng: Rng,
    /// By job: when its core is free. Unit: picoseconds.
    free: Vec<u64>,
    outstanding: Vec<Outstanding>,
    link: Link,
}

#[derive(Clone, Copy)]
struct Outstanding {
    job: usize,
    /// Unit: picoseconds.
    begun: u64,
}

impl Machine {
    /// `link` is the rate at which the data of reads reach the host, from all drives together;
    /// `None` for a link that never bounds them. Unit: bytes per second.
    pub(super) fn new(
        software: Software,
        drives: Vec<Drive>,
        jobs: Vec<Job>,
        link: Option<u64>,
    ) -> Self {
        assert!(!drives.is_empty() && !jobs.is_empty(), "there is something to run");
        let (rng, free) = (Rng::stream(1, "hosted", 0), jobs.iter().map(|_| 0).collect());
        let link = Link { bytes_per_s: link, free: 0 };
        Self { software, drives, jobs, rng, free, outstanding: Vec::new(), link }
    }

    /// The drives, after a run.
    pub(super) fn drives(&mut self) -> &mut [Drive] {
        &mut self.drives
    }

    /// Runs the jobs. `watch` gets each request that is over, in order of the time at which its
    /// completion leaves the drive, and says whether the run goes on.
    ///
    /// # Errors
    /// A request that the drive refuses, and a drive that cannot finish its work.
    pub(super) fn run(&mut self, watch: &mut dyn FnMut(Ended) -> Next) -> Result<(), Error> {
        let deepest = self.jobs.iter().map(|job| job.depth).max().unwrap_or(0);
        for turn in 0..deepest {
            for job in 0..self.jobs.len() {
                if turn < self.jobs[job].depth {
                    self.free[job] += self.software.core();
                    let begun = self.free[job];
                    self.outstanding.push(Outstanding { job, begun });
                    self.submit(self.outstanding.len() - 1)?;
                }
            }
        }
        let mut done = Vec::new();
        while let Some((at, drive)) = self.next_event() {
            self.drives[drive].step_until(at, &mut done)?;
            for completion in done.drain(..) {
                let index = completion.cookie as usize;
                let Outstanding { job, begun } = self.outstanding[index];
                let Job { operation, size, .. } = self.jobs[job];
                let left = completion.at().0;
                let link_wait = match operation {
                    Operation::Read => self.link.carry(left, size.0),
                    Operation::Write => 0,
                };
                let noticed = left + link_wait + self.software.notice();
                let end = self.free[job].max(noticed) + self.software.core();
                self.free[job] = end;
                if watch(Ended { job, begun, end, link_wait }) == Next::Stop {
                    return Ok(());
                }
                self.outstanding[index].begun = end;
                self.submit(index)?;
            }
        }
        Ok(())
    }

    /// The earliest event of all drives, so that they go on together.
    fn next_event(&self) -> Option<(Time, usize)> {
        let events = self.drives.iter().map(Drive::next_event).enumerate();
        events.filter_map(|(drive, at)| Some((at?, drive))).min()
    }

    /// Submits the request of an index anew, to any drive and any place of it.
    fn submit(&mut self, index: usize) -> Result<(), Error> {
        let Outstanding { job, begun } = self.outstanding[index];
        let Job { operation, size, tenant, .. } = self.jobs[job];
        let number = self.drives.len() as u64;
        let drive = if number > 1 { self.rng.below(number) as usize } else { 0 };
        let drive = &mut self.drives[drive];
        let sectors = size.0 / SECTOR;
        // A request that is larger than the space begins at 0, and the drive refuses it.
        let places = (drive.sectors(tenant) / sectors).max(1);
        let at = self.rng.below(places) * sectors;
        let command = match operation {
            Operation::Read => Command::read(at, sectors as u32),
            Operation::Write => Command::write(at, sectors as u32),
        };
        let refused = |refused| Error::config("size", format!("{refused}"));
        drive.submit(Time(begun), tenant, command, index as u64).map_err(refused)
    }
}

/// The link between the drives and the host: the data of one request after another.
struct Link {
    bytes_per_s: Option<u64>,
    /// Unit: picoseconds.
    free: u64,
}

impl Link {
    /// The time until data that leave a drive at `at` are at the host. The drive's own link is part
    /// of the drive, so that a free link of the host adds nothing. Unit: picoseconds.
    fn carry(&mut self, at: u64, bytes: u64) -> u64 {
        let Some(rate) = self.bytes_per_s else { return 0 };
        let time = u128::from(bytes) * 1_000_000_000_000 / u128::from(rate);
        let begin = self.free.max(at);
        self.free = begin + time as u64;
        begin - at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_carries_one_after_another() {
        let mut link = Link { bytes_per_s: Some(1_000_000_000), free: 0 };
        let waits = [0, 0, 500_000, 9_000_000].map(|at| link.carry(at, 1000));
        assert_eq!(waits, [0, 1_000_000, 1_500_000, 0]);
        assert_eq!(Link { bytes_per_s: None, free: 0 }.carry(5, 1 << 20), 0);
    }
}
