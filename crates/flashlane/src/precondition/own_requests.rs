//! The data that the released MQSim puts on a drive before a run: the pages of the requests that
//! are to come.
//!
//! It draws from the flow's generator, with the flow's seed, until it has met enough pages. The run
//! then repeats these requests from the first one on, so it writes only pages that are there
//! already.

use flashlane_engine::Time;

use super::pages_held;
use flashlane_config::{CompatConfig, DeviceConfig, FlowConfig, MqsimAddress, MqsimFlowConfig};
use flashlane_device::layout::FlowSpace;
use flashlane_workload;
use flashlane_workload::footprint::{Footprint, PageSet};

/// Least ratio of touched pages to held pages; below it, addresses are drawn from the flow's whole
/// space.
const TOUCHED_PER_HELD: f64 = 1.1;

/// Largest share of its space that a flow holds.
const HELD_MAX: f64 = 0.9;

/// Most draws for each page to be met.
const DRAWS_PER_PAGE: u64 = 16;

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
    let held = pages_held(device, flow, space).min((HELD_MAX * space.pages as f64) as u64);
    let touched = space.pages as f64 * f64::from(synthetic.working_set_percent) / 100.0;
    if synthetic.address != MqsimAddress::Uniform {
        return None;
    }
    let too_small = touched < TOUCHED_PER_HELD * held as f64;
    let mut endless = flow.clone();
    if let Some(MqsimFlowConfig::Synthetic(synthetic)) = &mut endless.mqsim {
        if too_small {
            synthetic.working_set_percent = 100;
        }
        (synthetic.requests, synthetic.stop_time_ns) = (u64::MAX, 0);
    }
    let mut source = flashlane_workload::build(
        &endless,
        index,
        space,
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
