//! vfio-user: bring-up, data, interrupts, and clients that lie or die.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use flashlane::Time;
use flashlane_nvme::{Status, Tenancy, admin_opcode as admin, io_opcode as io};
use flashlane_serve::{Address, Door, Pace, ServeConfig, Server};

use crate::run::{Draw, Running, config, data, replay};
use crate::vfio_guest::{BAR, CONFIG, DATA, Guest, HALF, MSI_X, PAGE, blocks, entry, pointed};

/// A server for guests, and for clients of NBD beside them.
pub(crate) fn served(pace: Pace) -> (tempfile::TempDir, PathBuf, ServeConfig) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vfio");
    let mut config = config(pace, Tenancy::Queue);
    config.doors[0] = (Door::VfioUser, Address::Unix(path.clone()));
    (folder, path, config)
}

fn write(guest: &mut Guest, queue: u16, first: u64, count: u32, sent: &[u8]) -> Status {
    guest.store(DATA, sent);
    let entry = blocks(guest, io::WRITE, first, count);
    guest.run(queue, entry).status
}

fn read(guest: &mut Guest, queue: u16, first: u64, count: u32) -> (Status, Vec<u8>) {
    let length = count as usize * PAGE as usize;
    guest.store(DATA, &vec![0xa5; length]);
    let entry = blocks(guest, io::READ, first, count);
    (guest.run(queue, entry).status, guest.load(DATA, length))
}

#[test]
fn a_guest_finds_a_controller() {
    let (_folder, path, config) = served(Pace::Virtual);
    let server = Running::start(config);
    let mut guest = Guest::new(&path, 1);
    assert_eq!(guest.client.region(BAR).map(|it| (it.size, it.flags)), Some((0x4000, 3)));
    assert_eq!(guest.client.region(CONFIG).map(|it| it.size), Some(4096));
    let vectors = guest.client.get_irq_info(MSI_X).expect("an answer");
    assert_eq!((vectors.count, vectors.flags), (65, 9));
    let mut class = [0; 3];
    guest.client.region_read(CONFIG, 9, &mut class).expect("an answer");
    assert_eq!(class, [2, 8, 1]);
    assert_eq!((guest.get(0) & 0xffff, guest.get(8)), (1023, 0x1_0400), "CAP and VS");
    guest.enable();
    let identify = pointed(entry(admin::IDENTIFY, 0), DATA, 0).with_dword(10, 1);
    assert!(guest.run(0, identify).status.is_success());
    let page = guest.load(DATA, 4096);
    assert_eq!(&page[24..33], b"Flashlane");
    assert_eq!(&page[768..768 + 16], b"nqn.2026-11.dev.");
    // The table of interrupts is memory.
    guest.set(0x2010, 0x1234_5678_9abc_def0, 8);
    assert_eq!((guest.get(0x2010), guest.get(0x2014)), (0x9abc_def0, 0x1234_5678));
    assert_eq!((guest.get(0x3000), guest.get(0x3ffc)), (0, 0));
    guest.client.reset().expect("an answer");
    assert_eq!((guest.get(0x1c), guest.get(0x28), guest.get(0x2010)), (0, 0, 0));
    guest.enable();
    drop(guest);
    let outcome = server.stop();
    assert_eq!(outcome.connections, 1);
    assert!(!path.exists(), "the server has removed its socket");
}

#[test]
fn data_of_all_sizes_arrives() {
    let (_folder, path, config) = served(Pace::Virtual);
    let server = Running::start(config);
    let mut guest = Guest::up(&path, 2);
    for count in [1, 2, 3, 16, 32] {
        let sent = data(0, count as usize * 4096, count as u8);
        assert!(write(&mut guest, 1, 7, count, &sent).is_success(), "{count} blocks");
        let (status, got) = read(&mut guest, 2, 7, count);
        assert!(status.is_success() && got == sent, "{count} blocks");
    }
    let kept = server.kept.clone();
    server.stop();
    assert_eq!(replay(&kept, Tenancy::Queue), 10);
}

