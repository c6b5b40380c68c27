//! Instant steady state: the physical state that long use would have left, set directly.
//!
//! Every plane gets, for each of its flows, full blocks whose numbers of valid pages follow the
//! mean-field distribution of the collection policy in use; the free pool is at the level at which
//! collection starts. Logical pages share blocks at random, except for streams, whose blocks are
//! written in sequence. Source: MQSim (FAST'18) section 5.

mod fill;
mod first_sectors;
mod hybrid;
mod kept;
mod own_requests;
mod plan;
mod random;
mod recent;
mod scatter;
mod scattered;
mod shares;
mod steady_states;
mod translation;
mod warm;

#[cfg(test)]
mod conformance;

use flashlane_engine::{Rng, Table, Use};
use flashlane_units::{FlowId, PlaneId};

use fill::{PagesOn, Part, When, copy_places, planes_together};
use flashlane_config::{DeviceConfig, FlowConfig, WorkloadConfig};
use flashlane_device::ftl::allocation::Allocator;
use flashlane_device::ftl::blocks::Stream;
use flashlane_device::ftl::superblocks::folded;
use flashlane_device::ftl::{FtlState, reserve_blocks};
use flashlane_device::layout::{FlowSpace, Layout};
use flashlane_workload::footprint::Footprint;
pub(crate) use kept::decisive;
pub use kept::{KeptStates, StateStore};
use plan::Planner;
use random::{PlacesAtRandom, PlaneTurn};
use scatter::{Order, Scatter};
use shares::fill_in_shares;
pub(crate) use translation::place_empty_translation_pages;
use translation::place_translation_pages;
pub(crate) use warm::warm;

/// The pages of a flow's logical space that hold data: touched pages first, then the lowest others.
struct Holding<'a> {
    footprint: &'a Footprint,
    /// Logical pages that hold data.
    written: u64,
    /// Touched pages below this number hold data.
    touched_below: u64,
    /// Untouched pages below this number hold data.
    others_below: u64,
}

impl<'a> Holding<'a> {
    fn new(footprint: &'a Footprint, written: u64, pages: u64) -> Self {
        let (mut touched_below, mut others_below) = (pages, pages);
        if let Footprint::Pages(set) = footprint
            && written < pages
        {
            let touched = set.count();
            if written <= touched {
                touched_below = set.iter().nth(written as usize).unwrap_or(pages);
                others_below = 0;
            } else {
                let mut others = (0..pages).filter(|&page| !set.contains(page));
                others_below = others.nth((written - touched) as usize).unwrap_or(pages);
            }
        }
        Self { footprint, written, touched_below, others_below }
    }

    /// True if a page holds data.
    fn holds(&self, page: u64) -> bool {
        match self.footprint {
            Footprint::Pages(set) => {
                page < if set.contains(page) { self.touched_below } else { self.others_below }
            }
            _ => page < self.written,
        }
    }

    /// The pages with data on the `index`th of `period` planes, as numbers relative to the flow.
    /// As many pages in a row as a page of the flash has, `units`, are on one plane.
    fn pages_on(&self, turn: PlaneTurn, pages: u64, units: u64) -> PagesOn {
        let PlaneTurn { index, period } = turn;
        match self.footprint {
            _ if units > 1 && (period > 1 || matches!(self.footprint, Footprint::Pages(_))) => {
                let rows = (index..pages.div_ceil(units)).step_by(period as usize);
                let of_plane = rows.flat_map(|row| row * units..((row + 1) * units).min(pages));
                let held = of_plane.filter(|&page| self.holds(page));
                PagesOn::List(held.map(|page| page as u32).collect())
            }
            Footprint::Pages(_) if self.written < pages => PagesOn::List(
                (index..pages)
                    .step_by(period as usize)
                    .filter(|&page| self.holds(page))
                    .map(|page| page as u32)
                    .collect(),
            ),
            _ => {
                let count = self.written.saturating_sub(index).div_ceil(period) as u32;
                PagesOn::Stride { index: index as u32, period: period as u32, count }
            }
        }
    }
}

