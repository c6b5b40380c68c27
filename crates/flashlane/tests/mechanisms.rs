//! One test for each mechanism: what it is for happens with it, and not without.

use crate::common::Scenario;
use flashlane::metrics::Summary;

/// Two channels of two chips, two dies of two planes each; small enough to fill.
const DRIVE: &str = r#"
name = "mechanisms"
[cache]
capacity = "1MiB"
[ftl]
over_provisioning = "28%"
[flash]
technology = "slc"
channels = 2
chips_per_channel = 2
dies_per_chip = 2
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
fn flow(name: &str, depth: u32, read_ratio: f64, requests: u32) -> String {
    format!(
        r#"
[[flow]]
name = "{name}"
cache = "off"
[flow.synthetic]
queue_depth = {depth}
read_ratio = {read_ratio}
size = "4KiB"
align = "4KiB"
requests = {requests}
"#
    )
}

fn one(depth: u32, read_ratio: f64, requests: u32) -> Scenario {
    Scenario::new(DRIVE, &flow("one", depth, read_ratio, requests))
}

fn two(first: &str, second: &str) -> Scenario {
    Scenario::new(DRIVE, &format!("{first}{second}"))
}

/// Programs of any kind for every page that the host wrote.
fn amplification(summary: &Summary) -> f64 {
    summary.flash.write_amplification
}

#[test]
fn program_suspension_shortens_the_tail_of_reads() {
    let base = one(8, 0.7, 6000).set("ftl.precondition.occupancy", 0.5);
    let quick =
        "{ program = true, erase = false, program_time = \"5us\", program_min_left = \"5us\" }";
    let off = base.set("flash.suspend", "{ program = false, erase = false }").run();
    let on = base.set("flash.suspend", quick).run();
    assert_eq!(off.flash.program_suspends, 0);
    assert!(on.flash.program_suspends > 100, "{}", on.flash.program_suspends);
    let p90 = |s: &Summary| s.flows[0].read_response_time_us.p90;
    assert!(p90(&on) < 0.7 * p90(&off), "{} us with, {} us without", p90(&on), p90(&off));
}

#[test]
fn erase_suspension_shortens_the_tail_of_reads() {
    let base = one(4, 0.8, 20_000).set("flash.erase_time", "30ms");
    let quick =
        "{ program = false, erase = true, erase_time = \"10us\", erase_min_left = \"10us\" }";
    let off = base.set("flash.suspend", "{ program = false, erase = false }").run();
    let on = base.set("flash.suspend", quick).run();
    assert_eq!(off.flash.erase_suspends, 0);
    assert!(on.flash.erase_suspends > 50, "{}", on.flash.erase_suspends);
    let p99 = |s: &Summary| s.flows[0].read_response_time_us.p99;
    assert!(p99(&on) < 0.7 * p99(&off), "{} us with, {} us without", p99(&on), p99(&off));
}

#[test]
fn planes_work_together() {
    let base = one(64, 1.0, 4000).set("flow[0].synthetic.address", "streaming");
    let paired = base.run();
    let single = base.set("flash.planes_per_die", 1).run();
    assert!(paired.flash.multiplane_commands > 500, "{}", paired.flash.multiplane_commands);
    assert_eq!(single.flash.multiplane_commands, 0);
    assert!(paired.flows[0].iops > 1.3 * single.flows[0].iops);
}

#[test]
fn dies_of_a_chip_interleave() {
    let base = one(64, 1.0, 4000);
    let dies = base.run();
    let one_die = base.set("flash.dies_per_chip", 1).run();
    let one_at_a_time = base.set("compat.one_die_per_dispatch", true).run();
    assert!(dies.flash.interleaved_commands > 500, "{}", dies.flash.interleaved_commands);
    assert_eq!(one_die.flash.interleaved_commands, 0);
    assert_eq!(one_at_a_time.flash.interleaved_commands, 0);
    assert!(dies.flows[0].iops > 1.3 * one_at_a_time.flows[0].iops);
}

