//! Divides a configured drive among its tenants.

use flashlane_units::Handle;

use super::{DeviceConfig, InterfaceKind, PlacementMode};
use crate::ftl::superblocks;
use crate::layout::{FlowSpace, Geometry, Layout, SECTOR_BYTES, StreamStart, ZoneGeometry};

/// The parts of the drive that a tenant asks for: numbers of channels, of chips of a channel, of
/// dies of a chip, of planes of a die. `None` asks for all of them.
#[derive(Clone, Copy, Debug)]
pub struct TenantShape<'a> {
    /// Channels, chips, dies, planes, in any order.
    pub lists: [Option<&'a [u32]>; 4],
    /// The placement handle of writes that name none.
    pub handle: Handle,
}

impl Layout {
    /// Divides the drive. The configuration must be valid: lists in range, not empty.
    ///
    /// A plane's logical capacity is `physical / (1 + over-provisioning)`, shared equally by the
    /// flows that list the plane. Source: MQSim (FAST'18) section 4.2, its released partitioning.
    #[must_use]
    pub fn divide(device: &DeviceConfig, tenants: &[TenantShape<'_>]) -> Self {
        let geometry = device.geometry();
        // A SATA drive cannot tell flows apart.
        let lists_count = device.interface.kind == InterfaceKind::Nvme;
        let identifiers = device.placement.identifiers();
        let mut flows: Vec<FlowSpace> = tenants
            .iter()
            .map(|tenant| {
                let lists = resolve(tenant, geometry, lists_count);
                FlowSpace { handle: tenant.handle, identifiers, ..FlowSpace::empty(lists) }
            })
            .collect();
        let mut owners = vec![0_u32; geometry.planes() as usize];
        for flow in &flows {
            for plane in flow.planes(geometry) {
                owners[plane.index()] += 1;
            }
        }
        let zones = zones(device, geometry, &flows);
        let plane_sectors = geometry.pages_per_plane() as f64
            * f64::from(geometry.sectors_per_page)
            / (1.0 + device.ftl.over_provisioning.0);
        let one_stream = !lists_count && device.compat.sata_one_stream;
        let (mut start_sector, mut first_lpa) = (0, 0);
        for flow in &mut flows {
            // The tiny term keeps exact products from falling below their integer.
            flow.sectors = flow
                .planes(geometry)
                .map(|p| (plane_sectors / f64::from(owners[p.index()]) + 1e-6) as u64)
                .sum();
            if let Some(zone) = zones {
                // Whole zones.
                flow.sectors -= flow.sectors % zone.capacity;
            }
            flow.pages = flow.sectors.div_ceil(u64::from(geometry.sectors_per_page));
            if let Some(zone) = zones {
                flow.zones = zones;
                flow.sectors = flow.sectors / zone.capacity * zone.size;
            }
            flow.start_sector = start_sector;
            flow.first_lpa = first_lpa;
            let of_page = u64::from(geometry.sectors_per_page);
            let before = (start_sector % of_page) as u32;
            if one_stream {
                let page = (start_sector / of_page) as u32;
                flow.in_stream = Some(StreamStart { page, sectors: before });
                flow.pages = (flow.sectors + u64::from(before)).div_ceil(of_page);
            } else if device.compat.device_page_cuts {
                flow.page_phase = before;
            }
            start_sector += flow.sectors;
            first_lpa += flow.pages;
        }
        if let Some(sets) = device.isolation.starting_sets(geometry, &flows) {
            for (flow, set) in flows.iter_mut().zip(sets) {
                flow.chips = Some(set);
            }
        }
        Self { geometry, flows, logical_pages: first_lpa, zones }
    }
}

/// The zones of a drive: its superblocks. `None` where it has none, and where its planes form no
/// superblocks, which validation refuses.
fn zones(device: &DeviceConfig, geometry: Geometry, flows: &[FlowSpace]) -> Option<ZoneGeometry> {
    if device.placement.mode != PlacementMode::Zones {
        return None;
    }
    let layout = Layout { geometry, flows: flows.to_vec(), logical_pages: 0, zones: None };
    let pages = superblocks::data_pages(device.ftl_settings(), &layout)?;
    let capacity = u64::from(pages) * u64::from(geometry.sectors_per_page);
    let size = device.placement.zones.size.map_or(capacity, |size| size.0 / SECTOR_BYTES);
    let size = size.max(capacity);
    let size_pages = u32::try_from(size / u64::from(geometry.sectors_per_page)).unwrap_or(u32::MAX);
    let config = &device.placement.zones;
    let flows = u32::try_from(flows.len()).unwrap_or(u32::MAX).max(1);
    let share = (config.max_open.min(config.max_active) / flows).max(1);
    Some(ZoneGeometry { size, capacity, pages, size_pages, share })
}

/// The lists of a tenant, sorted, each number once.
fn resolve(tenant: &TenantShape<'_>, geometry: Geometry, lists_count: bool) -> [Vec<u32>; 4] {
    let counts = [
        geometry.channels,
        geometry.chips_per_channel,
        geometry.dies_per_chip,
        geometry.planes_per_die,
    ];
    std::array::from_fn(|level| match tenant.lists[level] {
        Some(given) if lists_count => {
            let mut given = given.to_vec();
            given.sort_unstable();
            given.dedup();
            given
        }
        _ => (0..counts[level]).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::sample::small_drive;

    #[test]
    fn in_one_stream_a_flow_begins_where_the_one_before_ends() {
        let mut device = small_drive();
        device.interface.kind = InterfaceKind::Sata;
        // One plane, whose share of 4,883 sectors is no whole number of pages.
        (device.flash.channels, device.flash.chips_per_channel) = (1, 1);
        (device.flash.planes_per_die, device.ftl.over_provisioning.0) = (1, 0.1184);
        let tenants =
            [TenantShape { lists: [None; 4], handle: flashlane_units::Handle::default() }; 3];
        let apart = Layout::divide(&device, &tenants);
        assert!(!apart.is_one_stream());
        device.compat.sata_one_stream = true;
        let one = Layout::divide(&device, &tenants);
        assert!(one.is_one_stream());
        let of_page = u64::from(one.geometry.sectors_per_page);
        let mut begins = 0;
        for flow in &one.flows {
            let start = flow.in_stream.expect("flows of a stream begin somewhere");
            assert_eq!(u64::from(start.page) * of_page + u64::from(start.sectors), begins);
            assert_eq!(flow.pages, (u64::from(start.sectors) + flow.sectors).div_ceil(of_page));
            begins += flow.sectors;
        }
        let cut = one.flows.iter().any(|flow| flow.in_stream.is_some_and(|at| at.sectors > 0));
        assert!(cut, "a flow begins inside a page here");
    }
}
