//! One test for each mechanism of the schedulers that FLIN is measured against: `sprinkler`, and
//! the budgets of `sprinkler-fairness`; and of `host-first`, the one of UPI.

use crate::common::{Scenario, run_all};
use flashlane::metrics::Summary;

/// Two channels of two chips, one die of two planes each.
const DRIVE: &str = r#"
name = "schedulers"
scheduler = "sprinkler"
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

/// Random uncached 4 KiB requests.
fn flow(name: &str, load: &str, read_ratio: f64, end: &str) -> String {
    format!(
        r#"
[[flow]]
name = "{name}"
cache = "off"
[flow.synthetic]
{load}
read_ratio = {read_ratio:?}
size = "4KiB"
align = "4KiB"
{end}
"#
    )
}

fn depth(depth: u32) -> String {
    format!("queue_depth = {depth}")
}

fn slowdown(summary: &Summary, flow: usize) -> f64 {
    summary.flows[flow].slowdown.expect("every flow ran alone")
}

fn busy(summary: &Summary) -> f64 {
    summary.chips.iter().map(|chip| chip.busy_fraction).sum::<f64>() / summary.chips.len() as f64
}

#[test]
fn sprinkler_fills_more_planes() {
    let flows = flow("one", &depth(64), 1.0, "requests = 20000");
    let sprinkler = Scenario::new(DRIVE, &flows);
    let runs = run_all(&[sprinkler.clone(), sprinkler.set("scheduler", "out-of-order")]);
    let [deepest, oldest] = [&runs[0], &runs[1]];
    assert!(oldest.flash.multiplane_commands > 1000, "{}", oldest.flash.multiplane_commands);
    let more = deepest.flash.multiplane_commands as f64 / oldest.flash.multiplane_commands as f64;
    assert!(more > 1.08, "{more}");
    assert!(deepest.flows[0].iops > oldest.flows[0].iops);
}

#[test]
fn the_window_bounds_what_sprinkler_ranks() {
    let flows = flow("one", &depth(256), 1.0, "requests = 20000");
    let wide = Scenario::new(DRIVE, &flows);
    let runs = run_all(&[wide.clone(), wide.set("scheduler", "{ sprinkler = { window = 2 } }")]);
    assert!(runs[0].flash.multiplane_commands > runs[1].flash.multiplane_commands);
}

#[test]
fn sprinkler_reads_before_it_writes() {
    let flows = flow("one", &depth(32), 0.5, "requests = 6000");
    let sprinkler = Scenario::new(DRIVE, &flows)
        .set("ftl.precondition.occupancy", 0.4)
        .set("flash.suspend", "{ program = false, erase = false }");
    let runs = run_all(&[sprinkler.clone(), sprinkler.set("scheduler", "fcfs")]);
    let reads = |s: &Summary| s.flows[0].read_response_time_us.mean;
    assert!(reads(&runs[0]) < 0.5 * reads(&runs[1]), "{} {}", reads(&runs[0]), reads(&runs[1]));
}

#[test]
fn sprinkler_collects_semi_preemptively() {
    let flows = flow("one", &depth(8), 0.7, "requests = 20000");
    let semi = Scenario::new(DRIVE, &flows)
        .set("ftl.gc.hard_threshold", "2 blocks")
        .set("ftl.gc.threshold", "8 blocks");
    let runs = run_all(&[semi.clone(), semi.set("ftl.gc.preemptible", false)]);
    let reads = |s: &Summary| s.flows[0].read_response_time_us.mean;
    assert!(runs[0].flash.gc_programs > 1000, "{}", runs[0].flash.gc_programs);
    assert!(reads(&runs[0]) < 0.8 * reads(&runs[1]), "{} {}", reads(&runs[0]), reads(&runs[1]));
}

/// FLIN section 7: its baseline suspends writes and erases for reads. The drive of the paper does
/// so.
#[test]
fn sprinkler_suspends_on_the_drive_of_flin() {
    let drive = "base = \"flin\"\nscheduler = \"sprinkler\"\n[ftl.precondition]\nenabled = false\n\
                 [ftl]\nunwritten_read = \"flash\"";
    let flows = flow("one", &depth(64), 0.5, "requests = 5000");
    let on = Scenario::new(drive, &flows);
    let runs = run_all(&[on.clone(), on.set("flash.suspend.program", false)]);
    assert!(runs[0].flash.program_suspends > 500, "{}", runs[0].flash.program_suspends);
    assert_eq!(runs[1].flash.program_suspends, 0);
    let reads = |s: &Summary| s.flows[0].read_response_time_us.mean;
    assert!(reads(&runs[0]) < 0.8 * reads(&runs[1]), "{} {}", reads(&runs[0]), reads(&runs[1]));
    let (device, _) = on.load();
    assert!(device.flash.suspend.erase, "and erases");
}

