//! Jobs of fio, request by request as fio would issue them.
//!
//! A job decides by itself when its next request comes: after a pause, at its rate, when a flush is
//! over, or when one of its requests is complete. Tenants ask it through [`JobSource`]. Source:
//! fio's HOWTO, and the sequences that fio 3.33 issues.

mod choice;
mod draw;
mod job;
mod map;
mod place;
mod plan;
mod rates;
mod skew;
mod state;
mod zbd;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use flashlane_engine::{Rng, Time};

use super::footprint::{Footprint, PageSet};
use super::pace::PassEnd;
use super::{JobSource, JobStep, Planned, RequestOp, RequestSource};
use crate::config::{FIO_SEED, FioConfig, SyntheticConfig};
use flashlane_device::layout::{FlowSpace, SECTOR_BYTES, ZoneGeometry};
use flashlane_reading::Error;
use job::Job;
use plan::{Plan, READ, Region};
use state::Next;
use zbd::Zbd;

/// Jobs with more requests are not simulated in advance to find the pages that they touch.
const LOOKED_AT_MAX: u64 = 1 << 20;

/// Bits of the operation in the number of a request.
const OP_BITS: u32 = 4;

/// A job of fio and its copies.
#[derive(Clone, Debug)]
pub(crate) struct FioSource {
    plan: Plan,
    /// The zones that requests go to, if the job knows zones.
    zones: Option<Zbd>,
    jobs: Vec<Job>,
    /// Copies that may have something to do, in the order in which they are asked.
    ready: VecDeque<u32>,
    /// Whether a copy is in `ready`.
    is_ready: Vec<bool>,
    /// Copies that wait for a time.
    waiting: BinaryHeap<Reverse<(Time, u32)>>,
    /// Requests that were submitted and are not complete.
    outstanding: u64,
    end: PassEnd,
    space: FlowSpace,
    /// True in the past of the flow, where nothing ends.
    past: bool,
    /// Bytes of the rounds before this one.
    rounds: u64,
    /// True if the past consists of passes like that of the run.
    repeats: bool,
    /// Requests issued in such a past.
    issued: u64,
}

impl FioSource {
    /// A source for a valid configuration. `seed` is the root seed of the run, which matters only
    /// for jobs whose draws do not repeat. `flow` is the index of the flow.
    pub(crate) fn new(
        synthetic: &SyntheticConfig,
        config: &FioConfig,
        space: &FlowSpace,
        seed: u64,
        flow: u64,
    ) -> Self {
        let plan = Plan::new(synthetic, config, space.sectors, space.zones);
        let seed = match synthetic.seed.or(config.seed) {
            Some(own) => own,
            None if config.repeat => FIO_SEED,
            None => Rng::stream(seed, "workload.fio", flow).next_u64(),
        };
        let copies = config.jobs.max(1);
        Self {
            jobs: (0..copies).map(|copy| Job::new(&plan, seed, copy)).collect(),
            ready: (0..copies).collect(),
            is_ready: vec![true; copies as usize],
            waiting: BinaryHeap::new(),
            outstanding: 0,
            end: PassEnd::new(synthetic.requests, synthetic.duration.map(|span| span.0)),
            zones: Zbd::new(config, space),
            plan,
            space: space.clone(),
            past: false,
            rounds: 0,
            repeats: false,
            issued: 0,
        }
    }

