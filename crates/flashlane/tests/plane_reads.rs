//! Independent reads of planes (`flash.independent_plane_reads`): each plane of a die reads by
//! itself. Cache read (`flash.cache_read`): it senses while its last page crosses the channel.

use crate::common::{ONE_DIE, Scenario, completions_of_one_die, flash_only, problems};
use flashlane::drive::{Command, Completion};

const US: u64 = 1_000_000;

const READS: &str = r#"
[[flow]]
name = "reads"
cache = "off"
[flow.synthetic]
queue_depth = 512
read_ratio = 1.0
size = "4KiB"
align = "4KiB"
requests = 20000
"#;

/// Random reads of single pages of one die, deep enough that pages wait for every plane.
fn reads(planes: u32, read: &str, rate: &str) -> Scenario {
    let device = flash_only("over_provisioning = \"28%\"", [1, 1, 1, planes], [64, 64], "4KiB");
    Scenario::new(&device, READS)
        .set("flash.read_time", format!("[\"{read}\"]"))
        .set("flash.channel_rate", rate)
        .set("flash.command_time", "1ns")
}

/// Pages per second.
fn throughput(scenario: &Scenario) -> f64 {
    scenario.run().flows[0].bandwidth_bytes_per_s / 4096.0
}

/// A plane reads a page in `tR` and its own parts: command, ready delay, transfer. The channel
/// takes command and transfer of each page. So the closed network has the throughput
/// `min(P / (tR + own parts), 1 / (command + transfer))`.
#[test]
fn planes_read_at_the_same_time() {
    println!("{:<28} {:>12} {:>12} {:>8}", "case", "theory pages", "ours pages", "diff %");
    for (planes, read_us, mega) in [
        (1, 100.0, 4000),
        (2, 100.0, 4000),
        (4, 100.0, 4000),
        (8, 200.0, 4000),
        (2, 10.0, 100),
        (4, 100.0, 100),
        (4, 20.0, 400),
    ] {
        let bus = 4096.0 / f64::from(mega) + 0.001;
        let whole = read_us + 0.020 + bus;
        // Sequential pages go to the planes in turn, so that no plane runs out of work.
        let base = reads(planes, &format!("{}ns", read_us * 1e3), &format!("{mega}MT/s"))
            .set("flow[0].synthetic.address", "streaming");
        let theory = (f64::from(planes) / whole).min(1.0 / bus) * 1e6;
        let ours = throughput(&base.set("flash.independent_plane_reads", true));
        let together = throughput(&base);
        let difference = ours / theory - 1.0;
        println!(
            "{:<28} {theory:>12.1} {ours:>12.1} {:>8.3}   (off: {together:.1})",
            format!("{planes} planes, {read_us} us, {mega} MT/s"),
            100.0 * difference,
        );
        assert!(difference.abs() < 0.01, "{planes} planes, {read_us} us: {ours}, not {theory}");
    }
}

/// With cache read a plane senses the next page while the last one crosses the channel: a plane
/// takes `command + max(tR, t_data)` for each page, and not the sum.
#[test]
fn a_plane_senses_the_next_page_during_a_transfer() {
    println!("{:<28} {:>12} {:>12} {:>8}", "case", "theory pages", "ours pages", "diff %");
    for (planes, read_us, mega) in [
        (1, 100.0, 100),
        (1, 40.0, 100),
        (1, 40.96, 100),
        (1, 20.0, 100),
        (2, 100.0, 400),
        (4, 100.0, 400),
        (4, 20.0, 400),
    ] {
        let (data, sensing) = (4096.0 / f64::from(mega), read_us + 0.020);
        let base = reads(planes, &format!("{}ns", read_us * 1e3), &format!("{mega}MT/s"))
            .set("flow[0].synthetic.address", "streaming")
            .set("flash.independent_plane_reads", true);
        let bus = 1.0 / (0.001 + data);
        for (on, whole) in [(false, data + sensing), (true, data.max(sensing))] {
            let theory = bus.min(f64::from(planes) / (0.001 + whole)) * 1e6;
            let ours = throughput(&base.set("flash.cache_read", on));
            let difference = ours / theory - 1.0;
            println!(
                "{:<28} {theory:>12.1} {ours:>12.1} {:>8.3}",
                format!("{planes} planes, {read_us} us, {mega} MT/s, {on}"),
                100.0 * difference,
            );
            // Several planes that nearly fill the channel wait for one another.
            let within = if planes == 1 { 0.001 } else { 0.01 };
            assert!(difference.abs() < within, "{planes} planes, {read_us} us, {on}: {ours}");
        }
    }
}

