//! Bit errors: retries against the model and to the picosecond, their place in blame and energy,
//! and the refresh of data.

use crate::common::Scenario;
use crate::generate::{case, force_errors};
use flashlane::config::load::{Overrides, device_from_toml};
use flashlane::config::validate::{validate, validate_device};
use flashlane::drive::{Command, Drive, DriveOptions, Tenant};
use flashlane::layout::Geometry;
use flashlane::metrics::{ErrorSummary, Summary};
use flashlane::observe::{Blame, Observe};
use flashlane::{Time, simulate_in_detail};

/// One die. Nothing takes time but the array, the bus and 1 ns for a command.
const ONE_DIE: &str = r#"
name = "one die"
[cache]
capacity = "0B"
[interface]
firmware_time = "0ns"
[ftl]
over_provisioning = "28%"
[flash]
technology = "slc"
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 64
page_size = "4KiB"
channel_rate = "4000MT/s"
command_time = "1ns"
read_time = "50us"
program_time = ["500us"]
erase_time = "3ms"
"#;

const READS: &str = r#"
window = "whole-run"
[[flow]]
name = "reads"
cache = "off"
[flow.synthetic]
queue_depth = 1
read_ratio = 1.0
size = "4KiB"
align = "4KiB"
requests = 40000
"#;

const NS: i64 = 1_000;
const US: i64 = 1_000 * NS;
/// A transfer of 4 KiB at 4 GB/s, and the time until the controller notices the end of a read.
const TRANSFER: i64 = 1_024 * NS;
const READY: i64 = 20 * NS;

/// The keys of a drive with a constant error rate.
fn keys(rate: f64, more: &[&str]) -> Vec<String> {
    let fixed = ["errors.model=\"custom\"".to_owned(), format!("errors.coefficients.base={rate}")];
    fixed.into_iter().chain(more.iter().map(|&key| key.to_owned())).collect()
}

/// The time of one read of a page that was just written. Unit: picoseconds.
fn one_read(sets: Vec<String>) -> i64 {
    read_of(0, sets)
}

/// The time of one read of a page alone, after page 0 was written. Unit: picoseconds.
fn read_of(page: u64, sets: Vec<String>) -> i64 {
    let overrides = Overrides { sets, ..Overrides::default() };
    let device = device_from_toml(ONE_DIE, "device", &overrides).expect("a device").config;
    let options = DriveOptions { check: true, ..DriveOptions::default() };
    let mut drive =
        Drive::with_options(&device, &[Tenant::named("one")], 1, &options).expect("a drive");
    let mut done = Vec::new();
    drive.submit(Time(0), 0, Command::write(0, 8), 0).expect("it is accepted");
    drive.submit(Time::from_ms(10), 0, Command::read(8 * page, 8), 1).expect("it is accepted");
    drive.advance(Time::from_ms(100), &mut done).expect("everything ends");
    let read = &done.iter().find(|completion| completion.cookie == 1).expect("it ends").record;
    (read.flash_queue_ps + read.flash_bus_ps + read.flash_array_ps) as i64
}

#[test]
fn a_retry_takes_a_decoding_a_command_a_read_and_a_transfer() {
    let off = one_read(Vec::new());
    assert_eq!(off, NS + 50 * US + READY + TRANSFER);
    // Every read of 410 errors fails, and every read of 4 succeeds: 72 are corrected.
    let decode = "errors.decode_time=\"7us\"";
    let good = one_read(keys(0.0005, &[decode]));
    assert_eq!(good - off, 7 * US, "a page without retries is decoded once");
    let again = one_read(keys(0.05, &[decode, "errors.retry_factor=0.01"]));
    assert_eq!(again - good, 7 * US + NS + 50 * US + READY + TRANSFER);
    let twice = one_read(keys(0.05, &[decode, "errors.retry_factor=0.1"]));
    assert_eq!(twice - good, 7 * US + NS + 50 * US + READY + TRANSFER, "41 are corrected, too");
    let thrice = one_read(keys(0.4, &[decode, "errors.retry_factor=0.1"]));
    assert_eq!(
        thrice - good,
        2 * (7 * US + NS + 50 * US + READY + TRANSFER),
        "3277, 328 and 33 errors"
    );
}

