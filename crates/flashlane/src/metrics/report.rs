//! From the state of a finished run to its summary.

use crate::config::{DeviceConfig, WorkloadConfig};
use crate::ftl::blocks::Blocks;
use crate::ftl::hybrid::Hybrid;
use crate::metrics::Fairness;
use crate::metrics::recorder::FlowRecord;
use crate::metrics::summary::{
    AloneSummary, BusyBySource, CacheSummary, ChannelSummary, ChipSummary, CmtSummary,
    CommandCounts, CommandSummary, DeviceTime, EraseSummary, FlashSummary, FlowSummary, HitCounts,
    SCHEMA, Summary, TransactionFairness,
};
use crate::run::RunOptions;
use crate::scheduler::policy::Policy;
use crate::ssd::Ssd;

/// The summary of a run, without what needs other runs or a wall clock.
pub(crate) fn summarise(
    ssd: &Ssd,
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    options: &RunOptions,
) -> Summary {
    let (opened, closed) = ssd.recorder.window.span(ssd.now);
    let window_s = (closed - opened).as_s();
    let flows: Vec<FlowSummary> =
        (0..workload.flows.len()).map(|flow| flow_summary(ssd, workload, flow, window_s)).collect();
    let sum = |f: &dyn Fn(&FlowRecord) -> u64| ssd.recorder.flows.iter().map(f).sum::<u64>();
    Summary {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        device: device.name.clone(),
        scheduler: device.scheduler.name().to_owned(),
        isolation: device.isolation.name().to_owned(),
        seed: options.seed,
        compat: options.compat.clone(),
        simulated_s: ssd.now.as_s(),
        window_start_s: opened.as_s(),
        window_end_s: closed.as_s(),
        wall_s: 0.0,
        precondition_wall_s: 0.0,
        events: ssd.events(),
        requests_per_wall_s: 0.0,
        peak_rss_bytes: 0,
        requests_generated: ssd.host.flows.iter().map(|f| f.generated).sum(),
        requests_completed: ssd.host.flows.iter().map(|f| f.completed).sum(),
        flows,
        steady_state: ssd.recorder.watch.as_ref().map(|watch| watch.summary()),
        fairness: Fairness::default(),
        slowdown_over_time: None,
        flash: flash_summary(ssd),
        commands: commands(ssd),
        cache: CacheSummary {
            hits: sum(&|f| f.cache_hits),
            misses: sum(&|f| f.cache_misses),
            evictions: ssd.cache.evictions,
        },
        cmt: CmtSummary {
            hits: sum(&|f| f.cmt_hits),
            misses: sum(&|f| f.cmt_misses),
            writebacks: ssd.ftl.mapping.as_ref().map_or(0, |m| m.writebacks),
        },
        channels: channels(ssd),
        chips: chips(ssd),
        device_time: device_time(ssd, ssd.flash.by_flow.iter().copied()),
        isolation_sets: ssd.ftl.sets.as_ref().map(|sets| sets.summary(&ssd.ftl.blocks)),
        scheduler_overhead: ssd.scheduler.policy.overhead(dram_transactions(device)),
        memory: crate::metrics::summary::MemorySummary {
            physical_pages: ssd.geometry.pages(),
            page_table_bytes: ssd.ftl.pages.bytes(),
            partial_page_bytes: ssd.ftl.pages.side_table_bytes(),
        },
        waf_only: None,
    }
}

/// What the summary says of one flow.
pub(crate) fn flow_alone(ssd: &Ssd, workload: &WorkloadConfig, flow: usize) -> FlowSummary {
    let (opened, closed) = ssd.recorder.window.span(ssd.now);
    flow_summary(ssd, workload, flow, (closed - opened).as_s())
}