/// Every policy that may read by plane does so. With `fcfs` nobody is overtaken, so the oldest page
/// holds the others up when its plane is busy.
#[test]
fn every_policy_that_is_allowed_reads_by_plane() {
    let base = reads(4, "100us", "4000MT/s");
    let one = throughput(&reads(1, "100us", "4000MT/s"));
    for (policy, least) in [
        ("fcfs", 1.9),
        ("host-first", 3.96),
        ("read-priority", 3.96),
        ("out-of-order", 3.96),
        ("priority-out-of-order", 3.96),
    ] {
        let scenario = base.set("scheduler", policy).set("flash.independent_plane_reads", true);
        let times = throughput(&scenario) / one;
        println!("{policy:<24} {times:.3}");
        assert!((least..4.04).contains(&times), "{policy}: {times}");
    }
}

/// Two planes, which read independently.
const BY_PLANE: [&str; 2] = ["flash.planes_per_die=2", "flash.independent_plane_reads=true"];
const DATA: u64 = 1_025_000;
const READ: u64 = 40 * US + 20_000;
const PROGRAM: u64 = 500 * US;

/// Completions of commands on one die of two planes, which read independently.
fn completions(sets: &[&str], commands: &[(u64, Command)]) -> Vec<Completion> {
    completions_of_one_die(&[&BY_PLANE, sets].concat(), commands)
}

fn write(page: u64) -> Command {
    Command::write(8 * page, 8)
}

fn read(page: u64) -> Command {
    Command::read(8 * page, 8)
}

/// Logical pages go to the planes in turn, so pages 0 and 2 are on the same plane.
#[test]
fn reads_start_by_themselves_and_breakdowns_are_exact() {
    let start = 10_000 * US;
    let commands: Vec<_> = (0..4).map(|page| (0, write(page))).collect();
    let reads = [
        (start, read(0)),
        (start + 10 * US, read(1)),
        (start + 20 * US, read(2)),
        (start + 25 * US, read(3)),
    ];
    let done = completions(&[], &[&commands[..], &reads].concat());
    let waits: Vec<u64> = done[4..].iter().map(|done| done.record.flash_queue_ps).collect();
    for completion in &done[4..] {
        let record = &completion.record;
        assert_eq!((record.flash_bus_ps, record.flash_array_ps), (DATA, READ));
    }
    assert_eq!(waits[..2], [0, 0], "another plane keeps nobody waiting");
    // The third read waits for the first one up to the end of its transfer.
    let rest = READ + DATA - 20 * US;
    assert!(waits[2].abs_diff(rest) < US / 10, "behind its plane: {} ps", waits[2]);
    let rest = READ + DATA - 15 * US;
    assert!(waits[3].abs_diff(rest) < US / 10, "behind its plane: {} ps", waits[3]);
}

#[test]
fn programs_wait_for_all_planes_and_reads_for_programs() {
    let start = 10_000 * US;
    let commands = [
        (0, write(0)),
        (0, write(1)),
        (start, read(0)),
        (start + 10 * US, read(1)),
        // The program waits for both planes, and a read of the free plane waits for the program.
        (start + 20 * US, write(2)),
        (start + 200 * US, read(1)),
    ];
    let done = completions(&["flash.suspend.program=false"], &commands);
    let wait = |at: usize| done[at].record.flash_queue_ps;
    let of_program = READ + DATA - 10 * US;
    assert!(wait(4).abs_diff(of_program) < US / 10, "for both planes: {} ps", wait(4));
    let program_ends = 10 * US + READ + 2 * DATA + PROGRAM;
    let of_read = program_ends - 200 * US;
    assert!(wait(5).abs_diff(of_read) < US / 10, "for the program: {} ps", wait(5));
}

/// With suspension, reads of both planes go while the program is suspended.
#[test]
fn planes_read_while_a_program_is_suspended() {
    let start = 10_000 * US;
    let commands = [
        (0, write(0)),
        (0, write(1)),
        (start, write(2)),
        (start + 200 * US, read(0)),
        (start + 210 * US, read(1)),
    ];
    let suspends = [
        "flash.suspend.program=true",
        "flash.suspend.program_time=10us",
        "flash.suspend.program_min_left=10us",
    ];
    let done = completions(&suspends, &commands);
    let wait = |at: usize| done[at].record.flash_queue_ps;
    // The two reads end at the same time, so one waits for the transfer of the other.
    assert!(
        wait(3) < DATA && wait(4) < DATA,
        "neither waits for the program: {:?}",
        [3, 4].map(wait)
    );
    let program = &done[2].record;
    assert_eq!(program.flash_array_ps, PROGRAM, "it goes on with what was left");
    // From the first command to the end of the second transfer.
    let suspended = 10 * US + READ + DATA;
    assert!(program.flash_queue_ps.abs_diff(suspended) < 2 * US, "{}", program.flash_queue_ps);
}

