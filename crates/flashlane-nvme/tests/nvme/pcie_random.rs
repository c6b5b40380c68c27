//! Random commands through the PCIe function, against a plain model.

use std::collections::BTreeMap;

use flashlane_nvme::pcie::PcieOptions;
use flashlane_nvme::{Entry, admin_opcode as admin, io_opcode as io};

use crate::pcie_driver::{Driver, PAGE, SlowMemory, blocks, entry, pages, subsystem, tenants};

/// Blocks that the commands use, and the longest command.
const BLOCKS: usize = 1500;
const LONGEST: u64 = 32;
/// Commands that are under way at a time, of each queue.
const DEPTH: usize = 24;

struct Draw(u64);

impl Draw {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Data of a block; zeroes for salt 0.
fn data(block: u64, salt: u32) -> Vec<u8> {
    let word = if salt == 0 { 0 } else { block << 32 | u64::from(salt) };
    word.to_le_bytes().repeat(PAGE as usize / 8)
}

#[derive(Clone, Copy)]
enum Kind {
    Read,
    Write(u32),
    Zero,
    Flush,
}

struct Command {
    kind: Kind,
    first: u64,
    count: u64,
    slot: usize,
    /// Where in the slot the data begins.
    at: u64,
}

/// The plain model: the salt of each block, and whether a command uses it.
struct Model {
    salts: Vec<u32>,
    busy: Vec<bool>,
    /// The memory of each slot: 33 pages of data, 1 page of a list.
    slots: Vec<u64>,
    free: Vec<usize>,
    running: BTreeMap<(u16, u16), Command>,
    last_salt: u32,
}

impl Model {
    /// A command on blocks that no other command uses.
    fn command(&mut self, draw: &mut Draw) -> Option<Command> {
        let count = if draw.below(8) == 0 { draw.below(LONGEST) + 1 } else { draw.below(3) + 1 };
        let first = draw.below(BLOCKS as u64 - count);
        let range = first as usize..(first + count) as usize;
        if self.busy[range.clone()].contains(&true) {
            return None;
        }
        let kind = match draw.below(20) {
            0 => Kind::Flush,
            1 | 2 => Kind::Zero,
            3..11 => Kind::Read,
            _ => {
                self.last_salt += 1;
                Kind::Write(self.last_salt)
            }
        };
        if !matches!(kind, Kind::Flush) {
            self.busy[range].fill(true);
        }
        let slot = self.free.pop()?;
        Some(Command { kind, first, count, slot, at: draw.below(8) * 512 })
    }