/// Puts an empty drive into steady state. Calls `progress` with the share of the planes that is
/// filled.
pub(crate) fn precondition(
    (device, workload, layout): (&DeviceConfig, &WorkloadConfig, &Layout),
    footprints: &[Footprint],
    state: &mut FtlState,
    seed: u64,
    progress: &dyn Fn(f64),
) {
    let layout = &*folded(device.ftl_settings(), layout);
    let allocator = Allocator::new(&device.ftl.allocation, layout);
    let scattered = scattered::footprints(device, workload, layout, footprints, seed);
    let footprints = scattered.as_deref().unwrap_or(footprints);
    let own: Vec<Option<Footprint>> = (0..)
        .zip(workload.flows.iter().zip(&layout.flows))
        .map(|(index, (flow, space))| own_requests::footprint(device, flow, index, space, seed))
        .collect();
    let holdings: Vec<Holding<'_>> = workload
        .flows
        .iter()
        .zip(footprints)
        .zip(&layout.flows)
        .zip(&own)
        .map(|(((flow, footprint), space), own)| match own {
            Some(own @ Footprint::Pages(pages)) => Holding::new(own, pages.count(), space.pages),
            _ => Holding::new(footprint, pages_held(device, flow, space), space.pages),
        })
        .collect();
    if state.hybrid.is_some() {
        hybrid::place(layout, &allocator, &holdings, state, seed);
        return;
    }
    place_translation_pages(layout, &allocator, &holdings, state);
    // The flows that share a plane, with the flow's position of the plane in its order.
    let mut owners: Vec<Vec<(usize, u64)>> = vec![Vec::new(); layout.geometry.planes() as usize];
    for flow in 0..layout.flows.len() {
        for (index, &plane) in allocator.order(FlowId::at(flow)).iter().enumerate() {
            owners[plane.index()].push((flow, index as u64));
        }
    }
    let together = planes_together(layout);
    let places = together * layout.geometry.pages_per_plane() as usize;
    let mut filler = Filler {
        device,
        layout,
        allocator: &allocator,
        holdings: &holdings,
        seed,
        placed: PlacesAtRandom::new(device, layout, seed),
        planner: Planner::new(
            &device.ftl.gc.victim,
            layout.geometry,
            steady_states::steady_states(device, workload),
        ),
        order: Scatter::new(),
        places: Table::new(places, Use::Filled),
    };
    let all = in_order(layout, &allocator);
    for (group, planes) in all.chunks(together).enumerate() {
        progress((group * together) as f64 / all.len() as f64);
        let mut parts = Vec::new();
        for &plane in planes {
            let flows = &owners[plane.index()];
            filler.fill(plane, flows, &mut parts, state);
            if device.ftl.precondition.open_blocks
                && !device.ftl_settings().opens_frontiers_at_start()
            {
                open_blocks(device, layout, flows, plane, state, seed);
            }
        }
        copy_places(&mut parts, &filler.places, &mut state.pages);
    }
    if device.compat.first_sectors_only {
        first_sectors::keep(workload, layout, state, seed);
    }
}

/// The inputs for filling planes.
struct Filler<'a> {
    device: &'a DeviceConfig,
    layout: &'a Layout,
    allocator: &'a Allocator,
    holdings: &'a [Holding<'a>],
    seed: u64,
    /// Positions of pages, if they lie on planes at random.
    placed: Option<PlacesAtRandom>,
    planner: Planner,
    order: Scatter,
    /// Places of the pages of the planes that are filled together.
    places: Table,
}

