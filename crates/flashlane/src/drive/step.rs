//! Passing of time in a drive: events are handled one by one, or up to an instant.

use flashlane_engine::Time;

use super::{Drive, Report};
use flashlane_device::event::Up;
use flashlane_measure::command::{Completion, Refused};
use flashlane_reading::Error;

impl Drive {
    /// The time of the next event. `None` if nothing is left to do until something is submitted, or
    /// the drive is dead. If no event is left but commands are outstanding, it is [`Drive::now`]:
    /// the next step says what they wait for.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        if self.dead {
            return None;
        }
        if self.open.is_some() || !self.begun {
            return Some(self.drive.device.now());
        }
        let stuck = || (self.outstanding() > 0).then_some(self.drive.device.now());
        self.drive.device.next_time().or_else(stuck)
    }

    /// Handles one event, and adds the completed command, if there is one, to `completions`. `None`
    /// if there was no event. The commands that the caller submits for [`Drive::now`] before the
    /// next call are the host's reaction to the event.
    ///
    /// # Errors
    ///
    /// [`Error::Stuck`] if the drive cannot finish its work; the drive is then dead.
    pub fn step(&mut self, completions: &mut Vec<Completion>) -> Result<Option<Report>, Error> {
        self.step_until(Time::MAX, completions)
    }

    /// Handles one event as [`Drive::step`] does, but not an event after `until`: then it returns
    /// `None`.
    ///
    /// # Errors
    ///
    /// Those of [`Drive::step`].
    pub fn step_until(
        &mut self,
        until: Time,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<Report>, Error> {
        let stepped = self.settle().and_then(|()| {
            let Some(at) = self.drive.device.next_time() else {
                return self.nothing_left().map(|()| None);
            };
            if at > until {
                return Ok(None);
            }
            self.drive.device.set_horizon(at);
            self.open = self.drive.step_measured();
            let report = self.open.map(|up| match up {
                Up::Nothing | Up::Woken { .. } => Report::Nothing,
                Up::Arrived { .. } => Report::Arrived,
                Up::Completed { .. } | Up::TagFreed { .. } => Report::Completed,
            });
            if report == Some(Report::Nothing) {
                // The caller has nothing to react to, so its next commands come after the event.
                self.settle()?;
            }
            self.drive.device.failed().map_or(Ok(report), Err)
        });
        self.take_completions(completions);
        self.dies_with(stepped)
    }

    /// Handles every event up to and including `until`, and adds what completes to `completions`,
    /// in order.
    ///
    /// # Errors
    ///
    /// The errors of [`Drive::step`].
    pub fn advance(&mut self, until: Time, completions: &mut Vec<Completion>) -> Result<(), Error> {
        let advanced = self.advance_to(until);
        self.take_completions(completions);
        self.dies_with(advanced)
    }

    fn advance_to(&mut self, until: Time) -> Result<(), Error> {
        self.settle()?;
        self.drive.device.set_horizon(until);
        while self.drive.device.next_time().is_some_and(|at| at <= until) {
            self.open = self.drive.step_measured();
            self.settle()?;
        }
        match self.drive.device.next_time() {
            Some(_) => Ok(()),
            None => self.nothing_left(),
        }
    }

    /// No event is left before the end of simulated time: fails if commands are outstanding.
    fn nothing_left(&self) -> Result<(), Error> {
        match (self.outstanding(), self.drive.device.is_over()) {
            (0, _) => Ok(()),
            (_, true) => Err(self.drive.device.stuck("nothing is left that could move them")),
            (_, false) => {
                Err(self.drive.device.stuck("simulated time ends after 213 days (2^64 ps)"))
            }
        }
    }

    /// Ends the event to which the caller could react.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        if self.dead {
            return Err(Error::Stuck(Refused::Dead.to_string()));
        }
        if !self.begun {
            self.begun = true;
            self.drive.device.schedule_ringing();
            self.drive.device.start();
        }
        match self.open.take() {
            None => return Ok(()),
            Some(Up::Nothing | Up::TagFreed { .. }) => {}
            Some(Up::Completed { .. }) => self.drive.device.completion_over(),
            Some(Up::Arrived { .. } | Up::Woken { .. }) => self.drive.device.ring(),
        }
        if self.drive.device.step_over() {
            self.drive.device.look_around(&|_| {})?;
        }
        self.drive.device.failed().map_or(Ok(()), Err)
    }

    /// Marks the drive as dead after an error.
    pub(super) fn dies_with<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        self.dead |= result.is_err();
        result
    }

    pub(super) fn take_completions(&mut self, completions: &mut Vec<Completion>) {
        if let Some(kept) = &mut self.drive.meters.completions {
            kept.hand_over(completions);
        }
    }
}
