//! Rules of superblocks.

use crate::{CompatConfig, DeviceConfig, MappingKind, Technology, WorkloadConfig};
use flashlane_device::ftl::superblocks::{Superblock, problem};
use flashlane_device::scheduler::policy::Scheduling;
use flashlane_reading::Rules;

/// Checks the keys of superblocks. The rest of the device must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    let ftl = &device.ftl;
    if ftl.superblock == Superblock::Block {
        rules.require(!ftl.parity, "ftl.parity", || {
            "found true, allowed: only with ftl.superblock = \"drive\" or a set of dies".to_owned()
        });
        return;
    }
    for (found, with) in [
        (device.flash.technology == Technology::InPlace, "memory that is written in place"),
        (ftl.mapping.kind == MappingKind::Hybrid, "hybrid mapping, whose blocks are logical ones"),
        (ftl.gc.copyback, "ftl.gc.copyback, since copies go to other planes"),
        (
            ftl.allocation.is_dynamic(),
            "an allocation that chooses the plane of each write: the stripe decides it (allowed are \
             the static orders)",
        ),
        (
            device.isolation.moves(),
            "an isolation policy whose sets of chips move (allowed are unified and partitioned)",
        ),
        (
            matches!(device.scheduler, Scheduling::Flin(_)),
            "scheduler flin, which needs to know the tenant of each block",
        ),
        (device.compat != CompatConfig::default(), "switches of compat"),
    ] {
        rules.require(!found, "ftl.superblock", || {
            format!("found {}, allowed: block with {with}", ftl.superblock)
        });
    }
}

/// Checks that the planes of the flows form superblocks. The rest of both configurations must be
/// valid.
pub(super) fn check_sets(rules: &mut Rules, device: &DeviceConfig, workload: &WorkloadConfig) {
    if let Some(problem) = problem(device.ftl_settings(), &workload.layout(device)) {
        rules.refuse("ftl.superblock", problem);
    }
}
