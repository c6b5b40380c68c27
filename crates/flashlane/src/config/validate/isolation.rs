//! Rules of isolation policies.

use super::rules::Rules;
use crate::config::{DeviceConfig, InterfaceKind, Technology, WorkloadConfig};
use crate::isolation::Isolation;
use crate::layout::Layout;

/// Refuses what no policy but `unified` can do. The rest of the device must be valid.
pub(super) fn check_device(rules: &mut Rules, device: &DeviceConfig) {
    if matches!(device.isolation, Isolation::Unified(_)) {
        return;
    }
    let name = device.isolation.name();
    rules.require(device.interface.kind == InterfaceKind::Nvme, "isolation", || {
        format!("found {name}, allowed: unified; a SATA drive cannot tell flows apart")
    });
    rules.require(device.flash.technology != Technology::InPlace, "isolation", || {
        format!("found {name}, allowed: unified; memory that is written in place has fixed places")
    });
}

/// Refuses flows that are left without a chip. The rest of both configurations must be valid.
pub(super) fn check_sets(rules: &mut Rules, device: &DeviceConfig, workload: &WorkloadConfig) {
    let layout = Layout::new(device, workload);
    let without: Vec<&str> = workload
        .flows
        .iter()
        .zip(&layout.flows)
        .filter(|(_, space)| space.plane_count() == 0)
        .map(|(flow, _)| flow.name.as_str())
        .collect();
    rules.require(without.is_empty(), "isolation", || {
        format!(
            "found {} of {} flows, of which nothing is left for {}; allowed: at least one channel or chip \
             for each, among those that its resource lists name",
            device.isolation.name(),
            workload.flows.len(),
            without.join(", ")
        )
    });
}
