//! Warps in place of closed loops, and doorbells that announce several entries.

use flashlane::config::units::{Ratio, Span};
use flashlane::config::{DeviceConfig, InterfaceKind, ThinkTimes, WarpsConfig, WorkloadConfig};
use flashlane_engine::Rng;

use super::{Case, Draw, NS, US};

/// Doorbells of some drives, and warps in place of some closed loops. Drawn apart, so that all
/// other configurations are what they were before.
pub(super) fn warps(seed: u64, device: &mut DeviceConfig, workload: &mut WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.warps", 0));
    let nvme = device.interface.kind == InterfaceKind::Nvme;
    if draw.chance(0.15) && nvme {
        device.interface.doorbell_batch = draw.scale(1, 64) as u32;
        device.interface.doorbell_limit = Span(draw.scale(NS, 20 * US));
    }
    if !draw.chance(0.1) {
        return;
    }
    for flow in &mut workload.flows {
        let Some(synthetic) = &mut flow.synthetic else { continue };
        if synthetic.queue_depth.is_none() || synthetic.fio.is_some() || draw.chance(0.3) {
            continue;
        }
        (synthetic.queue_depth, synthetic.think_time) = (None, None);
        (synthetic.trim_ratio, synthetic.flush_ratio) = (Ratio(0.0), Ratio(0.0));
        synthetic.read_ratio = Ratio(1.0);
        let pairs = draw.scale(1, 2000) as u16;
        synthetic.warps = Some(Box::new(WarpsConfig {
            count: draw.scale(1, 200) as u32,
            reads: draw.scale(1, 64) as u32,
            think_time: Span(draw.scale(NS, 100 * US)),
            think: draw.pick(&[ThinkTimes::Constant, ThinkTimes::Exponential]),
            queue_pairs: if nvme { pairs } else { 1 },
        }));
    }
}

/// The case as a drive that is stepped from outside can replay it: one queue pair for each flow,
/// and no limits that several flows share.
#[allow(dead_code, reason = "only the tests of recordings need it")]
pub(crate) fn recordable(mut case: Case) -> Case {
    for flow in &mut case.workload.flows {
        let warps = flow.synthetic.as_mut().and_then(|synthetic| synthetic.warps.as_mut());
        warps.into_iter().for_each(|warps| warps.queue_pairs = 1);
    }
    case.workload.groups.clear();
    case
}
