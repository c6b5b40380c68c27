//! Capacity and the rates that no policy can exceed, for `--dry-run`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DeviceConfig;
use flashlane_device::layout::Layout;

/// Sizes of a device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// All flash pages. Unit: bytes.
    pub physical_bytes: u64,
    /// Space of the flows. Unit: bytes.
    pub logical_bytes: u64,
    /// (physical - logical) / logical.
    pub over_provisioning: f64,
    /// 1 - logical / physical, as in MQSim's files.
    pub spare_share: f64,
    /// Flash pages.
    pub pages: u64,
    /// Planes.
    pub planes: u32,
}

/// Rates that no policy can exceed, of requests of one flash page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// Bytes of a flash page.
    pub page_bytes: u64,
    /// Data rate of the link in one direction, without packet overhead. Unit: bytes per second.
    pub link_bytes_per_s: f64,
    /// Data rate of all channels, without commands and addresses. Unit: bytes per second.
    pub bus_bytes_per_s: f64,
    /// Reads of all planes at their mean tR. Unit: bytes per second.
    pub array_read_bytes_per_s: f64,
    /// Programs of all planes at their mean tPROG. Unit: bytes per second.
    pub array_write_bytes_per_s: f64,
}

impl Capacity {
    /// Sizes of a device divided among flows.
    #[must_use]
    pub fn new(layout: &Layout) -> Self {
        let geometry = layout.geometry;
        let physical = geometry.pages() * geometry.page_bytes();
        let sectors: u64 = layout.flows.iter().map(|flow| flow.sectors).sum();
        let logical = sectors * flashlane_device::layout::SECTOR_BYTES;
        Self {
            physical_bytes: physical,
            logical_bytes: logical,
            over_provisioning: physical.saturating_sub(logical) as f64 / logical as f64,
            spare_share: 1.0 - logical as f64 / physical as f64,
            pages: geometry.pages(),
            planes: geometry.planes(),
        }
    }
}

impl Bounds {
    /// Bounds of a valid device.
    #[must_use]
    pub fn new(device: &DeviceConfig) -> Self {
        let geometry = device.geometry();
        let (flash, link) = (&device.flash, &device.link);
        let mean = |times: &[flashlane_units::Span]| {
            times.iter().map(|time| time.0 as f64 * 1e-12).sum::<f64>() / times.len() as f64
        };
        // Also with two passes, which a word line has one after the other.
        let program = mean(&flash.program_time) * flash.passes() as f64;
        // Also where pages are mapped in smaller units: those are read and programmed together.
        let page = flash.page_size.0;
        let payload = link.max_payload.0 as f64;
        let array = |time: f64| f64::from(geometry.planes()) * page as f64 / time;
        // Memory that is written in place takes a page unit by unit.
        let accesses = |unit: Option<flashlane_units::ByteSize>| {
            unit.map_or(1.0, |unit| page.div_ceil(unit.0) as f64)
        };
        let sata = &device.interface.sata;
        let frame = sata.frame_payload.0 as f64;
        // A data frame starts with four bytes for its type.
        let over_sata = frame / (frame + 4.0 + sata.frame_overhead.0 as f64);
        Self {
            page_bytes: page,
            link_bytes_per_s: if device.interface.kind == super::InterfaceKind::Sata {
                sata.link_rate.0 as f64 * over_sata
            } else {
                f64::from(link.lanes) * link.lane_rate() as f64 * payload
                    / (payload + link.overhead() as f64)
            },
            bus_bytes_per_s: f64::from(flash.channels)
                * flash.channel_rate.0 as f64
                * flash.channel_width.0 as f64,
            array_read_bytes_per_s: array(mean(&flash.read_time) * accesses(flash.read_unit)),
            array_write_bytes_per_s: array(program * accesses(flash.write_unit))
                * f64::from(geometry.pages_per_program),
        }
    }
}
