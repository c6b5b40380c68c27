//! Records in the order of their arrivals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::record::RawRecord;

/// Records that wait for an earlier arrival. At 64 bytes each they take 4 MiB.
pub(super) const WAITING_MAX: usize = 65_536;

/// Records that leave by arrival; those of one arrival in the order in which they came.
#[derive(Default)]
pub(super) struct ByArrival {
    heap: BinaryHeap<Reverse<Waiting>>,
    /// Records that came so far.
    came: u64,
}

struct Waiting {
    order: (u128, u64),
    record: RawRecord,
}

impl ByArrival {
    pub(super) fn push(&mut self, record: RawRecord) {
        self.heap.push(Reverse(Waiting { order: (record.time_ps, self.came), record }));
        self.came += 1;
    }

    /// The earliest, if as many wait as may, or if no more come.
    pub(super) fn ready(&mut self, ended: bool) -> Option<RawRecord> {
        if !ended && self.heap.len() <= WAITING_MAX {
            return None;
        }
        self.heap.pop().map(|Reverse(waiting)| waiting.record)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}
