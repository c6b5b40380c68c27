//! Zones where the rest of a drive allows them.

use flashlane::config::units::{ByteSize, Ratio};
use flashlane::config::validate::validate;
use flashlane::config::{
    CacheMode, DeviceConfig, FinishKind, PlacementConfig, PlacementMode, Superblock,
    SyntheticConfig, WorkloadConfig, ZoneUse, ZoneUseConfig, ZonesConfig,
};
use flashlane_engine::Rng;

use super::Draw;

/// Zones on some drives of superblocks where hosts place nothing. Drawn apart, so that the rest is
/// what it was before.
pub(super) fn zones(seed: u64, device: &mut DeviceConfig, workload: &mut WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.zones", 0));
    let fits = device.ftl.superblock != Superblock::Block && device.placement.is_off();
    if !fits || !draw.chance(0.5) {
        return;
    }
    let (mut with, mut flows) = (device.clone(), workload.clone());
    let max_active = draw.between(4, 12) as u32;
    with.placement = PlacementConfig {
        mode: PlacementMode::Zones,
        zones: ZonesConfig {
            max_active,
            max_open: draw.between(1, max_active.into()) as u32,
            finish: draw.pick(&[FinishKind::Fill, FinishKind::Leave]),
            ..ZonesConfig::default()
        },
        ..PlacementConfig::default()
    };
    with.ftl.mapping.ideal = true;
    with.slc_cache = None;
    with.power_loss_protection = true;
    with.cache.write_back_pages_per_plane = with.cache.write_back_pages_per_plane.max(24);
    with.cache.capacity = ByteSize(with.cache.capacity.0.max(32 << 20));
    use_zones(&mut draw, with.unit().0, &mut flows);
    let refused = |device: &DeviceConfig, key: &str| {
        validate(device, &flows).iter().any(|problem| problem.place.starts_with(key))
    };
    for _ in 0..20 {
        if refused(&with, "ftl.over_provisioning") {
            let ratio = &mut with.ftl.over_provisioning.0;
            *ratio = (*ratio * 1.3 + 0.05).min(10.0);
        }
    }
    let keys = ["ftl", "placement", "cache", "flow", "device", "interface"];
    if keys.iter().any(|key| refused(&with, key)) {
        return;
    }
    (*device, *workload) = (with, flows);
}

/// Makes every flow read, or use zones. `unit`: the logical block of the drive. Unit: bytes.
fn use_zones(draw: &mut Draw, unit: u64, workload: &mut WorkloadConfig) {
    for flow in &mut workload.flows {
        let kinds = [ZoneUse::Append, ZoneUse::Append, ZoneUse::Write, ZoneUse::Reset];
        let use_of_zones = ZoneUseConfig {
            kind: draw.pick(&kinds),
            active: draw.between(1, 3) as u32,
            finish_after: draw.chance(0.3).then(|| ByteSize(unit * draw.scale(1, 64))),
        };
        (flow.clone, flow.mqsim, flow.trace) = (None, None, None);
        flow.cache = draw.pick(&[CacheMode::Write, CacheMode::WriteRead]);
        flow.occupancy = draw.chance(0.5).then(|| draw.share());
        let before = flow.synthetic.take().unwrap_or_default();
        let rate = match (before.iops, before.bandwidth, before.queue_depth) {
            (None, None, None) => Some(draw.scale(1, 64) as u32),
            (_, _, depth) => depth,
        };
        let reads = draw.chance(0.3);
        flow.synthetic = Some(SyntheticConfig {
            queue_depth: rate,
            size: flashlane::config::SizeConfig::Fixed(ByteSize(unit * draw.scale(1, 16))),
            align: None,
            trim_ratio: Ratio(0.0),
            read_ratio: if reads { Ratio(1.0) } else { Ratio(0.9 * before.read_ratio.0) },
            zones: (!reads).then_some(use_of_zones),
            parts: Vec::new(),
            fio: None,
            warps: None,
            ..before
        });
    }
}
