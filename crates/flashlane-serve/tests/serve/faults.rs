//! Clients that lie, break off or say nothing.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use flashlane_nvme::{Status, Tenancy, io_opcode as io};
use flashlane_serve::{Door, Limits, Pace};

use crate::nbd_client::{greet, option};
use crate::run::{Draw, Running, config, data};
use crate::tcp_client::{Queue, begin, blocks, bring_up, open, unit};

/// All that comes until the server closes the connection.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    let _ = stream.read_to_end(&mut bytes);
    bytes
}

#[test]
fn units_that_are_not_allowed_end_their_connection_only() {
    let server = Running::start(config(Pace::Virtual, Tenancy::Queue));
    let address = server.port(Door::NvmeTcp);
    let mut other = bring_up(address, 1, 0);
    let good = unit(0, 0, &begin(0), &[], 0);
    let mut lies: Vec<(Vec<u8>, u16)> = Vec::new();
    for (at, value, status) in [(0, 0x42, 1), (0, 4, 1), (2, 72, 1), (4, 0, 1), (7, 0xff, 1)] {
        let mut lie = good.clone();
        lie[at] = value;
        lies.push((lie, status));
    }
    for (at, value) in [(8, 1), (10, 32)] {
        let mut lie = good.clone();
        lie[at] = value;
        lies.push((lie, 6));
    }
    lies.push(([good.clone(), good.clone()].concat(), 2));
    for (lie, status) in lies {
        let mut stream = open(address);
        stream.write_all(&lie).expect("the server reads");
        let bytes = rest(&mut stream);
        let last = if bytes.len() > 128 && bytes[0] == 1 { &bytes[128..] } else { &bytes[..] };
        assert_eq!((last[0], u16::from(last[8])), (3, status), "{:?}", &lie[..12]);
    }
    let (done, _) = other[1].run(blocks(io::READ, 0, 1), &[], 4096);
    assert!(done.status.is_success(), "the other client goes on");
}

#[test]
fn wrong_digests_are_noticed() {
    let server = Running::start(config(Pace::Virtual, Tenancy::Queue));
    let mut queues = bring_up(server.port(Door::NvmeTcp), 1, 3);
    let sent = data(0, 4096, 1);
    let pointer = flashlane_nvme::DataPointer { address: 0, length: 4096, kind: 1 };
    let entry = blocks(io::WRITE, 0, 1).with_data(pointer);
    let mut bytes = unit(4, 0, &entry.0, &sent, 3);
    *bytes.last_mut().expect("a digest") ^= 1;
    queues[1].stream.write_all(&bytes).expect("the server reads");
    let answer = queues[1].receive();
    assert_eq!((answer.kind, answer.header[22..24].to_vec()), (5, vec![0x44, 0]), "22h, transient");
    let (_, got) = queues[1].run(blocks(io::READ, 0, 1), &[], 4096);
    assert!(got == vec![0; 4096], "nothing was written");
    let mut bytes = unit(4, 0, &entry.0, &sent, 3);
    bytes[20] ^= 1;
    queues[1].stream.write_all(&bytes).expect("the server reads");
    let answer = queues[1].receive();
    assert_eq!((answer.kind, answer.header[8]), (3, 3), "the header is not to be trusted");
    assert!(rest(&mut queues[1].stream).is_empty());
}

#[test]
fn data_that_was_not_asked_for_ends_the_connection() {
    let server = Running::start(config(Pace::Virtual, Tenancy::Queue));
    let address = server.port(Door::NvmeTcp);
    // The tag, the offset and the length of the data, beside the true ones.
    for (tag, offset, length, status) in [(1, 0, 4096, 1), (0, 4096, 4096, 4), (0, 0, 9999, 1)] {
        let mut queues = bring_up(address, 1, 0);
        let pointer = flashlane_nvme::DataPointer { address: 0, length: 16384, kind: 0x5a };
        let entry = blocks(io::WRITE, 0, 4).with_data(pointer);
        queues[1].send(4, 0, &entry.0, &[]);
        let asked = queues[1].receive();
        assert_eq!((asked.kind, asked.header[16..18].to_vec()), (9, vec![0, 0x40]));
        let mut body = [0; 16];
        body[..4].copy_from_slice(&asked.header[8..12]);
        body[2] ^= tag;
        body[4..8].copy_from_slice(&u32::to_le_bytes(offset));
        body[8..12].copy_from_slice(&u32::to_le_bytes(length));
        queues[1].send(6, 0, &body, &data(0, 4096, 0));
        let answer = queues[1].receive();
        assert_eq!((answer.kind, answer.header[8]), (3, status));
    }
}

