//! Random configurations that validation should accept: every knob of the device and of synthetic
//! flows, small sizes first, because that is where room runs out.

use std::sync::{Arc, Mutex};

use flashlane::config::load::{self, Overrides};
use flashlane::config::units::{Bandwidth, BlockShare, ByteSize, Ratio, Span, TransferRate};
use flashlane::config::validate::{gc_reserve, plane_budget, validate};
use flashlane::config::{
    AddressConfig, Arrivals, CacheMechanism, CacheMode, ChannelClass, CloneConfig, CompatConfig,
    DeviceConfig, FlowConfig, HotColdConfig, InterfaceKind, MappingKind, MixedConfig, MqsimAddress,
    MqsimFlowConfig, MqsimSyntheticConfig, NormalSizeConfig, OnEnd, Priority, SataConfig, Sharing,
    SizeConfig, SmallReadConfig, SyntheticConfig, Technology, UnwrittenRead, WindowRule,
    WorkloadConfig, ZipfConfig,
};
use flashlane::ftl::allocation::Allocation;
use flashlane::ftl::gc::{RandomPlusPlusConfig, RgaConfig, Victim};
use flashlane::interface::arbitration::{Arbitration, WeightedConfig};
use flashlane::isolation::{
    FewestReads, Isolation, PartitionBy, PartitionShares, PartitionedConfig, UpiConfig,
};
use flashlane::layout::Layout;
use flashlane::observe::{
    Observe, RequestBatch, RequestRecord, RequestSink, SeriesOptions, TimelineOptions,
};
use flashlane::scheduler::Scheduling;
use flashlane::scheduler::policy::{
    FlinConfig, FlinScope, SprinklerConfig, SprinklerFairnessConfig,
};
use flashlane::workload::clone;
use flashlane::{Error, RunOptions, Warmup};
use flashlane_engine::Rng;

const KIB: u64 = 1 << 10;
const NS: u64 = 1_000;
const US: u64 = 1_000_000;
const MS: u64 = 1_000_000_000;
const SECOND: u64 = 1_000_000_000_000;

/// One configuration of the swarm.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) device: DeviceConfig,
    pub(crate) workload: WorkloadConfig,
    pub(crate) options: RunOptions,
    /// Where records of requests go, if they are kept.
    pub(crate) records: Option<Arc<Mutex<Records>>>,
}

/// Random choices.
struct Draw(Rng);

impl Draw {
    fn chance(&mut self, probability: f64) -> bool {
        self.0.unit() < probability
    }

    /// Uniform. Range: `low..=high`.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// The same with small numbers as likely as large ones: uniform in the logarithm.
    fn scale(&mut self, low: u64, high: u64) -> u64 {
        let ratio = (high as f64 + 1.0) / low as f64;
        ((low as f64 * libm::pow(ratio, self.0.unit())) as u64).clamp(low, high)
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.0.below(from.len() as u64) as usize].clone()
    }

    fn share(&mut self) -> Ratio {
        Ratio(match self.between(0, 5) {
            0 => 0.0,
            1 => 1.0,
            _ => self.0.unit(),
        })
    }
}