#[test]
fn new_data_is_neither_old_nor_read() {
    // Old data fails, with 819 errors and then 8.
    let aged = |more: &[&str]| {
        let mut sets = keys(0.0, &["errors.decode_time=\"0ns\"", "errors.retry_factor=0.01"]);
        sets.extend(more.iter().map(|&key| key.to_owned()));
        [0, 100].map(|page| read_of(page, sets.clone()) - one_read(Vec::new()))
    };
    let retry = NS + 50 * US + READY + TRANSFER;
    let reads = ["errors.coefficients.disturb=0.001", "errors.coefficients.disturb_power=1"];
    assert_eq!(aged(&[reads[0], reads[1], "errors.age.reads=100"]), [0, retry]);
    let days = ["errors.coefficients.retention=0.001", "errors.coefficients.retention_power=1"];
    assert_eq!(aged(&[days[0], days[1], "errors.age.retention_days=100"]), [0, retry]);
    // Cycles stay.
    let wear = ["errors.coefficients.wear=0.001", "errors.coefficients.wear_power=1"];
    assert_eq!(aged(&[wear[0], wear[1], "errors.age.cycles=100"]), [retry, retry]);
}

#[test]
fn soft_decoding_reads_the_page_several_times_more() {
    let sets = [
        "errors.decode_time=\"7us\"",
        "errors.retries=2",
        "errors.retry_factor=1",
        "errors.soft_senses=3",
        "errors.soft_correctable_bits=600",
        "errors.soft_decode_time=\"33us\"",
    ];
    let read = NS + 50 * US + READY + TRANSFER;
    assert_eq!(one_read(keys(0.05, &sets)), 6 * read + 3 * 7 * US + 33 * US);
}

/// Units of a page that are read together are decoded together, whether a codeword is larger or
/// smaller than a unit; what nobody asks for has no errors.
#[test]
fn units_of_a_page_are_decoded_together() {
    for codeword in ["1KiB", "4KiB"] {
        let of_page = |unit: &str, rate: f64| {
            let more = [
                "errors.retry_factor=0.01".to_owned(),
                format!("errors.codeword=\"{codeword}\""),
                format!("ftl.mapping.unit=\"{unit}\""),
            ];
            one_read(keys(rate, &more.each_ref().map(String::as_str)))
        };
        for unit in ["512B", "1KiB", "2KiB"] {
            for rate in [0.0005, 0.05] {
                assert_eq!(of_page(unit, rate), of_page("4KiB", rate), "{unit}, {codeword}");
            }
        }
    }
}

/// Random reads of a full drive.
fn reads(sets: &[String]) -> Scenario {
    let base = Scenario::new(ONE_DIE, READS);
    sets.iter().fold(base, |scenario, set| {
        let (key, value) = set.split_once('=').expect("a key and a value");
        scenario.set(key, value)
    })
}

fn errors(summary: &Summary) -> ErrorSummary {
    summary.errors.expect("errors are modelled")
}

#[test]
fn the_time_of_retries_is_told_by_flow() {
    let summary = reads(&keys(0.05, &["errors.retry_factor=0.01"])).run();
    let retries = summary.flows[0].retries.expect("errors are modelled");
    assert_eq!(retries.retried_pages, 40_000);
    let once = (20 * US + NS + 50 * US + READY + TRANSFER) as f64 / 1e6;
    assert!((retries.mean_us - once).abs() < 1e-9, "{} {once}", retries.mean_us);
    let stages = summary.flows[0].breakdown_us;
    let good = reads(&keys(0.0005, &[])).run();
    assert_eq!(good.flows[0].retries.expect("errors are modelled").mean_us, 0.0);
    let without = good.flows[0].breakdown_us;
    let longer = stages.flash_bus + stages.flash_array - without.flash_bus - without.flash_array;
    assert!((longer - once).abs() < 1e-6, "the stages of the flash hold it: {longer} {once}");
}

/// The probability of more than `t` errors in `n` bits: the sum of the other terms, by recursion.
fn fails(n: u32, t: u32, rate: f64) -> f64 {
    let mut term: f64 = (0..n).map(|_| 1.0 - rate).product();
    let mut rest = term;
    for k in 0..t {
        term *= f64::from(n - k) / f64::from(k + 1) * rate / (1.0 - rate);
        rest += term;
    }
    1.0 - rest
}

