//! Rules of a device.

use std::ops::RangeInclusive;

use super::{
    BANDWIDTH, BLOCKS_PER_PLANE, CHANNELS, DIES_PER_CHIP, MAX_PAGES, MAX_REQUEST_BYTES,
    MAX_SPAN_PS, OPERATION_PS, OUTSTANDING, OVER_PROVISIONING, PAGE_BYTES, PAGES_PER_BLOCK,
    PLANES_PER_DIE, QUEUE_DEPTH, cache, errors, isolation, media, one_stream, pacing, placement,
    separation, slc_cache, superblocks, units, warps, word_lines, zones,
};
use crate::{
    DeviceConfig, FlashConfig, FtlConfig, InterfaceConfig, LinkConfig, MappingKind, Placement,
    Programming, Technology,
};
use flashlane_device::ftl::budget::gc_reserve;
use flashlane_device::ftl::gc::Victim;
use flashlane_device::ftl::reserve_blocks;
use flashlane_device::interface::arbitration::Arbitration;
use flashlane_device::interface::processors::ProcessorsConfig;
use flashlane_device::scheduler::policy::{Scheduling, SprinklerFairnessConfig};
use flashlane_reading::Rules;
use flashlane_units::{BlockShare, Span};

const WEIGHT: RangeInclusive<u32> = 1..=256;
const BURST: RangeInclusive<u32> = 1..=64;
/// Largest power. Unit: microwatts.
const MAX_POWER_UW: u64 = 100_000_000;

/// Every rule that concerns only the device, except for the room in its planes.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    rules.require(!device.name.trim().is_empty(), "name", || {
        "found an empty name, allowed: any other text".to_owned()
    });
    check_link(rules, &device.link);
    check_interface(rules, &device.interface);
    let free = device.compat.zero_firmware_time;
    rules.require(!free || device.interface.processors.is_none(), "interface.processors", || {
        "found processors, allowed: none with compat.zero_firmware_time".to_owned()
    });
    cache::check(rules, device);
    check_flash(rules, &device.flash);
    if device.flash.technology == Technology::InPlace {
        media::check_translation(rules, &device.ftl);
    } else {
        check_ftl(rules, &device.ftl, &device.flash);
        one_stream::check(rules, device);
    }
    check_placement(rules, device);
    isolation::check_device(rules, device);
    check_energy(rules, device);
    if let Scheduling::Sprinkler(sprinkler) = &device.scheduler {
        rules.range("scheduler.sprinkler.window", sprinkler.window, &(1..=1024));
        check_pending_writes(rules, "sprinkler", sprinkler.pending_writes);
    }
    if let Scheduling::SprinklerFairness(budgets) = &device.scheduler {
        check_budgets(rules, budgets);
        check_pending_writes(rules, "sprinkler-fairness", budgets.pending_writes);
    }
    if let Scheduling::Flin(flin) = &device.scheduler {
        let key = "scheduler.flin";
        rules.span(format!("{key}.epoch"), flin.epoch, &(1_000_000..=MAX_SPAN_PS));
        rules.range(format!("{key}.fairness_threshold"), flin.fairness_threshold, &(0.0..=1.0));
        if let Some(limit) = flin.age_limit {
            rules.span(format!("{key}.age_limit"), limit, &(1_000_000..=MAX_SPAN_PS));
        }
        if let Some(limit) = flin.scan_limit {
            rules.range(format!("{key}.scan_limit"), limit, &(1..=1 << 20));
        }
    }
    if let Scheduling::PriorityOutOfOrder(weights) = &device.scheduler {
        for (name, weight) in
            [("high", weights.high), ("medium", weights.medium), ("low", weights.low)]
        {
            rules.range(format!("scheduler.priority-out-of-order.{name}"), weight, &WEIGHT);
        }
    }
    media::check_command_bus(rules, device);
    media::check_cache_program(rules, device);
    media::check_plane_reads(rules, device);
    pacing::check(rules, device);
    superblocks::check(rules, device);
    errors::check(rules, device);
    units::check(rules, device);
    slc_cache::check(rules, device);
    separation::check(rules, device);
    placement::check(rules, device);
    zones::check(rules, device);
    word_lines::check(rules, device);
}

fn check_energy(rules: &mut Rules, device: &DeviceConfig) {
    for (key, power) in device.energy.powers() {
        rules.require(power.0 <= MAX_POWER_UW, format!("energy.{key}"), || {
            format!("found {power}, allowed: 0 W to {} W", MAX_POWER_UW / 1_000_000)
        });
    }
    if let Some(cycles) = device.endurance.rated_cycles {
        rules.range("endurance.rated_cycles", cycles, &(1..=1_000_000_000));
    }
}

