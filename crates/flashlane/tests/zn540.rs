//! Reads beside appends, finishes and resets on the WD ZN540: the preset against measurements.
//!
//! Source: the artifact of "Exploring I/O Management Performance in ZNS with ConfZNS++" (SYSTOR'24,
//! MIT licence), which has the results of fio. Its set-up: random reads of 8 KiB in zones that are
//! full, and beside them one job whose rate is a share of the most that the drive can do alone.
//! Appends of 4 KiB at depth 1 (1224 MB/s alone, with eight in flight); writes of 4 KiB and
//! finishes of their zones (1231 MB/s of dummy data alone); or resets of full zones (60 a second
//! alone). The preset was fitted to these rows among others.

use crate::common::{Scenario, run_all};

/// Depths of the reads.
const DEPTHS: [u32; 4] = [1, 8, 32, 128];

/// Beside what; its share of the rate alone in percent; mean and 99th percentile of the reads by
/// depth. Unit: microseconds.
type Row = (&'static str, u32, [(f64, f64); 4]);

#[rustfmt::skip]
const MEASURED: [Row; 9] = [
    ("append", 0, [(89.3, 98.8), (99.8, 175.1), (152.1, 346.1), (434.3, 1499.1)]),
    ("append", 5, [(95.9, 242.7), (108.0, 342.0), (186.0, 1302.5), (494.9, 2932.7)]),
    ("append", 25, [(112.2, 317.4), (126.7, 440.3), (224.2, 1269.8), (580.9, 2736.1)]),
    ("finish", 0, [(87.5, 96.8), (100.3, 175.1), (148.1, 346.1), (434.1, 995.3)]),
    ("finish", 5, [(91.9, 218.1), (103.2, 232.4), (154.6, 440.3), (459.3, 1810.4)]),
    ("finish", 25, [(104.5, 309.2), (119.7, 395.3), (193.1, 782.3), (601.8, 2834.4)]),
    ("reset", 1, [(89.0, 97.8), (100.0, 177.2), (151.9, 354.3), (474.2, 978.9)]),
    ("reset", 10, [(90.1, 99.8), (100.5, 183.3), (156.3, 383.0), (464.2, 1220.6)]),
    ("reset", 50, [(89.9, 183.3), (101.1, 189.4), (156.0, 411.6), (471.1, 1515.5)]),
];

/// The share of the drive that is simulated: zones are 27 MiB, so that a second has many of them.
const PAGES_PER_BLOCK: u64 = 27;

/// The job beside the reads.
fn beside(kind: &str, share: u32) -> String {
    let share = f64::from(share) / 100.0;
    match kind {
        // The host takes 4 us between two appends.
        "append" => format!(
            r#"
[flow.limit]
bandwidth = "{:.0}kB/s"
[flow.synthetic]
queue_depth = 1
think_time = "4us"
zones = {{ kind = "append" }}
"#,
            1_224_250.0 * share
        ),
        // Three commands for each zone: a reset of the empty zone, an append, and the finish.
        "finish" => format!(
            r#"
[flow.synthetic]
iops = {}
arrivals = "constant"
zones = {{ kind = "append", finish_after = "4KiB" }}
"#,
            3.0 * 1_230.9e6 * share / (PAGES_PER_BLOCK << 20) as f64
        ),
        _ => format!(
            r#"
[flow.synthetic]
iops = {}
arrivals = "constant"
zones = {{ kind = "reset" }}
"#,
            60.14 * share
        ),
    }
}

fn scenario(kind: &str, share: u32, depth: u32) -> Scenario {
    let job = format!(
        r#"
[[flow]]
name = "zones"
occupancy = {}
{}
size = "4KiB"
read_ratio = 0
duration = "1.1s"
"#,
        u32::from(kind == "reset"),
        beside(kind, share)
    );
    let reads = format!(
        r#"
[[flow]]
name = "reads"
occupancy = 1
[flow.synthetic]
queue_depth = {depth}
size = "8KiB"
read_ratio = 1
duration = "{}"
{}"#,
        if share == 0 { "0.2s" } else { "1.1s" },
        if share == 0 { "" } else { &job }
    );
    Scenario::new("base = \"zn540-zones\"", &reads)
        .set("flash.pages_per_block", PAGES_PER_BLOCK)
        .set("flash.blocks_per_plane", 256)
        .set("ftl.over_provisioning", 0.2)
        .set("placement.zones.size", "\"32MiB\"")
}

#[test]
fn reads_beside_zone_commands_are_as_slow_as_measured() {
    let scenarios: Vec<Scenario> = (MEASURED.iter())
        .flat_map(|&(kind, share, _)| DEPTHS.map(|depth| scenario(kind, share, depth)))
        .collect();
    let summaries = run_all(&scenarios);
    let rows = MEASURED.iter().flat_map(|(kind, share, rows)| {
        DEPTHS.iter().zip(rows).map(move |(depth, row)| (kind, share, depth, row))
    });
    for ((kind, share, depth, &(mean, p99)), summary) in rows.zip(&summaries) {
        let ours = &summary.flows[0].end_to_end_us;
        let (by_mean, by_p99) = (ours.mean / mean, ours.p99 / p99);
        let what = format!("{kind} {share} %, depth {depth}: mean {by_mean:.3}, p99 {by_p99:.3}");
        assert!((0.8..=1.2).contains(&by_mean), "{what}");
        assert!((1.0 / 1.5..=1.5).contains(&by_p99), "{what}");
        assert_eq!(summary.flash.gc_reads, 0, "a drive with zones copies nothing");
    }
    // A finish writes what its zone lacks, and a reset erases a block of each of 32 dies.
    let of = |kind: &str| {
        let at = MEASURED.iter().rposition(|row| row.0 == kind).expect("a kind");
        summaries[at * DEPTHS.len()].zones.expect("the drive has zones")
    };
    let (finishes, resets) = (of("finish"), of("reset"));
    assert_eq!(finishes.left_bytes, finishes.finishes * ((PAGES_PER_BLOCK << 20) - 4096));
    assert!(finishes.finishes > 10 && resets.resets > 25, "{finishes:?} {resets:?}");
}
