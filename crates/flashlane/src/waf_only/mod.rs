//! `run --waf-only`: placement, collection and wear without events, for studies of write
//! amplification over more writes than a timed run could take.
//!
//! The requests of [`Flows`] are carried out one after the other by [`Untimed`], which shares
//! mapping, allocation, victims, wear levelling and cache with the timed drive. Rules take the
//! place of decisions that depend on time: see `docs/model-measures.md`.

mod flows;
mod refuse;
mod report;
mod used;
mod zones;

use flashlane_units::{FlowId, Lpa};
use flows::Flows;

use crate::options::{Progress, RunOptions};
use crate::stopwatch::Stopwatch;
use flashlane_config::{DeviceConfig, WorkloadConfig};
use flashlane_device::cache::Cache;
use flashlane_device::ftl::superblocks::folded;
use flashlane_device::ftl::untimed::{ANSWER, CollectionRules, HostPage, Untimed};
use flashlane_device::ftl::{Ftl, FtlState};
use flashlane_device::grain::Grain;
use flashlane_device::layout::{Layout, SECTOR_BYTES};
use flashlane_measure::metrics::Summary;
use flashlane_measure::metrics::empty;
use flashlane_measure::metrics::summary::{ByteCounts, RequestCounts};
use flashlane_measure::rules::Warmup;
use flashlane_reading::Error;
use flashlane_workload::{Planned, RequestOp};
pub(crate) use refuse::refuse;
use report::WorkSoFar;
pub(crate) use used::used;
use zones::ZonedRun;

/// Distance, in requests of the flow, between the prefetch of a request's place and the request
/// itself.
const SOON: usize = 8;
/// Requests between two calls of the progress function.
const PROGRESS_INTERVAL: u64 = 1 << 16;
/// Least number of requests between two full audits with `--check`.
const AUDIT_INTERVAL_MIN: u64 = 100_000;

/// Counts of the requests of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    requests: RequestCounts,
    bytes: ByteCounts,
}

/// A run without events.
pub(crate) struct WafRun<'a> {
    layout: &'a Layout,
    flows: Flows,
    drive: Untimed,
    /// The zones of the drive; `None` where it has none.
    zones: Option<ZonedRun>,
    counted: Vec<Counted>,
    generated: u64,
    /// Number of requests that do not count.
    warmup: u64,
    /// Work of the drive up to the end of these requests.
    warmed_up: WorkSoFar,
    sectors_per_page: u64,
    /// What a bit of a mask of sectors stands for.
    grain: Grain,
}

/// What becomes of a request to a drive with zones.
enum InZone {
    /// The request is carried out. Time when it is done.
    Done(u64),
    /// The pages of the request are still to be carried out.
    Admitted(Planned),
}

/// A device and its flows.
#[derive(Clone, Copy)]
pub(crate) struct Scenario<'a> {
    pub(crate) device: &'a DeviceConfig,
    pub(crate) workload: &'a WorkloadConfig,
    pub(crate) layout: &'a Layout,
    pub(crate) seed: u64,
}

/// The drive over a state.
fn new_drive(scenario: Scenario<'_>, state: FtlState, cache: Cache) -> Untimed {
    let Scenario { device, workload, layout, seed } = scenario;
    let flows = workload.flows.len();
    let sets = device.isolation.moving_sets(&device.flash, layout);
    let ftl = Ftl::new(device.ftl_settings(), layout, state, sets, vec![0; flows], seed);
    let rules = CollectionRules {
        flash: &device.flash,
        gc: &device.ftl.gc,
        order: device.scheduler.collection_order(layout.geometry, flows),
        pools: folded(device.ftl_settings(), layout).geometry,
    };
    Untimed::new(rules, layout, ftl, (cache, &device.cache))
}

/// Runs a scenario over a state that may have been preconditioned.
pub(crate) fn run(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    options: &RunOptions,
    layout: &Layout,
    state: FtlState,
    cache: Cache,
    progress: Progress<'_>,
) -> Result<Summary, Error> {
    let start = Stopwatch::start();
    let scenario = Scenario { device, workload, layout, seed: options.seed };
    let mut run = WafRun::new(scenario, new_drive(scenario, state, cache))?;
    if let Warmup::Requests(count) = options.warmup.or(workload.warmup) {
        run.warmup = count;
    }
    run.drive.start();
    run.run(options.check, progress)?;
    if run.generated <= run.warmup {
        return Err(empty::found(workload, options.warmup, run.generated, None));
    }
    let wall_s = start.seconds();
    Ok(report::summarise(&run, device, workload, options, wall_s))
}

impl<'a> WafRun<'a> {
    /// The run before its first request. All requests count.
    fn new(scenario: Scenario<'a>, drive: Untimed) -> Result<Self, Error> {
        let Scenario { device, workload, layout, seed } = scenario;
        Ok(Self {
            layout,
            flows: Flows::new(device, workload, layout, seed)?,
            zones: ZonedRun::new(&device.placement.zones, layout, &drive),
            drive,
            counted: vec![Counted::default(); workload.flows.len()],
            generated: 0,
            warmup: 0,
            warmed_up: WorkSoFar::default(),
            sectors_per_page: u64::from(layout.geometry.sectors_per_page),
            grain: layout.geometry.grain(),
        })
    }
}

