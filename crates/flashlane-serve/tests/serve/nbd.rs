//! NBD: data, exports, and times to the picosecond.

use std::collections::BTreeMap;
use std::net::TcpStream;

use flashlane::drive::Command;
use flashlane::{Drive, Time};
use flashlane_nvme::Tenancy;
use flashlane_serve::{Address, Door, Pace};

use crate::nbd_client::{Client, answer, greet, option};
use crate::run::{Draw, Running, completed, config, data, media, replay};

const READ: (u16, u16) = (0, 0);
const WRITE: (u16, u16) = (1, 0);
const WRITE_FUA: (u16, u16) = (1, 1);
const FLUSH: (u16, u16) = (3, 0);
const TRIM: (u16, u16) = (4, 0);
const ZEROES: (u16, u16) = (6, 2);

#[test]
fn what_was_written_is_read() {
    let server = Running::start(config(Pace::Virtual, Tenancy::Namespace));
    let mut first = server.nbd("first", false);
    let mut second = server.nbd("second", true);
    let (one, two) = (data(4096, 8192, 1), data(4096, 8192, 2));
    assert_eq!(first.run(WRITE, 4096, 8192, &one).0, 0);
    assert_eq!(second.run(WRITE_FUA, 4096, 8192, &two).0, 0);
    assert!(first.run(READ, 4096, 8192, &[]) == (0, one.clone()), "exports are apart");
    assert!(second.run(READ, 4096, 8192, &[]) == (0, two));
    assert_eq!(first.run(TRIM, 4096, 4096, &[]).0, 0);
    assert_eq!(second.run(ZEROES, 8192, 4096, &[]).0, 0);
    assert_eq!(first.run(FLUSH, 0, 0, &[]).0, 0);
    assert!(first.run(READ, 4096, 8192, &[]).1 == [&vec![0; 4096], &one[4096..]].concat());
    assert!(second.run(READ, 8192, 4096, &[]).1 == vec![0; 4096]);
    for (offset, length) in [(1, 512), (0, 100), (first.bytes, 512), (u64::MAX - 511, 512), (0, 0)]
    {
        assert_eq!(first.run(READ, offset, length, &[]).0, 22, "{offset} + {length}");
        assert_eq!(second.run(READ, offset, length, &[]).0, 22, "{offset} + {length}");
    }
    assert_eq!(first.run((9, 0), 0, 512, &[]).0, 22, "an unknown request");
    first.send((2, 0), 0, 0, &[]);
    drop((first, second));
    let outcome = server.stop();
    assert_eq!(outcome.connections, 2);
}

#[test]
fn exports_are_listed() {
    let server = Running::start(config(Pace::Virtual, Tenancy::Namespace));
    let mut stream = TcpStream::connect(server.port(Door::Nbd)).expect("the server listens");
    greet(&mut stream);
    option(&mut stream, 3, &[]);
    assert_eq!(answer(&mut stream, 3), (2, b"\0\0\0\x05first".to_vec()));
    assert_eq!(answer(&mut stream, 3), (2, b"\0\0\0\x06second".to_vec()));
    assert_eq!(answer(&mut stream, 3), (1, Vec::new()));
    option(&mut stream, 6, b"\0\0\0\x05third\0\0");
    assert_eq!(answer(&mut stream, 6).0, 1 << 31 | 6);
    option(&mut stream, 7, b"\0\0\x05\0third\0\0");
    assert_eq!(answer(&mut stream, 7).0, 1 << 31 | 3, "a length that is a lie");
    option(&mut stream, 5, &[]);
    assert_eq!(answer(&mut stream, 5).0, 1 << 31 | 1, "no TLS");
    option(&mut stream, 2, &[]);
    assert_eq!(answer(&mut stream, 2).0, 1);
}

