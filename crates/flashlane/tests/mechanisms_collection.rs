//! One test for each mechanism of collection and wear: what it is for happens with it, and not
//! without.

use crate::common::{Scenario, whole_run};
use flashlane::metrics::Summary;

/// Two channels of two chips, one die of two planes each; small enough to fill.
const DRIVE: &str = r#"
name = "collection"
[ftl]
over_provisioning = "28%"
[flash]
technology = "slc"
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 32
page_size = "4KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

/// A closed loop of 4 KiB requests, no cache.
fn one(depth: u32, read_ratio: f64, requests: u32) -> Scenario {
    let flow = format!(
        r#"
[[flow]]
name = "one"
cache = "off"
[flow.synthetic]
queue_depth = {depth}
read_ratio = {read_ratio}
size = "4KiB"
align = "4KiB"
requests = {requests}
"#
    );
    Scenario::new(DRIVE, &flow)
}

/// Programs of any kind for every page that the host wrote.
fn amplification(summary: &Summary) -> f64 {
    summary.flash.write_amplification
}

#[test]
fn without_collection_overwritten_space_returns_at_no_cost() {
    for mapping in ["{ ideal = true }", "{ ideal = false, cmt_capacity = \"4KiB\" }"] {
        let base = one(16, 0.3, 30_000).set("ftl.mapping", mapping);
        let greedy = base.set("ftl.gc.victim", "greedy").run();
        let none = base.set("ftl.gc.victim", "none").run();
        assert!(greedy.flash.gc_programs > 5_000, "{}", greedy.flash.gc_programs);
        let work = [&none].map(|s| (s.flash.gc_reads, s.flash.gc_programs, s.flash.erases));
        assert_eq!(work, [(0, 0, 0)]);
        assert_eq!(none.flash.gc_invocations, 0);
        assert!(none.flash.user_programs > 20_000, "the drive is written several times over");
        assert!(none.flows[0].iops > 1.3 * greedy.flows[0].iops);
    }
    let none = one(16, 0.3, 30_000).set("ftl.gc.victim", "none").run();
    assert_eq!(amplification(&none), 1.0);
}

/// Even where the last free block is taken at once and every block is read.
#[test]
fn without_collection_a_full_small_drive_never_stalls() {
    let tight = one(64, 0.5, 20_000)
        .set("ftl.gc.victim", "none")
        .set("flash.blocks_per_plane", 8)
        .set("flash.pages_per_block", 4)
        .set("ftl.gc.threshold", "3 blocks")
        .set("ftl.gc.hard_threshold", "2 blocks")
        .set("ftl.over_provisioning", 1.5);
    let summary = tight.run();
    assert_eq!(amplification(&summary), 1.0);
}

/// Everything is written, then only a quarter of it again and again.
fn skewed(requests: u32) -> Scenario {
    one(4, 0.0, requests)
        .set("flow[0].synthetic.working_set", 0.25)
        .set("ftl.precondition.occupancy", 1.0)
}

#[test]
fn static_wear_levelling_narrows_the_spread_of_erases() {
    let base = skewed(60_000);
    let off = base.set("ftl.wear_leveling.static_threshold", 0).run();
    let on = base.set("ftl.wear_leveling.static_threshold", 4).run();
    let spread = |s: &Summary| s.flash.block_erases.max - s.flash.block_erases.min;
    assert_eq!(off.flash.wear_leveling_moves, 0);
    assert_eq!(off.flash.block_erases.min, 0, "cold data keeps its blocks");
    assert!(spread(&off) >= 12, "{:?}", off.flash.block_erases);
    assert!(on.flash.wear_leveling_moves > 50, "{}", on.flash.wear_leveling_moves);
    assert!(spread(&on) <= 7, "{:?}", on.flash.block_erases);
    assert!(on.flash.block_erases.stddev < 0.5 * off.flash.block_erases.stddev);
    // Wear levelling needs programs of its own.
    assert_eq!(on.flash.gc_invocations + on.flash.wear_leveling_moves, on.flash.erases);
    assert!(amplification(&on) > amplification(&off));
}

#[test]
fn dynamic_wear_levelling_narrows_the_spread_among_blocks_in_use() {
    let base = skewed(60_000)
        .set("ftl.wear_leveling.static_threshold", 0)
        .set("ftl.precondition.enabled", false);
    let on = base.run();
    let off = base.set("ftl.wear_leveling.dynamic", false).run();
    let max = |s: &Summary| s.flash.block_erases.max;
    assert!(max(&on) <= max(&off), "{:?} {:?}", on.flash.block_erases, off.flash.block_erases);
    assert!(on.flash.block_erases.stddev < off.flash.block_erases.stddev);
}

