//! Programs in virtual time.

use std::process::Command;

use crate::common::{config, run, shipped, sqlite, testing};
use flashlane::Drive;
use flashlane::config::load::{self, Overrides};
use flashlane::drive::Tenant;
use flashlane::observe::Observe;
use flashlane::{RunOptions, simulate_in_detail};

use flashlane_exec::{ExecConfig, ExecOptions, trace};

/// The kernel costs nothing, and instructions hardly anything.
const BARE: &str =
    "[core]\nhertz = 1_000_000_000\n[host]\ncall_instructions = 0\npage_instructions = 0";

const WATCHED: ExecOptions =
    ExecOptions { alone: false, threads: 1, blame: true, capture: true, check: true };

#[test]
fn a_loop_of_direct_reads_sees_exactly_the_latency_of_the_drive() {
    let Some(program) = shipped("odirect_loop") else { return };
    let config = config(&[("loop", &program, &["reads=200", "file=1m"])], BARE);
    let results = run(&config, &WATCHED).expect("the program ends");
    let shared = &results.shared;
    let loops = &shared.programs[0];
    assert_eq!((loops.requests.read, loops.requests.write), (200, 0));
    assert_eq!((loops.outstanding.max, shared.captured.len()), (1, 200));
    // The program's time is its instructions and the latency of each read, nothing else.
    let waited: u64 = shared.latencies.iter().sum();
    let instructions = loops.instructions * 1000;
    let measured = (loops.measured_s * 1e12).round() as u64;
    assert_eq!(measured, waited + instructions, "{loops:?}");
    // A drive that nobody has used gives the same latencies for the same reads.
    let device = load::device("tiny", &Overrides::default()).expect("a preset").config;
    let mut drive = Drive::new(&device, &[Tenant::named("loop")], 1).expect("a valid drive");
    let mut completions = Vec::new();
    for (one, &latency) in shared.captured.iter().zip(&shared.latencies) {
        assert_eq!(one.command.sectors, 8);
        drive.submit(one.at, 0, one.command, 0).expect("a valid command");
        while drive.step(&mut completions).expect("the drive goes on").is_some() {}
        let done = completions.pop().expect("it is complete");
        assert_eq!(done.at().0 - one.at.0, latency);
    }
    // And the program was told the same.
    let told: u64 = loops.output.split(' ').nth(3).and_then(|n| n.parse().ok()).expect("a number");
    assert!(told * 1000 >= waited && told * 1000 <= measured, "{told} ns");
}

/// The message that a program's run ends with.
fn failure(program: &str, arguments: &[&str], more: &str) -> Option<String> {
    let path = testing(program)?;
    let config = config(&[("victim", &path, arguments)], more);
    let error = run(&config, &ExecOptions::default()).expect_err("it cannot end well");
    assert_eq!(error.exit_status(), 3);
    Some(error.to_string())
}

#[test]
fn what_programs_use_works() {
    let Some(program) = testing("everything") else { return };
    let config = config(&[("all", &program, &[])], "");
    let results = run(&config, &WATCHED).expect("it ends");
    assert_eq!(results.shared.programs[0].output, "everything works\n");
}

