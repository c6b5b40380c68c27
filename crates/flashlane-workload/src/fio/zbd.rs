//! Jobs on zones (`zonemode=zbd`): where a request goes so that the drive takes it.
//!
//! The job draws its requests as it does without zones; here each of them moves to a place that the
//! rules of zones allow. A write goes to the write pointer of its zone, or of another zone that is
//! being written, if the job may not begin one more. A zone is reset before it is written again. A
//! zone with less room than the smallest write is finished. A read goes to what its zone holds, or
//! to the next zone that holds something. A trim resets its zone. A request ends at the end of its
//! zone. The copies of a job share the write pointers.
//!
//! The job does not know what zones hold at the start of the run. It reads such a zone as if it
//! were full, and resets it before it writes it, which does nothing to an empty zone. Source: fio's
//! HOWTO, and the writes that fio 3.33 issues to zones that it emulates in a file.

use flashlane_device::layout::{FlowSpace, SECTOR_BYTES, ZoneGeometry};
use flashlane_units::RequestOp;

use super::place::Place;
use super::plan::{Plan, READ, WRITE};
use crate::config::{FioConfig, FioZbd};

/// The zones of the space of a job. Unit: bytes.
#[derive(Clone, Debug)]
pub(super) struct Zbd {
    size: u64,
    capacity: u64,
    zones: Vec<Zone>,
    /// Zones that a writer may write at a time.
    each: usize,
    /// For each file of each copy: the zones that it began and that are not full, in the order in
    /// which it began them.
    open: Vec<Vec<usize>>,
    /// A zone that must be finished before the next write.
    to_finish: Option<usize>,
    read_beyond: bool,
}

/// A zone.
#[derive(Clone, Copy, Debug, Default)]
struct Zone {
    /// Bytes written; `None` as long as the job has not reset the zone.
    written: Option<u64>,
    /// The zone is in a list of `open`.
    is_open: bool,
}

/// A request that moves to its zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) copy: u32,
    pub(super) direction: usize,
    pub(super) place: Place,
    /// No other request of the copy is under way.
    pub(super) is_alone: bool,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// The request goes to this place.
    To(Place),
    /// A command to a zone comes first, and then the request is asked for again. The zone is named
    /// by its start in the space of the flow. Unit: bytes.
    After(RequestOp, u64),
    /// The request is asked for again when another one of the copy is complete: no zone is reset
    /// while the copy may still be writing to it.
    Later,
    /// The file has no place for it.
    Nowhere,
}

/// The zones of a file that a request may go to.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// Start of the file in the space of the flow. Unit: bytes.
    base: u64,
    first: usize,
    end: usize,
    /// The zone of the request, and the place in it. Unit: bytes.
    zone: usize,
    inside: u64,
    /// Behind the last zone comes the first one.
    wraps: bool,
}

impl Reach {
    /// The zones from one on, in the order in which a request looks at them.
    fn from(&self, zone: usize) -> impl Iterator<Item = usize> + use<> {
        let again = if self.wraps { self.first..zone.min(self.end) } else { 0..0 };
        (zone.max(self.first)..self.end).chain(again)
    }
}

impl Zbd {
    /// The zones of a job; `None` without `zonemode=zbd`, and on a drive without zones.
    pub(super) fn new(config: &FioConfig, space: &FlowSpace) -> Option<Self> {
        let (zbd, geometry): (FioZbd, ZoneGeometry) = (config.zbd?, space.zones?);
        let writers = config.jobs.max(1) as usize * config.files.max(1) as usize;
        let each = zbd.open_for_file(geometry.share, config.jobs, config.files);
        Some(Self {
            size: geometry.size * SECTOR_BYTES,
            capacity: geometry.capacity * SECTOR_BYTES,
            zones: vec![Zone::default(); space.zone_count() as usize],
            each: each as usize,
            open: vec![Vec::new(); writers],
            to_finish: None,
            read_beyond: zbd.read_beyond,
        })
    }

