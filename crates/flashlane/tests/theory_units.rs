//! Against theory: write amplification of uniform random writes on mapping units that are
//! programmed together: units smaller than a page, and pages of a word line; and on units of
//! several pages. A block has so many
//! units that those with which collection completes its last page or word line of each victim weigh
//! little: `(n - 1) / 2` on average, if `n` are programmed together. With superblocks, the units of
//! a block are those of a superblock.

use crate::common::{Scenario, flash_only, random_writes, run_all, utilisation};
use flashlane::Warmup;
use flashlane::policy::Victim;

/// Spare factors of drives without parity.
const SPARES: [f64; 2] = [0.125, 0.28];

/// Largest difference from the closed form.
const CLOSE: f64 = 0.03;

/// Largest difference between a timed run and one without time.
const CLOSE_WITHOUT_TIME: f64 = 0.02;

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

/// Word lines that are programmed in two passes.
fn word_lines_in_two_passes() -> Scenario {
    word_lines()
        .set("flash.programming", "two-pass")
        .set("flash.program_time", "[\"150us\", \"350us\"]")
}

/// Eight planes whose blocks form superblocks, and pages of four units. A superblock has 32 times
/// as many units as a block has pages. The more superblocks, the less it matters that two of them
/// are open, and how many are free at each moment.
fn superblocks(blocks: [u32; 2]) -> Scenario {
    let keys = "mapping.unit = \"4KiB\"\nsuperblock = \"drive\"";
    let device = flash_only(keys, [2, 2, 1, 2], blocks, "16KiB");
    // No row waits so long that it is padded.
    Scenario::new(&device, &random_writes(128)).set("ftl.mapping.fill_time", "1s")
}

/// Superblocks of one-shot TLC, whose word lines hold 12 units.
fn superblocks_of_word_lines(blocks: [u32; 2]) -> Scenario {
    superblocks(blocks)
        .set("flash.technology", "tlc")
        .set("flash.programming", "one-shot")
        .set("flash.page_order", "turns")
}

#[test]
fn random_units_are_amplified_as_the_closed_form_for_units_says() {
    compare(&drive(), 512, &["greedy", "rga", "fifo"], &SPARES);
}

#[test]
fn pages_of_word_lines_are_amplified_as_single_pages_are() {
    compare(&word_lines(), 510, &["greedy", "fifo"], &SPARES);
}

#[test]
fn two_passes_amplify_as_one_does() {
    compare(&word_lines_in_two_passes(), 510, &["greedy", "fifo"], &SPARES);
}

#[test]
fn units_of_word_lines_are_amplified_as_single_units_are() {
    compare(&word_lines_of_units(), 1024, &["greedy"], &SPARES);
}

#[test]
fn units_of_superblocks_are_amplified_as_those_of_large_blocks() {
    let drive = superblocks([512, 8]);
    compare(&drive, 256, &["greedy", "fifo", "cost-benefit"], &[0.28]);
    compare(&drive.set("ftl.gc.pacing", "proportional"), 256, &["greedy"], &[0.28]);
    let drive = superblocks([512, 16]).set("ftl.superblock", "2 dies");
    compare(&drive, 256, &["greedy"], &[0.28]);
    compare(&superblocks([1024, 16]), 512, &["greedy"], &[0.125]);
}

#[test]
fn word_lines_of_superblocks_are_amplified_as_those_of_large_blocks() {
    compare(&superblocks_of_word_lines([256, 24]), 768, &["greedy", "fifo"], &[0.28]);
}

#[test]
fn parity_is_a_page_or_a_word_line_of_each_stripe() {
    let parity = |drive: Scenario| drive.set("ftl.parity", true);
    compare(&parity(superblocks([512, 8])), 256, &["greedy"], &[0.5]);
    compare(&parity(superblocks_of_word_lines([256, 24])), 768, &["greedy"], &[0.5]);
}

/// The state of very many units is made in shares (`precondition/shares.rs`). It meets the audits,
/// and random writes begin with the amplification of the steady state.
#[test]
fn very_many_units_are_in_steady_state_at_once() {
    let drive = superblocks([512, 512]).set("ftl.over_provisioning", 0.5);
    let (all, _) = utilisation(&drive);
    let mut audited = drive.set("flow[0].synthetic.requests", 100);
    audited.options.check = true;
    audited.run();
    let mut untimed = drive.set("flow[0].synthetic.requests", all / 4);
    untimed.options.check = false;
    untimed.options.waf_only = true;
    let found = untimed.run().flash.write_amplification;
    let predicted = predicted("greedy", &drive, 8 * 512 * 4);
    println!("{all} units: {found:.4}, theory {predicted:.4}");
    assert!((found / predicted - 1.0).abs() < CLOSE, "{found}, theory {predicted}");
}