#[test]
fn clients_that_die_leave_nothing_behind() {
    let mut config = config(Pace::Virtual, Tenancy::Queue);
    config.limits.controllers = 2;
    let server = Running::start(config);
    let address = server.port(Door::NvmeTcp);
    let mut draw = Draw(4);
    for _ in 0..100 {
        let mut queues = loop {
            // The controllers of the dead end as soon as the server notices.
            let mut admin = Queue::begin(address, 0);
            let answer = admin.connect(0, 0xffff, crate::tcp_client::NQN);
            drop(admin);
            if answer.status != Status::CONNECT_CONTROLLER_BUSY {
                break bring_up_when_free(address);
            }
        };
        let pointer = flashlane_nvme::DataPointer { address: 0, length: 16384, kind: 0x5a };
        let entry = blocks(io::WRITE, 0, 4).with_data(pointer);
        let bytes = unit(4, 0, &entry.0, &[], 0);
        let cut = draw.below(bytes.len() as u64 + 1) as usize;
        queues[1].stream.write_all(&bytes[..cut]).expect("the server reads");
        let mut client = server.nbd("", true);
        client.send((1, 0), 0, 4096, &data(0, 100, 0));
        client.stream.write_all(b"half").expect("the server reads");
    }
    let outcome = server.stop();
    assert!(outcome.connections >= 300);
}

#[test]
fn hosts_that_end_the_connection_give_their_controller_back() {
    let mut config = config(Pace::Virtual, Tenancy::Queue);
    config.limits.controllers = 1;
    let server = Running::start(config);
    for _ in 0..3 {
        let mut queues = bring_up(server.port(Door::NvmeTcp), 1, 0);
        queues[0].send(2, 0, &[0; 16], &[]);
        rest(&mut queues[0].stream);
        rest(&mut queues[1].stream);
    }
    assert_eq!(server.stop().connections, 6);
}

fn bring_up_when_free(address: std::net::SocketAddr) -> Vec<Queue> {
    std::thread::sleep(Duration::from_millis(5));
    bring_up(address, 1, 0)
}

#[test]
fn silent_clients_are_disconnected() {
    let mut config = config(Pace::Virtual, Tenancy::Queue);
    let handshake = Duration::from_millis(300);
    config.limits = Limits { handshake, connections: 3, ..config.limits };
    let server = Running::start(config);
    let mut silent: Vec<TcpStream> = (0..2).map(|_| open(server.port(Door::NvmeTcp))).collect();
    silent.push(TcpStream::connect(server.port(Door::Nbd)).expect("the server listens"));
    let mut beyond = open(server.port(Door::NvmeTcp));
    assert!(rest(&mut beyond).is_empty(), "three are the limit");
    for stream in &mut silent {
        rest(stream);
    }
    let mut client = server.nbd("", false);
    assert_eq!(client.run((1, 0), 0, 512, &[1; 512]).0, 0, "there is room again");
    std::thread::sleep(handshake * 2);
    assert_eq!(client.run((0, 0), 0, 512, &[]).0, 0, "an export may be silent");
}

#[test]
fn nonsense_ends_the_conversation() {
    let server = Running::start(config(Pace::Virtual, Tenancy::Queue));
    let address = server.port(Door::Nbd);
    let mut stream = TcpStream::connect(address).expect("the server listens");
    greet(&mut stream);
    option(&mut stream, 7, &vec![0; 70_000]);
    rest(&mut stream);
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.write_all(&[0xff; 4]).expect("the server reads");
    assert_eq!(rest(&mut stream).len(), 18, "the greeting only");
    let mut client = server.nbd("", true);
    client.stream.write_all(&[7; 28]).expect("the server reads");
    assert!(rest(&mut client.stream).is_empty());
    let mut client = server.nbd("", true);
    client.send((1, 0), 0, u32::MAX, &[]);
    assert!(rest(&mut client.stream).is_empty(), "a write of 4 GiB");
    let mut draw = Draw(8);
    for door in [Door::Nbd, Door::NvmeTcp] {
        for _ in 0..100 {
            let mut stream = TcpStream::connect(server.port(door)).expect("it listens");
            let noise: Vec<u8> = (0..200).map(|_| draw.below(256) as u8).collect();
            let _ = stream.write_all(&noise);
        }
    }
    server.stop();
}
