//! Write amplification without time against that of the timed run, on drives of the swarm.
//!
//! The loads of the swarm write a small part of a drive, from which an amplification cannot be
//! told. So the drives of a sample of seeds get a writer of their own, for twice their size.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use flashlane::config::load::{Overrides, workload_from_toml};
use flashlane::config::validate::validate;
use flashlane::config::{Programming, Superblock};
use flashlane::metrics::{FlashSummary, Summary};
use flashlane::policy::Separation;
use flashlane::{Error, RunOptions, Warmup, simulate};

use crate::generate::case;

/// Seeds whose drives are looked at.
const SEEDS: std::ops::Range<u64> = 0..400;

/// Largest drive that is compared. Unit: pages.
const PAGES_MAX: u64 = 20_000;

/// Drives that have to be compared at least.
const DRIVES_MIN: usize = 20;

/// Largest difference of the amplification in the median, for three of four drives, for nine of ten
/// and for all. Unit: percent.
const PERCENT: [f64; 4] = [1.5, 3.0, 6.0, 15.0];

/// A drive that was compared.
struct Pair {
    seed: u64,
    timed: f64,
    untimed: f64,
}

impl Pair {
    fn percent(&self) -> f64 {
        100.0 * (self.untimed / self.timed - 1.0).abs()
    }
}

/// Pages programmed for each page of the host from the middle of the load to its last write.
fn amplification(summary: &Summary) -> f64 {
    let flash: &FlashSummary = &summary.flash;
    let moved = flash.gc_programs + flash.mapping_programs;
    (flash.user_programs + moved) as f64 / flash.user_programs.max(1) as f64
}

/// Compares the drive of a seed under random writes; nothing if it is too large, cannot have such a
/// writer, or is refused without time.
fn compare(seed: u64) -> Option<Pair> {
    // Superblocks, small units, word lines and separation are compared in `superblocks.rs`,
    // `theory_units.rs` and `separation.rs`: the limits here were found for drives without them.
    let mut device = case(seed).device;
    (device.ftl.superblock, device.ftl.parity) = (Superblock::Block, false);
    (device.ftl.mapping.unit, device.ftl.mapping.fill_time) = (None, None);
    device.flash.programming = Programming::Page;
    device.ftl.separation = Separation::default();
    let depth = [1, 4, 16, 64][(seed % 4) as usize];
    let text = |requests: u64| {
        format!(
            "[[flow]]\nname = \"writer\"\ncache = \"off\"\n[flow.synthetic]\n\
             queue_depth = {depth}\nsize = \"{size}B\"\nalign = \"{size}B\"\nread_ratio = 0.0\n\
             requests = {requests}",
            size = device.flash.page_size.0,
        )
    };
    let workload = |requests| {
        let workload = workload_from_toml(&text(requests), "the writer", &Overrides::default());
        workload.expect("a workload").config
    };
    if !validate(&device, &workload(1)).is_empty() {
        return None;
    }
    let pages = workload(1).layout(&device).flows[0].pages;
    if pages > PAGES_MAX {
        return None;
    }
    let run = |waf_only| {
        let warmup = Warmup::Requests(pages);
        let options = RunOptions { waf_only, seed, warmup, ..RunOptions::default() };
        simulate(&device, &workload(3 * pages), &options, &|_| {})
    };
    let untimed = match run(true) {
        Err(Error::Config(_)) => return None,
        untimed => untimed.unwrap_or_else(|error| panic!("seed {seed} without time: {error}")),
    };
    let timed = run(false).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let [timed, untimed] = [timed, untimed].map(|summary| amplification(&summary));
    // Drives that collect nothing agree whatever the clock does.
    (timed > 1.02 || untimed > 1.02).then_some(Pair { seed, timed, untimed })
}

#[test]
fn untimed_runs_follow_timed_ones() {
    let (next, all) = (AtomicU64::new(SEEDS.start), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !SEEDS.contains(&seed) {
                return;
            }
            let pair = compare(seed);
            all.lock().expect("no panic").extend(pair);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut all = all.into_inner().expect("no panic");
    all.sort_by(|a, b| a.percent().total_cmp(&b.percent()));
    for Pair { seed, timed, untimed } in &all {
        println!("seed {seed}: {timed:.4} timed, {untimed:.4} without time");
    }
    assert!(all.len() >= DRIVES_MIN, "{} drives compared", all.len());
    let last = all.len() - 1;
    for (at, most) in [last / 2, last * 3 / 4, last * 9 / 10, last].into_iter().zip(PERCENT) {
        let pair = &all[at];
        assert!(pair.percent() <= most, "seed {}: {} %, place {at}", pair.seed, pair.percent());
    }
}
