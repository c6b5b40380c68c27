//! Rules of warps, of the queue pairs of flows, and of doorbells.

use super::{MAX_SPAN_PS, OPERATION_PS, OUTSTANDING};
use crate::{
    DeviceConfig, InterfaceConfig, InterfaceKind, SyntheticConfig, WarpsConfig, WorkloadConfig,
};
use flashlane_reading::Rules;
use flashlane_workload::config::{WARP_READS_MAX, WARPS_MAX};

/// Most queue pairs of a drive. Source: NVMe base specification, 65,535 I/O queues.
const QUEUE_PAIRS: u64 = 65_535;

/// Every rule of warps that does not depend on the device.
pub(super) fn check(rules: &mut Rules, key: &str, flow: &SyntheticConfig, warps: &WarpsConfig) {
    rules.range(format!("{key}.count"), warps.count, &(1..=WARPS_MAX));
    rules.range(format!("{key}.reads"), warps.reads, &(1..=1024));
    let (found, most) = (warps.outstanding_max(), u64::from(WARP_READS_MAX));
    rules.require(found <= most, key, || {
        format!("found {found} requests (count * reads), allowed: at most {most}")
    });
    rules.span(format!("{key}.think_time"), warps.think_time, &(0..=MAX_SPAN_PS));
    rules.range(format!("{key}.queue_pairs"), warps.queue_pairs, &(1..=u16::MAX));
    let only_reads =
        flow.read_ratio.0 == 1.0 && flow.trim_ratio.0 == 0.0 && flow.flush_ratio.0 == 0.0;
    rules.require(only_reads, key, || {
        "found with other operations, allowed: read_ratio = 1.0 without trims and flushes; the \
         threads of a warp read"
            .to_owned()
    });
    rules.require(flow.fio.is_none(), key, || {
        "found beside fio, allowed: one of them; a job of fio has its own order of requests"
            .to_owned()
    });
}

/// Rules of the queue pairs of all flows.
pub(super) fn check_queues(rules: &mut Rules, device: &DeviceConfig, workload: &WorkloadConfig) {
    let all: u64 = workload.flows.iter().map(|flow| u64::from(flow.queue_pairs())).sum();
    rules.require(all <= QUEUE_PAIRS, "flow", || {
        format!("found {all} queue pairs of all flows, allowed: up to {QUEUE_PAIRS}, as in NVMe")
    });
    for (index, flow) in workload.flows.iter().enumerate() {
        let (pairs, sata) = (flow.queue_pairs(), device.interface.kind == InterfaceKind::Sata);
        rules.require(
            pairs == 1 || !sata,
            format!("flow[{index}].synthetic.warps.queue_pairs"),
            || {
                format!(
                    "found {pairs} with interface.kind = \"sata\", allowed: 1; such a drive has \
                     one queue for all flows"
                )
            },
        );
    }
}

/// Rules of the doorbells of submissions.
pub(super) fn check_doorbells(rules: &mut Rules, interface: &InterfaceConfig) {
    let (key, batch) = ("interface.doorbell_batch", interface.doorbell_batch);
    rules.range(key, batch, &OUTSTANDING);
    rules.span("interface.doorbell_limit", interface.doorbell_limit, &OPERATION_PS);
    rules.require(batch == 1 || interface.kind == InterfaceKind::Nvme, key, || {
        format!(
            "found {batch} with interface.kind = \"sata\", allowed: 1; such a drive has no doorbells"
        )
    });
}
