//! NVMe/TCP: bring-up, data of all sizes, digests, discovery.

use std::time::{Duration, Instant};

use flashlane::Time;
use flashlane_nvme::{
    DISCOVERY_NQN, Entry, Status, Tenancy, admin_opcode as admin, io_opcode as io,
};
use flashlane_serve::{Door, Pace};

use crate::run::{Draw, Running, completed, config, data, replay};
use crate::tcp_client::{NQN, Queue, blocks, bring_up};

#[test]
fn data_of_all_sizes_arrives() {
    for digests in 0..4 {
        let server = Running::start(config(Pace::Virtual, Tenancy::Queue));
        let mut queues = bring_up(server.port(Door::NvmeTcp), 2, digests);
        for count in [1_u32, 2, 3, 16, 32] {
            let sent = data(0, count as usize * 4096, count as u8);
            let (done, _) = queues[1].run(blocks(io::WRITE, 7, count), &sent, 0);
            assert!(done.status.is_success(), "{count} blocks: {}", done.status);
            let (done, got) = queues[2].run(blocks(io::READ, 7, count), &[], sent.len());
            assert!(done.status.is_success() && got == sent, "{count} blocks");
        }
        let (done, _) = queues[1].run(blocks(io::READ, 1 << 31, 1), &[], 4096);
        assert_eq!(done.status, Status::LBA_OUT_OF_RANGE);
        let (done, _) = queues[1].run(blocks(io::READ, 0, 1), &[], 8192);
        assert_eq!(done.status, Status::DATA_LENGTH_INVALID);
        let times = completed(&server.kept);
        assert!(times.is_sorted() && times[0] > Time::ZERO);
        let kept = server.kept.clone();
        server.stop();
        assert_eq!(replay(&kept, Tenancy::Queue), 10);
    }
}

/// So Linux deallocates blocks.
#[test]
fn one_range_comes_with_room_for_256() {
    let server = Running::start(config(Pace::Virtual, Tenancy::Queue));
    let mut queues = bring_up(server.port(Door::NvmeTcp), 1, 0);
    let sent = data(0, 2 * 4096, 1);
    assert!(queues[1].run(blocks(io::WRITE, 0, 2), &sent, 0).0.status.is_success());
    let mut ranges = vec![0; 4096];
    ranges[4] = 1;
    let entry = Entry::new(io::DATASET_MANAGEMENT, 0, 1).with_dword(11, 4);
    for (length, status) in [
        (4096, Status::SUCCESS),
        (16, Status::SUCCESS),
        (8, Status::DATA_LENGTH_INVALID),
        (8192, Status::DATA_LENGTH_INVALID),
    ] {
        ranges.resize(length, 0);
        assert_eq!(queues[1].run(entry, &ranges, 0).0.status, status, "{length} bytes");
    }
    let (_, got) = queues[1].run(blocks(io::READ, 0, 2), &[], 8192);
    assert!(got == [vec![0; 4096], sent[4096..].to_vec()].concat());
    server.stop();
}

#[test]
fn random_commands_replay_to_the_picosecond() {
    let server = Running::start(config(Pace::Virtual, Tenancy::Queue));
    let mut queues = bring_up(server.port(Door::NvmeTcp), 2, 3);
    let (mut draw, mut plain) = (Draw(9), vec![0_u8; 64 * 4096]);
    for round in 0..500_u64 {
        let (queue, first) = (draw.below(2) as usize + 1, draw.below(60));
        let count = draw.below(4) as u32 + 1;
        let place = first as usize * 4096..(first as usize + count as usize) * 4096;
        if draw.below(2) == 0 {
            let sent = data(first, place.len(), round as u8);
            assert!(
                queues[queue].run(blocks(io::WRITE, first, count), &sent, 0).0.status.is_success()
            );
            plain[place].copy_from_slice(&sent);
        } else {
            let (_, got) = queues[queue].run(blocks(io::READ, first, count), &[], place.len());
            assert!(got == plain[place], "round {round}");
        }
    }
    let kept = server.kept.clone();
    drop(queues);
    let outcome = server.stop();
    assert_eq!(outcome.summary.requests_completed, 500);
    assert_eq!(replay(&kept, Tenancy::Queue), 500);
}

