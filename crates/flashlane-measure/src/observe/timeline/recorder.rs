//! Collects slices while the run passes through the span.

use flashlane_engine::place_of;
use flashlane_units::{ChannelId, DieId, FlowId, PlaneId, RequestId, RequestOp};

use super::{Slice, Timeline, TimelineOptions, Track};
use flashlane_device::layout::Geometry;
use flashlane_device::request::Request;
use flashlane_device::transaction::{Op, Source, Transaction};

/// The line that a slice lies on during the run; in the order of the tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    /// Requests of a flow that overlap are on different lanes.
    Host {
        flow: FlowId,
        lane: u32,
    },
    Dram,
    Channel(u32),
    /// The bus of the commands of a channel, where they have their own.
    CommandBus(u32),
    Die(u32),
    Plane(u32),
}

/// A slice, with its line in place of a track.
#[derive(Clone, Copy, Debug)]
struct Piece {
    line: Line,
    slice: Slice,
}

/// A page of a command on a die.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    pub(crate) plane: PlaneId,
    pub(crate) flow: FlowId,
    pub(crate) source: Source,
    /// The request that the page is for, as a handle, or `NONE`.
    pub(crate) request: RequestId,
}

impl Page {
    /// The page of a transaction.
    pub(crate) fn of(tr: &Transaction) -> Self {
        let Transaction { plane, flow, source, request, .. } = *tr;
        Self { plane, flow, source, request }
    }
}

/// Collects a timeline.
#[derive(Clone, Debug)]
pub(crate) struct TimelineRecorder {
    options: TimelineOptions,
    geometry: Geometry,
    pieces: Vec<Piece>,
    /// Time at which there were enough slices, or at which the span was over.
    over: Option<u64>,
    truncated: bool,
    /// Numbers of requests by handle; 0 for requests that have not appeared yet.
    numbers: Vec<u64>,
    last_number: u64,
    /// Time at which each lane of a flow is free.
    lanes: Vec<Vec<u64>>,
    /// Slices of the array operation that each die runs, which may still be cut short: the first
    /// slice, and their number.
    running: Vec<(usize, usize)>,
    /// End of the last access to the memory of the data cache.
    dram_free: u64,
    /// True if commands have a bus of their own.
    separate: bool,
}

/// Name of an operation.
fn name_of(source: Source, op: Op) -> &'static str {
    match (source, op) {
        (_, Op::Erase) => "erase",
        (Source::User | Source::Cache, Op::Read) => "read",
        (Source::User, Op::Program) => "program",
        (Source::Cache, Op::Program) => "write-back",
        (Source::Gc, Op::Read) => "gc read",
        (Source::Gc, Op::Program) => "gc program",
        (Source::Mapping, Op::Read) => "mapping read",
        (Source::Mapping, Op::Program) => "mapping program",
    }
}

impl TimelineRecorder {
    pub(crate) fn new(options: TimelineOptions, geometry: Geometry, flows: usize) -> Self {
        Self {
            options,
            geometry,
            pieces: Vec::new(),
            over: None,
            truncated: false,
            numbers: Vec::new(),
            last_number: 0,
            lanes: vec![Vec::new(); flows],
            running: vec![(0, 0); geometry.dies() as usize],
            dram_free: 0,
            separate: false,
        }
    }

    /// From now on, commands have a bus of their own, if `separate`.
    pub(crate) fn with_command_buses(self, separate: bool) -> Self {
        Self { separate, ..self }
    }

    /// The recorder, while it collects slices.
    pub(crate) fn wanted(recorder: &mut Option<Self>, now: u64) -> Option<&mut Self> {
        let recorder = recorder.as_mut()?;
        recorder.wants(now).then_some(recorder)
    }

    /// True while slices are collected; `now` never steps back.
    fn wants(&mut self, now: u64) -> bool {
        if self.over.is_none() {
            if self.pieces.len() >= self.options.slices_max {
                (self.over, self.truncated) = (Some(now), true);
            } else if now > self.options.to {
                self.over = Some(self.options.to);
            }
        }
        self.over.is_none()
    }

