//! Steady state of hybrid mapping: data blocks hold the written pages, and random log blocks the
//! latest writes.

use flashlane_engine::Rng;
use flashlane_units::{FlowId, Lpa, Ppa};

use super::recent::Recent;
use super::{Holding, PlaneTurn};
use flashlane_device::ftl::FtlState;
use flashlane_device::ftl::allocation::Allocator;
use flashlane_device::layout::Layout;
use flashlane_workload::footprint::Footprint;

/// Places every written page in its data block. Then it moves the pages that the workload writes
/// most recently to the log blocks, which are all full except the last. Streams leave no pages
/// there.
pub(super) fn place(
    layout: &Layout,
    allocator: &Allocator,
    holdings: &[Holding<'_>],
    state: &mut FtlState,
    seed: u64,
) {
    let mut hybrid = state.hybrid.take().expect("mapping is hybrid");
    for (flow, (holding, space)) in holdings.iter().zip(&layout.flows).enumerate() {
        let flow = FlowId::at(flow);
        let order = allocator.order(flow);
        let period = order.len() as u64;
        let lpa = |page: u64| space.lpa(page);
        for (index, &plane) in (0..).zip(order) {
            for page in holding.pages_on(PlaneTurn { index, period }, space.pages, 1).iter() {
                let lpa = lpa(u64::from(page));
                let ppa = hybrid.data_place(plane, flow, lpa, &mut state.blocks);
                state.pages.place(lpa, ppa);
                state.blocks.block_mut(state.blocks.block_of(ppa)).valid += 1;
            }
        }
        if matches!(holding.footprint, Footprint::Streaming { .. }) || space.pages == 0 {
            continue;
        }
        let sectors = u64::from(layout.geometry.sectors_per_page);
        let recent = Recent::new(holding.footprint, space.pages, sectors);
        let mut rng = Rng::stream(seed, "precondition.log", u64::from(flow.get()));
        for _ in 0..hybrid.log_pages() * period {
            let page = recent.draw(&mut rng);
            let old = state.pages.ppa(lpa(page));
            let plane = order[(page % period) as usize];
            if old == Ppa::NONE {
                continue;
            }
            if let Some(ppa) = hybrid.log_place(plane, flow, &mut state.blocks) {
                state.pages.set_lpa(old, Lpa::NONE);
                state.blocks.invalidate(state.blocks.block_of(old));
                state.pages.place(lpa(page), ppa);
            }
        }
    }
    state.hybrid = Some(hybrid);
}
