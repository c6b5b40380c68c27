//! Observations of drives that no fit assumes.

use flashlane::config::load::{self, Overrides};
use flashlane_probe::battery::Probe;
use flashlane_probe::structure::{mapping_reach, observed};
use flashlane_probe::{Battery, Collected, Progress, Simulated};

struct Quiet;

impl Progress for Quiet {
    fn starts(&mut self, _: &Probe, _: usize, _: usize) {}
    fn kept(&mut self, _: &Probe) {}
    fn skipped(&mut self, _: &Probe, _: &str) {}
}

/// Measures a drive of 512 MiB and more with some keys.
fn measured(more: &[&str], only: &[&str]) -> Collected {
    let size = ["flash.blocks_per_plane=256", "flash.page_size=4KiB", "flash.pages_per_block=64"];
    let sets = size.iter().chain(more).map(|&set| set.to_owned()).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    let config = load::device("tiny", &overrides).expect("it is allowed").config;
    let mut drive = Simulated::new(&config, 1, true).expect("it is allowed");
    let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
    let battery =
        Battery { overwrite: false, destroy_data: true, only: &only, budget: None, seed: 1 };
    battery.run(&mut drive, None, &mut Quiet).expect("it runs")
}

#[test]
fn a_mapping_cache_is_seen_where_there_is_one() {
    let probes = ["page-boundary", "mapping-cache"];
    let small = ["ftl.mapping.ideal=false", "ftl.mapping.cmt_capacity=16KiB"];
    let data = measured(&small, &probes);
    let reach = mapping_reach(data.probe("mapping-cache")).expect("reads miss");
    // Two thousand entries or so, of a page of 4 KiB each.
    assert!(reach.within >= 2 << 20 && reach.beyond <= 64 << 20, "{reach:?}");
    assert!(observed(&data)[0].contains("does not fit into the memory"), "{:?}", observed(&data));
    let ideal = measured(&["ftl.mapping.ideal=true"], &probes);
    assert_eq!(mapping_reach(ideal.probe("mapping-cache")), None);
    assert!(observed(&ideal).is_empty());
}

#[test]
fn bursts_and_pauses_are_said_in_words() {
    let data = measured(&[], &["write-burst", "idle-recovery"]);
    let seen = observed(&data);
    assert!(seen[0].starts_with("write-burst: ") && seen[0].contains("MB/s"), "{seen:?}");
    assert!(seen[1].starts_with("idle-recovery: "), "{seen:?}");
}