    /// The part of the space that the requests touch.
    pub(crate) fn footprint(&self, sectors_per_page: u64) -> Footprint {
        if self.zones.is_some()
            && let Some(zone) = self.space.zones
        {
            return self.zones_touched(zone);
        }
        let config = &self.plan.config;
        let Region { start, length: bytes } = self.plan.region(0);
        let alone = config.files <= 1 && (config.jobs <= 1 || !config.own_files);
        if start == 0 && alone && bytes >= self.space.sectors * SECTOR_BYTES {
            let sectors = self.space.sectors;
            return if config.random { Footprint::Whole } else { Footprint::Streaming { sectors } };
        }
        // fio lays its files out before it reads them, so the pages that it reads hold data.
        let mut pages = PageSet::new(self.space.sectors.div_ceil(sectors_per_page.max(1)));
        if self.plan.does(READ) && self.requests_at_most() <= LOOKED_AT_MAX {
            let mut ahead = self.clone();
            while let Ok(Some(planned)) = ahead.next(Time::ZERO) {
                let last = planned.sector + u64::from(planned.sectors.max(1)) - 1;
                pages.insert_range(planned.sector / sectors_per_page, last / sectors_per_page);
            }
            return Footprint::Pages(pages);
        }
        for copy in 0..config.jobs.max(1) {
            for file in 0..config.files.max(1) {
                let Region { start, length: bytes } = self.plan.region(copy);
                let from = self.plan.file_start(copy, file) + start;
                let (first, sectors) = self.plan.sectors(from, bytes.max(1));
                let last = first + sectors - 1;
                pages.insert_range(first / sectors_per_page, last / sectors_per_page);
            }
        }
        Footprint::Pages(pages)
    }

    /// The pages of all zones of the job.
    fn zones_touched(&self, zone: ZoneGeometry) -> Footprint {
        let mut pages = PageSet::new(self.space.pages);
        let (size, pages_each) = (zone.size * SECTOR_BYTES, u64::from(zone.pages));
        for copy in 0..self.plan.config.jobs.max(1) {
            for file in 0..self.plan.config.files.max(1) {
                let Region { start, length } = self.plan.region(copy);
                let first = (self.plan.file_start(copy, file) + start).div_ceil(size);
                let end = (first + length / size).min(self.space.zone_count());
                if first < end {
                    pages.insert_range(first * pages_each, end * pages_each - 1);
                }
            }
        }
        Footprint::Pages(pages)
    }

    /// Most requests of all copies without flushes; time may end them earlier.
    fn requests_at_most(&self) -> u64 {
        let (plan, jobs) = (&self.plan, self.jobs.len() as u64);
        if plan.config.time_based {
            return u64::MAX;
        }
        let smallest = plan.directions.iter().map(|one| one.smallest).min().unwrap_or(1);
        (plan.limit / smallest).min(plan.requests).saturating_mul(jobs)
    }

    /// Number of requests of a random pass that is the same each time, if it is short enough to be
    /// repeated in the past. The caches then start with the contents that such a pass leaves.
    fn pass_that_repeats(&self) -> Option<u64> {
        let config = &self.plan.config;
        // A pass on zones depends on what the pass before it has left there.
        if self.zones.is_some()
            || !(config.random && config.repeat)
            || self.requests_at_most() > LOOKED_AT_MAX
        {
            return None;
        }
        let mut pass = Self { past: false, ..self.clone() };
        pass.jobs.iter_mut().for_each(|job| job.restart(&self.plan, Time::ZERO));
        pass.wake_all();
        let requests = std::iter::from_fn(|| pass.next(Time::ZERO).ok().flatten()).count() as u64;
        (requests > 0).then_some(requests)
    }

    /// A request of a copy for the drive.
    fn planned(&mut self, copy: u32, op: RequestOp, place: place::Place, now: Time) -> Planned {
        if op == RequestOp::Flush {
            return Planned { arrival: now, op, ..Planned::default() };
        }
        let start = self.plan.file_start(copy, place.file) + place.start;
        if op == RequestOp::Trim && self.zones.is_some() {
            return to_zone(RequestOp::ZoneReset, start, now);
        }
        let (sector, sectors) = self.plan.sectors(start, place.bytes);
        let sectors = u32::try_from(sectors).unwrap_or(u32::MAX);
        let directive = self.jobs[copy as usize].directive(&self.plan, op, place);
        Planned { arrival: now, op, sector, sectors, queue: 0, directive }
    }

    /// Starts a new pass of every copy.
    fn start_jobs(&mut self, now: Time) {
        self.rounds += self.jobs.iter().map(Job::gone).sum::<u64>();
        let plan = &self.plan;
        self.jobs.iter_mut().for_each(|job| job.restart(plan, now));
        self.wake_all();
    }

