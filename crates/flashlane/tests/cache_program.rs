//! Cache program (`flash.cache_program`): a program hides the transfer of the next one.

use crate::common::{ONE_DIE, Scenario, completions_of_one_die, flash_only, problems};
use flashlane::drive::{Command, Completion};

const US: u64 = 1_000_000;

const WRITES: &str = r#"
[[flow]]
name = "writes"
cache = "off"
[flow.synthetic]
queue_depth = 16
read_ratio = 0.0
size = "4KiB"
align = "4KiB"
address = "streaming"
requests = 3000
"#;

/// Sequential writes to an empty drive of one die, deep enough that pages always wait.
fn writes(planes: u32, program: &str, rate: &str) -> Scenario {
    let device = flash_only("over_provisioning = \"28%\"", [1, 1, 1, planes], [64, 64], "4KiB");
    Scenario::new(&device, WRITES)
        .set("ftl.precondition.enabled", false)
        .set("flash.program_time", format!("[\"{program}\"]"))
        .set("flash.channel_rate", rate)
}

/// Bytes of 4 KiB pages per second, where one page of each plane takes `us` microseconds.
fn rate(planes: u32, us: f64) -> f64 {
    f64::from(planes) * 4096.0 / us * 1e6
}

fn bandwidth(scenario: &Scenario) -> f64 {
    scenario.run().flows[0].bandwidth_bytes_per_s
}

/// One die takes `tPROG + t_data` for each program, and `max(tPROG, t_data)` with cache program.
/// `t_data` is that of all planes, with commands and addresses (361 ns for the first plane, 816 ns
/// for each other).
#[test]
fn a_program_hides_the_transfer_of_the_next_one() {
    println!("{:<28} {:>10} {:>10} {:>8}", "case", "theory MB/s", "ours MB/s", "diff %");
    for (planes, program_us, mega) in [
        (1, 500.0, 100),
        (1, 100.0, 100),
        (1, 50.0, 100),
        (1, 41.321, 100),
        (1, 20.0, 100),
        (2, 200.0, 100),
        (2, 50.0, 100),
        (4, 200.0, 400),
    ] {
        let more = f64::from(planes - 1);
        let data = f64::from(planes) * 4096.0 / f64::from(mega) + 0.361 + 0.816 * more;
        let base = writes(planes, &format!("{}ns", program_us * 1e3), &format!("{mega}MT/s"));
        for (on, period) in [(false, program_us + data), (true, program_us.max(data))] {
            let ours = bandwidth(&base.set("flash.cache_program", on));
            let theory = rate(planes, period);
            let difference = ours / theory - 1.0;
            println!(
                "{:<28} {:>10.3} {:>10.3} {:>8.3}",
                format!("{planes} planes, {program_us} us, {on}"),
                theory / 1e6,
                ours / 1e6,
                100.0 * difference
            );
            assert!(difference.abs() < 0.01, "{planes} planes, {program_us} us, {on}: {ours}");
        }
    }
}

/// Every policy that may fill registers does so.
#[test]
fn every_policy_that_is_allowed_fills_the_register() {
    for policy in ["fcfs", "host-first", "read-priority", "out-of-order", "priority-out-of-order"] {
        let scenario =
            writes(1, "50us", "100MT/s").set("scheduler", policy).set("flash.cache_program", true);
        let share = bandwidth(&scenario) / rate(1, 50.0);
        assert!((share - 1.0).abs() < 0.01, "{policy}: {share}");
    }
}

/// Gives dies a cache register.
const REGISTER: &str = "flash.cache_program=true";
const DATA: u64 = 1_025_000;
const PROGRAM: u64 = 500 * US;

/// Completions of commands on one die with a cache register.
fn completions(commands: &[(u64, Command)]) -> Vec<Completion> {
    completions_of_one_die(&[REGISTER], commands)
}

fn write(page: u64) -> Command {
    Command::write(8 * page, 8)
}

