//! Divides a configured drive among its tenants.

use super::{DeviceConfig, InterfaceKind};
use crate::layout::{FlowSpace, Geometry, Layout, StreamStart};

/// The parts of the drive that a tenant asks for: numbers of channels, of chips of a channel, of
/// dies of a chip, of planes of a die. `None` asks for all of them.
#[derive(Clone, Copy, Debug)]
pub struct TenantShape<'a> {
    /// Channels, chips, dies, planes, in any order.
    pub lists: [Option<&'a [u32]>; 4],
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
        let mut flows: Vec<FlowSpace> = tenants
            .iter()
            .map(|tenant| FlowSpace::empty(resolve(tenant, geometry, lists_count)))
            .collect();
        let mut owners = vec![0_u32; geometry.planes() as usize];
        for flow in &flows {
            for plane in flow.planes(geometry) {
                owners[plane.index()] += 1;
            }
        }
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
            flow.pages = flow.sectors.div_ceil(u64::from(geometry.sectors_per_page));
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
        Self { geometry, flows, logical_pages: first_lpa }
    }
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
