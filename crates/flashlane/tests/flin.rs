//! FLIN at the level of the drive: who it protects, what it costs, and what bounds a wait.

mod common;

use common::{Scenario, run_all};
use flashlane::metrics::Summary;

/// The drive of the paper on an empty state: every read costs a flash access.
const DRIVE: &str = r#"
base = "flin"
scheduler = "flin"
[ftl.precondition]
enabled = false
[ftl]
unwritten_read = "flash"
"#;

/// Random uncached 8 KiB requests.
fn flow(name: &str, load: &str, read_ratio: f64, duration: &str) -> String {
    format!(
        r#"
[[flow]]
name = "{name}"
cache = "off"
[flow.synthetic]
{load}
read_ratio = {read_ratio:?}
size = "8KiB"
align = "8KiB"
duration = "{duration}"
"#
    )
}

fn alone(mut scenario: Scenario) -> Scenario {
    scenario.options.alone = true;
    scenario.options.check = false;
    scenario
}

fn slowdown(summary: &Summary, flow: usize) -> f64 {
    summary.flows[flow].slowdown.expect("every flow ran alone")
}

#[test]
fn a_light_flow_is_protected_and_the_heavy_one_keeps_its_throughput() {
    let flows = flow("light", "bandwidth = \"16MB/s\"", 1.0, "200ms")
        + &flow("heavy", "queue_depth = 256", 1.0, "200ms");
    let flin = alone(Scenario::new(DRIVE, &flows));
    let runs = run_all(&[flin.clone(), flin.set("scheduler", "fcfs")]);
    let [flin, fcfs] = [&runs[0], &runs[1]];
    assert!(slowdown(fcfs, 0) > 5.0, "{}", slowdown(fcfs, 0));
    assert!(slowdown(flin, 0) < 3.0, "{}", slowdown(flin, 0));
    assert!(flin.flows[1].iops > 0.9 * fcfs.flows[1].iops);
}

#[test]
fn without_insertion_the_light_flow_waits() {
    let flows = flow("light", "bandwidth = \"16MB/s\"", 1.0, "200ms")
        + &flow("heavy", "queue_depth = 256", 1.0, "200ms");
    let all = alone(Scenario::new(DRIVE, &flows));
    let rest =
        all.set("scheduler", "{ flin = { stages = [\"arbitration\", \"wait-balancing\"] } }");
    let runs = run_all(&[all, rest]);
    assert!(slowdown(&runs[1], 0) > 3.0 * slowdown(&runs[0], 0));
}

#[test]
fn wait_balancing_spares_writes_the_precedence_of_reads() {
    // Reads keep every chip busy: by precedence a write waits until a chip runs out of them.
    let flows = flow("reader", "queue_depth = 256", 1.0, "200ms")
        + &flow("writer", "queue_depth = 8", 0.0, "200ms");
    // Without suspension, which gives reads back what balancing takes from them.
    let all = alone(Scenario::new(DRIVE, &flows)).set("flash.suspend.program", false);
    let rest = all.set("scheduler", "{ flin = { stages = [\"insertion\", \"arbitration\"] } }");
    let runs = run_all(&[all, rest]);
    let [balanced, reads_first] = [&runs[0], &runs[1]];
    let worst = |s: &Summary| slowdown(s, 0).max(slowdown(s, 1));
    assert!(slowdown(balanced, 1) < 0.7 * slowdown(reads_first, 1));
    assert!(worst(balanced) < worst(reads_first));
}

#[test]
fn higher_priorities_are_served_sooner() {
    // Fig. 16: four alike flows of four classes.
    let flows: String = ["low", "medium", "high", "urgent"]
        .iter()
        .map(|class| {
            flow(class, "queue_depth = 64", 1.0, "100ms")
                .replace("[flow.synthetic]", &format!("priority = \"{class}\"\n[flow.synthetic]"))
        })
        .collect();
    let all = alone(Scenario::new(DRIVE, &flows));
    let rest = all.set("scheduler", "{ flin = { stages = [\"insertion\", \"wait-balancing\"] } }");
    let runs = run_all(&[all, rest]);
    let ordered: Vec<f64> = (0..4).map(|flow| slowdown(&runs[0], flow)).collect();
    assert!(ordered.is_sorted_by(|low, high| *low > 1.2 * high), "{ordered:?}");
    let alike: Vec<f64> = (0..4).map(|flow| slowdown(&runs[1], flow)).collect();
    assert!(alike.iter().all(|s| (s / alike[0] - 1.0).abs() < 0.1), "{alike:?}");
}

#[test]
fn a_single_reader_is_served_as_first_come_first_served() {
    let flows = flow("one", "queue_depth = 64", 1.0, "50ms");
    let flin = Scenario::new(DRIVE, &flows).set("flash.planes_per_die", 1);
    let runs = run_all(&[flin.clone(), flin.set("scheduler", "fcfs")]);
    assert_eq!(runs[0].flows[0].response_time_us, runs[1].flows[0].response_time_us);
    assert_eq!(runs[0].flash, runs[1].flash);
}

#[test]
fn an_age_limit_ends_starvation_by_low_intensity_flows() {
    // Eight flows below the threshold of intensity (set high) load one chip beyond its capacity; the
    // heavy flow, of high intensity, stands behind them for ever.
    let many: String =
        (0..8).map(|n| flow(&format!("low-{n}"), "iops = 1500.0", 1.0, "200ms")).collect();
    let flows = many + &flow("high", "queue_depth = 512", 1.0, "200ms");
    let base = Scenario::new(DRIVE, &flows)
        .set("flash.channels", 1)
        .set("flash.chips_per_channel", 1)
        .set("flash.planes_per_die", 1)
        .set("flash.blocks_per_plane", 512);
    let threshold = "read_intensity = \"16MB/s\", epoch = \"5ms\"";
    let starved = base.set("scheduler", format!("{{ flin = {{ {threshold} }} }}")).try_run();
    let error = starved.expect_err("nothing bounds the wait").to_string();
    assert!(error.contains("flow 8 has had no completion"), "{error}");
    let limit = "age_limit = \"40ms\"";
    base.set("scheduler", format!("{{ flin = {{ {threshold}, {limit} }} }}")).run();
}