#[test]
fn the_mean_number_of_retries_is_that_of_the_model() {
    // Units of a request are on pages of their own: the drive was written at random.
    for (rate, factor, codeword, unit) in
        [(0.0085, 0.9, 1, 4), (0.012, 0.93, 2, 4), (0.009, 0.97, 4, 4), (0.0085, 0.9, 1, 2)]
    {
        let sets = keys(
            rate,
            &[
                &format!("errors.retry_factor={factor}"),
                &format!("errors.codeword=\"{codeword}KiB\""),
                &format!("ftl.mapping.unit=\"{unit}KiB\""),
                "errors.retries=30",
            ],
        );
        let found = errors(&reads(&sets).run());
        let mut rates = std::iter::successors(Some(rate), |rate| Some(rate * factor));
        let mean: f64 = (0..30)
            .map(|_| {
                let one = fails(8192 * codeword, 72 * codeword, rates.next().expect("endless"));
                1.0 - (0..unit / codeword).map(|_| 1.0 - one).product::<f64>()
            })
            .sum();
        let off = found.mean_retries / mean - 1.0;
        println!("{rate}, {codeword} of {unit} KiB: {} retries, model {mean}", found.mean_retries);
        assert!(off.abs() < 0.01, "{codeword} KiB: {} retries, {mean}", found.mean_retries);
        // Two units of a page are decoded together where they are read together.
        let pages = f64::from(40_000 * 4 / unit);
        assert!((found.pages as f64 / pages - 1.0).abs() < 0.01, "{} pages", found.pages);
        assert_eq!(found.lost_pages, 0);
    }
}

#[test]
fn without_errors_and_decoding_time_a_run_is_the_same() {
    let workload = READS.replace("read_ratio = 1.0", "read_ratio = 0.5").replace("= 1\n", "= 8\n");
    let base = Scenario::new(crate::common::SMALL_DRIVE, &workload);
    let off = base.run().without_clocks();
    let text = serde_json::to_string(&off).expect("a summary");
    assert!(!text.contains("errors"), "what is off is not in the summary");
    let mut on = base
        .set("errors.model", "\"custom\"")
        .set("errors.coefficients.base", 0)
        .set("errors.decode_time", "\"0ns\"")
        .run()
        .without_clocks();
    let found = on.errors.take().expect("errors are modelled");
    assert!(found.pages > 10_000 && found.retried_pages == 0);
    let retries = on.flows[0].retries.take().expect("errors are modelled");
    assert_eq!(retries.retried_pages, 0);
    let on = serde_json::to_string(&on).expect("a summary");
    assert_eq!(text, on);
}

#[test]
fn older_drives_read_slower() {
    let base = reads(&["errors.model=\"tlc-3d\"".to_owned()])
        .set("flash.technology", "tlc")
        .set("flash.page_order", "turns");
    let mean = |scenario: &Scenario| scenario.run().flows[0].response_time_us.mean;
    let by_cycles =
        [1000, 2000, 3000, 6000].map(|cycles| mean(&base.set("errors.age.cycles", cycles)));
    println!("mean read by cycles: {by_cycles:?} us");
    assert!(by_cycles.is_sorted_by(|a, b| a < b), "{by_cycles:?}");
    let worn = base.set("errors.age.cycles", 2000);
    let by_days = [0, 30, 365].map(|days| mean(&worn.set("errors.age.retention_days", days)));
    assert!(by_days.is_sorted_by(|a, b| a < b), "{by_days:?}");
    let by_reads = [0, 100_000, 3_000_000].map(|reads| mean(&worn.set("errors.age.reads", reads)));
    assert!(by_reads.is_sorted_by(|a, b| a < b), "{by_reads:?}");
}

/// Two flows on two dies of two planes, whose pages need a retry or two.
fn two_flows() -> Scenario {
    let second = READS.replace("window = \"whole-run\"", "").replace("reads", "writes");
    let second = second.replace("read_ratio = 1.0", "read_ratio = 0.6");
    let workload = format!("{READS}{second}").replace("depth = 1\n", "depth = 16\n");
    let base = Scenario::new(crate::common::SMALL_DRIVE, &workload)
        .set("flow[0].synthetic.requests", 8000)
        .set("flow[1].synthetic.requests", 8000);
    keys(0.0088, &[]).iter().fold(base, |scenario, set| {
        let (key, value) = set.split_once('=').expect("a key and a value");
        scenario.set(key, value)
    })
}

fn blamed(scenario: &Scenario) -> (Summary, Blame) {
    let mut watched = scenario.clone();
    watched.options.observe = Observe { energy: true, ..Observe::default() };
    watched.blamed()
}

#[test]
fn blame_knows_retries_and_sums_to_the_picosecond() {
    retries_are_blamed(&two_flows());
}

