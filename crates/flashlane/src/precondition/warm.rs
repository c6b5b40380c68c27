//! The data cache and the cached mapping table as the workload would have left them.
//!
//! The flows' sources are asked for their past: other draws from the same distributions, or the
//! round of a stream or a trace before the run. Their requests are replayed in the order of their
//! times, in no time, until the full caches have been turned over once more. Every flow thus gets
//! the share that its rate and its addresses earn. Hot pages are cached first, and pages and
//! entries are changed or unchanged as in a long run. Source: MQSim (FAST'18) section 5, which asks
//! for arrival rate and address distribution.
//!
//! The past of a source ends where its run begins. The length of the past is only known when the
//! caches are full. Therefore, if the addresses of a source have an order, the past is replayed
//! twice: the first replay tells how far each source goes, and the second replay starts that far
//! back.

use flashlane_engine::Time;
use flashlane_units::{FlowId, Lpa, Ppa};

use super::scattered;
use flashlane_config::{DeviceConfig, WorkloadConfig};
use flashlane_device::cache::Cache;
use flashlane_device::ftl::FtlState;
use flashlane_device::ftl::mapping::MappingTable;
use flashlane_device::ftl::pages::PageTables;
use flashlane_device::layout::{FlowSpace, Layout};
use flashlane_reading::Error;
use flashlane_workload::{self, Planned, RequestOp, RequestSource};

/// Most requests that are replayed.
const REQUESTS_MAX: u64 = 16_000_000;
/// Most requests that are replayed for every page and entry that fits.
const REQUESTS_PER_PLACE: u64 = 6;
/// Least number of requests without a new page or entry after which none is expected.
const NOTHING_NEW: u64 = 4096;

/// A flow on its way through its past.
struct FlowReplay<'a> {
    flow: FlowId,
    source: Box<dyn RequestSource>,
    space: &'a FlowSpace,
    next: Option<Planned>,
    /// Time of the next request since the start of the replay, which may last longer than simulated
    /// time.
    /// Unit: picoseconds.
    at: u128,
    /// The time at which the clock of the source was last set to zero. Unit: picoseconds.
    zero: u128,
    /// Start of the running pass by the clock of the source.
    pass_start: Time,
    /// Distance that the source had gone up to the last replayed request.
    gone: u64,
}

/// The course of the first replay.
struct FirstReplay {
    /// The flow of each request, in order.
    order: Vec<u16>,
    /// Distance that each source went.
    gone: Vec<u64>,
}

impl FlowReplay<'_> {
    /// Plans the next request after `at`. A flow without further requests falls silent.
    fn advance(&mut self, at: u128, device: &DeviceConfig) -> Result<(), Error> {
        let clock = Time(u64::try_from(at - self.zero).unwrap_or(u64::MAX));
        let open = self.source.closed_loop().is_none();
        self.next = self.source.next(clock)?;
        if self.next.is_none_or(|planned| open && planned.arrival >= Time::END) {
            self.start_over(at, clock)?;
        }
        let Some(planned) = &self.next else { return Ok(()) };
        self.at = match self.source.closed_loop() {
            // Each outstanding request takes about one operation of the array.
            Some(depth) => {
                let flash = &device.flash;
                let times = if planned.op == RequestOp::Read {
                    &flash.read_time
                } else {
                    &flash.program_time
                };
                at + u128::from((times[0].0 / u64::from(depth)).max(1))
            }
            None => (self.zero + u128::from(planned.arrival.0)).max(at),
        };
        Ok(())
    }

    /// Starts another pass at `at`, which is `clock` by the clock of the source. Sets that clock to
    /// zero if another pass of this length might not end within simulated time.
    fn start_over(&mut self, at: u128, mut clock: Time) -> Result<(), Error> {
        let length = (clock - self.pass_start).0;
        if clock + Time(length.saturating_mul(2)) >= Time::END {
            self.zero = at;
            clock = Time::ZERO;
        }
        self.pass_start = clock;
        self.source.restart(clock)?;
        self.next = self.source.next(clock)?;
        Ok(())
    }
}

/// Fills the data cache and the cached mapping table.
///
/// # Errors
/// A trace that cannot be read.
pub(crate) fn warm(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    layout: &Layout,
    state: &mut FtlState,
    cache: &mut Cache,
    seed: u64,
) -> Result<(), Error> {
    let warm_cache = device.ftl.precondition.warm_cache && !device.compat.cold_cache;
    let mut warm_table = device.ftl.mapping.warm && state.mapping.is_some();
    if warm_table && device.compat.scattered_occupancy {
        scattered::warm_entries(layout, state);
        warm_table = false;
    }
    if !(warm_cache || warm_table) {
        return Ok(());
    }
    // Both caches are always warmed, because each depends on the other; the one that is not wanted
    // is dropped.
    let past = Replay { device, workload, layout, pages: &state.pages, seed };
    let (mut past_cache, mut past_table) = (cache.clone(), state.mapping.clone());
    let course = past.first(&mut past_cache, &mut past_table)?;
    if course.gone.iter().any(|&gone| gone > 0) {
        (past_cache, past_table) = (cache.clone(), state.mapping.clone());
        past.again(&course, &mut past_cache, &mut past_table)?;
    }
    past_cache.recall_over();
    if warm_cache {
        *cache = past_cache;
    }
    if warm_table {
        state.mapping = past_table;
    }
    Ok(())
}

/// The inputs of a replay.
struct Replay<'a> {
    device: &'a DeviceConfig,
    workload: &'a WorkloadConfig,
    layout: &'a Layout,
    pages: &'a PageTables,
    seed: u64,
}

