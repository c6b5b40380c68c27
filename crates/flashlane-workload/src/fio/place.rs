//! Addresses and sizes of the requests of one copy of a job.

use super::draw::{Draw, Stream};
use super::map::Map;
use super::plan::{Plan, Region, Spread, TRIM, WRITE, blocks};
use super::skew::Skew;
use crate::config::{FioFileOrder, FioRw};

/// A file of the job.
#[derive(Clone, Debug)]
struct File {
    /// Start of the region of the requests, or of the current zone. Unit: bytes in the file.
    from: u64,
    /// End of the last request of each operation; `None` before the first.
    next: [Option<u64>; 3],
    /// Start of the last request of each operation.
    last: [Option<u64>; 3],
    /// Blocks that the pass has touched.
    map: Option<Map>,
    done: bool,
}

/// A request in a file. Unit: bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: u32,
    pub(super) start: u64,
    pub(super) bytes: u64,
}

/// The addresses of a copy of a job.
#[derive(Clone, Debug)]
pub(super) struct Places {
    files: Vec<File>,
    /// The region of each file that requests touch.
    region: Region,
    sizes: [Draw; 3],
    addresses: Draw,
    is_random: [Draw; 3],
    zone: Draw,
    file_draw: Draw,
    skews: [Option<Skew>; 3],
    /// The current file, and the requests that it still gets.
    file: usize,
    file_left: u64,
    /// The file that comes next.
    turn: usize,
    /// Requests left before the next random address.
    row_left: u64,
    /// Bytes transferred in the zone.
    zone_bytes: u64,
    copy: u32,
    /// Requests go to zones of the drive.
    on_zones: bool,
}

impl Places {
    pub(super) fn new(plan: &Plan, seed: u64, copy: u32) -> Self {
        let config = &plan.config;
        let number = config.first_job + copy;
        let stream = |stream| Draw::stream(seed, number, config.repeat, stream);
        let skews = [0, 1, 2].map(|direction| {
            let one = &plan.directions[direction];
            let count = blocks(plan.size, one.smallest, one.align).max(1);
            Skew::new(&one.spread, count, seed ^ u64::from(number) << 32)
        });
        let is_random = stream(Stream::IsRandom);
        let mut places = Self {
            files: Vec::new(),
            region: plan.region(copy),
            sizes: [Stream::ReadSize, Stream::WriteSize, Stream::TrimSize].map(stream),
            addresses: stream(Stream::Address),
            is_random: [is_random.clone(), is_random.clone(), is_random],
            zone: stream(Stream::Zone),
            file_draw: stream(Stream::File),
            skews,
            file: 0,
            file_left: 0,
            turn: 0,
            row_left: 0,
            zone_bytes: 0,
            copy,
            on_zones: plan.on_zones,
        };
        let file = places.open(plan);
        places.files = vec![file; config.files.max(1) as usize];
        places
    }

    fn open(&self, plan: &Plan) -> File {
        let uniform = |direction: usize| {
            matches!(plan.directions[direction].spread, Spread::Random) && plan.does(direction)
        };
        let mapped = plan.config.map && plan.config.random && (0..3).any(uniform);
        // The unit counts all operations, even those that the job does not use.
        let unit = plan.directions.iter().map(|one| one.smallest).min().unwrap_or(1);
        let reach = plan.config.zones.map_or(self.region.length, |zones| zones.range.0);
        let map = mapped.then(|| Map::new((reach.min(self.region.length) / unit).max(1)));
        File { from: self.region.start, next: [None; 3], last: [None; 3], map, done: false }
    }

    /// Starts another pass. The draws continue; [`Places::new`] would repeat them.
    pub(super) fn restart(&mut self, plan: &Plan) {
        let start = self.region.start;
        for file in &mut self.files {
            (file.from, file.done) = (start, false);
            file.reset();
        }
        (self.file, self.file_left, self.turn, self.zone_bytes) = (0, 0, 0, 0);
        if plan.config.repeat {
            self.row_left = 0;
        }
    }

    /// Moves the streams of a sequential job back, so that they reach their start after `bytes`.
    pub(super) fn set_back(&mut self, plan: &Plan, bytes: u64) {
        let Region { start, length } = self.region;
        for file in &mut self.files {
            for direction in 0..3 {
                let unit = plan.directions[direction].smallest;
                let round = (length / unit * unit).max(unit);
                let back = bytes / unit * unit % round;
                file.next[direction] = (back > 0).then(|| start + round - back);
            }
        }
    }