/// Three reads of one plane. The second is sensed while the first crosses the channel. It waits in
/// the data register up to the end of that transfer, and the third waits for the data register.
#[test]
fn data_waits_until_the_cache_register_is_empty() {
    let start = 10_000 * US;
    let commands: Vec<_> = (0..5).map(|page| (0, write(page))).collect();
    let reads = [(start, read(0)), (start, read(2)), (start, read(4))];
    let slow = ["flash.cache_read=true", "flash.channel_rate=50MT/s"];
    let done = completions(&slow, &[&commands[..], &reads].concat());
    // 1 ns and 4096 bytes at 50 MB/s.
    let (command, data) = (1_000, 81_920_000);
    let ends: Vec<u64> = done[5..].iter().map(|done| done.at().0 - start).collect();
    for completion in &done[5..] {
        let record = &completion.record;
        assert_eq!((record.flash_bus_ps, record.flash_array_ps), (command + data, READ));
    }
    for (end, number) in ends.iter().zip(1..) {
        // The transfers follow one another; commands of the next reads go in between.
        let expected = READ + number * data;
        assert!(end.abs_diff(expected) < 2 * US, "transfer {number} ends at {end} ps");
    }
    let waits: Vec<u64> = done[5..].iter().map(|done| done.record.flash_queue_ps).collect();
    assert!(waits[0] < US && waits[1].abs_diff(data) < 2 * US, "{waits:?}");
    assert!(waits[2].abs_diff(2 * data) < 2 * US, "{waits:?}");
}

/// Waits are charged to whoever occupied the plane. Two flows read the same die; with one plane of
/// its own each, they would never wait for one another. (Blame asserts that every wait is charged.)
#[test]
fn waits_are_blamed_on_the_flow_that_has_the_plane() {
    let flow = |name: &str, ratio: &str| {
        READS
            .replace("\"reads\"", name)
            .replace("= 512", "= 24")
            .replace("read_ratio = 1.0", &format!("read_ratio = {ratio}"))
            .replace("20000", "6000")
    };
    let workload = flow("\"first\"", "1.0") + &flow("\"second\"", "1.0");
    let device = flash_only("over_provisioning = \"28%\"", [1, 1, 1, 4], [256, 64], "4KiB");
    for (ratio, cached) in [("1.0", false), ("0.7", false), ("1.0", true), ("0.7", true)] {
        let workload = workload.replace("1.0", ratio);
        let (_, blame) = Scenario::new(&device, &workload)
            .set("flash.independent_plane_reads", true)
            .set("flash.suspend.program", true)
            .set("flash.cache_read", cached)
            .set("ftl.over_provisioning", "60%")
            .blamed();
        for victim in &blame.victims {
            let other = if victim.flow == "first" { "second" } else { "first" };
            let share = victim.by_culprit(other) as f64 / victim.waiting_ps as f64;
            println!("{ratio}: {} waits for {other}: {share:.3}", victim.flow);
            // Alone, a flow that also writes would wait less for itself.
            let most = if ratio == "1.0" { 0.6 } else { 0.7 };
            assert!((0.4..most).contains(&share), "{} waits for {other}: {share}", victim.flow);
        }
    }
}

/// Each mechanism that does not go together with independent reads is refused by name.
#[test]
fn what_does_not_go_together_is_refused() {
    for (set, with) in [
        ("ftl.gc.copyback=true", "ftl.gc.copyback"),
        ("flash.technology=in-place", "memory that is written in place"),
        ("errors.model=tlc-3d", "[errors]"),
        ("compat.class_rotation=true", "compat.class_rotation"),
        ("compat.one_die_per_dispatch=true", "compat.one_die_per_dispatch"),
        ("compat.scan_at_once=true", "compat.scan_at_once"),
        ("scheduler=flin", "scheduler flin"),
        ("scheduler=sprinkler", "scheduler sprinkler"),
        ("scheduler=sprinkler-fairness", "scheduler sprinkler-fairness"),
    ] {
        let problems = problems(ONE_DIE, &[&BY_PLANE[..], &[set]].concat());
        let key = "flash.independent_plane_reads: ";
        let of_key = |line: &String| line.strip_prefix(key).is_some_and(|why| why.contains(with));
        let named = problems.iter().any(of_key);
        assert!(named, "{set}: {problems:?}");
    }
    let alone = ["flash.independent_plane_reads=false", "flash.cache_read=true"];
    let problems = problems(ONE_DIE, &alone);
    assert!(problems.iter().any(|line| line.starts_with("flash.cache_read: ")), "{problems:?}");
}