#[test]
fn random_commands_replay_to_the_picosecond() {
    for pace in [Pace::Virtual, Pace::Real] {
        let (_folder, path, config) = served(pace);
        let server = Running::start(config);
        let mut guest = Guest::up(&path, 2);
        let (mut draw, mut plain) = (Draw(9), vec![0_u8; 64 * 4096]);
        for round in 0..200_u64 {
            let (queue, first) = (draw.below(2) as u16 + 1, draw.below(60));
            let count = draw.below(4) as u32 + 1;
            let place = first as usize * 4096..(first as usize + count as usize) * 4096;
            if draw.below(2) == 0 {
                let sent = data(first, place.len(), round as u8);
                assert!(write(&mut guest, queue, first, count, &sent).is_success());
                plain[place].copy_from_slice(&sent);
            } else {
                assert!(read(&mut guest, queue, first, count).1 == plain[place], "round {round}");
            }
        }
        let kept = server.kept.clone();
        drop(guest);
        let outcome = server.stop();
        assert_eq!(outcome.summary.requests_completed, 200);
        assert_eq!(outcome.lateness.count() > 0, pace == Pace::Real);
        assert_eq!(replay(&kept, Tenancy::Queue), 200);
    }
}

#[test]
fn many_commands_are_under_way() {
    let (_folder, path, config) = served(Pace::Virtual);
    let server = Running::start(config);
    let mut guests = [Guest::up(&path, 1), Guest::up(&path, 1)];
    for round in 0..20_u64 {
        for guest in &mut guests {
            for place in 0..16 {
                let entry = entry(io::WRITE, 1).with_dword(10, (round * 16 + place) as u32);
                guest.submit(1, pointed(entry, DATA + place * PAGE, 0));
            }
        }
        for guest in &mut guests {
            let mut done = 0;
            while done < 16 {
                let completions = guest.reap(1);
                assert!(completions.iter().all(|it| it.status.is_success()));
                done += completions.len();
            }
        }
    }
    let kept = server.kept.clone();
    drop(guests);
    server.stop();
    assert_eq!(replay(&kept, Tenancy::Queue), 640);
}

#[test]
fn interrupts_that_tell_of_several_completions_come_in_time() {
    let (_folder, path, config) = served(Pace::Virtual);
    let server = Running::start(config);
    let mut guest = Guest::up(&path, 1);
    // After four completions, or after 100 us.
    let entry = entry(admin::SET_FEATURES, 0).with_dword(10, 8).with_dword(11, 3 | 1 << 8);
    assert!(guest.run(0, entry).status.is_success());
    for round in 0..3 {
        assert!(write(&mut guest, 1, round, 1, &data(0, 4096, 1)).is_success());
    }
    let kept = server.kept.clone();
    drop(guest);
    server.stop();
    let arrivals = kept.arrivals();
    let apart = arrivals.windows(2).map(|pair| pair[1].at - pair[0].at);
    assert!(apart.min() >= Some(Time::from_us(100)), "the host hears of each after 100 us");
    assert_eq!(replay(&kept, Tenancy::Queue), 3);
}

#[test]
fn pointers_to_nowhere_fail_their_command_only() {
    let (_folder, path, config) = served(Pace::Virtual);
    let server = Running::start(config);
    let mut guest = Guest::up(&path, 1);
    for (first, second) in [(1 << 50, 0), (DATA + HALF - PAGE, DATA + HALF), (u64::MAX - 4095, 0)] {
        for opcode in [io::WRITE, io::READ] {
            let entry = entry(opcode, 1).with_dword(12, u32::from(second > 0));
            let done = guest.run(1, pointed(entry, first, second));
            assert_eq!(done.status, Status::DATA_TRANSFER_ERROR, "{first:x} {second:x}");
        }
    }
    assert!(write(&mut guest, 1, 0, 2, &data(0, 8192, 1)).is_success());
    assert!(read(&mut guest, 1, 0, 2) == (Status::SUCCESS, data(0, 8192, 1)));
    let entry = blocks(&mut guest, io::READ, 0, 1);
    guest.client.dma_unmap(DATA, HALF).expect("an answer");
    assert_eq!(guest.run(1, entry).status, Status::DATA_TRANSFER_ERROR, "the memory is gone");
    server.stop();
}

