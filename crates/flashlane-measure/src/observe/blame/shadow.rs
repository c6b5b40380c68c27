//! Shadows: the time that each flow would have waited for its own work if it had had the drive to
//! itself.
//!
//! Every flow has a shadow, a drive with no other work than that of this flow. The work is that of
//! the run, with its times and in its order. Only the starts differ: work begins as soon as the
//! flow's own earlier work is out of the way. The requests of a closed loop arrive when earlier
//! requests are over in the shadow; all others arrive as in the run.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use flashlane_device::flash::Running;
use flashlane_device::transaction::{Op, Transaction};
use flashlane_units::{DieId, FlowId};

/// Spans that a calendar remembers.
const SPANS: usize = 32;

/// The times for which a die or a channel works for a flow in its shadow. Unit: picoseconds.
#[derive(Clone, Debug, Default)]
struct Calendar {
    /// Start and end of spans that do not touch, in order of time.
    spans: VecDeque<(u64, u64)>,
    /// End of the forgotten time.
    floor: u64,
}

impl Calendar {
    /// The first time from `ready` on at which the resource is free for `length`. Work that is
    /// ready before all remembered spans does not wait.
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

    /// Books the time from `from` to `to`, of which a part may be booked already.
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

/// The shadow of a flow.
#[derive(Clone, Debug, Default)]
struct Alone {
    /// For a closed loop: ends of requests that no new request has followed yet.
    ends: BinaryHeap<Reverse<u64>>,
    /// By how much the last request arrived later in the run than in the shadow.
    behind: i64,
    dies: Vec<Calendar>,
    channels: Vec<Calendar>,
    /// Calendars of command buses; empty where commands share the bus of the data.
    command_buses: Vec<Calendar>,
}

/// The times of a command. Unit: picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandTimes {
    /// Time on the channel: command and addresses.
    pub(crate) command: u64,
    /// Time on the channel: data that follows the command.
    pub(crate) data: u64,
    /// Time until the end of the work in the array.
    pub(crate) took: u64,
    /// The part of `took` for which the die is held.
    pub(crate) held: u64,
}

impl CommandTimes {
    /// The times of a command that is sent at `now` and holds its die from then on.
    pub(crate) fn of(now: u64, command: &Running) -> Self {
        let commanded = command.commanded.0;
        Self {
            command: commanded - now,
            data: command.since.0 - commanded,
            took: command.until.0 - now,
            held: command.until.0 - now,
        }
    }
}

/// The places of a command in the shadow of a flow.
struct Places<'a> {
    die: &'a mut [Calendar],
    channel: &'a mut Calendar,
    /// The command bus, where commands have their own.
    commands: Option<&'a mut Calendar>,
}

impl Places<'_> {
    /// The first time from `ready` on at which a command could be sent.
    fn earliest(&self, ready: u64, times: CommandTimes) -> u64 {
        let CommandTimes { command, data, .. } = times;
        let Some(commands) = &self.commands else {
            return self.channel.earliest(ready, command + data);
        };
        let start = commands.earliest(ready, command);
        if data == 0 { start } else { self.channel.earliest(start + command, data) - command }
    }

    /// Books the channel for a command that is sent at `start`.
    fn book(&mut self, start: u64, times: CommandTimes) {
        let commanded = start + times.command;
        if let Some(commands) = &mut self.commands {
            commands.book(start, commanded);
            self.channel.book(commanded, commanded + times.data);
        } else {
            self.channel.book(start, commanded + times.data);
        }
    }
}

/// A request in the shadow of its flow. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShadowRequest {
    arrival: u64,
    /// Start of its device work in the shadow, and in the run.
    begun: u64,
    begun_in_run: u64,
    /// End of the last of its pages so far; 0 before the first.
    end: u64,
}

/// A transaction in the shadow of its flow. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShadowPage {
    /// Time at which the page enters the scheduler's queue.
    ready: u64,
    /// Time at which the page has its die.
    start: u64,
    /// End of the page, as far as it is known.
    end: u64,
    /// Delay of its earlier steps against the run; negative if they were faster.
    later: i64,
}

/// The shadows of all flows.
#[derive(Clone, Debug)]
pub(super) struct Shadows {
    flows: Vec<Alone>,
    /// True for flows whose requests arrive whether or not earlier ones are over.
    open_loops: Vec<bool>,
    dies: usize,
    channels: usize,
    /// Parts of a die that read by themselves: its planes, or 1.
    parts: usize,
    /// True if a plane is free while its data crosses the channel.
    cached: bool,
    /// True if commands have a bus of their own.
    separate: bool,
}

/// Moves a time by a signed difference.
fn moved(at: u64, by: i64) -> u64 {
    at.saturating_add_signed(by)
}

/// The signed difference between two times: by how much `a` is later than `b`.
fn later(a: u64, b: u64) -> i64 {
    a as i64 - b as i64
}

impl Shadows {
    /// Shadows of a run in which nothing has happened.
    pub(super) fn new(open_loops: &[bool], dies: usize, channels: usize) -> Self {
        let flows = vec![Alone::default(); open_loops.len()];
        let open_loops = open_loops.to_vec();
        Self { flows, open_loops, dies, channels, parts: 1, cached: false, separate: false }
    }

