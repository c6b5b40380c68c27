//! The summary of a run without time. Times, rates of simulated time and shares of it are 0.

use flashlane_units::ChipId;

use super::{WafRun, ZonedRun};
use crate::options::RunOptions;
use flashlane_config::{DeviceConfig, WorkloadConfig};
use flashlane_device::ftl::placement::PlacementCounts;
use flashlane_device::ftl::separation::SeparationCounts;
use flashlane_device::ftl::units::UnitCounts;
use flashlane_device::ftl::untimed::FlowWork;
use flashlane_device::interface::zones::ZoneCounts;
use flashlane_measure::metrics::Summary;
use flashlane_measure::metrics::span::amplification;
use flashlane_measure::metrics::summary::{
    CacheSummary, ChannelSummary, ChipSummary, CmtSummary, EraseSummary, FlashSummary, FlowSummary,
    HitCounts, MemorySummary, OutsideWindow, PlacementSummary, SCHEMA, TransactionSummary,
    UnitSummary, WafOnlyFlow, WafOnlySummary, ZonesSummary,
};

pub(super) fn summarise(
    run: &WafRun<'_>,
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    options: &RunOptions,
    wall_s: f64,
) -> Summary {
    let (drive, geometry) = (&run.drive, run.layout.geometry);
    let all = WorkSoFar::of(run);
    let counted = all.since(&run.warmed_up);
    let flows = (0..workload.flows.len())
        .map(|flow| flow_summary(run, workload, flow, &counted.work[flow]))
        .collect();
    let (page_table_bytes, partial_page_bytes) = drive.ftl().table_bytes();
    let mut summary = Summary {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        workload: workload.name.clone(),
        device: device.name.clone(),
        scheduler: device.scheduler.name().to_owned(),
        isolation: device.isolation.name().to_owned(),
        seed: options.seed,
        compat: options.compat.clone(),
        wall_s,
        requests_per_wall_s: run.generated as f64 / wall_s.max(1e-9),
        requests_generated: run.generated,
        requests_completed: run.generated,
        flows,
        flash: counted.flash(),
        before_window: OutsideWindow {
            requests_completed: run.generated.min(run.warmup),
            flash: run.warmed_up.flash(),
            cache: run.warmed_up.cache(),
            cmt: run.warmed_up.cmt(),
            ..OutsideWindow::default()
        },
        cache: counted.cache(),
        cmt: counted.cmt(),
        channels: (0..geometry.channels)
            .map(|channel| ChannelSummary { channel, ..ChannelSummary::default() })
            .collect(),
        chips: ChipId::first(geometry.chips())
            .map(|chip| chip_summary(run, chip, &counted))
            .collect(),
        memory: MemorySummary {
            physical_pages: geometry.pages(),
            page_table_bytes,
            partial_page_bytes,
        },
        units: ftl_units(run),
        separation: counted.separation.map(Into::into),
        placement: counted.placement.as_ref().map(|counts| PlacementSummary::of(counts, device)),
        zones: zones(run, &all),
        waf_only: Some(waf_only(run, &all, &counted, wall_s)),
        ..Summary::default()
    };
    summary.verdict = summary.verdict();
    summary
}

/// Commands to zones in the window; `None` where the drive has none.
fn zones(run: &WafRun<'_>, all: &WorkSoFar) -> Option<ZonesSummary> {
    let from = run.warmed_up.zones.unwrap_or_default();
    Some(ZonesSummary::between(from, all.zones?, run.layout.zones_of_all()?))
}

/// Mapping units of the whole run; `None` where every page is mapped and programmed by itself.
fn ftl_units(run: &WafRun<'_>) -> Option<UnitSummary> {
    let UnitCounts { per_page, per_program, padded, .. } = run.drive.ftl().counts().units?;
    Some(UnitSummary { per_page, per_program, padded, ..UnitSummary::default() })
}

/// Work of the drive so far.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkSoFar {
    work: Vec<FlowWork>,
    erases: u64,
    /// Erases of each block; empty before the first one.
    block_erases: Vec<u32>,
    wear_leveling_moves: u64,
    gc_invocations: u64,
    /// Blocks that collection owes at that moment.
    blocks_owed: u64,
    evictions: u64,
    writebacks: u64,
    /// Hot and cold pages of the host, where a policy tells them apart.
    separation: Option<SeparationCounts>,
    /// Data by placement handle, where the host places it.
    placement: Option<Box<PlacementCounts>>,
    /// Commands to zones, where the drive has some.
    zones: Option<ZoneCounts>,
}

impl WorkSoFar {
    pub(super) fn of(run: &WafRun<'_>) -> Self {
        let (drive, ftl) = (&run.drive, run.drive.ftl());
        let counts = ftl.counts();
        Self {
            work: drive.work.clone(),
            erases: drive.erases,
            block_erases: match drive.erases {
                0 => Vec::new(),
                _ => ftl.erases_of_blocks(),
            },
            wear_leveling_moves: counts.wear_leveling_moves,
            gc_invocations: counts.gc_invocations,
            blocks_owed: counts.blocks_owed,
            evictions: drive.cache.evictions(),
            writebacks: counts.writebacks,
            separation: counts.separation,
            placement: counts.placement,
            zones: run.zones.as_ref().map(ZonedRun::counts),
        }
    }

