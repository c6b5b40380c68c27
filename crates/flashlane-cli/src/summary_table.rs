//! The tables that `flashlane run` prints for a scenario.

use flashlane::metrics::steady::{RANGE_MAX, SLOPE_MAX, SteadySummary, Tracked};
use flashlane::metrics::{BreakdownSummary, SeedStatistics, Summary, WindowedSlowdown};
use flashlane::visible_line;

use crate::energy_table;
use crate::input_notes;
use crate::measured_table;
use crate::operation_table::operations;
use crate::placement_table::placement;
use crate::slo_table;
use crate::table::{Table, maybe, number};
use crate::untimed_table::without_time;

/// Explains the star behind a figure.
pub(crate) const STAR: &str =
    "* depends on the length of the run: the backlog of the flow grows, or the flow starves\n";

/// All tables of one scenario. With several seeds, `summary` holds the means over the seeds.
pub(crate) fn report(summary: &Summary, seeds: Option<&SeedStatistics>) -> String {
    let mut text = String::new();
    let verdict = match seeds {
        Some(seeds) => seeds.verdict(summary),
        None => summary.verdict(),
    };
    for sentence in verdict {
        text.push_str(&visible_line(&sentence));
        text.push_str("\n\n");
    }
    text.push_str(&input_notes::warnings(summary));
    if let Some(extra) = &summary.waf_only {
        return text + &without_time(summary, extra, seeds) + &input_notes::changes(summary);
    }
    text += &format!(
        "device {}, scheduler {}, isolation {}, {}, {:.3} s simulated in {:.2} s{}\n\n",
        visible_line(&summary.device),
        summary.scheduler,
        summary.isolation,
        which_seeds(summary, seeds),
        summary.simulated_s,
        summary.wall_s,
        of_first(seeds),
    );
    if let Some(steady) = &summary.steady_state {
        text.push_str(&rounds(steady));
    }
    text.push_str("response times in us (submission queue to completion)\n");
    text.push_str(&flows(summary, seeds).render());
    text.push_str(&fairness(summary, seeds));
    if summary.depends_on_length() {
        text.push_str(STAR);
    }
    text.push_str(&measured_table::measured(summary, seeds));
    text.push_str(&input_notes::changes(summary));
    text.push_str(&operations(summary, seeds));
    for sentence in summary.partial_writes() {
        text += &visible_line(&sentence);
        text.push('\n');
    }
    text.push_str(&slo_table::slos(summary, seeds));
    if let Some(over_time) = &summary.slowdown_over_time {
        text.push_str(&slowdown_over_time(summary, over_time));
    }
    text.push_str("\nmean response time by stage, us\n");
    text.push_str(&breakdown(summary).render());
    text.push('\n');
    text.push_str(&flash(summary, seeds));
    text.push_str(&energy_table::energy(summary, seeds));
    text
}

/// The seed, or the consecutive seeds over which the figures are means.
pub(crate) fn which_seeds(summary: &Summary, seeds: Option<&SeedStatistics>) -> String {
    match seeds {
        Some(seeds) if seeds.seeds.len() > 1 => {
            format!("means over {} seeds from {}", seeds.seeds.len(), summary.seed)
        }
        _ => format!("seed {}", summary.seed),
    }
}

/// Labels a figure that belongs to the first seed only: wall time has no mean here.
pub(crate) fn of_first(seeds: Option<&SeedStatistics>) -> &'static str {
    if seeds.is_some_and(|seeds| seeds.seeds.len() > 1) { " (first seed)" } else { "" }
}

pub(crate) fn hit_share(hits: u64, misses: u64) -> String {
    match hits + misses {
        0 => "-".to_owned(),
        all => format!("{:.1} %", 100.0 * hits as f64 / all as f64),
    }
}

