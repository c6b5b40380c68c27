//! Data cache and cached mapping table: what each mechanism is for happens with it, and not
//! without.

use crate::common::{Scenario, tenant, whole_run};
use flashlane::Warmup;
use flashlane::metrics::Summary;
use flashlane::metrics::summary::HitCounts;

/// Two channels of two chips, two planes each; pages of 8 KiB, a cache of 128 of them.
const DRIVE: &str = r#"
name = "mechanisms of the cache"
[cache]
capacity = "1MiB"
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
page_size = "8KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

fn flow(name: &str, cache: &str, pace: &str, read_ratio: f64, rest: &str) -> String {
    let pages = "size = \"8KiB\"\nalign = \"8KiB\"";
    tenant(name, cache, &format!("{pace}\nread_ratio = {read_ratio}\n{pages}\n{rest}"))
}

fn one(cache: &str, read_ratio: f64, rest: &str) -> Scenario {
    Scenario::new(DRIVE, &flow("one", cache, "queue_depth = 4", read_ratio, rest))
}

fn hit_rate(counts: &HitCounts) -> f64 {
    counts.hits as f64 / (counts.hits + counts.misses) as f64
}

/// The first requests of a warm run hit as often as those of a run that has gone on for long, for
/// every distribution of addresses.
#[test]
fn a_warm_cache_starts_where_a_long_run_arrives() {
    for address in [
        "uniform",
        "{ zipf = { theta = 1.0, extent = '8KiB' } }",
        "{ hot-cold = { hot_region = 0.2, hot_traffic = 0.8 } }",
        "{ mixed = { streaming = 0.3 } }",
    ] {
        let base = one("write-read", 0.7, "requests = 2000")
            .set("flow[0].synthetic.address", address)
            .set("flow[0].synthetic.working_set", 0.05);
        let warm = base.run();
        let cold = base.set("ftl.precondition.warm_cache", false).run();
        let mut late = base.set("ftl.precondition.warm_cache", false);
        late = late.set("flow[0].synthetic.requests", 12_000);
        late.options.warmup = Warmup::Requests(10_000);
        let late = late.run();
        // Without the first 10,000 requests.
        let rest = late.flows[0].cache;
        let [warm, cold] = [&warm, &cold].map(|run| hit_rate(&run.flows[0].cache));
        let rest = hit_rate(&rest);
        assert!((warm - rest).abs() < 0.06, "{address}: warm {warm}, in the long run {rest}");
        assert!(cold < warm || address == "uniform", "{address}: cold {cold}, warm {warm}");
    }
}

/// Hits of requests in the mapping cache and in the data cache: of the first ones, and of as many
/// after a whole round of all.
fn hits_in_time(base: &Scenario, round: u64, some: u64) -> [(u64, u64); 2] {
    let first = base.set("flow[0].synthetic.requests", some).run();
    let mut later = base.set("flow[0].synthetic.requests", round + some);
    later.options.warmup = Warmup::Requests(round);
    let later = later.run();
    [first, later].map(|run| (run.cmt.hits, run.flows[0].cache.hits))
}

/// The past of a stream ends where its run begins, whatever the sizes of caches, space and
/// requests: its first requests hit as those of the next round, in both caches. A stream that is
/// longer than a cache never hits.
#[test]
fn a_stream_hits_alike_at_all_times() {
    let (mut never, mut always) = (0, 0);
    for (blocks, size) in [(29, "8KiB"), (36, "8KiB"), (48, "8KiB"), (36, "24KiB"), (29, "56KiB")] {
        for entries in ["2KiB", "6KiB", "11KiB", "1MiB"] {
            for cache in ["320KiB", "1MiB", "64MiB"] {
                let base = one("read", 1.0, "requests = 1")
                    .set("flow[0].synthetic.queue_depth", 1)
                    .set("flow[0].synthetic.address", "streaming")
                    .set("flow[0].synthetic.size", size)
                    .set("flow[0].synthetic.align", "8KiB")
                    .set("ftl.unwritten_read", "flash")
                    .set("flash.blocks_per_plane", blocks)
                    .set("ftl.gc", "{ threshold = \"4 blocks\", hard_threshold = \"2 blocks\" }")
                    .set("cache.capacity", cache)
                    .set(
                        "ftl.mapping",
                        format!("{{ ideal = false, cmt_capacity = \"{entries}\" }}"),
                    );
                let (device, workload) = base.load();
                let pages = workload.layout(&device).flows[0].pages;
                let [first, later] = hits_in_time(&base, pages, 200);
                assert_eq!(first, later, "{blocks} blocks, {size}, {entries}, {cache}");
                never += u32::from(first.0 == 0);
                always += u32::from(first.1 >= 200);
            }
        }
    }
    assert!(never > 10 && always > 5, "both happen: {never}, {always}");
}