/// Budgets in short rounds, with further keys.
fn budgets(keys: &str) -> String {
    let limit = if keys.contains("limit") { "" } else { "limit = \"100ms\", " };
    format!("{{ sprinkler-fairness = {{ round = \"10ms\", {limit}{keys} }} }}")
}

/// A light flow beside one that takes all it gets.
fn tenants(light: &str) -> Scenario {
    let flows = flow("light", light, 1.0, "duration = \"300ms\"")
        + &flow("heavy", &depth(128), 1.0, "duration = \"300ms\"");
    let mut scenario = Scenario::new(DRIVE, &flows).set("scheduler", budgets("").as_str());
    scenario.options.alone = true;
    scenario
}

#[test]
fn budgets_protect_a_light_flow_and_may_leave_dies_idle() {
    // One request at a time, without a pause.
    let base = tenants(&depth(1));
    let idle = base.set("scheduler", budgets("work_conserving = false").as_str());
    let runs = run_all(&[idle, base.clone(), base.set("scheduler", "sprinkler")]);
    let [idle, served, free] = [&runs[0], &runs[1], &runs[2]];
    assert!(slowdown(idle, 0) < 0.5 * slowdown(free, 0));
    // The price: the heavy flow is throttled although there is room.
    assert!(slowdown(idle, 1) > 1.5 * slowdown(free, 1));
    assert!(idle.flows[1].iops < 0.7 * free.flows[1].iops);
    assert!(busy(idle) < 0.8 * busy(free), "{} {}", busy(idle), busy(free));
    // Dies that have nothing else to do serve it, and the light one still goes first.
    let [of_idle, of_budgets, of_free] = [idle, served, free].map(|run| slowdown(run, 0));
    println!("light: {of_idle:.2} {of_budgets:.2} {of_free:.2}");
    assert!(of_budgets < 0.8 * of_free, "{of_budgets} {of_free}");
    assert!(served.flows[1].iops > 1.2 * idle.flows[1].iops);
    assert!(busy(served) > 0.98 * busy(free), "{} {}", busy(served), busy(free));
}

/// A reader without budget beside a writer with budget: budgets decide among reads and among
/// writes, and reads go before writes as under Sprinkler.
#[test]
fn reads_without_budget_go_before_writes() {
    let flows = flow("writer", &depth(2), 0.0, "duration = \"300ms\"")
        + &flow("reader", &depth(128), 1.0, "duration = \"300ms\"");
    let base = Scenario::new(DRIVE, &flows);
    let with = |scheduler: &str| base.set("scheduler", scheduler);
    let runs = run_all(&[
        with("sprinkler"),
        with(&budgets("")),
        with(&budgets("work_conserving = false")),
    ]);
    let [free, served, idle] = [0, 1, 2].map(|run| runs[run].flows[1].read_response_time_us.mean);
    println!("reads: {free:.0} {served:.0} {idle:.0} us");
    // Fewer reads to choose among cover fewer planes.
    assert!(served < 1.5 * free, "{served} {free}");
    assert!(idle > 3.0 * free, "{idle} {free}");
}

#[test]
fn a_flow_that_pauses_gives_its_round_away() {
    let base = tenants("iops = 8000.0");
    let [long, base] = ["5ms", "100us"].map(|idle| {
        let idle = format!("idle = \"{idle}\", work_conserving = false");
        base.set("scheduler", budgets(&idle).as_str())
    });
    let runs = run_all(&[long, base]);
    assert!(runs[1].flows[1].iops > 1.2 * runs[0].flows[1].iops);
}

#[test]
fn weights_and_limits_shape_budgets() {
    let base = tenants(&depth(1)).set("flow[1].priority", "urgent");
    let [base, heavier, limited] = ["low = 1", "urgent = 4", "limit = \"10ms\""].map(|key| {
        let key = format!("work_conserving = false, {key}");
        base.set("scheduler", budgets(&key).as_str())
    });
    let runs = run_all(&[base, heavier, limited]);
    assert!(runs[1].flows[1].iops > 1.2 * runs[0].flows[1].iops, "four times the budget");
    assert!(runs[2].flows[1].iops > 1.2 * runs[0].flows[1].iops, "shorter rounds");
}