#[test]
fn a_small_mapping_cache_reads_and_writes_translation_pages() {
    let base = one(4, 0.5, 4000).set("ftl.mapping.ideal", false);
    let small = base.set("ftl.mapping.cmt_capacity", "4KiB").run();
    let large = base.set("ftl.mapping.cmt_capacity", "4MiB").run();
    let ideal = base.set("ftl.mapping.ideal", true).run();
    assert!(small.flash.mapping_reads > 1000, "{}", small.flash.mapping_reads);
    assert!(small.flash.mapping_programs > 100, "{}", small.flash.mapping_programs);
    assert!(small.cmt.writebacks > 100 && small.cmt.misses > 1000);
    // The rest of the table fits, warm or after its first misses.
    assert!(large.flash.mapping_reads < small.flash.mapping_reads / 2);
    assert_eq!(large.cmt.writebacks, 0);
    assert_eq!(
        (ideal.cmt.misses, ideal.flash.mapping_reads, ideal.flash.mapping_programs),
        (0, 0, 0)
    );
    let mapping = |s: &Summary| s.flows[0].breakdown_us.mapping;
    assert!(mapping(&small) > mapping(&large));
}

#[test]
fn a_warm_mapping_cache_misses_less() {
    let base = one(4, 1.0, 2000).set("ftl.mapping", "{ ideal = false, cmt_capacity = \"1MiB\" }");
    let warm = base.run();
    let cold = base.set("ftl.mapping.warm", false).run();
    assert!(warm.cmt.misses * 2 < cold.cmt.misses, "{} {}", warm.cmt.misses, cold.cmt.misses);
}

#[test]
fn the_write_cache_hides_the_flash() {
    let base = one(1, 0.0, 2000);
    let off = base.run();
    let on = base.set("flow[0].cache", "write").run();
    let mean = |s: &Summary| s.flows[0].write_response_time_us.mean;
    assert!(mean(&off) > 500.0);
    assert!(mean(&on) < 0.5 * mean(&off), "{} us with, {} us without", mean(&on), mean(&off));
}

#[test]
fn the_read_cache_hits() {
    let base = one(1, 1.0, 4000)
        .set("flow[0].synthetic.address", "{ zipf = { theta = 1.2, extent = \"4KiB\" } }")
        .set("ftl.precondition.warm_cache", false);
    let off = base.run();
    let on = base.set("flow[0].cache", "read").run();
    assert_eq!(off.cache.hits, 0);
    assert!(on.cache.hits > 500, "{}", on.cache.hits);
    assert!(on.flash.user_reads + on.cache.hits == off.flash.user_reads);
    assert!(on.flows[0].response_time_us.mean < off.flows[0].response_time_us.mean);
}

#[test]
fn a_warm_read_cache_hits_from_the_start() {
    // Fewer pages than the cache holds.
    let base =
        one(1, 1.0, 1000).set("flow[0].cache", "read").set("flow[0].synthetic.working_set", 0.005);
    let warm = base.run();
    let cold = base.set("ftl.precondition.warm_cache", false).run();
    assert!(cold.cache.misses > 100, "{}", cold.cache.misses);
    assert!(warm.cache.misses < cold.cache.misses / 2, "{}", warm.cache.misses);
}

#[test]
fn eager_write_back_leaves_only_rewritten_pages_dirty() {
    // Fewer pages than the cache holds, written over and over.
    let base =
        one(2, 0.0, 2000).set("flow[0].cache", "write").set("flow[0].synthetic.working_set", 0.005);
    let eager = base.run();
    let lazy = base.set("cache.eager_write_back", false).run();
    assert!(eager.flash.user_programs > 100, "{}", eager.flash.user_programs);
    assert_eq!(lazy.flash.user_programs, 0, "everything stays in the cache");
    // Within an epoch a page goes to flash once; with short epochs, again and again.
    let short = base.set("cache.hot_epoch", "100us").run();
    assert!(short.flash.user_programs > 2 * eager.flash.user_programs);
}

#[test]
fn writes_wait_for_cache_room() {
    let base = one(32, 0.0, 3000).set("flow[0].cache", "write");
    let narrow = base.run();
    let wide = base.set("cache.write_back_pages_per_plane", 1024).run();
    let cache = |s: &Summary| s.flows[0].breakdown_us.cache;
    assert!(cache(&wide) < 0.5 * cache(&narrow), "{} {}", cache(&wide), cache(&narrow));
}