impl<'a> Replay<'a> {
    /// The flows with sources. `back`: the distance of each flow from the start of its run.
    fn flows(&self, back: &[u64]) -> Result<Vec<FlowReplay<'a>>, Error> {
        let Self { device, workload, layout, seed, .. } = *self;
        let mut flows = Vec::new();
        for (index, (flow, space)) in (0..).zip(workload.flows.iter().zip(&layout.flows)) {
            if !flow.has_source() {
                continue;
            }
            let page_size = device.unit();
            let mut source = flashlane_workload::build(
                flow,
                index,
                space,
                page_size,
                device.interface.max_transfer,
                &device.compat,
                seed,
            )?;
            source.diverge(back.get(flows.len()).copied().unwrap_or(0))?;
            let (at, zero, pass_start, gone) = (0, 0, Time::ZERO, 0);
            let flow = FlowId::at(index as usize);
            let mut past =
                FlowReplay { flow, source, space, next: None, at, zero, pass_start, gone };
            past.advance(0, device)?;
            flows.push(past);
        }
        Ok(flows)
    }

    /// Replays the next request of a flow at a time. The cache only needs to know whether two times
    /// are in the same epoch.
    fn step(
        &self,
        flow: &mut FlowReplay<'_>,
        now: u128,
        cache: &mut Cache,
        table: &mut Option<MappingTable>,
    ) -> Result<(), Error> {
        let Some(planned) = flow.next.take() else { return Ok(()) };
        flow.gone = flow.source.gone();
        flow.advance(flow.at, self.device)?;
        if let Some(next) = &flow.next {
            self.prefetch(next, flow, cache, table.as_ref());
        }
        let epoch_time = Time((now % u128::from(Time::END.0)) as u64);
        recall(&planned, flow.flow, flow.space, self.pages, cache, table, epoch_time);
        Ok(())
    }

    /// Prefetches what the replay of a flow's next request looks up: its turn comes soon.
    fn prefetch(
        &self,
        next: &Planned,
        flow: &FlowReplay<'_>,
        cache: &Cache,
        table: Option<&MappingTable>,
    ) {
        let per_page = u64::from(self.pages.sectors_per_page());
        let end = next.sector + u64::from(next.sectors);
        for page in next.sector / per_page..end.div_ceil(per_page) {
            let lpa = flow.space.lpa(page);
            self.pages.prefetch(lpa);
            cache.prefetch(flow.flow, lpa);
            if let Some(table) = table {
                table.prefetch(flow.flow, lpa);
            }
        }
    }

    /// Replays requests until everything is full, and then as many again.
    fn first(
        &self,
        cache: &mut Cache,
        table: &mut Option<MappingTable>,
    ) -> Result<FirstReplay, Error> {
        let mut flows = self.flows(&[])?;
        let logical_pages = self.layout.logical_pages;
        let places = cache.capacity().min(logical_pages)
            + table.as_ref().map_or(0, |table| table.capacity().min(logical_pages));
        let mut limit = (places * REQUESTS_PER_PLACE + NOTHING_NEW).min(REQUESTS_MAX);
        let (mut size, mut grown_at, mut order) = (0, 0, Vec::new());
        while (order.len() as u64) < limit {
            let next = (0_u16..).zip(&mut flows).filter(|(_, flow)| flow.next.is_some());
            let Some((index, flow)) = next.min_by_key(|(_, flow)| flow.at) else { break };
            let now = flow.at;
            self.step(flow, now, cache, table)?;
            order.push(index);
            let replayed = order.len() as u64;
            let held = cache.pages() + table.as_ref().map_or(0, MappingTable::entries);
            if held > size {
                (size, grown_at) = (held, replayed);
                if size == places {
                    // As many again, so that the numbers of changed and unchanged entries settle.
                    limit = limit.min(2 * replayed);
                }
            } else if replayed - grown_at > NOTHING_NEW.max(size) {
                break;
            }
        }
        Ok(FirstReplay { order, gone: flows.iter().map(|flow| flow.gone).collect() })
    }

    /// Replays the same numbers of requests of each flow in the same order, up to the beginning of
    /// the run.
    fn again(
        &self,
        course: &FirstReplay,
        cache: &mut Cache,
        table: &mut Option<MappingTable>,
    ) -> Result<(), Error> {
        let mut flows = self.flows(&course.gone)?;
        let mut now = 0;
        for &index in &course.order {
            let flow = &mut flows[usize::from(index)];
            now = flow.at.max(now);
            self.step(flow, now, cache, table)?;
        }
        Ok(())
    }
}

/// Replays one past request.
fn recall(
    planned: &Planned,
    flow: FlowId,
    space: &FlowSpace,
    pages: &PageTables,
    cache: &mut Cache,
    table: &mut Option<MappingTable>,
    now: Time,
) {
    if !matches!(planned.op, RequestOp::Read | RequestOp::Write) {
        return;
    }
    let per_page = u64::from(pages.sectors_per_page());
    let end = planned.sector + u64::from(planned.sectors);
    for page in planned.sector / per_page..end.div_ceil(per_page) {
        let lpa = space.lpa(page);
        if pages.ppa(lpa) == Ppa::NONE {
            continue;
        }
        let first = planned.sector.max(page * per_page) - page * per_page;
        let last = end.min((page + 1) * per_page) - page * per_page;
        let mask = pages.covering(first as u32, last as u32);
        let mut touch = |flow: FlowId, lpa: Lpa, changed: bool| {
            if let Some(table) = table {
                table.recall(flow, lpa, changed);
            }
        };
        if planned.op == RequestOp::Write {
            cache.recall_write(flow, lpa, mask, now, |flow, lpa, _| touch(flow, lpa, true));
        } else if cache
            .recall_read(flow, lpa, mask, pages.mask(lpa), |flow, lpa, _| touch(flow, lpa, true))
        {
            touch(flow, lpa, false);
        }
    }
}