/// The rounds of a run until steady state, with their figures.
fn rounds(steady: &SteadySummary) -> String {
    let unit = match steady.tracked {
        Tracked::Iops => "IOPS",
        Tracked::Bandwidth => "bytes/s",
        Tracked::Latency => "mean us",
    };
    let mut table = Table::new(&["round", "from s", "to s", unit, "line"]);
    let last = steady.rounds.len().saturating_sub(1);
    for (index, round) in steady.rounds.iter().enumerate() {
        let mut cells = vec![
            (index + 1).to_string(),
            format!("{:.6}", round.start_s),
            format!("{:.6}", round.end_s),
            number(round.value),
        ];
        if index >= steady.window_first {
            let steps = (last - steady.window_first).max(1) as f64;
            let share = (index - steady.window_first) as f64 / steps;
            cells.push(number(steady.line[0] + share * (steady.line[1] - steady.line[0])));
        }
        table.row(cells);
    }
    format!(
        "{}steady state {}: in the last {} rounds the mean is {}, the range {:.1} % of it (allowed {:.0}), \
         the line through them spans {:.1} % (allowed {:.0})\n\n",
        table.render(),
        if steady.reached { "reached" } else { "not reached" },
        steady.rounds.len() - steady.window_first,
        number(steady.mean),
        100.0 * steady.range,
        100.0 * RANGE_MAX,
        100.0 * steady.slope,
        100.0 * SLOPE_MAX,
    )
}

/// The value at a metric path for one seed, or the mean and half of the interval for several.
pub(crate) fn shown(seeds: Option<&SeedStatistics>, path: &str, value: Option<f64>) -> String {
    let Some(estimate) = seeds.and_then(|seeds| seeds.get(path)) else {
        return maybe(value);
    };
    match estimate.half_width() {
        Some(half) => format!("{} ±{}", number(estimate.mean), number(half)),
        None => number(estimate.mean),
    }
}

/// The main figures of each flow. Times are in microseconds.
pub(crate) fn flows(summary: &Summary, seeds: Option<&SeedStatistics>) -> Table {
    let mut table = Table::new(&[
        "flow",
        "IOPS",
        "MB/s",
        "mean",
        "p50",
        "p99",
        "p99.9",
        "read mean",
        "write mean",
        "slowdown",
    ]);
    for (index, flow) in summary.flows.iter().enumerate() {
        let cell =
            |path: &str, value: Option<f64>| shown(seeds, &format!("flows[{index}].{path}"), value);
        let mark = |cell: String| if flow.depends_on_length() { format!("{cell}*") } else { cell };
        let all = &flow.response_time_us;
        let (read, write) = (&flow.read_response_time_us, &flow.write_response_time_us);
        let megabytes = shown_megabytes(seeds, index, flow.bandwidth_bytes_per_s);
        table.row(vec![
            visible_line(&flow.name).into_owned(),
            cell("iops", Some(flow.iops)),
            megabytes,
            mark(cell("response_time_us.mean", Some(all.mean))),
            mark(cell("response_time_us.p50", Some(all.p50))),
            mark(cell("response_time_us.p99", Some(all.p99))),
            mark(cell("response_time_us.p99_9", Some(all.p99_9))),
            if read.count == 0 {
                "-".to_owned()
            } else {
                mark(cell("read_response_time_us.mean", Some(read.mean)))
            },
            if write.count == 0 {
                "-".to_owned()
            } else {
                mark(cell("write_response_time_us.mean", Some(write.mean)))
            },
            if flow.slowdown.is_some() {
                mark(cell("slowdown", flow.slowdown))
            } else {
                maybe(None)
            },
        ]);
    }
    table
}

fn shown_megabytes(seeds: Option<&SeedStatistics>, index: usize, value: f64) -> String {
    let path = format!("flows[{index}].bandwidth_bytes_per_s");
    let Some(estimate) = seeds.and_then(|seeds| seeds.get(&path)) else {
        return number(value / 1e6);
    };
    match estimate.half_width() {
        Some(half) => format!("{} ±{}", number(estimate.mean / 1e6), number(half / 1e6)),
        None => number(estimate.mean / 1e6),
    }
}

