//! Write amplification without time against that of the timed run.
//!
//! The loads of the swarm write a small part of a drive, from which an amplification cannot be told.
//! So the drives of a sample of seeds get a writer of their own, for several times their size.

use flashlane::config::load::{Overrides, workload_from_toml};
use flashlane::config::validate::validate;
use flashlane::metrics::{FlashSummary, Summary};
use flashlane::{Error, RunOptions, simulate};

use crate::generate::Case;

/// Every so many seeds one is compared.
const EVERY: u64 = 10;

/// Largest drive that is compared. Unit: pages.
const PAGES_MAX: u64 = 60_000;

/// Compares the drive of a seed under random writes, if it is one of the sample.
pub(crate) fn sample(seed: u64, case: &Case, pages: u64) {
    if !seed.is_multiple_of(EVERY) || pages > PAGES_MAX {
        return;
    }
    let depth = [1, 4, 16, 64][(seed / EVERY % 4) as usize];
    let text = format!(
        "[[flow]]\nname = \"writer\"\ncache = \"off\"\n[flow.synthetic]\nqueue_depth = {depth}\n\
         size = {size}\nalign = {size}\nread_ratio = 0.0\nrequests = {requests}",
        size = case.device.flash.page_size.0,
        requests = 2 * pages
    );
    let workload = workload_from_toml(&text, "the writer", &Overrides::default());
    let workload = workload.expect("it is right").config;
    if !validate(&case.device, &workload).is_empty() {
        return;
    }
    let run = |waf_only| {
        let options = RunOptions { waf_only, seed, ..RunOptions::default() };
        simulate(&case.device, &workload, &options, &|_| {})
    };
    let untimed = match run(true) {
        Err(Error::Config(_)) => return,
        untimed => untimed.unwrap_or_else(|error| panic!("without time: {error}")),
    };
    let timed = run(false).unwrap_or_else(|error| panic!("{error}"));
    print!("SAMPLE {} ", case.device.scheduler.name());
    compare(seed, &timed, &untimed);
}

/// Pages written, of hosts and in all, until the load was over.
fn programs(summary: &Summary) -> [u64; 2] {
    let spans = [&summary.before_window.flash, &summary.flash];
    let sum = |of: fn(&FlashSummary) -> u64| spans.iter().map(|flash| of(flash)).sum::<u64>();
    let host = sum(|flash| flash.user_programs);
    [host, host + sum(|flash| flash.gc_programs) + sum(|flash| flash.mapping_programs)]
}

/// Compares a run.
fn compare(seed: u64, timed: &Summary, untimed: &Summary) {
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