#[test]
fn weighted_arbitration_favours_the_high_class() {
    // The interface is the bottleneck: 20 us of firmware a command.
    let base = two(&flow("high", 32, 1.0, 3000), &flow("low", 32, 1.0, 3000))
        .set("flow[0].priority", "high")
        .set("flow[1].priority", "low")
        .set("interface.fetch_ahead", 1)
        .set("interface.firmware_time", "20us");
    let ratio = |s: &Summary| s.flows[0].iops / s.flows[1].iops;
    let fair = base.run();
    let weighted = base.set("interface.arbitration", "weighted-round-robin").run();
    assert!((ratio(&fair) - 1.0).abs() < 0.1, "{}", ratio(&fair));
    assert!((ratio(&weighted) - 4.0).abs() < 0.4, "{}", ratio(&weighted));
}

#[test]
fn the_fetch_size_limits_what_the_device_sees() {
    let base = one(64, 1.0, 4000);
    let wide = base.run();
    let narrow = base.set("interface.queue_fetch_size", 2).run();
    assert!(narrow.flows[0].iops < 0.4 * wide.flows[0].iops);
    assert!(narrow.flows[0].breakdown_us.submission > wide.flows[0].breakdown_us.submission);
}

#[test]
fn a_shallow_queue_keeps_requests_in_the_host() {
    // The device takes few, so that the rest waits in the submission queue or before it.
    let base = one(64, 1.0, 4000).set("interface.queue_fetch_size", 4);
    let host = |s: &Summary| s.flows[0].end_to_end_us.mean - s.flows[0].response_time_us.mean;
    let deep = base.run();
    let shallow = base.set("interface.queue_depth", 8).run();
    assert_eq!(host(&deep), 0.0);
    assert!(host(&shallow) > 50.0, "{}", host(&shallow));
}

#[test]
fn firmware_servers_work_in_parallel() {
    let base = one(64, 1.0, 4000).set("interface.firmware_time", "20us");
    let iops = |s: &Summary| s.flows[0].iops;
    let single = base.run();
    let four = base.set("interface.firmware_servers", 4).run();
    assert!((iops(&single) / 50_000.0 - 1.0).abs() < 0.02, "{}", iops(&single));
    assert!(iops(&four) > 1.5 * iops(&single), "{}", iops(&four));
}

/// A clock of 1 GHz: 500 cycles for a command, 100 for its page, 50 for the look-up.
#[test]
fn processors_cost_a_command_its_pages_look_ups_and_misses() {
    let base = one(1, 1.0, 500).set("interface.processors.decision_cycles", 0);
    let firmware = |s: &Summary| s.flows[0].breakdown_us.firmware;
    // 100,000 pages are more than four lines of eight entries hold; nearly all reads miss.
    let small = base.set("interface.processors.cache", "256B").run();
    let large = base.set("interface.processors.cache", "1MiB").run();
    assert!((firmware(&small) - 0.75).abs() < 0.002, "{}", firmware(&small));
    assert!(firmware(&large) < firmware(&small), "{}", firmware(&large));
    let [small, large] = [small, large].map(|s| s.processors.expect("they are modelled"));
    assert_eq!((small.lookups, small.decisions), (large.lookups, 0.0));
    assert!(small.lookup_misses > large.lookup_misses && large.lookup_misses > 0);
}

#[test]
fn trim_lowers_write_amplification() {
    let base = one(4, 0.0, 40_000);
    let without = base.run();
    let with = base.set("flow[0].synthetic.trim_ratio", 0.3).run();
    assert!(amplification(&without) > 1.5, "{}", amplification(&without));
    assert!(amplification(&with) < 0.8 * amplification(&without), "{}", amplification(&with));
}

#[test]
fn a_flush_waits_for_dirty_data() {
    let base = one(1, 0.0, 400).set("flow[0].synthetic.flush_ratio", 0.2);
    let off = base.run();
    let on = base.set("flow[0].cache", "write").run();
    let [count, max] = [off.flows[0].requests.flush as f64, on.flows[0].response_time_us.max];
    assert!(count > 50.0);
    // Without a cache a flush has nothing to wait for: the fastest requests are flushes.
    assert!(off.flows[0].response_time_us.min < 5.0);
    // With one, writes are quick and a flush takes a program.
    assert!(on.flows[0].write_response_time_us.p50 < 10.0);
    assert!(max > 500.0, "{max}");
}