/// Checks the number of waiting writes from which on Sprinkler's collection is no longer preempted.
fn check_pending_writes(rules: &mut Rules, policy: &str, limit: Option<u32>) {
    if let Some(limit) = limit {
        rules.range(format!("scheduler.{policy}.pending_writes"), limit, &(1..=1 << 24));
    }
}

fn check_budgets(rules: &mut Rules, budgets: &SprinklerFairnessConfig) {
    const MS: u64 = 1_000_000_000;
    let key = |name: &str| format!("scheduler.sprinkler-fairness.{name}");
    rules.range(key("window"), budgets.window, &(1..=1024));
    rules.span(key("round"), budgets.round, &(MS..=10_000 * MS));
    rules.span(key("idle"), budgets.idle, &(MS / 1000..=1_000 * MS));
    rules.span(key("limit"), budgets.limit, &(MS..=10_000 * MS));
    rules.range(key("least_factor"), budgets.least_factor, &(0.1..=1.0));
    rules.range(key("most_factor"), budgets.most_factor, &(1.0..=10.0));
    let weights = [
        ("urgent", budgets.urgent),
        ("high", budgets.high),
        ("medium", budgets.medium),
        ("low", budgets.low),
    ];
    for (name, weight) in weights {
        rules.range(key(name), weight, &WEIGHT);
    }
}

fn check_link(rules: &mut Rules, link: &LinkConfig) {
    rules.range("link.lanes", link.lanes, &(1..=32));
    if let Some(generation) = link.generation {
        rules.range("link.generation", generation, &(3..=6));
    }
    if let Some(rate) = link.lane_bandwidth {
        rules.require(BANDWIDTH.contains(&rate.0), "link.lane_bandwidth", || {
            format!("found {rate}, allowed: 1kB/s to 1000GB/s")
        });
    }
    rules.bytes("link.max_payload", link.max_payload, 64..=4096);
    if let Some(overhead) = link.packet_overhead {
        rules.bytes("link.packet_overhead", overhead, 0..=64);
    }
}

fn check_processors(rules: &mut Rules, config: &ProcessorsConfig) {
    let key = |name: &str| format!("interface.processors.{name}");
    rules.range(key("cores"), config.cores, &(1..=64));
    rules.require((1_000_000..=10_000_000_000).contains(&config.clock.0), key("clock"), || {
        format!("found {}, allowed: 1MHz to 10GHz", config.clock)
    });
    for (name, cycles) in [
        ("command_cycles", config.command_cycles),
        ("page_cycles", config.page_cycles),
        ("lookup_cycles", config.lookup_cycles),
        ("decision_cycles", config.decision_cycles),
    ] {
        rules.range(key(name), cycles, &(0..=1_000_000));
    }
    rules.bytes(key("cache"), config.cache, 0..=1 << 30);
    rules.span(key("miss_time"), config.miss_time, &(0..=1_000_000_000));
}

fn check_interface(rules: &mut Rules, interface: &InterfaceConfig) {
    rules.range("interface.queue_depth", interface.queue_depth, &QUEUE_DEPTH);
    warps::check_doorbells(rules, interface);
    rules.range("interface.queue_fetch_size", interface.queue_fetch_size, &OUTSTANDING);
    rules.range("interface.fetch_ahead", interface.fetch_ahead, &OUTSTANDING);
    rules.range("interface.firmware_servers", interface.firmware_servers, &(1..=64));
    rules.span("interface.firmware_time", interface.firmware_time, &(0..=*OPERATION_PS.end()));
    if let Some(time) = interface.write_firmware_time {
        rules.span("interface.write_firmware_time", time, &(0..=*OPERATION_PS.end()));
    }
    if let Some(time) = interface.page_firmware_time {
        rules.span("interface.page_firmware_time", time, &(0..=*OPERATION_PS.end()));
    }
    if let Some(buffer) = interface.read_buffer {
        rules.sectors("interface.read_buffer", buffer, 4096..=1 << 30);
    }
    if let Some(processors) = &interface.processors {
        check_processors(rules, processors);
    }
    rules.bytes("interface.submission_entry", interface.submission_entry, 16..=4096);
    rules.bytes("interface.completion_entry", interface.completion_entry, 4..=4096);
    rules.sectors("interface.max_transfer", interface.max_transfer, 4096..=MAX_REQUEST_BYTES);
    let sata = &interface.sata;
    rules.range("interface.sata.tags", sata.tags, &(1..=32));
    rules.span("interface.sata.adapter_time", sata.adapter_time, &(0..=*OPERATION_PS.end()));
    rules.require(BANDWIDTH.contains(&sata.link_rate.0), "interface.sata.link_rate", || {
        format!("found {}, allowed: 1kB/s to 1000GB/s", sata.link_rate)
    });
    rules.bytes("interface.sata.frame_payload", sata.frame_payload, 512..=8192);
    rules.bytes("interface.sata.frame_overhead", sata.frame_overhead, 0..=256);
    let key = "interface.arbitration";
    match &interface.arbitration {
        Arbitration::RoundRobin(c) => {
            rules.range(format!("{key}.round-robin.burst"), c.burst, &BURST)
        }
        Arbitration::Weighted(c) => {
            let key = format!("{key}.weighted-round-robin");
            rules.range(format!("{key}.burst"), c.burst, &BURST);
            rules.range(format!("{key}.high"), c.high, &WEIGHT);
            rules.range(format!("{key}.medium"), c.medium, &WEIGHT);
            rules.range(format!("{key}.low"), c.low, &WEIGHT);
        }
        Arbitration::Stride(_) => {}
        // The configuration from outside checks its parameters when they are read.
        Arbitration::Outside(_) => {}
    }
}

