//! Collection in order of arrival: its operations wait at the die among the writes of hosts.
//!
//! The reads of a block arrive when its collection starts, the program of a page when its read is
//! done, and the erase when the last program is done. An operation joins the die's clock behind
//! earlier work, and takes effect when the clock has got there.

use flashlane_units::{DieId, Span};

use super::Untimed;

/// How the operations of collection wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Reads go before all programs.
    pub(super) reads_first: bool,
    /// Erases go last for this time, or until they are urgent. `None`: in order of arrival.
    pub(super) erases_wait: Option<Span>,
}

/// State of a block in collection: the operations that it waits for. Times are in picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Awaits {
    /// Nothing: the job has not been looked at yet.
    #[default]
    Nothing,
    /// Reads of its pages. The next read begins at `begin`, and `moved` pages have moved.
    Reads { begin: u64, moved: u32 },
    /// Programs of its pages, which end at `until`.
    Programs { until: u64 },
    /// The erase, which ends at `until`.
    Erase { until: u64 },
}

impl Untimed {
    /// Lets the operations that wait for a die take effect, up to `at`.
    pub(super) fn take_turns(&mut self, die: DieId, at: u64) {
        let mut index = 0;
        while index < self.jobs[die].len() {
            if !self.take_turn(die, index, at) {
                index += 1;
            }
        }
    }

    /// Lets the next operation that waits for a die take effect, whenever that is. False where
    /// nothing waits.
    pub(super) fn take_next_turn(&mut self, die: DieId, at: u64) -> bool {
        self.take_turns(die, at);
        let next = (0..self.jobs[die].len()).map(|index| self.next_turn(die, index)).min();
        if let Some(next) = next {
            self.take_turns(die, next.max(at));
        }
        next.is_some()
    }

    /// Time of the next event of a job.
    fn next_turn(&self, die: DieId, index: usize) -> u64 {
        match self.jobs[die][index].awaits {
            Awaits::Nothing => 0,
            Awaits::Reads { begin, moved } => {
                begin.saturating_add(u64::from(moved + 1) * self.dies.times.gc_read)
            }
            Awaits::Programs { until } => match self.arrival().erases_wait {
                None => until,
                Some(limit) => self.dies.free_at[die].max(until).min(until + limit.0),
            },
            Awaits::Erase { until } => until,
        }
    }

    fn arrival(&self) -> Arrival {
        self.dies.arrival.expect("the scheduler serves collection in order of arrival")
    }

    /// Lets the next operation of a job take effect if it does so at `at` or earlier; false
    /// otherwise.
    fn take_turn(&mut self, die: DieId, index: usize, at: u64) -> bool {
        let job = self.jobs[die][index];
        let valid = self.ftl.blocks.block(job.block).valid;
        let awaits = match job.awaits {
            Awaits::Nothing => self.begin_reads(die, at, valid),
            Awaits::Reads { begin, moved } if valid > 0 => {
                let read = at.saturating_sub(begin) / self.dies.times.gc_read;
                let count = (read.saturating_sub(u64::from(moved)).min(u64::from(valid))) as u32;
                if count == 0 {
                    return false;
                }
                self.read_for(die, index, count);
                self.program_moved(die, index, begin, moved, count);
                Awaits::Reads { begin, moved: moved + count }
            }
            // Moves that became pointless take no time.
            Awaits::Reads { begin, .. } => Awaits::Programs { until: job.programmed_at.max(begin) },
            Awaits::Programs { until } => match self.erase_at(die, index, until, at) {
                Some(until) => Awaits::Erase { until },
                None => return false,
            },
            Awaits::Erase { until } if until <= at => {
                let job = self.jobs[die].remove(index).expect("it is there");
                let others = self.jobs[die].len();
                self.erase(&job);
                for index in others..self.jobs[die].len() {
                    self.take_turn(die, index, until);
                }
                return true;
            }
            Awaits::Erase { .. } => return false,
        };
        self.jobs[die][index].awaits = awaits;
        true
    }

    /// Gives the reads of a block to its die.
    fn begin_reads(&mut self, die: DieId, at: u64, count: u32) -> Awaits {
        let time = u64::from(count) * self.dies.times.gc_read;
        let end = if self.arrival().reads_first {
            self.dies.read_for(die, at, time)
        } else {
            self.dies.work(die, at, time)
        };
        Awaits::Reads { begin: end - time, moved: 0 }
    }

    /// Gives the programs of pages whose reads are done to the die.
    fn program_moved(&mut self, die: DieId, index: usize, begin: u64, moved: u32, count: u32) {
        let times = self.dies.times;
        let mut end = 0;
        for page in moved + 1..=moved + count {
            let read = begin + u64::from(page) * times.gc_read;
            end = self.dies.work(die, read, times.gc_program);
            self.awaits_program(self.jobs[die][index].plane, end);
        }
        self.program_pages(die, index, count);
        self.jobs[die][index].programmed_at = end;
    }

    /// End of the erase of a job whose programs end at `until`; `None` if the erase does not begin
    /// by `at`.
    fn erase_at(&mut self, die: DieId, index: usize, until: u64, at: u64) -> Option<u64> {
        if until > at {
            return None;
        }
        let (erase, free_at) = (self.dies.times.erase, self.dies.free_at[die]);
        let Some(limit) = self.arrival().erases_wait else {
            return Some(self.dies.work(die, until, erase));
        };
        let plane = self.jobs[die][index].plane;
        let due = until.saturating_add(limit.0);
        let first = if free_at.max(until) <= at {
            free_at.max(until)
        } else if due <= at {
            due
        } else if self.is_urgent(plane) {
            at
        } else {
            return None;
        };
        // The erase waits for the operation under way, and delays the operations behind it.
        let begin = first.max(free_at.min(first + self.dies.times.program / 2));
        self.dies.work(die, first, erase);
        Some(begin + erase)
    }
}
