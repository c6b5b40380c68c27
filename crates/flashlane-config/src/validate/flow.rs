//! Rules of synthetic flows, and of all flows in the space that the device gives them.

use super::workload::check_stop;
use super::{LOAD_BANDWIDTH, MAX_REQUEST_BYTES, MAX_SPAN_PS, OUTSTANDING};
use super::{cache_engine, fio, parts, warps};
use crate::{
    AddressConfig, CacheConfig, CacheMechanism, CacheMode, DeviceConfig, FlowConfig,
    MqsimFlowConfig, Sharing, SizeConfig, SyntheticConfig, WorkloadConfig,
};
use flashlane_device::layout::{Geometry, SECTOR_BYTES};
use flashlane_reading::Rules;
use flashlane_units::ByteSize;

/// Every rule of a synthetic flow that does not depend on the device.
pub(super) fn check_synthetic(rules: &mut Rules, key: &str, flow: &SyntheticConfig) {
    let rates = [
        ("queue_depth", flow.queue_depth.is_some()),
        ("bandwidth", flow.bandwidth.is_some()),
        ("iops", flow.iops.is_some()),
        ("warps", flow.warps.is_some()),
    ];
    let given: Vec<&str> = rates.iter().filter(|rate| rate.1).map(|rate| rate.0).collect();
    rules.require(given.len() == 1, key, || {
        let found = if given.is_empty() { "none".to_owned() } else { given.join(" and ") };
        format!("found {found}, allowed: exactly one of queue_depth, bandwidth, iops, warps")
    });
    if let Some(depth) = flow.queue_depth {
        rules.range(format!("{key}.queue_depth"), depth, &OUTSTANDING);
    }
    if let Some(bandwidth) = flow.bandwidth {
        rules.require(LOAD_BANDWIDTH.contains(&bandwidth.0), format!("{key}.bandwidth"), || {
            format!("found {bandwidth}, allowed: 1B/s to 1000GB/s")
        });
    }
    if let Some(iops) = flow.iops {
        rules.range(format!("{key}.iops"), iops, &(0.001..=1e9));
    }
    rules.share(format!("{key}.read_ratio"), flow.read_ratio);
    rules.share(format!("{key}.trim_ratio"), flow.trim_ratio);
    rules.share(format!("{key}.flush_ratio"), flow.flush_ratio);
    let rest = flow.trim_ratio.0 + flow.flush_ratio.0;
    rules.require(rest <= 1.0, format!("{key}.trim_ratio"), || {
        format!("trim_ratio + flush_ratio is {rest}, allowed: at most 1")
    });
    if let Some(align) = flow.align {
        rules.sectors(&format!("{key}.align"), align, SECTOR_BYTES..=MAX_REQUEST_BYTES);
    }
    if let Some(share) = flow.working_set {
        rules.require(share.0 > 0.0 && share.0 <= 1.0, format!("{key}.working_set"), || {
            format!("found {share}, allowed: above 0, up to 1 (100%)")
        });
    }
    check_region(rules, key, flow);
    if let Some(think) = flow.think_time {
        rules.span(format!("{key}.think_time"), think, &(1..=MAX_SPAN_PS));
        rules.require(flow.queue_depth.is_some(), format!("{key}.think_time"), || {
            "found without queue_depth, allowed: in closed loops only".to_owned()
        });
    }
    check_address(rules, &format!("{key}.address"), &flow.address);
    check_filling(rules, key, flow);
    check_blocks(rules, key, flow);
    check_jobs(rules, key, flow);
    parts::check(rules, key, flow);
    check_size(rules, &format!("{key}.size"), &flow.size);
    check_stop(rules, key, flow.requests, flow.duration.map(|span| span.0));
}

/// Refuses permutations of blocks of several sizes.
pub(super) fn check_blocks(rules: &mut Rules, key: &str, flow: &SyntheticConfig) {
    let in_blocks =
        matches!(flow.address, AddressConfig::Permutation | AddressConfig::Permutations);
    let one_size = matches!(flow.size, SizeConfig::Fixed(_));
    rules.require(!in_blocks || one_size, format!("{key}.address"), || {
        "found a permutation beside several sizes, allowed: one size, which makes the blocks"
            .to_owned()
    });
}

/// Refuses a filling beside requests that are not writes of the flow itself.
pub(super) fn check_filling(rules: &mut Rules, key: &str, flow: &SyntheticConfig) {
    let others = flow.read_ratio.0 + flow.trim_ratio.0 + flow.flush_ratio.0;
    let jobs = flow.fio.is_some() || flow.warps.is_some();
    rules.require(!flow.fill_first || others == 0.0 && !jobs, format!("{key}.fill_first"), || {
        "found true beside reads, trims, flushes, fio or warps, allowed: where all requests are \
         writes of `size` and `address`"
            .to_owned()
    });
}