    /// The number of a request.
    fn number(&mut self, request: RequestId) -> u64 {
        if request == RequestId::NONE {
            return 0;
        }
        let at = place_of(request);
        if at >= self.numbers.len() {
            self.numbers.resize(at + 1, 0);
        }
        if self.numbers[at] == 0 {
            self.last_number += 1;
            self.numbers[at] = self.last_number;
        }
        self.numbers[at]
    }

    fn push(
        &mut self,
        line: Line,
        (start, end): (u64, u64),
        name: &'static str,
        flow: FlowId,
        request: u64,
    ) {
        if end >= self.options.from && start < end {
            let slice = Slice { track: 0, start, end, name, flow: flow.get(), request };
            self.pieces.push(Piece { line, slice });
        }
    }

    /// A command is on its channel from `now` to `commanded`, and its data up to `sent`.
    fn on_channel(
        &mut self,
        channel: ChannelId,
        (now, commanded, sent): (u64, u64, u64),
        op: Op,
        (flow, request): (FlowId, u64),
    ) {
        let line = Line::Channel(channel.get());
        if !self.separate {
            let name = if op == Op::Program { "program data" } else { "command" };
            return self.push(line, (now, sent), name, flow, request);
        }
        self.push(Line::CommandBus(channel.get()), (now, commanded), "command", flow, request);
        self.push(line, (commanded, sent), "program data", flow, request);
    }

    /// A die got a command, which is on the channel from `now` to `commanded`, its data from then
    /// to `sent`, and in the array from then to `until`.
    pub(crate) fn command(
        &mut self,
        (channel, die): (ChannelId, DieId),
        op: Op,
        (now, commanded, sent, until): (u64, u64, u64, u64),
        pages: &[Page],
        resumed: bool,
    ) {
        self.cut(die, now);
        let first = pages[0];
        let request = self.number(first.request);
        let name = name_of(first.source, op);
        if sent > now {
            self.on_channel(channel, (now, commanded, sent), op, (first.flow, request));
        }
        let start = self.pieces.len();
        let name = if resumed { "resumed" } else { name };
        self.push(Line::Die(die.get()), (sent, until), name, first.flow, request);
        if self.geometry.planes_per_die > 1 {
            for page in pages {
                let request = self.number(page.request);
                let name = name_of(page.source, op);
                self.push(Line::Plane(page.plane.get()), (sent, until), name, page.flow, request);
            }
        }
        self.running[die.index()] = (start, self.pieces.len() - start);
    }

    /// A plane of a die got a read of its own, which is on the channel from `now` to `sent` and in
    /// the array from then to `until`.
    pub(crate) fn plane_read(
        &mut self,
        (channel, die): (ChannelId, DieId),
        (now, sent, until): (u64, u64, u64),
        page: Page,
    ) {
        // Ends an operation that the read has suspended.
        self.cut(die, now);
        let request = self.number(page.request);
        self.on_channel(channel, (now, sent, sent), Op::Read, (page.flow, request));
        let line = match self.geometry.planes_per_die {
            1 => Line::Die(die.get()),
            _ => Line::Plane(page.plane.get()),
        };
        self.push(line, (sent, until), name_of(page.source, Op::Read), page.flow, request);
    }

    /// Ends the operation of the die at `now`, unless it has ended already.
    fn cut(&mut self, die: DieId, now: u64) {
        let (start, count) = std::mem::take(&mut self.running[die.index()]);
        for piece in &mut self.pieces[start..start + count] {
            piece.slice.end = piece.slice.end.min(now).max(piece.slice.start);
        }
    }

    /// The data of a program is on its way into a register: the command from `now` to `commanded`,
    /// the data up to `sent`. `page`: flow and request of the first page.
    pub(crate) fn program_data(
        &mut self,
        channel: ChannelId,
        times: (u64, u64, u64),
        (flow, request): (FlowId, RequestId),
    ) {
        let request = self.number(request);
        self.on_channel(channel, times, Op::Program, (flow, request));
    }