#[test]
fn copyback_keeps_moved_pages_off_the_channel() {
    for (name, settings) in [
        ("plain", vec![]),
        ("any order", vec![("compat.unordered_programs", "true")]),
        ("suspension", vec![("flash.suspend", "{ program = true, program_min_left = \"1us\" }")]),
        ("first come first served", vec![("scheduler", "\"fcfs\"")]),
    ] {
        let mut base = one(8, 0.3, 30_000);
        for (key, value) in settings {
            base = base.set(key, value);
        }
        let off = base.run();
        let on = base.set("ftl.gc.copyback", true).run();
        assert_eq!(off.flash.copybacks, 0);
        assert!(on.flash.gc_programs > 10_000, "{name}: {}", on.flash.gc_programs);
        let share = on.flash.copybacks as f64 / on.flash.gc_programs as f64;
        // Programs that came over the channel first keep those behind them on it, until they catch
        // up.
        assert!(share > 0.9, "{name}: {share} of the moves");
        // A page takes 5.12 us on the channel in either direction.
        let busy = |s: &Summary| {
            s.channels.iter().map(|c| c.busy_fraction).sum::<f64>() * s.simulated_s * 1e6
        };
        let saved = 2.0 * 5.12 * on.flash.copybacks as f64;
        let pages = off.flash.gc_programs as f64 / on.flash.gc_programs as f64;
        assert!((pages - 1.0).abs() < 0.05, "{name}: collection moves as much with and without");
        let less = busy(&off) - busy(&on);
        assert!((less / saved - 1.0).abs() < 0.15, "{name}: {less} us less, {saved} us expected");
    }
}

#[test]
fn writes_interrupt_erases_where_they_may() {
    let base =
        one(2, 0.0, 20_000).set("flash.erase_time", "30ms").set("ftl.gc.threshold", "12 blocks");
    let suspend = |for_write: bool, min_left: &str| {
        format!(
            "{{ erase = false, erase_time = \"10us\", erase_for_write = {for_write}, \
             erase_min_left_for_write = \"{min_left}\" }}"
        )
    };
    let off = base.set("flash.suspend", suspend(false, "10us")).run();
    let on = base.set("flash.suspend", suspend(true, "10us")).run();
    let late = base.set("flash.suspend", suspend(true, "25ms")).run();
    let suspends = |s: &Summary| s.flash.erase_suspends;
    assert_eq!(suspends(&off), 0);
    assert!(suspends(&on) > 200, "{}", suspends(&on));
    assert!(suspends(&late) > 0 && suspends(&late) < suspends(&on) / 2, "{}", suspends(&late));
    let p99 = |s: &Summary| s.flows[0].write_response_time_us.p99;
    assert!(p99(&on) < 0.8 * p99(&off), "{} us with, {} us without", p99(&on), p99(&off));
    let compatible =
        base.set("flash.suspend", suspend(true, "10us")).set("compat.no_suspension", true);
    assert_eq!(suspends(&compatible.run()), 0);
}

/// Programs and erases with less than the threshold left are not interrupted.
#[test]
fn thresholds_limit_suspension() {
    let base = one(8, 0.7, 10_000);
    let programs = |min_left: &str| {
        let on = format!(
            "{{ program = true, erase = false, program_time = \"5us\", program_min_left = \"{min_left}\" }}"
        );
        base.set("flash.suspend", on).run().flash.program_suspends
    };
    let [any, half, none] = ["0us", "250us", "501us"].map(programs);
    assert!(any > 500 && half < 9 * any / 10 && half > any / 4 && none == 0, "{any} {half} {none}");
    let erases = |min_left: &str| {
        let on = format!(
            "{{ program = false, erase = true, erase_time = \"5us\", erase_min_left = \"{min_left}\" }}"
        );
        base.set("flash.suspend", on).run().flash.erase_suspends
    };
    let [any, half, none] = ["0us", "1500us", "3001us"].map(erases);
    assert!(any > 50 && half < any && half > 10 && none == 0, "{any} {half} {none}");
}

/// Above the hard threshold reads go before the moves that are queued, below it they wait for them.
#[test]
fn reads_overtake_collection_above_the_hard_threshold_only() {
    let base =
        one(4, 0.6, 20_000).set("ftl.over_provisioning", 0.6).set("ftl.gc.threshold", "12 blocks");
    let mean = |s: &Summary| s.flows[0].read_response_time_us.mean;
    let above = mean(&base.set("ftl.gc.hard_threshold", "3 blocks").run());
    let below = mean(&base.set("ftl.gc.hard_threshold", "11 blocks").run());
    assert!(above < 0.6 * below, "{above} us above, {below} us below");
}

