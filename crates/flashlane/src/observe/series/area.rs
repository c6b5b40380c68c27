//! How many requests there are over time, summed by window.
//!
//! A request may last for thousands of windows. So a window does not hold the sum itself, but what
//! changes in it: how many more requests there are at its end than at its start, and what these
//! changes add to its own sum. The sum of a window follows from that and from the changes in all
//! windows before it.

/// The changes in one window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Changes {
    /// Requests that begin, less requests that end.
    more: i64,
    /// Their times in this window, if all that do not end here last to its end. Unit: requests
    /// times picoseconds.
    area: i128,
}

impl Changes {
    /// A request begins and ends in the window.
    #[inline]
    pub(super) fn pass(&mut self, duration: u64) {
        self.area += i128::from(duration);
    }

    /// A request begins so long before the end of the window.
    pub(super) fn begin(&mut self, before_end: u128) {
        self.more += 1;
        self.area += before_end as i128;
    }

    /// A request ends so long before the end of the window.
    pub(super) fn end(&mut self, before_end: u128) {
        self.more -= 1;
        self.area -= before_end as i128;
    }

    /// Merges the window with the next one, which is `window` long. Unit: picoseconds.
    pub(super) fn add(&mut self, later: &Self, window: u64) {
        self.area += i128::from(self.more) * i128::from(window) + later.area;
        self.more += later.more;
    }
}

/// Sums windows up, in the order of time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    /// At the start of the next window.
    requests: i64,
}

impl Level {
    /// Requests times picoseconds in the next window.
    pub(super) fn area(&mut self, changes: &Changes, window: u64) -> u128 {
        let area = i128::from(self.requests) * i128::from(window) + changes.area;
        self.requests += changes.more;
        u128::try_from(area).expect("no request ends before it begins")
    }
}