#[test]
fn memory_that_goes_while_it_is_in_use_fails_its_command_only() {
    let (_folder, path, config) = served(Pace::Dilated(30_000));
    let server = Running::start(config);
    let mut guest = Guest::up(&path, 1);
    assert!(write(&mut guest, 1, 0, 1, &data(0, 4096, 1)).is_success());
    for unmapped in [false, true] {
        let entry = blocks(&mut guest, io::READ, 0, 1);
        guest.submit(1, entry);
        match unmapped {
            false => guest.cut(),
            true => guest.client.dma_unmap(DATA, HALF).expect("an answer"),
        }
        let done = guest.reap(1);
        // A file that is cut off grows again where the data is written to it.
        let status = if unmapped { Status::DATA_TRANSFER_ERROR } else { Status::SUCCESS };
        assert_eq!(done.iter().map(|it| it.status).collect::<Vec<_>>(), [status]);
    }
    server.stop();
}

#[test]
fn guests_that_die_leave_nothing_behind() {
    let (_folder, path, mut config) = served(Pace::Virtual);
    config.limits.controllers = 1;
    let server = Running::start(config);
    let mut other = server.nbd("", true);
    for round in 0..20_u8 {
        // The controller of the dead ends as soon as the server notices.
        let mut guest = Guest::when_free(&path, 1);
        for place in 0..16 {
            let entry = entry(io::WRITE, 1).with_dword(10, place);
            guest.submit(1, pointed(entry, DATA + u64::from(place) * PAGE, 0));
        }
        drop(guest);
        let sent = data(0, 4096, round);
        assert_eq!(other.run((1, 0), 1 << 20, 4096, &sent).0, 0);
        assert!(other.run((0, 0), 1 << 20, 4096, &[]) == (0, sent), "the other client goes on");
    }
    server.stop();
}

