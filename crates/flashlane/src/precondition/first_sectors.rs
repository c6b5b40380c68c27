//! The released MQSim's sector bitmaps: a page that preconditioning fills holds only the first
//! sector of an access.

use flashlane_engine::Rng;
use flashlane_units::Ppa;

use flashlane_config::{FlowConfig, MqsimFlowConfig, WorkloadConfig};
use flashlane_device::ftl::FtlState;
use flashlane_device::layout::{Layout, SECTOR_BYTES};

/// Alignment of the accesses of a flow. Unit: sectors.
fn alignment(flow: &FlowConfig) -> u64 {
    match (&flow.synthetic, &flow.mqsim) {
        (_, Some(MqsimFlowConfig::Synthetic(config))) if config.aligned => {
            u64::from(config.alignment_sectors)
        }
        (_, Some(_)) => 1,
        (Some(config), _) => config.alignment() / SECTOR_BYTES,
        _ => 1,
    }
    .max(1)
}

/// Leaves one sector in every page with data, at a place where an access can start.
pub(super) fn keep(workload: &WorkloadConfig, layout: &Layout, state: &mut FtlState, seed: u64) {
    let sectors = u64::from(layout.geometry.sectors_per_page);
    for (index, (flow, space)) in workload.flows.iter().zip(&layout.flows).enumerate() {
        let unit = alignment(flow).min(sectors);
        let mut rng = Rng::stream(seed, "precondition.sectors", index as u64);
        for lpa in (0..space.pages).map(|page| space.lpa(page)) {
            if state.pages.ppa(lpa) != Ppa::NONE {
                let sector = rng.below(sectors.div_ceil(unit)) * unit;
                let sector = sector as u32;
                state.pages.set_mask(lpa, state.pages.covering(sector, sector + 1));
            }
        }
    }
}
