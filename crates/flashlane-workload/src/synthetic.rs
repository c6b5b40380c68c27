//! Requests drawn from distributions.

use flashlane_engine::{Rng, Time};

use super::address::{AddressDraw, share_of};
use super::footprint::{Footprint, PageSet};
use super::pace::{Clock, Gap, PassEnd};
use super::size::SizeDraw;
use super::zone_use::ZoneWriter;
use super::{Directive, Planned, RequestOp, RequestSource};
use crate::config::{Arrivals, SyntheticConfig};
use flashlane_device::layout::{FlowSpace, SECTOR_BYTES, ZoneGeometry};
use flashlane_reading::Error;
use flashlane_units::ByteSize;

/// A synthetic flow: operation, address, size and gap of each request are independent draws, each
/// from a stream of its own, so that a change of one distribution does not change the draws of the
/// others.
#[derive(Clone, Debug)]
pub struct SyntheticSource {
    ops: OpDraw,
    address: AddressDraw,
    size: SizeDraw,
    address_rng: Rng,
    size_rng: Rng,
    pace: Pace,
    end: PassEnd,
    space_sectors: u64,
    /// Start of the region that addresses count from. Unit: sectors.
    first_sector: u64,
    sectors_per_page: u64,
    /// Pause between a completion and the next request.
    think_time: Time,
    /// The zones of the space, on a drive with zones.
    zoned: Option<Box<ZonedSpace>>,
}

/// A space with zones.
#[derive(Clone, Debug)]
struct ZonedSpace {
    geometry: ZoneGeometry,
    /// The zones that writes go to; `None` where there are no writes.
    writer: Option<ZoneWriter>,
}

#[derive(Clone, Debug)]
struct OpDraw {
    rng: Rng,
    read_ratio: f64,
    trim_ratio: f64,
    flush_ratio: f64,
    /// Set if all requests have this operation; then none is drawn.
    only: Option<RequestOp>,
}

#[derive(Clone, Debug)]
enum Pace {
    Closed { queue_depth: u32 },
    Open { clock: Clock, mean_ps: f64, arrivals: Arrivals, rng: Rng },
}

impl SyntheticSource {
    /// A source for a valid configuration: exactly one of queue depth, bandwidth, IOPS and warps.
    /// Addresses lie in `space`, and are multiples of [`SyntheticConfig::alignment`] from the start
    /// of the region. `seed` is the root seed of the run and `flow` the flow's index.
    #[must_use]
    pub fn new(
        config: &SyntheticConfig,
        space: &FlowSpace,
        page_bytes: u64,
        seed: u64,
        flow: u64,
    ) -> Self {
        let seed = config.seed.unwrap_or(seed);
        let stream = |part: &str| Rng::stream(seed, part, flow);
        let (first_sector, limit) = region(config, space.data_sectors());
        let align = config.alignment().div_ceil(SECTOR_BYTES);
        let size = SizeDraw::new(&config.size);
        let mut address_rng = stream("workload.address");
        let address = AddressDraw::new(&config.address, limit.max(1), align, &mut address_rng);
        let address = if config.fill_first { address.after_filling() } else { address };
        Self {
            ops: OpDraw::new(config, stream("workload.op")),
            address,
            address_rng,
            pace: Pace::new(config, &size, stream("workload.arrival")),
            size,
            size_rng: stream("workload.size"),
            end: PassEnd::new(config.requests, config.duration.map(|span| span.0)),
            space_sectors: space.data_sectors(),
            first_sector,
            sectors_per_page: (page_bytes / SECTOR_BYTES).max(1),
            think_time: Time(config.think_time.map_or(0, |span| span.0)),
            zoned: space.zones.map(|geometry| {
                let zones = limit / geometry.capacity;
                let writer =
                    config.zones.map(|zones_of| ZoneWriter::new(&zones_of, geometry, zones));
                Box::new(ZonedSpace { geometry, writer })
            }),
        }
    }

    /// The request of this operation and size, on a drive with zones.
    #[cold]
    #[inline(never)]
    fn next_in_zones(&mut self, arrival: Time, op: RequestOp, sectors: u64) -> Planned {
        let zoned = self.zoned.as_mut().expect("asked only where the space has zones");
        let (op, sector, sectors) = match &mut zoned.writer {
            Some(writer) if op == RequestOp::Write => writer.draw(sectors),
            _ => {
                let drawn = self.address.draw(sectors, arrival, &mut self.address_rng);
                let (sector, sectors) = drawn;
                (op, past_holes(zoned.geometry, self.first_sector + sector, sectors), sectors)
            }
        };
        Planned { arrival, op, sector, sectors: sectors as u32, ..Planned::default() }
    }

    /// True if the pass has no request at `now` or later.
    pub(crate) fn is_over(&self, now: Time) -> bool {
        self.end.is_exhausted() || self.end.is_late(now)
    }

    /// Time at which the pass ends by its duration; [`Time::MAX`] if that is not limited.
    pub(crate) fn ends_at(&self) -> Time {
        self.end.ends_at()
    }

    /// The part of the space that the requests touch.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        if self.first_sector == 0 {
            return self.address.footprint(self.space_sectors);
        }
        let mut pages = PageSet::new(self.space_sectors.div_ceil(self.sectors_per_page));
        let last = self.first_sector + self.address.limit() - 1;
        pages.insert_range(self.first_sector / self.sectors_per_page, last / self.sectors_per_page);
        Footprint::Pages(pages)
    }
}

/// Where a request lies that was drawn among the sectors that zones can hold. It does not reach
/// over the end of its zone.
fn past_holes(zone: ZoneGeometry, sector: u64, sectors: u64) -> u64 {
    let inside = (sector % zone.capacity).min(zone.capacity.saturating_sub(sectors));
    sector / zone.capacity * zone.size + inside
}