    /// The data of a read crosses the channel.
    pub(crate) fn transfer(
        &mut self,
        channel: ChannelId,
        span: (u64, u64),
        name: &'static str,
        flow: FlowId,
        request: RequestId,
    ) {
        let request = self.number(request);
        self.push(Line::Channel(channel.get()), span, name, flow, request);
    }

    /// The memory of the data cache serves an access. `request`: a handle, or `NONE`.
    pub(crate) fn dram(&mut self, span: (u64, u64), flow: FlowId, request: RequestId) {
        let request = self.number(request);
        // Accesses whose rows open at the same time follow each other on the line.
        let start = span.0.max(self.dram_free);
        self.dram_free = self.dram_free.max(span.1);
        self.push(Line::Dram, (start, span.1), "access", flow, request);
    }

    /// A request is over.
    pub(crate) fn request(&mut self, id: RequestId, request: &Request, now: u64) {
        let number = self.number(id);
        self.numbers[place_of(id)] = 0;
        let lanes = &mut self.lanes[request.flow.index()];
        let start = request.arrival.0;
        let lane = lanes.iter().position(|&free| free <= start).unwrap_or_else(|| {
            lanes.push(0);
            lanes.len() - 1
        });
        lanes[lane] = now;
        let line = Line::Host { flow: request.flow, lane: lane as u32 };
        let name = match request.op {
            RequestOp::Read => "read request",
            RequestOp::Write => "write request",
            RequestOp::Trim => "trim request",
            RequestOp::Flush => "flush request",
            _ => "zone request",
        };
        self.push(line, (start, now), name, request.flow, number);
        let stages = [
            (request.arrival, request.enqueued, "host queue"),
            (request.enqueued, request.fetched, "submission"),
            (request.fetched, request.received, "transfer in"),
            (request.received, request.begun, "firmware"),
            (request.begun, request.served, "cache and flash"),
        ];
        for (from, to, name) in stages {
            self.push(line, (from.0, to.0), name, request.flow, 0);
        }
        self.push(line, (request.served.0, now), "transfer out", request.flow, 0);
    }

    /// The timeline of a run that ended at `end`.
    pub(crate) fn finish(mut self, end: u64, names: Vec<String>) -> Timeline {
        // A slice that was cut short may now lie before the span.
        let from = self.options.from;
        self.pieces.retain(|Piece { slice, .. }| slice.start < slice.end && slice.end >= from);
        let key =
            |piece: &Piece| (piece.line, piece.slice.start, std::cmp::Reverse(piece.slice.end));
        // The sort is stable, so that a request stays before its stages where both take the same
        // time.
        self.pieces.sort_by_key(key);
        let mut tracks = Tracks { geometry: self.geometry, made: Vec::new(), list: Vec::new() };
        let mut slices = Vec::with_capacity(self.pieces.len());
        let mut last: Option<(Line, u32)> = None;
        for piece in &self.pieces {
            let track = match last {
                Some((line, track)) if line == piece.line => track,
                _ => tracks.of(piece.line, &names),
            };
            last = Some((piece.line, track));
            slices.push(Slice { track, ..piece.slice });
        }
        slices.sort_by_key(|slice| (slice.track, slice.start, std::cmp::Reverse(slice.end)));
        let to = self.over.unwrap_or(end).min(self.options.to);
        Timeline {
            from: self.options.from,
            to: to.max(self.options.from),
            truncated: self.truncated,
            flows: names,
            tracks: tracks.list,
            slices,
        }
    }
}

/// Key by which a track is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Hosts,
    Flow(FlowId),
    Channels,
    Chip(u32),
    Line(Line),
}

/// Tracks in use, and their parents.
struct Tracks {
    geometry: Geometry,
    made: Vec<Key>,
    list: Vec<Track>,
}

