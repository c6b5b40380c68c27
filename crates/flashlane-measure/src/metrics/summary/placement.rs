//! Placement of data by the host in summaries.

use flashlane_device::config::{DeviceConfig, HandleIsolation, PlacementMode};
use flashlane_device::ftl::placement::{HandleCounts, PlacementCounts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data by placement handle, or by stream. Sums over handles are the figures of the endurance
/// group, which is the whole drive. Translation pages and parity are not part of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlacementSummary {
    /// What the drive offers.
    pub mode: PlacementMode,
    /// What collection does with the data of different handles.
    pub isolation: HandleIsolation,
    /// Data that a reclaim unit holds.
    pub reclaim_unit_bytes: u64,
    /// Data that the host wrote to flash.
    pub host_bytes: u64,
    /// Data that the host wrote, and copies of it.
    pub media_bytes: u64,
    /// Reclaim units that were erased, times their size.
    pub erased_bytes: u64,
    /// The part of `erased_bytes` that held copies of several handles.
    pub shared_erased_bytes: u64,
    /// What the drive told of the placement of data.
    #[serde(default)]
    pub events: PlacementEvents,
    /// By handle.
    pub handles: Vec<HandleSummary>,
}

/// Events of placement inside the window, by kind. Source of the kinds: NVMe 2.1, log page 23h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlacementEvents {
    /// A reclaim unit was full, and its handle moved to another one by itself.
    pub moved: u64,
    /// A reclaim unit was open for longer than `placement.unit_time`, and its handle moved to
    /// another one.
    pub time_limit: u64,
    /// Data lies elsewhere than the host has put it: collection began to copy a reclaim unit with
    /// data, or a page went to another reclaim group, because its own had no room.
    pub reallocated: u64,
}

/// Data of a placement handle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandleSummary {
    /// Number of the handle, or of the stream. With several reclaim groups, the placement
    /// identifier: `group * handles + handle`.
    pub handle: u32,
    /// The reclaim group. Left out where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Data that the host wrote to flash by the handle.
    pub host_bytes: u64,
    /// Data of the handle that was written: by the host, and copies of it.
    pub media_bytes: u64,
    /// Reclaim units of this handle alone that were erased, times their size.
    pub erased_bytes: u64,
    /// `media_bytes` over `host_bytes`; null if the host wrote nothing.
    pub write_amplification: Option<f64>,
    /// Reclaim units that the host filled. The drive then moved the handle to another one.
    pub filled_units: u64,
    /// Data that the host may still write until the handle moves to another reclaim unit, at the
    /// end of the window.
    pub remaining_bytes: u64,
    /// Copies of data of this handle, by the handle whose writes made room necessary.
    pub copied_for_bytes: Vec<u64>,
    /// Copies of data of all handles that writes of this handle made necessary.
    pub caused_bytes: u64,
}

impl PlacementSummary {
    /// The summary of the counts of a window.
    #[must_use]
    pub fn of(counts: &PlacementCounts, device: &DeviceConfig) -> Self {
        let page = device.unit().0;
        let unit = u64::from(counts.unit_pages) * page;
        let groups = device.placement.groups;
        let [moved, time_limit, reallocated] = counts.events;
        let caused = |by: usize| -> u64 { counts.handles.iter().map(|h| h.copied_for[by]).sum() };
        let summary = |(at, handle): (usize, &HandleCounts)| {
            let media = handle.host_pages + handle.copied();
            let amplification = media as f64 / handle.host_pages as f64;
            HandleSummary {
                handle: at as u32,
                group: (groups > 1).then(|| at as u32 / device.placement.handles),
                host_bytes: handle.host_pages * page,
                media_bytes: media * page,
                erased_bytes: handle.erased * unit,
                write_amplification: (handle.host_pages > 0).then_some(amplification),
                filled_units: handle.filled,
                remaining_bytes: counts.remaining[at] * page,
                copied_for_bytes: handle.copied_for.iter().map(|copies| copies * page).collect(),
                caused_bytes: caused(at) * page,
            }
        };
        let handles: Vec<HandleSummary> = counts.handles.iter().enumerate().map(summary).collect();
        let sum = |of: fn(&HandleSummary) -> u64| handles.iter().map(of).sum::<u64>();
        let shared_erased_bytes = counts.shared_erased * unit;
        Self {
            mode: device.placement.mode,
            isolation: device.placement.isolation,
            reclaim_unit_bytes: unit,
            host_bytes: sum(|handle| handle.host_bytes),
            media_bytes: sum(|handle| handle.media_bytes),
            erased_bytes: sum(|handle| handle.erased_bytes) + shared_erased_bytes,
            shared_erased_bytes,
            events: PlacementEvents { moved, time_limit, reallocated },
            handles,
        }
    }
}
