//! Limits the memory that a sweep takes. A run waits until there is enough memory for it.

use std::sync::{Condvar, Mutex, PoisonError};

use flashlane::{RunOptions, need, partial_runs};

use crate::base::Scenario;

/// The page tables of a drive while it runs, including the memory for making its initial state.
/// Unit: bytes per page of its flash. Measured: 7.6 to 8.6 for the tables.
const PER_PAGE: u64 = 10;
/// The memory of a run apart from page tables and tenants. Unit: bytes.
const PER_RUN: u64 = 24 << 20;
/// The queues and histograms of a tenant. Unit: bytes.
const PER_FLOW: u64 = 512 << 10;

/// A rough estimate of the largest memory that a run takes. Unit: bytes.
pub(super) fn estimate(scenario: &Scenario, options: &RunOptions) -> u64 {
    let (device, workload) = (&scenario.device.config, &scenario.workload.config);
    let pages = workload.layout(device).geometry.pages();
    let flows = workload.flows.len() as u64;
    // Runs of some tenants start from a copy of the drive, which is kept as well.
    let drives = if partial_runs(device, workload, options) > 0 { 2 } else { 1 };
    PER_RUN + flows * PER_FLOW * drives + pages * PER_PAGE * drives
}

/// The memory that several runs share.
pub(super) struct Room {
    limit: u64,
    taken: Mutex<u64>,
    freed: Condvar,
}

/// A part of the memory. It is free again once dropped.
pub(super) struct Part<'a> {
    room: &'a Room,
    bytes: u64,
}

impl Room {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, taken: Mutex::new(0), freed: Condvar::new() }
    }

    /// Takes a part, and waits until there is room for it. Returns `None` if there can never be
    /// room.
    pub(super) fn take(&self, bytes: u64) -> Option<Part<'_>> {
        if bytes > self.limit {
            return None;
        }
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken + bytes > self.limit {
            taken = self.freed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken += bytes;
        Some(Part { room: self, bytes })
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        *self.room.taken.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.room.freed.notify_all();
    }
}

/// Four fifths of the memory that this process may still take, if the operating system tells. Unit:
/// bytes.
#[must_use]
pub fn usual_limit() -> u64 {
    need::left().map_or(u64::MAX, |left| left.bytes) / 5 * 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn parts_never_exceed_the_limit() {
        let room = Room::new(10);
        assert!(room.take(11).is_none());
        let (now, most) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for size in [3, 4, 5, 6] {
                let (room, now, most) = (&room, &now, &most);
                scope.spawn(move || {
                    for _ in 0..200 {
                        let part = room.take(size).expect("there will be room");
                        let taken = now.fetch_add(size, Ordering::SeqCst) + size;
                        most.fetch_max(taken, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(size, Ordering::SeqCst);
                        drop(part);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 10);
        assert!(usual_limit() > 0);
    }
}
