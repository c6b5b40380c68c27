//! Rules of fio jobs that know zones (`zonemode=zbd`).

use crate::{DeviceConfig, FioConfig, FioExtent, FioRw, WorkloadConfig};
use flashlane_device::layout::{Layout, SECTOR_BYTES, ZoneGeometry};
use flashlane_reading::Rules;
use flashlane_units::ByteSize;
use flashlane_workload::config::{FioDirection, FioZbd};
use flashlane_workload::footprint::Footprint;
use flashlane_workload::footprint_of;

/// Checks the jobs of a workload against the zones of the drive. The rest of both configurations
/// must be valid.
pub(super) fn check(
    rules: &mut Rules,
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    layout: &Layout,
) {
    let mut open = 0_u64;
    let before = rules.problems.len();
    for (index, flow) in workload.flows.iter().enumerate() {
        let Some(synthetic) = &flow.synthetic else { continue };
        open += synthetic.zones.as_ref().map_or(0, |zones| u64::from(zones.active));
        let Some(job) = &synthetic.fio else { continue };
        let key = format!("flow[{index}].synthetic.fio");
        let Some(zone) = layout.zones else {
            check_units(rules, &key, job);
            continue;
        };
        let Some(zbd) = &job.zbd else { continue };
        check_zone(rules, &format!("{key}.zbd"), zbd, zone);
        check_requests(rules, &key, device, job, zone);
        if writes(job) {
            check_open(rules, &format!("{key}.zbd"), device, job, zbd);
            let each = zbd.open_for_file(zone.share, job.jobs, job.files);
            open += u64::from(each) * u64::from(job.jobs) * u64::from(job.files);
        }
        let unit = device.unit();
        let found = footprint_of(flow, index as u64, &layout.flows[index], unit, 0);
        let holds = !matches!(&found, Ok(Footprint::Pages(pages)) if pages.count() == 0);
        rules.require(holds, &key, || {
            let size = ByteSize(zone.size * SECTOR_BYTES);
            format!(
                "found an offset and a size without a whole zone, allowed: a part of the flow's \
                 space with one or more zones of {size}"
            )
        });
    }
    let max = device.placement.zones.max_active;
    let has_problems = rules.problems.len() > before;
    rules.require(has_problems || open <= u64::from(max), "placement.zones.max_active", || {
        format!(
            "found {max}, allowed: {open} or more, as many as the flows write at a time; \
             max_open_zones of a job says how many it writes"
        )
    });
}

/// True if the job writes.
fn writes(job: &FioConfig) -> bool {
    match job.rw {
        FioRw::Write | FioRw::TrimWrite => true,
        FioRw::ReadWrite => job.read_percent < 100,
        FioRw::Read | FioRw::Trim => false,
    }
}

/// Lengths in zones need zones.
fn check_units(rules: &mut Rules, key: &str, job: &FioConfig) {
    let none = FioExtent::default();
    let lengths = [
        ("offset", job.offset),
        ("offset_increment", job.offset_increment),
        ("size", job.size.unwrap_or(none)),
        ("io_size", job.io_size.unwrap_or(none)),
    ];
    for (name, length) in lengths {
        let FioExtent::Zones(count) = length else { continue };
        rules.require(false, format!("{key}.{name}"), || {
            format!(
                "found {count} zones on a drive without zones, allowed: bytes or percent there, \
                 or zonesize beside it"
            )
        });
    }
}

/// A size or a capacity that the job names has to be that of the drive.
fn check_zone(rules: &mut Rules, key: &str, zbd: &FioZbd, zone: ZoneGeometry) {
    let each = [("size", zbd.size, zone.size), ("capacity", zbd.capacity, zone.capacity)];
    for (name, found, sectors) in each {
        let Some(found) = found else { continue };
        let allowed = ByteSize(sectors * SECTOR_BYTES);
        rules.require(found == allowed, format!("{key}.{name}"), || {
            format!("found {found}, allowed: {allowed}, as the zones of the drive have, or none")
        });
    }
}

/// Writes are multiples of the logical block, and trims are whole zones.
fn check_requests(
    rules: &mut Rules,
    key: &str,
    device: &DeviceConfig,
    job: &FioConfig,
    zone: ZoneGeometry,
) {
    let sizes = |one: &FioDirection| {
        let split = one.split.iter().map(|(size, _)| *size);
        split.chain([one.smallest, one.largest]).collect::<Vec<ByteSize>>()
    };
    if matches!(job.rw, FioRw::Trim | FioRw::TrimWrite) {
        let whole = ByteSize(zone.size * SECTOR_BYTES);
        let odd = sizes(&job.trim).into_iter().find(|size| *size != whole);
        rules.require(odd.is_none(), format!("{key}.trim.smallest"), || {
            let odd = odd.unwrap_or_default();
            format!("found trims of {odd}, allowed: bs={} (a zone), which is reset", whole.0)
        });
    }
    if !writes(job) || job.rw == FioRw::TrimWrite {
        return;
    }
    let unit = device.unit();
    let odd = sizes(&job.write).into_iter().find(|size| !size.0.is_multiple_of(unit.0));
    rules.require(odd.is_none() && !job.unaligned, format!("{key}.write.smallest"), || {
        let odd = odd.map_or("sizes without alignment".to_owned(), |odd| odd.to_string());
        format!(
            "found writes of {odd}, allowed: multiples of {unit} (the mapping unit, which is the \
             logical block of a drive with zones)"
        )
    });
}

/// Each file of each copy writes a zone of its own.
fn check_open(rules: &mut Rules, key: &str, device: &DeviceConfig, job: &FioConfig, zbd: &FioZbd) {
    let zones = &device.placement.zones;
    let max = if zbd.ignore_limits { zones.max_active } else { zones.max_open };
    let files = u64::from(job.files);
    if let Some(found) = zbd.max_open {
        let least = files * u64::from(job.jobs);
        let fits = (least..=u64::from(max)).contains(&u64::from(found));
        rules.require(fits, format!("{key}.max_open"), || {
            format!(
                "found {found}, allowed: {least} (one for each file of each copy) to {max} (zones \
                 that the drive lets be open)"
            )
        });
    }
    if let Some(found) = zbd.max_open_each {
        rules.require(u64::from(found) >= files, format!("{key}.max_open_each"), || {
            format!("found {found}, allowed: {files} or more, one for each file")
        });
    }
}

/// Warnings about jobs with `zonemode=zbd` on a drive without zones.
pub(super) fn without_zones(device: &DeviceConfig, workload: &WorkloadConfig) -> Vec<String> {
    use flashlane_device::config::PlacementMode;
    if device.placement.mode == PlacementMode::Zones {
        return Vec::new();
    }
    let job = |flow: &crate::FlowConfig| {
        let job = flow.synthetic.as_ref().and_then(|synthetic| synthetic.fio.as_ref());
        job.is_some_and(|job| job.zbd.is_some())
    };
    let warning = |flow: &crate::FlowConfig| {
        format!(
            "flow {:?}: zonemode=zbd has no effect: this drive has no zones (placement.mode = \
             \"zones\"), and requests go where they would go without",
            flow.name
        )
    };
    workload.flows.iter().filter(|flow| job(flow)).map(warning).collect()
}