/// One plane with units of several pages, and uniform random writes of 4 KiB, which are parts of
/// units.
fn large_units(unit: &str, page: &str, blocks: [u32; 2]) -> Scenario {
    let device = flash_only("", [1; 4], blocks, page);
    Scenario::new(&device, &random_writes(64)).set("ftl.mapping.unit", unit)
}

/// Word lines of two units of two pages.
fn word_lines_of_large_units() -> Scenario {
    // No row waits so long that it is padded.
    large_units("32KiB", "16KiB", [1024, 512])
        .set("flash.technology", "qlc")
        .set("flash.programming", "one-shot")
        .set("ftl.mapping.fill_time", "1s")
}

#[test]
fn units_of_several_pages_are_amplified_as_single_pages_are() {
    // A quarter, an eighth and a sixteenth of a unit is written at a time.
    compare(&large_units("16KiB", "4KiB", [1024, 512]), 128, &["greedy", "rga", "fifo"], &SPARES);
    compare(&large_units("32KiB", "16KiB", [1024, 256]), 128, &["greedy", "fifo"], &SPARES);
    compare(&large_units("64KiB", "16KiB", [1024, 512]), 128, &["greedy", "fifo"], &SPARES);
    compare(&word_lines_of_large_units(), 256, &["greedy", "fifo"], &SPARES);
}

/// Write amplification without time of a drive whose unit is 16 KiB, with pages of `page`.
fn untimed(page: &str, pages: u32) -> f64 {
    let drive = large_units("16KiB", page, [256, pages]).set("ftl.over_provisioning", 0.2);
    let (all, _) = utilisation(&drive);
    let mut drive = drive.set("flow[0].synthetic.requests", 4 * all);
    drive.options.waf_only = true;
    drive.run().flash.write_amplification
}

#[test]
fn collection_does_not_know_how_many_pages_a_unit_has() {
    let (unit, pages) = (untimed("16KiB", 64), untimed("4KiB", 256));
    assert!((unit / pages - 1.0).abs() < 1e-12, "{unit} and {pages}");
}

#[test]
fn large_units_of_superblocks_are_amplified_as_those_of_large_blocks() {
    let keys = "mapping.unit = \"16KiB\"\nsuperblock = \"drive\"";
    let device = flash_only(keys, [2, 2, 1, 2], [512, 64], "4KiB");
    compare(&Scenario::new(&device, &random_writes(128)), 128, &["greedy", "fifo"], &[0.28]);
}

/// Amplification by the closed form. `units`: of a block or superblock of a drive with eight
/// planes, with those of parity.
fn predicted(victim: &str, drive: &Scenario, units: u32) -> f64 {
    let (_, rho) = utilisation(drive);
    let ftl = &drive.load().0;
    let blocks = ftl.flash.blocks_per_plane;
    let policy = Victim::by_name(victim).expect("registered");
    // One of eight rows of a stripe is parity, and holds no data.
    let data = if ftl.ftl.parity { 7.0 / 8.0 } else { 1.0 };
    let units = (f64::from(units) * data) as u32;
    policy.steady_state(rho / data, units, blocks).write_amplification / data
}

/// Compares a drive with the closed form. `units`: of a block, or of a superblock.
fn compare(drive: &Scenario, units: u32, victims: &[&str], spares: &[f64]) {
    let cases: Vec<(&str, f64)> =
        victims.iter().flat_map(|&v| spares.iter().map(move |&spare| (v, spare))).collect();
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
    let (runs, mut failures) = (run_all(&scenarios), Vec::new());
    for (&(victim, spare), runs) in cases.iter().zip(runs.chunks(2)) {
        let predicted = predicted(victim, &drive.set("ftl.over_provisioning", spare), units);
        for (run, kind) in runs.iter().zip(["timed", "without time"]) {
            let found = run.flash.write_amplification;
            let error = found / predicted - 1.0;
            println!("{victim} {spare} {kind}: {found:.4}, theory {predicted:.4}, {error:+.3}");
            failures.extend(
                (error.abs() > CLOSE).then(|| format!("{victim} at {spare} {kind}: {found}")),
            );
        }
        let [timed, untimed] = [0, 1].map(|at: usize| runs[at].flash.write_amplification);
        let apart = (untimed / timed - 1.0).abs() > CLOSE_WITHOUT_TIME;
        failures.extend(apart.then(|| format!("{victim} at {spare}: {timed} and {untimed}")));
    }
    assert!(failures.is_empty(), "outside: {failures:?}");
}