fn flow_summary(ssd: &Ssd, workload: &WorkloadConfig, flow: usize, window_s: f64) -> FlowSummary {
    let config = &workload.flows[flow];
    let record = &ssd.recorder.flows[flow];
    let response = record.response().summary();
    let rate = |amount: u64| if window_s > 0.0 { amount as f64 / window_s } else { 0.0 };
    let source = ssd.host.flows[flow].source.as_ref();
    let input = source.map(|s| s.report()).unwrap_or_default();
    let queue = &ssd.scheduler.flows[flow];
    let [read_transactions, write_transactions, transactions] = record.transaction_summaries();
    let elapsed = ssd.now.0 as f64 * f64::from(ssd.geometry.chips());
    FlowSummary {
        name: config.name.clone(),
        priority: format!("{:?}", config.priority).to_lowercase(),
        requests: record.requests,
        bytes: record.bytes,
        iops: rate(response.count),
        bandwidth_bytes_per_s: rate(record.bytes.read + record.bytes.write),
        response_time_us: response,
        read_response_time_us: record.read_response().summary(),
        write_response_time_us: record.write_response().summary(),
        end_to_end_us: record.end_to_end().summary(),
        breakdown_us: record.breakdown(),
        transactions,
        read_transactions,
        write_transactions,
        cmt: HitCounts { hits: record.cmt_hits, misses: record.cmt_misses },
        cache: HitCounts { hits: record.cache_hits, misses: record.cache_misses },
        mean_chip_queue_length: if elapsed > 0.0 { queue.area as f64 / elapsed } else { 0.0 },
        write_amplification: record.write_amplification(),
        device_time: device_time(ssd, std::iter::once(ssd.flash.by_flow[flow])),
        alone_end_to_end_us: None,
        slowdown: None,
        slowdown_device: None,
        slowdown_transaction: None,
        alone: None,
        wrapped_requests: input.wrapped,
        clipped_requests: input.clipped,
        rejected_lines: input.rejected.into_iter().collect(),
    }
}

/// Pages that the drive's DRAM holds.
fn dram_transactions(device: &DeviceConfig) -> u64 {
    device.cache.capacity.0 / device.flash.page_size.0
}

/// Array time by host, collection and mapping. Unit of `parts`: picoseconds.
fn device_time(ssd: &Ssd, parts: impl Iterator<Item = [u64; 3]>) -> DeviceTime {
    let sums = parts.fold([0; 3], |sums, part| std::array::from_fn(|by| sums[by] + part[by]));
    let [host_s, gc_s, mapping_s] = sums.map(|ps| ps as f64 / 1e12);
    let all = ssd.now.as_s() * f64::from(ssd.geometry.dies());
    let share = |seconds: f64| if all > 0.0 { seconds / all } else { 0.0 };
    DeviceTime {
        host_s,
        gc_s,
        mapping_s,
        host_share: share(host_s),
        gc_share: share(gc_s),
        mapping_share: share(mapping_s),
    }
}

fn flash_summary(ssd: &Ssd) -> FlashSummary {
    let c = &ssd.flash.counters;
    let programs = c.user_programs + c.gc_programs + c.mapping_programs;
    let merges = |count: fn(&Hybrid) -> u64| ssd.ftl.hybrid.as_ref().map_or(0, count);
    FlashSummary {
        user_reads: c.user_reads,
        zero_fill_reads: ssd.ftl.zero_fill_reads,
        user_programs: c.user_programs,
        gc_reads: c.gc_reads,
        gc_programs: c.gc_programs,
        mapping_reads: c.mapping_reads,
        mapping_programs: c.mapping_programs,
        erases: c.erases,
        wear_leveling_moves: ssd.ftl.wear_leveling_moves,
        block_erases: block_erases(&ssd.ftl.blocks),
        copybacks: c.copybacks,
        multiplane_commands: c.commands.iter().map(|of| of[1] + of[3]).sum(),
        interleaved_commands: c.commands.iter().map(|of| of[2] + of[3]).sum(),
        program_suspends: c.program_suspends,
        erase_suspends: c.erase_suspends,
        gc_invocations: ssd.ftl.gc_invocations,
        full_merges: merges(|h| h.full_merges),
        partial_merges: merges(|h| h.partial_merges),
        switch_merges: merges(|h| h.switch_merges),
        write_amplification: if c.user_programs == 0 {
            0.0
        } else {
            programs as f64 / c.user_programs as f64
        },
    }
}

