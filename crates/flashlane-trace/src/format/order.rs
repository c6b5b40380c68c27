//! Sorts records by arrival.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::record::RawRecord;

/// Number of records that may wait for an earlier arrival. At 64 bytes each they take 4 MiB.
pub(super) const WAITING_MAX: usize = 65_536;

/// Number of lanes. Traces are nearly in order, and mix a few streams that are in order.
const LANES: usize = 4;

/// Delivers records by arrival. Records of equal arrival keep the order in which they came.
#[derive(Default)]
pub(crate) struct ByArrival {
    /// Queues that are each in order. A record is appended to the first lane that stays in order
    /// with it.
    lanes: [VecDeque<Waiting>; LANES],
    /// Records that fit into no lane.
    heap: BinaryHeap<Reverse<Waiting>>,
    waiting: usize,
    /// Number of records that came.
    came: u64,
    /// Line or binary record from which the current records come.
    line: u64,
    /// Line or binary record of the record that was delivered last.
    left: u64,
    /// A record that follows the latest record, unless [`ByArrival::forgive`] is called.
    owed: Option<(RawRecord, u64)>,
}

struct Waiting {
    /// Number of the record in the order of coming.
    came: u64,
    line: u64,
    record: RawRecord,
}

const _: () = assert!(size_of::<Waiting>() == 64, "65,536 of them take 4 MiB");

impl Waiting {
    fn order(&self) -> (u128, u64) {
        (self.record.time_ps, self.came)
    }
}

impl ByArrival {
    /// Sets the line from which the next records come.
    #[inline]
    pub(crate) fn at_line(&mut self, line: u64) {
        self.line = line;
    }

    /// Line or binary record of the record that was delivered last; 0 if it is not known.
    #[inline]
    pub(crate) fn left_line(&self) -> u64 {
        self.left
    }

    /// True if no more records may wait.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.waiting > WAITING_MAX
    }

    /// Drops the waiting records.
    pub(super) fn clear(&mut self) {
        let line = self.line;
        *self = ByArrival { line, ..ByArrival::default() };
    }

    /// Notes a record that follows the latest record, unless it is cancelled with
    /// [`ByArrival::forgive`]. An earlier owed record is added now.
    pub(super) fn owe(&mut self, record: RawRecord) {
        self.settle();
        self.owed = Some((record, self.line));
    }

    /// Cancels the owed record and returns it.
    pub(super) fn forgive(&mut self) -> Option<RawRecord> {
        self.owed.take().map(|(record, _)| record)
    }

    /// The owed record.
    pub(super) fn owed(&self) -> Option<&RawRecord> {
        self.owed.as_ref().map(|(record, _)| record)
    }

    /// Adds the owed record.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.owed.is_some() {
            self.pay();
        }
    }

    #[cold]
    fn pay(&mut self) {
        if let Some((record, line)) = self.owed.take() {
            let current = std::mem::replace(&mut self.line, line);
            self.push(record);
            self.line = current;
        }
    }

    pub(super) fn push(&mut self, record: RawRecord) {
        let waiting = Waiting { came: self.came, line: self.line, record };
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

    /// The earliest record, if no more may wait or no more come.
    pub(crate) fn ready(&mut self, ended: bool) -> Option<RawRecord> {
        if ended {
            self.settle();
        }
        if ended || self.is_full() { self.take_first() } else { None }
    }

    /// The earliest one leaves.
    #[inline]
    pub(crate) fn take_first(&mut self) -> Option<RawRecord> {
        if self.lanes[0].len() < self.waiting {
            return self.take_earliest();
        }
        // All in order, which is usual.
        let Waiting { line, record, .. } = self.lanes[0].pop_front()?;
        self.waiting -= 1;
        self.left = line;
        Some(record)
    }

    /// The earliest one of several lanes leaves.
    fn take_earliest(&mut self) -> Option<RawRecord> {
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
        let Waiting { line, record, .. } = waiting?;
        self.left = line;
        Some(record)
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
                let (op, length_bytes, device, tag) = (Op::Read, 1, 0, 0);
                let offset_bytes = place;
                let range = (offset_bytes, length_bytes);
                let record = RawRecord { tag, ..RawRecord::of(time_ps, op, range, device) };
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
    fn records_keep_their_line_and_pay_what_they_owe() {
        let at = |time_ps| RawRecord {
            time_ps,
            op: Op::Write,
            offset_bytes: 0,
            length_bytes: 1,
            device: 0,
            tag: 0,
            placement: None,
        };
        let mut waiting = ByArrival::default();
        waiting.at_line(7);
        waiting.push(at(20));
        waiting.owe(at(21));
        waiting.at_line(8);
        waiting.push(at(10));
        let mut left = || {
            let record = waiting.ready(true)?;
            Some((record.time_ps, waiting.left_line()))
        };
        assert_eq!([left(), left()], [Some((10, 8)), Some((20, 7))]);
        assert_eq!(left(), Some((21, 7)));
        waiting.owe(at(30));
        assert_eq!(waiting.forgive(), Some(at(30)));
        assert_eq!(waiting.ready(true), None);
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
                placement: None,
            });
            assert_eq!(waiting.ready(false).map(|record| record.time_ps), (time == 0).then_some(0));
        }
    }
}