/// The configuration of a seed.
pub(crate) fn case(seed: u64) -> Case {
    let mut draw = Draw(Rng::stream(seed, "swarm", 0));
    let mut device = load::device("tiny", &Overrides::default()).expect("a preset loads").config;
    geometry(&mut draw, &mut device);
    timing(&mut draw, &mut device);
    interface(&mut draw, &mut device);
    cache(&mut draw, &mut device);
    translation(&mut draw, &mut device);
    if draw.chance(0.12) {
        in_place(&mut draw, &mut device);
    }
    if draw.chance(0.2) {
        device.compat = compat(&mut draw);
    }
    let flows = draw.pick(&[1, 1, 1, 2, 2, 3, 4]);
    let mut workload = WorkloadConfig {
        name: format!("swarm {seed}"),
        flows: (0..flows).map(|index| flow(&mut draw, &device, index, flows)).collect(),
        window: if draw.chance(0.85) { WindowRule::Steady } else { WindowRule::WholeRun },
    };
    if let Arbitration::Weighted(_) = device.interface.arbitration {
        // By the standard an urgent queue goes first always; one that starts over until the others
        // are done may keep them waiting for ever.
        for flow in workload.flows.iter_mut().filter(|flow| flow.priority == Priority::Urgent) {
            flow.on_end = Some(OnEnd::Stop);
        }
    }
    if device.interface.kind == InterfaceKind::Sata {
        // An open loop that starts over may flood the queue that it shares with the others.
        for flow in &mut workload.flows {
            flow.on_end = Some(OnEnd::Stop);
        }
    }
    isolation(&mut draw, &mut device, flows);
    if let Isolation::Upi(_) = device.isolation {
        for flow in &mut workload.flows {
            (flow.channels, flow.chips, flow.dies, flow.planes) = (None, None, None, None);
        }
    }
    collection(&mut draw, &mut device);
    make_room(&mut draw, &mut device, &workload);
    for _ in 0..40 {
        let ratio = device.ftl.over_provisioning.0;
        let crowded =
            validate(&device, &workload).iter().any(|p| p.place == "ftl.over_provisioning");
        if !crowded || !matches!(device.isolation, Isolation::Upi(_)) {
            break;
        }
        device.ftl.over_provisioning = Ratio((ratio * 1.2 + 0.01).min(10.0));
    }
    requests(&mut draw, &device, &mut workload);
    regions(seed, &device, &mut workload);
    let warmup = match draw.between(0, 7) {
        0 => Warmup::Time(draw.scale(US, MS)),
        1 => Warmup::Requests(draw.scale(1, 100)),
        _ => Warmup::None,
    };
    let seed = draw.between(0, 1000);
    let alone = draw.chance(0.1);
    let windows = alone.then(|| draw.scale(US, 10 * MS));
    let (observe, records) = observe(&mut draw);
    let options = RunOptions {
        seed,
        alone,
        windows,
        check: true,
        threads: 1,
        warmup,
        observe,
        ..RunOptions::default()
    };
    Case { device, workload, options, records }
}

/// What is watched: often everything. And where the records of requests go, if they are kept.
fn observe(draw: &mut Draw) -> (Observe, Option<Arc<Mutex<Records>>>) {
    let all = draw.chance(0.5);
    let mut chance = || all || draw.chance(0.3);
    let (requests, blame, series, timeline) = (chance(), chance(), chance(), chance());
    // Runs are short: small windows, of which there are soon too many.
    let window = draw.chance(0.3).then(|| draw.scale(10 * MS, 1000 * MS));
    let from = if draw.chance(0.5) { 0 } else { draw.scale(US, 10 * MS) };
    let to = if draw.chance(0.5) { u64::MAX } else { from + draw.scale(US, 10 * MS) };
    let span = TimelineOptions { from, to, slices_max: draw.scale(10, 100_000) as usize };
    let records = requests.then(|| Arc::new(Mutex::new(Records::default())));
    let sink = records.clone().map(|records| records as Arc<Mutex<dyn RequestSink>>);
    let series = series.then_some(SeriesOptions { window });
    let timeline = timeline.then_some(span);
    (Observe { requests: sink, blame, series, timeline, submissions: None }, records)
}

/// Records of requests, kept.
#[derive(Debug, Default)]
pub(crate) struct Records(pub(crate) Vec<RequestBatch>);

impl RequestSink for Records {
    fn take(&mut self, records: &mut Vec<RequestRecord>) -> Result<(), Error> {
        let mut batch = RequestBatch::default();
        batch.extend(records);
        self.0.push(batch);
        Ok(())
    }
}

fn geometry(draw: &mut Draw, device: &mut DeviceConfig) {
    let flash = &mut device.flash;
    flash.channels = draw.between(1, 4) as u32;
    flash.chips_per_channel = draw.between(1, 4) as u32;
    flash.dies_per_chip = draw.between(1, 4) as u32;
    flash.planes_per_die = draw.between(1, 4) as u32;
    flash.blocks_per_plane = draw.scale(8, 256) as u32;
    flash.pages_per_block = draw.scale(4, 64) as u32;
    // Small devices fill up; a few larger ones are kept for their many queues.
    let most = draw.pick(&[2_000, 6_000, 20_000, 20_000, 100_000]);
    while flashlane::layout::Geometry::new(flash).pages() > most {
        let sizes = [
            (&mut flash.channels, 1),
            (&mut flash.chips_per_channel, 1),
            (&mut flash.dies_per_chip, 1),
            (&mut flash.planes_per_die, 1),
            (&mut flash.blocks_per_plane, 8),
            (&mut flash.pages_per_block, 4),
        ];
        let turn = draw.0.below(6) as usize;
        let (size, least) = sizes.into_iter().nth(turn).expect("six sizes");
        *size = (*size * 3 / 4).max(least);
    }
    flash.page_size = ByteSize(512 * draw.scale(1, 64));
    if draw.chance(0.6) {
        flash.page_size = ByteSize(512 << draw.between(0, 6));
    }
    flash.technology =
        draw.pick(&[Technology::Slc, Technology::Mlc, Technology::Tlc, Technology::Qlc]);
    flash.channel_width = ByteSize(draw.pick(&[1, 1, 2, 8]));
}