/// Two flows that write alike: one all over a full drive, one in a stream that leaves nothing to
/// copy.
#[test]
fn compensation_charges_collection_to_its_cause() {
    let flows = flow("copied", &depth(32), 0.0, "duration = \"1s\"")
        + &flow("clean", &depth(32), 0.0, "duration = \"1s\"\naddress = \"streaming\"");
    let base = Scenario::new(DRIVE, &flows).set("ftl.precondition.occupancy", 1.0);
    let with = |keys: &str| base.set("scheduler", budgets(keys).as_str());
    let runs = run_all(&[
        with("work_conserving = false"),
        with("work_conserving = false, gc_compensation = false"),
        with(""),
        with("gc_compensation = false"),
    ]);
    let share = |s: &Summary| s.flows[0].iops / s.flows[1].iops;
    assert!(runs[0].flash.gc_programs > 1000, "{}", runs[0].flash.gc_programs);
    assert!(share(&runs[0]) < 0.8 * share(&runs[1]), "{} {}", share(&runs[0]), share(&runs[1]));
    // What the budgets leave idle goes to both.
    assert!(share(&runs[2]) < 0.9 * share(&runs[3]), "{} {}", share(&runs[2]), share(&runs[3]));
}

/// Nobody else has use for its rounds, so the next one begins as soon as one is used up.
#[test]
fn a_flow_alone_is_served_as_by_sprinkler() {
    let flows = flow("one", &depth(128), 0.6, "requests = 20000");
    let with = Scenario::new(DRIVE, &flows).set("scheduler", budgets("").as_str());
    let runs = run_all(&[with.clone(), with.set("scheduler", "sprinkler")]);
    assert_eq!(runs[0].flows[0], runs[1].flows[0]);
    assert_eq!(runs[0].flash, runs[1].flash);
    assert_eq!(runs[0].events, runs[1].events, "no alarms");
}

#[test]
fn budgets_repeat_themselves() {
    let base = tenants(&depth(1));
    let runs = run_all(&[base.clone(), base]);
    assert_eq!(runs[0].flows, runs[1].flows);
    assert_eq!(runs[0].events, runs[1].events);
}

/// The heavy flow is held back until the light one ends, which sets an alarm that nothing needs any
/// more.
#[test]
fn alarms_do_not_outlive_the_work() {
    let flows = flow("light", "iops = 12000.0", 1.0, "duration = \"10ms\"")
        + &flow("heavy", &depth(128), 1.0, "requests = 5000");
    let text = budgets("limit = \"10s\", idle = \"20ms\", work_conserving = false");
    let summary = Scenario::new(DRIVE, &flows)
        .set("scheduler", text.as_str())
        .set("flow[0].on_end", "stop")
        .set("flow[1].on_end", "stop")
        .run();
    assert!(summary.simulated_s < 1.0, "{} s", summary.simulated_s);
    assert!(summary.simulated_s > 0.03, "held back for a while: {} s", summary.simulated_s);
}

/// A program that waits for the read of its old data keeps the chip from nothing, even where the
/// read is on another die and the chip takes one command at a time.
#[test]
fn a_blocked_program_leaves_the_other_dies_of_its_chip_alone() {
    let flows = flow("one", &depth(32), 0.5, "requests = 3000").replace("4KiB", "2KiB");
    let base = Scenario::new(DRIVE, &flows)
        .set("flash.dies_per_chip", 3)
        .set("compat.one_die_per_dispatch", true)
        .set("ftl.allocation", "dynamic")
        .set("compat.partial_writes_in_queue", true);
    for name in flashlane::policy::Scheduling::NAMES {
        base.set("scheduler", name).run();
    }
}

/// UPI section 4: "host requests have precedence over GC requests".
#[test]
fn host_first_lets_collection_wait_and_keeps_the_order_of_the_host() {
    let flows = flow("one", "iops = 3000.0", 0.7, "requests = 20000");
    let first = Scenario::new(DRIVE, &flows)
        .set("scheduler", "host-first")
        .set("ftl.gc.hard_threshold", "2 blocks")
        .set("ftl.gc.threshold", "8 blocks");
    let runs = run_all(&[
        first.clone(),
        first.set("ftl.gc.preemptible", false),
        first.set("scheduler", "fcfs"),
    ]);
    let reads = |s: &Summary| s.flows[0].read_response_time_us.p99;
    assert!(runs[0].flash.gc_programs > 1000, "{}", runs[0].flash.gc_programs);
    for other in &runs[1..] {
        assert!(reads(&runs[0]) < 0.6 * reads(other), "{} {}", reads(&runs[0]), reads(other));
    }

    let flows = flow("one", &depth(32), 0.5, "requests = 6000");
    let idle = Scenario::new(DRIVE, &flows)
        .set("ftl.precondition.occupancy", 0.4)
        .set("scheduler", "host-first");
    let runs = run_all(&[idle.clone(), idle.set("scheduler", "out-of-order")]);
    let reads = |s: &Summary| s.flows[0].read_response_time_us.mean;
    assert!(reads(&runs[1]) < 0.6 * reads(&runs[0]), "reads pass no writes: {}", reads(&runs[0]));
}