    /// Picks the file of the next request; `None` if all files are done.
    pub(super) fn pick_file(&mut self, plan: &Plan) -> Option<u32> {
        let count = self.files.len() as u64;
        if self.files.iter().all(|file| file.done) {
            return None;
        }
        if self.file_left > 0 && !self.files[self.file].done {
            self.file_left -= 1;
            return Some(self.file as u32);
        }
        let (at_once, random) = match plan.config.file_order {
            FioFileOrder::RoundRobin(at_once) => (at_once, false),
            FioFileOrder::Random(at_once) => (at_once, true),
            FioFileOrder::Sequential => (u64::MAX, false),
        };
        if random {
            while {
                self.file = self.file_draw.below(count) as usize;
                self.files[self.file].done
            } {}
        } else {
            while self.files[self.turn].done {
                self.turn = (self.turn + 1) % self.files.len();
            }
            self.file = self.turn;
            self.turn = (self.turn + 1) % self.files.len();
        }
        self.file_left = at_once.max(1) - 1;
        Some(self.file as u32)
    }

    /// The file has no more requests in this pass.
    pub(super) fn finish_file(&mut self) {
        self.files[self.file].done = true;
    }

    /// The next request of an operation in the picked file; `None` if the file is done.
    pub(super) fn next(&mut self, plan: &Plan, direction: usize) -> Option<Place> {
        self.enter_zone(plan, direction);
        let file = self.file as u32;
        if plan.config.rw == FioRw::TrimWrite && direction == WRITE {
            let state = &mut self.files[self.file];
            let start = state.last[TRIM]?;
            let bytes = state.next[TRIM]? - start;
            (state.last[WRITE], state.next[WRITE]) = (Some(start), Some(start + bytes));
            return Some(Place { file, start, bytes });
        }
        let (start, marks) = self.start(plan, direction)?;
        let one = &plan.directions[direction];
        let mut bytes = match self.length(plan, direction, start) {
            Some(bytes) => bytes,
            // A stream goes on behind the end of its zone.
            None if self.on_zones && !plan.config.random => one.smallest,
            None => return None,
        };
        let state = &mut self.files[self.file];
        if let Some(map) = state.map.as_mut().filter(|_| marks) {
            let block = (start - state.from) / one.smallest;
            let count = map.take(block, bytes.div_ceil(one.smallest));
            bytes = bytes.min((count * one.smallest).max(one.smallest));
        }
        (state.last[direction], state.next[direction]) = (Some(start), Some(start + bytes));
        self.zone_bytes += bytes;
        Some(Place { file, start, bytes })
    }

    /// Notes and returns the place to which the last request of an operation has moved.
    pub(super) fn moved(&mut self, direction: usize, place: Place) -> Place {
        let state = &mut self.files[self.file];
        state.last[direction] = Some(place.start);
        state.next[direction] = Some(place.start + place.bytes);
        place
    }

    /// Start of the next request, and whether the map has to mark it.
    fn start(&mut self, plan: &Plan, direction: usize) -> Option<(u64, bool)> {
        let config = &plan.config;
        if !config.random {
            return self.sequential(plan, direction).map(|start| (start, false));
        }
        if self.row_left > 0 {
            self.row_left -= 1;
            let state = &self.files[self.file];
            if config.identical {
                return Some((state.last[direction].unwrap_or(state.from), false));
            }
            return self.sequential_or_random(plan, direction);
        }
        self.row_left = config.in_a_row.max(1) - 1;
        let share = plan.directions[direction].random_percent;
        if share < 100 && self.is_random[direction].percent() > share {
            return self.sequential_or_random(plan, direction);
        }
        self.random(plan, direction).map(|start| (start, true))
    }

    /// Continues the stream, or takes a random place if the stream is at the end of the file.
    fn sequential_or_random(&mut self, plan: &Plan, direction: usize) -> Option<(u64, bool)> {
        let next = self.sequential(plan, direction);
        next.or_else(|| self.random(plan, direction)).map(|start| (start, false))
    }

