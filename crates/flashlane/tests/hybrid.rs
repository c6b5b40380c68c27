//! Hybrid log-block mapping: which writes cost which merges, and how much they amplify.

use crate::common::{Scenario, run_all};
use flashlane::metrics::Summary;

/// Two chips of one die and plane: 60 logical blocks of 32 pages on each.
const DRIVE: &str = r#"
name = "hybrid"
[ftl]
over_provisioning = 0.6
[ftl.mapping]
kind = "hybrid"
log_blocks = 6
[flash]
technology = "slc"
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 96
pages_per_block = 32
page_size = "4KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

/// Uncached 4 KiB writes.
fn writes(address: &str, requests: u32) -> Scenario {
    let flow = format!(
        r#"
[[flow]]
name = "writer"
cache = "off"
[flow.synthetic]
queue_depth = 8
read_ratio = 0.0
address = {address}
size = "4KiB"
align = "4KiB"
requests = {requests}
"#
    );
    Scenario::new(DRIVE, &flow)
}

#[test]
fn sequential_writes_switch_and_copy_nothing() {
    for preconditioned in [true, false] {
        let summary =
            writes("\"streaming\"", 12_000).set("ftl.precondition.enabled", preconditioned).run();
        let flash = &summary.flash;
        assert!(flash.switch_merges > 300, "{flash:?}");
        // The stream starts somewhere inside a logical block, whose first part it meets again.
        assert!(flash.full_merges <= 4, "{flash:?}");
        assert!(flash.write_amplification < 1.02, "{flash:?}");
    }
}

#[test]
fn random_writes_gather_a_logical_block_for_nearly_every_page() {
    // Renewal argument with b pages a block, n logical blocks and k log blocks. A logical block is
    // gathered when the log block with its first page in the log is freed. On average this happens
    // (k - 1/2) b writes after that page was written. The next page of the logical block comes n
    // writes later. So a write causes n / (n + (k - 1/2) b) full merges of b copies each. One write
    // in b goes to the sequential log block and completes the block before. This costs b - 1
    // copies, unless a full merge has gathered that block first.
    let summary = writes("\"uniform\"", 6_000).run();
    let (b, n, k) = (32.0, 60.0, 6.0);
    let full = b * n / (n + (k - 0.5) * b);
    let (low, high) = (1.0 + full, 1.0 + full + (b - 1.0) / b);
    let found = summary.flash.write_amplification;
    println!("write amplification {found:.3}, expected {low:.3} to {high:.3}");
    assert!(found > 0.97 * low && found < 1.03 * high, "{found}: {low} to {high}");
    assert!(summary.flash.full_merges > 1000 && summary.flash.partial_merges > 50);
}

#[test]
fn a_broken_stream_is_completed_by_a_partial_merge() {
    // Requests of 20 pages that start at multiples of 64 pages: each opens a logical block on both
    // planes and writes 10 pages of it, so that the next one finds it incomplete.
    let summary = writes("\"uniform\"", 400)
        .set("flow[0].synthetic.size", "80KiB")
        .set("flow[0].synthetic.align", "256KiB")
        .run();
    let flash = &summary.flash;
    assert_eq!((flash.full_merges, flash.switch_merges), (0, 0), "{flash:?}");
    assert!(flash.partial_merges > 700, "{flash:?}");
    // 22 copies for 10 pages.
    assert!((flash.write_amplification - 3.2).abs() < 0.05, "{flash:?}");
}

#[test]
fn page_mapping_wins_on_random_writes_only() {
    let compared = |address: &str| {
        let hybrid = writes(address, 6_000);
        run_all(&[hybrid.clone(), hybrid.set("ftl.mapping.kind", "page")])
    };
    let iops = |summary: &Summary| summary.flows[0].iops;
    let random = compared("\"uniform\"");
    assert!(iops(&random[1]) > 3.0 * iops(&random[0]));
    let sequential = compared("\"streaming\"");
    assert!(iops(&sequential[0]) > 0.95 * iops(&sequential[1]));
}

#[test]
fn more_log_blocks_gather_less_often() {
    let runs = run_all(
        &[2, 6, 18]
            .map(|blocks| writes("\"uniform\"", 6_000).set("ftl.mapping.log_blocks", blocks)),
    );
    let [few, some, many] = [0, 1, 2].map(|i: usize| runs[i].flash.write_amplification);
    assert!(few > 1.3 * some && some > 1.3 * many, "{few} {some} {many}");
}

#[test]
fn reads_between_merges_find_their_pages() {
    let mixed = writes("\"uniform\"", 8_000)
        .set("flow[0].synthetic.read_ratio", 0.5)
        .set("flow[0].synthetic.trim_ratio", 0.1)
        .set("flow[0].synthetic.size", "{ discrete = [[\"512B\", 1.0], [\"16KiB\", 1.0]] }")
        .set("flow[0].synthetic.align", "512B");
    let summary = mixed.run();
    assert!(summary.flash.full_merges > 500);
    assert!(summary.flash.user_reads > 3000);
}
