//! Admission of writes by rate: flat latency below the rate that the flash sustains, a smooth one
//! above it, merges, readers, tenants, and what is refused.

use crate::common::{Scenario, problems, run_all, tenant};
use flashlane::config::load::{Overrides, device_from_toml};
use flashlane::drive::{Command, Drive, DriveOptions, Tenant};
use flashlane::metrics::Summary;
use flashlane::metrics::summary::{FlowSummary, Latency};
use flashlane::observe::Blame;
use flashlane::{Time, Warmup, simulate_in_detail};

/// 16 planes that collect whole blocks at a time, behind a buffer of 8 MiB.
const DRIVE: &str = r#"
name = "a buffer"
[cache]
mechanism = "simple"
write_back_pages_per_plane = 128
[ftl]
over_provisioning = "28%"
gc.victim = "greedy"
[flash]
technology = "slc"
channels = 4
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 128
pages_per_block = 64
page_size = "4KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["300us"]
erase_time = "3ms"
"#;

/// Keys of a tenant that writes pages at random, and of one that reads them past the cache.
const WRITES: &str = "read_ratio = 0.0";
const READS: &str = "read_ratio = 1.0";

const RATE: &str = "cache.admission";

fn flow(name: &str, cache: &str, kind: &str, pace: &str, requests: u32) -> String {
    let pages = "size = \"4KiB\"\nalign = \"4KiB\"";
    tenant(name, cache, &format!("{kind}\n{pace}\n{pages}\nrequests = {requests}"))
}

/// A scenario on the drive without audits, which take long, after `warmup` requests.
fn on_drive(flows: &str, warmup: u64) -> Scenario {
    let mut scenario = Scenario::new(DRIVE, flows);
    scenario.options.check = false;
    scenario.options.warmup = Warmup::Requests(warmup);
    scenario
}

/// A writer that keeps `depth` requests outstanding.
fn closed(depth: u32) -> Scenario {
    let pace = format!("queue_depth = {depth}");
    on_drive(&flow("writer", "write", WRITES, &pace, 140_000), 50_000)
}

/// A writer with a rate.
fn open(iops: f64) -> String {
    flow("writer", "write", WRITES, &format!("iops = {iops:.1}"), 120_000)
}

/// Both ways of admission.
fn both(base: &Scenario) -> [Scenario; 2] {
    [base.set(RATE, "slots"), base.set(RATE, "rate")]
}

fn writer(run: &Summary) -> &FlowSummary {
    run.flows.iter().find(|flow| flow.name == "writer").expect("a writer")
}

fn print(what: &str, flow: &FlowSummary) {
    let Latency { mean, p50, p99, p99_9, max, .. } = flow.write_response_time_us;
    let iops = flow.iops;
    println!("{what}: {iops:.0} IOPS, mean {mean:.1}, {p50:.1} {p99:.1} {p99_9:.1} {max:.1} us");
}

/// The rate that the flash sustains under random writes.
fn sustained() -> f64 {
    writer(&closed(64).run()).iops
}

#[test]
fn below_the_sustained_rate_writes_take_the_time_of_the_buffer() {
    let rate = sustained();
    let idle =
        writer(&on_drive(&open(rate / 1000.0), 100).set("flow[0].synthetic.requests", 2_000).run())
            .write_response_time_us;
    for share in [0.2, 0.5, 0.8] {
        let base = on_drive(&open(share * rate), 40_000);
        let runs = run_all(&both(&base));
        let found = writer(&runs[1]).write_response_time_us;
        print(&format!("rate at {share}"), writer(&runs[1]));
        assert!((found.mean / idle.mean - 1.0).abs() < 0.01, "{share}: {found:?}, idle {idle:?}");
        // The memory is busy with another write or a write-back now and then.
        assert!(found.p99 < idle.p99 + 0.5, "{share}: {found:?}, idle {idle:?}");
        assert!(runs[1].flash.gc_programs > 0, "{share}: collection runs");
        let admission = runs[1].admission.expect("admission by rate");
        assert_eq!(admission.paced, 0, "{share}: the fill stays below the mark");
        assert_eq!(found, writer(&runs[0]).write_response_time_us, "{share}: as with slots");
    }
}

#[test]
fn above_the_sustained_rate_latency_is_smooth() {
    for depth in [32, 256] {
        let runs = run_all(&both(&closed(depth)));
        let [slots, rate] = [0, 1].map(|at| writer(&runs[at]));
        print(&format!("slots {depth}"), slots);
        print(&format!("rate {depth}"), rate);
        assert!((rate.iops / slots.iops - 1.0).abs() < 0.02, "{} {}", rate.iops, slots.iops);
        let [before, after] = [slots, rate].map(|flow| flow.write_response_time_us);
        let little = f64::from(depth) / rate.iops * 1e6;
        assert!((after.mean / little - 1.0).abs() < 0.05, "{} {little}", after.mean);
        let [jumpy, smooth] = [before, after].map(|times| times.p99_9 / times.p50);
        println!("p99.9 / p50: slots {jumpy:.2}, rate {smooth:.2}");
        assert!(smooth < 1.0 + (jumpy - 1.0) / 2.0, "{depth}: {smooth}, slots {jumpy}");
        let admission = runs[1].admission.expect("admission by rate");
        let drain = admission.drain_bytes_per_s / 4096.0;
        assert!((drain / rate.iops - 1.0).abs() < 0.02, "{drain} {}", rate.iops);
        assert!(runs[0].admission.is_none());
    }
}