    /// The command is over: checks its data, and frees what it used.
    fn over(&mut self, ram: &[u8], command: &Command) {
        self.free.push(command.slot);
        let at = (self.slots[command.slot] + command.at) as usize;
        for (place, block) in (command.first..command.first + command.count).enumerate() {
            let salt = &mut self.salts[block as usize];
            match command.kind {
                Kind::Read => {
                    let from = at + place * PAGE as usize;
                    let found = &ram[from..from + PAGE as usize];
                    assert!(found == data(block, *salt), "block {block} has other data");
                }
                Kind::Write(new) => *salt = new,
                Kind::Zero => *salt = 0,
                Kind::Flush => continue,
            }
            self.busy[block as usize] = false;
        }
    }
}

/// The entry of a command, with its data in memory.
fn prepare(driver: &mut Driver, model: &Model, command: &Command, draw: &mut Draw) -> Entry {
    let base = model.slots[command.slot];
    let (start, list) = (base + command.at, base + 33 * PAGE);
    let opcode = match command.kind {
        Kind::Read => io::READ,
        Kind::Write(salt) => {
            for (place, block) in (command.first..command.first + command.count).enumerate() {
                let at = start as usize + place * PAGE as usize;
                driver.machine.ram[at..at + PAGE as usize].copy_from_slice(&data(block, salt));
            }
            io::WRITE
        }
        Kind::Zero => {
            return blocks(io::WRITE_ZEROES, command.first, command.count as u32);
        }
        Kind::Flush => return entry(io::FLUSH, 1),
    };
    let made = blocks(opcode, command.first, command.count as u32);
    let bytes = command.count * PAGE;
    match draw.below(2) {
        0 => with_pages(driver, made, (start, list), bytes),
        _ => with_list(driver, made, (start, list), bytes, draw),
    }
}

/// Pointers to pages.
fn with_pages(driver: &mut Driver, made: Entry, (start, list): (u64, u64), bytes: u64) -> Entry {
    let second = start - start % PAGE + PAGE;
    let end = start + bytes;
    if end <= second + PAGE {
        return pages(made, start, second);
    }
    // Some lists begin inside of a page, so that they go on in another one.
    let here = if start % 1024 == 0 { list } else { list + PAGE - 24 };
    let (mut at, mut page) = (here as usize, second);
    while page < end {
        let is_last_place = at % PAGE as usize == PAGE as usize - 8;
        let value = if is_last_place && page + PAGE < end { list } else { page };
        driver.machine.ram[at..at + 8].copy_from_slice(&value.to_le_bytes());
        if value == list {
            at = list as usize;
            continue;
        }
        at += 8;
        page += PAGE;
    }
    pages(made, start, here)
}

/// A list of ranges, cut anywhere, in one or two segments.
fn with_list(
    driver: &mut Driver,
    mut made: Entry,
    (start, list): (u64, u64),
    bytes: u64,
    draw: &mut Draw,
) -> Entry {
    let descriptor = |address: u64, length: u64, kind: u8| {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&address.to_le_bytes());
        bytes[8..12].copy_from_slice(&(length as u32).to_le_bytes());
        bytes[15] = kind;
        bytes
    };
    made.0[1] = 0x40;
    let mut cuts = vec![0, bytes];
    (0..draw.below(6)).for_each(|_| cuts.push(draw.below(bytes)));
    cuts.sort_unstable();
    let ranges: Vec<[u8; 16]> =
        cuts.windows(2).map(|cut| descriptor(start + cut[0], cut[1] - cut[0], 0)).collect();
    if let [only] = ranges[..] {
        made.0[24..40].copy_from_slice(&only);
        return made;
    }
    let (front, back) = ranges.split_at(ranges.len() / 2);
    let at = list + 1024;
    let mut first = front.concat();
    first.extend(descriptor(at, back.len() as u64 * 16, 0x30));
    let mut put = |at: u64, bytes: &[u8]| {
        driver.machine.ram[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    };
    put(list, &first);
    put(at, &back.concat());
    made.0[24..40].copy_from_slice(&descriptor(list, first.len() as u64, 0x20));
    made
}

/// Runs random commands, and returns how many were verified.
fn drive(count: u32, shadow: bool, options: PcieOptions, seed: u64) -> u32 {
    let mut driver = Driver::up(subsystem(tenants()), options, 2, 0);
    drive_on(&mut driver, count, shadow, seed)
}

fn drive_on(driver: &mut Driver, count: u32, shadow: bool, seed: u64) -> u32 {
    if shadow {
        let (doorbells, events) = (driver.pages(1), driver.pages(1));
        let made = pages(entry(admin::DOORBELL_BUFFER, 0), doorbells, events);
        assert!(driver.admin(made).status.is_success());
        driver.shadow = Some(doorbells);
    }
    let slots: Vec<u64> = (0..DEPTH * 2).map(|_| driver.pages(34)).collect();
    let mut model = Model {
        salts: vec![0; BLOCKS],
        busy: vec![false; BLOCKS],
        free: (0..slots.len()).collect(),
        slots,
        running: BTreeMap::new(),
        last_salt: 0,
    };
    let mut draw = Draw(seed);
    let (mut sent, mut over) = (0, 0);
    while over < count {
        let queue = draw.below(2) as u16 + 1;
        let room = model.running.keys().filter(|it| it.0 == queue).count() < DEPTH;
        if sent < count
            && room
            && let Some(command) = model.command(&mut draw)
        {
            let entry = prepare(driver, &model, &command, &mut draw);
            let id = driver.write_entry(queue, entry);
            model.running.insert((queue, id), command);
            sent += 1;
            driver.ring(queue);
            if draw.below(4) > 0 {
                continue;
            }
        }
        if !driver.step() && shadow {
            // Nothing is under way: the driver waits, and the controller looks at the shadows.
            driver.look();
        }
        for queue in 1..=2 {
            for done in driver.reap(queue) {
                assert!(done.status.is_success(), "{}", done.status);
                assert_eq!(done.queue, queue);
                let command = model.running.remove(&(queue, done.command_id));
                model.over(&driver.machine.ram, &command.expect("it is under way"));
                over += 1;
            }
        }
    }
    assert!(model.running.is_empty() && !driver.machine.interrupts.is_empty());
    over
}

#[test]
fn a_hundred_thousand_commands_do_what_the_model_says() {
    assert_eq!(drive(60_000, false, PcieOptions::default(), 1), 60_000);
    assert_eq!(drive(25_000, true, PcieOptions::default(), 2), 25_000);
    let few = PcieOptions { commands_max: 3, ..PcieOptions::default() };
    assert_eq!(drive(15_000, false, few, 3), 15_000);
}

/// The host is a simulator whose memory takes time: entries, lists of pointers and data come after
/// the controller has asked for them.
#[test]
fn commands_wait_for_memory_that_takes_time() {
    for shadow in [false, true] {
        let mut driver = Driver::up(subsystem(tenants()), PcieOptions::default(), 2, 0);
        driver.machine.slow = Some(SlowMemory::default());
        assert_eq!(drive_on(&mut driver, 5_000, shadow, 4), 5_000);
        let waited = driver.machine.slow.expect("slow memory").waited;
        assert!(waited > 10_000, "an entry, and data or lists of most: {waited}");
    }
}

/// If memory answers at the instant at which it is asked, commands take as long as they do with
/// memory that is always there.
#[test]
fn memory_without_delay_gives_the_same_times() {
    let times = |slow: bool| {
        let mut driver = Driver::up(subsystem(tenants()), PcieOptions::default(), 2, 0);
        driver.machine.slow = slow.then(SlowMemory::default);
        let data = driver.pages(9);
        for at in 0..200 {
            let opcode = if at % 3 == 0 { io::WRITE } else { io::READ };
            let entry = pages(blocks(opcode, at * 7 % 4096, 2), data, data + PAGE);
            assert!(driver.run(at as u16 % 2 + 1, entry).status.is_success());
        }
        driver.machine.interrupts
    };
    assert_eq!(times(false), times(true));
}
