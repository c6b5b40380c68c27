//! Divides a configured device among the flows of a workload.

use flashlane_device::config::TenantShape;
use flashlane_device::layout::{Layout, StreamStart};
use flashlane_units::Handle;

use super::{DeviceConfig, FlowConfig, MqsimFlowConfig, WorkloadConfig};

impl WorkloadConfig {
    /// The device, divided among the flows. The configuration must be valid: lists in range, not
    /// empty.
    #[must_use]
    pub fn layout(&self, device: &DeviceConfig) -> Layout {
        let tenants: Vec<TenantShape<'_>> = self.flows.iter().map(shape).collect();
        let mut layout = Layout::divide(device, &tenants);
        if device.compat.wrapped_requests {
            for (space, flow) in layout.flows.iter_mut().zip(&self.flows) {
                space.wraps_after = wraps_after(flow, space.sectors).map(|last| {
                    // In one stream, the drive does not know where the flow's addresses end.
                    let end = |start: StreamStart| u64::from(start.sectors) + space.sectors - 1;
                    space.in_stream.map_or(last, end)
                });
            }
        }
        layout
    }
}

/// The parts of the drive that the flow asks for.
fn shape(flow: &FlowConfig) -> TenantShape<'_> {
    let lists = [&flow.channels, &flow.chips, &flow.dies, &flow.planes];
    let handle = flow.placement.map_or(Handle::default(), |id| Handle::new(id as u8));
    TenantShape { lists: lists.map(|list| list.as_deref()), handle }
}

/// With `compat.wrapped_requests`: the sector after which requests of a flow continue at its start.
fn wraps_after(flow: &FlowConfig, sectors: u64) -> Option<u64> {
    let Some(MqsimFlowConfig::Synthetic(synthetic)) = &flow.mqsim else { return None };
    Some(synthetic.last_sector(sectors)).filter(|&last| last > 0)
}
