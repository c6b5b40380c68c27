//! Refuses settings that need time.

use flashlane_device::collection_order::{CollectionOrder, Steps};
use flashlane_units::Span;

use crate::options::RunOptions;
use flashlane_config::validate::plane_budget;
use flashlane_config::{DeviceConfig, MappingKind, Superblock, Technology, WorkloadConfig};
use flashlane_device::ftl::gc::Victim;
use flashlane_device::ftl::untimed::page_transfer;
use flashlane_measure::rules::Warmup;
use flashlane_reading::Problem;

/// Refuses orders of collection that the clocks of dies do not follow closely enough: 4 to 10 %
/// off.
fn refuse_orders(
    device: &DeviceConfig,
    order: CollectionOrder,
    refuse: &mut impl FnMut(bool, &str, &str),
) {
    let dynamic = device.ftl.allocation.is_dynamic();
    let several = device.flash.planes_per_die > 1;
    let arrival = matches!(order, CollectionOrder::Arrival { .. });
    let reads_first = matches!(order, CollectionOrder::Arrival { reads_first: true, .. });
    let one_list = matches!(order, CollectionOrder::Behind { steps: Steps::OneList, .. });
    let name = device.scheduler.name();
    refuse(
        reads_first && several,
        "scheduler",
        &format!(
            "found {name} with several planes a die, allowed: one plane; its commands over several \
             planes are a matter of time"
        ),
    );
    refuse(
        dynamic && (arrival || one_list && several),
        "ftl.allocation",
        &format!(
            "found {} with scheduler {name}, allowed: a static order; which plane is least busy \
             hangs on the order of its queues",
            device.ftl.allocation.name()
        ),
    );
}

/// Smallest number of blocks of a plane beyond its data and the threshold of collection.
const SPARE_BLOCKS_MIN: u64 = 5;

/// Largest time of the transfers of a page for every die of a channel. Unit: programs.
const BUS_PER_PROGRAM_MAX: u64 = 2;

/// Refuses drives whose amplification depends on how far collection is behind at each moment. The
/// error was up to 90 % on such random drives, and within 7 % on others
/// (`tests/swarm/without_time.rs`).
fn refuse_drives(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    refuse: &mut impl FnMut(bool, &str, &str),
) {
    let flash = &device.flash;
    let threshold = device.ftl.gc.threshold.blocks(flash.blocks_per_plane);
    let layout = workload.layout(device);
    let spare_blocks = plane_budget(device, &layout)
        .iter()
        .filter(|budget| budget.flows > 0)
        .map(|budget| {
            let pages = u64::from(budget.blocks) * u64::from(budget.pages_per_block);
            pages.saturating_sub(budget.logical_pages) / u64::from(budget.pages_per_block)
        })
        .min()
        .unwrap_or(u64::MAX);
    let collects = !matches!(device.ftl.gc.victim, Victim::None(_));
    refuse(
        collects && spare_blocks < u64::from(threshold) + SPARE_BLOCKS_MIN,
        "ftl.gc.threshold",
        &format!(
            "found {threshold} blocks, and {spare_blocks} of a plane beyond its data, allowed: \
             {SPARE_BLOCKS_MIN} blocks more than the threshold beyond the data (more \
             over-provisioning, more blocks per plane, or a lower threshold); with fewer it \
             matters at each moment how far collection is behind"
        ),
    );
    let (transfer, program) = (page_transfer(flash), flash.mean_program());
    let dies = u64::from(flash.chips_per_channel) * u64::from(flash.dies_per_chip);
    refuse(
        collects && transfer.saturating_mul(dies) > program.saturating_mul(BUS_PER_PROGRAM_MAX),
        "flash.channel_rate",
        &format!(
            "found a transfer of {} a page for {dies} dies of a channel beside programs of {}, \
             allowed: transfers for all of them within {BUS_PER_PROGRAM_MAX} programs; the clocks \
             of dies know nothing of a bus that they wait for",
            Span(transfer),
            Span(program)
        ),
    );
}

