//! A queue pair as the device sees it.

use flashlane_engine::{Ring, Time};
use flashlane_units::RequestId;

/// The device's side of a queue pair, and the entries that it has to fetch.
#[derive(Clone, Debug)]
pub(super) struct DeviceQueue {
    /// Submission entries in host memory, oldest first.
    pub(super) submission: Ring<RequestId>,
    /// Entries announced by doorbells and not fetched yet.
    pub(super) announced: u32,
    /// Commands between the start of their fetch and the end of their service.
    pub(super) in_device: u32,
    /// Commands that may be in the device: QueueFetchSize, or 0 while a limit of rates holds the
    /// queue back.
    pub(super) fetch_limit: u32,
    /// True if a limit of rates held the oldest entry back.
    pub(super) held_back: bool,
    /// Served commands that wait for room in the completion queue.
    pub(super) held: Ring<RequestId>,
    /// Completion entries that were sent and whose places are not known to be free again; some may
    /// be free already.
    pub(super) unacknowledged: u32,
    /// Arrival times of the doorbells that free places of the completion queue.
    pub(super) acknowledgements: Ring<Time>,
    /// Entries that have arrived; every completion reports this number to the host.
    pub(super) arrived: u64,
}

impl DeviceQueue {
    /// An idle queue pair, of which `fetch_limit` commands may be in the device.
    pub(super) fn new(fetch_limit: u32) -> Self {
        Self {
            submission: Ring::new(),
            announced: 0,
            in_device: 0,
            fetch_limit,
            held_back: false,
            held: Ring::new(),
            unacknowledged: 0,
            acknowledgements: Ring::new(),
            arrived: 0,
        }
    }

    /// Frees those places of the completion queue whose doorbells have arrived.
    pub(super) fn settle(&mut self, now: Time) {
        while self.acknowledgements.front().is_some_and(|&at| at <= now) {
            self.acknowledgements.pop_front();
            self.unacknowledged -= 1;
        }
    }
}
