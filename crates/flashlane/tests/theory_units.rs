//! Against theory: write amplification of uniform random writes on mapping units that are
//! programmed together: units smaller than a page, and pages of a word line. A block has so many
//! units that those with which collection completes its last page or word line of each victim weigh
//! little: `(n - 1) / 2` on average, if `n` are programmed together.

use crate::common::{Scenario, flash_only, random_writes, run_all, utilisation};
use flashlane::Warmup;
use flashlane::policy::Victim;

/// One plane with pages of four units, and uniform random writes of units.
fn drive() -> Scenario {
    let device = flash_only("mapping.unit = \"4KiB\"", [1; 4], [512, 128], "16KiB");
    Scenario::new(&device, &random_writes(64))
}

/// One plane of one-shot TLC with pages of 4 KiB, and uniform random writes of pages.
fn word_lines() -> Scenario {
    let device = flash_only("", [1; 4], [512, 510], "4KiB");
    Scenario::new(&device, &random_writes(64))
        .set("flash.technology", "tlc")
        .set("flash.programming", "one-shot")
        .set("flash.page_order", "turns")
}

/// One plane of one-shot QLC whose word lines hold 16 units: 4 pages of four.
fn word_lines_of_units() -> Scenario {
    let device = flash_only("mapping.unit = \"4KiB\"", [1; 4], [256, 256], "16KiB");
    Scenario::new(&device, &random_writes(64))
        .set("flash.technology", "qlc")
        .set("flash.programming", "one-shot")
}

/// The same in two passes.
fn word_lines_in_two_passes() -> Scenario {
    word_lines()
        .set("flash.programming", "two-pass")
        .set("flash.program_time", "[\"150us\", \"350us\"]")
}

#[test]
fn random_units_are_amplified_as_the_closed_form_for_units_says() {
    compare(&drive(), 512, &["greedy", "rga", "fifo"]);
}

#[test]
fn pages_of_word_lines_are_amplified_as_single_pages_are() {
    compare(&word_lines(), 510, &["greedy", "fifo"]);
}

#[test]
fn two_passes_amplify_as_one_does() {
    compare(&word_lines_in_two_passes(), 510, &["greedy", "fifo"]);
}

#[test]
fn units_of_word_lines_are_amplified_as_single_units_are() {
    compare(&word_lines_of_units(), 1024, &["greedy"]);
}

/// Compares a drive with the closed form. `units`: of a block.
fn compare(drive: &Scenario, units: u32, victims: &[&str]) {
    let spares = [0.125, 0.28];
    let cases: Vec<(&str, f64)> =
        victims.iter().flat_map(|&v| spares.map(|spare| (v, spare))).collect();
    let scenarios: Vec<Scenario> = cases
        .iter()
        .flat_map(|&(victim, spare)| {
            let drive = drive.set("ftl.gc.victim", victim).set("ftl.over_provisioning", spare);
            let (all, _) = utilisation(&drive);
            let mut timed = drive.set("flow[0].synthetic.requests", 4 * all);
            timed.options.check = false;
            timed.options.warmup = Warmup::Requests(2 * all);
            let mut untimed = timed.clone();
            untimed.options.waf_only = true;
            [timed, untimed]
        })
        .collect();
    let blocks = drive.load().0.flash.blocks_per_plane;
    let (runs, mut failures) = (run_all(&scenarios), Vec::new());
    for (&(victim, spare), runs) in cases.iter().zip(runs.chunks(2)) {
        let drive = drive.set("ftl.over_provisioning", spare);
        let (_, rho) = utilisation(&drive);
        let policy = Victim::by_name(victim).expect("registered");
        let predicted = policy.steady_state(rho, units, blocks).write_amplification;
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