fn check_flash(rules: &mut Rules, flash: &FlashConfig) {
    let before = rules.problems.len();
    rules.range("flash.channels", flash.channels, &CHANNELS);
    rules.range("flash.chips_per_channel", flash.chips_per_channel, &CHANNELS);
    rules.range("flash.dies_per_chip", flash.dies_per_chip, &DIES_PER_CHIP);
    rules.range("flash.planes_per_die", flash.planes_per_die, &PLANES_PER_DIE);
    rules.range("flash.blocks_per_plane", flash.blocks_per_plane, &BLOCKS_PER_PLANE);
    rules.range("flash.pages_per_block", flash.pages_per_block, &PAGES_PER_BLOCK);
    rules.sectors("flash.page_size", flash.page_size, PAGE_BYTES);
    if rules.problems.len() == before {
        check_page_count(rules, flash);
    }
    rules.bytes("flash.channel_width", flash.channel_width, 1..=8);
    rules.require(
        (1_000_000..=100_000_000_000).contains(&flash.channel_rate.0),
        "flash.channel_rate",
        || format!("found {}, allowed: 1MT/s to 100GT/s", flash.channel_rate),
    );
    if let Some(class) = flash.channel_class {
        let fastest = class.fastest();
        rules.require(flash.channel_rate.0 <= fastest.0, "flash.channel_rate", || {
            format!(
                "found {}, allowed: up to {fastest} with this channel_class",
                flash.channel_rate
            )
        });
    }
    if let Some(time) = flash.command_time {
        rules.span("flash.command_time", time, &(0..=1_000_000_000));
    }
    check_times(rules, "flash.read_time", &flash.read_time, flash);
    if flash.programming == Programming::TwoPass {
        word_lines::check_passes(rules, flash);
    } else {
        check_times(rules, "flash.program_time", &flash.program_time, flash);
    }
    if let Some(small) = &flash.small_read {
        rules.sectors("flash.small_read.size", small.size, 512..=flash.page_size.0.max(512));
        check_times(rules, "flash.small_read.time", &small.time, flash);
    }
    media::check(rules, flash);
    media::check_suspension(rules, &flash.suspend);
}

fn check_page_count(rules: &mut Rules, flash: &FlashConfig) {
    let pages = flashlane_device::layout::Geometry::new(flash).pages();
    rules.require(pages <= MAX_PAGES, "flash", || {
        format!(
            "found {pages} pages in all ({} channels x {} chips x {} dies x {} planes x {} blocks x \
            {} pages), allowed: at most {MAX_PAGES}; take fewer or larger pages",
            flash.channels,
            flash.chips_per_channel,
            flash.dies_per_chip,
            flash.planes_per_die,
            flash.blocks_per_plane,
            flash.pages_per_block
        )
    });
}

fn check_times(rules: &mut Rules, key: &str, times: &[Span], flash: &FlashConfig) {
    let types = flash.technology.page_types();
    rules.require(times.len() == 1 || times.len() == types, key, || {
        let technology = format!("{:?}", flash.technology).to_lowercase();
        let one_per_type = if types > 1 { format!(" or {types}") } else { String::new() };
        format!(
            "found {} values, allowed: 1{one_per_type} (page types of {technology})",
            times.len()
        )
    });
    for (index, &time) in times.iter().enumerate() {
        rules.span(format!("{key}[{index}]"), time, &OPERATION_PS);
    }
}

/// Checks read scrubbing. `mapped`: the device has page-level mapping.
fn check_scrubbing(rules: &mut Rules, ftl: &FtlConfig, mapped: bool) {
    let limit = ftl.read_scrubbing.limit;
    rules.range("ftl.read_scrubbing.limit", limit, &(0..=4_000_000_000));
    let collected = mapped && !matches!(ftl.gc.victim, Victim::None(_));
    rules.require(limit == 0 || collected, "ftl.read_scrubbing.limit", || {
        format!(
            "found {limit}, allowed: 0; only where pages are mapped one by one and collection takes time"
        )
    });
}