fn timing(draw: &mut Draw, device: &mut DeviceConfig) {
    let flash = &mut device.flash;
    flash.channel_rate = TransferRate(draw.scale(20, 2_000) * 1_000_000);
    let types = flash.technology.page_types();
    let values = if draw.chance(0.5) { 1 } else { types };
    flash.read_time = (0..values).map(|_| Span(draw.scale(2, 100) * US)).collect();
    flash.program_time = (0..values).map(|_| Span(draw.scale(10, 1_000) * US)).collect();
    flash.erase_time = Span(draw.scale(100, 4_000) * US);
    if draw.chance(0.2) {
        let class =
            draw.pick(&[ChannelClass::NvDdr2, ChannelClass::NvDdr3, ChannelClass::NvLpddr4]);
        flash.channel_class = Some(class);
        flash.channel_rate.0 = flash.channel_rate.0.min(class.fastest().0);
    }
    flash.command_time = draw.chance(0.1).then(|| Span(draw.scale(1, 1_000) * NS));
    if draw.chance(0.2) {
        let size = ByteSize(512 * draw.between(1, flash.page_size.0 / 512));
        flash.small_read =
            Some(SmallReadConfig { size, time: vec![Span(draw.scale(2, 100) * US)] });
    }
    let suspend = &mut flash.suspend;
    suspend.program = draw.chance(0.4);
    suspend.erase = draw.chance(0.5);
    suspend.erase_for_write = draw.chance(0.4);
    suspend.erase_min_left_for_write = Span(draw.scale(1, 1_000) * US);
    suspend.program_time = Span(draw.scale(1, 200) * US);
    suspend.erase_time = Span(draw.scale(1, 700) * US);
    suspend.program_min_left = Span(draw.scale(1, 300) * US);
    suspend.erase_min_left = Span(draw.scale(1, 1_000) * US);
    if draw.chance(0.2) {
        suspend.program_time = Span(0);
        suspend.program_min_left = Span(0);
    }
    if draw.chance(0.2) {
        suspend.erase_time = Span(0);
        suspend.erase_min_left = Span(0);
    }
    device.scheduler = scheduler(draw);
}

/// Any scheduler, with options of its own at times.
fn scheduler(draw: &mut Draw) -> Scheduling {
    let config = Scheduling::by_name(draw.pick(Scheduling::NAMES)).expect("listed names exist");
    if draw.chance(0.5) {
        return config;
    }
    match config {
        Scheduling::Sprinkler(_) => {
            Scheduling::Sprinkler(SprinklerConfig { window: draw.scale(1, 1024) as u32 })
        }
        Scheduling::SprinklerFairness(_) => {
            Scheduling::SprinklerFairness(SprinklerFairnessConfig {
                window: draw.scale(1, 1024) as u32,
                round: Span(draw.scale(MS, 100 * MS)),
                idle: Span(draw.scale(US, 10 * MS)),
                limit: Span(draw.scale(MS, 200 * MS)),
                gc_compensation: draw.chance(0.7),
                least_factor: 0.1 + 0.9 * draw.0.unit(),
                most_factor: 1.0 + 9.0 * draw.0.unit(),
                urgent: draw.scale(1, 256) as u32,
                high: draw.scale(1, 256) as u32,
                medium: draw.scale(1, 256) as u32,
                low: draw.scale(1, 256) as u32,
            })
        }
        Scheduling::Flin(config) => Scheduling::Flin(flin(draw, config)),
        other => other,
    }
}

