//! Rules of isolation policies.

use std::collections::BTreeSet;

use crate::{DeviceConfig, InterfaceKind, MappingKind, Technology, WorkloadConfig};
use flashlane_device::isolation::{Isolation, UpiConfig};
use flashlane_reading::Rules;

/// Refuses settings that only `unified` supports. The rest of the device must be valid.
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
    if let Isolation::Upi(upi) = &device.isolation {
        check_upi(rules, device, upi);
    }
}

fn check_upi(rules: &mut Rules, device: &DeviceConfig, upi: &UpiConfig) {
    const HOUR: u64 = 3_600_000_000_000_000;
    rules.require(device.ftl.mapping.kind == MappingKind::Page, "isolation", || {
        "found upi, allowed: unified, partitioned; with hybrid mapping a page stays on \
         its plane"
            .to_owned()
    });
    rules.require(!device.ftl.gc.copyback, "ftl.gc.copyback", || {
        "found true, allowed: false; with isolation upi pages move to other chips".to_owned()
    });
    let key = |name: &str| format!("isolation.upi.{name}");
    rules.span(key("window"), upi.window, &(1_000_000..=HOUR));
    rules.range(key("hysteresis"), upi.hysteresis, &(0.0..=100.0));
    rules.range(key("relocation"), upi.relocation, &(0.0..=1e6));
    for (flow, &exponent) in upi.traffic_exponents.iter().enumerate() {
        rules.range(key(&format!("traffic_exponents[{flow}]")), exponent, &(0.0..=100.0));
    }
    rules.range(key("read_exponent"), upi.read_exponent, &(0.0..=10.0));
    rules.range(key("fill"), upi.fill.0, &(0.01..=1.0));
    rules.range(key("read_gain"), upi.read_gain, &(0.001..=1.0));
    rules.range(key("amplification_gain"), upi.amplification_gain, &(0.001..=1.0));
    rules.range(key("read_memory"), upi.read_memory, &(0..=1000));
    rules.range(key("traffic_limit"), upi.traffic_limit, &(0.1..=0.9999));
    let chips = device.flash.channels.saturating_mul(device.flash.chips_per_channel);
    let lists = [("shared_chips", &upi.shared_chips), ("read_only_chips", &upi.read_only_chips)];
    let mut seen = BTreeSet::new();
    for (name, list) in lists {
        for (index, &chip) in list.iter().enumerate() {
            let place = key(&format!("{name}[{index}]"));
            rules.require(chip < chips, &place, || {
                format!("found {chip}, allowed: 0 to {} on this device", chips.max(1) - 1)
            });
            rules.require(seen.insert(chip), place, || {
                format!("found {chip} a second time, allowed: each chip in one of both lists")
            });
        }
    }
}

/// Refuses resource lists beside sets that change, and flows without a chip of their own.
fn check_moving(
    rules: &mut Rules,
    device: &DeviceConfig,
    upi: &UpiConfig,
    workload: &WorkloadConfig,
) {
    for (index, flow) in workload.flows.iter().enumerate() {
        let lists = [
            ("channels", &flow.channels),
            ("chips", &flow.chips),
            ("dies", &flow.dies),
            ("planes", &flow.planes),
        ];
        for (name, list) in lists {
            rules.require(list.is_none(), format!("flow[{index}].{name}"), || {
                "found a list, allowed: none with isolation upi, which divides all chips among the flows"
                    .to_owned()
            });
        }
    }
    let exponents = upi.traffic_exponents.len();
    rules.require(exponents <= workload.flows.len(), "isolation.upi.traffic_exponents", || {
        let flows = workload.flows.len();
        format!("found {exponents} numbers, allowed: at most {flows}, one for each flow")
    });
    let chips = (device.flash.channels * device.flash.chips_per_channel) as usize;
    let left = chips.saturating_sub(upi.shared_chips.len() + upi.read_only_chips.len());
    rules.require(left >= workload.flows.len(), "isolation", || {
        format!(
            "found {left} chips for {} flows, allowed: at least one chip of its own for each",
            workload.flows.len()
        )
    });
}

/// Refuses flows that are left without a chip. The rest of both configurations must be valid.
pub(super) fn check_sets(rules: &mut Rules, device: &DeviceConfig, workload: &WorkloadConfig) {
    if let Isolation::Upi(upi) = &device.isolation {
        check_moving(rules, device, upi, workload);
        return;
    }
    let layout = workload.layout(device);
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