#[test]
fn pages_wait_in_the_register_until_the_array_is_free() {
    let done = completions(&[(0, write(0)), (0, write(1)), (0, write(2)), (0, write(3))]);
    let ends: Vec<u64> = done.iter().map(|completion| completion.at().0).collect();
    let apart: Vec<u64> = ends.windows(2).map(|ends| ends[1] - ends[0]).collect();
    assert_eq!(apart, [PROGRAM; 3], "the array never waits for data");
    for (completion, number) in done.iter().zip(0..) {
        let record = &completion.record;
        assert_eq!((record.flash_bus_ps, record.flash_array_ps), (DATA, PROGRAM));
        // All four reach the queue within the time of a page on the channel.
        let expected = number * PROGRAM;
        assert!(
            record.flash_queue_ps.abs_diff(expected) < DATA,
            "page {number} waits for its queue and its register: {}",
            record.flash_queue_ps
        );
    }
}

#[test]
fn a_read_goes_before_programs_that_are_not_in_the_register() {
    let read = Command::read(0, 8);
    let start = 2_000 * US;
    // The read comes when the register is full, so it waits for both programs.
    let behind = [(0, write(0)), (start, write(1)), (start, write(2)), (start + 100 * US, read)];
    let done = completions(&behind);
    let waited = done[3].record.flash_queue_ps;
    let both = 2 * PROGRAM - 100 * US;
    assert!(waited.abs_diff(both) < 3 * DATA, "behind both: {waited} ps");
    // The read comes first, and the policy puts reads first: the register stays empty.
    let before =
        [(0, write(0)), (start, write(1)), (start + 100 * US, read), (start + 200 * US, write(2))];
    let done = completions(&before);
    let waited = done[2].record.flash_queue_ps;
    assert!(waited.abs_diff(PROGRAM - 100 * US) < 3 * DATA, "behind one: {waited} ps");
    let after_read = done[3].at().0 - done[2].at().0;
    assert!(after_read.abs_diff(PROGRAM) < 3 * DATA, "the write comes after it: {after_read} ps");
}

/// Waits in the register are waits for the die: blame charges all of them, to the flow that has the
/// die. (Blame asserts that every wait is charged.)
#[test]
fn waits_in_the_register_are_blamed_on_the_flow_that_programs() {
    let flow = |name: &str, channel: &str| {
        WRITES.replace("\"writes\"", name).replace("cache = \"off\"", channel)
    };
    let workload = flow("\"first\"", "cache = \"off\"") + &flow("\"second\"", "cache = \"off\"");
    let device = flash_only("over_provisioning = \"28%\"", [1, 1, 1, 1], [256, 64], "4KiB");
    let (_, blame) = Scenario::new(&device, &workload)
        .set("ftl.precondition.enabled", false)
        .set("flash.cache_program", true)
        .set("flash.program_time", "[\"100us\"]")
        .set("flash.channel_rate", "100MT/s")
        .blamed();
    for victim in &blame.victims {
        let other = if victim.flow == "first" { "second" } else { "first" };
        let share = victim.by_culprit(other) as f64 / victim.waiting_ps as f64;
        assert!((0.4..0.6).contains(&share), "{} waits for {other}: {share}", victim.flow);
    }
}

/// Each mechanism that does not go together with cache program is refused by name.
#[test]
fn what_does_not_go_together_is_refused() {
    for (set, with) in [
        ("flash.suspend.program=true", "flash.suspend.program"),
        ("ftl.gc.copyback=true", "ftl.gc.copyback"),
        ("flash.technology=in-place", "memory that is written in place"),
        ("compat.class_rotation=true", "compat.class_rotation"),
        ("compat.one_die_per_dispatch=true", "compat.one_die_per_dispatch"),
        ("compat.scan_at_once=true", "compat.scan_at_once"),
        ("scheduler=flin", "scheduler flin"),
        ("scheduler=sprinkler", "scheduler sprinkler"),
        ("scheduler=sprinkler-fairness", "scheduler sprinkler-fairness"),
    ] {
        let problems = problems(ONE_DIE, &[REGISTER, set]);
        let of_key = |line: &String| {
            line.strip_prefix("flash.cache_program: ").is_some_and(|why| why.contains(with))
        };
        let named = problems.iter().any(of_key);
        assert!(named, "{set}: {problems:?}");
    }
}