#[test]
fn rewrites_of_few_pages_merge() {
    let base = closed(16)
        .set("cache.mechanism", "advanced")
        .set("cache.hot_epoch", "1000s")
        .set("flow[0].synthetic.working_set", 0.01);
    let runs = run_all(&both(&base));
    for run in &runs {
        let written = run.flash.user_programs as f64 / writer(run).requests.write as f64;
        println!("programs of a write: {written:.4}");
        assert!(written < 0.001, "{written}");
    }
    let [slots, rate] = [0, 1].map(|at| writer(&runs[at]).write_response_time_us);
    assert_eq!(slots, rate);
}

#[test]
fn changed_pages_that_are_evicted_fill_the_buffer_too() {
    let base = closed(64).set("cache.mechanism", "advanced").set("cache.eager_write_back", false);
    let runs = run_all(&both(&base.set("cache.capacity", "16MiB")));
    let [slots, rate] = [0, 1].map(|at| writer(&runs[at]));
    print("slots, on eviction", slots);
    print("rate, on eviction", rate);
    assert!((rate.iops / slots.iops - 1.0).abs() < 0.03, "{} {}", rate.iops, slots.iops);
    let [jumpy, smooth] =
        [slots, rate].map(|flow| flow.write_response_time_us).map(|times| times.p99_9 / times.p50);
    assert!(smooth < 0.7 * jumpy, "{smooth} {jumpy}");
}

#[test]
fn a_reader_beside_a_writer_is_served_as_before() {
    let rate = sustained();
    let flows = open(0.5 * rate) + &flow("reader", "off", READS, "iops = 1000.0", 20_000);
    let runs = run_all(&both(&on_drive(&flows, 40_000)));
    let reads = |run: &Summary| {
        let flow = run.flows.iter().find(|flow| flow.name == "reader").expect("a reader");
        flow.read_response_time_us
    };
    let [slots, rate] = [0, 1].map(|at| reads(&runs[at]));
    println!("reads beside a writer below the knee: {} {} us", slots.p99, rate.p99);
    assert!(rate.p99 <= slots.p99 && rate.mean <= slots.mean);
    // Above the sustained rate as well.
    let flows = flow("writer", "write", WRITES, "queue_depth = 64", 100_000)
        + &flow("reader", "off", READS, "iops = 1000.0", 10_000);
    let runs = run_all(&both(&on_drive(&flows, 40_000)));
    let [slots, rate] = [0, 1].map(|at| reads(&runs[at]));
    println!("reads beside a writer above the knee: {} {} us", slots.p99, rate.p99);
    assert!(rate.p99 < 1.05 * slots.p99, "{} {}", rate.p99, slots.p99);
}

/// The part of the waiting of a flow that blame charges to another one.
fn blamed(blame: &Blame, flow: &str, other: &str) -> f64 {
    let victim = blame.victims.iter().find(|row| row.flow == flow).expect("a flow");
    victim.by_culprit(other) as f64 / victim.waiting_ps as f64
}

/// The wait for the pace is time in the cache, and blame finds all of it.
#[test]
fn the_wait_is_time_in_the_cache_that_the_writers_cause() {
    let flows = flow("writer", "write", WRITES, "queue_depth = 48", 60_000)
        + &flow("light", "write", WRITES, "iops = 200.0", 1_000);
    let mut base = Scenario::new(DRIVE, &flows);
    base.options.warmup = Warmup::Requests(30_000);
    base.options.observe.blame = true;
    let run = |admission: &str, sharing: &str| {
        let scenario = base.set(RATE, admission).set("cache.sharing", sharing);
        let (device, workload) = scenario.load();
        let (run, details) =
            simulate_in_detail(&device, &workload, &base.options, &|_| {}).expect("it ends");
        let [heavy, light] = ["writer", "light"].map(|name| {
            let flow = run.flows.iter().find(|flow| flow.name == name).expect("a flow");
            print(&format!("{admission}, {sharing}, {name}"), flow);
            let b = flow.breakdown_us;
            let flash = b.mapping + b.flash_queue + b.flash_bus + b.flash_array;
            assert_eq!(flash, 0.0, "a write ends in the buffer");
            let sum = b.submission + b.transfer_in + b.firmware + b.cache + b.transfer_out;
            assert!((sum / flow.end_to_end_us.mean - 1.0).abs() < 1e-3, "{sum}: {flow:?}");
            flow.write_response_time_us.mean
        });
        let share = blamed(&details.blame.expect("it was asked for"), "light", "writer");
        println!("{admission}, {sharing}: light waits for writer: {share:.3}");
        (heavy, light, share)
    };
    // One queue for all flows that share the buffer.
    let (heavy, light, share) = run("rate", "shared");
    assert!((light / heavy - 1.0).abs() < 0.1, "in one queue: {light} {heavy}");
    let (.., with_slots) = run("slots", "shared");
    assert!(share > 0.7 && (share - with_slots).abs() < 0.1, "{share}, with slots {with_slots}");
    let (_, light, _) = run("rate", "equal-partitioning");
    assert!(light < 10.0, "a buffer of its own: {light}");
}