/// Erases by block.
pub(crate) fn block_erases(blocks: &Blocks) -> EraseSummary {
    let erases = || (0..blocks.count() as u32).map(|block| blocks.block(block).erases);
    let sum: u64 = erases().map(u64::from).sum();
    let squares: f64 = erases().map(|e| f64::from(e) * f64::from(e)).sum();
    let count = erases().count().max(1) as f64;
    let mean = sum as f64 / count;
    EraseSummary {
        min: erases().min().unwrap_or(0),
        max: erases().max().unwrap_or(0),
        mean,
        stddev: (squares / count - mean * mean).max(0.0).sqrt(),
    }
}

fn commands(ssd: &Ssd) -> CommandSummary {
    let [read, program, erase] = ssd.flash.counters.commands.map(
        |[single, multiplane, interleaved, interleaved_multiplane]| CommandCounts {
            single,
            multiplane,
            interleaved,
            interleaved_multiplane,
        },
    );
    CommandSummary { read, program, erase }
}

/// Share of the simulated time.
fn share(ssd: &Ssd, ps: u64) -> f64 {
    if ssd.now.0 == 0 { 0.0 } else { ps as f64 / ssd.now.0 as f64 }
}

fn channels(ssd: &Ssd) -> Vec<ChannelSummary> {
    (0..)
        .zip(&ssd.flash.channels)
        .map(|(channel, c)| ChannelSummary { channel, busy_fraction: share(ssd, c.taken) })
        .collect()
}

fn chips(ssd: &Ssd) -> Vec<ChipSummary> {
    let per_channel = ssd.geometry.chips_per_channel;
    let planes = ssd.geometry.dies_per_chip * ssd.geometry.planes_per_die;
    let erases = |plane| ssd.ftl.blocks.of_plane(plane).iter().map(|block| u64::from(block.erases));
    (0..)
        .zip(ssd.flash.chips.iter().zip(&ssd.scheduler.chips))
        .map(|(chip, (account, queue))| {
            let [host, gc, mapping] = account.by_source.map(|ps| share(ssd, ps));
            ChipSummary {
                channel: chip / per_channel,
                chip: chip % per_channel,
                busy_fraction: share(ssd, account.busy),
                busy_by_source: BusyBySource { host, gc, mapping },
                mean_queue_length: if ssd.now.0 == 0 {
                    0.0
                } else {
                    queue.area as f64 / ssd.now.0 as f64
                },
                max_queue_length: queue.max.into(),
                erases: (chip * planes..(chip + 1) * planes).flat_map(erases).sum(),
            }
        })
        .collect()
}

/// Fills in the slowdowns of a flow from its run alone.
pub(crate) fn slowdowns(flow: &mut FlowSummary, alone: &FlowSummary) {
    let ratio = |shared: f64, alone: f64| (alone > 0.0 && shared > 0.0).then(|| shared / alone);
    if alone.end_to_end_us.count == 0 || flow.end_to_end_us.count == 0 {
        return;
    }
    flow.alone_end_to_end_us = Some(alone.end_to_end_us.mean);
    flow.slowdown = ratio(flow.end_to_end_us.mean, alone.end_to_end_us.mean);
    flow.slowdown_device = ratio(flow.response_time_us.mean, alone.response_time_us.mean);
    let turnaround = |f: &FlowSummary| {
        let t = &f.transactions;
        t.wait_us + t.transfer_us + t.execution_us
    };
    flow.slowdown_transaction = ratio(turnaround(flow), turnaround(alone));
    flow.alone = Some(AloneSummary {
        iops: alone.iops,
        response_time_us: alone.response_time_us,
        cmt: alone.cmt,
        cache: alone.cache,
        mean_chip_queue_length: alone.mean_chip_queue_length,
        device_time: alone.device_time,
    });
}