/// Checks that pages lie at random only if they need not return to the same planes.
fn check_placement(rules: &mut Rules, device: &DeviceConfig) {
    let ftl = &device.ftl;
    let mapped = ftl.mapping.kind == MappingKind::Page
        && device.flash.technology != Technology::InPlace
        && (ftl.allocation.is_dynamic() || device.isolation.moves());
    let random = ftl.precondition.placement == Placement::Random;
    rules.require(!random || mapped, "ftl.precondition.placement", || {
        "found random, allowed: striped; only with page-level mapping and allocation dynamic or \
         isolation upi, or a page has a plane of its own"
            .to_owned()
    });
}

fn check_ftl(rules: &mut Rules, ftl: &FtlConfig, flash: &FlashConfig) {
    rules.require(
        OVER_PROVISIONING.contains(&ftl.over_provisioning.0),
        "ftl.over_provisioning",
        || format!("found {}, allowed: 0.005 to 10 (0.5% to 1000%)", ftl.over_provisioning),
    );
    rules.bytes("ftl.mapping.cmt_capacity", ftl.mapping.cmt_capacity, 32..=1 << 40);
    rules.range("ftl.mapping.log_blocks", ftl.mapping.log_blocks, &(2..=4096));
    let hybrid = ftl.mapping.kind == MappingKind::Hybrid;
    rules.require(!(hybrid && ftl.gc.copyback), "ftl.gc.copyback", || {
        "found true, allowed: false; with hybrid mapping pages are merged, not moved".to_owned()
    });
    let moves = hybrid && ftl.allocation.is_dynamic();
    rules.require(!moves, "ftl.allocation", || {
        format!(
            "found {}, allowed: the static orders; with hybrid mapping a page stays on its plane",
            ftl.allocation.name()
        )
    });
    rules.share("ftl.precondition.occupancy", ftl.precondition.occupancy);
    let opens = ftl.precondition.open_blocks;
    let mapped = !hybrid && flash.technology != Technology::InPlace;
    rules.require(!opens || mapped, "ftl.precondition.open_blocks", || {
        "found true, allowed: false; only where pages are mapped one by one".to_owned()
    });
    let spread = ftl.wear_leveling.static_threshold;
    rules.range("ftl.wear_leveling.static_threshold", spread, &(0..=1_000_000));
    check_scrubbing(rules, ftl, mapped);
    check_collection(rules, ftl, flash);
}

fn check_collection(rules: &mut Rules, ftl: &FtlConfig, flash: &FlashConfig) {
    let gc = &ftl.gc;
    rules.range("ftl.gc.max_concurrent_per_plane", gc.max_concurrent_per_plane, &(1..=16));
    match &gc.victim {
        Victim::Rga(rga) => {
            rules.range("ftl.gc.victim.rga.choices", rga.choices, &(0..=flash.blocks_per_plane));
        }
        Victim::RandomPlusPlus(random) => {
            rules.share("ftl.gc.victim.random-plus-plus.max_valid", random.max_valid);
        }
        _ => {}
    }
    let blocks = flash.blocks_per_plane;
    for (key, share) in
        [("ftl.gc.threshold", gc.threshold), ("ftl.gc.hard_threshold", gc.hard_threshold)]
    {
        let sane = match share {
            BlockShare::Blocks(n) => n < blocks,
            BlockShare::Share(share) => (0.0..1.0).contains(&share),
        };
        rules.require(sane, key, || {
            format!("found {share}, allowed: fewer blocks than the {blocks} of a plane")
        });
    }
    check_room_to_collect(rules, ftl, blocks);
}

/// Checks that collection starts before only its reserve is left.
fn check_room_to_collect(rules: &mut Rules, ftl: &FtlConfig, blocks: u32) {
    let gc = &ftl.gc;
    let (threshold, reserve) = (gc.threshold.blocks(blocks), gc_reserve(ftl, blocks));
    let hard = gc.hard_threshold.blocks(blocks);
    // If the hard threshold is above the other one, it is the one that is too large.
    if hard == reserve && threshold <= hard && threshold > reserve_blocks(gc) {
        rules.require(false, "ftl.gc.hard_threshold", || {
            format!(
                "found {} = {hard} of {blocks} blocks, allowed: fewer than the {threshold} blocks of \
                ftl.gc.threshold ({}), because the blocks below the hard threshold are a reserve that only \
                collection may use",
                gc.hard_threshold, gc.threshold
            )
        });
        return;
    }
    rules.require(threshold > reserve, "ftl.gc.threshold", || {
        format!(
            "found {} = {threshold} of {blocks} blocks, allowed: at least {} blocks, so that \
            collection starts before only the reserve of {reserve} is left",
            gc.threshold,
            reserve + 1
        )
    });
}
