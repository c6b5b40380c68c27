//! The order in which the time of open rows is over: a list through the rows that hold data of the
//! host. It has at most one entry for each plane and flow, and a row that is sent leaves it at
//! once.

use flashlane_engine::{NONE, Time};

use super::filling::Filling;

/// The ends of the list, by place in the table of open rows.
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

/// The neighbours of a row in the list, and the end of its time.
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
    /// The row whose time is over first.
    pub(super) fn first(&self) -> Option<usize> {
        (self.oldest != NONE).then_some(self.oldest as usize)
    }

    /// Adds a row whose time is over at `end`, no earlier than that of any other.
    pub(super) fn push(&mut self, rows: &mut [Filling], row: usize, end: Time) {
        let earlier = std::mem::replace(&mut self.newest, row as u32);
        rows[row].due = Due { at: end, earlier, later: NONE };
        match earlier {
            NONE => self.oldest = row as u32,
            _ => {
                let before = &mut rows[earlier as usize].due;
                assert!(before.at <= end, "rows are over in the order in which they began");
                before.later = row as u32;
            }
        }
    }

    /// Takes a row out.
    pub(super) fn remove(&mut self, rows: &mut [Filling], row: usize) {
        let Due { earlier, later, .. } = std::mem::take(&mut rows[row].due);
        match earlier {
            NONE => self.oldest = later,
            _ => rows[earlier as usize].due.later = later,
        }
        match later {
            NONE => self.newest = earlier,
            _ => rows[later as usize].due.earlier = earlier,
        }
    }

    /// The rows, from the one whose time is over first.
    pub(super) fn rows<'a>(&self, rows: &'a [Filling]) -> impl Iterator<Item = usize> + 'a {
        let next = |&at: &usize| match rows[at].due.later {
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
    fn rows_leave_from_anywhere_and_the_rest_stays_in_order() {
        let mut rows = vec![Filling::default(); 5];
        let mut order = Order::default();
        for (time, row) in [(1, 3), (2, 0), (2, 4), (5, 1)] {
            order.push(&mut rows, row, Time(time));
        }
        let listed = |order: &Order, rows: &[Filling]| order.rows(rows).collect::<Vec<_>>();
        assert_eq!(listed(&order, &rows), [3, 0, 4, 1]);
        for (row, left) in [(0, vec![3, 4, 1]), (1, vec![3, 4]), (3, vec![4]), (4, Vec::new())] {
            order.remove(&mut rows, row);
            assert_eq!(listed(&order, &rows), left);
        }
        order.push(&mut rows, 3, Time(9));
        assert_eq!((order.first(), rows[3].due.at), (Some(3), Time(9)));
    }
}