fn fairness(summary: &Summary, seeds: Option<&SeedStatistics>) -> String {
    let fairness = &summary.fairness;
    if fairness.fairness.is_none() {
        return String::new();
    }
    let mark = if summary.depends_on_length() { "*" } else { "" };
    let cell = |name: &str, value| shown(seeds, &format!("fairness.{name}"), value) + mark;
    format!(
        "fairness {}, largest slowdown {}, standard deviation {}, weighted speedup {}\n",
        cell("fairness", fairness.fairness),
        cell("max_slowdown", fairness.max_slowdown),
        cell("stdev_slowdown", fairness.stdev_slowdown),
        cell("weighted_speedup", fairness.weighted_speedup),
    )
}

/// Median and worst window of each flow, and of fairness.
fn slowdown_over_time(summary: &Summary, over_time: &WindowedSlowdown) -> String {
    let mut table = Table::new(&["", "windows", "median", "worst", "at s"]);
    let mut row = |name: &str, mut values: Vec<(f64, f64)>, worst_is_least: bool| {
        values
            .sort_by(|a, b| if worst_is_least { b.0.total_cmp(&a.0) } else { a.0.total_cmp(&b.0) });
        let (middle, worst) = (values.get(values.len() / 2), values.last());
        table.row(vec![
            name.to_owned(),
            values.len().to_string(),
            maybe(middle.map(|value| value.0)),
            maybe(worst.map(|value| value.0)),
            worst.map_or_else(|| "-".to_owned(), |value| format!("{:.6}", value.1)),
        ]);
    };
    let windows = || over_time.windows.iter();
    for (index, flow) in summary.flows.iter().enumerate() {
        let values = windows().filter_map(|w| Some((w.flows[index].slowdown?, w.start_s)));
        row(&format!("{}: slowdown", visible_line(&flow.name)), values.collect(), false);
    }
    row("fairness", windows().filter_map(|w| Some((w.fairness?, w.start_s))).collect(), true);
    format!("\nin windows of {} s\n{}", over_time.window_s, table.render())
}