#[test]
fn a_crash_is_an_error_that_names_program_and_last_call() {
    let Some(message) = failure("crash", &[], "") else { return };
    for part in ["program victim: thread 0 crashed", "last system call was `read`", "before the"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn an_unknown_system_call_is_an_error_that_names_it() {
    let Some(message) = failure("unknown_call", &[], "") else { return };
    assert!(
        message.contains("program victim: thread 0 makes system call 499, which is"),
        "{message}"
    );
    let Some(message) = failure("unknown_call", &["198"], "") else { return };
    assert!(message.contains("system call 198 (`socket`), which is not supported"), "{message}");
}

#[test]
fn a_deadlock_is_an_error_that_names_who_waits() {
    let Some(message) = failure("deadlock", &[], "") else { return };
    for part in
        ["deadlock", "program victim: thread 0 waits in `futex`", "thread 1 waits in `futex`"]
    {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_program_that_does_not_end_is_an_error() {
    let Some(message) = failure("endless", &[], "[limits]\ninstructions = 10_000_000") else {
        return;
    };
    assert!(message.contains("program victim: found more than 10000000 instructions"), "{message}");
    let Some(message) = failure("endless", &["sleep"], "[limits]\ntime = \"10s\"") else { return };
    assert!(message.contains("of simulated time, which is limits.time"), "{message}");
}

/// A drive that nobody has used: what a tenant did before depends on its source of requests.
const FRESH: &str = "set = [\"ftl.precondition.enabled=false\"]\n[host]\ncache = \"2MiB\"";

/// Two programs that share a drive: buffered files with threads, and asynchronous direct I/O.
fn pair() -> Option<ExecConfig> {
    let (files, large) = (shipped("fileserver")?, shipped("iozone")?);
    let small = ["ms=50", "files=60", "size=32k", "threads=12"];
    let deep = ["ms=50", "file=4m", "record=16k", "depth=24", "first=2"];
    Some(config(&[("fs", &files, &small), ("io", &large, &deep)], FRESH))
}

#[test]
fn two_programs_give_the_same_blame_as_their_requests_as_a_trace() {
    let Some(config) = pair() else { return };
    let results = run(&config, &WATCHED).expect("the programs end");
    let captured = &results.shared.captured;
    assert!(captured.len() > 1000, "{:#?}", results.shared.programs);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pair.csv");
    std::fs::write(&path, trace(captured, &["fs", "io"])).expect("a file");
    let flow = |name: &str, device: usize| {
        format!(
            "[[flow]]\nname = \"{name}\"\non_end = \"stop\"\n[flow.trace]\npath = {path:?}\ndevices = [{device}]\n"
        )
    };
    let text = format!("window = \"whole-run\"\n{}{}", flow("fs", 0), flow("io", 1));
    let overrides = Overrides { sets: config.set.clone(), ..Overrides::default() };
    let device = load::device("tiny", &overrides).expect("a preset").config;
    let workload = load::workload_from_toml(&text, "pair.toml", &Overrides::default());
    let workload = workload.expect("a workload").config;
    let observe = Observe { blame: true, ..Observe::default() };
    let options = RunOptions { observe, ..RunOptions::default() };
    let (summary, details) =
        simulate_in_detail(&device, &workload, &options, &|_| {}).expect("the trace ends");
    for (flow, program) in summary.flows.iter().zip(&results.shared.summary.flows) {
        assert_eq!(flow.requests, program.requests);
        assert_eq!(flow.response_time_us, program.response_time_us);
    }
    let (ours, theirs) =
        (details.blame.expect("asked for"), results.shared.blame.expect("asked for"));
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
}

#[test]
fn results_are_the_same_on_any_number_of_threads() {
    let Some(config) = pair() else { return };
    let json = |threads| {
        let options = ExecOptions { alone: true, threads, ..ExecOptions::default() };
        run(&config, &options).expect("the programs end").json(&config)
    };
    let one = json(1);
    assert_eq!(one, json(3));
    assert!(one.contains("\"fairness\""), "{one}");
}

/// SQLite with a write-ahead log and with a rollback journal: its database is whole, and holds what
/// the same workload gives on this machine.
#[test]
fn sqlite_keeps_its_database_whole_and_equal_to_a_native_one() {
    let Some((guest, native)) = sqlite() else { return };
    for wal in ["wal=1", "wal=0"] {
        let arguments = ["threads=3", "rounds=8", wal];
        let more = "set = [\"flash.blocks_per_plane=256\"]";
        let mut config = config(&[("db", &guest, &arguments)], more);
        config.programs[0].keep = vec!["/database".to_owned()];
        let results = run(&config, &ExecOptions::default()).expect("the program ends");
        let program = &results.shared.programs[0];
        assert!(program.requests.write > 20, "{program:?}");
        assert!(program.requests.flush > 10, "{program:?}");
        let folder = tempfile::tempdir().expect("a folder");
        let told = |arguments: &[&str], file: &str| {
            let path = format!("path={}", folder.path().join(file).display());
            let output = Command::new(&native).args(arguments).arg(path).output();
            let output = output.expect("the native workload runs");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{errors}");
            String::from_utf8(output.stdout).expect("text")
        };
        assert_eq!(program.output, told(&arguments, "native"), "{wal}: the same data");
        let (_, _, image) = &results.shared.kept[0];
        std::fs::write(folder.path().join("image"), image).expect("a file");
        assert_eq!(program.output, told(&["check=1"], "image"), "{wal}: the image is whole");
    }
}

/// A program that reads or writes eight bytes at an address and ends, as instructions.
#[cfg(target_os = "linux")]
fn prober(address: u64, writes: bool) -> Vec<u8> {
    const BASE: u64 = 0x10000;
    const HEADERS: u64 = 64 + 56;
    let access = if writes { 0x00B5_3023 } else { 0x0005_3583 };
    // auipc t0, 0; ld a0, 24(t0); access at a0; a7 = 93 (exit); a0 = 0; ecall; the address.
    let code: [u32; 6] = [0x0000_0297, 0x0182_B503, access, 0x05D0_0893, 0x0000_0513, 0x0000_0073];
    let length = HEADERS + 32;
    let mut elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xf3\0\x01\0\0\0".to_vec();
    for word in [BASE + HEADERS, 64, length] {
        elf.extend(word.to_le_bytes());
    }
    elf.extend(5_u32.to_le_bytes());
    for half in [64_u16, 56, 1, 64, 1, 0] {
        elf.extend(half.to_le_bytes());
    }
    // One segment: loaded, readable and executable.
    elf.extend([1_u32, 5].map(u32::to_le_bytes).concat());
    for word in [0, BASE, BASE, length, length, 0x1000] {
        elf.extend(word.to_le_bytes());
    }
    assert_eq!(elf.len() as u64, HEADERS);
    elf.extend(code.map(u32::to_le_bytes).concat());
    elf.extend(address.to_le_bytes());
    // The emulator wants a section, if only an empty one.
    elf.extend([0; 128]);
    elf
}

#[test]
#[cfg(target_os = "linux")]
fn a_pointer_to_nothing_is_a_crash_that_names_the_address() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("probe");
    let run = |address: u64, writes: bool| {
        std::fs::write(&path, prober(address, writes)).expect("room");
        crate::common::run(
            &crate::common::config(&[("wild", &path, &[])], ""),
            &ExecOptions::default(),
        )
    };
    // The code of the program.
    run(0x10000, false).expect("it may be read");
    // A structure behind a null pointer; behind the segments; behind the stack; behind the memory;
    // what is written there in examples of debuggers; the last bytes of the address space.
    let wild = [0x800, 0x4000, 0x100_0000, 0xA00_0000, 0xDEAD_BEE8, (1 << 38) - 8];
    for address in wild {
        for writes in [false, true] {
            let error = run(address, writes).expect_err("it crashes").to_string();
            assert!(error.contains("program wild") && error.contains("crashed"), "{error}");
            if address >= 0x1000 {
                let named = format!("memory that the program does not have, at {address:#x}");
                assert!(error.contains(&named), "{address:#x} {writes}: {error}");
            }
            if cfg!(target_arch = "x86_64") && address >= 0x1000 {
                assert!(error.contains(if writes { "a write to" } else { "a read of" }), "{error}");
            }
        }
    }
}