/// Mapping units, word lines, and both in superblocks.
#[test]
fn units_and_word_lines_are_read_again() {
    let units = two_flows().set("ftl.mapping.unit", "\"1KiB\"");
    let word_lines = |scenario: &Scenario| {
        scenario
            .set("flash.technology", "tlc")
            .set("errors.page_types", "[1.0, 1.0, 1.0]")
            .set("flash.pages_per_block", 48)
            .set("flash.programming", "one-shot")
            .set("flash.page_order", "turns")
    };
    let lines = word_lines(&two_flows());
    let both = word_lines(&units);
    let twice = both
        .set("flash.programming", "two-pass")
        .set("flash.program_time", "[\"200us\", \"400us\"]");
    let superblocks = both.set("ftl.superblock", "drive");
    for (name, scenario) in [
        ("units", units),
        ("word lines", lines),
        ("both", both),
        ("two passes", twice),
        ("superblocks", superblocks),
    ] {
        println!("{name}");
        retries_are_blamed(&scenario);
        retries_are_blamed(&scenario.set("errors.refresh_at", 0.005).set("errors.age.reads", 9));
    }
}

fn retries_are_blamed(scenario: &Scenario) {
    let (summary, blame) = blamed(scenario);
    assert!(errors(&summary).retried_pages > 5000, "{:?}", errors(&summary));
    assert_eq!(blame.causes.last().expect("causes").name, "retry");
    for victim in &blame.victims {
        let cells: u128 = victim.cells.iter().map(|cell| cell.ps).sum();
        assert_eq!(cells, victim.waiting_ps, "cells of {}", victim.flow);
        assert_eq!(victim.service_ps + victim.waiting_ps, victim.end_to_end_ps);
        let retries: u128 =
            victim.cells.iter().filter(|cell| cell.cause == "retry").map(|cell| cell.ps).sum();
        assert!(retries * 20 > victim.waiting_ps, "{} waits for retries", victim.flow);
    }
}

#[test]
fn blame_knows_no_retries_where_there_are_none() {
    let (_, without) = blamed(&two_flows().set("errors.coefficients.base", 0));
    let waits = without.victims.iter().flat_map(|victim| &victim.cells);
    assert!(!waits.into_iter().any(|cell| cell.cause == "retry"));
    let off = Scenario::new(crate::common::SMALL_DRIVE, READS);
    assert!(!blamed(&off).1.causes.iter().any(|cause| cause.name == "retry"));
}

#[test]
fn watching_changes_nothing_and_equal_seeds_give_equal_runs() {
    let scenario = two_flows();
    let (plain, again) = (scenario.run().without_clocks(), scenario.run().without_clocks());
    assert_eq!(plain, again);
    let (mut watched, _) = blamed(&scenario);
    (watched.energy, watched.wear) = (None, None);
    for flow in &mut watched.flows {
        (flow.energy, flow.wear) = (None, None);
    }
    assert_eq!(watched.without_clocks(), plain);
    assert_ne!(scenario.seed(2).run().errors, plain.errors);
}

#[test]
fn retries_take_the_energy_of_reads() {
    let mut scenario = reads(&keys(0.0088, &["energy.read_power=\"80mW\""]));
    scenario.options.observe = Observe { energy: true, ..Observe::default() };
    let summary = scenario.run();
    let found = errors(&summary);
    let energy = summary.energy.expect("it was counted");
    assert!(found.retries > 10_000 && found.soft_reads == 0, "{found:?}");
    assert_eq!(energy.reads_pj, (found.pages + found.retries) * 50_000 * 80);
    let transfer = 1_024 * 100;
    assert_eq!(energy.transfers_pj, (found.pages + found.retries) * transfer);
}

#[test]
fn data_with_too_many_errors_is_moved_and_has_fewer_then() {
    let base = reads(&["errors.model=\"tlc-3d\"".to_owned()])
        .set("flash.technology", "tlc")
        .set("errors.age.cycles", 1000)
        .set("errors.age.retention_days", 365);
    let rate = "errors.refresh_at";
    let (kept, moved) = (base.run(), base.set(rate, 0.006).run());
    assert_eq!(errors(&kept).refreshes, 0);
    let found = errors(&moved);
    println!("kept {:?}, moved {found:?}", errors(&kept));
    assert!(found.refreshes > 30, "{found:?}");
    assert_eq!(found.refreshes, moved.flash.read_scrubbing_moves);
    let of_hosts = |summary: &Summary| errors(summary).mean_retries;
    assert!(of_hosts(&moved) < 0.7 * of_hosts(&kept), "{} {}", of_hosts(&moved), of_hosts(&kept));
    // New data on blocks that are worn out would have as many errors: nothing is moved for ever.
    let worn = base.set("errors.age.cycles", 20_000).set(rate, 0.006).run();
    assert_eq!(errors(&worn).refreshes, 0);
}

