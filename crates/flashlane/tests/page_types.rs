//! Types of pages: each page is read in the time of its type, and one time is for all pages.

use crate::common::Scenario;
use flashlane::Time;
use flashlane::config::load::{Overrides, device_from_toml};
use flashlane::drive::{Command, Drive, DriveOptions, Tenant};

/// One plane. Nothing takes time but the array, the bus and 1 ns for a command.
const ONE_PLANE: &str = r#"
name = "one plane"
[cache]
capacity = "0B"
[interface]
firmware_time = "0ns"
[ftl]
over_provisioning = "28%"
[ftl.precondition]
enabled = false
[flash]
technology = "tlc"
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 63
page_size = "4KiB"
channel_rate = "4000MT/s"
command_time = "1ns"
read_time = ["45us", "56us", "68us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

const US: u64 = 1_000_000;

/// Times of reads of the first pages of a block, less that of the first one. Unit: picoseconds.
fn reads(sets: &[&str]) -> Vec<i64> {
    let sets = sets.iter().map(|&set| set.to_owned()).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    let device = device_from_toml(ONE_PLANE, "device", &overrides).expect("a device").config;
    let options = DriveOptions { check: true, ..DriveOptions::default() };
    let mut drive =
        Drive::with_options(&device, &[Tenant::named("one")], 1, &options).expect("a drive");
    let mut done = Vec::new();
    for page in 0..12 {
        let at = Time(page * 1000 * US);
        drive.submit(at, 0, Command::write(8 * page, 8), 1000).expect("it is accepted");
        let at = Time((100 + page) * 1000 * US);
        drive.submit(at, 0, Command::read(8 * page, 8), page).expect("it is accepted");
    }
    drive.advance(Time(1000 * 1000 * US), &mut done).expect("everything ends");
    done.retain(|completion| completion.cookie < 1000);
    done.sort_by_key(|completion| completion.cookie);
    let array = |at: usize| done[at].record.flash_array_ps as i64;
    assert_eq!(done.len(), 12);
    (0..12).map(|at| array(at) - array(0)).collect()
}

#[test]
fn a_page_is_read_in_the_time_of_its_type() {
    let us = |times: [i64; 12]| times.map(|time| time * US as i64).to_vec();
    let turns = reads(&["flash.page_order=turns"]);
    assert_eq!(turns, us([0, 11, 23, 0, 11, 23, 0, 11, 23, 0, 11, 23]));
    assert_eq!(reads(&[]), reads(&["flash.page_order=mqsim"]));
    assert_eq!(reads(&[]), us([0, 0, 0, 0, 0, 0, 11, 11, 0, 0, 11, 11]));
    let two = reads(&["flash.technology=mlc", "flash.read_time=[\"20us\", \"30us\"]"]);
    assert_eq!(two, us([0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 0, 10]));
    assert_eq!(reads(&["flash.read_time=\"45us\""]), us([0; 12]));
}

const READS: &str = r#"
[[flow]]
name = "reads"
cache = "off"
[flow.synthetic]
queue_depth = 1
read_ratio = 1.0
size = "4KiB"
align = "4KiB"
requests = 20000
"#;

/// A drive that is full of data.
fn full() -> Scenario {
    Scenario::new(ONE_PLANE, READS).set("ftl.precondition.enabled", true)
}

#[test]
fn random_reads_take_the_mean_of_the_types() {
    // Nearly all pages hold data: the state at the start spreads fewer of them evenly over a block,
    // which need not be evenly over the types.
    let base = full()
        .set("flash.page_order", "turns")
        .set("flash.blocks_per_plane", 1024)
        .set("ftl.gc.threshold", "4 blocks")
        .set("ftl.gc.hard_threshold", "3 blocks")
        .set("ftl.over_provisioning", 0.01);
    let array = |scenario: &Scenario| scenario.run().flows[0].breakdown_us.flash_array;
    let (typed, same) = (array(&base), array(&base.set("flash.read_time", "[\"45us\"]")));
    let mean = (45.0 + 56.0 + 68.0) / 3.0 - 45.0 + same;
    assert!((typed / mean - 1.0).abs() < 0.005, "{typed} {mean}");
}

#[test]
fn one_time_may_be_written_without_a_list() {
    let base = full().set("flash.technology", "slc");
    let runs = ["[\"50us\"]", "\"50us\""].map(|time| base.set("flash.read_time", time).run());
    assert!(runs[0].flash.user_reads >= 20_000);
    let [list, one] = runs.map(|run| {
        serde_json::to_string(&(run.flows, run.flash, run.chips)).expect("parts of a summary")
    });
    assert_eq!(list, one);
}
