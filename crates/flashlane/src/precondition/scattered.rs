//! The place of the data of a flow that holds more pages than it touches, in the released MQSim:
//! anywhere.

use flashlane_engine::Rng;
use flashlane_units::{FlowId, Ppa};

use super::pages_held;
use flashlane_config::{DeviceConfig, FlowConfig, WorkloadConfig};
use flashlane_device::ftl::FtlState;
use flashlane_device::layout::{FlowSpace, Layout};
use flashlane_workload::Scatter;
use flashlane_workload::footprint::{Footprint, PageSet};

/// Least ratio of touched pages to held pages; below it, the data lies anywhere.
const TOUCHED_PER_HELD: f64 = 1.1;

/// The order in which the pages of a flow get their data.
fn order(space: &FlowSpace, seed: u64) -> Scatter {
    let mut rng = Rng::stream(seed, "precondition.scattered", space.first_lpa);
    Scatter::new(space.pages, rng.next_u64())
}

/// With `compat.scattered_occupancy`: the pages that each flow holds, instead of its footprint. A
/// flow that touches more pages than it holds, and a flow that streams, keeps its footprint.
pub(super) fn footprints(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    layout: &Layout,
    footprints: &[Footprint],
    seed: u64,
) -> Option<Vec<Footprint>> {
    let per_page = u64::from(layout.geometry.sectors_per_page);
    let scattered = |flow: &FlowConfig, space: &FlowSpace, footprint: &Footprint| {
        let held = pages_held(device, flow, space);
        let touched = match footprint {
            Footprint::Whole => space.pages,
            Footprint::Prefix { sectors } => sectors / per_page,
            _ => return footprint.clone(),
        };
        let roomy = touched as f64 >= TOUCHED_PER_HELD * held as f64;
        if held == space.pages || (roomy && touched < space.pages) {
            return footprint.clone();
        }
        let mut pages = PageSet::new(space.pages);
        let order = order(space, seed);
        for page in (0..held).map(|k| order.at(k)) {
            pages.insert_range(page, page);
        }
        Footprint::Pages(pages)
    };
    let flows = workload.flows.iter().zip(&layout.flows).zip(footprints);
    device
        .compat
        .scattered_occupancy
        .then(|| flows.map(|((flow, space), own)| scattered(flow, space, own)).collect())
}

/// Fills the cached mapping table with entries of the lowest pages with data, an equal share for
/// each flow.
pub(super) fn warm_entries(layout: &Layout, state: &mut FtlState) {
    let Some(table) = &mut state.mapping else { return };
    let share = table.capacity() / layout.flows.len() as u64;
    for (flow, space) in (0..).map(FlowId::new).zip(&layout.flows) {
        let pages = (0..space.pages).map(|page| space.lpa(page));
        let held = pages.filter(|&lpa| state.pages.ppa(lpa) != Ppa::NONE);
        for lpa in held.take(share as usize) {
            table.recall(flow, lpa, false);
        }
    }
}