/// A single flow is alone already.
pub(crate) fn alone_is_shared(summary: &mut Summary) {
    for flow in &mut summary.flows {
        let alone = flow.clone();
        slowdowns(flow, &alone);
    }
}

/// Fairness metrics over all flows that have a slowdown.
pub(crate) fn fairness(summary: &mut Summary) {
    let over = |slowdown: fn(&FlowSummary) -> Option<f64>| {
        let slowdowns: Vec<f64> = summary.flows.iter().filter_map(slowdown).collect();
        comparison(&slowdowns)
    };
    let by_transaction = over(|flow| flow.slowdown_transaction);
    let TransactionFairness { fairness, max_slowdown, stdev_slowdown, weighted_speedup } =
        over(|flow| flow.slowdown);
    summary.fairness =
        Fairness { fairness, max_slowdown, stdev_slowdown, weighted_speedup, by_transaction };
}

/// The four metrics of some slowdowns; of none, nothing.
pub(crate) fn comparison(slowdowns: &[f64]) -> TransactionFairness {
    if slowdowns.is_empty() {
        return TransactionFairness::default();
    }
    let count = slowdowns.len() as f64;
    let max = slowdowns.iter().copied().fold(0.0, f64::max);
    let min = slowdowns.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = slowdowns.iter().sum::<f64>() / count;
    let variance = slowdowns.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / count;
    TransactionFairness {
        fairness: Some(min / max),
        max_slowdown: Some(max),
        stdev_slowdown: Some(variance.sqrt()),
        weighted_speedup: Some(slowdowns.iter().map(|s| 1.0 / s).sum()),
    }
}

/// Peak resident memory of the process, where the system tells; 0 elsewhere. Unit: bytes.
pub(crate) fn peak_rss_bytes() -> u64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|kib| kib.parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::summary::{Latency, TransactionSummary};

    #[test]
    fn fairness_follows_the_papers() {
        let flow = |slowdown, slowdown_transaction| FlowSummary {
            slowdown,
            slowdown_transaction,
            ..FlowSummary::default()
        };
        let flows = vec![flow(Some(1.0), Some(2.0)), flow(Some(4.0), Some(2.5)), flow(None, None)];
        let mut summary = Summary { flows, ..Summary::default() };
        fairness(&mut summary);
        assert_eq!(
            summary.fairness,
            Fairness {
                fairness: Some(0.25),
                max_slowdown: Some(4.0),
                stdev_slowdown: Some(1.5),
                weighted_speedup: Some(1.25),
                by_transaction: TransactionFairness {
                    fairness: Some(0.8),
                    max_slowdown: Some(2.5),
                    stdev_slowdown: Some(0.25),
                    weighted_speedup: Some(0.9),
                },
            }
        );
    }

    #[test]
    fn turnaround_of_transactions_has_a_slowdown_of_its_own() {
        let flow = |request_us: f64, [wait_us, transfer_us, execution_us]: [f64; 3]| {
            let latency = Latency { count: 1, mean: request_us, ..Latency::default() };
            let transactions = TransactionSummary { count: 1, wait_us, transfer_us, execution_us };
            FlowSummary {
                end_to_end_us: latency,
                response_time_us: latency,
                transactions,
                ..FlowSummary::default()
            }
        };
        let mut shared = flow(300.0, [150.0, 20.0, 80.0]);
        slowdowns(&mut shared, &flow(120.0, [0.0, 20.0, 80.0]));
        assert_eq!(shared.slowdown, Some(2.5));
        assert_eq!(shared.slowdown_transaction, Some(2.5), "250 us over 100 us");
        slowdowns(&mut shared, &flow(200.0, [25.0, 20.0, 80.0]));
        assert_eq!((shared.slowdown, shared.slowdown_transaction), (Some(1.5), Some(2.0)));
    }
}
