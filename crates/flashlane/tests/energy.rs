//! Energy and wear by tenant: against arithmetic by hand, and their sums against the drive's.

use crate::common::{SMALL_DRIVE, Scenario};
use flashlane::metrics::{EnergySummary, Summary, WearSummary};
use flashlane::observe::Observe;

/// Two tenants whose writes go straight to flash, a page each, far enough apart to meet nobody.
const PAGE_WRITES: &str = r#"
window = "whole-run"
[[flow]]
name = "a"
cache = "off"
on_end = "stop"
[flow.synthetic]
iops = 1000.0
read_ratio = 0.0
size = "4KiB"
align = "4KiB"
requests = 40
[[flow]]
name = "b"
cache = "off"
on_end = "stop"
[flow.synthetic]
iops = 1000.0
read_ratio = 0.25
size = "4KiB"
align = "4KiB"
requests = 40
"#;

fn metered(device: &str, workload: &str) -> Scenario {
    let mut scenario = Scenario::new(device, workload);
    scenario.options.observe = Observe { energy: true, ..Observe::default() };
    scenario
}

fn energy(summary: &Summary, flow: usize) -> EnergySummary {
    summary.flows[flow].energy.expect("it was counted")
}

fn wear(summary: &Summary, flow: usize) -> WearSummary {
    summary.flows[flow].wear.expect("it was counted")
}

#[test]
fn twice_the_writes_take_twice_the_energy_of_programs() {
    let base = metered(SMALL_DRIVE, PAGE_WRITES).set("energy.program_power", "\"100mW\"");
    let once = base.run();
    let twice = base.set("flow[0].synthetic.requests", 80).run();
    // A page: 100 mW for 500 us are 50 uJ.
    assert_eq!(energy(&once, 0).programs_pj, 40 * 50_000_000);
    assert_eq!(energy(&twice, 0).programs_pj, 2 * energy(&once, 0).programs_pj);
    // 4 KiB at 800 MT/s take 5.12 us, at 100 mW: 512 nJ.
    assert_eq!(energy(&once, 0).transfers_pj, 40 * 512_000);
    assert_eq!((energy(&once, 0).reads_pj, energy(&once, 0).collection_pj), (0, 0));
    let writes = twice.flows[1].requests.write;
    assert_eq!(energy(&twice, 1).programs_pj, writes * 50_000_000, "the other one as before");
    assert_eq!(wear(&twice, 0).programs, 80);
    assert_eq!(wear(&twice, 0).write_amplification, Some(1.0));
    assert_eq!(wear(&twice, 0).share, 80.0 / (80 + writes) as f64);
}

#[test]
fn reads_take_the_power_of_their_arrays() {
    let reads = PAGE_WRITES.replace("read_ratio = 0.0", "read_ratio = 1.0");
    let scenario = metered(SMALL_DRIVE, &reads)
        .set("ftl.unwritten_read", "\"flash\"")
        .set("energy.read_power", "\"80mW\"")
        .set("energy.idle_power", "\"2W\"");
    let summary = scenario.run();
    // tR at 80 mW. The cells do not work in the 20 ns until the controller notices the end.
    assert_eq!(energy(&summary, 0).reads_pj, 40 * 50_000 * 80);
    let idle = (summary.window_end_s - summary.window_start_s) * 2.0 * 1e12;
    let all = summary.energy.expect("it was counted");
    assert!((all.idle_pj as f64 - idle).abs() < 2.0, "{} pJ, 2 W for {idle} pJ", all.idle_pj);
    assert!(energy(&summary, 0).idle_pj - energy(&summary, 1).idle_pj <= 1);
}

