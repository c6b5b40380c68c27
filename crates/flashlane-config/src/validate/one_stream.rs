//! What the one stream of a SATA drive (`compat.sata_one_stream`) does not go with.

use crate::{DeviceConfig, InterfaceKind, MappingKind};
use flashlane_reading::Rules;

/// In one stream, flows write into the pages of each other.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    let one_stream = device.interface.kind == InterfaceKind::Sata && device.compat.sata_one_stream;
    let hybrid = device.ftl.mapping.kind == MappingKind::Hybrid;
    rules.require(!(hybrid && one_stream), "compat.sata_one_stream", || {
        "found true, allowed: false; with hybrid mapping each flow has logical blocks of its own, \
         and in one stream flows write into the space of each other"
            .to_owned()
    });
}
