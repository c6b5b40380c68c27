//! Random drives.

use flashlane::config::units::{
    Bandwidth, BlockShare, ByteSize, Frequency, Ratio, Span, TransferRate,
};
use flashlane::config::validate::{gc_reserve, validate, validate_device};
use flashlane::config::{
    AgeConfig, CacheMechanism, ChannelClass, Coefficients, CompatConfig, DeviceConfig, ErrorModel,
    ErrorsConfig, InterfaceKind, MappingKind, Pacing, PageOrder, ProcessorsConfig, Programming,
    SataConfig, Sharing, SmallReadConfig, Superblock, Technology, UnwrittenRead, WorkloadConfig,
};
use flashlane::policy::Allocation;
use flashlane::policy::Arbitration;
use flashlane::policy::Isolation;
use flashlane::policy::Scheduling;
use flashlane::policy::Victim;
use flashlane::policy::parameters::WeightedConfig;
use flashlane::policy::parameters::{
    FewestReads, PartitionBy, PartitionShares, PartitionedConfig, UpiConfig,
};
use flashlane::policy::parameters::{
    FlinConfig, FlinFreePages, FlinHistory, FlinScope, SprinklerConfig, SprinklerFairnessConfig,
};
use flashlane::policy::parameters::{RandomPlusPlusConfig, RgaConfig};

use super::{Draw, KIB, MS, NS, US};
use flashlane_device::ftl::superblocks::problem;
use flashlane_engine::Rng;