/// The past of a trace is the trace: its first pass hits as often as the second one, in both
/// caches.
#[test]
fn a_trace_hits_alike_at_all_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("passes.csv");
    let (mut never, mut always) = (0, 0);
    for pages in [300_u64, 700, 1_001] {
        // Nanoseconds, device, sector, sectors, read: whole pages in order.
        let line = |page: u64| format!("{} 0 {} 16 1\n", page * 1000, page * 16);
        std::fs::write(&path, (0..pages).map(line).collect::<String>()).expect("room");
        let trace = format!(
            "[[flow]]\nname = \"one\"\ncache = \"read\"\n[flow.trace]\npath = \"{}\"\n\
             format = \"mqsim\"\nqueue_depth = 1\nrepeat = 2\n",
            path.display()
        );
        for entries in ["2KiB", "6KiB", "1MiB"] {
            for cache in ["1MiB", "4MiB", "64MiB"] {
                let table = format!("{{ ideal = false, cmt_capacity = \"{entries}\" }}");
                let mut base = Scenario::new(DRIVE, &trace)
                    .set("ftl.unwritten_read", "flash")
                    .set("cache.capacity", cache)
                    .set("ftl.mapping", table);
                let both = base.run();
                base.options.warmup = Warmup::Requests(pages);
                let second = base.run();
                let [both, second] =
                    [both, second].map(|run| (run.cmt.hits, run.flows[0].cache.hits));
                let twice = (2 * second.0, 2 * second.1);
                assert_eq!(both, twice, "{pages} pages, {entries}, {cache}");
                never += u32::from(second.0 == 0);
                always += u32::from(second.1 >= pages);
            }
        }
    }
    assert!(never > 3 && always > 3, "both happen: {never}, {always}");
}

/// Rewritten pages wait in the cache as changed, so the first evictions of a warm run write.
#[test]
fn a_warm_write_cache_holds_changed_pages() {
    let base = one("write", 0.0, "requests = 300")
        .set("cache.eager_write_back", false)
        .set("flow[0].synthetic.working_set", 0.2);
    let warm = base.run();
    let cold = base.set("ftl.precondition.warm_cache", false).run();
    assert!(warm.flash.user_programs > 200, "{}", warm.flash.user_programs);
    assert!(
        warm.flash.user_programs > cold.flash.user_programs + 100,
        "{} warm, {} cold",
        warm.flash.user_programs,
        cold.flash.user_programs
    );
}

/// A flow that is asked for ten times as often leaves most of what a shared cache holds.
#[test]
fn a_warm_cache_is_shared_by_rate() {
    let reads =
        |name, iops: u32| flow(name, "read", &format!("iops = {iops}"), 1.0, "duration = \"40ms\"");
    let text = format!("{}{}", reads("often", 20_000), reads("seldom", 2_000));
    let base = Scenario::new(DRIVE, &text)
        .set("flow[0].synthetic.working_set", 0.05)
        .set("flow[1].synthetic.working_set", 0.05);
    let summary = base.run();
    let [often, seldom] = [0, 1].map(|flow: usize| hit_rate(&summary.flows[flow].cache));
    assert!(often > 3.0 * seldom, "{often} {seldom}");
}

#[test]
fn partitions_keep_a_streaming_neighbour_out() {
    let small =
        flow("small", "read", "queue_depth = 1", 1.0, "working_set = 0.008\nrequests = 3000");
    let stream = flow("stream", "read", "queue_depth = 16", 1.0, "address = \"streaming\"");
    let base = Scenario::new(DRIVE, &format!("{small}{stream}"));
    let shared = base.run();
    let apart = base.set("cache.sharing", "equal-partitioning").run();
    let hits = |s: &Summary| hit_rate(&s.flows[0].cache);
    assert!(hits(&apart) > 0.9, "{}", hits(&apart));
    assert!(hits(&shared) < 0.5 * hits(&apart), "{} {}", hits(&shared), hits(&apart));
}