    /// The next start of the stream.
    fn sequential(&mut self, plan: &Plan, direction: usize) -> Option<u64> {
        let config = &plan.config;
        let Region { start: from, length } = self.region;
        let state = &mut self.files[self.file];
        let mut start = state.next[direction].unwrap_or(state.from);
        let end = from + length;
        if start >= end && config.time_based {
            start = from;
        }
        let file_end = plan.file;
        if start >= file_end {
            return None;
        }
        let hole = config.hole;
        if hole > 0 && start > state.from {
            start = start.saturating_add(hole.unsigned_abs());
            start = if start >= file_end { state.from } else { start };
        } else if hole < 0 && state.next[direction].is_none() {
            // fio 3.33 counts the first hole from the start of the file.
            start += from.saturating_sub(hole.unsigned_abs());
        } else if hole < 0 {
            start = match start.checked_sub(hole.unsigned_abs()).filter(|start| *start >= from) {
                Some(before) if start > from => before,
                _ => end.saturating_sub(hole.unsigned_abs()).max(from),
            };
        }
        Some(start)
    }

    /// A random start.
    fn random(&mut self, plan: &Plan, direction: usize) -> Option<u64> {
        let one = &plan.directions[direction];
        let reach = plan.config.zones.map_or(self.region.length, |zones| zones.range.0);
        let count = blocks(reach.min(self.region.length), one.smallest, one.align);
        if count == 0 {
            return None;
        }
        if let Spread::Zoned(zones) = &one.spread {
            let (first, count) = zones[(self.zone.percent() - 1) as usize];
            let block = first + self.addresses.below(count);
            return Some(self.files[self.file].from + block * one.align);
        }
        if let Some(skew) = &mut self.skews[direction] {
            return Some(self.files[self.file].from + skew.draw() * one.align);
        }
        for _ in 0..2 {
            let mut block = self.addresses.below(count);
            let state = &mut self.files[self.file];
            let Some(map) = &mut state.map else {
                return Some(state.from + block * one.align);
            };
            // The map counts in smallest requests, starts in units of the alignment.
            let per = one.align / one.smallest.min(one.align).max(1);
            if map.is_taken(block * per) {
                match map.next_free(block * per) {
                    Some(free) => block = free / per,
                    None if plan.config.time_based => {
                        state.reset();
                        continue;
                    }
                    None => return None,
                }
            }
            return Some(state.from + block * one.align);
        }
        None
    }

    /// Size of a request at `start`; `None` if not even the smallest fits.
    fn length(&mut self, plan: &Plan, direction: usize, start: u64) -> Option<u64> {
        let one = &plan.directions[direction];
        let Region { start: from, length } = self.region;
        let end = from + length;
        let fits = |bytes: u64| start.checked_add(bytes).is_some_and(|behind| behind <= end);
        if !fits(one.smallest) {
            return None;
        }
        if one.smallest == one.largest && one.split.is_empty() {
            return Some(one.smallest);
        }
        loop {
            let draw = self.sizes[direction].next();
            let mut bytes = one.smallest;
            if one.split.is_empty() {
                bytes += ((u128::from(one.largest) * u128::from(draw)) >> 32) as u64;
            } else {
                let mut share = 0;
                for &(size, percent) in &one.split {
                    (bytes, share) = (size, share + percent);
                    if percent > 0 && draw / share <= u32::MAX / 100 && fits(size) {
                        break;
                    }
                }
            }
            if !plan.config.unaligned {
                bytes -= bytes % one.smallest;
            }
            bytes = bytes.min(one.largest);
            if fits(bytes) {
                return Some(bytes);
            }
        }
    }

    /// Moves to the next zone if this zone has had its share.
    fn enter_zone(&mut self, plan: &Plan, direction: usize) {
        let Some(zones) = plan.config.zones else { return };
        let (size, range) = (zones.size.0.max(1), zones.range.0.max(1));
        let start = self.region.start;
        let state = &mut self.files[self.file];
        if self.zone_bytes >= size {
            self.zone_bytes = 0;
            state.from += range + zones.skip.0;
            if state.from >= plan.file {
                state.from = start;
            }
            state.next[direction] = Some(state.from);
        }
        if state.next[direction].is_some_and(|next| next >= state.from + range) {
            state.next[direction] = Some(state.from);
        }
        if self.zone_bytes.is_multiple_of(range) {
            state.reset();
        }
    }

    /// Index of this copy of the job.
    pub(super) fn copy(&self) -> u32 {
        self.copy
    }
}

impl File {
    /// Forgets the touched blocks.
    fn reset(&mut self) {
        (self.next, self.last) = ([None; 3], [None; 3]);
        if let Some(map) = &mut self.map {
            map.clear();
        }
    }
}
