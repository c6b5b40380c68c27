//! Suspension of programs: when a read that waits is served, to the picosecond where it can be
//! worked out by hand.

use crate::common::{Scenario, run_all};
use flashlane::Time;
use flashlane::config::DeviceConfig;
use flashlane::config::load::{Overrides, device_from_toml};
use flashlane::drive::{Command, Completion, Drive, DriveOptions, Tenant};

/// One die. Commands take 1 ns, data of a page 102.4 ns, and nothing else takes time but the array.
const ONE_DIE: &str = r#"
name = "one die"
[cache]
capacity = "0B"
[interface]
firmware_time = "0ns"
[link]
lane_bandwidth = "100GB/s"
[ftl]
over_provisioning = "28%"
unwritten_read = "flash"
[ftl.precondition]
enabled = false
[flash]
technology = "slc"
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 1024
pages_per_block = 64
page_size = "4KiB"
channel_rate = "40000MT/s"
command_time = "1ns"
read_time = ["5us"]
program_time = ["200us"]
erase_time = "1ms"
[flash.suspend]
program = true
erase = false
program_time = "5us"
program_min_left = "10us"
"#;

const NS: u64 = 1_000;
const US: u64 = 1_000_000;
/// A sixteenth of a program.
const GUARD: u64 = 12_500 * NS;
/// A read in its array, which 20 ns go by to notice, and its page on the bus.
const READ: u64 = 5_020 * NS + 102_400;
/// From the command that interrupts until the die takes it.
const SETTLE: u64 = 5 * US;
/// The commands of two operations and of a suspension, at most.
const COMMANDS: u64 = 4 * NS;

fn device() -> DeviceConfig {
    device_from_toml(ONE_DIE, "device", &Overrides::default()).expect("a device").config
}

/// Writes a page at 0 and reads others at the given times. Returns the reads in order of their
/// submission, and how many programs were suspended.
fn reads_beside_a_write(reads: &[u64]) -> (Vec<Completion>, u64) {
    let tenants = [Tenant::named("writer"), Tenant::named("reader")];
    let options = DriveOptions { check: true, ..DriveOptions::default() };
    let mut drive = Drive::with_options(&device(), &tenants, 1, &options).expect("a drive");
    drive.submit(Time::ZERO, 0, Command::write(0, 8), 0).expect("it is accepted");
    for (cookie, &at) in (1_u64..).zip(reads) {
        drive.submit(Time(at), 1, Command::read(8 * cookie, 8), cookie).expect("it is accepted");
    }
    let mut done = Vec::new();
    drive.advance(Time(10_000 * US), &mut done).expect("everything ends");
    assert_eq!(done.len(), reads.len() + 1);
    done.retain(|completion| completion.cookie > 0);
    done.sort_by_key(|completion| completion.cookie);
    let summary = drive.summary().expect("a summary");
    (done, summary.flash.program_suspends)
}

fn waited(completion: &Completion) -> u64 {
    completion.record.flash_queue_ps
}

/// Whenever a second read comes, it waits for the first read, for the guard of the resumed program
/// or for its end, whichever it meets, and never for longer than the longest of these.
#[test]
fn a_read_waits_for_no_more_than_the_guard_of_a_resumed_program() {
    let bound = GUARD.max(SETTLE + READ);
    let (mut longest, mut in_guard) = (0, 0);
    for at in (50_500..260_000).step_by(500) {
        let (reads, suspended) = reads_beside_a_write(&[50 * US, at * NS]);
        let wait = waited(&reads[1]);
        assert!(wait <= bound + COMMANDS, "a read at {at} ns waits {wait} ps");
        assert!(suspended <= 2, "{suspended} suspensions for two reads");
        longest = longest.max(wait);
        in_guard += u64::from(wait > SETTLE + READ + COMMANDS);
    }
    assert!(longest + 600 * NS > bound, "the guard is used up: {longest} ps");
    assert!(in_guard > 2, "some reads wait for the guard");
}

/// A read right behind a resumption is served when the guard is over, to the picosecond.
#[test]
fn a_read_behind_a_resumption_is_woken_when_the_guard_is_over() {
    let (reads, _) = reads_beside_a_write(&[50 * US]);
    // The data of the first read leaves the die when it has worked in the device that long.
    let record = &reads[0].record;
    let resumed = record.complete_ps - record.transfer_out_ps;
    let arrival_in_device = |completion: &Completion| {
        let record = &completion.record;
        record.arrival_ps + record.submission_ps + record.transfer_in_ps + record.firmware_ps
    };
    let (reads, suspended) = reads_beside_a_write(&[50 * US, resumed + US]);
    let began = arrival_in_device(&reads[1]) + waited(&reads[1]);
    assert_eq!(began, resumed + GUARD);
    assert_eq!(suspended, 2);
}

/// Reads that wait, and those that come while the program is suspended, are served one after the
/// other, in one suspension.
#[test]
fn a_suspension_serves_all_reads_that_wait() {
    let mut times = vec![50 * US; 6];
    times.extend([60 * US, 70 * US]);
    let (reads, suspended) = reads_beside_a_write(&times);
    assert_eq!(suspended, 1);
    for (place, read) in (0..).zip(&reads) {
        let most = SETTLE + place * (READ + COMMANDS);
        assert!(waited(read) <= most, "read {place} waits {} ps", waited(read));
    }
}

