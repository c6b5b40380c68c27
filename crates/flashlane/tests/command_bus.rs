//! A command bus of its own (`flash.command_bus`): commands are sent while data moves.

use crate::common::{ONE_DIE, Scenario, completions_of_one_die, flash_only, problems, tenant};
use flashlane::drive::{Command, Completion};

const US: u64 = 1_000_000;
const SEPARATE: &str = "flash.command_bus=separate";
const BUSES: [&str; 2] = ["shared", "separate"];
/// Page of 4 KiB at 400 MT/s. Unit: microseconds.
const DATA_US: f64 = 10.24;

/// A flow of sequential single pages on one channel with this many dies, deep enough that pages
/// always wait for each.
fn pages(dies: u32, read_ratio: f64, command_us: f64) -> Scenario {
    let device = flash_only("over_provisioning = \"28%\"", [1, dies, 1, 1], [64, 64], "4KiB");
    let keys = format!(
        "queue_depth = 1024\nread_ratio = {read_ratio:?}\nsize = \"4KiB\"\nalign = \"4KiB\"\n\
         address = \"streaming\"\nrequests = 20000"
    );
    Scenario::new(&device, &tenant("pages", "off", &keys))
        .set("flash.channel_rate", "400MT/s")
        .set("flash.command_time", format!("{}ns", (command_us * 1e3).round()))
}

/// Prints and checks pages per microsecond.
fn compare(case: &str, theory: f64, scenario: &Scenario) {
    let ours = scenario.run().flows[0].bandwidth_bytes_per_s / 4096.0 / 1e6;
    let difference = ours / theory - 1.0;
    println!("{case:<44} {theory:>10.5} {ours:>10.5} {:>8.3} %", 100.0 * difference);
    assert!(difference.abs() < 0.01, "{case}: {ours} pages/us, not {theory}");
}

/// A shared bus carries command and data of each read one after the other, so that a channel reads
/// `min(D / (tCMD + tR + tDATA), 1 / (tCMD + tDATA))` pages with D dies. With two buses the slower
/// one limits the channel: `min(D / (tCMD + tR + tDATA), 1 / max(tCMD, tDATA))`.
#[test]
fn the_slower_bus_limits_reads() {
    for (dies, command_us) in [(2, 5.0), (32, 0.3), (32, 2.0), (32, 5.0), (32, 10.0), (32, 20.0)] {
        let of_dies = f64::from(dies) / (command_us + 50.020 + DATA_US);
        for bus in BUSES {
            let taken = match bus {
                "shared" => command_us + DATA_US,
                _ => DATA_US.max(command_us),
            };
            let scenario = pages(dies, 1.0, command_us).set("flash.command_bus", bus);
            let case = format!("reads, {dies} dies, tCMD {command_us} us, {bus}");
            compare(&case, of_dies.min(1.0 / taken), &scenario);
        }
    }
}

/// A program has both buses in turn: it is sent when both are free, and its data follows. So a
/// channel programs `min(D / (tCMD + tDATA + tPROG), 1 / (tCMD + tDATA))` pages with either bus.
#[test]
fn programs_are_as_fast_on_either_bus() {
    for (dies, command_us) in [(2, 5.0), (8, 0.3), (32, 0.3), (32, 5.0), (32, 20.0)] {
        let taken = command_us + DATA_US;
        let theory = (f64::from(dies) / (taken + 200.0)).min(1.0 / taken);
        for bus in BUSES {
            let scenario = pages(dies, 0.0, command_us)
                .set("flash.command_bus", bus)
                .set("flash.program_time", "[\"200us\"]")
                .set("ftl.precondition.enabled", false)
                .set("flow[0].synthetic.requests", 2000 * dies);
            let case = format!("programs, {dies} dies, tCMD {command_us} us, {bus}");
            compare(&case, theory, &scenario);
        }
    }
}

