//! Data by placement handle, for people.

use flashlane::metrics::{HandleSummary, PlacementEvents, PlacementSummary, Summary};

use crate::table::number;

fn mib(bytes: u64) -> String {
    number(bytes as f64 / f64::from(1 << 20))
}

/// Commands to zones, where the drive has some.
fn zones(summary: &Summary) -> String {
    let Some(zones) = &summary.zones else { return String::new() };
    format!(
        "{} zones of {} MiB, up to {} active: {} appends, {} resets, {} finishes with {} MiB left\n",
        zones.zones,
        mib(zones.capacity_bytes),
        zones.active_max,
        zones.appends,
        zones.resets,
        zones.finishes,
        mib(zones.left_bytes),
    )
}

/// Data by placement handle, where the host places it, and commands to zones.
pub(crate) fn placement(summary: &Summary) -> String {
    zones(summary) + &handles(summary)
}

fn handles(summary: &Summary) -> String {
    let Some(placement) = &summary.placement else { return String::new() };
    let line = |handle: &HandleSummary| {
        format!(
            "handle {}: {} MiB of the host, {} MiB of copies, amplification {}; its writes made {} \
             MiB of copies necessary\n",
            handle.handle,
            mib(handle.host_bytes),
            mib(handle.media_bytes - handle.host_bytes),
            handle.write_amplification.map_or_else(|| "-".to_owned(), number),
            mib(handle.caused_bytes),
        )
    };
    let handles = placement.handles.iter().filter(|handle| handle.media_bytes > 0);
    handles.map(line).chain(events(placement)).collect()
}

/// What the drive told of placement beside units that were full, if anything.
fn events(placement: &PlacementSummary) -> Option<String> {
    let PlacementEvents { time_limit, .. } = placement.events;
    (time_limit > 0).then(|| {
        format!("{time_limit} reclaim units were left before they were full: their time was over\n")
    })
}