/// The neighbour's writes fill the bound on data under way, unless everybody has a bound.
#[test]
fn partitions_have_bounds_of_their_own() {
    let light = flow("light", "write", "iops = 500", 0.0, "requests = 500");
    let heavy = flow("heavy", "write", "queue_depth = 64", 0.0, "size = \"64KiB\"").replacen(
        "size = \"8KiB\"\n",
        "",
        1,
    );
    let base = Scenario::new(DRIVE, &format!("{light}{heavy}"));
    let waits = |s: &Summary| s.flows[0].breakdown_us.cache;
    let (shared, apart) = (base.run(), base.set("cache.sharing", "equal-partitioning").run());
    assert!(waits(&apart) < 0.3 * waits(&shared), "{} {}", waits(&apart), waits(&shared));
}

#[test]
fn merging_in_the_cache_saves_reads_of_old_data() {
    // Halves of pages, written one after the other.
    let halves = "requests = 2000\naddress = \"streaming\"";
    let base = one("write", 0.0, halves)
        .set("flow[0].synthetic.size", "4KiB")
        .set("flow[0].synthetic.align", "4KiB")
        .set("ftl.precondition.warm_cache", false);
    let lazy = base.set("cache.eager_write_back", false).run();
    let eager = base.run();
    let none = base.set("flow[0].cache", "off").run();
    assert_eq!(lazy.flash.user_reads, 0, "both halves are there when the page leaves");
    assert!(none.flash.user_reads > 900, "{}", none.flash.user_reads);
    assert!(eager.flash.user_reads > 900, "the first half does not wait for the second");
}

#[test]
fn a_partial_write_moves_the_whole_page() {
    let base = one("off", 0.0, "requests = 500").set("flow[0].synthetic.size", "512B");
    let bus = |s: &Summary| s.flows[0].breakdown_us.flash_bus;
    let part = base.run();
    let whole = base.set("flow[0].synthetic.size", "8KiB").run();
    // The rest of the page is read first, and programmed with the new sector.
    assert!(bus(&part) > 1.8 * bus(&whole), "{} {}", bus(&part), bus(&whole));
}

#[test]
fn a_simple_cache_writes_everything_and_keeps_nothing() {
    // Fewer pages than the cache holds, written and read over and over.
    let base = one("write", 0.5, "working_set = 0.005\nrequests = 4000");
    let advanced = base.set("cache.eager_write_back", false).run();
    let simple = base.set("cache.mechanism", "simple").run();
    let writes = simple.flows[0].requests.write;
    assert_eq!(advanced.flash.user_programs, 0);
    let programs = whole_run(&simple).user_programs;
    assert_eq!(programs, writes, "every write goes to flash");
    assert!(simple.cache.hits < advanced.cache.hits / 2);
    assert_eq!(advanced.flash.user_reads, 0);
    assert!(simple.flash.user_reads > 1000, "{}", simple.flash.user_reads);
}

#[test]
fn a_tenant_slows_the_other_through_the_memory() {
    // All accesses of both flows hit in the cache, so its memory is the bottleneck.
    let quick = flow("quick", "write", "iops = 2000", 0.0, "working_set = 0.005\nrequests = 1000");
    let busy = flow("busy", "write", "queue_depth = 32", 0.0, "working_set = 0.005");
    let base = Scenario::new(DRIVE, &format!("{quick}{busy}"))
        .set("cache.eager_write_back", false)
        .set("cache.dram.data_rate", "100MT/s");
    let cache = |s: &Summary| s.flows[0].breakdown_us.cache;
    let shared = base.run();
    let turns = base.set("cache.sharing", "equal-partitioning").run();
    let fast = base.set("cache.dram.data_rate", "3200MT/s").run();
    assert!(cache(&shared) > 10.0 * cache(&fast), "{} {}", cache(&shared), cache(&fast));
    assert!(cache(&turns) < 0.3 * cache(&shared), "{} {}", cache(&turns), cache(&shared));
}

