//! One test for each mechanism of memory and link rates: writing in place, small reads, interface
//! classes, PCIe generations.

use crate::common::Scenario;
use flashlane::config::bounds::Bounds;
use flashlane::config::load::{Overrides, device};
use flashlane::metrics::Summary;
use flashlane::{RunOptions, simulate};

/// Two channels of two chips; small enough to be overwritten many times.
const DRIVE: &str = r#"
name = "media"
[interface]
firmware_time = "0ns"
[cache]
capacity = "0B"
[ftl]
over_provisioning = "28%"
[flash]
technology = "in-place"
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 32
page_size = "4KiB"
channel_rate = "1600MT/s"
command_time = "20ns"
read_time = ["2us"]
program_time = ["5us"]
"#;

fn drive(workload: &str) -> Scenario {
    Scenario::new(DRIVE, workload)
}

fn one(depth: u32, read_ratio: f64, requests: u32) -> Scenario {
    drive(&format!(
        "[[flow]]\nname = \"one\"\ncache = \"off\"\n[flow.synthetic]\nqueue_depth = {depth}\n\
         read_ratio = {read_ratio}\nsize = \"4KiB\"\nalign = \"4KiB\"\nrequests = {requests}\n"
    ))
}

fn flash(scenario: &Scenario) -> Scenario {
    scenario.set("flash.technology", "slc").set("flash.erase_time", "1ms")
}

fn response(summary: &Summary) -> f64 {
    summary.flows[0].response_time_us.mean
}

#[test]
fn writing_in_place_collects_nothing() {
    let base = one(8, 0.0, 20_000);
    let (in_place, flash) = (base.run(), flash(&base).run());
    let moved = |s: &Summary| {
        (s.flash.erases, s.flash.gc_programs, s.flash.mapping_reads, s.flash.zero_fill_reads)
    };
    assert_eq!(moved(&in_place), (0, 0, 0, 0));
    assert_eq!((in_place.flash.user_programs, in_place.flash.write_amplification), (20_000, 1.0));
    assert!(flash.flash.erases > 100 && flash.flash.write_amplification > 1.2);
    assert!(in_place.flows[0].iops > 2.0 * flash.flows[0].iops);
    // No tables for what never moves.
    assert_eq!(in_place.memory.page_table_bytes, 0);
    assert!(flash.memory.page_table_bytes > 0);
}

#[test]
fn a_part_of_a_page_is_written_alone() {
    let base = one(1, 0.0, 2000)
        .set("flow[0].synthetic.size", "512B")
        .set("flow[0].synthetic.align", "512B");
    let (in_place, flash) = (base.run(), flash(&base).run());
    assert_eq!(in_place.flash.user_reads, 0);
    assert!(flash.flash.user_reads > 1000, "old data is read first: {}", flash.flash.user_reads);
}

#[test]
fn every_read_of_memory_written_in_place_is_read() {
    // There is no map that could say that nobody wrote a page.
    let summary = one(4, 1.0, 500).run();
    assert_eq!((summary.flash.user_reads, summary.flash.zero_fill_reads), (500, 0));
    assert_eq!((summary.cmt.hits, summary.cmt.misses), (0, 0));
}

#[test]
fn access_units_decide_the_array_time() {
    let base = one(1, 1.0, 100);
    let array = |s: &Scenario| s.run().flows[0].breakdown_us.flash_array;
    assert!((array(&base) - 2.02).abs() < 1e-9);
    assert!((array(&base.set("flash.read_unit", "256B")) - (16.0 * 2.0 + 0.02)).abs() < 1e-9);
    let small = base.set("flow[0].synthetic.size", "512B").set("flash.read_unit", "256B");
    assert!((array(&small) - (2.0 * 2.0 + 0.02)).abs() < 1e-9);
    let writes = one(1, 0.0, 100).set("flash.write_unit", "1KiB");
    assert!((array(&writes) - 4.0 * 5.0).abs() < 1e-9);
}

#[test]
fn bounds_know_the_access_units() {
    let base = one(64, 1.0, 4000).set("flash.read_unit", "1KiB");
    let (device, _) = base.load();
    let bound = Bounds::new(&device).array_read_bytes_per_s;
    // Four dies, four accesses of 2 us a page.
    assert!((bound / (4.0 * 4096.0 / 8e-6) - 1.0).abs() < 1e-9, "{bound}");
    let reached = base.run().flows[0].bandwidth_bytes_per_s;
    assert!(reached < bound && reached > 0.5 * bound, "{reached} of {bound}");
}

#[test]
fn logical_pages_stay_striped_over_the_dies() {
    // One die at a time against all four.
    let base = one(16, 1.0, 4000).set("flow[0].synthetic.address", "streaming");
    let all = base.run();
    let some = base.set("flow[0].channels", "[0]").set("flow[0].chips", "[1]").run();
    assert!(all.flows[0].iops > 3.0 * some.flows[0].iops);
    let busy: Vec<bool> = some.chips.iter().map(|chip| chip.busy_fraction > 0.0).collect();
    assert_eq!(busy, [false, true, false, false]);
}

