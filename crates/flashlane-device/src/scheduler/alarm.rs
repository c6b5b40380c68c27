//! The alarm of a policy that holds work back.

use flashlane_engine::{EventQueue, Time};

use super::policy::SchedulingPolicy;
use super::{Scheduler, Surroundings};
use crate::event::Event;

impl Scheduler {
    /// Sets the alarm to the time that the policy wants. An alarm that rings too early is then set
    /// again; an alarm for which nothing waits any more is void.
    #[cold]
    pub(super) fn set_alarm(&mut self, now: Time, events: &mut EventQueue<Event>) {
        debug_assert!(self.holds_back, "only a policy that holds back is woken");
        let wanted = self.policy.wake().map(|time| time.max(now));
        let alarm = &mut self.alarm;
        match wanted {
            None => *alarm = None,
            Some(time) if alarm.is_none_or(|set| set > time) => {
                *alarm = Some(time);
                events.schedule(time, Event::Alarm);
            }
            Some(_) => {}
        }
    }

    /// Wakes the policy and offers it all channels. False for a void alarm.
    pub(crate) fn wake(&mut self, at: &mut Surroundings<'_>) -> bool {
        if self.alarm != Some(at.now) {
            return false;
        }
        self.alarm = None;
        self.with_policy(at, false, |policy, view| policy.woken(view));
        if self.all_interrupt {
            for (die, _) in self.waiting.numbered().filter(|(_, waiting)| **waiting > 0) {
                at.flash.begin_waiting(at.flash.place_of(die), true);
            }
        }
        for (channel, &pending) in (0..).zip(&self.pending) {
            self.offered |= u64::from(pending != 0) << channel;
            self.due = true;
        }
        true
    }
}
