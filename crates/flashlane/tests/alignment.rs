//! Where requests start when a flow says nothing about it, and the writes of parts of pages.

use crate::common::Scenario;
use flashlane::metrics::{FlowSummary, Summary};

/// Pages of 8 KiB: larger than the blocks of most file systems.
const DRIVE: &str = "base = \"tiny\"\n[flash]\npage_size = \"8KiB\"\n";

fn writes(keys: &str) -> Scenario {
    let flow = "[[flow]]\nname = \"backup\"\ncache = \"off\"\n[flow.synthetic]\nqueue_depth = 8\nread_ratio = 0.0\n";
    Scenario::new(DRIVE, &format!("{flow}{keys}\n"))
}

fn backup(summary: &Summary) -> &FlowSummary {
    &summary.flows[0]
}

#[test]
fn a_stream_keeps_to_pages_under_every_seed() {
    // Random addresses meet busy planes now and then.
    for (address, spread) in [("streaming", 1.05), ("uniform", 1.25)] {
        let stream = writes(&format!("size = \"64KiB\"\naddress = \"{address}\"\nrequests = 200"));
        let runs: Vec<Summary> = (1..=20).map(|seed| stream.seed(seed).run()).collect();
        for run in &runs {
            assert_eq!(backup(run).read_modify_writes, 0, "{address}, seed {}", run.seed);
            assert_eq!(run.flash.user_reads, 0);
        }
        let rates = runs.iter().map(|run| backup(run).iops);
        let (slow, fast) = rates.fold((f64::MAX, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
        assert!(fast < spread * slow, "{address}: {slow} to {fast} IOPS");
    }
}

/// Only sizes that are no multiple of the page have parts of pages, and no more than two a request.
#[test]
fn parts_of_pages_come_from_sizes() {
    for (kib, parts) in [(8, 0.0), (16, 0.0), (24, 0.0), (64, 0.0), (12, 1.0), (20, 1.0), (4, 1.0)]
    {
        let summary = writes(&format!("size = \"{kib}KiB\"\nrequests = 500")).run();
        let found = backup(&summary).read_modify_writes as f64 / 500.0;
        assert!((found - parts).abs() < 0.02, "{kib} KiB: {found} for each request");
    }
    let mixed = "size = { discrete = [[\"16KiB\", 1.0], [\"64KiB\", 1.0]] }\nrequests = 500";
    assert_eq!(backup(&writes(mixed).run()).read_modify_writes, 0);
}

/// Blocks of 64 KiB that start anywhere at 4 KiB: half of them have a part of a page at each end.
#[test]
fn read_modify_writes_are_counted_and_named() {
    let anywhere = writes("size = \"64KiB\"\nalign = \"4KiB\"\nrequests = 2000");
    let expected = 0.5 * 2.0 / (0.5 * 9.0 + 0.5 * 8.0);
    let mut untimed = anywhere.clone();
    untimed.options.waf_only = true;
    for scenario in [anywhere, untimed] {
        let summary = scenario.run();
        let share = backup(&summary).read_modify_write_share().expect("pages are written");
        assert!((share - expected).abs() < 0.01, "{share}, expected {expected}");
        let named = summary.partial_writes();
        assert!(named[0].starts_with("Read-modify-writes: 12 % of the page writes of backup"));
    }
}
