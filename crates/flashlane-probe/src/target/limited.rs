//! A target for a limited time.

use flashlane_engine::Time;

use super::{Counters, Done, Facts, Failure, Operation, Target};

/// A target that accepts no request after a time. Outstanding requests still end.
pub struct Limited<'a> {
    target: &'a mut dyn Target,
    /// Time of the limit; `None` for no limit.
    until: Option<Time>,
    outstanding: u64,
}

impl<'a> Limited<'a> {
    /// Limits a target to the time before `until` by its clock.
    pub fn new(target: &'a mut dyn Target, until: Option<Time>) -> Self {
        Self { target, until, outstanding: 0 }
    }

    fn is_late(&mut self) -> bool {
        self.until.is_some_and(|until| self.target.now() >= until)
    }
}

impl Target for Limited<'_> {
    fn facts(&self) -> &Facts {
        self.target.facts()
    }

    fn now(&mut self) -> Time {
        self.target.now()
    }

    fn submit(
        &mut self,
        operation: Operation,
        offset: u64,
        bytes: u32,
        cookie: u64,
    ) -> Result<Time, Failure> {
        if self.is_late() {
            while self.outstanding > 0 {
                self.wait()?;
            }
            return Err(Failure::Late);
        }
        self.outstanding += 1;
        self.target.submit(operation, offset, bytes, cookie)
    }

    fn wait(&mut self) -> Result<Done, Failure> {
        self.outstanding -= 1;
        self.target.wait()
    }

    fn pause_until(&mut self, at: Time) -> Result<(), Failure> {
        match self.until {
            Some(until) if at > until && self.outstanding == 0 => Err(Failure::Late),
            _ => self.target.pause_until(at),
        }
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.target.reset()
    }

    fn counters(&mut self) -> Option<Counters> {
        self.target.counters()
    }
}