fn check_jobs(rules: &mut Rules, key: &str, flow: &SyntheticConfig) {
    if let Some(job) = &flow.fio {
        fio::check(rules, &format!("{key}.fio"), flow, job);
    }
    if let Some(config) = &flow.warps {
        warps::check(rules, &format!("{key}.warps"), flow, config);
    }
}

fn check_region(rules: &mut Rules, key: &str, flow: &SyntheticConfig) {
    for (name, size, least) in
        [("region", flow.region, SECTOR_BYTES), ("region_start", flow.region_start, 0)]
    {
        let Some(size) = size else { continue };
        rules.sectors(&format!("{key}.{name}"), size, least..=1 << 60);
        rules.require(flow.working_set.is_none(), format!("{key}.{name}"), || {
            "found beside working_set, allowed: one of them".to_owned()
        });
    }
}

/// Refuses caching of reads with a simple cache, which keeps no data that was read.
pub(super) fn check_cache(rules: &mut Rules, cache: &CacheConfig, workload: &WorkloadConfig) {
    if cache.mechanism != CacheMechanism::Simple {
        return;
    }
    for (index, flow) in workload.flows.iter().enumerate() {
        let keeps = matches!(flow.cache, CacheMode::Off | CacheMode::Write);
        rules.require(keeps, format!("flow[{index}].cache"), || {
            "found a mode that caches reads, allowed with cache.mechanism = \"simple\": off, write"
                .to_owned()
        });
    }
}

/// Pages of the data cache for each plane, up to which lack of room slows a writer down.
const FEW_PAGES_PER_PLANE: u64 = 2;

/// The warning about a data cache with which a writer may keep the dies less busy than without it.
/// Either the cache is so small that room is short, or so few pages may be on their way to flash
/// that planes are idle by chance. The second limit is how MQSim bounds writes, so the model has it
/// on purpose. It slows a writer with more outstanding requests than pages may be on their way.
pub(super) fn small_cache(device: &DeviceConfig, workload: &WorkloadConfig) -> Option<String> {
    let (cache, flash) = (&device.cache, &device.flash);
    let writes = |flow: &&FlowConfig| matches!(flow.cache, CacheMode::Write | CacheMode::WriteRead);
    let writers = || workload.flows.iter().filter(writes);
    writers().next()?;
    let pools = if cache.sharing == Sharing::Shared { 1 } else { workload.flows.len() as u64 };
    let room = cache.capacity.0 / device.unit().0 / pools.max(1);
    let planes = u64::from(Geometry::new(flash).planes());
    let per_plane = cache.write_back_pages_per_plane;
    let bound = planes * u64::from(per_plane);
    let small = room <= FEW_PAGES_PER_PLANE * planes;
    let deep = |flow: &FlowConfig| {
        let config = flow.synthetic.as_ref();
        let only_writes = config.filter(|config| config.read_ratio.0 == 0.0);
        let depth = only_writes.and_then(|config| config.queue_depth);
        depth.is_some_and(|depth| u64::from(depth) > bound)
    };
    let bounded = per_plane == 1 && writers().any(deep);
    (cache.capacity.0 > 0 && (small || bounded)).then(|| {
        format!(
            "cache: the data cache has room for {room} pages of a flow (capacity) and lets {bound} pages be on their \
             way to flash at a time (write_back_pages_per_plane = {per_plane}), for {planes} planes: a flow \
             that writes without pause may be faster with more of them, or with cache = \"off\""
        )
    })
}

pub(super) fn check_address(rules: &mut Rules, key: &str, address: &AddressConfig) {
    match address {
        AddressConfig::Uniform
        | AddressConfig::Streaming
        | AddressConfig::Permutation
        | AddressConfig::Permutations => {}
        AddressConfig::HotCold(c) => {
            let region = c.hot_region;
            rules.require(
                region.0 > 0.0 && region.0 < 1.0,
                format!("{key}.hot-cold.hot_region"),
                || format!("found {region}, allowed: above 0 and below 1"),
            );
            rules.share(format!("{key}.hot-cold.hot_traffic"), c.hot_traffic);
        }
        AddressConfig::Zones(c) => {
            rules.range(format!("{key}.zones.active"), c.active, &(1..=65_536));
            rules.sectors(&format!("{key}.zones.size"), c.size, SECTOR_BYTES..=1 << 50);
        }
        AddressConfig::Zipf(c) => {
            rules.range(format!("{key}.zipf.theta"), c.theta, &(0.0..=5.0));
            rules.sectors(&format!("{key}.zipf.extent"), c.extent, SECTOR_BYTES..=1 << 40);
            if let Some(space) = c.stands_for {
                rules.sectors(&format!("{key}.zipf.stands_for"), space, SECTOR_BYTES..=1 << 50);
            }
        }
        AddressConfig::Mixed(c) => {
            rules.share(format!("{key}.mixed.streaming"), c.streaming);
            let space = c.stream_space;
            rules.require(
                space.0 > 0.0 && space.0 <= 1.0,
                format!("{key}.mixed.stream_space"),
                || format!("found {space}, allowed: above 0, at most 1"),
            );
            if let Some(phase) = c.phase {
                rules.require(phase.0 > 0, format!("{key}.mixed.phase"), || {
                    format!("found {phase}, allowed: above 0")
                });
            }
        }
    }
}