/// A flow of MQSim's files that overwrites all it touches.
fn mqsim_writes(working_set_percent: u32) -> Scenario {
    let workload = format!(
        r#"
[[flow]]
name = "from MQSim"
cache = "off"
[flow.mqsim.synthetic]
working_set_percent = {working_set_percent}
closed_loop = true
read_percent = 0
address = "uniform"
hot_region_percent = 0
aligned = true
alignment_sectors = 8
normal_size = false
size_mean_sectors = 8
size_stddev_sectors = 0
seed = 321
queue_depth = 4
bandwidth = 0
stop_time_ns = 0
requests = 20000
"#
    );
    Scenario::new(DRIVE, &workload).set("ftl.gc.threshold", "12 blocks")
}

/// Each compatibility switch of collection changes a number that it is about.
#[test]
fn compatibility_switches_of_collection_take_effect() {
    let writes = mqsim_writes(100);
    let switched = |base: &Scenario, name: &str| {
        [false, true].map(|on| base.set(&format!("compat.{name}"), on).run())
    };
    // One more block that holds no data.
    let [off, on] = switched(&writes, "frontiers_at_start");
    assert!(amplification(&on) > 1.01 * amplification(&off), "{}", amplification(&on));
    let [off, on] = switched(&writes, "collection_per_block");
    assert!(amplification(&on) != amplification(&off));
    // Nobody else is there to use what collection leaves: it ends no sooner for it.
    let slow =
        writes.set("ftl.gc.preemptible", false).set("flow[0].mqsim.synthetic.queue_depth", 1);
    let [off, on] = switched(&slow, "writes_wait_for_erases");
    let mean = |s: &Summary| s.flows[0].write_response_time_us.mean;
    assert!(mean(&on) > 1.02 * mean(&off), "{} {}", mean(&on), mean(&off));
    let fifo = writes.set("ftl.gc.victim", "fifo").set("flow[0].mqsim.synthetic.requests", 4000);
    let [off, on] = switched(&fifo, "fullest_blocks_oldest");
    assert!(amplification(&on) > 1.2 * amplification(&off), "{}", amplification(&on));
    // Other numbers of pages lie in the blocks that collection meets first.
    let few = writes.set("flow[0].mqsim.synthetic.requests", 4000);
    let [off, on] = switched(&few, "rounded_block_counts");
    assert!(amplification(&on) != amplification(&off), "{}", amplification(&on));
    // Planes move their first block once, after their first collection; there are eight of them.
    let wide = few.set("flash.blocks_per_plane", 256).set("flow[0].occupancy", 0.7);
    let open = ["frontiers_at_start", "fullest_blocks_oldest", "rounded_block_counts"];
    let open =
        open.iter().fold(wide.clone(), |base, name| base.set(&format!("compat.{name}"), true));
    let [off, on] = switched(&open, "leveling_by_number");
    let moves = |s: &Summary| whole_run(s).wear_leveling_moves;
    assert!(moves(&off) == 0 && (1..=8).contains(&moves(&on)), "{}", moves(&on));
    // The blocks for translation pages and for moved ones have their turn, and are still open.
    let turns = open.set("compat.collection_per_block", true).set("ftl.gc.victim", "fifo");
    let turns = turns.set("flow[0].mqsim.synthetic.requests", 500);
    let [off, on] = switched(&turns, "frontiers_at_start");
    let collections = [off, on].map(|s| whole_run(&s).gc_invocations);
    assert!(collections[1] == 8 && collections[0] > 100, "{collections:?}");
    // Half of the drive stays empty, where the run would fill it.
    let half = writes.set("flow[0].occupancy", 0.5).set("compat.random_generators", true);
    let [off, on] = switched(&half, "occupied_by_own_requests");
    assert!(amplification(&on) < 0.97 * amplification(&off), "{}", amplification(&on));
}

#[test]
fn with_open_blocks_planes_begin_to_collect_one_after_the_other() {
    let collecting = |writes: u32, open: bool| {
        let drive = one(4, 0.0, writes).set("ftl.precondition.open_blocks", open);
        drive.run().chips.iter().filter(|chip| chip.busy_by_source.gc > 0.0).count()
    };
    // A block of each of the eight planes takes 256 writes.
    assert_eq!(collecting(200, false), 0);
    let chips = [24, 64, 256].map(|writes| collecting(writes, true));
    assert!(chips.is_sorted() && chips[0] < chips[2] && chips[1] > 0, "{chips:?}");
    assert_eq!(chips[2], 4);
    let later = [false, true].map(|open| {
        let drive = one(16, 0.0, 30_000).set("ftl.precondition.open_blocks", open);
        amplification(&drive.run())
    });
    assert!((later[1] / later[0] - 1.0).abs() < 0.03, "{later:?}");
}