/// Units that share a page of the flash wait for it as a part of the fill.
#[test]
fn units_smaller_than_a_page_are_admitted_alike() {
    let base = closed(64)
        .set("flash.page_size", "16KiB")
        .set("ftl.mapping.unit", "4KiB")
        .set("flash.blocks_per_plane", 64)
        .set("ftl.over_provisioning", "60%")
        .set("cache.write_back_pages_per_plane", 64);
    let runs = run_all(&both(&base));
    let [slots, rate] = [0, 1].map(|at| writer(&runs[at]));
    print("slots, units", slots);
    print("rate, units", rate);
    // How many pages collection pads is not the same.
    let faster = rate.iops / slots.iops;
    assert!((0.95..1.15).contains(&faster), "{} {}", rate.iops, slots.iops);
    let [jumpy, smooth] =
        [slots, rate].map(|flow| flow.write_response_time_us).map(|times| times.p99_9 / times.p50);
    assert!(smooth < 0.7 * jumpy, "{smooth} {jumpy}");
}

/// Admission comes before all that schedulers and isolation decide, so it goes with each.
#[test]
fn every_scheduler_and_isolation_goes_with_it() {
    let flows = flow("writer", "write", WRITES, "queue_depth = 48", 6_000)
        + &flow("other", "write-read", "read_ratio = 0.5", "queue_depth = 8", 3_000);
    let base = Scenario::new(DRIVE, &flows)
        .set(RATE, "rate")
        .set("cache.mechanism", "advanced")
        .set("cache.hot_epoch", "2ms")
        .set("cache.admission_window", 64)
        .set("cache.write_back_pages_per_plane", 2);
    for (key, value) in [
        ("scheduler", "flin"),
        ("scheduler", "fcfs"),
        ("scheduler", "sprinkler-fairness"),
        ("isolation", "partitioned"),
        ("isolation", "upi"),
        ("cache.sharing", "equal-partitioning"),
        ("power_loss_protection", "true"),
    ] {
        let run = base.set(key, value).run();
        let paced = run.admission.expect("by rate").paced;
        assert!(paced > 100, "{key} {value}: {paced}");
    }
}

/// Admission decides when a page enters the buffer, so it does not change what is amplified.
#[test]
fn the_amplification_is_that_of_a_run_without_time() {
    let timed = closed(64).set(RATE, "rate");
    let mut untimed = timed.clone();
    untimed.options.waf_only = true;
    let runs = run_all(&[timed, untimed]);
    let [timed, untimed] = [0, 1].map(|at| runs[at].flash.write_amplification);
    println!("write amplification: {timed:.3}, without time {untimed:.3}");
    assert!((timed / untimed - 1.0).abs() < 0.03, "{timed} {untimed}");
    assert!(runs[1].admission.is_none());
}

#[test]
fn a_snapshot_keeps_the_pace() {
    let sets = [r#"cache.admission="rate""#, "cache.write_back_pages_per_plane=2"];
    let overrides = Overrides { sets: sets.map(str::to_owned).to_vec(), ..Overrides::default() };
    let device = device_from_toml(DRIVE, "device", &overrides).expect("a device").config;
    let options = DriveOptions { check: true, ..DriveOptions::default() };
    let mut drive =
        Drive::with_options(&device, &[Tenant::named("writer")], 1, &options).expect("a drive");
    for cookie in 0..3_000_u64 {
        let command = Command::write(8 * (cookie * 1367 % 5_000), 8);
        drive.submit(Time(cookie * 20_000_000), 0, command, cookie).expect("it is accepted");
    }
    drive.advance(Time(30_000_000_000), &mut Vec::new()).expect("it goes on");
    let snapshot = drive.snapshot().expect("a snapshot");
    let rest = |drive: &mut Drive| {
        let mut done = Vec::new();
        drive.advance(Time(1_000_000_000_000), &mut done).expect("it goes on");
        done
    };
    let first = rest(&mut drive);
    drive.restore(&snapshot);
    assert_eq!(first, rest(&mut drive));
    assert!(first.len() > 1_000);
    let paced = drive.summary().expect("a summary").admission.expect("by rate").paced;
    assert!(paced > 500, "{paced}");
}

#[test]
fn what_has_no_buffer_is_refused() {
    let rate = r#"cache.admission="rate""#;
    let refused = |set: &str, part: &str| {
        let found = problems(DRIVE, &[rate, set]);
        assert!(found.iter().any(|line| line.contains(part)), "{set}: {found:?}");
    };
    assert!(problems(DRIVE, &[rate]).is_empty());
    refused("cache.capacity=0B", "there is no data cache");
    refused("compat.cache_drops_leaving=true", "switches of compat");
    refused("cache.admission_mark=0.96", "cache.admission_mark");
    refused("cache.admission_window=15", "cache.admission_window");
}
