//! Against theory: write amplification of uniform random writes on mapping units smaller than a
//! page. A block has 512 units, so that the units with which collection completes its last page of
//! each victim, 1.5 on average, weigh little.

use crate::common::{Scenario, run_all};
use flashlane::Warmup;
use flashlane::config::bounds::Capacity;
use flashlane::policy::Victim;

/// One plane with pages of four units.
const ONE_PLANE: &str = r#"
name = "one plane"
[link]
lanes = 32
lane_bandwidth = "1000GB/s"
[interface]
firmware_time = "0ns"
fetch_ahead = 65535
queue_fetch_size = 65535
[ftl]
mapping.unit = "4KiB"
gc.threshold = "4 blocks"
gc.hard_threshold = "2 blocks"
[flash]
technology = "slc"
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 512
pages_per_block = 128
page_size = "16KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

/// Uniform random writes of units, no cache.
const WRITES: &str = r#"
[[flow]]
name = "writes"
cache = "off"
[flow.synthetic]
queue_depth = 64
size = "4KiB"
align = "4KiB"
requests = 1
"#;

/// Units and their share of the blocks that are neither free nor open.
fn utilisation(scenario: &Scenario) -> (u64, f64) {
    let (device, workload) = scenario.load();
    let layout = workload.layout(&device);
    let geometry = layout.geometry;
    let threshold = device.ftl.gc.threshold.blocks(geometry.blocks_per_plane);
    let outside = u64::from(geometry.planes() * (threshold + 2) * geometry.pages_per_block);
    (
        layout.logical_pages,
        layout.logical_pages as f64 / (Capacity::new(&layout).pages - outside) as f64,
    )
}

#[test]
fn random_units_are_amplified_as_the_closed_form_for_units_says() {
    let victims = ["greedy", "rga", "fifo"];
    let spares = [0.125, 0.28];
    let cases: Vec<(&str, f64)> =
        victims.iter().flat_map(|&v| spares.map(|spare| (v, spare))).collect();
    let scenarios: Vec<Scenario> = cases
        .iter()
        .flat_map(|&(victim, spare)| {
            let drive = Scenario::new(ONE_PLANE, WRITES)
                .set("ftl.gc.victim", victim)
                .set("ftl.over_provisioning", spare);
            let (units, _) = utilisation(&drive);
            let mut timed = drive.set("flow[0].synthetic.requests", 4 * units);
            timed.options.check = false;
            timed.options.warmup = Warmup::Requests(2 * units);
            let mut untimed = timed.clone();
            untimed.options.waf_only = true;
            [timed, untimed]
        })
        .collect();
    let (runs, mut failures) = (run_all(&scenarios), Vec::new());
    for (&(victim, spare), runs) in cases.iter().zip(runs.chunks(2)) {
        let drive = Scenario::new(ONE_PLANE, WRITES).set("ftl.over_provisioning", spare);
        let (_, rho) = utilisation(&drive);
        let policy = Victim::by_name(victim).expect("registered");
        let predicted = policy.steady_state(rho, 512, 512).write_amplification;
        for (run, kind) in runs.iter().zip(["timed", "without time"]) {
            let found = run.flash.write_amplification;
            let error = found / predicted - 1.0;
            println!("{victim} {spare} {kind}: {found:.4}, theory {predicted:.4}, {error:+.3}");
            failures.extend(
                (error.abs() > 0.03).then(|| format!("{victim} at {spare} {kind}: {found}")),
            );
        }
    }
    assert!(failures.is_empty(), "outside: {failures:?}");
}