    /// Marks a copy to be asked again.
    fn wake(&mut self, copy: u32) {
        if !std::mem::replace(&mut self.is_ready[copy as usize], true) {
            self.ready.push_back(copy);
        }
    }

    /// Marks every copy to be asked again.
    fn wake_all(&mut self) {
        self.waiting.clear();
        (0..self.jobs.len() as u32).for_each(|copy| self.wake(copy));
    }

    /// Submits a request of a copy, which was drawn as `op`.
    fn submit(&mut self, copy: u32, op: RequestOp, planned: Planned) -> JobStep {
        self.end.count();
        self.outstanding += 1;
        JobStep::Submit(planned, u64::from(copy) << OP_BITS | op as u64)
    }

    /// The next step of the copies at `now`. `is_late`: their time is over.
    fn step_at(&mut self, now: Time, is_late: bool) -> JobStep {
        while let Some(Reverse((at, copy))) = self.waiting.peek().copied() {
            if at > now && !is_late {
                break;
            }
            self.waiting.pop();
            self.wake(copy);
        }
        while let Some(&copy) = self.ready.front() {
            match self.jobs[copy as usize].step(&self.plan, &mut self.zones, now, is_late) {
                Next::Issue(op, place) => {
                    let planned = self.planned(copy, op, place, now);
                    return self.submit(copy, op, planned);
                }
                Next::Manage(op, zone) => return self.submit(copy, op, to_zone(op, zone, now)),
                Next::Wait(until) => self.waiting.push(Reverse((until, copy))),
                Next::Hold | Next::End => {}
            }
            self.ready.pop_front();
            self.is_ready[copy as usize] = false;
        }
        if let Some(Reverse((at, _))) = self.waiting.peek() {
            return JobStep::Wait((*at).min(self.end.ends_at()));
        }
        if self.outstanding > 0 { JobStep::Hold } else { JobStep::End }
    }
}

/// A command to the zone that starts at `start` in the space of the flow. Unit: bytes.
fn to_zone(op: RequestOp, start: u64, now: Time) -> Planned {
    Planned { arrival: now, op, sector: start / SECTOR_BYTES, ..Planned::default() }
}

impl JobSource for FioSource {
    fn step(&mut self, now: Time) -> JobStep {
        self.step_at(now, self.end.is_late(now) || self.end.is_exhausted())
    }

    fn completed(&mut self, cookie: u64) {
        let copy = (cookie >> OP_BITS) as u32;
        let op = (cookie & ((1 << OP_BITS) - 1)) as usize;
        let op = RequestOp::ALL.get(op).copied().unwrap_or_default();
        self.outstanding -= 1;
        self.jobs[copy as usize].complete(op);
        self.wake(copy);
    }
}

impl RequestSource for FioSource {
    /// The next request, as if the job waited for nothing.
    fn next(&mut self, now: Time) -> Result<Option<Planned>, Error> {
        let mut at = now;
        let is_late = self.end.is_late(now) || self.end.is_exhausted();
        loop {
            match self.step_at(at, is_late) {
                JobStep::Submit(planned, cookie) => {
                    self.completed(cookie);
                    // Gives the next copy its turn.
                    self.ready.rotate_left(1);
                    self.issued += 1;
                    return Ok(Some(planned));
                }
                JobStep::Wait(until) => at = until.max(at + Time(1)),
                JobStep::Hold | JobStep::End if self.past => self.start_jobs(at),
                JobStep::Hold | JobStep::End => return Ok(None),
            }
        }
    }

    fn restart(&mut self, now: Time) -> Result<(), Error> {
        self.end.restart(now);
        self.start_jobs(now);
        Ok(())
    }

    fn closed_loop(&self) -> Option<u32> {
        Some(self.plan.depth.saturating_mul(self.jobs.len() as u32))
    }

    fn job(&mut self) -> Option<&mut dyn JobSource> {
        Some(self)
    }

    fn time_limit(&self) -> Option<Time> {
        self.end.time_limit()
    }

