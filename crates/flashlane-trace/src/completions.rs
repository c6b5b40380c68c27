//! Measured response times: pairs the arrivals of a trace with their completions.
//!
//! A trace of the block layer has several events for each request. An arrival (`Q` or `D`) belongs
//! to a completion (`C`) of the same device and operation. If a completion has exactly the range of
//! the arrival, the two belong together. Otherwise the arrival belongs to the completions that
//! together cover its range, because the block layer merges and splits requests.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use crate::error::TraceError;
use crate::options::{Action, OnDecreasing, TraceOptions};
use crate::reader::TraceReader;
use crate::record::{Op, Record};

/// Largest number of arrivals that wait for their completion. Older arrivals are dropped.
const OUTSTANDING_MAX: usize = 1 << 20;

/// An event of a trace with completions. Times are on the clock of the file, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request arrives.
    Arrival {
        /// The request, as the reader of arrivals gives it.
        record: Record,
        /// The tag of the request.
        tag: u32,
        /// The time of the arrival.
        at_ps: u128,
    },
    /// A request completes that arrived earlier.
    Completion {
        /// The request as it arrived.
        record: Record,
        /// The tag of the request.
        tag: u32,
        /// The time of the completion.
        at_ps: u128,
        /// The time from arrival to completion.
        response_ps: u64,
    },
}

/// Reads a trace once for its arrivals and once for its completions, and pairs them.
#[derive(Debug)]
pub struct Completions {
    arrivals: TraceReader,
    ends: TraceReader,
    next_arrival: Option<(u128, Record, u32)>,
    next_end: Option<(u128, Record)>,
    outstanding: Outstanding,
    /// Completions of the latest event that were not yet delivered.
    ready: VecDeque<Event>,
}

impl Completions {
    /// Opens a trace for its completions. Returns `None` if the format has no completions, if the
    /// options take completions as arrivals, or if the file has no completion.
    ///
    /// # Errors
    /// Any [`TraceError`] of opening the file, and of reading up to the first event of either kind.
    pub fn open(
        path: impl AsRef<Path>,
        options: &TraceOptions,
    ) -> Result<Option<Completions>, TraceError> {
        let path = path.as_ref();
        let arrivals = TraceReader::open(path, options)?;
        if !arrivals.format().info().has_actions || arrivals.action() == Action::Complete {
            return Ok(None);
        }
        let of_ends = TraceOptions {
            action: Action::Complete,
            format: Some(arrivals.format().clone()),
            tag: None,
            limit: None,
            on_decreasing: OnDecreasing::Clamp,
            ..options.clone()
        };
        let ends = TraceReader::open(path, &of_ends)?;
        let mut events = Completions {
            arrivals,
            ends,
            next_arrival: None,
            next_end: None,
            outstanding: Outstanding::default(),
            ready: VecDeque::new(),
        };
        match events.read_end() {
            Ok(()) => {}
            Err(
                TraceError::Empty { .. }
                | TraceError::NothingAccepted { .. }
                | TraceError::OtherAction { .. },
            ) => return Ok(None),
            Err(error) => return Err(error),
        }
        events.read_arrival()?;
        Ok(events.next_end.is_some().then_some(events))
    }

    /// The next event, by time; `None` at the end.
    ///
    /// # Errors
    /// Any [`TraceError`] of reading.
    #[expect(clippy::should_implement_trait, reason = "`?` wants the Result outside")]
    pub fn next(&mut self) -> Result<Option<Event>, TraceError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let arrival_is_first = match (&self.next_arrival, &self.next_end) {
                (Some((arrival, ..)), Some((end, _))) => arrival <= end,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => return Ok(None),
            };
            if arrival_is_first && let Some((at_ps, record, tag)) = self.next_arrival.take() {
                self.read_arrival()?;
                self.outstanding.add(at_ps, record, tag);
                return Ok(Some(Event::Arrival { record, tag, at_ps }));
            }
            if let Some((at_ps, end)) = self.next_end.take() {
                self.read_end()?;
                self.outstanding.complete(at_ps, &end, &mut self.ready);
            }
        }
    }

    /// The reader of the arrivals, with its tags and its counts of lines.
    #[must_use]
    pub fn arrivals(&self) -> &TraceReader {
        &self.arrivals
    }

    fn read_arrival(&mut self) -> Result<(), TraceError> {
        let record = self.arrivals.next()?;
        let base = self.arrivals.base_ps().unwrap_or_default();
        let tag = self.arrivals.tag();
        self.next_arrival = record.map(|record| (base + u128::from(record.time_ps), record, tag));
        Ok(())
    }

    fn read_end(&mut self) -> Result<(), TraceError> {
        let record = self.ends.next()?;
        let base = self.ends.base_ps().unwrap_or_default();
        self.next_end = record.map(|record| (base + u128::from(record.time_ps), record));
        Ok(())
    }
}