/// Shares of the time for which data and command buses are taken: the rate of pages times `tDATA`
/// and `tCMD`.
#[test]
fn each_bus_has_its_utilisation() {
    let base = pages(32, 1.0, 4.0);
    let shared = base.run().channels[0];
    assert!(shared.busy_fraction > 0.99, "{shared:?}");
    assert_eq!(shared.command_bus_busy_fraction, None, "there is one bus");
    let separate = base.set("flash.command_bus", "separate").run().channels[0];
    assert!(separate.busy_fraction > 0.99, "{separate:?}");
    let commands = separate.command_bus_busy_fraction.expect("there are two buses");
    assert!((commands / separate.busy_fraction - 4.0 / DATA_US).abs() < 0.001, "{separate:?}");
}

/// Alone, command, array and data of a page follow one another on any bus: the times are equal to
/// the picosecond.
#[test]
fn a_request_alone_takes_as_long_on_either_bus() {
    let device = flash_only("over_provisioning = \"28%\"", [2, 2, 2, 2], [64, 64], "4KiB");
    let keys = "queue_depth = 1\nread_ratio = 0.5\nsize = \"4KiB\"\nalign = \"4KiB\"\n\
                requests = 3000";
    let base = Scenario::new(&device, &tenant("alone", "off", keys))
        .set("flash.channel_rate", "100MT/s")
        .set("ftl.precondition.occupancy", "40%");
    let [shared, separate] =
        BUSES.map(|bus| base.set("flash.command_bus", bus).run().flows.remove(0));
    assert!(shared.response_time_us.mean > 100.0, "{shared:?}");
    assert_eq!(shared.response_time_us, separate.response_time_us);
    assert_eq!(shared.bandwidth_bytes_per_s, separate.bandwidth_bytes_per_s);
}

/// Completions of commands on two dies behind a channel of 100 MT/s. Writes of an empty drive go to
/// the dies in turn.
fn on_two_dies(separate: bool, commands: &[(u64, Command)]) -> Vec<Completion> {
    let mut sets = vec!["flash.dies_per_chip=2", "flash.channel_rate=100MT/s"];
    if separate {
        sets.push(SEPARATE);
    }
    completions_of_one_die(&sets, commands)
}

/// A page of 4 KiB at 100 MT/s. Unit: picoseconds.
const SLOW_DATA: u64 = 40_960_000;

#[test]
fn a_read_is_sent_while_the_data_of_a_program_moves() {
    let start = 5_000 * US;
    let commands = [
        (0, Command::write(0, 8)),
        (0, Command::write(8, 8)),
        (start, Command::write(16, 8)),
        (start + 10 * US, Command::read(8, 8)),
    ];
    let waits = [false, true].map(|separate| {
        let done = on_two_dies(separate, &commands);
        let record = &done[3].record;
        // The command of 1 ns and the data.
        assert_eq!(record.flash_bus_ps, SLOW_DATA + 1_000);
        record.flash_queue_ps
    });
    assert_eq!(waits[1], 0, "the command bus is free, and the data bus is when the page is read");
    let data_left = SLOW_DATA - 10 * US;
    assert!(waits[0].abs_diff(data_left) < US, "a shared bus is taken by the data: {waits:?}");
}

#[test]
fn a_program_waits_for_the_data_bus() {
    let start = 5_000 * US;
    // The data of the read moves from 40 us to 81 us. The write comes at 50 us.
    let commands = [
        (0, Command::write(0, 8)),
        (0, Command::write(8, 8)),
        (start, Command::read(8, 8)),
        (start + 50 * US, Command::write(16, 8)),
    ];
    let done = on_two_dies(true, &commands);
    let waited = done[3].record.flash_queue_ps;
    let data_left = 40 * US + SLOW_DATA - 50 * US;
    assert!(waited.abs_diff(data_left) < US, "it waits for the data: {waited} ps");
}