    fn endless(&self) -> bool {
        self.plan.config.time_based && self.end.never()
    }

    fn progress(&self, now: Time) -> f64 {
        let all = self.plan.limit.saturating_mul(self.jobs.len() as u64).max(1);
        let gone: u64 = self.jobs.iter().map(Job::gone).sum();
        let share = if self.plan.config.time_based { 0.0 } else { gone as f64 / all as f64 };
        self.end.share(now).max(share.min(1.0))
    }

    fn diverge(&mut self, back: u64) -> Result<(), Error> {
        let pass = self.pass_that_repeats();
        self.past = true;
        self.end = PassEnd::new(None, None);
        if let Some(requests) = pass {
            for _ in 0..(requests - back % requests) % requests {
                self.next(Time::ZERO)?;
            }
            (self.repeats, self.issued) = (true, 0);
            return Ok(());
        }
        // Addresses that repeat have a fixed seed, so the past would equal the run.
        self.plan.config.repeat = false;
        self.rounds = 0;
        let bytes = back.saturating_mul(SECTOR_BYTES) / self.jobs.len() as u64;
        let plan = &self.plan;
        self.jobs.iter_mut().for_each(|job| job.diverge(plan, bytes));
        Ok(())
    }

    fn gone(&self) -> u64 {
        if self.repeats {
            return self.issued;
        }
        if self.plan.config.random {
            return 0;
        }
        (self.rounds + self.jobs.iter().map(Job::gone).sum::<u64>()) / SECTOR_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Directive;
    use crate::config::{FioExtent, FioPlacement, FioRw};
    use flashlane_units::ByteSize;

    /// A space of 512 MiB without zones.
    pub(super) fn space() -> FlowSpace {
        FlowSpace {
            sectors: 1 << 20,
            pages: 1 << 17,
            ..FlowSpace::empty([vec![0], vec![0], vec![0], vec![0]])
        }
    }

    fn source(config: FioConfig) -> FioSource {
        let synthetic = SyntheticConfig { queue_depth: Some(1), ..SyntheticConfig::default() };
        FioSource::new(&synthetic, &config, &space(), 7, 0)
    }

    fn starts(source: &mut FioSource, count: usize) -> Vec<u64> {
        let next = |_| source.next(Time::ZERO).expect("no trace").map(|one| one.sector);
        (0..count).map_while(next).collect()
    }

    fn config(random: bool) -> FioConfig {
        let size = Some(FioExtent::Bytes(ByteSize(1 << 20)));
        FioConfig { random, rw: FioRw::Write, size, ..FioConfig::default() }
    }

    #[test]
    fn a_pass_ends_and_starts_over_in_the_same_order() {
        let mut source = source(config(true));
        let first = starts(&mut source, 1000);
        assert_eq!(first.len(), 256);
        assert_eq!(source.progress(Time::ZERO), 1.0);
        source.restart(Time(5)).expect("no trace");
        assert_eq!(starts(&mut source, 1000), first);
    }

    /// The identifiers of writes; 99 for none.
    fn handles(source: &mut FioSource, count: usize) -> Vec<u8> {
        let next = |_| source.next(Time::ZERO).expect("no trace").expect("a request");
        let id = |one: Planned| match one.directive {
            Directive::NONE => 99,
            directive => directive.handle().get(),
        };
        (0..count).map(next).map(id).collect()
    }

    #[test]
    fn writes_to_each_file_take_the_identifiers_in_turn() {
        let placement = Some(FioPlacement { ids: vec![1, 3, 4], random: false });
        let placed = FioConfig { placement: placement.clone(), ..config(false) };
        assert_eq!(handles(&mut source(placed.clone()), 7), [1, 3, 4, 1, 3, 4, 1]);
        let two = FioConfig { files: 2, ..placed.clone() };
        assert_eq!(handles(&mut source(two), 6), [1, 1, 3, 3, 4, 4], "each file by itself");
        let two = FioConfig { jobs: 2, ..placed.clone() };
        assert_eq!(handles(&mut source(two), 6), [1, 1, 3, 3, 4, 4], "each copy by itself");
        let loops = FioConfig { loops: 2, ..placed.clone() };
        let all = handles(&mut source(loops), 512);
        assert_eq!((all[255], all[256]), (1, 3), "a loop goes on where the one before ended");
        let mixed = FioConfig { rw: FioRw::ReadWrite, ..placed };
        let all = handles(&mut source(mixed), 200);
        let writes: Vec<u8> = all.iter().copied().filter(|id| *id != 99).collect();
        assert!(writes.len() > 50 && writes.len() < 150, "reads have none: {all:?}");
        assert_eq!(writes[..4], [1, 3, 4, 1]);
    }

    #[test]
    fn identifiers_that_are_drawn_leave_other_draws_as_they_are() {
        let placement = Some(FioPlacement { ids: vec![0, 2, 64], random: true });
        let placed = FioConfig { placement, ..config(true) };
        assert_eq!(
            starts(&mut source(placed.clone()), 256),
            starts(&mut source(config(true)), 256)
        );
        let mut first = source(placed.clone());
        let drawn = handles(&mut first, 256);
        for id in [0, 2, 64] {
            let count = drawn.iter().filter(|one| **one == id).count();
            assert!((60..110).contains(&count), "{id}: {count}");
        }
        first.restart(Time(5)).expect("no trace");
        assert_eq!(handles(&mut first, 256), drawn, "a pass has equal draws");
        let other = handles(&mut source(FioConfig { seed: Some(5), ..placed }), 256);
        assert_ne!(other, drawn);
    }

    #[test]
    fn the_past_of_passes_that_repeat_ends_where_the_run_begins() {
        let run = starts(&mut source(config(true)), 256);
        let mut past = source(config(true));
        past.diverge(600).expect("no trace");
        let before = starts(&mut past, 600);
        assert_eq!((past.gone(), &before[600 - 256..]), (600, &run[..]));
        assert_eq!(starts(&mut past, 256), run);
    }

    #[test]
    fn the_past_is_not_the_run_and_has_no_end() {
        let mut past = source(FioConfig { repeat: false, ..config(true) });
        past.diverge(0).expect("no trace");
        let other = starts(&mut past, 1000);
        assert_eq!(other.len(), 1000);
        assert_ne!(other[..256], starts(&mut source(config(true)), 256)[..]);
        let mut stream = source(config(false));
        stream.diverge(8 * 10).expect("no trace");
        let before = starts(&mut stream, 12);
        assert_eq!(before[..3], [8 * 246, 8 * 247, 8 * 248]);
        assert_eq!((before[10], before[11], stream.gone()), (0, 8, 8 * 12));
    }

    #[test]
    fn copies_with_files_of_their_own_touch_all_of_them() {
        let (file_size, jobs) = (Some(ByteSize(1 << 20)), 4);
        let mut many = source(FioConfig { file_size, jobs, ..config(true) });
        assert_eq!(many.closed_loop(), Some(4));
        let Footprint::Pages(pages) = many.footprint(8) else { panic!("pages") };
        assert_eq!(pages.count(), 4 * 256);
        let mut all = starts(&mut many, 5000);
        all.sort_unstable();
        assert_eq!(all, (0..1024).map(|page| page * 8).collect::<Vec<u64>>());
        let mut shared = source(FioConfig { own_files: false, jobs, ..config(true) });
        assert_eq!(starts(&mut shared, 5000).len(), 1024);
        let Footprint::Pages(pages) = shared.footprint(8) else { panic!("pages") };
        assert_eq!(pages.count(), 256);
        let few = FioConfig { rw: FioRw::Read, number_ios: Some(10), ..config(true) };
        let Footprint::Pages(pages) = source(few).footprint(8) else { panic!("pages") };
        assert_eq!(pages.count(), 10, "those that are read");
        let whole = FioConfig { size: None, ..config(true) };
        assert_eq!(source(whole).footprint(8), Footprint::Whole);
    }
}
