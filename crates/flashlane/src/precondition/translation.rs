//! Translation pages of written flows are on flash.

use flashlane_units::{FlowId, Lpa};

use super::Holding;
use flashlane_config::DeviceConfig;
use flashlane_device::ftl::FtlState;
use flashlane_device::ftl::allocation::Allocator;
use flashlane_device::ftl::blocks::Stream;
use flashlane_device::ftl::mapping::MappingTable;
use flashlane_device::ftl::superblocks::folded;
use flashlane_device::layout::Layout;

/// Places every translation page of a flow with data on flash.
pub(super) fn place_translation_pages(
    layout: &Layout,
    allocator: &Allocator,
    holdings: &[Holding<'_>],
    state: &mut FtlState,
) {
    let Some(mut table) = state.mapping.take() else { return };
    for (flow, holding) in holdings.iter().enumerate() {
        if holding.written == 0 {
            continue;
        }
        let pages = table.pages_of(FlowId::at(flow), layout);
        place_pages_of_flow(FlowId::at(flow), pages, allocator, &mut table, state);
    }
    state.mapping = Some(table);
}

/// Places every whole translation page on flash although nothing was written, as in the released
/// MQSim.
pub(crate) fn place_empty_translation_pages(
    device: &DeviceConfig,
    layout: &Layout,
    state: &mut FtlState,
) {
    let Some(mut table) = state.mapping.take() else { return };
    let layout = &*folded(device.ftl_settings(), layout);
    let allocator = Allocator::new(&device.ftl.allocation, layout);
    for flow in (0..layout.flows.len()).map(FlowId::at) {
        let pages = table.whole_pages_of(flow, layout);
        place_pages_of_flow(flow, pages, &allocator, &mut table, state);
    }
    state.mapping = Some(table);
}

fn place_pages_of_flow(
    flow: FlowId,
    pages: std::ops::Range<u32>,
    allocator: &Allocator,
    table: &mut MappingTable,
    state: &mut FtlState,
) {
    for page in pages {
        let plane = allocator.translation_plane(flow, table.index_in_flow(flow, page));
        let ppa = state
            .blocks
            .allocate(plane, flow, Stream::MAPPING, true)
            .expect("translation pages fit into an empty plane");
        state.blocks.written_at_once(ppa);
        state.pages.set_lpa(ppa, Lpa::new(page));
        table.set_on_flash(page, ppa);
    }
}
