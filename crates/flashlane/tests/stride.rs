//! Shares by weight, and what commands cost: `interface.arbitration = "stride"`, `interface.cost`.

use flashlane::config::load::{self, Overrides};
use flashlane::config::validate::validate;
use flashlane::metrics::Summary;
use flashlane::{RunOptions, simulate};

/// A tenant with more requests waiting than the firmware can take, with some more keys.
fn tenant(name: &str, size: &str, read_ratio: f64, keys: &str) -> String {
    format!(
        "[[flow]]\nname = '{name}'\n{keys}\nsynthetic = {{ queue_depth = 64, size = '{size}', \
         align = '{size}', read_ratio = {read_ratio:?}, duration = '3s' }}\n"
    )
}

/// A run on a drive whose firmware takes a thousand commands per second, one after the other: each
/// has to wait for its turn.
fn run(sets: &[&str], workload: &str) -> Summary {
    let common = [
        "interface.firmware_time=1ms",
        "interface.fetch_ahead=1",
        "interface.arbitration=stride",
        "flash.page_size=4KiB",
    ];
    let sets = common.iter().chain(sets).map(ToString::to_string).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    let device = load::device("tiny", &overrides).expect("a valid device").config;
    let workload = load::workload_from_toml(workload, "test", &Overrides::default());
    let workload = workload.expect("a valid workload").config;
    assert_eq!(validate(&device, &workload), []);
    let options = RunOptions { check: true, ..RunOptions::default() };
    simulate(&device, &workload, &options, &|_| {}).expect("the run finishes")
}

fn assert_ratio(found: f64, wanted: f64) {
    assert!((found / wanted - 1.0).abs() < 0.04, "{found}, wanted: {wanted}");
}

#[test]
fn commands_are_shared_as_the_weights() {
    let weighted = |name: &str, weight: u32| {
        tenant(name, "4KiB", 1.0, &format!("weight = {weight}\npriority = 'low'"))
    };
    let summary = run(&[], &[weighted("a", 1), weighted("b", 2), weighted("c", 4)].concat());
    let rates: Vec<f64> = summary.flows.iter().map(|flow| flow.iops).collect();
    assert_ratio(rates[1] / rates[0], 2.0);
    assert_ratio(rates[2] / rates[0], 4.0);
    assert_ratio(rates.iter().sum(), 1000.0);
    let same = run(&[], &[tenant("a", "4KiB", 1.0, ""), weighted("b", 1)].concat());
    assert_ratio(same.flows[0].iops / same.flows[1].iops, 1.0);
}

/// Reads per second of a tenant with small reads, and writes of one with large writes, of equal
/// weights.
fn rates(sets: &[&str], weights: [u32; 2]) -> [f64; 2] {
    let reader = tenant("reader", "4KiB", 1.0, &format!("weight = {}", weights[0]));
    let writer = tenant("writer", "64KiB", 0.0, &format!("weight = {}", weights[1]));
    let summary = run(sets, &[reader, writer].concat());
    [summary.flows[0].iops, summary.flows[1].iops]
}

#[test]
fn a_large_write_has_the_share_of_its_pages() {
    // So few commands that the flash takes all large writes.
    let [reads, writes] = rates(&["interface.firmware_time=4ms"], [1, 1]);
    assert_ratio(reads / writes, 1.0);
    let pages = ["interface.cost=pages"];
    let [reads, writes] = rates(&pages, [1, 1]);
    assert_ratio(reads / (16.0 * writes), 1.0);
    let [reads, writes] = rates(&pages, [1, 4]);
    assert_ratio(reads / (16.0 * writes), 0.25);
}

#[test]
fn by_device_time_a_write_has_less_than_by_pages() {
    let sets =
        ["interface.cost=device-time", "flash.read_time=['50us']", "flash.program_time=['300us']"];
    let [reads, writes] = rates(&sets, [1, 1]);
    // A program takes six times the array time of a read, and both cross the bus.
    let times = reads / (16.0 * writes);
    assert!((3.5..7.0).contains(&times), "{reads} {writes}: {times}");
}

#[test]
fn a_limit_of_commands_counts_their_cost() {
    let limited = tenant("writer", "64KiB", 0.0, "limit = { iops = 320, burst = '0s' }");
    let rate = |sets: &[&str]| run(sets, &limited).flows[0].iops;
    assert_ratio(rate(&[]), 320.0);
    assert_ratio(rate(&["interface.cost=pages"]), 20.0);
}

#[test]
fn a_weight_is_checked() {
    let device = load::device("tiny", &Overrides::default()).expect("a valid device").config;
    let workload = tenant("a", "4KiB", 1.0, "weight = 0");
    let workload = load::workload_from_toml(&workload, "test", &Overrides::default());
    let problems = validate(&device, &workload.expect("it can be read").config);
    let said: Vec<String> =
        problems.iter().map(|one| format!("{}: {}", one.place, one.message)).collect();
    assert_eq!(said, ["flow[0].weight: found 0, allowed: 1 to 10000"]);
}
