//! Number of requests over time, summed by window.
//!
//! A request may last for thousands of windows. Therefore a window does not hold its sum, but the
//! changes in it: the difference between the requests at its end and at its start, and the
//! contribution of these changes to its own sum. The sum of a window follows from its changes and
//! from those of all windows before it.

/// The changes in one window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Changes {
    /// Requests that begin in the window, less requests that end in it.
    more: i64,
    /// Times of these requests in the window, assuming that all that do not end here last to its
    /// end. Unit: requests times picoseconds.
    area: i128,
}

impl Changes {
    /// Adds a request that begins and ends in the window.
    #[inline]
    pub(super) fn pass(&mut self, duration: u64) {
        self.area += i128::from(duration);
    }

    /// Adds a request that begins in the window. `before_end`: time left in the window.
    pub(super) fn begin(&mut self, before_end: u128) {
        self.more += 1;
        self.area += before_end as i128;
    }

    /// Adds a request that ends in the window. `before_end`: time left in the window.
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
    /// Number of requests at the start of the next window.
    requests: i64,
}

impl Level {
    /// The sum of the next window. Unit: requests times picoseconds.
    pub(super) fn area(&mut self, changes: &Changes, window: u64) -> u128 {
        let area = i128::from(self.requests) * i128::from(window) + changes.area;
        self.requests += changes.more;
        u128::try_from(area).expect("no request ends before it begins")
    }
}