    /// From now on, commands have a bus of their own.
    pub(super) fn separate_commands(&mut self) {
        self.separate = true;
    }

    /// From now on, the planes of each die read independently. `cached`: they have cache registers.
    pub(super) fn read_by_plane(&mut self, planes: usize, cached: bool) {
        (self.parts, self.cached) = (planes, cached);
    }

    /// The parts of a die that a page needs: its plane for a read, where planes read by themselves;
    /// otherwise all.
    pub(super) fn parts_of(&self, die: DieId, tr: &Transaction) -> Range<usize> {
        let first = die.index() * self.parts;
        if self.parts > 1 && tr.op == Op::Read {
            tr.plane.index()..tr.plane.index() + 1
        } else {
            first..first + self.parts
        }
    }

    /// True for flows whose requests arrive whether or not earlier ones are over.
    pub(super) fn open_loops(&self) -> &[bool] {
        &self.open_loops
    }

    /// Begins the device work of a request.
    pub(super) fn request(&mut self, flow: FlowId, arrival: u64, now: u64) -> ShadowRequest {
        let alone = &mut self.flows[flow.index()];
        let arrived = alone.ends.pop().map_or(arrival, |Reverse(end)| end);
        alone.behind = later(arrival, arrived);
        let begun = arrived + (now - arrival);
        ShadowRequest { arrival: arrived, begun, begun_in_run: now, end: 0 }
    }

    /// Ends a request that took `whole` in the run, of which it waited `queued` for dies and
    /// channels. Returns its wait in the shadow.
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

    /// Notes that a page enters the scheduler's queue. It may belong to no request.
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

    /// The calendars of parts of a die, and those of its channel.
    fn places(&mut self, flow: FlowId, parts: Range<usize>) -> Places<'_> {
        let (dies, channels) = (self.dies * self.parts, self.channels);
        let alone = &mut self.flows[flow.index()];
        if alone.dies.is_empty() {
            alone.dies = vec![Calendar::default(); dies];
            alone.channels = vec![Calendar::default(); channels];
            let command_buses = if self.separate { channels } else { 0 };
            alone.command_buses = vec![Calendar::default(); command_buses];
        }
        let channel = parts.start * channels / dies;
        Places {
            die: &mut alone.dies[parts],
            channel: &mut alone.channels[channel],
            commands: alone.command_buses.get_mut(channel),
        }
    }

    /// Gives pages of a flow that are ready at `ready` parts of a die, as a part of a command.
    /// `held`: the time for which the die is held because of these pages. Returns the times at
    /// which the pages have the die and are done.
    pub(super) fn command(
        &mut self,
        flow: FlowId,
        parts: Range<usize>,
        ready: u64,
        times: CommandTimes,
    ) -> (u64, u64) {
        // A read command of a plane goes before data that waits for the channel.
        let goes_first = parts.len() < self.parts;
        let mut places = self.places(flow, parts);
        let mut start = ready;
        for _ in 0..4 {
            let free =
                places.die.iter().fold(start, |start, part| part.earliest(start, times.held));
            let free = if goes_first { free } else { places.earliest(free, times) };
            if free == start {
                break;
            }
            start = free;
        }
        places.book(start, times);
        places.die.iter_mut().for_each(|part| part.book(start, start + times.held));
        (start, start + times.took)
    }

    /// The data of a read page crosses the channel for `duration`.
    pub(super) fn transfer(
        &mut self,
        flow: FlowId,
        parts: Range<usize>,
        page: &mut ShadowPage,
        duration: u64,
    ) {
        let cached = self.cached;
        let Places { die, channel, .. } = self.places(flow, parts);
        let start = channel.earliest(page.end, duration);
        page.end = start + duration;
        channel.book(start, page.end);
        if !cached {
            die.iter_mut().for_each(|part| part.book(page.start, page.end));
        }
    }
}

impl ShadowPage {
    /// Time at which the page enters the scheduler's queue.
    pub(super) fn ready(&self) -> u64 {
        self.ready
    }

    /// End of the page, as far as it is known.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Time from the scheduler's queue to the end, as far as it is known.
    pub(super) fn took(&self) -> u64 {
        self.end.saturating_sub(self.ready)
    }

    /// The page gets its die.
    pub(super) fn starts(&mut self, (start, end): (u64, u64)) {
        (self.start, self.end) = (start, end);
    }

    /// The page takes longer by a time that needs neither die nor channel.
    pub(super) fn lasts(&mut self, longer: u64) {
        self.end += longer;
    }

    /// Delays the page until a time, at least.
    pub(super) fn not_before(&mut self, time: u64) {
        self.ready = self.ready.max(time);
    }

    /// Ends the page in the run, as a part of a request.
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

    /// Four requests at a time of one page each, which takes 100, on a die that other flows use as
    /// well: in the run, one of the four ends every 1000.
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
                let times = CommandTimes { command: 0, data: 0, took: 100, held: 100 };
                let times = shadows.command(flow, 0..1, page.ready(), times);
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
