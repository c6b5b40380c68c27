//! Records in the order of their arrivals.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::record::RawRecord;

/// Records that wait for an earlier arrival. At 64 bytes each they take 4 MiB.
pub(super) const WAITING_MAX: usize = 65_536;

/// Lanes: traces are nearly in order, and mix a few streams that are in order.
const LANES: usize = 4;

/// Records that leave by arrival; those of one arrival in the order in which they came.
#[derive(Default)]
pub(crate) struct ByArrival {
    /// Each in order: a record goes to the first one that it does not have to jump a queue in.
    lanes: [VecDeque<Waiting>; LANES],
    /// The others.
    heap: BinaryHeap<Reverse<Waiting>>,
    waiting: usize,
    /// Records that came so far.
    came: u64,
}

struct Waiting {
    /// Place among all records that came.
    came: u64,
    record: RawRecord,
}

impl Waiting {
    fn order(&self) -> (u128, u64) {
        (self.record.time_ps, self.came)
    }
}

impl ByArrival {
    pub(super) fn push(&mut self, record: RawRecord) {
        let waiting = Waiting { came: self.came, record };
        self.came += 1;
        self.waiting += 1;
        let fits = |lane: &&mut VecDeque<Waiting>| {
            lane.back().is_none_or(|last| last.record.time_ps <= record.time_ps)
        };
        match self.lanes.iter_mut().find(fits) {
            Some(lane) => lane.push_back(waiting),
            None => self.heap.push(Reverse(waiting)),
        }
    }

    /// The earliest, if as many wait as may, or if no more come.
    pub(crate) fn ready(&mut self, ended: bool) -> Option<RawRecord> {
        if self.waiting == 0 || !ended && self.waiting <= WAITING_MAX {
            return None;
        }
        if self.lanes[0].len() == self.waiting {
            // All in order, which is usual.
            self.waiting -= 1;
            return self.lanes[0].pop_front().map(|waiting| waiting.record);
        }
        self.waiting -= 1;
        let mut earliest = self.heap.peek().map(|Reverse(waiting)| waiting.order());
        let mut from = None;
        for (index, lane) in self.lanes.iter().enumerate() {
            let order = lane.front().map(Waiting::order);
            if order.is_some() && (earliest.is_none() || order < earliest) {
                (earliest, from) = (order, Some(index));
            }
        }
        let waiting = match from {
            Some(index) => self.lanes[index].pop_front(),
            None => self.heap.pop().map(|Reverse(waiting)| waiting),
        };
        waiting.map(|waiting| waiting.record)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
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
        self.order().cmp(&other.order())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::Op;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn records_leave_by_arrival_and_ties_as_they_came(
            times in prop::collection::vec(0..40_u128, 0..200),
        ) {
            let mut waiting = ByArrival::default();
            let mut expected: Vec<(u128, u64)> = Vec::new();
            for (place, time_ps) in (0..).zip(times) {
                let (op, length_bytes, device) = (Op::Read, 1, 0);
                let record = RawRecord { time_ps, op, offset_bytes: place, length_bytes, device, tag: 0 };
                waiting.push(record);
                expected.push((time_ps, place));
                prop_assert_eq!(waiting.ready(false), None);
            }
            expected.sort_unstable();
            let left = std::iter::from_fn(|| waiting.ready(true));
            let found: Vec<(u128, u64)> = left.map(|r| (r.time_ps, r.offset_bytes)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_earliest_leaves_when_too_many_wait() {
        let mut waiting = ByArrival::default();
        for time in (0..=WAITING_MAX as u64).rev() {
            let (time_ps, op) = (time.into(), Op::Write);
            waiting.push(RawRecord {
                time_ps,
                op,
                offset_bytes: 0,
                length_bytes: 1,
                device: 0,
                tag: 0,
            });
            assert_eq!(waiting.ready(false).map(|record| record.time_ps), (time == 0).then_some(0));
        }
    }
}