    /// Moves a request to a place that the drive accepts, and notes what it does to its zone.
    pub(super) fn go(&mut self, plan: &Plan, request: Request) -> Moved {
        let Request { copy, direction, place, is_alone } = request;
        let reach = self.reach(plan, request);
        if reach.first >= reach.end {
            return Moved::Nowhere;
        }
        let found = match direction {
            READ => self.read(plan.config.random, &reach, place.bytes),
            WRITE => {
                if let Some(zone) = self.to_finish.take() {
                    return Moved::After(RequestOp::ZoneFinish, zone as u64 * self.size);
                }
                let writer = (copy * plan.config.files.max(1) + place.file) as usize;
                match self.choose(writer, plan.config.random, &reach) {
                    None => None,
                    Some((_, true)) if !is_alone => return Moved::Later,
                    Some((zone, true)) => {
                        self.begin(writer, zone);
                        return Moved::After(RequestOp::ZoneReset, zone as u64 * self.size);
                    }
                    Some((zone, false)) => {
                        self.begin(writer, zone);
                        Some(self.write(zone, place.bytes, plan.directions[WRITE].smallest))
                    }
                }
            }
            _ => self.trim(&reach),
        };
        match found {
            Some((start, bytes)) => Moved::To(Place { start: start - reach.base, bytes, ..place }),
            None => Moved::Nowhere,
        }
    }

    fn reach(&self, plan: &Plan, Request { copy, place, .. }: Request) -> Reach {
        let base = plan.file_start(copy, place.file);
        let region = plan.region(copy);
        let from = base + region.start;
        let first = from.div_ceil(self.size) as usize;
        let end = ((from + region.length) / self.size).min(self.zones.len() as u64) as usize;
        let start = base + place.start;
        let (zone, inside) = ((start / self.size) as usize, start % self.size);
        let wraps = plan.config.random || plan.config.time_based;
        Reach { base, first, end, zone, inside, wraps }
    }

    /// Bytes of a zone that a read may ask for.
    fn readable(&self, zone: usize) -> u64 {
        match self.zones[zone].written {
            Some(written) if !self.read_beyond => written,
            _ => self.capacity,
        }
    }

    /// The place of a read: its own if the zone holds that, or the next one that holds something.
    fn read(&self, random: bool, reach: &Reach, bytes: u64) -> Option<(u64, u64)> {
        let is_in = reach.zone < reach.end;
        let is_behind = is_in && !random && reach.inside >= self.readable(reach.zone);
        let first = reach.zone + usize::from(is_behind);
        let zone = reach.from(first).find(|&zone| self.readable(zone) > 0)?;
        let held = self.readable(zone);
        let inside = match zone == reach.zone && !is_behind {
            true if !random || reach.inside + bytes <= held => reach.inside,
            // What would be beyond the data goes around.
            true if held >= bytes => reach.inside / bytes % (held / bytes) * bytes,
            _ => 0,
        };
        Some((zone as u64 * self.size + inside, bytes.min(held - inside)))
    }

    /// The zone of a write, and whether it has to be reset first.
    fn choose(&self, writer: usize, random: bool, reach: &Reach) -> Option<(usize, bool)> {
        // A stream leaves a zone that has become full.
        let is_behind = !random && reach.inside > 0 && reach.zone < reach.end && {
            !self.zones[reach.zone].is_open && self.zones[reach.zone].written != Some(0)
        };
        let zone = reach.from(reach.zone + usize::from(is_behind)).next()?;
        if self.zones[zone].is_open {
            return Some((zone, false));
        }
        let own = &self.open[writer];
        let is_within = |zone: &&usize| (reach.first..reach.end).contains(*zone);
        let within: Vec<usize> = own.iter().filter(is_within).copied().collect();
        if own.len() >= self.each && !within.is_empty() {
            // The zones of the region are shared out evenly among those that may be written.
            let nth = (zone - reach.first) * within.len() / (reach.end - reach.first);
            return Some((within[nth], false));
        }
        Some((zone, self.zones[zone].written != Some(0)))
    }

