//! What each flow would have waited for its own work, had it had the drive to itself.
//!
//! Every flow has a shadow: the drive with nothing on it but the work of this flow. The work is
//! that of the run, with the times that it took there, in the order in which the run did it. Only
//! when it begins differs: as soon as the flow's own earlier work is out of the way. The requests
//! of a closed loop arrive when earlier ones are over in the shadow, all others as they did.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use flashlane_units::FlowId;

/// Spans that a calendar remembers.
const SPANS: usize = 32;

/// When a die or a channel works for a flow in its shadow. Unit: picoseconds.
#[derive(Clone, Debug, Default)]
struct Calendar {
    /// Start and end of spans that do not touch, in order of time.
    spans: VecDeque<(u64, u64)>,
    /// What was before is forgotten.
    floor: u64,
}

impl Calendar {
    /// The first time from `ready` on at which it is free for so long. What is ready before all
    /// that is remembered does not wait.
    fn earliest(&self, ready: u64, length: u64) -> u64 {
        if ready < self.floor {
            return ready;
        }
        let mut start = ready;
        for &(from, to) in &self.spans {
            if start + length <= from {
                break;
            }
            start = start.max(to);
        }
        start
    }

    /// It works from `from` to `to`, and may have worked in a part of that already.
    fn book(&mut self, mut from: u64, mut to: u64) {
        if from >= to || from < self.floor {
            return;
        }
        let first = self.spans.partition_point(|span| span.1 < from);
        let last = self.spans.partition_point(|span| span.0 <= to);
        if first < last {
            from = from.min(self.spans[first].0);
            to = to.max(self.spans[last - 1].1);
            self.spans.drain(first..last);
        }
        self.spans.insert(first, (from, to));
        if self.spans.len() > SPANS {
            let (_, end) = self.spans.pop_front().expect("there are many");
            self.floor = end;
        }
    }
}

/// A flow by itself.
#[derive(Clone, Debug, Default)]
struct Alone {
    /// Ends of requests that no new one has followed yet; only of a closed loop.
    ends: BinaryHeap<Reverse<u64>>,
    /// By how much later the last request arrived in the run.
    behind: i64,
    dies: Vec<Calendar>,
    channels: Vec<Calendar>,
}

/// A request in the shadow of its flow. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShadowRequest {
    arrival: u64,
    /// Its device work begins, and begins in the run.
    begun: u64,
    begun_in_run: u64,
    /// The last of its pages so far is over; 0 before.
    end: u64,
}

/// A transaction in the shadow of its flow. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShadowPage {
    /// It enters the scheduler's queue.
    ready: u64,
    /// It has its die.
    start: u64,
    /// It is over, as far as is known.
    end: u64,
    /// By how much its earlier steps took longer than in the run.
    later: i64,
}

/// The shadows of all flows.
#[derive(Clone, Debug)]
pub(super) struct Shadows {
    flows: Vec<Alone>,
    /// Flows whose requests come whether or not earlier ones are over.
    open_loops: Vec<bool>,
    dies: usize,
    channels: usize,
}

/// Moves a time.
fn moved(at: u64, by: i64) -> u64 {
    at.saturating_add_signed(by)
}

/// How much later `a` is than `b`.
fn later(a: u64, b: u64) -> i64 {
    a as i64 - b as i64
}

impl Shadows {
    /// Nothing happened yet.
    pub(super) fn new(open_loops: &[bool], dies: usize, channels: usize) -> Self {
        let flows = vec![Alone::default(); open_loops.len()];
        Self { flows, open_loops: open_loops.to_vec(), dies, channels }
    }

    /// Flows whose requests come whether or not earlier ones are over.
    pub(super) fn open_loops(&self) -> &[bool] {
        &self.open_loops
    }

    /// The device work of a request begins in the run.
    pub(super) fn request(&mut self, flow: FlowId, arrival: u64, now: u64) -> ShadowRequest {
        let alone = &mut self.flows[flow.index()];
        let arrived = alone.ends.pop().map_or(arrival, |Reverse(end)| end);
        alone.behind = later(arrival, arrived);
        let begun = arrived + (now - arrival);
        ShadowRequest { arrival: arrived, begun, begun_in_run: now, end: 0 }
    }

    /// A request is over that took `whole` in the run, of which it waited `queued` for dies and
    /// channels. Returns how long it waits in the shadow.
    pub(super) fn over(
        &mut self,
        flow: FlowId,
        request: &ShadowRequest,
        served: u64,
        (whole, queued): (u64, u64),
    ) -> u64 {
        let mut waits = queued;
        if request.end > 0 {
            let took = later(request.end, request.begun);
            let later = took - later(served, request.begun_in_run);
            waits = moved(queued, later);
        }
        if !self.open_loops[flow.index()] {
            let end = request.arrival + whole - queued + waits;
            self.flows[flow.index()].ends.push(Reverse(end));
        }
        waits
    }

