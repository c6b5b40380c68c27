//! The order in which times of waiting are over: a list through the places that wait, such as the
//! rows that hold data of the host. A place that waits no more leaves the list at once, so that it
//! has at most one entry for each place.

use flashlane_engine::{NONE, Time};

/// Places that wait, in the order in which their times are over.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// The ends of the list.
    oldest: u32,
    newest: u32,
    due: Vec<Due>,
    /// True while an event is to look for places whose time is over.
    looks: bool,
}

/// The neighbours of a place in the list, and the end of its time; the end of time if it does not
/// wait.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: Time,
    earlier: u32,
    later: u32,
}

impl Default for Due {
    fn default() -> Self {
        Self { at: Time::MAX, earlier: NONE, later: NONE }
    }
}

/// What somebody finds who looks for places whose time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The time of this place is over.
    Over(usize),
    /// The first place waits until then: the time of the next look.
    Waits(Time),
    /// No place waits.
    Nobody,
}

impl Order {
    /// No place of `places` waits.
    pub(super) fn new(places: usize) -> Self {
        Self { oldest: NONE, newest: NONE, due: vec![Due::default(); places], looks: false }
    }

    /// A place begins to wait until `end`, which is no earlier than that of any other. True if
    /// nobody looks yet, so that an event has to look at `end`.
    pub(super) fn push(&mut self, place: usize, end: Time) -> bool {
        assert!(!self.waits(place), "a place waits once");
        let earlier = std::mem::replace(&mut self.newest, place as u32);
        self.due[place] = Due { at: end, earlier, later: NONE };
        match earlier {
            NONE => self.oldest = place as u32,
            _ => {
                let before = &mut self.due[earlier as usize];
                assert!(before.at <= end, "times are over in the order in which they began");
                before.later = place as u32;
            }
        }
        !std::mem::replace(&mut self.looks, true)
    }

    /// A place waits no more.
    pub(super) fn remove(&mut self, place: usize) {
        let Due { earlier, later, .. } = std::mem::take(&mut self.due[place]);
        match earlier {
            NONE => self.oldest = later,
            _ => self.due[earlier as usize].later = later,
        }
        match later {
            NONE => self.newest = earlier,
            _ => self.due[later as usize].earlier = earlier,
        }
    }

    /// True if the place waits.
    pub(super) fn waits(&self, place: usize) -> bool {
        self.due[place].at != Time::MAX
    }

    /// The event looks for the next place whose time is over.
    pub(super) fn look(&mut self, now: Time) -> Found {
        let first = self.places().next();
        let found = first.map_or(Found::Nobody, |place| match self.due[place].at {
            end if end > now => Found::Waits(end),
            _ => Found::Over(place),
        });
        self.looks = matches!(found, Found::Waits(_));
        found
    }

    /// True while an event is to look for places whose time is over.
    pub(super) fn looks(&self) -> bool {
        self.looks
    }

    /// The places that wait, from the one whose time is over first.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let known = |place: u32| (place != NONE).then_some(place as usize);
        std::iter::successors(known(self.oldest), move |&at| known(self.due[at].later))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_leave_from_anywhere_and_the_rest_stays_in_order() {
        let mut order = Order::new(5);
        for (time, place) in [(1, 3), (2, 0), (2, 4), (5, 1)] {
            assert_eq!(order.push(place, Time(time)), place == 3, "one event looks for all");
        }
        let listed = |order: &Order| order.places().collect::<Vec<_>>();
        assert_eq!(listed(&order), [3, 0, 4, 1]);
        for (place, left) in [(0, vec![3, 4, 1]), (1, vec![3, 4]), (3, vec![4]), (4, Vec::new())] {
            order.remove(place);
            assert_eq!(listed(&order), left);
            assert!(!order.waits(place));
        }
        order.push(3, Time(9));
        assert_eq!((listed(&order), order.waits(3)), (vec![3], true));
    }

    #[test]
    fn who_looks_finds_what_is_over_and_when_to_look_again() {
        let mut order = Order::new(2);
        assert!(order.push(0, Time(10)) && !order.push(1, Time(12)));
        assert_eq!((order.look(Time(9)), order.looks()), (Found::Waits(Time(10)), true));
        assert_eq!((order.look(Time(10)), order.looks()), (Found::Over(0), false));
        order.remove(0);
        // The place waits anew, behind the other one.
        assert!(order.push(0, Time(15)), "nobody looks since something was over");
        assert_eq!(order.look(Time(12)), Found::Over(1));
        order.remove(1);
        assert_eq!(order.look(Time(12)), Found::Waits(Time(15)));
        order.remove(0);
        assert_eq!((order.look(Time(15)), order.looks()), (Found::Nobody, false));
    }
}