/// FLIN with other stages, thresholds and bounds.
fn flin(draw: &mut Draw, mut config: FlinConfig) -> FlinConfig {
    config.stages.retain(|_| draw.chance(0.8));
    config.epoch = Span(draw.scale(1, 10_000) * US);
    config.read_intensity = Bandwidth(draw.scale(1, 1_000) * 1_000_000);
    config.write_intensity = Bandwidth(draw.scale(1, 1_000) * 256_000);
    config.intensity_scope = draw.pick(&[FlinScope::Device, FlinScope::Unit]);
    config.fairness_threshold = draw.share().0;
    config.gc_free_pages = draw.pick(&[0, 64, 1024, 1 << 20]);
    config.suspend = draw.chance(0.8);
    config.age_limit = draw.chance(0.3).then(|| Span(draw.scale(10, 10_000) * US));
    config.scan_limit = draw.chance(0.3).then(|| draw.scale(1, 100) as u32);
    config
}

/// UPI with short windows, with options of its own at times.
fn upi(draw: &mut Draw, device: &mut DeviceConfig, flows: usize) {
    let mut upi = UpiConfig { window: Span(draw.scale(100 * US, 50 * MS)), ..UpiConfig::default() };
    let chips = device.flash.channels * device.flash.chips_per_channel;
    if draw.chance(0.6) {
        upi.hysteresis = draw.pick(&[0.0, 0.0, 0.1]);
        upi.settle = draw.chance(0.5);
        upi.fewest_reads = draw.pick(&[FewestReads::Own, FewestReads::All]);
        upi.relocation = draw.pick(&[0.0, 1.0, 100.0]);
        upi.traffic_exponents =
            (0..draw.between(0, flows as u64)).map(|_| 3.0 * draw.0.unit()).collect();
        upi.read_exponent = draw.pick(&[0.0, 0.5, 1.0, 2.0]);
        upi.overflow = draw.chance(0.3);
        upi.fill = Ratio(draw.pick(&[0.01, 0.3, 0.7, 0.9, 1.0]));
        upi.read_memory = draw.between(0, 20) as u32;
        for chip in flows as u32..chips {
            match draw.between(0, 5) {
                0 => upi.shared_chips.push(chip),
                1 => upi.read_only_chips.push(chip),
                _ => {}
            }
        }
    }
    device.isolation = Isolation::Upi(upi);
}

/// Sets of chips for the flows, where there are enough of them.
fn isolation(draw: &mut Draw, device: &mut DeviceConfig, flows: usize) {
    let flash = &device.flash;
    let divides = flash.technology != Technology::InPlace
        && device.interface.kind == InterfaceKind::Nvme
        && flash.channels * flash.chips_per_channel >= flows as u32;
    if !divides || draw.chance(0.6) {
        return;
    }
    if device.ftl.mapping.kind == MappingKind::Page && draw.chance(0.6) {
        upi(draw, device, flows);
        return;
    }
    let by_channel = flash.channels >= flows as u32 && draw.chance(0.3);
    device.isolation = Isolation::Partitioned(PartitionedConfig {
        by: if by_channel { PartitionBy::Channel } else { PartitionBy::Chip },
        shares: draw.pick(&[PartitionShares::Equal, PartitionShares::Capacity]),
    });
}

/// Memory that is written in place.
fn in_place(draw: &mut Draw, device: &mut DeviceConfig) {
    let flash = &mut device.flash;
    flash.technology = Technology::InPlace;
    flash.read_time = vec![Span(draw.scale(100, 10_000) * NS)];
    flash.program_time = vec![Span(draw.scale(100, 10_000) * NS)];
    flash.erase_time = Span(0);
    flash.small_read = None;
    let unit = |draw: &mut Draw| {
        let largest = (63 - flash.page_size.0.leading_zeros()).into();
        draw.chance(0.5).then(|| ByteSize(1 << draw.between(4, largest)))
    };
    flash.read_unit = unit(draw);
    flash.write_unit = unit(draw);
    device.ftl.mapping.kind = MappingKind::Page;
    device.ftl.precondition.open_blocks = false;
    device.ftl.mapping.ideal = true;
    if let Allocation::Dynamic(_) = device.ftl.allocation {
        device.ftl.allocation = Allocation::by_name("cwdp").expect("listed names exist");
    }
}

