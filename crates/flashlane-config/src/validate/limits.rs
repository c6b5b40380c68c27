//! Rules of limits of rates.

use std::collections::BTreeSet;

use super::{BANDWIDTH, FLOWS, HOUR_PS, Rules};
use crate::{DeviceConfig, InterfaceKind, LimitConfig, WorkloadConfig};

/// Rates that a limit may have. Unit: commands per second.
const IOPS: std::ops::RangeInclusive<f64> = 0.001..=1e9;

/// Checks a limit.
pub(super) fn check(rules: &mut Rules, key: &str, limit: &LimitConfig) {
    for (kind, rates, ..) in limit.kinds() {
        let Some(rates) = rates else { continue };
        if let Some(iops) = rates.iops {
            rules.range(format!("{key}.{kind}iops"), iops, &IOPS);
        }
        if let Some(rate) = rates.bandwidth {
            rules.require(BANDWIDTH.contains(&rate.0), format!("{key}.{kind}bandwidth"), || {
                format!("found {rate}, allowed: 1kB/s to 1000GB/s")
            });
        }
    }
    if let Some(burst) = limit.burst {
        rules.span(format!("{key}.burst"), burst, &(0..=HOUR_PS));
    }
    rules.require(!limit.is_empty(), key, || {
        "found no rate, allowed: iops, bandwidth, read.iops, read.bandwidth, write.iops or \
         write.bandwidth"
            .to_owned()
    });
}

/// Checks the groups of a workload.
pub(super) fn check_groups(rules: &mut Rules, workload: &WorkloadConfig) {
    let most = *FLOWS.end();
    if workload.groups.is_empty() {
        return;
    }
    rules.require(workload.groups.len() <= most, "group", || {
        format!("found {} groups, allowed: {most} at most", workload.groups.len())
    });
    let by_name = workload.by_name();
    for (index, group) in workload.groups.iter().enumerate() {
        let key = format!("group[{index}]");
        check(rules, &format!("{key}.limit"), &group.limit);
        let first = workload.groups.iter().position(|other| other.name == group.name);
        rules.require(first == Some(index), format!("{key}.name"), || {
            format!("found {:?} twice, allowed: unique names", group.name)
        });
        rules.require(!group.members.is_empty(), format!("{key}.members"), || {
            "found no member, allowed: one flow or more".to_owned()
        });
        let mut seen = BTreeSet::new();
        for (at, name) in group.members.iter().enumerate() {
            let key = format!("{key}.members[{at}]");
            let Some(members) = by_name.get(name.as_str()) else {
                let names: Vec<&str> = workload.flows.iter().map(|flow| &*flow.name).collect();
                let allowed = flashlane_reading::allowed(name, &names);
                rules.refuse(key, format!("found {name:?}; {allowed}"));
                continue;
            };
            let new = members.iter().filter(|member| seen.insert(**member)).count();
            rules.require(new == members.len(), key, || {
                format!("found {name:?} twice, allowed: once")
            });
        }
    }
}

/// Checks the limits of a workload against the drive.
pub(super) fn check_pair(rules: &mut Rules, device: &DeviceConfig, workload: &WorkloadConfig) {
    let sata = device.interface.kind == InterfaceKind::Sata;
    let limited = workload.flows.iter().position(|flow| flow.limit.is_some());
    let key = limited.map_or("group[0].limit".to_owned(), |at| format!("flow[{at}].limit"));
    rules.require(!(sata && workload.limits_rates()), key, || {
        "found a limit for a SATA drive, allowed: interface.kind = \"nvme\"; a SATA drive has one \
         queue for all flows"
            .to_owned()
    });
}