    /// Work since an earlier reading; all work, if that is empty.
    fn since(&self, before: &Self) -> Self {
        let work = |(flow, work): (usize, &FlowWork)| {
            work.since(&before.work.get(flow).copied().unwrap_or_default())
        };
        let erases = |(block, erases): (usize, &u32)| {
            erases - before.block_erases.get(block).copied().unwrap_or(0)
        };
        Self {
            work: self.work.iter().enumerate().map(work).collect(),
            erases: self.erases - before.erases,
            block_erases: self.block_erases.iter().enumerate().map(erases).collect(),
            wear_leveling_moves: self.wear_leveling_moves - before.wear_leveling_moves,
            gc_invocations: self.gc_invocations - before.gc_invocations,
            blocks_owed: self.blocks_owed,
            evictions: self.evictions - before.evictions,
            writebacks: self.writebacks - before.writebacks,
            separation: self
                .separation
                .map(|pages| pages.since(before.separation.unwrap_or_default())),
            placement: self.placement.as_ref().map(|now| match &before.placement {
                Some(before) => Box::new(now.since(before)),
                None => now.clone(),
            }),
            zones: self.zones,
        }
    }

    fn sum(&self, of: fn(&FlowWork) -> u64) -> u64 {
        self.work.iter().map(of).sum()
    }

    fn cache(&self) -> CacheSummary {
        CacheSummary {
            hits: self.sum(|w| w.cache_hits),
            misses: self.sum(|w| w.cache_misses),
            evictions: self.evictions,
        }
    }

    fn cmt(&self) -> CmtSummary {
        CmtSummary {
            hits: self.sum(|w| w.cmt_hits),
            misses: self.sum(|w| w.cmt_misses),
            writebacks: self.writebacks,
        }
    }

    fn flash(&self) -> FlashSummary {
        let (user, gc) = (self.sum(|w| w.host_programs), self.sum(|w| w.gc_programs));
        let mapping = self.sum(|w| w.mapping_programs);
        FlashSummary {
            user_reads: self.sum(|w| w.host_reads),
            zero_fill_reads: self.sum(|w| w.zero_fill_reads),
            user_programs: user,
            gc_reads: self.sum(|w| w.gc_reads),
            gc_programs: gc,
            mapping_reads: self.sum(|w| w.mapping_reads),
            mapping_programs: mapping,
            erases: self.erases,
            wear_leveling_moves: self.wear_leveling_moves,
            block_erases: EraseSummary::of(self.block_erases.iter().copied()),
            gc_invocations: self.gc_invocations,
            blocks_owed_at_end: self.blocks_owed,
            write_amplification: amplification(user, user + gc + mapping),
            ..FlashSummary::default()
        }
    }
}

fn flow_summary(
    run: &WafRun<'_>,
    workload: &WorkloadConfig,
    flow: usize,
    work: &FlowWork,
) -> FlowSummary {
    let config = &workload.flows[flow];
    let input = run.flows.report(flow);
    let transactions = |count| TransactionSummary { count, ..TransactionSummary::default() };
    FlowSummary {
        name: config.name.clone(),
        priority: format!("{:?}", config.priority).to_lowercase(),
        requests: run.counted[flow].requests,
        bytes: run.counted[flow].bytes,
        transactions: transactions(work.host_reads + work.host_programs),
        read_transactions: transactions(work.host_reads),
        write_transactions: transactions(work.host_programs),
        cmt: HitCounts { hits: work.cmt_hits, misses: work.cmt_misses },
        cache: HitCounts { hits: work.cache_hits, misses: work.cache_misses },
        page_writes: work.host_programs,
        read_modify_writes: work.read_modify_writes,
        write_amplification: amplification(
            work.host_programs,
            work.host_programs + work.gc_programs + work.mapping_programs,
        ),
        wrapped_requests: input.wrapped,
        clipped_requests: input.clipped,
        split_requests: input.split,
        rejected_lines: input.rejected.into_iter().collect(),
        trace_records: input.records,
        changed_records: input.changed,
        named_lines: input.named,
        ..FlowSummary::default()
    }
}

fn chip_summary(run: &WafRun<'_>, chip: ChipId, counted: &WorkSoFar) -> ChipSummary {
    let geometry = run.layout.geometry;
    let blocks = counted.block_erases.len() / geometry.chips() as usize;
    let erases = counted.block_erases.iter().skip(chip.index() * blocks).take(blocks);
    ChipSummary {
        channel: geometry.channel_of(chip).get(),
        chip: geometry.way_of(chip),
        erases: erases.map(|&erases| u64::from(erases)).sum(),
        ..ChipSummary::default()
    }
}

fn waf_only(run: &WafRun<'_>, all: &WorkSoFar, counted: &WorkSoFar, wall_s: f64) -> WafOnlySummary {
    let free = run.drive.ftl().free_blocks();
    let planes = free.clone().count();
    let flows: Vec<WafOnlyFlow> = counted
        .work
        .iter()
        .map(|work| WafOnlyFlow {
            host_programs: work.host_programs,
            gc_programs: work.gc_programs,
            mapping_programs: work.mapping_programs,
        })
        .collect();
    let pages = |w: &FlowWork| w.host_programs + w.gc_programs + w.mapping_programs;
    let per_second = |pages: u64| pages as f64 / wall_s.max(1e-9);
    WafOnlySummary {
        page_writes: counted.work.iter().map(pages).sum(),
        page_writes_per_wall_s: per_second(all.work.iter().map(pages).sum()),
        host_page_writes_per_wall_s: per_second(all.sum(|w| w.host_programs)),
        free_blocks_min: free.clone().min().unwrap_or(0),
        free_blocks_mean: free.clone().map(f64::from).sum::<f64>() / planes.max(1) as f64,
        free_blocks_max: free.max().unwrap_or(0),
        flows,
    }
}