pub(super) fn geometry(draw: &mut Draw, device: &mut DeviceConfig) {
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

pub(super) fn timing(draw: &mut Draw, device: &mut DeviceConfig) {
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
        Scheduling::Sprinkler(_) => Scheduling::Sprinkler(SprinklerConfig {
            window: draw.scale(1, 1024) as u32,
            suspend_collection: draw.chance(0.7),
            pending_writes: draw.chance(0.3).then(|| draw.scale(1, 64) as u32),
        }),
        Scheduling::SprinklerFairness(_) => {
            Scheduling::SprinklerFairness(SprinklerFairnessConfig {
                window: draw.scale(1, 1024) as u32,
                suspend_collection: draw.chance(0.7),
                pending_writes: draw.chance(0.3).then(|| draw.scale(1, 64) as u32),
                round: Span(draw.scale(MS, 100 * MS)),
                idle: Span(draw.scale(US, 10 * MS)),
                limit: Span(draw.scale(MS, 200 * MS)),
                work_conserving: true,
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
    config.intensity_scope = draw.pick(&[FlinScope::Device, FlinScope::Unit, FlinScope::EachUnit]);
    config.fairness_threshold = draw.share().0;
    config.gc_free_pages = draw.pick(&[0, 64, 1024, 1 << 20]);
    config.gc_scope =
        draw.pick(&[FlinFreePages::Plane, FlinFreePages::Unit, FlinFreePages::Device]);
    config.gc_history = draw.pick(&[FlinHistory::Device, FlinHistory::Unit, FlinHistory::Run]);
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
pub(super) fn isolation(draw: &mut Draw, device: &mut DeviceConfig, flows: usize) {
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
pub(super) fn in_place(draw: &mut Draw, device: &mut DeviceConfig) {
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

pub(super) fn interface(draw: &mut Draw, device: &mut DeviceConfig) {
    let interface = &mut device.interface;
    interface.queue_depth = draw.scale(2, 256) as u32;
    interface.queue_fetch_size = draw.scale(1, 128) as u32;
    interface.fetch_ahead = draw.scale(1, 32) as u32;
    interface.firmware_time = Span(draw.pick(&[0, 300 * NS, US, 20 * US]));
    interface.write_firmware_time = draw.chance(0.2).then(|| Span(draw.pick(&[0, 5 * US])));
    interface.firmware_servers = draw.between(1, 4) as u32;
    // Told by what is drawn anyway, so that the other configurations stay what they were.
    if interface.queue_depth % 8 == 3 {
        interface.processors = Some(ProcessorsConfig {
            cores: interface.firmware_servers,
            clock: Frequency(if interface.fetch_ahead > 4 { 50_000_000 } else { 1_000_000_000 }),
            cache: ByteSize(u64::from(interface.queue_fetch_size) << 5),
            ..ProcessorsConfig::default()
        });
    }
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

pub(super) fn cache(draw: &mut Draw, device: &mut DeviceConfig) {
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

pub(super) fn translation(draw: &mut Draw, device: &mut DeviceConfig) {
    let ftl = &mut device.ftl;
    ftl.mapping.ideal = draw.chance(0.4);
    if draw.chance(0.15) {
        ftl.mapping.kind = MappingKind::Hybrid;
        ftl.mapping.log_blocks = draw.scale(2, 8) as u32;
    }
    ftl.mapping.cmt_capacity = ByteSize(draw.scale(32, 256 * KIB));
    ftl.mapping.warm = draw.chance(0.5);
    ftl.mapping.sharing = draw.pick(&[Sharing::Shared, Sharing::EqualPartitioning]);
    let name = if draw.chance(0.3) { "dynamic" } else { draw.pick(Allocation::NAMES) };
    ftl.allocation = Allocation::by_name(name).expect("listed names exist");
    ftl.unwritten_read = draw.pick(&[UnwrittenRead::ZeroFill, UnwrittenRead::Flash]);
    ftl.wear_leveling.dynamic = draw.chance(0.5);
    ftl.wear_leveling.static_threshold = draw.pick(&[0, 1, 2, 5, 100]);
    if ftl.mapping.kind == MappingKind::Page && draw.chance(0.2) {
        ftl.read_scrubbing.limit = draw.scale(1, 1000) as u32;
    }
    ftl.precondition.enabled = draw.chance(0.7);
    ftl.precondition.occupancy = draw.share();
    let opens = draw.chance(0.5);
    ftl.precondition.open_blocks = opens && ftl.mapping.kind == MappingKind::Page;
    ftl.precondition.warm_cache = draw.chance(0.5);
}

/// Thresholds of collection, as low as they may be or with some room.
pub(super) fn collection(draw: &mut Draw, device: &mut DeviceConfig) {
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

/// Paced collection where the rest allows it, and the order of page types. Drawn apart, so that the
/// rest is what it was before.
pub(super) fn pacing(seed: u64, device: &mut DeviceConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.pacing", 0));
    device.flash.page_order = draw.pick(&[PageOrder::Turns, PageOrder::Mqsim]);
    if !draw.chance(0.5) {
        return;
    }
    let mut paced = device.clone();
    let gc = &mut paced.ftl.gc;
    gc.pacing = Pacing::Proportional;
    gc.read_wait_max = draw.chance(0.7).then(|| Span(draw.scale(US, 100 * MS)));
    gc.idle_after = draw.chance(0.5).then(|| Span(draw.scale(US, 10 * MS)));
    if !validate_device(&paced).iter().any(|problem| problem.place == "ftl.gc.pacing") {
        *device = paced;
    }
}

/// Bit errors where the rest allows them, on some drives. Drawn apart, so that the rest is what it
/// was before.
pub(super) fn errors(seed: u64, device: &mut DeviceConfig) {
    if Draw(Rng::stream(seed, "swarm.errors", 0)).chance(0.3) {
        force_errors(seed, device);
    }
}

/// Bit errors beside units and word lines, on some drives that have these. Drawn apart.
pub(super) fn errors_of_units(seed: u64, device: &mut DeviceConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.errors_of_units", 0));
    let packs = device.unit() != device.flash.page_size || device.flash.pages_per_program() > 1;
    if !packs || device.errors.is_some() || !draw.chance(0.3) {
        return;
    }
    let mut with = device.clone();
    with.ftl.unwritten_read = UnwrittenRead::ZeroFill;
    with.errors = Some(errors_config(&mut draw));
    if validate_device(&with).is_empty() {
        *device = with;
    }
}

/// Bit errors, where the rest allows them. True if it does.
pub(crate) fn force_errors(seed: u64, device: &mut DeviceConfig) -> bool {
    let mut draw = Draw(Rng::stream(seed, "swarm.errors", 1));
    let mut with = device.clone();
    with.ftl.gc.copyback = false;
    with.ftl.unwritten_read = UnwrittenRead::ZeroFill;
    (with.ftl.mapping.unit, with.ftl.mapping.fill_time) = (None, None);
    with.flash.programming = Programming::Page;
    with.errors = Some(errors_config(&mut draw));
    let allowed = !validate_device(&with).iter().any(|p| p.place.starts_with("errors"));
    if allowed {
        *device = with;
    }
    allowed
}

fn errors_config(draw: &mut Draw) -> ErrorsConfig {
    let model =
        draw.pick(&[ErrorModel::Mlc3x, ErrorModel::Mlc2y, ErrorModel::Tlc3d, ErrorModel::Custom]);
    let base = draw.0.unit() * 0.02;
    let custom = model == ErrorModel::Custom;
    let bits = draw.scale(1, 100) as u32;
    ErrorsConfig {
        model,
        coefficients: custom.then(|| Coefficients { base, ..Coefficients::default() }),
        page_types: None,
        codeword: ByteSize(1024 << draw.between(0, 2)),
        correctable_bits: draw.chance(0.3).then_some(bits),
        decode_time: Span(draw.pick(&[0, 1, 20]) * US),
        retries: draw.between(0, 12) as u32,
        retry_factor: 0.5 + draw.0.unit() / 2.0,
        soft_senses: draw.between(0, 6) as u32,
        soft_correctable_bits: None,
        soft_decode_time: Span(draw.pick(&[0, 80]) * US),
        refresh_at: draw.chance(0.4).then(|| 1e-4 + draw.0.unit() * 0.02),
        age: AgeConfig {
            cycles: draw.scale(1, 5_000) as u32,
            retention_days: draw.0.unit() * 1000.0,
            reads: draw.scale(1, 100_000) as u32,
        },
    }
}

/// Bounds of suspension, on some drives. Drawn apart, so that the rest is what it was before.
pub(super) fn suspension(seed: u64, device: &mut DeviceConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.suspension", 0));
    let suspend = &mut device.flash.suspend;
    suspend.max_per_operation = draw.chance(0.2).then(|| draw.scale(1, 20) as u32);
    if draw.chance(0.2) {
        suspend.min_progress = Ratio(draw.scale(1, 100) as f64 / 100.0);
    }
}

/// Superblocks where the rest allows them, on some drives. Drawn apart, so that the rest is what it
/// was before.
pub(super) fn superblocks(seed: u64, device: &mut DeviceConfig, workload: &WorkloadConfig) {
    if Draw(Rng::stream(seed, "swarm.superblocks", 0)).chance(0.3) {
        force_superblocks(seed, device, workload);
    }
}

/// Superblocks, where the rest allows them. True if it does.
pub(crate) fn force_superblocks(
    seed: u64,
    device: &mut DeviceConfig,
    workload: &WorkloadConfig,
) -> bool {
    let mut draw = Draw(Rng::stream(seed, "swarm.superblocks", 1));
    let mut with = device.clone();
    let dies = draw.pick(&[1, 1, 2, 2, 4]);
    with.ftl.superblock = if draw.chance(0.6) { Superblock::Drive } else { Superblock::Dies(dies) };
    with.ftl.parity = draw.chance(0.3);
    with.flash.programming = Programming::Page;
    with.ftl.gc.copyback = false;
    with.ftl.over_provisioning = Ratio(10.0);
    if with.ftl.allocation.is_dynamic() {
        with.ftl.allocation = Allocation::by_name("pdcw").expect("listed names exist");
    }
    // The workload has no requests yet, so that its sets are not looked at by `validate`.
    let fits = problem(with.ftl_settings(), &workload.layout(&with)).is_none();
    let allowed = fits && !validate(&with, workload).iter().any(|p| p.place == "ftl.superblock");
    if allowed {
        with.ftl.over_provisioning = device.ftl.over_provisioning;
        *device = with;
    }
    allowed
}

/// Mapping units smaller than a page where the rest allows them, on some drives. Drawn apart, so
/// that the rest is what it was before.
pub(super) fn units(seed: u64, device: &mut DeviceConfig, workload: &WorkloadConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.units", 0));
    let parts = draw.pick(&[1, 1, 2, 3, 4, 8, 32]);
    let page = device.flash.page_size.0;
    // Superblocks draw their units in `units_of_superblocks`.
    let blocks = device.ftl.superblock == Superblock::Block;
    if parts == 1 || !page.is_multiple_of(512 * parts) || !blocks {
        return;
    }
    let mut with = device.clone();
    (with.ftl.mapping.ideal, with.ftl.mapping.unit) = (true, Some(ByteSize(page / parts)));
    with.ftl.mapping.fill_time = draw.chance(0.7).then(|| Span(draw.scale(US, 10 * MS)));
    // The workload has no requests yet, which is a problem of its own.
    if validate(&with, workload).len() <= validate(device, workload).len() {
        *device = with;
    }
}

/// Every switch at random, those too that are added later. Runs fill no plane, so that they end.
pub(super) fn compat(draw: &mut Draw) -> CompatConfig {
    let mut switches = serde_json::to_value(CompatConfig::mqsim()).expect("plain switches");
    for (_, on) in switches.as_object_mut().expect("a table").iter_mut() {
        *on = draw.chance(0.5).into();
    }
    switches["planes_may_fill"] = false.into();
    serde_json::from_value(switches).expect("plain switches")
}