#[test]
fn hosts_discover_the_subsystem() {
    let server = Running::start(config(Pace::Real, Tenancy::Queue));
    let address = server.port(Door::NvmeTcp);
    let mut queue = Queue::begin(address, 0);
    assert!(queue.connect(0, 0xffff, DISCOVERY_NQN).status.is_success());
    let entry = Entry::new(admin::GET_LOG_PAGE, 0, 0).with_dword(10, 0x70 | 511 << 16);
    let (done, page) = queue.run(entry, &[], 2048);
    assert!(done.status.is_success());
    assert_eq!((page[8], page[1024], page[1025], page[1026]), (1, 3, 1, 2));
    assert_eq!(&page[1024 + 256..1024 + 256 + NQN.len()], NQN.as_bytes());
    let port = String::from_utf8_lossy(&page[1024 + 32..1024 + 64]);
    assert_eq!(port.trim_end(), address.port().to_string());
    assert_eq!(&page[1024 + 512..1024 + 521], b"127.0.0.1");
    let wrong = Queue::begin(address, 0).connect(0, 0xffff, "nqn.2026-11.dev.flashlane:x");
    assert_eq!(wrong.status, Status::CONNECT_INVALID_PARAMETERS);
}

/// Linux would send commands for one drive to the other one.
#[test]
fn two_servers_are_two_drives() {
    let servers = [0, 1].map(|_| Running::start(config(Pace::Real, Tenancy::Queue)));
    let seen: Vec<[Vec<u8>; 2]> = servers
        .iter()
        .map(|server| {
            let address = server.port(Door::NvmeTcp);
            let mut queues = bring_up(address, 1, 0);
            let mut identify = |what, namespace| {
                let entry = Entry::new(admin::IDENTIFY, 0, namespace).with_dword(10, what);
                let (done, page) = queues[0].run(entry, &[], 4096);
                assert!(done.status.is_success());
                page
            };
            let (serial, names) = (identify(1, 0)[4..24].to_vec(), identify(3, 1)[4..20].to_vec());
            assert_eq!(String::from_utf8_lossy(&serial).trim_end(), address.to_string());
            [serial, names]
        })
        .collect();
    assert!((0..2).all(|at| seen[0][at] != seen[1][at]), "{seen:?}");
}

#[test]
fn real_time_passes_for_clients() {
    let server = Running::start(config(Pace::Dilated(1000), Tenancy::Queue));
    let mut queues = bring_up(server.port(Door::NvmeTcp), 1, 0);
    let sent = data(0, 4096, 1);
    let begun = Instant::now();
    queues[1].run(blocks(io::WRITE, 0, 1), &sent, 0);
    queues[1].run(blocks(io::READ, 0, 1), &[], 4096);
    let (waited, kept) = (begun.elapsed(), server.kept.clone());
    let outcome = server.stop();
    assert_eq!(outcome.lateness.count(), 2 + 5, "I/O and admin commands");
    let flow = &outcome.summary.flows[0];
    let simulated_us = flow.response_time_us.mean * 2.0;
    assert!(waited >= Duration::from_nanos((simulated_us * 1e6 * 0.999) as u64), "{waited:?}");
    assert_eq!(replay(&kept, Tenancy::Queue), 2);
}

#[test]
fn a_host_is_a_tenant() {
    let server = Running::start(config(Pace::Virtual, Tenancy::Host));
    // NBD connections are hosts of their own: the first one gets the first tenant.
    let mut first = server.nbd("", false);
    let sent = data(0, 4096, 1);
    assert_eq!(first.run((1, 0), 0, 4096, &sent).0, 0);
    let mut queues = bring_up(server.port(Door::NvmeTcp), 2, 0);
    for queue in [1, 2] {
        let (done, got) = queues[queue].run(blocks(io::READ, 0, 1), &[], 4096);
        assert!(done.status.is_success() && got == sent, "all share one namespace");
    }
    drop((first, queues));
    let kept = server.kept.clone();
    let outcome = server.stop();
    let completed: Vec<u64> =
        outcome.summary.flows.iter().map(|flow| flow.response_time_us.count).collect();
    assert_eq!(completed, [1, 2], "both queues of the host are the second tenant");
    assert_eq!(replay(&kept, Tenancy::Host), 3);
}