    /// A page of a request, or of nobody's, enters the scheduler's queue.
    pub(super) fn enlisted(
        &self,
        flow: FlowId,
        request: Option<&ShadowRequest>,
        page: &mut ShadowPage,
        now: u64,
    ) {
        page.ready = match request {
            Some(request) => moved(request.begun + (now - request.begun_in_run), page.later),
            None => moved(now, -self.flows[flow.index()].behind),
        };
        page.end = page.ready;
    }

    /// A die and its channel.
    fn places(&mut self, flow: FlowId, die: usize) -> (&mut Calendar, &mut Calendar) {
        let (dies, channels) = (self.dies, self.channels);
        let alone = &mut self.flows[flow.index()];
        if alone.dies.is_empty() {
            alone.dies = vec![Calendar::default(); dies];
            alone.channels = vec![Calendar::default(); channels];
        }
        (&mut alone.dies[die], &mut alone.channels[die * channels / dies])
    }

    /// Pages of a flow that are ready at `ready` get a die, as a part of a command that is on the
    /// channel for `sent` and takes `took`; they are to blame for `share` of that. Returns when
    /// they have the die, and when they are done.
    pub(super) fn command(
        &mut self,
        flow: FlowId,
        die: usize,
        ready: u64,
        (sent, took, share): (u64, u64, u64),
    ) -> (u64, u64) {
        let (die, channel) = self.places(flow, die);
        let mut start = ready;
        for _ in 0..4 {
            let free = channel.earliest(die.earliest(start, share), sent);
            if free == start {
                break;
            }
            start = free;
        }
        channel.book(start, start + sent);
        die.book(start, start + share);
        (start, start + took)
    }

    /// What a page read crosses the channel for so long.
    pub(super) fn transfer(
        &mut self,
        flow: FlowId,
        die: usize,
        page: &mut ShadowPage,
        duration: u64,
    ) {
        let (die, channel) = self.places(flow, die);
        let start = channel.earliest(page.end, duration);
        page.end = start + duration;
        channel.book(start, page.end);
        die.book(page.start, page.end);
    }
}

impl ShadowPage {
    /// When it enters the scheduler's queue.
    pub(super) fn ready(&self) -> u64 {
        self.ready
    }

    /// When it is over, as far as is known.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// From the scheduler's queue to its end, as far as is known.
    pub(super) fn took(&self) -> u64 {
        self.end.saturating_sub(self.ready)
    }

    /// It gets a die.
    pub(super) fn starts(&mut self, (start, end): (u64, u64)) {
        (self.start, self.end) = (start, end);
    }

    /// It is not ready before a time.
    pub(super) fn not_before(&mut self, time: u64) {
        self.ready = self.ready.max(time);
    }

    /// It is over in the run, as a part of a request.
    pub(super) fn ends(&mut self, request: &mut ShadowRequest, now: u64) {
        if self.end > 0 {
            request.end = request.end.max(self.end);
            self.later = later(self.end, request.begun) - later(now, request.begun_in_run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calendar_fills_gaps_and_forgets_the_past() {
        let mut calendar = Calendar::default();
        calendar.book(10, 20);
        calendar.book(30, 40);
        assert_eq!([0, 5, 15, 20].map(|ready| calendar.earliest(ready, 10)), [0, 20, 20, 20]);
        assert_eq!(calendar.earliest(5, 11), 40);
        calendar.book(20, 30);
        assert_eq!(calendar.spans, [(10, 40)]);
        for at in 1..=SPANS as u64 {
            calendar.book(at * 100, at * 100 + 1);
        }
        assert_eq!((calendar.spans.len(), calendar.floor), (SPANS, 40));
        assert_eq!(calendar.earliest(15, 10), 15, "nobody knows any more");
    }

    /// Four requests at a time of one page each, which takes 100, on a die that others have as
    /// well: in the run one of the four is over every 1000.
    #[test]
    fn a_closed_loop_waits_for_itself_alone() {
        let flow = FlowId::new(0);
        let mut shadows = Shadows::new(&[false], 1, 1);
        let (mut under_way, mut waits) = (VecDeque::new(), Vec::new());
        for turn in 0..100_u64 {
            let now = turn * 1000;
            for _ in under_way.len()..4 {
                let request = shadows.request(flow, now, now);
                let mut page = ShadowPage::default();
                shadows.enlisted(flow, Some(&request), &mut page, now);
                let times = shadows.command(flow, 0, page.ready(), (0, 100, 100));
                page.starts(times);
                under_way.push_back((now, request, page));
            }
            let (arrival, mut request, mut page) = under_way.pop_front().expect("four");
            let end = now + 1000;
            page.ends(&mut request, end);
            let whole = end - arrival;
            waits.push(shadows.over(flow, &request, end, (whole, whole - 100)));
        }
        assert_eq!(waits[..4], [0, 100, 200, 300]);
        assert!(waits[4..].iter().all(|&wait| wait == 300), "{waits:?}");
    }
}