#[test]
fn bad_values_and_combinations_are_refused_by_name() {
    for (sets, place, allowed) in [
        (["errors.codeword=\"3KiB\"", ""], "errors.codeword", "1KiB, 2KiB, 4KiB"),
        (["errors.codeword=\"4KiB\"", "flash.page_size=\"2KiB\""], "errors.codeword", "(2KiB)"),
        (["errors.correctable_bits=0", ""], "errors.correctable_bits", "1 to 4000"),
        (["errors.soft_correctable_bits=9", ""], "errors.soft_correctable_bits", "72 to 8000"),
        (["errors.retries=61", ""], "errors.retries", "0 to 60"),
        (["errors.retry_factor=0", ""], "errors.retry_factor", "0.01 to 1"),
        (["errors.soft_senses=99", ""], "errors.soft_senses", "0 to 60"),
        (["errors.refresh_at=0.7", ""], "errors.refresh_at", "0.000001 to 0.5"),
        (["errors.page_types=[1, 2]", ""], "errors.page_types", "1 (page types of slc)"),
        (["errors.page_types=[0]", ""], "errors.page_types[0]", "0.001 to 1000"),
        (["errors.age.cycles=1000001", ""], "errors.age.cycles", "0 to 1000000"),
        (["errors.age.retention_days=-1", ""], "errors.age.retention_days", "0 to 3650"),
        (["errors.coefficients.base=2", ""], "errors.coefficients.base", "0 to 1"),
        (["errors.coefficients.wear_power=11", ""], "errors.coefficients.wear_power", "0 to 10"),
        (["errors.model=\"tlc-3d\"", ""], "errors.coefficients", "only there"),
        (["ftl.gc.copyback=true", ""], "errors", "not with ftl.gc.copyback"),
        (["ftl.mapping.kind=\"hybrid\"", ""], "errors", "not with hybrid mapping"),
        (["ftl.gc.victim=\"none\"", ""], "errors", "not with victim none"),
        (["ftl.unwritten_read=\"flash\"", ""], "errors", "not with ftl.unwritten_read"),
    ] {
        let sets = keys(0.001, &sets.map(|set| if set.is_empty() { "name=\"x\"" } else { set }));
        let overrides = Overrides { sets: sets.clone(), ..Overrides::default() };
        let device = device_from_toml(ONE_DIE, "device", &overrides)
            .unwrap_or_else(|error| panic!("{error}"))
            .config;
        let problems = validate_device(&device);
        let is_it = |problem: &flashlane::Problem| {
            problem.place == place && problem.message.contains(allowed)
        };
        assert!(problems.iter().any(is_it), "{sets:?}: {problems:?}");
    }
}

#[test]
fn a_run_without_time_refuses_to_refresh_and_nothing_else() {
    let mut scenario = two_flows();
    scenario.options.waf_only = true;
    scenario.options.check = false;
    let summary = scenario.try_run().expect("retries do not matter to it");
    assert_eq!(summary.errors, None);
    let error = scenario.set("errors.refresh_at", 0.01).try_run().expect_err("it needs time");
    assert!(error.to_string().contains("errors.refresh_at: found a rate"), "{error}");
}

/// Random drives of the swarm with bit errors: every audit holds, and every request ends.
#[test]
fn random_drives_with_errors_pass_their_audits() {
    let (mut runs, mut counts) = (0, ErrorSummary::default());
    // Few drives refresh a block before their run ends. Three of these seeds do.
    for seed in 600..1000 {
        let mut case = case(seed);
        // Some of these drives are refused with errors, and some are too large for a quick test.
        let size = Geometry::new(&case.device.flash).pages();
        if !force_errors(seed, &mut case.device) || size > 20_000 {
            continue;
        }
        if !validate(&case.device, &case.workload).is_empty() {
            continue;
        }
        case.options.alone = false;
        case.options.windows = None;
        let outcome = simulate_in_detail(&case.device, &case.workload, &case.options, &|_| {});
        let Ok((summary, details)) = outcome else { continue };
        assert_eq!(summary.requests_completed, summary.requests_generated, "seed {seed}");
        for victim in details.blame.iter().flat_map(|blame| &blame.victims) {
            let cells: u128 = victim.cells.iter().map(|cell| cell.ps).sum();
            assert_eq!(cells, victim.waiting_ps, "seed {seed}, {}", victim.flow);
        }
        let found = errors(&summary);
        runs += 1;
        counts.pages += found.pages;
        counts.retried_pages += found.retried_pages;
        counts.soft_pages += found.soft_pages;
        counts.lost_pages += found.lost_pages;
        counts.refreshes += found.refreshes;
    }
    println!("{runs} runs: {counts:?}");
    assert!(runs > 40, "{runs} runs");
    let ErrorSummary { retried_pages, soft_pages, lost_pages, refreshes, .. } = counts;
    assert!(retried_pages > 1000 && soft_pages > 1000 && lost_pages > 100 && refreshes > 10);
}