#[test]
fn unwritten_reads_cost_what_is_asked_for() {
    let base = one(1, 1.0, 500).set("ftl.precondition.enabled", false);
    let zero = base.run();
    let flash = base.set("ftl.unwritten_read", "flash").run();
    assert_eq!((zero.flash.zero_fill_reads, zero.flash.user_reads), (500, 0));
    assert_eq!((flash.flash.zero_fill_reads, flash.flash.user_reads), (0, 500));
    assert!(zero.flows[0].response_time_us.mean < 5.0);
    assert!(flash.flows[0].response_time_us.mean > 50.0);
}

#[test]
fn partial_writes_read_the_rest_of_the_page() {
    let base = one(2, 0.0, 1000).set("flow[0].synthetic.align", "512B");
    let whole = base.set("flow[0].synthetic.align", "4KiB").run();
    let part = base.set("flow[0].synthetic.size", "512B").run();
    assert_eq!(whole.flash.user_reads, 0);
    assert_eq!(part.flash.user_reads, 1000);
    let empty =
        base.set("flow[0].synthetic.size", "512B").set("ftl.precondition.enabled", false).run();
    assert!(empty.flash.user_reads < 200, "pages of an empty drive have little to keep");
}

/// Host and collection write to frontiers of their own, so cold data gathers in blocks that few
/// choices leave alone. Strict greedy does not gain: it empties cold blocks too early.
#[test]
fn skew_lowers_write_amplification() {
    // Few planes of many blocks, and time for cold data to gather.
    let base = one(4, 0.0, 100_000)
        .set("ftl.gc.victim", "rga")
        .set("flash.channels", 1)
        .set("flash.chips_per_channel", 1)
        .set("flash.dies_per_chip", 1)
        .set("flash.blocks_per_plane", 256);
    let uniform = base.run();
    let hot = base
        .set("flow[0].synthetic.address", "{ hot-cold = { hot_region = 0.1, hot_traffic = 0.95 } }")
        .run();
    assert!(
        amplification(&hot) < 0.8 * amplification(&uniform),
        "{} {}",
        amplification(&hot),
        amplification(&uniform)
    );
}

#[test]
fn victims_by_choice_beat_random_ones() {
    let base = one(4, 0.0, 60_000);
    let random = base.set("ftl.gc.victim", "{ rga = { choices = 1 } }").run();
    let best_of_eight = base.set("ftl.gc.victim", "{ rga = { choices = 8 } }").run();
    let greedy = base.set("ftl.gc.victim", "greedy").run();
    assert!(amplification(&best_of_eight) < 0.8 * amplification(&random));
    assert!(amplification(&greedy) <= 1.02 * amplification(&best_of_eight));
}

#[test]
fn preemptible_collection_lets_reads_pass() {
    let base = one(4, 0.6, 20_000).set("ftl.gc.threshold", "12 blocks");
    let on = base.run();
    let off = base.set("ftl.gc.preemptible", false).run();
    let mean = |s: &Summary| s.flows[0].read_response_time_us.mean;
    assert!(mean(&on) < 0.9 * mean(&off), "{} us on, {} us off", mean(&on), mean(&off));
}

#[test]
fn priority_scheduling_favours_the_high_class() {
    let base = two(&flow("high", 32, 1.0, 3000), &flow("low", 32, 1.0, 3000))
        .set("flow[0].priority", "high")
        .set("flow[1].priority", "low");
    let ratio = |s: &Summary| s.flows[0].iops / s.flows[1].iops;
    let plain = base.set("scheduler", "out-of-order").run();
    let priority = base.set("scheduler", "priority-out-of-order").run();
    assert!((ratio(&plain) - 1.0).abs() < 0.1, "{}", ratio(&plain));
    assert!(ratio(&priority) > 1.8, "{}", ratio(&priority));
}

#[test]
fn reads_pass_writes_unless_first_come_first_served() {
    let base = one(32, 0.5, 6000).set("ftl.precondition.occupancy", 0.5);
    let read =
        |scheduler| base.set("scheduler", scheduler).run().flows[0].read_response_time_us.mean;
    let fcfs = read("fcfs");
    for scheduler in ["read-priority", "out-of-order", "priority-out-of-order"] {
        let mean = read(scheduler);
        assert!(mean < 0.7 * fcfs, "{scheduler}: {mean} us, fcfs {fcfs} us");
    }
}