impl Tracks {
    /// The track of a line; made with its parents if it does not exist.
    fn of(&mut self, line: Line, names: &[String]) -> u32 {
        let per_channel = self.geometry.chips_per_channel;
        let (dies, planes) = (self.geometry.dies_per_chip, self.geometry.planes_per_die);
        match line {
            Line::Host { flow, lane } => {
                let hosts = self.track(Key::Hosts, None, || "hosts".into());
                let name = &names[flow.index()];
                let parent = self.track(Key::Flow(flow), Some(hosts), || name.clone());
                self.track(Key::Line(line), Some(parent), || format!("{name} {}", lane + 1))
            }
            Line::Dram => self.track(Key::Line(line), None, || "data cache".into()),
            Line::Channel(channel) => {
                let all = self.track(Key::Channels, None, || "channels".into());
                self.track(Key::Line(line), Some(all), || format!("channel {channel}"))
            }
            Line::CommandBus(channel) => {
                let all = self.track(Key::Channels, None, || "channels".into());
                self.track(Key::Line(line), Some(all), || format!("commands of channel {channel}"))
            }
            Line::Die(die) => {
                let chip = die / dies;
                let parent = self.of(Line::Channel(chip / per_channel), names);
                let chip = self.track(Key::Chip(chip), Some(parent), || {
                    format!("chip {}.{}", chip / per_channel, chip % per_channel)
                });
                self.track(Key::Line(line), Some(chip), || format!("die {}", die % dies))
            }
            Line::Plane(plane) => {
                let parent = self.of(Line::Die(plane / planes), names);
                self.track(Key::Line(line), Some(parent), || format!("plane {}", plane % planes))
            }
        }
    }

    fn track(&mut self, key: Key, parent: Option<u32>, name: impl FnOnce() -> String) -> u32 {
        if let Some(at) = self.made.iter().rposition(|&made| made == key) {
            return at as u32;
        }
        self.made.push(key);
        self.list.push(Track { name: name(), parent });
        self.list.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_planes() -> Geometry {
        Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 8,
            pages_per_block: 8,
            sectors_per_page: 8,
            units_per_page: 1,
            pages_per_program: 1,
            pages_per_unit: 1,
        }
    }

    #[test]
    fn an_interrupted_operation_is_cut_and_goes_on() {
        let mut recorder = TimelineRecorder::new(TimelineOptions::default(), two_planes(), 1);
        let page = |plane, source| Page {
            plane,
            flow: FlowId::new(0),
            source,
            request: RequestId::new(5),
        };
        let program = [page(PlaneId::new(0), Source::User), page(PlaneId::new(1), Source::Gc)];
        assert!(recorder.wants(0));
        recorder.command(
            (ChannelId::new(0), DieId::new(0)),
            Op::Program,
            (0, 10, 10, 500),
            &program,
            false,
        );
        recorder.command(
            (ChannelId::new(0), DieId::new(0)),
            Op::Read,
            (100, 110, 110, 150),
            &[page(PlaneId::new(1), Source::User)],
            false,
        );
        recorder.transfer(
            ChannelId::new(0),
            (150, 160),
            "read data",
            FlowId::new(0),
            RequestId::new(5),
        );
        recorder.command(
            (ChannelId::new(0), DieId::new(0)),
            Op::Program,
            (160, 160, 160, 550),
            &program,
            true,
        );
        let timeline = recorder.finish(600, vec!["one".into()]);
        let on = |name: &str| -> Vec<(u64, u64, &str)> {
            let track = timeline.tracks.iter().position(|track| track.name == name).unwrap();
            let slices = timeline.slices.iter().filter(|slice| slice.track as usize == track);
            slices.map(|slice| (slice.start, slice.end, slice.name)).collect()
        };
        assert_eq!(on("die 0"), [(10, 100, "program"), (110, 150, "read"), (160, 550, "resumed")]);
        assert_eq!(
            on("plane 1"),
            [(10, 100, "gc program"), (110, 150, "read"), (160, 550, "gc program")]
        );
        assert_eq!(
            on("channel 0"),
            [(0, 10, "program data"), (100, 110, "command"), (150, 160, "read data")]
        );
        assert!(timeline.slices.iter().all(|slice| slice.request == 1));
        assert_eq!((timeline.from, timeline.to, timeline.truncated), (0, 600, false));
    }
}