/// A reader that never pauses, on the die of a writer.
const SATURATED: &str = r#"
[[flow]]
name = "reader"
cache = "off"
[flow.synthetic]
queue_depth = 4
read_ratio = 1.0
size = "4KiB"
duration = "60ms"
[[flow]]
name = "writer"
cache = "off"
[flow.synthetic]
queue_depth = 1
read_ratio = 0.0
size = "4KiB"
duration = "60ms"
"#;

/// Reads without end interrupt a program for one read and the time to settle at a time, and for a
/// quarter of its time more in all. It runs for a sixteenth in between.
#[test]
fn reads_that_never_end_do_not_stop_a_program() {
    let scenario = Scenario::new(ONE_DIE, SATURATED)
        .set("scheduler", "{ read-priority = { write_age_limit = \"1ms\" } }");
    let summary = scenario.run();
    let writes = summary.flows[1].write_response_time_us;
    let parts = 16.0;
    let most = 1_000.0 + 200.0 * 1.25 + parts * (5.0 + 5.2) + 2.0 * 5.2 + 20.0;
    assert!(writes.max < most, "{} us, at most {most}", writes.max);
    assert!(writes.mean > 1_000.0 + 200.0 * 1.2 + 0.7 * parts * 10.0, "{writes:?}");
}

/// The bounds of the configuration hold: with one suspension an operation, the write is delayed by
/// a quarter of its time and one read, whatever the readers do; with a long guard by fewer reads.
#[test]
fn suspensions_are_bounded_by_the_configuration() {
    let base = Scenario::new(ONE_DIE, SATURATED)
        .set("scheduler", "{ read-priority = { write_age_limit = \"1ms\" } }");
    let runs = run_all(&[
        base.clone(),
        base.clone().set("flash.suspend.max_per_operation", 1),
        base.clone().set("flash.suspend.max_per_operation", 3),
        base.set("flash.suspend.min_progress", "\"50%\""),
    ]);
    let per_write = |index: usize| {
        let summary = &runs[index];
        let writes = summary.flows[1].requests.write as f64;
        summary.flash.program_suspends as f64 / writes
    };
    assert!(per_write(0) > 10.0, "{} suspensions a program", per_write(0));
    assert!((0.9..=1.0).contains(&per_write(1)), "{} suspensions a program", per_write(1));
    assert!((2.7..=3.0).contains(&per_write(2)), "{} suspensions a program", per_write(2));
    // A first one at any time, and one after each half of the program.
    assert!((1.0..=3.0).contains(&per_write(3)), "{} suspensions a program", per_write(3));
    let once = runs[1].flows[1].write_response_time_us.max;
    assert!(once < 1_000.0 + 200.0 * 1.25 + 3.0 * 10.2 + 20.0, "{once} us");
}

/// An open loop of reads beside one of writes, which an independent model of the die has been run
/// for: reads preempt programs, all that wait are served, and a resumed program runs for a
/// sixteenth. Its mean and its 99th percentile are 24.9 and 44.0 us. It has no link and no bus.
#[test]
fn reads_beside_writes_are_as_fast_as_an_independent_model_says() {
    let flow = |name: &str, iops: f64, reads: f64| {
        format!(
            "[[flow]]\nname = \"{name}\"\ncache = \"off\"\n[flow.synthetic]\niops = {iops:?}\n\
             read_ratio = {reads:?}\nsize = \"4KiB\"\nduration = \"2s\"\n"
        )
    };
    let base = Scenario::new(ONE_DIE, &(flow("r", 5_000.0, 1.0) + &flow("w", 3_000.0, 0.0)))
        .set("flash.read_time", "[\"20us\"]")
        .set("flash.blocks_per_plane", 4096);
    let runs = run_all(&[base.clone(), base.set("scheduler", "read-priority")]);
    for summary in runs {
        let reads = summary.flows[0].read_response_time_us;
        assert!((reads.mean / 24.9 - 1.0).abs() < 0.06, "{reads:?}");
        assert!((reads.p99 / 44.0 - 1.0).abs() < 0.06, "{reads:?}");
    }
}

/// No policy lets a read wait in vain: the audits of these runs look for reads that nobody wakes.
#[test]
fn every_policy_wakes_what_waits() {
    let load = SATURATED.replacen("queue_depth = 4", "iops = 20000", 1);
    let base = Scenario::new(ONE_DIE, &load)
        .set("flash.dies_per_chip", 2)
        .set("flash.planes_per_die", 2)
        .set("flash.blocks_per_plane", 64)
        .set("flash.channel_rate", "400MT/s")
        .set("flash.suspend.erase", true)
        .set("flash.suspend.erase_for_write", true)
        .set("flash.suspend.erase_time", "20us")
        .set("flash.suspend.erase_min_left", "0us")
        .set("flash.suspend.erase_min_left_for_write", "50us")
        .set("flash.suspend.program_min_left", "0us")
        .set("ftl.precondition", "{ enabled = true }")
        .set("flow[1].synthetic.duration", "400ms")
        .set("flow[0].synthetic.duration", "400ms")
        .set("flow[1].synthetic.queue_depth", 9);
    let policies = [
        "out-of-order",
        "priority-out-of-order",
        "read-priority",
        "sprinkler",
        "sprinkler-fairness",
        "flin",
    ];
    let runs = run_all(&policies.map(|policy| base.set("scheduler", policy)));
    for (policy, run) in policies.iter().zip(&runs) {
        assert!(run.flash.program_suspends > 100, "{policy}: {}", run.flash.program_suspends);
    }
    // Collection that is urgent goes first under some of the policies.
    assert!(runs.iter().map(|run| run.flash.erase_suspends).sum::<u64>() > 0);
}