/// Whoever fills the blocks pays for their collection, and all of it is paid for.
#[test]
fn tenants_sum_to_the_drive_with_collection_going_on() {
    let workload = PAGE_WRITES
        .replace("cache = \"off\"\n", "")
        .replace("window = \"whole-run\"", "")
        .replacen("iops = 1000.0", "queue_depth = 8", 1)
        .replacen("requests = 40", "requests = 4000", 1)
        .replace("requests = 40\n", "requests = 400\n");
    for (key, value) in [
        ("ftl.gc.copyback", "false"),
        ("ftl.gc.copyback", "true"),
        ("ftl.mapping.kind", "\"hybrid\""),
        ("ftl.mapping.ideal", "false"),
        ("isolation", "\"partitioned\""),
    ] {
        let scenario = metered(SMALL_DRIVE, &workload)
            .set("ftl.precondition.enabled", "true")
            .set("endurance.rated_cycles", 3000)
            .set("energy.idle_power", "\"1W\"")
            .set(key, value);
        let scenario = match key {
            "ftl.mapping.kind" => scenario.set("ftl.mapping.log_blocks", 2),
            _ => scenario,
        };
        let plain = {
            let mut plain = scenario.clone();
            plain.options.observe = Observe::default();
            plain.run()
        };
        let summary = scenario.run();
        let all = summary.energy.expect("it was counted");
        let sum = |of: fn(&EnergySummary) -> u64| -> u64 {
            (0..2).map(|flow| of(&energy(&summary, flow))).sum()
        };
        assert_eq!(sum(|e| e.total_pj), all.total_pj, "{key}");
        assert_eq!(sum(|e| e.collection_pj), all.collection_pj, "{key}");
        let parts = all.reads_pj + all.programs_pj + all.erases_pj + all.transfers_pj;
        assert_eq!(all.total_pj, parts + all.dram_pj + all.idle_pj, "{key}");
        // The expected energy comes from counters of the drive that do not know tenants.
        let flash = &summary.flash;
        let programs = flash.user_programs + flash.gc_programs + flash.mapping_programs;
        let per_page = 82_500 * 500;
        assert_eq!(all.programs_pj, programs * per_page, "{key}");
        assert_eq!(all.erases_pj, flash.erases * 82_500 * 3_000, "{key}");
        let worn = summary.wear.expect("it was counted");
        assert_eq!((worn.programs, worn.erases), (programs, flash.erases), "{key}");
        assert!(flash.erases > 0, "{key}: collection goes on");
        assert!(all.collection_pj > 0 && all.dram_pj > 0, "{key}: {all:?}");
        // Rates of wear add up.
        let rate = |wear: WearSummary| 1.0 / wear.years_to_rated_wear.expect("it is rated");
        let rates = rate(wear(&summary, 0)) + rate(wear(&summary, 1));
        assert!((rates / rate(worn) - 1.0).abs() < 1e-12, "{key}");
        // Counting changes nothing else.
        let mut without = summary.without_clocks();
        (without.energy, without.wear) = (None, None);
        for flow in &mut without.flows {
            (flow.energy, flow.wear) = (None, None);
        }
        assert_eq!(without, plain.without_clocks(), "{key}");
    }
}

#[test]
fn powers_and_cycles_have_limits() {
    use flashlane::config::load::{Overrides, device, workload_from_toml};
    use flashlane::config::validate::validate;
    let workload = workload_from_toml(PAGE_WRITES, "workload", &Overrides::default());
    let workload = workload.expect("valid").config;
    for (set, message) in [
        ("energy.idle_power=101W", "energy.idle_power: found 101W, allowed: 0 W to 100 W"),
        ("energy.read_power=5", "has no unit"),
        ("endurance.rated_cycles=0", "endurance.rated_cycles: found 0, allowed: 1 to 1000000000"),
    ] {
        let overrides = Overrides { sets: vec![set.to_owned()], ..Overrides::default() };
        let found = device("tiny", &overrides).map(|found| validate(&found.config, &workload));
        let text = match found {
            Err(error) => error.to_string(),
            Ok(problems) => {
                problems.iter().map(|one| format!("{}: {}", one.place, one.message)).collect()
            }
        };
        assert!(text.contains(message), "{set}: {text}");
    }
}
