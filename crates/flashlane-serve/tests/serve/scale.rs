//! Many commands, many connections, many clients that die: memory and open files stay as they are.
//!
//! `SCALE=all` runs ten million commands and ten thousand connections; `make long` does.

use std::io::Write;
use std::process::Command;
use std::time::Duration;

use flashlane_nvme::{DataPointer, Tenancy, io_opcode as io};
use flashlane_serve::{Door, Pace};

use crate::run::{Draw, Running, config, is_whole};
use crate::tcp_client::{Queue, blocks, bring_up, unit};

/// Commands under way on a queue.
const DEPTH: u64 = 32;

/// True in a process that runs this test and no other, whose memory and files are then those of
/// the test. Otherwise starts such a process, and waits for its success.
fn is_alone(test: &str) -> bool {
    const MARK: &str = "FLASHLANE_ALONE";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("a path");
    let mut child = Command::new(program);
    let output = child.args(["--exact", test, "--nocapture"]).env(MARK, "1").output();
    let output = output.expect("the tests start");
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{error}");
    println!("{text}");
    false
}

/// Memory of this process. Unit: bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages = text.split(' ').nth(1).and_then(|it| it.parse::<u64>().ok()).expect("a number");
    pages * 4096
}

/// Open files of this process.
fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("Linux has it").count()
}

/// A server whose drive is audited, and which keeps no record of its commands.
fn audited() -> Running {
    let mut config = config(Pace::Virtual, Tenancy::Queue);
    config.media.options.check = true;
    config.media.options.blame = false;
    config.limits.controllers = 512;
    Running::without_record(config)
}

/// A random command for the first `space` blocks, as bytes.
fn random(draw: &mut Draw, space: u64, id: u16) -> Vec<u8> {
    let is_write = draw.below(4) == 0;
    let opcode = if is_write { io::WRITE } else { io::READ };
    let kind = if is_write { DataPointer::IN_CAPSULE } else { DataPointer::TRANSPORT };
    let pointer = DataPointer { address: 0, length: 4096, kind };
    let mut entry = blocks(opcode, draw.below(space), 1).with_data(pointer);
    entry.0[2..4].copy_from_slice(&id.to_le_bytes());
    let data: &[u8] = if is_write { &[id as u8; 4096] } else { &[] };
    unit(4, 0, &entry.0, data, 0)
}

/// Runs `count` random commands, `DEPTH` at a time: each completion is answered by a new command,
/// so that the virtual clock need not wait for the client.
fn load(queue: &mut Queue, draw: &mut Draw, (space, count): (u64, u64)) {
    let mut first = Vec::new();
    for id in 0..DEPTH {
        first.extend(random(draw, space, id as u16));
    }
    queue.stream.write_all(&first).expect("the server reads");
    let (mut sent, mut over) = (DEPTH, 0);
    while over < count {
        let answer = queue.receive();
        if answer.kind != 5 {
            continue;
        }
        assert_eq!(answer.header[22..24], [0, 0], "success");
        over += 1;
        if sent < count {
            let id = u16::from_le_bytes([answer.header[20], answer.header[21]]);
            let next = random(draw, space, id);
            queue.stream.write_all(&next).expect("the server reads");
            sent += 1;
        }
    }
}

#[test]
fn memory_stays_as_it_is_over_commands_and_connections() {
    if !is_alone("scale::memory_stays_as_it_is_over_commands_and_connections") {
        return;
    }
    let (commands, connects) = if is_whole() { (10_000_000, 10_000) } else { (60_000, 300) };
    let server = audited();
    let address = server.port(Door::NvmeTcp);
    let mut queues = bring_up(address, 2, 0);
    let (mut draw, space) = (Draw(5), 6000);
    // Every block is written once, so that the data in memory does not grow.
    for first in (0..space).step_by(2) {
        assert!(queues[1].run(blocks(io::WRITE, first, 2), &[1; 8192], 0).0.status.is_success());
    }
    let rounds = 20;
    let mut sizes = Vec::new();
    for round in 0..rounds {
        for queue in &mut queues[1..] {
            load(queue, &mut draw, (space, commands / rounds / 2));
        }
        for _ in 0..connects / rounds {
            drop(bring_up(address, 1, 0));
        }
        sizes.push(resident());
        if is_whole() {
            println!("round {round}: {} KiB", sizes[sizes.len() - 1] >> 10);
        }
    }
    // The first rounds fill what is reused.
    let (early, late) = (sizes[3], sizes[sizes.len() - 1]);
    assert!(late < early + early / 20 + (4 << 20), "{early} grew to {late}");
    drop(queues);
    let outcome = server.stop();
    assert_eq!(outcome.summary.requests_completed, commands + space / 2);
    assert!(outcome.connections >= connects);
}

/// Allows the process to have `count` files open. False if it may not.
fn allow_files(count: u64) -> bool {
    let limits = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    if limits.maximum.is_some_and(|it| it < count) {
        return false;
    }
    let wanted = rustix::process::Rlimit { current: Some(count), maximum: limits.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, wanted).is_ok()
}

#[test]
fn a_thousand_clients_at_a_time_are_served_and_die() {
    if !allow_files(4096) {
        flashlane_testing::skip("4096 open files");
        return;
    }
    if !is_alone("scale::a_thousand_clients_at_a_time_are_served_and_die") {
        return;
    }
    let server = audited();
    let mut steady = bring_up(server.port(Door::NvmeTcp), 1, 0);
    let read = || blocks(io::READ, 0, 1);
    assert!(steady[1].run(read(), &[], 4096).0.status.is_success());
    let before = open_files();
    for round in 0..2 {
        let mut clients: Vec<_> = (0..1000).map(|_| server.nbd("", true)).collect();
        for (number, client) in clients.iter_mut().enumerate() {
            let offset = number as u64 * 4096;
            assert_eq!(client.run((1, 0), offset, 4096, &[number as u8; 4096]).0, 0);
            assert!(client.run((0, 0), offset, 4096, &[]).1 == [number as u8; 4096]);
        }
        for (number, mut client) in clients.into_iter().enumerate() {
            // A write whose data ends in the middle, a part of a request, or a read that nobody
            // takes.
            match number % 3 {
                0 => drop(client.send((1, 0), 0, 65536, &[9; 30_000])),
                1 => client.stream.write_all(&[0x25, 0x60, 0x95]).expect("the server reads"),
                _ => drop(client.send((0, 0), 0, 65536, &[])),
            }
            drop(client);
        }
        assert!(steady[1].run(read(), &[], 4096).0.status.is_success(), "round {round}");
    }
    // The server closes its ends as it notices.
    let mut tries = 0;
    while open_files() > before && tries < 1000 {
        std::thread::sleep(Duration::from_millis(10));
        tries += 1;
    }
    assert_eq!(open_files(), before, "no connection is left");
    drop(steady);
    let outcome = server.stop();
    assert!(outcome.connections >= 2000);
}
