//! Write amplification without time against that of the timed run.

use flashlane::metrics::{FlashSummary, Summary};

/// Pages written, of hosts and in all, until the load was over.
fn programs(summary: &Summary) -> [u64; 2] {
    let spans = [&summary.before_window.flash, &summary.flash];
    let sum = |of: fn(&FlashSummary) -> u64| spans.iter().map(|flash| of(flash)).sum::<u64>();
    let host = sum(|flash| flash.user_programs);
    [host, host + sum(|flash| flash.gc_programs) + sum(|flash| flash.mapping_programs)]
}

/// Compares a run.
pub(crate) fn compare(seed: u64, timed: &Summary, untimed: &Summary) {
    let capacity = timed.memory.physical_pages as f64;
    let [of_timed, of_untimed] = [timed, untimed].map(programs);
    let amplification = |[host, all]: [u64; 2]| all as f64 / host.max(1) as f64;
    let capacities = of_timed[0] as f64 / capacity;
    let [t, u] = [of_timed, of_untimed].map(amplification);
    if of_timed[1] > of_timed[0] || of_untimed[1] > of_untimed[0] {
        println!(
            "AMP seed {seed} {:.2} % timed {t:.4} untimed {u:.4} capacities {capacities:.3} host {} {}",
            100.0 * (u / t - 1.0),
            of_timed[0],
            of_untimed[0]
        );
    }
}
