//! Mapping units smaller than a page: shared sensings, what waits in memory, and what is refused.
//! `theory_units.rs` compares their amplification with theory.

use crate::common::{
    Scenario, flash_only, mixed, problems, random_writes, run_all, watched_in_four_ways,
};
use flashlane::metrics::Summary;

/// One plane with pages of four units. `unit`: the key that says so, or nothing.
fn one_plane(unit: &str) -> String {
    flash_only(unit, [1; 4], [256, 64], "16KiB")
}

const UNIT: &str = "mapping.unit = \"4KiB\"";

/// A device and one closed loop of `requests` requests.
fn one(requests: u64) -> Scenario {
    Scenario::new(&one_plane(UNIT), &random_writes(16)).set("flow[0].synthetic.requests", requests)
}

/// The drive without data at the start.
fn empty(requests: u64) -> Scenario {
    one(requests).set("ftl.precondition.enabled", false)
}

#[test]
fn a_unit_as_large_as_the_page_changes_nothing() {
    let whole =
        Scenario::new(&one_plane(""), &random_writes(16)).set("flow[0].synthetic.requests", 3000);
    let named = whole.set("ftl.mapping.unit", "16KiB");
    let text = |scenario: &Scenario| {
        serde_json::to_string(&scenario.run().without_clocks()).expect("plain data")
    };
    assert_eq!(text(&whole), text(&named));
}

#[test]
fn units_of_a_request_share_a_sensing_and_only_their_sectors_cross_the_channel() {
    let reads = |size: &str| {
        one(400)
            .set("flow[0].synthetic.read_ratio", 1.0)
            .set("flow[0].synthetic.size", size)
            .set("flow[0].synthetic.align", size)
            .set("flow[0].synthetic.queue_depth", 1)
    };
    // Whole pages that were written in a row, in blocks that never were collected.
    let written = |size: &str| {
        reads(size)
            .set("ftl.precondition.enabled", false)
            .set("flow[0].synthetic.read_ratio", 0.5)
            .set("flow[0].synthetic.address", "streaming")
    };
    let summary = written("16KiB").run();
    let units = summary.units.expect("units are modelled");
    let read = summary.flows[0].requests.read - summary.flash.zero_fill_reads / 4;
    assert_eq!(summary.flash.user_reads + (units.buffered_reads / 4), read);
    assert_eq!(units.joined_reads, 3 * summary.flash.user_reads);
    let one_unit = reads("4KiB").run();
    let b = &one_unit.flows[0].breakdown_us;
    // 4 KiB at 800 MT/s take 5.12 us; tR is 50 us.
    assert!((b.flash_array - 50.0).abs() < 1.0, "{b:?}");
    assert!(b.flash_bus > 5.12 && b.flash_bus < 6.0, "{b:?}");
}

#[test]
fn a_page_is_sent_when_it_is_full_or_when_its_time_is_over() {
    let full = empty(64).run();
    assert_eq!((full.flash.user_programs, full.units.expect("units").padded), (16, 0));
    let alone =
        empty(8).set("flow[0].synthetic.queue_depth", 1).set("ftl.mapping.fill_time", "250us");
    let summary = alone.run();
    assert_eq!(summary.flash.user_programs, 8, "each write waits for a page of its own");
    assert_eq!(summary.units.expect("units").padded, 24);
    assert!((summary.flash.write_amplification - 4.0).abs() < 1e-9);
    let mapping = summary.flows[0].breakdown_us.mapping;
    assert!((mapping - 250.0).abs() < 1e-6, "the unit waits 250 us for its page: {mapping}");
}

#[test]
fn a_flush_sends_what_waits() {
    let flushed = Scenario::new(
        &one_plane(UNIT),
        r#"
[[flow]]
name = "sync"
cache = "write"
[flow.synthetic]
queue_depth = 1
size = "4KiB"
align = "4KiB"
flush_ratio = 0.5
requests = 40
"#,
    )
    .set("ftl.precondition.enabled", false)
    .set("ftl.mapping.fill_time", "1s");
    let summary = flushed.run();
    assert!(summary.sim_time_s() < 0.5, "no flush waits for the time of a page");
}

/// Length of a run.
trait SimTime {
    fn sim_time_s(&self) -> f64;
}

impl SimTime for Summary {
    fn sim_time_s(&self) -> f64 {
        self.window_end_s
    }
}

#[test]
fn smaller_writes_than_a_unit_are_amplified_by_their_share_of_it() {
    // In units of 4 KiB, and in units that are pages of 16 KiB.
    for (unit, write) in [("4KiB", 1024), ("16KiB", 4096)] {
        let summary = one(4000)
            .set("ftl.mapping.unit", unit)
            .set("flow[0].synthetic.size", format!("{write}B"))
            .set("flow[0].synthetic.align", format!("{write}B"))
            .run();
        let flow = &summary.flows[0];
        assert!(flow.read_modify_writes > 3900, "{} of 4000", flow.read_modify_writes);
        assert_eq!(flow.page_writes, 4000, "nothing merges: every write is a unit");
        let media = flow.page_writes as f64 * flow.write_amplification * 4.0 * f64::from(write);
        let of_bytes = media / flow.bytes.write as f64;
        let of_collection = flow.write_amplification;
        assert!((of_bytes / of_collection - 4.0).abs() < 1e-9, "{of_bytes}, {of_collection}");
    }
}

#[test]
fn everything_beside_units_still_holds() {
    let base = Scenario::new(&one_plane(UNIT), &mixed(6000))
        .set("flash.planes_per_die", 2)
        .set("flash.blocks_per_plane", 40)
        .set("flash.pages_per_block", 16)
        .set("cache.capacity", "128KiB")
        .set("ftl.over_provisioning", "60%");
    let mut scenarios = Vec::new();
    for unit in ["512B", "2KiB", "4KiB", "8KiB"] {
        scenarios.extend(watched_in_four_ways(&base.set("ftl.mapping.unit", unit)));
    }
    for summary in run_all(&scenarios) {
        assert!(summary.flash.gc_programs > 0 && summary.flash.erases > 0, "{:?}", summary.flash);
    }
}

#[test]
fn what_units_do_not_work_with_is_refused_by_name() {
    let problems = |sets: &[&str]| problems(&one_plane(UNIT), sets).join("\n");
    assert_eq!(problems(&[]), "");
    for (sets, part) in [
        (&["ftl.mapping.unit=24KiB"][..], "ftl.mapping.unit: found 24KiB, allowed: divisors and"),
        (&["ftl.mapping.unit=1000B"], "ftl.mapping.unit: found 1kB, allowed: multiples of 512B"),
        (&["ftl.mapping.unit=3KiB"], "ftl.mapping.unit: found 3KiB, allowed: divisors and"),
        (&["ftl.mapping.unit=512B", "flash.pages_per_block=4096"], "units a block, allowed"),
        (&["ftl.mapping.ideal=false"], "the page (16KiB) with ftl.mapping.ideal = false"),
        (&["ftl.mapping.kind=hybrid"], "the page (16KiB) with hybrid mapping"),
        (&["ftl.gc.copyback=true"], "the page (16KiB) with ftl.gc.copyback"),
        (&["ftl.gc.victim=none"], "the page (16KiB) with victim none"),
        (&["compat.padded_sqe=true"], "the page (16KiB) with switches of compat"),
        (
            &["ftl.mapping.unit=16KiB", "ftl.mapping.fill_time=1ms"],
            "ftl.mapping.fill_time: found 1ms, allowed: only with",
        ),
    ] {
        let found = problems(sets);
        assert!(found.contains(part), "{sets:?}: {found}");
    }
}
