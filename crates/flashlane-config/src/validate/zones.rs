//! Rules of zones (`[placement.zones]`).

use crate::{DeviceConfig, InterfaceKind, WorkloadConfig};
use flashlane_device::config::PlacementMode;
use flashlane_device::interface::zones::ACTIVE_ZONES;
use flashlane_device::layout::{Layout, SECTOR_BYTES};
use flashlane_reading::Rules;
use flashlane_units::{ByteSize, Sharing};

/// Largest size of a zone: its sectors are counted with 32 bits.
const ZONE_BYTES_MAX: u64 = 1 << 40;

/// Checks the keys of zones. The rest of the device must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    if device.placement.mode != PlacementMode::Zones {
        return;
    }
    let zones = &device.placement.zones;
    rules.range("placement.zones.max_active", zones.max_active, &ACTIVE_ZONES);
    rules.range("placement.zones.max_open", zones.max_open, &(1..=zones.max_active.max(1)));
    let mut refuse = |found: bool, with: &str| {
        rules.require(!found, "placement.mode", || {
            format!("found zones, allowed: none with {with}")
        });
    };
    refuse(
        device.ftl.mapping.is_cached(),
        "a mapping table on flash (ftl.mapping.ideal = true): the table of whole zones is small",
    );
    refuse(device.interface.kind == InterfaceKind::Sata, "a SATA drive");
    refuse(device.slc_cache.is_some(), "an slc_cache, whose blocks hold pages of all zones");
    let rows = device.geometry().units_per_program();
    refuse(
        rows > 1 && !device.power_loss_protection,
        "pages that are programmed together, unless power_loss_protection = true: a flush would \
         fill up word lines with pages that the zone lacks at its end",
    );
}

/// Checks how flows use zones. The rest of both configurations must be valid.
pub(super) fn check_flows(rules: &mut Rules, device: &DeviceConfig, workload: &WorkloadConfig) {
    let zoned = device.placement.mode == PlacementMode::Zones;
    if zoned && device.geometry().units_per_program() > 1 {
        check_caches(rules, workload);
    }
    let mut active = 0;
    for (index, flow) in workload.flows.iter().enumerate() {
        let Some(synthetic) = &flow.synthetic else { continue };
        let key = format!("flow[{index}].synthetic.zones");
        let writes = synthetic.fio.is_none()
            && (synthetic.read_ratio.0 < 1.0 || synthetic.trim_ratio.0 > 0.0);
        let Some(zones) = &synthetic.zones else {
            rules.require(!zoned || !writes, key, || {
                "found none, allowed: how the flow uses zones, where it writes to a drive of zones"
                    .to_owned()
            });
            continue;
        };
        rules.require(zoned, &key, || {
            "found how the flow uses zones, allowed: none with placement.mode other than zones"
                .to_owned()
        });
        rules.require(writes && !synthetic.has_parts(), &key, || {
            "found how the flow uses zones, allowed: none without writes, and with parts, a \
             cache engine or a job of fio"
                .to_owned()
        });
        rules.require(synthetic.trim_ratio.0 == 0.0, format!("flow[{index}].synthetic"), || {
            "found trims, allowed: none with zones, which are reset".to_owned()
        });
        rules.range(format!("{key}.active"), zones.active, &ACTIVE_ZONES);
        active += zones.active;
        let unit = device.unit().0;
        if let Some(size) = zones.finish_after {
            let fits = size.0 > 0 && size.0.is_multiple_of(unit);
            rules.require(fits, format!("{key}.finish_after"), || {
                format!("found {size}, allowed: a multiple of {} (the mapping unit)", device.unit())
            });
        }
        let whole = synthetic.alignment().is_multiple_of(unit);
        rules.require(whole, format!("flow[{index}].synthetic"), || {
            let found = ByteSize(synthetic.alignment());
            format!(
                "found writes at multiples of {found}, allowed: of {} (the mapping unit, which is \
                 the logical block of a drive with zones)",
                device.unit()
            )
        });
    }
    let max = device.placement.zones.max_active;
    rules.require(!zoned || active <= max, "placement.zones.max_active", || {
        format!("found {max}, allowed: {active} or more, as many as the flows write at a time")
    });
}

