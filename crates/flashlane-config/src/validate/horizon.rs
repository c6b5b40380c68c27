//! Refuses flows that would not end before the end of simulated time.

use flashlane_engine::Time;

use crate::{
    CloneConfig, FlowConfig, MqsimFlowConfig, MqsimSyntheticConfig, OnEnd, SyntheticConfig,
    WindowRule, WorkloadConfig,
};
use flashlane_device::layout::SECTOR_BYTES;
use flashlane_reading::Rules;
use flashlane_workload::clone;

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// The least time that the requests of a flow take, and the key that decides about it.
struct Pass {
    key: &'static str,
    /// The value of the key.
    found: String,
    requests: u64,
    seconds: f64,
}

/// Refuses flows whose requests cannot all arrive before the end of simulated time. The rest of the
/// workload must be valid.
pub(super) fn check(rules: &mut Rules, workload: &WorkloadConfig) {
    let stops = |flow: &FlowConfig| flow.on_end == Some(OnEnd::Stop);
    let stopping = workload.flows.iter().filter(|flow| stops(flow)).count();
    for (index, flow) in workload.flows.iter().enumerate() {
        // A flow that stops may end the run before the other flows have made their requests.
        let others_stop = stopping > usize::from(stops(flow));
        if others_stop && workload.window == WindowRule::Steady {
            continue;
        }
        let Some(Pass { key, found, requests, seconds }) = pass_of(flow) else { continue };
        let end = Time::END.as_s();
        rules.require(seconds < end, format!("flow[{index}].{key}"), || {
            format!(
                "found {found}: {requests} requests take {:.0} days, allowed: up to {:.0} days, which \
                 is all the time that can be simulated",
                seconds / DAY_S,
                (end / DAY_S).floor()
            )
        });
    }
}

/// `None` if the time of a pass is limited otherwise, or becomes known only when the flow runs.
fn pass_of(flow: &FlowConfig) -> Option<Pass> {
    if let Some(config) = &flow.synthetic {
        return synthetic(config);
    }
    if let Some(config) = &flow.clone {
        return of_clone(config);
    }
    match &flow.mqsim {
        Some(MqsimFlowConfig::Synthetic(config)) => of_mqsim(config),
        _ => None,
    }
}

fn synthetic(config: &SyntheticConfig) -> Option<Pass> {
    if config.duration.is_some() {
        return None;
    }
    let requests = config.requests?;
    let pass = |key, found: String, seconds| Some(Pass { key, found, requests, seconds });
    if let Some(warps) = &config.warps {
        let batches = requests.div_ceil(warps.outstanding_max().max(1)) - 1;
        let seconds = batches as f64 * Time(warps.think_time.0).as_s();
        return pass("synthetic.warps.think_time", warps.think_time.to_string(), seconds);
    }
    if let Some(depth) = config.queue_depth {
        let think = config.think_time?;
        let pauses = requests.div_ceil(u64::from(depth)) - 1;
        let seconds = pauses as f64 * Time(think.0).as_s();
        return pass("synthetic.think_time", think.to_string(), seconds);
    }
    if let Some(iops) = config.iops {
        return pass("synthetic.iops", iops.to_string(), requests as f64 / iops);
    }
    let bandwidth = config.bandwidth?;
    let bytes = config.size.mean_bytes() * (1.0 - config.flush_ratio.0);
    let seconds = requests as f64 * bytes / bandwidth.0 as f64;
    pass("synthetic.bandwidth", bandwidth.to_string(), seconds)
}

fn of_clone(config: &CloneConfig) -> Option<Pass> {
    if config.duration.is_some() || clone::is_file(&config.of) {
        return None;
    }
    let requests = config.requests?;
    let gap_s = clone::find(&config.of).ok()?.gap_ms() / 1e3;
    let seconds = requests as f64 * gap_s * config.time_scale;
    Some(Pass { key: "clone.requests", found: requests.to_string(), requests, seconds })
}

fn of_mqsim(config: &MqsimSyntheticConfig) -> Option<Pass> {
    if config.closed_loop || config.stop_time_ns != 0 {
        return None;
    }
    let bytes = u64::from(config.size_mean_sectors) * SECTOR_BYTES;
    let requests = config.requests;
    let seconds = requests as f64 * bytes as f64 / config.bandwidth as f64;
    let found = config.bandwidth.to_string();
    Some(Pass { key: "mqsim.synthetic.bandwidth", found, requests, seconds })
}
