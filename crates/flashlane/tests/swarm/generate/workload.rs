//! Random workloads.

use flashlane::config::units::{Bandwidth, ByteSize, Ratio, Span};
use flashlane::config::{
    AddressConfig, Arrivals, CacheMechanism, CacheMode, CloneConfig, DeviceConfig, FlowConfig,
    HotColdConfig, MixedConfig, MqsimAddress, MqsimFlowConfig, MqsimSyntheticConfig,
    NormalSizeConfig, OnEnd, Priority, SizeConfig, SyntheticConfig, WorkloadConfig, ZipfConfig,
};
use flashlane::workload::clone;
use flashlane_engine::Rng;

use super::{Draw, KIB, MS, NS, SECOND, US};

/// Some of `0..count`, or all by default.
fn list(draw: &mut Draw, count: u32) -> Option<Vec<u32>> {
    if draw.chance(0.75) {
        return None;
    }
    let mut numbers: Vec<u32> = (0..count).filter(|_| draw.chance(0.5)).collect();
    if numbers.is_empty() {
        numbers.push(draw.0.below(u64::from(count)) as u32);
    }
    if draw.chance(0.5) {
        numbers.reverse();
    }
    Some(numbers)
}

pub(super) fn flow(
    draw: &mut Draw,
    device: &DeviceConfig,
    index: usize,
    flows: usize,
) -> FlowConfig {
    let flash = &device.flash;
    let mut flow = WorkloadConfig::whole_device().flows.remove(0);
    flow.name = format!("flow {index}");
    flow.priority = draw.pick(&[Priority::Urgent, Priority::High, Priority::Medium, Priority::Low]);
    flow.cache = match device.cache.mechanism {
        CacheMechanism::Simple => draw.pick(&[CacheMode::Off, CacheMode::Write]),
        CacheMechanism::Advanced => {
            draw.pick(&[CacheMode::Off, CacheMode::Write, CacheMode::Read, CacheMode::WriteRead])
        }
    };
    flow.channels = list(draw, flash.channels);
    flow.chips = list(draw, flash.chips_per_channel);
    flow.dies = list(draw, flash.dies_per_chip);
    flow.planes = list(draw, flash.planes_per_die);
    flow.occupancy = draw.chance(0.3).then(|| draw.share());
    flow.on_end = draw.pick(&[None, None, Some(OnEnd::Stop), Some(OnEnd::Repeat)]);
    if flows == 1 && flow.on_end == Some(OnEnd::Repeat) && draw.chance(0.5) {
        flow.on_end = None;
    }
    match draw.between(0, 11) {
        0 => {
            let params = draw.pick(clone::list());
            flow.clone = Some(CloneConfig {
                time_scale: 0.1 / draw.scale(1, 100) as f64,
                start: params.has_day().then(|| Span(draw.between(0, 86_399) * SECOND)),
                day: params.has_day().then(|| Span(draw.between(24, 86_400) * SECOND)),
                ..CloneConfig::plain(params.name, Some(1))
            });
        }
        1 => flow.mqsim = Some(MqsimFlowConfig::Synthetic(mqsim(draw))),
        _ => flow.synthetic = Some(synthetic(draw, device.flash.page_size.0)),
    }
    flow.starts_after = draw.chance(0.1).then(|| Span(draw.scale(1, 1 << 40)));
    flow
}

fn synthetic(draw: &mut Draw, page: u64) -> SyntheticConfig {
    let mut flow = SyntheticConfig {
        arrivals: draw.pick(&[Arrivals::Poisson, Arrivals::Constant]),
        read_ratio: draw.share(),
        address: address(draw),
        size: size(draw, page),
        requests: Some(1),
        ..SyntheticConfig::default()
    };
    if draw.chance(0.3) {
        flow.trim_ratio = Ratio(draw.0.unit() * 0.5);
    }
    if draw.chance(0.3) {
        flow.flush_ratio = Ratio(draw.0.unit() * 0.3);
    }
    match draw.between(0, 5) {
        0 => flow.iops = Some(draw.scale(2_000, 2_000_000) as f64),
        1 => flow.bandwidth = Some(Bandwidth(draw.scale(10, 20_000) * 1_000_000)),
        _ => flow.queue_depth = Some(draw.scale(1, 64) as u32),
    }
    flow.align =
        draw.chance(0.6).then(|| ByteSize(draw.pick(&[512, 1024, 1536, 4096, page, 2 * page])));
    flow.working_set = draw.chance(0.4).then(|| Ratio(0.05 + 0.95 * draw.0.unit()));
    flow
}

fn address(draw: &mut Draw) -> AddressConfig {
    match draw.between(0, 4) {
        0 => AddressConfig::Uniform,
        1 => AddressConfig::Streaming,
        2 => AddressConfig::HotCold(HotColdConfig {
            hot_region: Ratio(0.01 + 0.9 * draw.0.unit()),
            hot_traffic: draw.share(),
            scattered: false,
        }),
        3 => AddressConfig::Zipf(ZipfConfig {
            theta: 2.0 * draw.0.unit(),
            extent: ByteSize(512 << draw.between(0, 8)),
            stands_for: None,
        }),
        _ => AddressConfig::Mixed(MixedConfig {
            streaming: draw.share(),
            stream_space: Ratio(draw.share().0.max(0.01)),
            phase: draw.chance(0.5).then_some(Span(1_000_000_000)),
        }),
    }
}

/// A request size: whole pages, sectors, or anything. Unit: bytes.
fn bytes(draw: &mut Draw, page: u64) -> ByteSize {
    ByteSize(match draw.between(0, 3) {
        0 => page,
        1 => page * draw.scale(1, 8),
        2 => 4096,
        _ => 512 * draw.scale(1, 128),
    })
}