/// Checks that writes do not wait for the rest of their word line.
fn check_caches(rules: &mut Rules, workload: &WorkloadConfig) {
    for (index, flow) in workload.flows.iter().enumerate() {
        rules.require(flow.cache.takes_writes(), format!("flow[{index}].cache"), || {
            "found a mode without a write cache, allowed: write or write-read with zones whose \
             pages are programmed together"
                .to_owned()
        });
    }
}

/// Checks what depends on the size of zones. The rest of both configurations must be valid.
pub(super) fn check_sizes(rules: &mut Rules, device: &DeviceConfig, workload: &WorkloadConfig) {
    let layout = workload.layout(device);
    let Some(zone) = layout.zones else {
        return super::zbd::check(rules, device, workload, &layout);
    };
    let (unit, zones) = (device.unit().0, &device.placement.zones);
    let capacity = zone.capacity * SECTOR_BYTES;
    if let Some(size) = zones.size {
        let allowed = capacity..=ZONE_BYTES_MAX;
        let fits = allowed.contains(&size.0) && size.0.is_multiple_of(unit);
        rules.require(fits, "placement.zones.size", || {
            let (least, most) = (ByteSize(capacity), ByteSize(ZONE_BYTES_MAX));
            format!(
                "found {size}, allowed: {least} (the capacity of a zone) to {most}, a multiple of \
                 {} (the mapping unit)",
                device.unit()
            )
        });
    }
    rules.require(capacity <= ZONE_BYTES_MAX, "ftl.superblock", || {
        format!("found superblocks of {}, allowed: 1TiB for zones", ByteSize(capacity))
    });
    check_area(rules, device, capacity);
    for (index, (flow, space)) in workload.flows.iter().zip(&layout.flows).enumerate() {
        rules.require(space.sectors > 0, format!("flow[{index}]"), || {
            format!("found {:?} with less than a zone of {}", flow.name, ByteSize(capacity))
        });
    }
    check_rows(rules, device, &layout);
    if rules.problems.is_empty() {
        super::zbd::check(rules, device, workload, &layout);
    }
}

/// Checks the random write area.
fn check_area(rules: &mut Rules, device: &DeviceConfig, capacity: u64) {
    let zones = &device.placement.zones;
    let (area, step) = (zones.random_write_area.0, zones.random_write_granularity.0);
    if area == 0 {
        return;
    }
    let unit = device.unit().0;
    let fits = area <= capacity && step > 0;
    let fits = fits && step.is_multiple_of(unit) && area.is_multiple_of(step);
    rules.require(fits, "placement.zones.random_write_area", || {
        format!(
            "found {}, allowed: 0, or up to {} (the capacity of a zone) and a multiple of \
             placement.zones.random_write_granularity ({}), which is a multiple of {}",
            ByteSize(area),
            ByteSize(capacity),
            ByteSize(step),
            device.unit()
        )
    });
}

/// Where pages are programmed together, each active zone has pages that wait for others. The cache
/// must have room for all of them.
fn check_rows(rules: &mut Rules, device: &DeviceConfig, layout: &Layout) {
    let rows = u64::from(device.geometry().units_per_program());
    if rows == 1 {
        return;
    }
    let pools = match device.cache.sharing {
        Sharing::Shared => 1,
        Sharing::EqualPartitioning => layout.flows.len() as u64,
    };
    let waiting = u64::from(device.placement.zones.max_active) * rows;
    let pages = device.cache.capacity.0 / device.unit().0 / pools;
    rules.require(pages >= 2 * waiting, "cache.capacity", || {
        format!(
            "found room for {pages} pages, allowed: {} or more: two word lines for each active zone",
            2 * waiting
        )
    });
    let planes = u64::from(device.geometry().planes());
    let bound = planes * rows * u64::from(device.cache.write_back_pages_per_plane);
    rules.require(bound >= 2 * waiting, "cache.write_back_pages_per_plane", || {
        format!(
            "found {}, allowed: {} or more: two word lines for each active zone are on their way",
            device.cache.write_back_pages_per_plane,
            (2 * waiting).div_ceil(planes * rows)
        )
    });
}