impl WafRun<'_> {
    fn run(&mut self, check: bool, progress: Progress<'_>) -> Result<(), Error> {
        let mut last_end = 0;
        let audit_interval = AUDIT_INTERVAL_MIN.max(self.layout.geometry.pages() / 8);
        while let Some((flow, planned)) = self.flows.next()? {
            if self.generated == self.warmup {
                self.drive.collect_until(self.flows.now)?;
                self.warmed_up = WorkSoFar::of(self);
            }
            self.count(flow, &planned);
            last_end = last_end.max(self.serve(flow, &planned)?);
            if self.generated.is_multiple_of(PROGRESS_INTERVAL) {
                self.drive.let_go();
                progress(self.flows.progress());
            }
            if check && self.generated.is_multiple_of(audit_interval) {
                self.drive.audit(self.layout);
            }
        }
        self.drive.collect_until(last_end)?;
        if check {
            self.drive.audit(self.layout);
        }
        Ok(())
    }

    /// Serves the next request, and prefetches what later ones of its flow need. Returns the time
    /// when it is done.
    #[inline]
    fn serve(&mut self, flow: FlowId, planned: &Planned) -> Result<u64, Error> {
        if let Some(soon) = self.flows.peek(flow, SOON) {
            self.drive.prefetch_place(self.first_page(flow, soon));
        }
        let end = self.carry_out(flow, planned)?;
        let (drive, space) = (&self.drive, &self.layout.flows[flow.index()]);
        let spp = self.sectors_per_page;
        self.flows.done(flow, end, |next| drive.prefetch(space.lpa(next.sector / spp)))?;
        Ok(end)
    }

    /// First page of a request.
    fn first_page(&self, flow: FlowId, planned: &Planned) -> Lpa {
        self.layout.flows[flow.index()].lpa(planned.sector / self.sectors_per_page)
    }

    fn count(&mut self, flow: FlowId, planned: &Planned) {
        self.generated += 1;
        if self.generated <= self.warmup {
            return;
        }
        let Counted { requests, bytes } = &mut self.counted[flow.index()];
        let length = u64::from(planned.sectors) * SECTOR_BYTES;
        match planned.op {
            RequestOp::Read => {
                requests.read += 1;
                bytes.read += length;
            }
            RequestOp::Write | RequestOp::ZoneAppend => {
                requests.write += 1;
                bytes.write += length;
            }
            RequestOp::Trim => requests.trim += 1,
            RequestOp::Flush => requests.flush += 1,
            _ => requests.zone += 1,
        }
    }

    /// Checks a request to a drive with zones, and carries it out if it manages a zone.
    #[cold]
    #[inline(never)]
    fn carry_out_in_zone(&mut self, flow: FlowId, planned: &Planned) -> Result<InZone, Error> {
        let zones = self.zones.as_mut().expect("asked only where flows have zones");
        let admitted = zones.admit(flow, planned)?;
        if !admitted.op.manages_zone() {
            return Ok(InZone::Admitted(admitted));
        }
        let (at, space) = (self.flows.now, &self.layout.flows[flow.index()]);
        let whole = self.grain.covering(0, self.sectors_per_page as u32);
        let done = zones.manage(&mut self.drive, (flow, space), &admitted, (at, whole))?;
        Ok(InZone::Done(done))
    }

    /// Carries out a request page by page. Returns the time when all of it is done.
    #[inline]
    fn carry_out(&mut self, flow: FlowId, planned: &Planned) -> Result<u64, Error> {
        let admitted;
        let planned = if self.zones.is_some() {
            match self.carry_out_in_zone(flow, planned)? {
                InZone::Done(at) => return Ok(at),
                InZone::Admitted(planned) => admitted = planned,
            }
            &admitted
        } else {
            planned
        };
        let at = self.flows.now;
        let &Planned { op, sector, sectors, directive, .. } = planned;
        if op == RequestOp::Flush {
            return self.drive.flush(flow, at);
        }
        let (spp, end) = (self.sectors_per_page, sector + u64::from(sectors));
        let (space, grain) = (&self.layout.flows[flow.index()], self.grain);
        let (mut from, mut page) = (sector, sector / spp);
        let mut done = at.saturating_add(ANSWER);
        while from < end {
            let to = end.min((page + 1) * spp);
            let (first, last) = ((from - page * spp) as u32, (to - page * spp) as u32);
            let mask = match op {
                RequestOp::Write | RequestOp::Read => grain.covering(first, last),
                _ => grain.inside(first, last),
            };
            let part = HostPage { flow, lpa: space.lpa(page), mask, at, directive };
            done = done.max(match op {
                RequestOp::Write => self.drive.write(&part)?,
                RequestOp::Read => self.drive.read(&part)?,
                _ if mask == 0 => 0,
                _ => self.drive.trim(&part)?,
            });
            (from, page) = (to, page + 1);
        }
        Ok(done)
    }
}