/// Everything that a run without time cannot do.
pub(crate) fn refuse(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    options: &RunOptions,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut refuse = |found: bool, place: &str, message: &str| {
        if found {
            let message = format!("{message} (--waf-only runs without time)");
            problems.push(Problem { place: place.to_owned(), message });
        }
    };
    refuse(
        device.isolation.moves(),
        "isolation",
        &format!(
            "found {}, allowed: unified, partitioned; its sets of chips follow the load over time",
            device.isolation.name()
        ),
    );
    let geometry = device.geometry();
    let order = device.scheduler.collection_order(geometry, workload.flows.len());
    refuse(
        order == CollectionOrder::Unspecified,
        "scheduler",
        &format!(
            "found {}, allowed: those that say where collection stands among the work of hosts \
             (SchedulingPolicy::collection_order)",
            device.scheduler.name()
        ),
    );
    refuse(
        !device.ftl.allocation.needs_no_time(),
        "ftl.allocation",
        &format!(
            "found {}, allowed: static orders, and choices by the programs of planes \
             (AllocationConfig::goes_by_programs)",
            device.ftl.allocation.name()
        ),
    );
    refuse_orders(device, order, &mut refuse);
    if device.ftl.mapping.kind == MappingKind::Page {
        refuse_drives(device, workload, &mut refuse);
    }
    refuse(
        device.ftl.mapping.kind == MappingKind::Hybrid,
        "ftl.mapping.kind",
        "found hybrid, allowed: page; its merges wait for each other",
    );
    refuse(
        device.placement.unit_time.is_some(),
        "placement.unit_time",
        "found a time, allowed: none",
    );
    let jobs = device.ftl.gc.max_concurrent_per_plane;
    refuse(
        device.ftl.superblock != Superblock::Block && jobs > 1,
        "ftl.gc.max_concurrent_per_plane",
        &format!(
            "found {jobs} with superblocks, allowed: 1; how many superblocks are in collection \
             together is a matter of time"
        ),
    );
    refuse(
        device.flash.technology == Technology::InPlace,
        "flash.technology",
        "found in-place, allowed: slc, mlc, tlc, qlc; memory that is written in place amplifies nothing",
    );
    refuse(
        device.ftl.read_scrubbing.limit > 0,
        "ftl.read_scrubbing.limit",
        "found a limit, allowed: 0; reads are not placed in time",
    );
    refuse(
        device.errors.as_ref().is_some_and(|errors| errors.refresh_at.is_some()),
        "errors.refresh_at",
        "found a rate, allowed: none; the age of data is a matter of time",
    );
    refuse(
        device.slc_cache.is_some(),
        "slc_cache",
        "found the section, allowed: none; how far the cache is folded is a matter of time",
    );
    refuse(
        device.ftl.gc.idle_after.is_some(),
        "ftl.gc.idle_after",
        "found a time, allowed: none; idle time is a matter of time",
    );
    let observe = &options.observe;
    refuse(observe.energy, "energy", "found true, allowed: false; energy is power over time");
    let compat = &device.compat;
    refuse(
        compat.collection_per_block,
        "compat.collection_per_block",
        "found true, allowed: false; how many collections overlap is a matter of time",
    );
    refuse(
        compat.unprogrammed_mapping,
        "compat.unprogrammed_mapping",
        "found true, allowed: false; write-backs of the mapping are programmed",
    );
    refuse(
        compat.flash_unwritten_reads && compat.unordered_programs,
        "compat.flash_unwritten_reads",
        "found true with compat.unordered_programs, allowed: false; reads allocate nothing",
    );
    refuse(options.alone, "--alone", "found, allowed: not given; slowdowns are of response times");
    refuse(
        options.leave_one_out,
        "--leave-one-out",
        "found, allowed: not given; it compares response times",
    );
    refuse(
        options.until_steady.is_some(),
        "--until-steady",
        "found, allowed: not given; rounds are of rates",
    );
    refuse(
        options.windows.is_some(),
        "--windows",
        "found, allowed: not given; windows are of time",
    );
    refuse(
        options.series_interval.is_some(),
        "series_interval",
        "found, allowed: not given; intervals are of time",
    );
    refuse(
        !options.observe.nothing(),
        "--requests, --blame, --timeline, --series-window",
        "found, allowed: not given; they are about time",
    );
    refuse(
        matches!(options.warmup.or(workload.warmup), Warmup::Time(_)),
        if workload.warmup.is_some() { "warmup" } else { "--warmup" },
        "found a time, allowed: a number of requests",
    );
    for (index, flow) in workload.flows.iter().enumerate() {
        let warps = flow.synthetic.as_ref().is_some_and(|synthetic| synthetic.warps.is_some());
        refuse(
            warps,
            &format!("flow[{index}].synthetic.warps"),
            "found, allowed: not given; a warp waits for its batch and thinks, which takes time",
        );
        let late = flow.starts_after.is_some_and(|start| start.0 > 0);
        refuse(late, &format!("flow[{index}].starts_after"), "found a time, allowed: none");
    }
    problems
}