    /// Opens an empty zone, unless the zone is open already.
    fn begin(&mut self, writer: usize, zone: usize) {
        if !self.zones[zone].is_open {
            self.open[writer].push(zone);
            self.zones[zone] = Zone { written: Some(0), is_open: true };
        }
    }

    /// Writes at the pointer of a zone. A zone with less room than the `smallest` write is full.
    fn write(&mut self, zone: usize, bytes: u64, smallest: u64) -> (u64, u64) {
        let written = self.zones[zone].written.unwrap_or(0);
        let bytes = bytes.min(self.capacity - written);
        let end = written + bytes;
        self.zones[zone].written = Some(end);
        if end == self.capacity {
            self.close(zone);
        } else if self.capacity - end < smallest {
            self.to_finish = Some(zone);
            self.close(zone);
        }
        (zone as u64 * self.size + written, bytes)
    }

    /// Resets a zone.
    fn trim(&mut self, reach: &Reach) -> Option<(u64, u64)> {
        let zone = reach.from(reach.zone + usize::from(reach.inside > 0)).next()?;
        self.close(zone);
        self.zones[zone].written = Some(0);
        self.to_finish = self.to_finish.filter(|&one| one != zone);
        Some((zone as u64 * self.size, self.size))
    }

    /// Takes a zone from the list of its writer.
    fn close(&mut self, zone: usize) {
        if std::mem::take(&mut self.zones[zone].is_open) {
            self.open.iter_mut().for_each(|own| own.retain(|&one| one != zone));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use flashlane_engine::Time;
    use flashlane_units::{ByteSize, RequestOp};

    use super::*;
    use crate::config::{FioDirection, FioExtent, FioRw, SyntheticConfig};
    use crate::fio::FioSource;
    use crate::fio::tests::space;
    use crate::{Planned, RequestSource};

    /// Zones of 32 KiB, of which 24 KiB can be written. Unit: sectors.
    const ZONES: ZoneGeometry =
        ZoneGeometry { size: 64, capacity: 48, pages: 6, size_pages: 8, share: 3 };
    /// Zones of the space.
    const COUNT: u64 = 8;

    fn source(config: FioConfig) -> FioSource {
        let synthetic = SyntheticConfig { queue_depth: Some(4), ..SyntheticConfig::default() };
        let (sectors, pages) = (COUNT * ZONES.size, COUNT * u64::from(ZONES.pages));
        let space = FlowSpace { sectors, pages, zones: Some(ZONES), ..space() };
        FioSource::new(&synthetic, &config, &space, 7, 0)
    }

    fn config(rw: FioRw, random: bool) -> FioConfig {
        FioConfig { rw, random, zbd: Some(FioZbd::default()), ..FioConfig::default() }
    }

    fn bytes(bytes: u64) -> Option<FioExtent> {
        Some(FioExtent::Bytes(ByteSize(bytes)))
    }

    fn zones(count: u64) -> Option<FioExtent> {
        Some(FioExtent::Zones(count))
    }

    /// All requests of a pass, at most `most`, after a check against the rules of zones: a write
    /// begins at the write pointer, in a zone that was reset or is not full. Returns the requests
    /// and the most zones that were written in part at a time.
    fn checked(source: &mut FioSource, most: usize) -> (Vec<Planned>, usize) {
        let mut written: BTreeMap<u64, u64> = BTreeMap::new();
        let mut open = 0;
        let mut all = Vec::new();
        while all.len() < most
            && let Some(planned) = source.next(Time::ZERO).expect("no trace")
        {
            let (zone, inside) = (planned.sector / ZONES.size, planned.sector % ZONES.size);
            let end = inside + u64::from(planned.sectors);
            assert!(end <= ZONES.capacity, "requests end with the capacity: {planned:?}");
            match planned.op {
                RequestOp::ZoneReset => {
                    assert_eq!((inside, planned.sectors), (0, 0));
                    written.insert(zone, 0);
                }
                RequestOp::ZoneFinish => {
                    assert_eq!((inside, planned.sectors), (0, 0));
                    written.insert(zone, ZONES.capacity);
                }
                RequestOp::Write => {
                    assert_eq!(written.get(&zone), Some(&inside), "{planned:?} in {written:?}");
                    written.insert(zone, end);
                }
                _ => {}
            }
            let in_part = |&&sectors: &&u64| sectors > 0 && sectors < ZONES.capacity;
            open = open.max(written.values().filter(in_part).count());
            all.push(planned);
        }
        (all, open)
    }

    fn starts(all: &[Planned], op: RequestOp) -> Vec<u64> {
        all.iter().filter(|one| one.op == op).map(|one| one.sector).collect()
    }

    #[test]
    fn a_stream_of_writes_goes_from_zone_to_zone() {
        let write = FioDirection {
            smallest: ByteSize(10 << 10),
            largest: ByteSize(10 << 10),
            ..FioDirection::default()
        };
        let job = FioConfig { write, size: zones(2), loops: 2, ..config(FioRw::Write, false) };
        let mut job = source(FioConfig { offset: FioExtent::Zones(1), ..job });
        let (all, open) = checked(&mut job, 1000);
        let found: Vec<_> = all.iter().map(|one| (one.op, one.sector, one.sectors)).collect();
        let mut expected = Vec::new();
        for zone in [64, 128, 64, 128] {
            expected.push((RequestOp::ZoneReset, zone, 0));
            expected.push((RequestOp::Write, zone, 20));
            expected.push((RequestOp::Write, zone + 20, 20));
            // The zone has room for 8 sectors, and no write is so small.
            expected.push((RequestOp::ZoneFinish, zone, 0));
        }
        assert_eq!(found, expected);
        assert_eq!(open, 1);
    }

    #[test]
    fn lengths_are_rounded_to_whole_zones() {
        let job = FioConfig {
            offset: FioExtent::Bytes(ByteSize(4096)),
            size: bytes(80 << 10),
            ..config(FioRw::Write, false)
        };
        let (all, _) = checked(&mut source(job), 1000);
        assert_eq!(starts(&all, RequestOp::ZoneReset), [64, 128], "from the next zone on");
        let none = FioConfig { size: bytes(16 << 10), ..config(FioRw::Write, false) };
        assert_eq!(checked(&mut source(none), 10).0, []);
    }

    #[test]
    fn random_writes_go_to_as_many_zones_as_may_be_open() {
        for (max, expected) in [(None, 3), (Some(1), 1), (Some(5), 5)] {
            let zbd = Some(FioZbd { max_open: max, ..FioZbd::default() });
            let job = FioConfig { zbd, loops: 20, ..config(FioRw::Write, true) };
            let (all, open) = checked(&mut source(job), 100_000);
            assert_eq!(open, expected);
            assert_eq!(starts(&all, RequestOp::Write).len(), 20 * 64, "20 passes of 64 pages");
            let zones: std::collections::BTreeSet<u64> =
                all.iter().map(|one| one.sector / ZONES.size).collect();
            assert_eq!(zones.len() as u64, COUNT, "each zone has its turn");
        }
        let each = Some(FioZbd { max_open_each: Some(2), max_open: Some(8), ..FioZbd::default() });
        let job = FioConfig {
            zbd: each,
            jobs: 3,
            own_files: false,
            loops: 9,
            ..config(FioRw::Write, true)
        };
        assert_eq!(checked(&mut source(job), 100_000).1, 6, "two for each copy");
    }

    #[test]
    fn copies_share_the_write_pointers() {
        for random in [false, true] {
            let job = FioConfig { jobs: 3, own_files: false, ..config(FioRw::Write, random) };
            let (all, _) = checked(&mut source(job), 100_000);
            // Streams in the same zones go through them together.
            let least = if random { 100 } else { 48 };
            assert!(starts(&all, RequestOp::Write).len() >= least);
            let own = FioConfig { jobs: 2, size: zones(3), ..config(FioRw::Write, random) };
            let (all, _) = checked(&mut source(own), 100_000);
            // A random pass has as many bytes as the zones, and a stream as many as they hold.
            let each = if random { 24 } else { 18 };
            let behind = |start: &u64| *start >= 4 * ZONES.size;
            let writes = starts(&all, RequestOp::Write);
            assert_eq!(
                (writes.iter().filter(|one| behind(one)).count(), writes.len()),
                (each, 2 * each)
            );
        }
    }

    #[test]
    fn reads_go_to_what_zones_hold() {
        let (all, _) = checked(&mut source(config(FioRw::Read, false)), 1000);
        let pages = (0..COUNT).flat_map(|zone| (0..6).map(move |page| zone * 64 + page * 8));
        assert!(starts(&all, RequestOp::Read).into_iter().eq(pages), "all that zones may hold");
        let (all, _) = checked(&mut source(config(FioRw::Read, true)), 1000);
        assert_eq!(all.len(), 64);
        let mut mix = source(FioConfig { loops: 50, ..config(FioRw::ReadWrite, true) });
        let mut written = BTreeMap::new();
        for one in checked(&mut mix, 100_000).0 {
            let (zone, end) = (one.sector / 64, one.sector % 64 + u64::from(one.sectors));
            match one.op {
                RequestOp::Read => {
                    assert!(end <= written.get(&zone).copied().unwrap_or(48), "{one:?}");
                }
                _ => drop(written.insert(zone, end)),
            }
        }
        assert_eq!(written.len() as u64, COUNT);
        let zbd = Some(FioZbd { read_beyond: true, ..FioZbd::default() });
        let mut mix = source(FioConfig { zbd, size: zones(1), ..config(FioRw::ReadWrite, true) });
        assert!(checked(&mut mix, 100_000).0.len() >= 6);
    }

    #[test]
    fn a_mix_writes_where_nothing_can_be_read() {
        let job = FioConfig { size: zones(1), ..config(FioRw::ReadWrite, true) };
        let (all, _) = checked(&mut source(FioConfig { read_percent: 90, loops: 9, ..job }), 1000);
        let bytes: u64 = all.iter().map(|one| u64::from(one.sectors)).sum();
        assert_eq!(bytes, 9 * 64);
    }

    #[test]
    fn trims_reset_whole_zones() {
        let trim = FioDirection {
            smallest: ByteSize(32 << 10),
            largest: ByteSize(32 << 10),
            ..FioDirection::default()
        };
        for random in [false, true] {
            let job = FioConfig {
                read: trim.clone(),
                write: trim.clone(),
                trim: trim.clone(),
                ..config(FioRw::Trim, random)
            };
            let mut found = starts(&checked(&mut source(job.clone()), 100).0, RequestOp::ZoneReset);
            found.sort_unstable();
            assert!(found.into_iter().eq((0..COUNT).map(|zone| zone * 64)), "each zone once");
            let both = FioConfig { rw: FioRw::TrimWrite, ..job };
            let (all, _) = checked(&mut source(both), 100);
            assert_eq!(all.len() as u64, 2 * COUNT, "a reset and a write of the whole zone");
        }
    }

    #[test]
    fn time_based_jobs_go_around_and_later_passes_reset_again() {
        for (rw, random) in [(FioRw::Read, false), (FioRw::Write, false), (FioRw::Write, true)] {
            let job = FioConfig { time_based: true, size: zones(1), ..config(rw, random) };
            assert_eq!(checked(&mut source(job), 1000).0.len(), 1000);
        }
        let mut job = source(FioConfig { size: zones(1), ..config(FioRw::Write, false) });
        let first = checked(&mut job, 1000).0;
        job.restart(Time(1)).expect("no trace");
        let again = checked(&mut job, 1000).0;
        assert_eq!(starts(&again, RequestOp::ZoneReset), [0]);
        assert_eq!(starts(&again, RequestOp::Write), starts(&first, RequestOp::Write));
        job.diverge(20).expect("no trace");
        assert_eq!(checked(&mut job, 500).0.len(), 500, "a past has no end");
    }

    /// Zones and pages of the writes that fio 3.33 issues to eight zones of 64 KiB, which it
    /// emulates in a file (`--size=512k --zonemode=zbd --zonesize=64k --rw=randwrite`).
    #[test]
    fn random_writes_are_those_of_fio() {
        let cases = [
            (
                16,
                1,
                "0.0 0.4 0.8 0.12 3.0 3.4 3.8 3.12 7.0 7.4 7.8 7.12 7.0 7.4 7.8 7.12 4.0 4.4 4.8 \
                 4.12 0.0 0.4 0.8 0.12 7.0 7.4 7.8 7.12 2.0 2.4 2.8 2.12",
            ),
            (
                16,
                2,
                "0.0 5.0 5.4 0.4 0.8 5.8 0.12 2.0 2.4 5.12 7.0 7.4 7.8 2.8 2.12 4.0 4.4 4.8 4.12 \
                 4.0 7.12 5.0 4.4 5.4 5.8 4.8 4.12 2.0 2.4 5.12 1.0 1.4",
            ),
            (
                16,
                3,
                "0.0 5.0 6.0 5.4 5.8 6.4 5.12 2.0 2.4 0.4 2.8 6.8 2.12 1.0 6.12 4.0 4.4 4.8 4.12 \
                 4.0 0.8 1.4 0.12 5.0 5.4 1.8 1.12 2.0 2.4 4.4 4.8 2.8",
            ),
            (
                16,
                8,
                "0.0 5.0 6.0 3.0 3.4 6.4 3.8 2.0 7.0 0.4 7.4 5.4 7.8 1.0 3.12 4.0 4.4 6.8 4.8 4.12 \
                 0.8 5.8 2.4 5.12 7.12 0.12 1.4 2.8 2.12 1.8 1.12 6.12",
            ),
            (
                24,
                8,
                "0.0 5.0 6.0 3.0 3.6 6.6 2.0 3.0 7.0 0.6 7.6 4.0 0.0 1.0 4.6 4.0 5.6 6.0 1.6 1.0 \
                 2.6",
            ),
        ];
        let zones = ZoneGeometry { size: 128, capacity: 128, pages: 16, size_pages: 16, share: 8 };
        let space = FlowSpace { sectors: 1024, pages: 128, zones: Some(zones), ..space() };
        for (kib, max_open, expected) in cases {
            let bytes = ByteSize(kib << 10);
            let one = FioDirection { smallest: bytes, largest: bytes, ..FioDirection::default() };
            let zbd = Some(FioZbd { max_open: Some(max_open), ..FioZbd::default() });
            let (read, trim) = (one.clone(), one.clone());
            let job = FioConfig { read, trim, write: one, zbd, ..config(FioRw::Write, true) };
            let mut source = FioSource::new(&SyntheticConfig::default(), &job, &space, 7, 0);
            let mut found = Vec::new();
            while let Some(planned) = source.next(Time::ZERO).expect("no trace") {
                if planned.op == RequestOp::Write {
                    found.push(format!("{}.{}", planned.sector / 128, planned.sector % 128 / 8));
                }
            }
            assert_eq!(found.join(" "), expected, "{kib} KiB, {max_open} zones");
        }
    }
}
