//! Rules of paced collection.

use std::ops::RangeInclusive;

use crate::{DeviceConfig, MappingKind, Pacing, Technology};
use flashlane_device::collection_order::{CollectionOrder, Presses};
use flashlane_device::ftl::gc::Victim;
use flashlane_reading::Rules;

const US: u64 = 1_000_000;
/// Turns of collection. Unit: picoseconds.
const READ_WAIT: RangeInclusive<u64> = US..=1_000_000 * US;
/// Idle time. Unit: picoseconds.
const IDLE: RangeInclusive<u64> = US..=1_000_000_000 * US;

/// Checks the keys of pacing. The rest of the device must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    let gc = &device.ftl.gc;
    if gc.pacing == Pacing::Burst {
        let keys = [("read_wait_max", gc.read_wait_max), ("idle_after", gc.idle_after)];
        for (key, span) in keys.into_iter().filter_map(|(key, span)| Some((key, span?))) {
            rules.refuse(
                format!("ftl.gc.{key}"),
                format!("found {span}, allowed: only with ftl.gc.pacing = \"proportional\""),
            );
        }
        return;
    }
    if let Some(span) = gc.read_wait_max {
        rules.span("ftl.gc.read_wait_max", span, &READ_WAIT);
    }
    if let Some(span) = gc.idle_after {
        rules.span("ftl.gc.idle_after", span, &IDLE);
    }
    let compat = &device.compat;
    for (found, with) in [
        (device.flash.technology == Technology::InPlace, "memory that is written in place"),
        (device.ftl.mapping.kind == MappingKind::Hybrid, "hybrid mapping, whose merges are whole"),
        (matches!(gc.victim, Victim::None(_)), "victim none, which takes no time"),
        (compat.collection_per_block, "compat.collection_per_block"),
        (compat.writes_wait_for_erases, "compat.writes_wait_for_erases"),
        (compat.class_rotation, "compat.class_rotation"),
    ] {
        rules.require(!found, "ftl.gc.pacing", || {
            format!("found proportional, allowed: burst with {with}")
        });
    }
    if rules.problems.is_empty() {
        check_scheduler(rules, device);
    }
}

/// Checks that the scheduler lets the drive decide when collection goes before reads.
fn check_scheduler(rules: &mut Rules, device: &DeviceConfig) {
    let order = device.scheduler.collection_order(device.geometry(), 1);
    let urgent = matches!(order, CollectionOrder::Behind { presses: Presses::Urgent, .. });
    rules.require(urgent, "ftl.gc.pacing", || {
        format!(
            "found proportional, allowed: burst with scheduler {}, which has an order of its own \
             for reads and collection; proportional with those that put collection behind the host \
             until free blocks are few (out-of-order, priority-out-of-order, host-first, sprinkler \
             without pending_writes)",
            device.scheduler.name()
        )
    });
}
