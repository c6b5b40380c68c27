//! A list of commands through every door, and into the drive itself: equal picoseconds.

use flashlane::Time;
use flashlane_nvme::{Entry, Tenancy, io_opcode as io};
use flashlane_serve::{Door, Pace};

use crate::run::{Draw, Running, completed, config, data, replay};
use crate::tcp_client;
use crate::vfio_guest::{self, DATA, Guest};
use crate::vfio_user::served;

const COMMANDS: usize = 400;
const BLOCK: usize = 4096;

/// A command of one of two queues. Each starts when the one before it is complete: so its arrival
/// is decided by the drive, and is the same through every door.
struct Command {
    queue: usize,
    opcode: u8,
    first: u64,
    count: u32,
}

fn commands() -> Vec<Command> {
    let mut draw = Draw(11);
    let draw_one = |_| {
        let opcode = [io::READ, io::WRITE, io::WRITE, io::FLUSH][draw.below(4) as usize];
        let (queue, first) = (draw.below(2) as usize, draw.below(60));
        Command { queue, opcode, first, count: draw.below(4) as u32 + 1 }
    };
    (0..COMMANDS).map(draw_one).collect()
}

impl Command {
    fn bytes(&self) -> usize {
        self.count as usize * BLOCK
    }

    /// The data of a write.
    fn sent(&self) -> Vec<u8> {
        if self.opcode == io::WRITE { data(self.first, self.bytes(), 7) } else { Vec::new() }
    }

    fn entry(&self) -> Entry {
        match self.opcode {
            io::FLUSH => Entry::new(io::FLUSH, 0, 1),
            opcode => tcp_client::blocks(opcode, self.first, self.count),
        }
    }
}

/// The times of a server that has run the commands, which the drive alone has as well.
fn times(server: Running) -> Vec<Time> {
    let kept = server.kept.clone();
    server.stop();
    // A flush is one of every tenant.
    assert!(replay(&kept, Tenancy::Queue) >= COMMANDS);
    completed(&kept)
}

fn over_tcp() -> Vec<Time> {
    let server = Running::start(config(Pace::Virtual, Tenancy::Queue));
    let mut queues = tcp_client::bring_up(server.port(Door::NvmeTcp), 2, 0);
    for command in commands() {
        let expect = if command.opcode == io::READ { command.bytes() } else { 0 };
        let queue = &mut queues[command.queue + 1];
        assert!(queue.run(command.entry(), &command.sent(), expect).0.status.is_success());
    }
    times(server)
}

fn over_nbd() -> Vec<Time> {
    let server = Running::start(config(Pace::Virtual, Tenancy::Queue));
    let mut clients = [false, true].map(|structured| server.nbd("", structured));
    for command in commands() {
        let (kind, offset, length) = match command.opcode {
            io::READ => (0, command.first * BLOCK as u64, command.bytes() as u32),
            io::WRITE => (1, command.first * BLOCK as u64, command.bytes() as u32),
            _ => (3, 0, 0),
        };
        let (error, _) = clients[command.queue].run((kind, 0), offset, length, &command.sent());
        assert_eq!(error, 0);
    }
    times(server)
}

fn over_vfio_user() -> Vec<Time> {
    let (_folder, path, config) = served(Pace::Virtual);
    let server = Running::start(config);
    let mut guest = Guest::up(&path, 2);
    for command in commands() {
        guest.store(DATA, &command.sent());
        let entry = match command.opcode {
            io::FLUSH => vfio_guest::entry(io::FLUSH, 1),
            opcode => vfio_guest::blocks(&mut guest, opcode, command.first, command.count),
        };
        assert!(guest.run(command.queue as u16 + 1, entry).status.is_success());
    }
    drop(guest);
    times(server)
}

#[test]
fn commands_take_the_same_time_through_every_door() {
    let expected = over_tcp();
    assert!(expected.windows(2).all(|pair| pair[0] <= pair[1]), "one after the other");
    assert!(over_nbd() == expected, "NBD has other times than NVMe/TCP");
    assert!(over_vfio_user() == expected, "vfio-user has other times than NVMe/TCP");
}