#[test]
fn banks_hide_the_opening_of_rows() {
    let base = one("write", 0.0, "working_set = 0.005\nrequests = 2000")
        .set("cache.eager_write_back", false)
        .set("cache.dram.data_rate", "12800MT/s")
        .set("cache.dram.t_rp", "1us")
        .set("cache.dram.t_rcd", "1us")
        .set("flow[0].synthetic.queue_depth", 16);
    let cache = |s: &Summary| s.flows[0].breakdown_us.cache;
    let eight = base.run();
    let single = base.set("cache.dram.banks", 1).run();
    let wide = base.set("cache.dram.banks", 1).set("cache.dram.row", "1MiB").run();
    assert!(cache(&eight) < 0.9 * cache(&single), "{} {}", cache(&eight), cache(&single));
    assert!(cache(&wide) < 0.9 * cache(&single), "{} {}", cache(&wide), cache(&single));
}

/// A mapping cache of 600 entries, seven bytes each.
fn mapped(text: &str) -> Scenario {
    Scenario::new(DRIVE, text)
        .set("ftl.mapping.ideal", false)
        .set("ftl.mapping.cmt_capacity", "4KiB")
}

fn cmt_hits(summary: &Summary, flow: usize) -> f64 {
    hit_rate(&summary.flows[flow].cmt)
}

#[test]
fn a_shared_mapping_cache_is_shared_and_parts_are_not() {
    let local = flow("local", "off", "queue_depth = 1", 1.0, "working_set = 0.02\nrequests = 2000");
    let wide = flow("wide", "off", "queue_depth = 16", 1.0, "");
    let alone = mapped(&local).run();
    let base = mapped(&format!("{local}{wide}"));
    let shared = base.run();
    let apart = base.set("ftl.mapping.sharing", "equal-partitioning").run();
    assert!(cmt_hits(&alone, 0) > 0.95);
    assert!(cmt_hits(&apart, 0) > 0.9, "{}", cmt_hits(&apart, 0));
    assert!(cmt_hits(&shared, 0) < 0.7, "the other flow evicts: {}", cmt_hits(&shared, 0));
    assert!(cmt_hits(&shared, 1) < 0.2, "{}", cmt_hits(&shared, 1));
}

#[test]
fn one_write_back_takes_all_changes_of_a_translation_page() {
    let writes = |address: &str| {
        let rest = format!("requests = 6000\naddress = \"{address}\"");
        mapped(&flow("one", "off", "queue_depth = 4", 0.0, &rest)).run()
    };
    let (stream, random) = (writes("streaming"), writes("uniform"));
    assert!(stream.cmt.writebacks > 0);
    // A stream changes neighbours; a translation page has hundreds of entries.
    assert!(stream.cmt.writebacks * 50 < 6000, "{}", stream.cmt.writebacks);
    assert_eq!(stream.flash.mapping_programs, stream.cmt.writebacks);
    assert!(random.cmt.writebacks > 5 * stream.cmt.writebacks, "{}", random.cmt.writebacks);
}

/// Host blocks of a stream are all invalid when they are collected; what is moved are translation
/// pages.
#[test]
fn collection_moves_translation_pages() {
    let rest = "requests = 60000\naddress = \"streaming\"\nworking_set = 0.5";
    let base = Scenario::new(DRIVE, &flow("one", "off", "queue_depth = 8", 0.0, rest))
        .set("flash.pages_per_block", 8)
        .set("flash.blocks_per_plane", 96)
        .set("ftl.precondition.occupancy", 0.5)
        .set("ftl.gc.victim", "fifo");
    let ideal = base.run();
    let cached = base.set("ftl.mapping.ideal", false).set("ftl.mapping.cmt_capacity", "1KiB").run();
    assert!(cached.flash.mapping_programs > 200, "{}", cached.flash.mapping_programs);
    assert!(cached.flash.erases > ideal.flash.erases);
    assert!(
        cached.flash.gc_programs > ideal.flash.gc_programs + 5,
        "{} cached, {} ideal",
        cached.flash.gc_programs,
        ideal.flash.gc_programs
    );
}

