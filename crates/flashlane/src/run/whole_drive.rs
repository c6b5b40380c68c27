//! The drive of a flow that runs alone: all of it.

use flashlane_config::{DeviceConfig, WorkloadConfig};
use flashlane_device::isolation::{Isolation, UnifiedConfig};
use flashlane_device::layout::Layout;

/// True if a flow has less of the drive beside the others than it can have alone, or a limit.
pub(super) fn differs(device: &DeviceConfig, workload: &WorkloadConfig) -> bool {
    let lists = workload.flows.iter().flat_map(|flow| {
        [&flow.channels, &flow.chips, &flow.dies, &flow.planes].map(Option::is_some)
    });
    let bound = workload.limits_rates() || lists.into_iter().any(|listed| listed);
    bound || !matches!(device.isolation, Isolation::Unified(_))
}

/// The drive without isolation, and its layout, in which the data of every flow lies on all planes.
/// Flows keep the sizes of their logical spaces, and so all their requests.
pub(super) fn of(device: &DeviceConfig, workload: &WorkloadConfig) -> (DeviceConfig, Layout) {
    let mut layout = workload.layout(device);
    let geometry = layout.geometry;
    let counts = [
        geometry.channels,
        geometry.chips_per_channel,
        geometry.dies_per_chip,
        geometry.planes_per_die,
    ];
    for space in &mut layout.flows {
        space.lists = counts.map(|count| (0..count).collect());
        space.chips = None;
    }
    let mut device = device.clone();
    device.isolation = Isolation::Unified(UnifiedConfig::default());
    (device, layout)
}