/// Device, operation and first byte of a request.
type Place = (u32, Op, u64);

/// Requests that arrived and are not complete.
#[derive(Debug, Default)]
struct Outstanding {
    /// Requests by place, in the order of arrival.
    requests: BTreeMap<Place, VecDeque<Waiting>>,
    count: usize,
    /// The longest request so far. A completion covers requests that begin at most this far before
    /// it.
    longest: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    at_ps: u128,
    record: Record,
    tag: u32,
    /// Bytes that no completion has covered so far.
    left: u64,
}

impl Waiting {
    fn completion(&self, at_ps: u128) -> Event {
        let response_ps = u64::try_from(at_ps - self.at_ps).unwrap_or(u64::MAX);
        Event::Completion { record: self.record, tag: self.tag, at_ps, response_ps }
    }
}

impl Outstanding {
    fn add(&mut self, at_ps: u128, record: Record, tag: u32) {
        if self.count == OUTSTANDING_MAX {
            self.drop_oldest_half();
        }
        self.longest = self.longest.max(record.length_bytes);
        let place = (record.device, record.op, record.offset_bytes);
        let waiting = Waiting { at_ps, record, tag, left: record.length_bytes };
        self.requests.entry(place).or_default().push_back(waiting);
        self.count += 1;
    }

    /// Forgets requests whose completion the trace does not have.
    #[cold]
    fn drop_oldest_half(&mut self) {
        let mut times: Vec<u128> = self.requests.values().flatten().map(|one| one.at_ps).collect();
        times.sort_unstable();
        let middle = times[times.len() / 2];
        self.requests.retain(|_, queue| {
            queue.retain(|one| one.at_ps > middle);
            !queue.is_empty()
        });
        self.count = self.requests.values().map(VecDeque::len).sum();
    }

