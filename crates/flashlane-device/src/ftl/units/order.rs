//! The order in which the time of open pages is over: a list through the pages that hold data of
//! the host. It has at most one entry for each plane and flow, and a page that is sent leaves it at
//! once.

use flashlane_engine::{NONE, Time};

use super::filling::Filling;

/// The ends of the list, by place in the table of open pages.
#[derive(Clone, Debug)]
pub(super) struct Order {
    oldest: u32,
    newest: u32,
}

impl Default for Order {
    fn default() -> Self {
        Self { oldest: NONE, newest: NONE }
    }
}

/// The neighbours of a page in the list, and the end of its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    pub(super) at: Time,
    earlier: u32,
    later: u32,
}

impl Default for Due {
    fn default() -> Self {
        Self { at: Time::MAX, earlier: NONE, later: NONE }
    }
}

impl Order {
    /// The page whose time is over first.
    pub(super) fn first(&self) -> Option<usize> {
        (self.oldest != NONE).then_some(self.oldest as usize)
    }

    /// Adds a page whose time is over at `end`, no earlier than that of any other.
    pub(super) fn push(&mut self, pages: &mut [Filling], page: usize, end: Time) {
        let earlier = std::mem::replace(&mut self.newest, page as u32);
        pages[page].due = Due { at: end, earlier, later: NONE };
        match earlier {
            NONE => self.oldest = page as u32,
            _ => {
                let before = &mut pages[earlier as usize].due;
                assert!(before.at <= end, "pages are over in the order in which they began");
                before.later = page as u32;
            }
        }
    }

    /// Takes a page out.
    pub(super) fn remove(&mut self, pages: &mut [Filling], page: usize) {
        let Due { earlier, later, .. } = std::mem::take(&mut pages[page].due);
        match earlier {
            NONE => self.oldest = later,
            _ => pages[earlier as usize].due.later = later,
        }
        match later {
            NONE => self.newest = earlier,
            _ => pages[later as usize].due.earlier = earlier,
        }
    }

    /// The pages, from the one whose time is over first.
    pub(super) fn pages<'a>(&self, pages: &'a [Filling]) -> impl Iterator<Item = usize> + 'a {
        let next = |&at: &usize| match pages[at].due.later {
            NONE => None,
            later => Some(later as usize),
        };
        std::iter::successors(self.first(), next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_leave_from_anywhere_and_the_rest_stays_in_order() {
        let mut pages = vec![Filling::default(); 5];
        let mut order = Order::default();
        for (time, page) in [(1, 3), (2, 0), (2, 4), (5, 1)] {
            order.push(&mut pages, page, Time(time));
        }
        let listed = |order: &Order, pages: &[Filling]| order.pages(pages).collect::<Vec<_>>();
        assert_eq!(listed(&order, &pages), [3, 0, 4, 1]);
        for (page, left) in [(0, vec![3, 4, 1]), (1, vec![3, 4]), (3, vec![4]), (4, Vec::new())] {
            order.remove(&mut pages, page);
            assert_eq!(listed(&order, &pages), left);
        }
        order.push(&mut pages, 3, Time(9));
        assert_eq!((order.first(), pages[3].due.at), (Some(3), Time(9)));
    }
}