#[test]
fn a_request_takes_as_long_as_in_the_drive() {
    let server = Running::start(config(Pace::Virtual, Tenancy::Namespace));
    let mut client = server.nbd("second", true);
    let mut expected = Vec::new();
    let media = media(Tenancy::Namespace);
    let made = Drive::with_options(&media.device, &media.tenants, media.seed, &media.options);
    let (mut drive, mut now, mut draw) = (made.expect("a drive"), Time::ZERO, Draw(5));
    for round in 0..200 {
        let (sector, sectors) = (draw.below(400) * 8, (draw.below(16) + 1) * 8);
        let (offset, length) = (sector * 512, (sectors * 512) as u32);
        let command = match draw.below(5) {
            0 | 1 => {
                client.run(WRITE, offset, length, &data(offset, length as usize, round));
                Command::write(sector, sectors as u32)
            }
            2 => {
                client.run(TRIM, offset, length, &[]);
                Command::trim(sector, sectors as u32)
            }
            3 => {
                client.run(FLUSH, 0, 0, &[]);
                Command::flush()
            }
            _ => {
                client.run(READ, offset, length, &[]);
                Command::read(sector, sectors as u32)
            }
        };
        drive.schedule(now, 1, command, 0).expect("a valid command");
        let mut completions = Vec::new();
        while completions.is_empty() {
            let at = drive.next_event().expect("something is under way");
            drive.advance(at, &mut completions).expect("nothing fails");
        }
        now = completions[0].at();
        expected.push(now);
    }
    let kept = server.kept.clone();
    server.stop();
    assert!(completed(&kept) == expected, "other times than those of the drive");
}

/// Random requests over a client, 32 at a time, against a plain model of its part of the export.
fn load(mut client: Client<TcpStream>, seed: u64, from: u64) {
    let (mut draw, mut plain) = (Draw(seed), vec![0_u8; 1 << 20]);
    let mut running = Requests::new();
    for round in 0..1500_u64 {
        // Requests that are under way together never overlap.
        let free = |offset: u64| running.values().all(|it| it.0.abs_diff(offset) >= 16384);
        let offset = draw.below((1 << 20) / 4096 - 4) * 4096;
        let length = (draw.below(4) + 1) * 4096;
        if free(offset) {
            let place = offset as usize..(offset + length) as usize;
            let (kind, sent) = match draw.below(4) {
                0 => (READ, Vec::new()),
                1 => (TRIM, Vec::new()),
                2 => (WRITE_FUA, data(offset, length as usize, round as u8)),
                _ => (WRITE, data(offset, length as usize, round as u8)),
            };
            match kind.0 {
                1 => plain[place.clone()].copy_from_slice(&sent),
                4 => plain[place.clone()].fill(0),
                _ => {}
            }
            let expected = (kind == READ).then(|| plain[place].to_vec());
            let cookie = client.send(kind, from + offset, length as u32, &sent);
            running.insert(cookie, (offset, expected));
        }
        if running.len() >= 32 {
            reap(&mut client, &mut running);
        }
    }
    while !running.is_empty() {
        reap(&mut client, &mut running);
    }
}

/// Requests under way: their offsets, and what reads must find.
type Requests = BTreeMap<u64, (u64, Option<Vec<u8>>)>;

/// Takes a reply.
fn reap(client: &mut Client<TcpStream>, running: &mut Requests) {
    let length = |cookie| running[&cookie].1.as_ref().map_or(0, Vec::len);
    let (cookie, error, found) = client.reply(length);
    let (offset, expected) = running.remove(&cookie).expect("a request of ours");
    assert_eq!(error, 0);
    assert!(expected.is_none_or(|expected| expected == found), "{offset}");
}

#[test]
fn two_clients_with_depth_replay_to_the_picosecond() {
    for pace in [Pace::Virtual, Pace::Dilated(2), Pace::Real] {
        let server = Running::start(config(pace, Tenancy::Queue));
        let clients = [(server.nbd("", true), 0), (server.nbd("tiny", false), 1 << 20)];
        let threads =
            clients.map(|(client, from)| std::thread::spawn(move || load(client, 3 + from, from)));
        for thread in threads {
            thread.join().expect("the client reads what it wrote");
        }
        let kept = server.kept.clone();
        let outcome = server.stop();
        assert_eq!(outcome.lateness.count() > 0, pace != Pace::Virtual);
        assert!(replay(&kept, Tenancy::Queue) > 200);
    }
}

#[cfg(unix)]
#[test]
fn unix_sockets_serve_as_well() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("nbd");
    let mut config = config(Pace::Virtual, Tenancy::Queue);
    config.doors = vec![(Door::Nbd, Address::Unix(path.clone()))];
    let server = Running::start(config);
    let stream = std::os::unix::net::UnixStream::connect(&path).expect("the server listens");
    let mut client = Client::connect(stream, "", true);
    assert_eq!(client.run(WRITE, 0, 512, &[9; 512]).0, 0);
    assert!(client.run(READ, 0, 1024, &[]).1 == [vec![9; 512], vec![0; 512]].concat());
    drop(client);
    server.stop();
    assert!(!path.exists(), "the server has removed its socket");
}