fn stages(breakdown: &BreakdownSummary) -> [(&'static str, f64); 9] {
    [
        ("submission", breakdown.submission),
        ("transfer in", breakdown.transfer_in),
        ("firmware", breakdown.firmware),
        ("cache", breakdown.cache),
        ("mapping", breakdown.mapping),
        ("flash queue", breakdown.flash_queue),
        ("flash bus", breakdown.flash_bus),
        ("flash array", breakdown.flash_array),
        ("transfer out", breakdown.transfer_out),
    ]
}

fn breakdown(summary: &Summary) -> Table {
    let mut header = vec!["flow"];
    header.extend(stages(&BreakdownSummary::default()).iter().map(|stage| stage.0));
    header.push("sum");
    let mut table = Table::new(&header);
    for flow in &summary.flows {
        let stages = stages(&flow.breakdown_us);
        let mut row = vec![visible_line(&flow.name).into_owned()];
        row.extend(stages.iter().map(|stage| number(stage.1)));
        let sum = number(stages.iter().map(|stage| stage.1).sum());
        row.push(if flow.depends_on_length() { sum + "*" } else { sum });
        table.row(row);
    }
    table
}

/// Mean share of time in which chips run an array operation.
fn chips_busy(summary: &Summary) -> String {
    let sum: f64 = summary.chips.iter().map(|chip| chip.busy_fraction).sum();
    percent(sum / summary.chips.len().max(1) as f64)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A text that says why collection goes on after the window.
fn owed(blocks: u64) -> String {
    match blocks {
        0 => String::new(),
        _ => format!("; collection owed {blocks} free blocks"),
    }
}

/// Retries, where bit errors are modelled.
fn bit_errors(summary: &Summary) -> String {
    let Some(errors) = &summary.errors else { return String::new() };
    let share = |pages: u64| percent(pages as f64 / errors.pages.max(1) as f64);
    format!(
        "bit errors: {} of {} pages read again, {} retries a page; soft decoding for {}, lost {}; {} blocks refreshed\n",
        share(errors.retried_pages),
        errors.pages,
        number(errors.mean_retries),
        share(errors.soft_pages),
        share(errors.lost_pages),
        errors.refreshes,
    )
}

/// The SLC cache, where there is one.
fn slc_cache(summary: &Summary) -> String {
    let Some(cache) = &summary.slc_cache else { return String::new() };
    format!(
        "SLC cache: {} pages written, {} around it, {} read; {} blocks folded ({} in idle time) with {} pages; {} blocks in use\n",
        cache.written,
        cache.direct,
        cache.reads,
        cache.folds,
        cache.idle_folds,
        cache.folded,
        cache.blocks,
    )
}

/// Hot and cold pages, where a policy tells them apart.
fn separation(summary: &Summary) -> String {
    let Some(pages) = &summary.separation else { return String::new() };
    let hot = pages.hot as f64 / (pages.hot + pages.cold).max(1) as f64;
    format!("separation: {} of the pages that the host wrote were hot\n", percent(hot))
}

/// Mapping units, where several are programmed together.
fn units(summary: &Summary) -> String {
    let Some(units) = &summary.units else { return String::new() };
    format!(
        "mapping units: {} a page, {} a program; {} programmed empty, at most {} waited for others, {} read from \
         the controller's memory, {} read along with another of their page\n",
        units.per_page,
        units.per_program,
        units.padded,
        units.waiting_max,
        units.buffered_reads,
        units.joined_reads,
    )
}

fn flash(summary: &Summary, seeds: Option<&SeedStatistics>) -> String {
    let flash = &summary.flash;
    let after = &summary.after_window;
    let programs =
        after.flash.user_programs + after.flash.gc_programs + after.flash.mapping_programs;
    let after = match programs {
        0 => String::new(),
        _ => format!(
            "after the window, in {} s: {} user programs, {} GC programs, {} mapping programs{}\n",
            number(after.length_s),
            after.flash.user_programs,
            after.flash.gc_programs,
            after.flash.mapping_programs,
            owed(flash.blocks_owed_at_end),
        ),
    };
    let processors = summary.processors.as_ref().map_or_else(String::new, |processors| {
        format!(
            "processors busy {}: commands {}, the drive's own pages {}, decisions {}; look-ups hit {}\n",
            percent(processors.busy_fraction),
            percent(processors.commands),
            percent(processors.own_pages),
            percent(processors.decisions),
            hit_share(processors.lookups - processors.lookup_misses, processors.lookup_misses),
        )
    });
    format!(
        "chips busy {}; flash: {} user reads, {} zero-fill reads, {} user programs, write amplification {}\n\
        GC: {} blocks started, {} reads, {} programs, {} erases; mapping: {} reads, {} programs\n\
        cache hits {}, CMT hits {}; page tables {} bytes per page of {} pages, steady state set in {} s{}\n",
        chips_busy(summary),
        flash.user_reads,
        flash.zero_fill_reads,
        flash.user_programs,
        number(flash.write_amplification),
        flash.gc_invocations,
        flash.gc_reads,
        flash.gc_programs,
        flash.erases,
        flash.mapping_reads,
        flash.mapping_programs,
        hit_share(summary.cache.hits, summary.cache.misses),
        hit_share(summary.cmt.hits, summary.cmt.misses),
        number(
            summary.memory.page_table_bytes as f64 / summary.memory.physical_pages.max(1) as f64
        ),
        summary.memory.physical_pages,
        number(summary.precondition_wall_s),
        of_first(seeds),
    ) + &processors
        + &bit_errors(summary)
        + &slc_cache(summary)
        + &separation(summary)
        + &placement(summary)
        + &units(summary)
        + &after
}