/// A message, and the reply to it: its flags, its error and its body. `None` if the server closes
/// the connection.
fn talk(stream: &mut UnixStream, command: u16, body: &[u8]) -> Option<(u32, u32, Vec<u8>)> {
    let mut message = [7_u16.to_le_bytes(), command.to_le_bytes()].concat();
    message.extend((16 + body.len() as u32).to_le_bytes());
    message.extend([0; 8]);
    message.extend(body);
    stream.write_all(&message).ok()?;
    let mut header = [0; 16];
    stream.read_exact(&mut header).ok()?;
    let word = |at| u32::from_le_bytes(header[at..at + 4].try_into().expect("4 bytes"));
    assert_eq!(header[..4], message[..4], "the identifier and the command");
    let mut rest = vec![0; word(4) as usize - 16];
    stream.read_exact(&mut rest).ok()?;
    Some((word(8), word(12), rest))
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn agreed(path: &Path) -> UnixStream {
    let mut stream = UnixStream::connect(path).expect("the server listens");
    let (flags, error, _) = talk(&mut stream, 1, b"\0\0\0\0{}\0").expect("an answer");
    assert_eq!((flags, error), (1, 0));
    stream
}

#[test]
fn nonsense_is_refused() {
    let (_folder, path, config) = served(Pace::Virtual);
    let server = Running::start(config);
    let mut stream = agreed(&path);
    let info = talk(&mut stream, 4, &words(&[16, 0, 0, 0])).expect("an answer");
    assert_eq!(info, (1, 0, words(&[16, 3, 9, 5])), "a PCI function that can be reset");
    let mut lies = vec![
        (1, vec![0; 4]),
        (99, Vec::new()),
        (2, words(&[32, 3, 0, 0, 0, 0, 0, 0])),
        (2, vec![0; 8]),
        (3, words(&[24, 0, 0, 0, 0, 0])),
        (5, words(&[32, 0, 9, 0, 0, 0, 0, 0])),
        (7, words(&[16, 0, 5, 0])),
        (8, words(&[20, 0x24, 2, 60, 6])),
        (8, words(&[20, 0x22, 2, 0, 1, 1])),
    ];
    for place in [[0x4000, 0, 0, 1], [u32::MAX, u32::MAX, 0, 4], [0, 0, 3, 4], [0, 0, 7, 8192]] {
        lies.extend([(9, words(&place)), (10, [words(&place), vec![0; 8192]].concat())]);
    }
    lies.push((10, words(&[0, 0, 0, 4])));
    for (command, body) in lies {
        let (flags, error, rest) = talk(&mut stream, command, &body).expect("an answer");
        assert!(flags == 0x21 && error > 0 && rest.is_empty(), "{command} {body:?}");
    }
    // Doorbells of queues that do not exist, and registers that cannot be written.
    for at in (0..0x4000).step_by(4).filter(|&at| at != 0x14) {
        let order = words(&[at, 0, 0, 4, u32::MAX]);
        assert_eq!(talk(&mut stream, 10, &order).expect("an answer").0, 1);
    }
    assert_eq!(talk(&mut stream, 9, &words(&[0, 0, 0, 4])).expect("an answer").2[16..18], [255, 3]);
    // Admin queues at addresses that are no memory: the controller has failed.
    for (at, value) in [(0x24, 0x1f_001f), (0x28, 4096), (0x2c, 0), (0x30, 8192), (0x34, 0)] {
        talk(&mut stream, 10, &words(&[at, 0, 0, 4, value])).expect("an answer");
    }
    for (at, value) in [(0x14, 0x0046_0001), (0x1000, 1)] {
        talk(&mut stream, 10, &words(&[at, 0, 0, 4, value])).expect("an answer");
    }
    assert_eq!(talk(&mut stream, 9, &words(&[0x1c, 0, 0, 4])).expect("an answer").2[16], 3);
    server.stop();
}

#[test]
fn noise_ends_its_connection_only() {
    let (_folder, path, config) = served(Pace::Virtual);
    let server = Running::start(config);
    let mut guest = Guest::up(&path, 1);
    let mut stream = UnixStream::connect(&path).expect("the server listens");
    assert_eq!(talk(&mut stream, 9, &words(&[0, 0, 0, 4])), None, "the version comes first");
    let mut stream = UnixStream::connect(&path).expect("the server listens");
    let answer = talk(&mut stream, 1, b"\x01\0\0\0{}\0").expect("an answer");
    assert_eq!((answer.0, answer.1), (0x21, 22), "another version");
    assert_eq!(stream.read(&mut [0]).expect("an end"), 0);
    for length in [0, 15, u32::MAX] {
        let mut stream = agreed(&path);
        stream.write_all(&words(&[9 << 16, length, 0, 0])).expect("the server reads");
        assert_eq!(stream.read(&mut [0]).expect("an end"), 0, "{length}");
    }
    let mut draw = Draw(8);
    for _ in 0..100 {
        let mut stream = agreed(&path);
        let noise: Vec<u8> = (0..200).map(|_| draw.below(256) as u8).collect();
        let _ = stream.write_all(&noise);
    }
    assert!(write(&mut guest, 1, 3, 1, &data(0, 4096, 1)).is_success(), "the guest goes on");
    server.stop();
}

#[test]
fn a_path_that_exists_is_refused() {
    let (_folder, path, config) = served(Pace::Virtual);
    std::fs::write(&path, "mine").expect("a file");
    let error = Server::bind(config).err().expect("the path exists").to_string();
    assert!(error.contains("cannot listen"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).expect("a file"), "mine");
    let (_folder, path, mut config) = served(Pace::Virtual);
    config.limits.queues = 512;
    let error = Server::bind(config).err().expect("too many queues").to_string();
    assert!(error.contains("found 512, allowed with --vfio-user: 1 to 511"), "{error}");
    assert!(!path.exists());
    let (_folder, _, mut config) = served(Pace::Virtual);
    config.doors[0].1 = "127.0.0.1:0".parse().expect("an address");
    let error = Server::bind(config).err().expect("no path").to_string();
    assert!(error.contains("allowed: unix:PATH"), "{error}");
}
