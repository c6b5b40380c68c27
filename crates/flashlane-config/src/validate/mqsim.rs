//! Rules of flows that come from MQSim files.

use super::{MAX_REQUEST_BYTES, OUTSTANDING};
use crate::{MqsimAddress, MqsimFlowConfig, MqsimSyntheticConfig};
use flashlane_device::layout::SECTOR_BYTES;
use flashlane_reading::Rules;

/// Most sectors of a request.
const MAX_SECTORS: u32 = (MAX_REQUEST_BYTES / SECTOR_BYTES) as u32;

/// Every rule of a flow that comes from an MQSim file.
pub(super) fn check(rules: &mut Rules, key: &str, flow: &MqsimFlowConfig) {
    match flow {
        MqsimFlowConfig::Synthetic(flow) => {
            check_synthetic(rules, &format!("{key}.synthetic"), flow);
        }
        MqsimFlowConfig::Trace(flow) => {
            let key = format!("{key}.trace");
            rules.range(format!("{key}.percent"), flow.percent, &(1..=100));
            rules.range(format!("{key}.rounds"), flow.rounds, &(1..=u32::MAX));
        }
    }
}

fn check_synthetic(rules: &mut Rules, key: &str, flow: &MqsimSyntheticConfig) {
    rules.range(format!("{key}.working_set_percent"), flow.working_set_percent, &(1..=100));
    rules.range(format!("{key}.read_percent"), flow.read_percent, &(0..=100));
    if flow.address == MqsimAddress::HotCold {
        rules.range(format!("{key}.hot_region_percent"), flow.hot_region_percent, &(0..=99));
    }
    if flow.aligned {
        let sectors = flow.alignment_sectors;
        rules.range(format!("{key}.alignment_sectors"), sectors, &(1..=MAX_SECTORS));
    }
    rules.range(format!("{key}.size_mean_sectors"), flow.size_mean_sectors, &(1..=MAX_SECTORS));
    if flow.normal_size {
        let stddev = flow.size_stddev_sectors;
        rules.range(format!("{key}.size_stddev_sectors"), stddev, &(0..=MAX_SECTORS));
    }
    if flow.closed_loop {
        rules.range(format!("{key}.queue_depth"), flow.queue_depth, &OUTSTANDING);
    } else {
        rules.range(format!("{key}.bandwidth"), flow.bandwidth, &(1..=1 << 50));
    }
    if flow.stop_time_ns == 0 {
        rules.range(format!("{key}.requests"), flow.requests, &(1..=1 << 50));
    } else {
        // Later than 100 days overflows the clock.
        let longest = super::MAX_SPAN_PS / 1_000;
        rules.range(format!("{key}.stop_time_ns"), flow.stop_time_ns, &(1..=longest));
    }
}
