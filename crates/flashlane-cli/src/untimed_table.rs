//! What `flashlane run --waf-only` tells people of a scenario.

use flashlane::metrics::summary::WafOnlySummary;
use flashlane::metrics::{SeedStatistics, Summary};
use flashlane::visible_line;

use crate::placement_table::placement;
use crate::summary_table::{hit_share, of_first, which_seeds};
use crate::table::{Table, maybe, number};

/// A run without time: pages by flow, erases, free blocks, speed.
pub(crate) fn without_time(
    summary: &Summary,
    extra: &WafOnlySummary,
    seeds: Option<&SeedStatistics>,
) -> String {
    let mut table =
        Table::new(&["flow", "requests", "host pages", "moved", "mapping", "amplification", "+-"]);
    for (index, (flow, work)) in summary.flows.iter().zip(&extra.flows).enumerate() {
        let requests = &flow.requests;
        let path = format!("flows[{index}].write_amplification");
        let half = seeds.and_then(|all| all.get(&path)?.half_width());
        table.row(vec![
            visible_line(&flow.name).into_owned(),
            (requests.read + requests.write + requests.trim + requests.flush).to_string(),
            work.host_programs.to_string(),
            work.gc_programs.to_string(),
            work.mapping_programs.to_string(),
            format!("{:.4}", flow.write_amplification),
            maybe(half),
        ]);
    }
    let (flash, erases) = (&summary.flash, &summary.flash.block_erases);
    let mut partial = summary.partial_writes().join("\n");
    if !partial.is_empty() {
        partial.push('\n');
    }
    format!(
        "device {}, isolation {}, {}, without time in {:.2} s{}\n\n{}{partial}\n\
        write amplification {:.4}; {} collections, {} moves for wear levelling, {} erases; \
        erases of a block {} to {}, mean {}, deviation {}\n\
        free blocks of a plane {} to {}, mean {}; cache hits {}, CMT hits {}; steady state set in {} s{}\n\
        {} million page writes per second, {} for the host{}\n",
        visible_line(&summary.device),
        summary.isolation,
        which_seeds(summary, seeds),
        summary.wall_s,
        of_first(seeds),
        table.render(),
        flash.write_amplification,
        flash.gc_invocations,
        flash.wear_leveling_moves,
        flash.erases,
        erases.min,
        erases.max,
        number(erases.mean),
        number(erases.stddev),
        extra.free_blocks_min,
        extra.free_blocks_max,
        number(extra.free_blocks_mean),
        hit_share(summary.cache.hits, summary.cache.misses),
        hit_share(summary.cmt.hits, summary.cmt.misses),
        number(summary.precondition_wall_s),
        of_first(seeds),
        number(extra.page_writes_per_wall_s / 1e6),
        number(extra.host_page_writes_per_wall_s / 1e6),
        of_first(seeds),
    ) + &placement(summary)
}