#[test]
fn dynamic_allocation_beats_static_on_a_skewed_stream() {
    // Every write goes to a multiple of eight pages: one static plane in eight.
    let base = one(32, 0.0, 2000)
        .set("flow[0].synthetic.align", "64KiB")
        .set("ftl.precondition.enabled", false);
    let fixed = base.set("ftl.allocation", "cwdp").run();
    let dynamic = base.set("ftl.allocation", "dynamic").run();
    let iops = |s: &Summary| s.flows[0].iops;
    assert!(iops(&dynamic) > 4.0 * iops(&fixed), "{} {}", iops(&dynamic), iops(&fixed));
}

#[test]
fn the_order_of_striping_decides_what_a_stream_meets() {
    // Two pages at a time: neighbours on different channels, or on the planes of one die.
    let base = one(1, 1.0, 500)
        .set("flow[0].synthetic.address", "streaming")
        .set("flow[0].synthetic.size", "8KiB")
        .set("flow[0].synthetic.align", "8KiB");
    let channels = base.set("ftl.allocation", "cwdp").run();
    let planes = base.set("ftl.allocation", "pdwc").run();
    assert_eq!(channels.flash.multiplane_commands, 0);
    assert!(planes.flash.multiplane_commands > 450, "{}", planes.flash.multiplane_commands);
}

#[test]
fn wear_levelling_and_the_order_of_blocks_leave_a_trace() {
    let base = one(4, 0.0, 40_000).set("flow[0].synthetic.working_set", 0.3);
    let on = base.run();
    let off = base.set("ftl.wear_leveling.dynamic", false).run();
    assert!(on.flash.erases > 100);
    assert_ne!(on.flows[0].response_time_us, off.flows[0].response_time_us);
}

#[test]
fn lists_of_channels_keep_flows_apart() {
    let base = two(&flow("reads", 4, 1.0, 2000), &flow("writes", 32, 0.0, 2000));
    let shared = base.run();
    let apart = base.set("flow[0].channels", "[0]").set("flow[1].channels", "[1]").run();
    let mean = |s: &Summary| s.flows[0].response_time_us.mean;
    assert!(mean(&apart) < 0.8 * mean(&shared), "{} {}", mean(&apart), mean(&shared));
    assert!(apart.chips.iter().all(|chip| chip.channel > 1 || chip.busy_fraction > 0.0));
}

/// Each switch changes a number that it is about.
#[test]
fn compatibility_switches_take_effect() {
    let cached = one(1, 0.0, 200).set("flow[0].cache", "write");
    let reads = one(1, 1.0, 200);
    let many = one(64, 0.5, 4000);
    let response = |s: &Summary| s.flows[0].response_time_us.mean;
    let transfer_in = |s: &Summary| s.flows[0].breakdown_us.transfer_in;
    let firmware = |s: &Summary| s.flows[0].breakdown_us.firmware;
    let bus = |s: &Summary| s.flows[0].breakdown_us.flash_bus;
    let dram = |s: &Summary| s.flows[0].breakdown_us.cache;
    let zeros = |s: &Summary| s.flash.zero_fill_reads as f64;
    let interleaved = |s: &Summary| s.flash.interleaved_commands as f64;
    let empty = reads.set("ftl.precondition.enabled", false);
    type Figure<'a> = &'a dyn Fn(&Summary) -> f64;
    let cases: [(&str, &Scenario, Figure<'_>); 10] = [
        ("padded_sqe", &reads, &transfer_in),
        ("zero_firmware_time", &reads, &firmware),
        ("one_die_per_dispatch", &many, &interleaved),
        ("truncated_bus_clock", &reads.set("flash.channel_rate", "333MT/s"), &bus),
        ("flash_unwritten_reads", &empty, &zeros),
        ("dram_formula", &cached, &dram),
        ("truncated_link_time", &reads, &response),
        ("unordered_programs", &many, &response),
        ("data_before_commands", &many, &response),
        ("random_generators", &mqsim_flow(), &response),
    ];
    for (name, scenario, figure) in cases {
        let off = figure(&scenario.run());
        let on = figure(&scenario.set(&format!("compat.{name}"), true).run());
        assert!(off != on, "{name}: {off} either way");
    }
}

fn mqsim_flow() -> Scenario {
    let workload = r#"
[[flow]]
name = "from MQSim"
cache = "off"
[flow.mqsim.synthetic]
working_set_percent = 80
closed_loop = true
read_percent = 50
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
requests = 1000
"#;
    Scenario::new(DRIVE, workload)
}
