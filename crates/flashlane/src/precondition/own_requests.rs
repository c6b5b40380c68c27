//! The data that the released MQSim puts on a drive before a run: the pages of the requests that
//! are to come.
//!
//! It draws from the flow's generator, with the flow's seed, until it has met enough pages. The run
//! then repeats these requests from the first one on, so it writes only pages that are there
//! already.

use flashlane_engine::{Rng, Time};

use flashlane_config::{
    CompatConfig, DeviceConfig, FlowConfig, MqsimAddress, MqsimFlowConfig, MqsimSyntheticConfig,
    WorkloadConfig,
};
use flashlane_device::ftl::gc::build;
use flashlane_device::ftl::gc::mean_field::released;
use flashlane_device::layout::FlowSpace;
use flashlane_workload::Scatter;
use flashlane_workload::footprint::{Footprint, PageSet};

/// Least ratio of touched pages to held pages; below it, addresses are drawn from the flow's whole
/// space.
const TOUCHED_PER_HELD: f64 = 1.1;

/// Largest share of its space that a flow holds.
const HELD_MAX: f64 = 0.9;

/// Most draws for each page to be met.
const DRAWS_PER_PAGE: u64 = 16;

/// Largest share of hot pages with which a flow counts as one with hot pages.
const HOT_MAX: f64 = 0.3;

/// The share of hot pages of a flow of MQSim, if it counts as one with hot pages.
fn hot_share(flow: &FlowConfig) -> Option<f64> {
    let Some(MqsimFlowConfig::Synthetic(synthetic)) = &flow.mqsim else { return None };
    let share = f64::from(synthetic.hot_region_percent) / 100.0;
    (synthetic.address == MqsimAddress::HotCold && share <= HOT_MAX && share > 0.0).then_some(share)
}

/// With `compat.rounded_block_counts`, the steady state of every flow that has one.
pub(super) fn steady_states(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
) -> Vec<Option<Vec<f64>>> {
    let (flash, ftl) = (&device.flash, &device.ftl);
    let policy = build(&ftl.gc.victim);
    let blocks = flash.blocks_per_plane;
    let in_use = 1.0 - f64::from(ftl.gc.threshold.blocks(blocks)) / f64::from(blocks);
    let state = |flow: &FlowConfig| {
        let held = flow.occupancy.unwrap_or(ftl.precondition.occupancy).0;
        let rho = held / (1.0 + ftl.over_provisioning.0) / in_use;
        if !device.compat.rounded_block_counts || rho <= 0.0 || rho >= 1.0 {
            return None;
        }
        let uniform = match policy.released_choices(blocks) {
            Some(choices) => released::best_of(choices, rho, flash.pages_per_block),
            None => released::of_random_victims(rho, flash.pages_per_block),
        };
        Some(match hot_share(flow) {
            Some(hot) => released::with_hot_pages(&uniform, hot),
            None => uniform,
        })
    };
    workload.flows.iter().map(state).collect()
}

/// All hot pages of a flow and some of the others, `held` pages together. `touched`: the pages that
/// the run uses, of which the first are hot.
fn hot_pages_first(
    space: &FlowSpace,
    held: u64,
    touched: u64,
    hot_share: f64,
    seed: u64,
) -> Footprint {
    let hot_of = |all: u64| (hot_share * all as f64) as u64;
    let (mut all, mut hot) = (touched, hot_of(touched));
    let cold_needed = TOUCHED_PER_HELD * held.saturating_sub(hot) as f64;
    if ((all - hot) as f64) < cold_needed {
        (all, hot) = (space.pages, hot_of(space.pages));
    }
    let mut pages = PageSet::new(space.pages);
    let (from, count) = match held.checked_sub(hot) {
        Some(cold) => {
            (0..hot).for_each(|page| pages.insert_range(page, page));
            (hot..all, cold)
        }
        None => (0..hot, held),
    };
    let mut rng = Rng::stream(seed, "precondition.hot_pages", space.first_lpa);
    let order = Scatter::new((from.end - from.start).max(1), rng.next_u64());
    for page in (0..count.min(from.end - from.start)).map(|k| from.start + order.at(k)) {
        pages.insert_range(page, page);
    }
    Footprint::Pages(pages)
}

/// The size of a space of which a flow uses the sectors up to `last`.
fn sectors_up_to(synthetic: &MqsimSyntheticConfig, last: u64) -> u64 {
    let percent = u64::from(synthetic.working_set_percent.clamp(1, 100));
    let first_guess = last * 100 / percent;
    (first_guess..).find(|&sectors| synthetic.last_sector(sectors) >= last).unwrap_or(last)
}

/// With `compat.occupied_by_own_requests`, the pages that the first requests of a uniform MQSim
/// flow touch, as many as it holds; `None` for all other flows.
pub(super) fn footprint(
    device: &DeviceConfig,
    flow: &FlowConfig,
    index: u64,
    space: &FlowSpace,
    seed: u64,
) -> Option<Footprint> {
    let CompatConfig { occupied_by_own_requests: true, random_generators: true, .. } =
        device.compat
    else {
        return None;
    };
    let Some(MqsimFlowConfig::Synthetic(synthetic)) = &flow.mqsim else { return None };
    let share = flow.occupancy.unwrap_or(device.ftl.precondition.occupancy).0.min(HELD_MAX);
    let held = (share * space.pages as f64) as u64;
    let touched = space.pages as f64 * f64::from(synthetic.working_set_percent) / 100.0;
    if synthetic.address == MqsimAddress::Streaming {
        return None;
    }
    if let Some(hot) = hot_share(flow) {
        return Some(hot_pages_first(space, held, touched as u64, hot, seed));
    }
    let too_small = touched < TOUCHED_PER_HELD * held as f64;
    let mut endless = flow.clone();
    let (mut drawn_from, used) = (space.clone(), synthetic);
    if let Some(MqsimFlowConfig::Synthetic(synthetic)) = &mut endless.mqsim {
        if too_small {
            synthetic.working_set_percent = 100;
        }
        synthetic.address = MqsimAddress::Uniform;
        (synthetic.requests, synthetic.stop_time_ns) = (u64::MAX, 0);
        // The release draws addresses below the last one that the run uses.
        let mut last = used.last_sector(space.sectors).saturating_sub(1);
        if too_small {
            last = (last as f64 * 100.0 / f64::from(used.working_set_percent)) as u64;
        }
        drawn_from.sectors = sectors_up_to(synthetic, last.min(space.sectors - 1));
    }
    let mut source = flashlane_workload::build(
        &endless,
        index,
        &drawn_from,
        device.unit(),
        device.interface.max_transfer,
        &device.compat,
        seed,
    )
    .ok()?;
    let per_page = device.unit().0 / flashlane_device::layout::SECTOR_BYTES;
    let mut pages = PageSet::new(space.pages);
    let mut met = 0;
    for _ in 0..held.saturating_mul(DRAWS_PER_PAGE) {
        if met >= held {
            break;
        }
        let request = source.next(Time::ZERO).ok()??;
        let last = request.sector + u64::from(request.sectors.max(1)) - 1;
        for page in request.sector / per_page..=(last / per_page).min(space.pages - 1) {
            if !pages.contains(page) {
                pages.insert_range(page, page);
                met += 1;
            }
        }
    }
    Some(Footprint::Pages(pages))
}