impl Filler<'_> {
    /// Fills a plane. `flows`: the flows with data on it, each with the position of the plane in
    /// its order. `parts`: the parts that were filled together with it so far.
    fn fill(
        &mut self,
        plane: PlaneId,
        flows: &[(usize, u64)],
        parts: &mut Vec<Part>,
        state: &mut FtlState,
    ) {
        let (device, layout) = (self.device, self.layout);
        let pages: Vec<PagesOn> = flows
            .iter()
            .map(|&(flow, index)| {
                let period = self.allocator.order(FlowId::at(flow)).len() as u64;
                let (holding, all) = (&self.holdings[flow], layout.flows[flow].pages);
                match &self.placed {
                    Some(places) => {
                        places.pages_on(holding, flow, PlaneTurn { index, period }, all)
                    }
                    None => {
                        let units = u64::from(layout.geometry.units_per_page);
                        holding.pages_on(PlaneTurn { index, period }, all, units)
                    }
                }
            })
            .collect();
        let total: u64 = pages.iter().map(|pages| u64::from(pages.len())).sum();
        let reserve = u64::from(reserve_blocks(&device.ftl.gc));
        let per_block = u64::from(layout.geometry.pages_per_block);
        // Least number of blocks for the flows that were not filled yet.
        let mut least: u64 =
            pages.iter().map(|pages| u64::from(pages.len()).div_ceil(per_block)).sum();
        make_room(flows, plane, least + reserve, state);
        let mut room = usable_blocks(device, layout, flows.len() as u32, plane, total, state);
        let mut left = total;
        // Blocks of the plane that the released MQSim divides among flows.
        let shared = layout.geometry.blocks_per_plane.saturating_sub(pool_level(device, layout));
        // Blocks of all flows, with the blocks of each flow spread over the same span of time.
        let span = room as u32;
        // Blocks of the flows before, where these are filled one after the other.
        let mut others = 0;
        for (&(flow, _), pages) in flows.iter().zip(pages) {
            let count = u64::from(pages.len());
            if count == 0 {
                continue;
            }
            // Blocks in proportion to valid pages, so that every flow has the same utilisation.
            let share = (u128::from(room) * u128::from(count) / u128::from(left)) as u64;
            let needed = count.div_ceil(per_block);
            least -= needed;
            let free = u64::from(state.blocks.planes[plane].free);
            let most = free.saturating_sub(reserve + least);
            let blocks = share.min(most).max(needed);
            room = room.saturating_sub(blocks);
            left -= count;
            let streaming = matches!(self.holdings[flow].footprint, Footprint::Streaming { .. });
            let part = u64::from(shared) / flows.len() as u64;
            let rounded =
                self.planner.rounded(flow, (count, part), most, streaming).map(<[u32]>::to_vec);
            let (order, when) = match (streaming, &rounded) {
                (_, Some(_)) => (Order::Falling, When::After(others)),
                (true, None) => (Order::Rising, When::Evenly(span)),
                (false, None) => (Order::Random, When::Evenly(span)),
            };
            let mut valid = rounded
                .unwrap_or_else(|| self.planner.valid_pages(count, blocks, streaming).to_vec());
            if device.compat.fullest_blocks_oldest {
                valid.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
            }
            let first = layout.flows[flow].lpa(0);
            if matches!(pages, PagesOn::Stride { period: 1, .. })
                && pages.len() >= shares::PAGES_MIN
                && !streaming
            {
                let flow = FlowId::at(flow);
                fill_in_shares((plane, flow, first), &valid, span, self.seed, state);
                continue;
            }
            self.order.set(pages.len(), order, self.seed, u64::from(plane.get()), flow as u64);
            let at = parts.last().map_or(0, |part: &Part| part.at + part.pages.len());
            let part = Part { flow: FlowId::at(flow), first, pages, at };
            others += valid.len() as u32;
            part.fill_blocks(plane, &valid, when, &self.order, state, &mut self.places);
            parts.push(part);
        }
        state.blocks.blocks_filled(plane, span.max(others));
    }
}