pub(super) fn check_size(rules: &mut Rules, key: &str, size: &SizeConfig) {
    let sizes = SECTOR_BYTES..=MAX_REQUEST_BYTES;
    match size {
        SizeConfig::Fixed(size) => rules.sectors(key, *size, sizes),
        SizeConfig::Normal { normal } => {
            rules.bytes(format!("{key}.normal.mean"), normal.mean, sizes);
            rules.bytes(format!("{key}.normal.stddev"), normal.stddev, 0..=MAX_REQUEST_BYTES);
        }
        SizeConfig::Discrete { discrete } => {
            rules.require((1..=1024).contains(&discrete.len()), format!("{key}.discrete"), || {
                format!(
                    "found {} sizes, allowed: 1 to 1024 pairs of size and weight",
                    discrete.len()
                )
            });
            for (index, (size, weight)) in discrete.iter().enumerate() {
                rules.sectors(&format!("{key}.discrete[{index}][0]"), *size, sizes.clone());
                let key = format!("{key}.discrete[{index}][1]");
                rules.require((1e-12..=1e12).contains(weight), key, || {
                    format!("found {weight}, allowed: weights above 0 (1e-12 to 1e12)")
                });
            }
        }
    }
}

/// Refuses flows whose requests do not fit into their share of the device. The rest of both
/// configurations must be valid.
pub(super) fn check_spaces(rules: &mut Rules, device: &DeviceConfig, workload: &WorkloadConfig) {
    let layout = workload.layout(device);
    for (index, (flow, space)) in workload.flows.iter().zip(&layout.flows).enumerate() {
        let bytes = space.sectors * SECTOR_BYTES;
        check_space(rules, &format!("flow[{index}]"), flow, bytes);
    }
}

fn check_space(rules: &mut Rules, key: &str, flow: &FlowConfig, bytes: u64) {
    let refuse = |rules: &mut Rules, key: String, what: &str, found: u64, room: u64| {
        let (found, room) = (ByteSize(found), ByteSize(room));
        rules.require(found <= room, key, || {
            format!("found a {what} of {found}, allowed: at most the flow's working set of {room}")
        });
    };
    if let Some(synthetic) = &flow.synthetic {
        let share = synthetic.working_set.map_or(1.0, |share| share.0);
        let whole = (bytes as f64 * share) as u64 / SECTOR_BYTES * SECTOR_BYTES;
        let key = format!("{key}.synthetic");
        let start = synthetic.region_start.map_or(0, |start| start.0);
        rules.require(start < whole, format!("{key}.region_start"), || {
            let whole = ByteSize(whole);
            format!("found {}, allowed: below the flow's logical space of {whole}", ByteSize(start))
        });
        let left = whole.saturating_sub(start);
        let room = synthetic.region.map_or(left, |region| region.0);
        rules.require(room <= left, format!("{key}.region"), || {
            let (room, left, start) = (ByteSize(room), ByteSize(left), ByteSize(start));
            format!("found {room}, allowed: up to {left}, the flow's logical space from {start} on")
        });
        if let Some(align) = synthetic.align {
            refuse(rules, format!("{key}.align"), "unit of alignment", align.0, room);
        }
        let size_key = match &synthetic.size {
            SizeConfig::Fixed(_) => "size",
            SizeConfig::Normal { .. } => "size.normal.mean",
            SizeConfig::Discrete { .. } => "size.discrete",
        };
        let largest = synthetic.size.largest();
        refuse(rules, format!("{key}.{size_key}"), "request", largest, room);
        parts::check_spaces(rules, &key, synthetic, bytes);
        cache_engine::check_spaces(rules, &key, synthetic, bytes);
    }
    if let Some(MqsimFlowConfig::Synthetic(synthetic)) = &flow.mqsim {
        let room = bytes / 100 * u64::from(synthetic.working_set_percent);
        let size = u64::from(synthetic.size_mean_sectors) * SECTOR_BYTES;
        refuse(rules, format!("{key}.mqsim.synthetic.size_mean_sectors"), "request", size, room);
    }
}