fn size(draw: &mut Draw, page: u64) -> SizeConfig {
    match draw.between(0, 3) {
        0 => SizeConfig::Normal {
            normal: NormalSizeConfig {
                mean: bytes(draw, page),
                stddev: ByteSize(draw.scale(1, 32 * KIB)),
            },
        },
        1 => {
            let count = draw.between(1, 4);
            let point = |draw: &mut Draw| (bytes(draw, page), 0.01 + draw.0.unit());
            SizeConfig::Discrete { discrete: (0..count).map(|_| point(draw)).collect() }
        }
        _ => SizeConfig::Fixed(bytes(draw, page)),
    }
}

fn mqsim(draw: &mut Draw) -> MqsimSyntheticConfig {
    MqsimSyntheticConfig {
        working_set_percent: draw.between(20, 100) as u32,
        closed_loop: draw.chance(0.6),
        read_percent: draw.pick(&[0, 30, 50, 100]),
        address: draw.pick(&[
            MqsimAddress::Streaming,
            MqsimAddress::Uniform,
            MqsimAddress::HotCold,
        ]),
        hot_region_percent: draw.between(1, 99) as u32,
        aligned: draw.chance(0.5),
        alignment_sectors: draw.scale(1, 32) as u32,
        normal_size: draw.chance(0.5),
        size_mean_sectors: draw.scale(1, 64) as u32,
        size_stddev_sectors: draw.scale(1, 32) as u32,
        seed: draw.between(1, 10_000) as i32,
        queue_depth: draw.scale(1, 64) as u32,
        bandwidth: draw.scale(10, 10_000) * 1_000_000,
        stop_time_ns: 0,
        requests: 1,
    }
}

/// Regions, pauses and seeds of synthetic flows. Drawn apart, so that three of four seeds are what
/// they were before there were any.
pub(super) fn regions(seed: u64, device: &DeviceConfig, workload: &mut WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.regions", 0));
    if !draw.chance(0.25) {
        return;
    }
    let layout = workload.layout(device);
    for (flow, space) in workload.flows.iter_mut().zip(&layout.flows) {
        let Some(synthetic) = &mut flow.synthetic else { continue };
        if synthetic.queue_depth.is_some() && draw.chance(0.5) {
            synthetic.think_time = Some(Span(draw.scale(100 * NS, 200 * US)));
        }
        synthetic.seed = draw.chance(0.3).then(|| draw.between(0, 9));
        let largest = match &synthetic.size {
            SizeConfig::Fixed(size) => size.0,
            SizeConfig::Normal { normal } => normal.mean.0,
            SizeConfig::Discrete { discrete } => {
                discrete.iter().map(|point| point.0.0).max().unwrap_or(512)
            }
        };
        let least = largest.max(synthetic.align.map_or(4096, |align| align.0)).div_ceil(512);
        if synthetic.working_set.is_none() && least < space.sectors && draw.chance(0.6) {
            let start = draw.between(0, space.sectors - least);
            synthetic.region_start = Some(ByteSize(512 * start));
            let region = draw.between(least, space.sectors - start);
            synthetic.region = draw.chance(0.7).then_some(ByteSize(512 * region));
        }
    }
}

/// How long each flow runs: enough to turn a small device over several times, in bounded time.
pub(super) fn requests(draw: &mut Draw, device: &DeviceConfig, workload: &mut WorkloadConfig) {
    let layout = workload.layout(device);
    let pages = draw.scale(300, 10_000);
    let span = draw.scale(5 * MS, 100 * MS);
    let several = workload.flows.len() > 1;
    for (flow, space) in workload.flows.iter_mut().zip(&layout.flows) {
        // Requests that do not fit into a small space become as large as it is.
        let room = space.sectors * 512;
        let page = device.flash.page_size.0;
        let spans = |bytes: u64| bytes.div_ceil(page);
        if let Some(synthetic) = &mut flow.synthetic {
            let share = synthetic.working_set.map_or(1.0, |share| share.0);
            let room = ((room as f64 * share) as u64 / 512 * 512).max(512);
            let cut = |size: &mut ByteSize| size.0 = size.0.min(room);
            let largest = match &mut synthetic.size {
                SizeConfig::Fixed(size) => {
                    cut(size);
                    size.0
                }
                SizeConfig::Normal { normal } => {
                    cut(&mut normal.mean);
                    normal.mean.0 + normal.stddev.0
                }
                SizeConfig::Discrete { discrete } => {
                    discrete.iter_mut().for_each(|point| cut(&mut point.0));
                    discrete.iter().map(|point| point.0.0).max().unwrap_or(512)
                }
            };
            if room < synthetic.align.map_or(4096, |align| align.0) {
                synthetic.align = Some(ByteSize(512));
            }
            synthetic.requests = Some((pages / spans(largest)).clamp(10, 5_000));
            if several || draw.chance(0.3) {
                synthetic.duration = Some(Span(span));
            }
        }
        if let Some(clone) = &mut flow.clone {
            clone.requests = Some((pages / spans(16 * KIB)).clamp(10, 2_000));
            clone.duration = Some(Span(span));
        }
        if let Some(MqsimFlowConfig::Synthetic(flow)) = &mut flow.mqsim {
            let least = (room / 100 * u64::from(flow.working_set_percent) / 512).max(1);
            flow.size_mean_sectors = flow.size_mean_sectors.min(least as u32);
            flow.requests =
                (pages / spans(u64::from(flow.size_mean_sectors) * 512)).clamp(10, 5_000);
            if several {
                flow.stop_time_ns = span / NS;
            }
        }
    }
}