/// Each switch of cache and mapping changes a number that it is about.
#[test]
fn compatibility_switches_of_cache_and_mapping_take_effect() {
    let writes = one("write", 0.3, "requests = 3000\nworking_set = 0.1");
    let halves =
        writes.set("flow[0].synthetic.size", "4KiB").set("flow[0].synthetic.align", "4KiB");
    let uncached = halves.set("flow[0].cache", "off");
    let table = uncached
        .set("ftl.mapping.ideal", false)
        .set("ftl.mapping.cmt_capacity", "1KiB")
        .set("flow[0].synthetic.queue_depth", 16);
    let two = mapped(&format!(
        "{}{}",
        flow("a", "off", "queue_depth = 4", 1.0, "requests = 2000"),
        flow("b", "off", "queue_depth = 4", 1.0, "requests = 2000")
    ));
    let low = format!(
        "{}{}",
        flow("high", "off", "queue_depth = 4", 0.0, "requests = 2000"),
        flow("low", "write", "queue_depth = 64", 0.0, "")
    );
    let low = Scenario::new(DRIVE, &low)
        .set("cache.capacity", "256KiB")
        .set("cache.eager_write_back", false)
        .set("flow[0].priority", "high")
        .set("flow[1].priority", "low")
        .set("scheduler", "priority-out-of-order");
    let empty = table.set("ftl.precondition.enabled", false);
    let half = table.set("ftl.precondition.occupancy", 0.5);
    type Figure = fn(&Summary) -> f64;
    let response: Figure = |s| s.flows[0].response_time_us.mean;
    let programs: Figure = |s| s.flash.user_programs as f64;
    let reads = one("read", 1.0, "requests = 3000\nworking_set = 0.1")
        .set("ftl.precondition.enabled", false)
        .set("ftl.unwritten_read", "flash");
    let cases: [(&str, &Scenario, Figure); 16] = [
        ("scan_at_once", &writes.set("flow[0].synthetic.queue_depth", 32), response),
        // Only reads: what differs is when those of translation pages are sent.
        ("scan_at_once", &two, response),
        ("cache_drops_written", &writes, |s| s.cache.hits as f64),
        ("cache_milestones", &writes.set("cache.hot_epoch", "20ms"), programs),
        ("cache_writes_alone", &halves.set("cache.hot_epoch", "20ms"), response),
        ("urgent_evictions", &low, response),
        ("cache_fills_written", &reads, |s| s.cache.hits as f64),
        ("cold_cache", &writes, |s| s.cache.hits as f64),
        ("partial_writes_in_queue", &uncached, response),
        ("cmt_per_flow", &two, |s| s.cmt.hits as f64),
        ("translation_pages_from_start", &empty, |s| s.flash.mapping_reads as f64),
        ("cmt_reserves", &table, |s| s.cmt.hits as f64),
        ("short_mapping_reads", &table, |s| s.flows[0].breakdown_us.mapping),
        ("unprogrammed_mapping", &table, |s| s.flash.mapping_programs as f64),
        ("first_sectors_only", &uncached, |s| s.flash.user_reads as f64),
        ("scattered_occupancy", &half.set("flow[0].synthetic.working_set", 0.4), response),
    ];
    for (name, scenario, figure) in cases {
        let off = figure(&scenario.run());
        let on = figure(&scenario.set(&format!("compat.{name}"), true).run());
        assert!(off != on, "{name}: {off} either way");
    }
}

/// One page on its way to flash for each plane leaves planes idle by chance: a deep writer is
/// slower through the cache than past it. That is MQSim's bound, so it stays the default, and is
/// warned of; more pages end it.
#[test]
fn a_writer_that_the_cache_slows_down_is_warned_of() {
    let writer = |cache: &str, depth: u32| {
        let workload = format!(
            "[[flow]]\nname = 'w'\ncache = '{cache}'\n[flow.synthetic]\nqueue_depth = {depth}\n\
             read_ratio = 0.0\nsize = '4KiB'\nrequests = 6000\n"
        );
        Scenario::new(include_str!("../../flashlane-config/presets/tiny.toml"), &workload)
    };
    let warned = |scenario: &Scenario| {
        let (device, workload) = scenario.load();
        flashlane::config::validate::warnings(&device, &workload).len()
    };
    let iops = |scenario: &Scenario| scenario.run().flows[0].iops;
    let (bound, free) = (writer("write-read", 32), writer("off", 32));
    let more = bound.set("cache.write_back_pages_per_plane", 4);
    assert_eq!([&bound, &free, &more, &writer("write-read", 8)].map(warned), [1, 0, 0, 0]);
    let (bound, free, more) = (iops(&bound), iops(&free), iops(&more));
    assert!(1.5 * bound < free && more > 0.95 * free, "{bound} {free} {more}");
}
