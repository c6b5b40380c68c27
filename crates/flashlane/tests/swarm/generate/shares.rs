//! Weights of flows, costs of commands and limits of rates, on some NVMe drives. Drawn apart, so
//! that the rest is what it was before.

use flashlane::config::units::{Bandwidth, Span};
use flashlane::config::{
    CostModel, DeviceConfig, GroupConfig, InterfaceKind, LimitConfig, LimitPlace, RatesConfig,
    WorkloadConfig,
};
use flashlane_engine::Rng;

use super::{Draw, MS};

pub(super) fn shares(seed: u64, device: &mut DeviceConfig, workload: &mut WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.shares", 0));
    if device.interface.kind == InterfaceKind::Sata || !draw.chance(0.3) {
        return;
    }
    device.interface.cost =
        draw.pick(&[CostModel::Commands, CostModel::Pages, CostModel::DeviceTime]);
    for flow in &mut workload.flows {
        flow.weight = draw.chance(0.5).then(|| draw.scale(1, 100) as u32);
        flow.limit = draw.chance(0.5).then(|| limit(&mut draw));
    }
    if draw.chance(0.4) {
        let names = workload.flows.iter().map(|flow| flow.name.clone());
        let mut members: Vec<String> = names.filter(|_| draw.chance(0.7)).collect();
        if members.is_empty() {
            members.push(workload.flows[0].name.clone());
        }
        let limit = limit(&mut draw);
        workload.groups.push(GroupConfig { name: "group".to_owned(), members, limit });
    }
}

fn limit(draw: &mut Draw) -> LimitConfig {
    let mut rates = RatesConfig::default();
    if draw.chance(0.6) {
        rates.iops = Some(draw.scale(2_000, 1_000_000) as f64);
    } else {
        rates.bandwidth = Some(Bandwidth(draw.scale(10, 5_000) * 1_000_000));
    }
    let mut limit = LimitConfig {
        burst: draw.chance(0.5).then(|| Span(draw.between(0, 10 * MS))),
        at: draw.pick(&[LimitPlace::Device, LimitPlace::Host]),
        ..LimitConfig::default()
    };
    match draw.between(0, 3) {
        0 => limit.read = Some(rates),
        1 => limit.write = Some(rates),
        _ => (limit.iops, limit.bandwidth) = (rates.iops, rates.bandwidth),
    }
    limit
}
