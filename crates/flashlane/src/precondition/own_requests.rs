//! The data that the released MQSim puts on a drive before a run: the pages of the requests that
//! are to come.
//!
//! It draws from the flow's generator, with the flow's seed, until it has met enough pages. The run
//! then repeats these requests from the first one on, so it writes only pages that are there
//! already.

use flashlane_engine::Time;

use super::steady_states::hot_share;
use flashlane_config::{CompatConfig, DeviceConfig, FlowConfig, MqsimAddress, MqsimFlowConfig};
use flashlane_device::layout::{FlowSpace, SECTOR_BYTES};
use flashlane_workload::footprint::{Footprint, PageSet};

/// Least ratio of touched pages to held pages; below it, addresses are drawn from the flow's whole
/// space.
const TOUCHED_PER_HELD: f64 = 1.1;

/// Largest share of its space that a flow holds.
const HELD_MAX: f64 = 0.9;

/// Most draws for each page to be met.
const DRAWS_PER_PAGE: u64 = 16;

/// Sectors of a flow from which pages are drawn.
struct Range {
    first: u64,
    last: u64,
}

impl Range {
    /// The pages of the flow's first requests in the range, which go to `pages` until it holds
    /// `held` pages. `None` where nothing can be drawn.
    fn draw(
        &self,
        device: &DeviceConfig,
        (flow, index): (&FlowConfig, u64),
        (space, seed): (&FlowSpace, u64),
        (pages, held): (&mut PageSet, u64),
    ) -> Option<()> {
        let mut endless = flow.clone();
        let Some(MqsimFlowConfig::Synthetic(synthetic)) = &mut endless.mqsim else { return None };
        synthetic.working_set_percent = 100;
        synthetic.address = MqsimAddress::Uniform;
        // Cold pages are drawn with the numbers that the run has for the choice of hot ones.
        synthetic.seed = synthetic.seed.wrapping_add(i32::from(self.first > 0));
        (synthetic.requests, synthetic.stop_time_ns) = (u64::MAX, 0);
        let unit = match (self.first > 0, synthetic.aligned) {
            (true, true) => u64::from(synthetic.alignment_sectors.max(1)),
            _ => 1,
        };
        // Requests behind the first sector are aligned here, since the source counts from it.
        synthetic.aligned &= self.first == 0;
        let drawn_from = FlowSpace { sectors: self.last + 1 - self.first, ..space.clone() };
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
        let per_page = device.unit().0 / SECTOR_BYTES;
        let mut met = pages.count();
        for _ in 0..held.saturating_mul(DRAWS_PER_PAGE) {
            if met >= held {
                break;
            }
            let request = source.next(Time::ZERO).ok()??;
            let sector = space.start_sector + self.first + request.sector;
            let sector = (sector - sector % unit).saturating_sub(space.start_sector);
            let last = sector + u64::from(request.sectors.max(1)) - 1;
            for page in sector / per_page..=(last / per_page).min(space.pages - 1) {
                if !pages.contains(page) {
                    pages.insert_range(page, page);
                    met += 1;
                }
            }
        }
        Some(())
    }
}

/// With `compat.occupied_by_own_requests`, the pages that the first requests of an MQSim flow
/// touch, as many as it holds: of the cold pages only, where all hot ones are held. `None` for
/// flows that stream, and those of other kinds.
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
    if synthetic.address == MqsimAddress::Streaming {
        return None;
    }
    let share = flow.occupancy.unwrap_or(device.ftl.precondition.occupancy).0.min(HELD_MAX);
    let held = (share * space.pages as f64) as u64;
    let per_page = device.unit().0 / SECTOR_BYTES;
    let hot = hot_share(flow);
    let hot_last = |last: u64| hot.map(|share| (last as f64 * share) as u64);
    let hot_pages = |last: u64| hot_last(last).map_or(0, |last| last / per_page + 1);
    // The release draws addresses below the last one that the run uses.
    let mut last = synthetic.last_sector(space.sectors).saturating_sub(1);
    let mut last_cold = last;
    let (touched, hot_touched) = (last / per_page + 1, hot_pages(last));
    let cold = (touched - hot_touched.min(touched)) as f64;
    if cold < TOUCHED_PER_HELD * held.saturating_sub(hot_touched) as f64 {
        let used = f64::from(synthetic.working_set_percent.clamp(1, 100));
        let whole = space.sectors.saturating_sub(1);
        last = ((last as f64 * 100.0 / used) as u64).min(whole);
        last_cold = whole;
    }
    let mut pages = PageSet::new(space.pages);
    let range = match hot_last(last) {
        Some(hot_last) if hot_pages(last) >= held => Range { first: 0, last: hot_last },
        Some(hot_last) => {
            pages.insert_range(0, hot_last / per_page);
            Range { first: hot_last + 1, last: last_cold }
        }
        None => Range { first: 0, last },
    };
    range.draw(device, (flow, index), (space, seed), (&mut pages, held))?;
    Some(Footprint::Pages(pages))
}