fn interface(draw: &mut Draw, device: &mut DeviceConfig) {
    let interface = &mut device.interface;
    interface.queue_depth = draw.scale(2, 256) as u32;
    interface.queue_fetch_size = draw.scale(1, 128) as u32;
    interface.fetch_ahead = draw.scale(1, 32) as u32;
    interface.firmware_time = Span(draw.pick(&[0, 300 * NS, US, 20 * US]));
    interface.write_firmware_time = draw.chance(0.2).then(|| Span(draw.pick(&[0, 5 * US])));
    interface.firmware_servers = draw.between(1, 4) as u32;
    interface.arbitration =
        Arbitration::by_name(draw.pick(Arbitration::NAMES)).expect("listed names exist");
    if let Arbitration::Weighted(_) = &interface.arbitration
        && draw.chance(0.5)
    {
        interface.arbitration = Arbitration::Weighted(WeightedConfig {
            burst: draw.scale(1, 64) as u32,
            high: draw.scale(1, 256) as u32,
            medium: draw.scale(1, 256) as u32,
            low: draw.scale(1, 256) as u32,
        });
    }
    if draw.chance(0.2) {
        interface.kind = InterfaceKind::Sata;
        interface.sata = SataConfig {
            tags: draw.scale(1, 32) as u32,
            adapter_time: Span(draw.pick(&[0, US, 10 * US])),
            link_rate: Bandwidth(draw.scale(50, 2_000) * 1_000_000),
            frame_payload: ByteSize(512 * draw.scale(1, 16)),
            frame_overhead: ByteSize(draw.between(0, 256)),
        };
    }
    device.link.lanes = draw.pick(&[1, 4, 16]);
    if draw.chance(0.3) {
        device.link.generation = Some(draw.between(3, 6) as u32);
    } else {
        device.link.lane_bandwidth = Some(Bandwidth(draw.scale(50, 2_000) * 1_000_000));
    }
    device.link.max_payload = ByteSize(draw.pick(&[64, 128, 256, 4096]));
}

fn cache(draw: &mut Draw, device: &mut DeviceConfig) {
    let page = device.flash.page_size.0;
    let cache = &mut device.cache;
    let slots = draw.pick(&[0, 1, 2, 3, 8, 70, 300, 5_000]);
    cache.capacity = ByteSize(slots * page + draw.between(0, page - 1));
    cache.write_back_pages_per_plane = draw.pick(&[1, 1, 2, 16, 1000]);
    cache.eager_write_back = draw.chance(0.5);
    cache.hot_epoch = Span(draw.scale(1, 1_000_000) * US);
    cache.sharing = draw.pick(&[Sharing::Shared, Sharing::EqualPartitioning]);
    if draw.chance(0.2) {
        cache.mechanism = CacheMechanism::Simple;
    }
    cache.dram.banks = draw.scale(1, 16) as u32;
    cache.dram.row = ByteSize(64 << draw.between(0, 8));
    cache.dram.data_rate = TransferRate(draw.scale(100, 4_000) * 1_000_000);
}

fn translation(draw: &mut Draw, device: &mut DeviceConfig) {
    let ftl = &mut device.ftl;
    ftl.mapping.ideal = draw.chance(0.4);
    if draw.chance(0.15) {
        ftl.mapping.kind = MappingKind::Hybrid;
        ftl.mapping.log_blocks = draw.scale(2, 8) as u32;
    }
    ftl.mapping.cmt_capacity = ByteSize(draw.scale(KIB, 256 * KIB));
    ftl.mapping.warm = draw.chance(0.5);
    ftl.mapping.sharing = draw.pick(&[Sharing::Shared, Sharing::EqualPartitioning]);
    let name = if draw.chance(0.3) { "dynamic" } else { draw.pick(Allocation::NAMES) };
    ftl.allocation = Allocation::by_name(name).expect("listed names exist");
    ftl.unwritten_read = draw.pick(&[UnwrittenRead::ZeroFill, UnwrittenRead::Flash]);
    ftl.wear_leveling.dynamic = draw.chance(0.5);
    ftl.wear_leveling.static_threshold = draw.pick(&[0, 1, 2, 5, 100]);
    ftl.precondition.enabled = draw.chance(0.7);
    ftl.precondition.occupancy = draw.share();
    let opens = draw.chance(0.5);
    ftl.precondition.open_blocks = opens && ftl.mapping.kind == MappingKind::Page;
    ftl.precondition.warm_cache = draw.chance(0.5);
}