#[test]
fn writes_are_suspended_for_reads() {
    let base = one(8, 0.5, 4000).set("flash.program_time", "[\"100us\"]");
    let quick = "{ program = true, program_time = \"0ns\", program_min_left = \"1us\" }";
    let off = base.run();
    let on = base.set("flash.suspend", quick).run();
    assert_eq!(off.flash.program_suspends, 0);
    assert!(on.flash.program_suspends > 100);
    let p90 = |s: &Summary| s.flows[0].read_response_time_us.p90;
    assert!(p90(&on) < 0.5 * p90(&off), "{} {}", p90(&on), p90(&off));
}

#[test]
fn small_reads_take_less_than_pages() {
    let base = flash(&one(1, 1.0, 100)).set("flash.page_size", "16KiB");
    let small = base.set("flash.small_read", "{ size = \"4KiB\", time = [\"1us\"] }");
    assert!((response(&base.run()) - response(&small.run()) - 1.0).abs() < 1e-6);
    let whole = |s: &Scenario| {
        let s = s.set("flow[0].synthetic.size", "16KiB").set("flow[0].synthetic.align", "16KiB");
        response(&s.run())
    };
    assert!((whole(&base) - whole(&small)).abs() < 1e-9);
}

#[test]
fn faster_interfaces_move_more() {
    let base = flash(&one(64, 1.0, 4000)).set("link.lane_bandwidth", "100GB/s");
    let bandwidth = |class: &str, rate: &str| {
        let s = base.set("flash.channel_class", class).set("flash.channel_rate", rate);
        s.run().flows[0].bandwidth_bytes_per_s
    };
    let ddr2 = bandwidth("\"nv-ddr2\"", "533MT/s");
    let ddr3 = bandwidth("\"nv-ddr3\"", "1600MT/s");
    let lpddr4 = bandwidth("\"nv-lpddr4\"", "3600MT/s");
    assert!(ddr3 > 1.5 * ddr2, "{ddr3} {ddr2}");
    assert!(lpddr4 > 1.2 * ddr3, "{lpddr4} {ddr3}");
}

#[test]
fn pcie_generations_double_the_link() {
    let base = one(64, 1.0, 4000)
        .set("flash.read_time", "[\"100ns\"]")
        .set("flash.channel_rate", "100GT/s")
        .set("link.lanes", 1);
    let bandwidth = |generation: u32| {
        let s = base.set("link.generation", generation);
        s.run().flows[0].bandwidth_bytes_per_s / 1e6
    };
    // Payload of 128 B packets with 24 B around them.
    let bound = 984.615 * 128.0 / 152.0;
    let third = bandwidth(3);
    assert!(third < bound && third > 0.95 * bound, "{third} of {bound}");
    assert!((bandwidth(4) / third - 2.0).abs() < 0.05);
    assert!((bandwidth(5) / third - 4.0).abs() < 0.1);
    // The flit mode gives 236 of 256 bytes to packets of 16 B more than their payload.
    let sixth = 7375.0 * 128.0 / 144.0;
    assert!((bandwidth(6) / sixth - 1.0).abs() < 0.05, "{} of {sixth}", bandwidth(6));
}

/// Where the time of a read of 4 KiB goes, for flash and for 3D XPoint.
/// Source: MQSim (FAST'18) section 3.3, Fig. 4.
#[test]
fn figure_4_of_fast18() {
    let read = |preset: &str| {
        // "Assuming a mapping table cache hit".
        let sets = [
            "ftl.mapping.ideal=true",
            "ftl.precondition.enabled=false",
            "ftl.unwritten_read=flash",
        ];
        let sets = sets.map(str::to_owned).to_vec();
        let overrides = Overrides { sets, ..Overrides::default() };
        let device = device(preset, &overrides).expect("a preset loads").config;
        let (_, workload) = one(1, 1.0, 500).load();
        let options = RunOptions::default();
        simulate(&device, &workload, &options, &|_| {}).expect("the run finishes").flows.remove(0)
    };
    let (nand, xpoint) = (read("fast18"), read("xpoint"));
    let memory = |f: &flashlane::metrics::FlowSummary| {
        f.breakdown_us.flash_array + f.breakdown_us.flash_bus + f.breakdown_us.flash_queue
    };
    assert!(memory(&nand) > 0.9 * nand.response_time_us.mean);
    assert!(nand.breakdown_us.flash_array > 50.0 && nand.breakdown_us.flash_array < 110.0);
    // "The total latency of the 3D XPoint read and transfer (< 1 us) contributes less than 10 % of
    // the end-to-end I/O request processing latency (< 10 us)": with host and device software.
    assert!(memory(&xpoint) < 1.0, "{}", memory(&xpoint));
    assert!(xpoint.response_time_us.mean < 10.0);
    assert!(memory(&xpoint) < 0.25 * xpoint.response_time_us.mean);
}
