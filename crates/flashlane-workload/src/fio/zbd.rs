//! Jobs on zones (`zonemode=zbd`): where a request goes so that the drive takes it.
//!
//! The job draws its requests as it does without zones; here each of them moves to a place that the
//! rules of zones allow. A write goes to the write pointer of its zone, or of another zone that is
//! being written, if the job may not begin one more. A zone is reset before it is written again.
//! A read goes to what its zone holds, or to the next zone that holds something. A trim resets its
//! zone. A request ends at the end of its zone. The copies of a job share the write pointers.
//!
//! The job does not know what zones hold at the start of the run. It reads such a zone as if it
//! were full, and resets it before it writes it, which does nothing to an empty zone. Source: fio's
//! HOWTO.

use flashlane_device::layout::{SECTOR_BYTES, ZoneGeometry};

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
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// It goes to this place.
    To(Place),
    /// The zone that starts at this place has to be reset first; then the request is asked for
    /// again.
    Reset(Place),
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
    /// `sectors`: size of the space.
    pub(super) fn new(
        config: &FioConfig,
        zones: Option<ZoneGeometry>,
        sectors: u64,
    ) -> Option<Self> {
        let (zbd, geometry): (FioZbd, _) = (config.zbd?, zones?);
        let writers = config.jobs.max(1) as usize * config.files.max(1) as usize;
        let each = zbd.open_for_file(geometry.share, config.jobs, config.files);
        let count = sectors / geometry.size.max(1);
        Some(Self {
            size: geometry.size * SECTOR_BYTES,
            capacity: geometry.capacity * SECTOR_BYTES,
            zones: vec![Zone::default(); count as usize],
            each: each as usize,
            open: vec![Vec::new(); writers],
            read_beyond: zbd.read_beyond,
        })
    }

    /// Moves a request to a place that the drive accepts, and notes what it does to its zone.
    pub(super) fn go(&mut self, plan: &Plan, request: Request) -> Moved {
        let Request { copy, direction, place } = request;
        let reach = self.reach(plan, request);
        if reach.first >= reach.end {
            return Moved::Nowhere;
        }
        let found = match direction {
            READ => self.read(plan.config.random, &reach, place.bytes),
            WRITE => {
                let writer = (copy * plan.config.files.max(1) + place.file) as usize;
                match self.to_write(writer, plan.config.random, &reach) {
                    None => None,
                    Some((zone, true)) => {
                        let start = zone as u64 * self.size - reach.base;
                        return Moved::Reset(Place { start, bytes: 0, ..place });
                    }
                    Some((zone, false)) => Some(self.write(zone, place.bytes)),
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
    fn to_write(&mut self, writer: usize, random: bool, reach: &Reach) -> Option<(usize, bool)> {
        // A stream leaves a zone that has become full.
        let is_behind = !random && reach.inside > 0 && reach.zone < reach.end && {
            !self.zones[reach.zone].is_open && self.zones[reach.zone].written != Some(0)
        };
        let zone = reach.from(reach.zone + usize::from(is_behind)).next()?;
        if self.zones[zone].is_open {
            return Some((zone, false));
        }
        let own = &mut self.open[writer];
        let is_within = |zone: &&usize| (reach.first..reach.end).contains(*zone);
        let within: Vec<usize> = own.iter().filter(is_within).copied().collect();
        if own.len() >= self.each && !within.is_empty() {
            // The zones of the region are shared out evenly among those that may be written.
            let nth = (zone - reach.first) * within.len() / (reach.end - reach.first);
            return Some((within[nth], false));
        }
        own.push(zone);
        let was =
            std::mem::replace(&mut self.zones[zone], Zone { written: Some(0), is_open: true });
        Some((zone, was.written != Some(0)))
    }

    /// Writes at the pointer of a zone. A full zone is no longer open.
    fn write(&mut self, zone: usize, bytes: u64) -> (u64, u64) {
        let written = self.zones[zone].written.unwrap_or(0);
        let bytes = bytes.min(self.capacity - written);
        self.zones[zone].written = Some(written + bytes);
        if written + bytes == self.capacity {
            self.close(zone);
        }
        (zone as u64 * self.size + written, bytes)
    }

    /// Resets a zone. What a trim counts as its bytes is the capacity.
    fn trim(&mut self, reach: &Reach) -> Option<(u64, u64)> {
        let zone = reach.from(reach.zone + usize::from(reach.inside > 0)).next()?;
        self.close(zone);
        self.zones[zone].written = Some(0);
        Some((zone as u64 * self.size, self.capacity))
    }

    /// Takes a zone from the list of its writer.
    fn close(&mut self, zone: usize) {
        if std::mem::take(&mut self.zones[zone].is_open) {
            self.open.iter_mut().for_each(|own| own.retain(|&one| one != zone));
        }
    }
}