/// Thresholds of collection, as low as they may be or with some room.
fn collection(draw: &mut Draw, device: &mut DeviceConfig) {
    let blocks = device.flash.blocks_per_plane;
    let by_page = device.ftl.mapping.kind != MappingKind::Hybrid;
    let gc = &mut device.ftl.gc;
    gc.victim = Victim::by_name(draw.pick(Victim::NAMES)).expect("listed names exist");
    if let Victim::Rga(_) = gc.victim {
        let choices = draw.pick(&[0, 0, 1, 2, blocks]);
        gc.victim = Victim::Rga(RgaConfig { choices });
    }
    if let Victim::RandomPlusPlus(_) = gc.victim {
        gc.victim = Victim::RandomPlusPlus(RandomPlusPlusConfig { max_valid: draw.share() });
    }
    gc.preemptible = draw.chance(0.6);
    let sets_move = matches!(device.isolation, Isolation::Upi(_));
    gc.copyback = by_page && !sets_move && draw.chance(0.4);
    gc.max_concurrent_per_plane =
        if draw.chance(0.6) { 1 } else { draw.between(1, u64::from(blocks / 8)).min(16) as u32 };
    gc.hard_threshold = match draw.between(0, 3) {
        0 => BlockShare::Blocks(draw.between(0, u64::from(blocks / 4)) as u32),
        _ => BlockShare::Share(draw.0.unit() * 0.1),
    };
    let least = gc_reserve(&device.ftl, blocks) + 1;
    let more = match draw.between(0, 2) {
        0 => 0,
        _ => draw.between(0, u64::from(blocks / 4)) as u32,
    };
    device.ftl.gc.threshold = BlockShare::Blocks((least + more).min(blocks - 1));
}

/// Every switch at random, those too that are added later.
fn compat(draw: &mut Draw) -> CompatConfig {
    let mut switches = serde_json::to_value(CompatConfig::mqsim()).expect("plain switches");
    for (_, on) in switches.as_object_mut().expect("a table").iter_mut() {
        *on = draw.chance(0.5).into();
    }
    serde_json::from_value(switches).expect("plain switches")
}

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

fn flow(draw: &mut Draw, device: &DeviceConfig, index: usize, flows: usize) -> FlowConfig {
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
                of: params.name.to_owned(),
                time_scale: 0.1 / draw.scale(1, 100) as f64,
                requests: Some(1),
                duration: None,
                start: params.has_day().then(|| Span(draw.between(0, 86_399) * SECOND)),
                day: params.has_day().then(|| Span(draw.between(24, 86_400) * SECOND)),
            });
        }
        1 => flow.mqsim = Some(MqsimFlowConfig::Synthetic(mqsim(draw))),
        _ => flow.synthetic = Some(synthetic(draw, device.flash.page_size.0)),
    }
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
        }),
        3 => AddressConfig::Zipf(ZipfConfig {
            theta: 2.0 * draw.0.unit(),
            extent: ByteSize(512 << draw.between(0, 8)),
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

/// Over-provisioning: often exactly what validation asks for.
fn make_room(draw: &mut Draw, device: &mut DeviceConfig, workload: &WorkloadConfig) {
    device.ftl.over_provisioning = Ratio(0.005);
    for _ in 0..4 {
        let layout = Layout::new(device, workload);
        let ratio = device.ftl.over_provisioning.0;
        let worst = plane_budget(device, &layout)
            .into_iter()
            .filter(|budget| !budget.fits())
            .max_by_key(|budget| budget.logical_pages as i64 - budget.room_pages() as i64);
        let Some(worst) = worst else { break };
        let needed = worst.over_provisioning_needed(ratio).unwrap_or(10.0);
        device.ftl.over_provisioning = Ratio(needed.max(ratio + 0.0001).min(10.0));
    }
    if draw.chance(0.5) {
        let ratio = device.ftl.over_provisioning.0;
        device.ftl.over_provisioning = Ratio((ratio * 1.1 + 0.5 * draw.0.unit()).min(10.0));
    }
}

/// Regions, pauses and seeds of synthetic flows. Drawn apart, so that three of four seeds are what
/// they were before there were any.
fn regions(seed: u64, device: &DeviceConfig, workload: &mut WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.regions", 0));
    if !draw.chance(0.25) {
        return;
    }
    let layout = Layout::new(device, workload);
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
fn requests(draw: &mut Draw, device: &DeviceConfig, workload: &mut WorkloadConfig) {
    let layout = Layout::new(device, workload);
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