    /// Completes the requests that an event covers.
    fn complete(&mut self, at_ps: u128, end: &Record, ready: &mut VecDeque<Event>) {
        let place = (end.device, end.op, end.offset_bytes);
        let exact = self.requests.get_mut(&place).and_then(|queue| {
            let index = queue.iter().position(|one| {
                one.left == end.length_bytes && one.record.length_bytes == one.left
            })?;
            queue.remove(index)
        });
        if let Some(waiting) = exact {
            ready.push_back(waiting.completion(at_ps));
            self.count -= 1;
        } else {
            let first = (end.device, end.op, end.offset_bytes.saturating_sub(self.longest));
            let last = (end.device, end.op, end.end_bytes());
            for queue in self.requests.range_mut(first..last).map(|(_, queue)| queue) {
                let Some(oldest) = queue.front_mut() else { continue };
                let from = oldest.record.offset_bytes.max(end.offset_bytes);
                let to = oldest.record.end_bytes().min(end.end_bytes());
                oldest.left = oldest.left.saturating_sub(to.saturating_sub(from));
                if oldest.left == 0 {
                    ready.push_back(oldest.completion(at_ps));
                    queue.pop_front();
                    self.count -= 1;
                }
            }
        }
        let first = (end.device, end.op, end.offset_bytes.saturating_sub(self.longest));
        let last = (end.device, end.op, end.end_bytes());
        let empty: Vec<Place> = self
            .requests
            .range(first..=last)
            .filter(|(_, queue)| queue.is_empty())
            .map(|(place, _)| *place)
            .collect();
        for place in empty {
            self.requests.remove(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempTrace;
    use crate::{Format, TagKind};

    /// First byte, tag and response time in microseconds of each completion.
    fn responses(text: &str) -> Vec<(u64, String, u64)> {
        let file = TempTrace::new(text);
        let options =
            TraceOptions { tag: Some(TagKind::Process), ..TraceOptions::new(Format::Blkparse) };
        let mut events =
            Completions::open(file.path(), &options).expect("a trace").expect("completions");
        let mut found = Vec::new();
        while let Some(event) = events.next().expect("a trace") {
            if let Event::Completion { record, tag, response_ps, .. } = event {
                let text = events.arrivals().tag_text(tag).unwrap_or_default().to_owned();
                found.push((record.offset_bytes / 512, text, response_ps / 1_000_000));
            }
        }
        found
    }

    fn named(expected: &[(u64, &str, u64)]) -> Vec<(u64, String, u64)> {
        expected.iter().map(|(sector, name, us)| (*sector, (*name).to_owned(), *us)).collect()
    }

    #[test]
    fn completions_belong_to_the_arrival_of_their_range() {
        let text = "8,0 0 1 5.000000000 7 Q R 0 + 8 [a]
8,0 0 2 5.000001000 8 Q R 0 + 8 [b]
8,0 0 3 5.000002000 8 Q W 0 + 8 [b]
8,16 0 3 5.000002500 8 Q W 0 + 8 [b]
8,0 0 4 5.000010000 0 C R 0 + 8 [0]
8,0 0 5 5.000020000 0 C R 0 + 8 [0]
8,0 0 6 5.000032000 0 C W 0 + 8 [0]
8,0 0 7 5.000040000 0 C W 64 + 8 [0]
";
        assert_eq!(responses(text), named(&[(0, "a", 10), (0, "b", 19), (0, "b", 30)]));
    }

    #[test]
    fn joined_and_cut_requests_are_complete_when_they_are_covered() {
        let joined = "8,0 0 1 0.000000000 7 Q W 0 + 8 [a]
8,0 0 2 0.000001000 8 Q W 8 + 8 [b]
8,0 0 3 0.000010000 0 C W 0 + 16 [0]
";
        assert_eq!(responses(joined), named(&[(0, "a", 10), (8, "b", 9)]));
        let cut = "8,0 0 1 0.000000000 7 Q W 0 + 16 [a]
8,0 0 3 0.000010000 0 C W 0 + 8 [0]
8,0 0 3 0.000020000 0 C W 8 + 8 [0]
";
        assert_eq!(responses(cut), named(&[(0, "a", 20)]));
    }

    #[test]
    fn a_trace_without_completions_has_none() {
        let file = TempTrace::new("8,0 0 1 0.000000000 7 Q W 0 + 16 [a]\n");
        let open = |options| Completions::open(file.path(), &options).expect("a trace").is_none();
        assert!(open(TraceOptions::default()));
        let csv = TempTrace::new("0.000,R,0,512,0\n");
        let found = Completions::open(csv.path(), &TraceOptions::new(Format::Csv));
        assert!(found.expect("a trace").is_none(), "the format has one event of a request");
    }

    #[test]
    fn requests_without_a_completion_are_forgotten() {
        let mut outstanding = Outstanding::default();
        let record = Record {
            time_ps: 0,
            op: Op::Read,
            offset_bytes: 0,
            length_bytes: 8,
            device: 0,
            placement: None,
        };
        for index in 0..=OUTSTANDING_MAX as u64 {
            outstanding.add(u128::from(index), Record { offset_bytes: index * 8, ..record }, 0);
        }
        assert!(outstanding.count <= OUTSTANDING_MAX / 2 + 1, "{}", outstanding.count);
        let mut ready = VecDeque::new();
        let last = Record { offset_bytes: 8 * OUTSTANDING_MAX as u64, ..record };
        outstanding.complete(OUTSTANDING_MAX as u128 + 5, &last, &mut ready);
        assert_eq!(ready.len(), 1, "the latest is still there");
    }
}