/// A read command suspends a program while the data of another die moves.
#[test]
fn a_read_suspends_a_program_while_data_moves() {
    let start = 5_000 * US;
    let commands = [
        (0, Command::write(0, 8)),
        (0, Command::write(8, 8)),
        (start, Command::write(16, 8)),
        (start + 100 * US, Command::write(24, 8)),
        (start + 110 * US, Command::read(0, 8)),
    ];
    let sets = [
        "flash.dies_per_chip=2",
        "flash.channel_rate=100MT/s",
        "flash.suspend.program=true",
        "flash.suspend.program_time=5us",
        "flash.suspend.program_min_left=10us",
    ];
    let waits = [&sets[..], &[&sets[..], &[SEPARATE]].concat()]
        .map(|sets| completions_of_one_die(sets, &commands)[4].record.flash_queue_ps);
    assert_eq!(waits[1], 0, "it suspends the program at once: {waits:?}");
    assert!(waits[0] > 25 * US, "a shared bus is taken by the data: {waits:?}");
}

/// Reads without end keep one of the buses busy, or both in turn, whether commands or data take
/// longer. A program needs both buses at once, and yet it waits no longer than on a shared bus.
/// With `fcfs` a write that is the oldest of its die waits only for its channel.
#[test]
fn reads_without_end_do_not_shut_out_programs() {
    let keys = |depth: u32, ratio: f64, requests: u32| {
        format!(
            "queue_depth = {depth}\nread_ratio = {ratio:?}\nsize = \"4KiB\"\n\
             align = \"4KiB\"\nrequests = {requests}"
        )
    };
    let workload = tenant("reads", "off", &keys(64, 1.0, 10_000))
        + &tenant("writes", "off", &keys(1, 0.0, 50));
    let device = flash_only("over_provisioning = \"28%\"", [1, 8, 2, 1], [64, 64], "4KiB");
    let base = Scenario::new(&device, &workload)
        .set("flash.channel_rate", "400MT/s")
        .set("flash.read_time", "[\"5us\"]")
        .set("ftl.precondition.occupancy", "40%")
        .set("scheduler", "fcfs");
    for command_us in [1, 5, 9, 10, 11, 20, 40] {
        let longest = BUSES.map(|bus| {
            let timed = base.set("flash.command_time", format!("{command_us}us"));
            let flows = timed.set("flash.command_bus", bus).run().flows;
            (flows[1].response_time_us.mean, flows[1].response_time_us.max)
        });
        println!("tCMD {command_us} us, mean and longest write: {longest:?} us");
        let [shared, separate] = longest;
        assert!(separate.1 < 1.1 * shared.1, "tCMD {command_us} us: {longest:?}");
    }
}

/// Blame asserts that every wait is charged. Here all waits are for the other flow, or for itself.
#[test]
fn waits_are_charged_on_two_buses() {
    let keys = |ratio: f64| {
        format!(
            "queue_depth = 24\nread_ratio = {ratio:?}\nsize = \"4KiB\"\nalign = \"4KiB\"\n\
             requests = 3000"
        )
    };
    let workload = tenant("reads", "off", &keys(1.0)) + &tenant("both", "off", &keys(0.5));
    let device = flash_only("over_provisioning = \"28%\"", [1, 4, 2, 1], [64, 64], "4KiB");
    let base = Scenario::new(&device, &workload)
        .set("flash.channel_rate", "400MT/s")
        .set("flash.command_time", "3us");
    for bus in BUSES {
        let (_, blame) = base.set("flash.command_bus", bus).blamed();
        for victim in &blame.victims {
            let by_device = victim.by_culprit("device");
            println!("{bus}: {}: device {by_device} of {}", victim.flow, victim.waiting_ps);
            assert!(by_device * 50 < victim.waiting_ps, "{bus}: {victim:?}");
        }
    }
}

/// Each switch to the released MQSim's arithmetic that needs one bus is refused by name.
#[test]
fn what_does_not_go_together_is_refused() {
    for key in ["class_rotation", "one_die_per_dispatch", "scan_at_once", "data_before_commands"] {
        let problems = problems(ONE_DIE, &[SEPARATE, &format!("compat.{key}=true")]);
        let of_key = |line: &String| {
            line.strip_prefix("flash.command_bus: ").is_some_and(|why| why.contains(key))
        };
        assert!(problems.iter().any(of_key), "{key}: {problems:?}");
    }
    assert_eq!(problems(ONE_DIE, &[SEPARATE]), Vec::<String>::new());
}
