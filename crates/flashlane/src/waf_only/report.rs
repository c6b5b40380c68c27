//! The summary of a run without time. What is a time, a rate of simulated time or a share of it is 0.

use super::WafRun;
use crate::config::{DeviceConfig, WorkloadConfig};
use crate::ftl::untimed::FlowWork;
use crate::metrics::Summary;
use crate::metrics::report::block_erases;
use crate::metrics::summary::{
    CacheSummary, ChannelSummary, ChipSummary, CmtSummary, FlashSummary, FlowSummary, HitCounts,
    MemorySummary, SCHEMA, TransactionSummary, WafOnlyFlow, WafOnlySummary,
};
use crate::run::RunOptions;

pub(super) fn summarise(
    run: &WafRun<'_>,
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    options: &RunOptions,
    wall_s: f64,
) -> Summary {
    let (drive, geometry) = (&run.drive, run.layout.geometry);
    let sum = |of: fn(&FlowWork) -> u64| drive.work.iter().map(of).sum::<u64>();
    let flows = (0..workload.flows.len()).map(|flow| flow_summary(run, workload, flow)).collect();
    Summary {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
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
        flash: flash_summary(run),
        cache: CacheSummary {
            hits: sum(|w| w.cache_hits),
            misses: sum(|w| w.cache_misses),
            evictions: drive.cache.evictions,
        },
        cmt: CmtSummary {
            hits: sum(|w| w.cmt_hits),
            misses: sum(|w| w.cmt_misses),
            writebacks: drive.ftl.mapping.as_ref().map_or(0, |table| table.writebacks),
        },
        channels: (0..geometry.channels)
            .map(|channel| ChannelSummary { channel, ..ChannelSummary::default() })
            .collect(),
        chips: (0..geometry.chips()).map(|chip| chip_summary(run, chip)).collect(),
        memory: MemorySummary {
            physical_pages: geometry.pages(),
            page_table_bytes: drive.ftl.pages.bytes(),
            partial_page_bytes: drive.ftl.pages.side_table_bytes(),
        },
        waf_only: Some(waf_only(run, wall_s)),
        ..Summary::default()
    }
}

fn amplification(host: u64, other: u64) -> f64 {
    if host == 0 { 0.0 } else { (host + other) as f64 / host as f64 }
}

fn flow_summary(run: &WafRun<'_>, workload: &WorkloadConfig, flow: usize) -> FlowSummary {
    let (config, work) = (&workload.flows[flow], &run.drive.work[flow]);
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
        write_amplification: amplification(
            work.host_programs,
            work.gc_programs + work.mapping_programs,
        ),
        wrapped_requests: input.wrapped,
        clipped_requests: input.clipped,
        rejected_lines: input.rejected.into_iter().collect(),
        ..FlowSummary::default()
    }
}

fn flash_summary(run: &WafRun<'_>) -> FlashSummary {
    let (drive, ftl) = (&run.drive, &run.drive.ftl);
    let sum = |of: fn(&FlowWork) -> u64| drive.work.iter().map(of).sum::<u64>();
    let (user, gc) = (sum(|w| w.host_programs), sum(|w| w.gc_programs));
    let mapping = sum(|w| w.mapping_programs);
    FlashSummary {
        user_reads: sum(|w| w.host_reads),
        zero_fill_reads: sum(|w| w.zero_fill_reads),
        user_programs: user,
        gc_reads: gc,
        gc_programs: gc,
        mapping_reads: sum(|w| w.mapping_reads),
        mapping_programs: mapping,
        erases: drive.erases,
        wear_leveling_moves: ftl.wear_leveling_moves,
        block_erases: block_erases(&ftl.blocks),
        gc_invocations: ftl.gc_invocations,
        write_amplification: amplification(user, gc + mapping),
        ..FlashSummary::default()
    }
}

fn chip_summary(run: &WafRun<'_>, chip: u32) -> ChipSummary {
    let geometry = run.layout.geometry;
    let planes = geometry.dies_per_chip * geometry.planes_per_die;
    let blocks = &run.drive.ftl.blocks;
    let erases = |plane| blocks.of_plane(plane).iter().map(|block| u64::from(block.erases));
    ChipSummary {
        channel: chip / geometry.chips_per_channel,
        chip: chip % geometry.chips_per_channel,
        erases: (chip * planes..(chip + 1) * planes).flat_map(erases).sum(),
        ..ChipSummary::default()
    }
}

fn waf_only(run: &WafRun<'_>, wall_s: f64) -> WafOnlySummary {
    let (drive, ftl) = (&run.drive, &run.drive.ftl);
    let planes = &ftl.blocks.planes;
    let free = || planes.iter().map(|plane| plane.free);
    let host: u64 = drive.work.iter().map(|work| work.host_programs).sum();
    let flows: Vec<WafOnlyFlow> = drive
        .work
        .iter()
        .map(|work| WafOnlyFlow {
            host_programs: work.host_programs,
            gc_programs: work.gc_programs,
            mapping_programs: work.mapping_programs,
        })
        .collect();
    let all = flows.iter().map(|f| f.host_programs + f.gc_programs + f.mapping_programs).sum();
    let per_second = |pages: u64| pages as f64 / wall_s.max(1e-9);
    WafOnlySummary {
        page_writes: all,
        page_writes_per_wall_s: per_second(all),
        host_page_writes_per_wall_s: per_second(host),
        free_blocks_min: free().min().unwrap_or(0),
        free_blocks_mean: free().map(f64::from).sum::<f64>() / planes.len().max(1) as f64,
        free_blocks_max: free().max().unwrap_or(0),
        flows,
    }
}
