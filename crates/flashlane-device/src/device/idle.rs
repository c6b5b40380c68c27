//! Idle time of the drive, in which paced collection goes on without writes
//! (`ftl.gc.idle_after`) and the SLC cache is folded (`slc_cache.fold_after`).
//!
//! The drive is idle while no request is in it. There is one event under way at most: it looks
//! whether the drive has been idle for long enough, and otherwise comes again when it would be.

use flashlane_engine::Time;

use super::Device;
use crate::config::DeviceConfig;
use crate::event::Event;
use crate::ftl::Ftl;

/// The watch on idle time.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdleWatch {
    after: Time,
    /// Since then, no request has been in the drive.
    since: Time,
    /// True if the event is under way.
    set: bool,
}

impl IdleWatch {
    /// `None` if the drive does nothing in idle time. Where both keys are given, they are equal.
    pub(super) fn new(device: &DeviceConfig) -> Option<Self> {
        let fold_after = device.slc_cache.as_ref().and_then(|cache| cache.fold_after);
        let after = Time(device.ftl.gc.idle_after.or(fold_after)?.0);
        Some(Self { after, since: Time::ZERO, set: false })
    }
}

impl Device {
    /// The host submits a request: the drive is in use.
    #[inline(always)]
    pub(super) fn leave_idle(&mut self) {
        if self.idle.is_some() {
            self.ftl.idle_ends();
        }
    }

    /// A request is over. If it was the last one in the drive, idle time may begin.
    #[inline(always)]
    pub(super) fn look_for_idle(&mut self) {
        if self.idle.is_some() && self.context.requests.is_empty() {
            self.watch_idle();
        }
    }

    /// No request is in the drive from now on.
    #[cold]
    pub(super) fn watch_idle(&mut self) {
        let Some(idle) = &mut self.idle else { return };
        assert!(self.context.requests.is_empty(), "no request is in an idle drive");
        idle.since = self.context.now;
        if !std::mem::replace(&mut idle.set, true) {
            let at = self.context.now + idle.after;
            self.context.events.schedule(at, Event::Idle);
        }
    }

    /// The drive may have been idle for long enough. `before`: the time of the last event. If
    /// nothing begins, no time passes, because the event must not make a finished run longer.
    pub(super) fn on_idle(&mut self, before: Time) {
        let idle = self.idle.as_mut().expect("a drive that uses idle time");
        assert!(idle.set, "there is one event of idle time");
        idle.set = false;
        let due = idle.since + idle.after;
        if !self.context.requests.is_empty() {
            self.context.now = before;
        } else if due > self.context.now {
            idle.set = true;
            self.context.events.schedule(due, Event::Idle);
            self.context.now = before;
        } else {
            self.ask_ftl(Ftl::idle_begins);
        }
    }
}