/// All planes in an order in which neighbouring pages of the first flow lie on neighbouring planes.
fn in_order(layout: &Layout, allocator: &Allocator) -> Vec<PlaneId> {
    let all = layout.geometry.planes();
    let mut seen = vec![false; all as usize];
    let owned = (0..layout.flows.len()).flat_map(|flow| allocator.order(FlowId::at(flow)));
    let planes = owned.copied().chain(PlaneId::first(all));
    planes.filter(|&plane| !std::mem::replace(&mut seen[plane.index()], true)).collect()
}

/// Logical pages of a flow that hold data.
fn pages_held(device: &DeviceConfig, flow: &FlowConfig, space: &FlowSpace) -> u64 {
    let occupancy = flow.occupancy.unwrap_or(device.ftl.precondition.occupancy).0;
    ((occupancy * space.pages as f64).round() as u64).min(space.pages)
}

/// Free blocks of a plane in steady state: the level at which collection starts.
fn pool_level(device: &DeviceConfig, layout: &Layout) -> u32 {
    let threshold = device.ftl.gc.threshold.blocks(layout.geometry.blocks_per_plane);
    let halved = if device.compat.fullest_blocks_oldest { 2 } else { 1 };
    (threshold / halved).max(reserve_blocks(&device.ftl.gc) + 1)
}

/// Blocks of a plane that hold host data in steady state: without the free pool and the frontiers.
fn usable_blocks(
    device: &DeviceConfig,
    layout: &Layout,
    flows: u32,
    plane: PlaneId,
    pages: u64,
    state: &FtlState,
) -> u64 {
    let geometry = layout.geometry;
    let reserve = reserve_blocks(&device.ftl.gc) + 1;
    let pool = pool_level(device, layout);
    let free = state.blocks.planes[plane].free;
    let frontiers = if device.ftl_settings().opens_frontiers_at_start() {
        0
    } else {
        device.ftl.separation.frontiers().count() * state.blocks.writers(flows)
    };
    // A nearly full plane keeps a smaller pool: at least one block more than its pages need.
    let needed = pages.div_ceil(u64::from(geometry.pages_per_block)) + u64::from(flows);
    let usual = u64::from(free.saturating_sub(pool + frontiers));
    let most = u64::from(free.saturating_sub(reserve + frontiers));
    usual.max(needed).min(most.max(needed.saturating_sub(u64::from(flows))))
}

/// Returns the blocks of empty frontiers to the pool of a plane until `blocks` blocks are free,
/// where frontiers are open from the start. The last block of every flow may hold few pages. With
/// all frontiers open, such blocks may leave none for collection, which could then never begin.
fn make_room(flows: &[(usize, u64)], plane: PlaneId, blocks: u64, state: &mut FtlState) {
    for stream in [Stream::MAPPING, Stream::HOST] {
        for &(flow, _) in flows {
            if u64::from(state.blocks.planes[plane].free) < blocks {
                state.blocks.close_empty_frontier(plane, FlowId::at(flow), stream);
            }
        }
    }
}

/// Opens the blocks that the flows of a plane are writing, as long as the pool keeps its level. A
/// plane begins to collect when it has filled one of these blocks.
fn open_blocks(
    device: &DeviceConfig,
    layout: &Layout,
    flows: &[(usize, u64)],
    plane: PlaneId,
    state: &mut FtlState,
    seed: u64,
) {
    let level = pool_level(device, layout);
    let mut rng = Rng::stream(seed, "precondition.open_blocks", u64::from(plane.get()));
    for &(flow, _) in flows.iter().take(state.blocks.writers(flows.len() as u32) as usize) {
        for &stream in device.ftl.separation.frontiers().streams() {
            let page = rng.below(u64::from(layout.geometry.pages_per_block)) as u32;
            // No page of the flash, and no word line, is begun.
            let page = page - page % layout.geometry.units_per_program();
            if state.blocks.planes[plane].free > level {
                state.blocks.precondition_frontier(plane, FlowId::at(flow), stream, page);
            }
        }
    }
}
