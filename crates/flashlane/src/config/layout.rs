//! Divides a configured device among the flows of a workload.

use super::{DeviceConfig, FlowConfig, InterfaceKind, MqsimFlowConfig, WorkloadConfig};
use crate::layout::{FlowSpace, Geometry, Layout};

impl Layout {
    /// Divides the device. The configuration must be valid: lists in range, not empty.
    ///
    /// A plane's logical capacity is `physical / (1 + over-provisioning)`, shared equally by the
    /// flows that list the plane. Source: MQSim (FAST'18) section 4.2, its released partitioning.
    #[must_use]
    pub fn new(device: &DeviceConfig, workload: &WorkloadConfig) -> Self {
        let geometry = Geometry::new(&device.flash);
        // A SATA drive cannot tell flows apart.
        let lists_count = device.interface.kind == InterfaceKind::Nvme;
        let list = |given: &Option<Vec<u32>>, count: u32| match given {
            Some(given) if lists_count => {
                let mut given = given.clone();
                given.sort_unstable();
                given.dedup();
                given
            }
            _ => (0..count).collect(),
        };
        let mut flows: Vec<FlowSpace> = workload
            .flows
            .iter()
            .map(|flow| {
                FlowSpace::empty([
                    list(&flow.channels, geometry.channels),
                    list(&flow.chips, geometry.chips_per_channel),
                    list(&flow.dies, geometry.dies_per_chip),
                    list(&flow.planes, geometry.planes_per_die),
                ])
            })
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
        let (mut start_sector, mut first_lpa) = (0, 0);
        for (flow, config) in flows.iter_mut().zip(&workload.flows) {
            // The tiny term keeps exact products from falling below their integer.
            flow.sectors = flow
                .planes(geometry)
                .map(|p| (plane_sectors / f64::from(owners[p.index()]) + 1e-6) as u64)
                .sum();
            flow.pages = flow.sectors.div_ceil(u64::from(geometry.sectors_per_page));
            flow.start_sector = start_sector;
            flow.first_lpa = first_lpa;
            if device.compat.device_page_cuts {
                flow.page_phase = (start_sector % u64::from(geometry.sectors_per_page)) as u32;
            }
            if device.compat.wrapped_requests {
                flow.wraps_after = wraps_after(config, flow.sectors);
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

/// With `compat.wrapped_requests`: the sector after which requests of a flow continue at its start.
fn wraps_after(flow: &FlowConfig, sectors: u64) -> Option<u64> {
    let Some(MqsimFlowConfig::Synthetic(synthetic)) = &flow.mqsim else { return None };
    Some(synthetic.last_sector(sectors)).filter(|&last| last > 0)
}