/// The part of a flow's space that requests touch: its first sector and its size. Unit: sectors.
fn region(config: &SyntheticConfig, space: u64) -> (u64, u64) {
    let sectors = |size: ByteSize| size.0 / SECTOR_BYTES;
    let first = config.region_start.map_or(0, sectors).min(space.saturating_sub(1));
    let room = space - first;
    let limit = match (config.region, config.working_set) {
        (Some(region), _) => sectors(region).min(room),
        (None, Some(share)) => share_of(space, share.0).min(room),
        (None, None) => room,
    };
    (first, limit)
}

impl OpDraw {
    fn new(config: &SyntheticConfig, rng: Rng) -> Self {
        let [read_ratio, trim_ratio, flush_ratio] =
            [config.read_ratio, config.trim_ratio, config.flush_ratio].map(|ratio| ratio.0);
        let only = match (read_ratio, trim_ratio + flush_ratio) {
            (1.0, 0.0) => Some(RequestOp::Read),
            (0.0, 0.0) => Some(RequestOp::Write),
            _ => None,
        };
        Self { rng, read_ratio, trim_ratio, flush_ratio, only }
    }

    #[inline]
    fn draw(&mut self) -> RequestOp {
        if let Some(op) = self.only {
            return op;
        }
        let unit = self.rng.unit();
        if unit < self.flush_ratio {
            RequestOp::Flush
        } else if unit < self.flush_ratio + self.trim_ratio {
            RequestOp::Trim
        } else if self.rng.unit() < self.read_ratio {
            RequestOp::Read
        } else {
            RequestOp::Write
        }
    }
}

impl Pace {
    fn new(config: &SyntheticConfig, size: &SizeDraw, rng: Rng) -> Self {
        // Flushes carry no bytes, so the other requests must come faster for this bandwidth.
        let mean_bytes = size.mean_bytes() * (1.0 - config.flush_ratio.0);
        if let Some(warps) = &config.warps {
            let queue_depth = u32::try_from(warps.outstanding_max()).unwrap_or(u32::MAX);
            return Self::Closed { queue_depth };
        }
        let mean_s = match (config.queue_depth, config.bandwidth, config.iops) {
            (Some(queue_depth), ..) => return Self::Closed { queue_depth },
            (_, Some(bandwidth), _) => mean_bytes / bandwidth.0 as f64,
            (.., iops) => {
                1.0 / iops.expect("a valid flow has one of depth, bandwidth, IOPS and warps")
            }
        };
        let (mean_ps, arrivals) = (mean_s * 1e12, config.arrivals);
        Self::Open { clock: Clock::at(Time::ZERO), mean_ps, arrivals, rng }
    }

    /// The next arrival; [`Time::MAX`] beyond the end of simulated time.
    fn next(&mut self, now: Time) -> Time {
        match self {
            Self::Closed { .. } => now,
            Self::Open { clock, mean_ps, arrivals, rng } => {
                let factor = match arrivals {
                    Arrivals::Poisson => rng.exponential(),
                    Arrivals::Constant => 1.0,
                };
                clock.advance(Gap::from_ps(factor * *mean_ps))
            }
        }
    }

    fn restart(&mut self, now: Time) {
        if let Self::Open { clock, .. } = self {
            *clock = Clock::at(now);
        }
    }
}

impl RequestSource for SyntheticSource {
    fn next(&mut self, now: Time) -> Result<Option<Planned>, Error> {
        if self.end.is_exhausted() {
            return Ok(None);
        }
        let arrival = self.pace.next(now);
        if self.end.is_late(arrival) {
            return Ok(None);
        }
        self.end.count();
        let op = self.ops.draw();
        if op == RequestOp::Flush {
            return Ok(Some(Planned { arrival, op, ..Planned::default() }));
        }
        let sectors = self.size.draw(&mut self.size_rng);
        if self.zoned.is_some() {
            return Ok(Some(self.next_in_zones(arrival, op, sectors)));
        }
        let (sector, sectors) = self.address.draw(sectors, arrival, &mut self.address_rng);
        let sector = self.first_sector + sector;
        Ok(Some(Planned {
            arrival,
            op,
            sector,
            sectors: sectors as u32,
            queue: 0,
            directive: Directive::NONE,
        }))
    }

    fn upcoming(&self) -> Option<u64> {
        let SizeDraw::Fixed(sectors) = self.size else { return None };
        self.ops.only?;
        if self.zoned.is_some() {
            return None;
        }
        Some(self.first_sector + self.address.foresee(sectors, &self.address_rng)?)
    }

    fn restart(&mut self, now: Time) -> Result<(), Error> {
        self.end.restart(now);
        self.pace.restart(now);
        Ok(())
    }

    fn think_time(&self) -> Time {
        self.think_time
    }

    fn time_limit(&self) -> Option<Time> {
        self.end.time_limit()
    }

    fn endless(&self) -> bool {
        self.end.never()
    }

    fn progress(&self, now: Time) -> f64 {
        self.end.share(now)
    }

    fn diverge(&mut self, back: u64) -> Result<(), Error> {
        self.address.diverge(back);
        for rng in [&mut self.ops.rng, &mut self.address_rng, &mut self.size_rng] {
            *rng = Rng::stream(rng.next_u64(), "workload.past", 0);
        }
        Ok(())
    }

    fn gone(&self) -> u64 {
        self.address.gone()
    }

    fn closed_loop(&self) -> Option<u32> {
        match self.pace {
            Pace::Closed { queue_depth } => Some(queue_depth),
            Pace::Open { .. } => None,
        }
    }
}
