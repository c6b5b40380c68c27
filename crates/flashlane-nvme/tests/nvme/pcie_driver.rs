//! A driver in the process, which brings the controller up as a host does.

use std::collections::BTreeSet;

use flashlane::Time;
use flashlane::drive::{DriveOptions, Tenant};
use flashlane_nvme::pcie::{BadAddress, PcieController, PcieHost, PcieOptions};
use flashlane_nvme::{
    CompletionEntry, Entry, Identity, Media, MediaConfig, MemoryStore, Subsystem, Tenancy,
    admin_opcode as admin,
};

pub(crate) const PAGE: u64 = 4096;

/// Unit: bytes.
const RAM: usize = 16 << 20;

const CC: u64 = 0x14;
const CSTS: u64 = 0x1c;

/// Memory that is not there when the controller asks for it first.
#[derive(Default)]
pub(crate) struct SlowMemory {
    asked: BTreeSet<(u64, usize)>,
    there: BTreeSet<(u64, usize)>,
    /// Ranges that the controller had to wait for.
    pub(crate) waited: u64,
}

/// The machine: its memory, and the interrupts that it has got.
pub(crate) struct Machine {
    pub(crate) ram: Vec<u8>,
    pub(crate) interrupts: Vec<(Time, u16)>,
    pub(crate) slow: Option<SlowMemory>,
}

impl Machine {
    fn range(&self, address: u64, length: usize) -> Result<std::ops::Range<usize>, BadAddress> {
        let from = usize::try_from(address).map_err(|_| BadAddress)?;
        let to = from.checked_add(length).filter(|&to| to <= self.ram.len());
        to.map(|to| from..to).ok_or(BadAddress)
    }
}

impl PcieHost for Machine {
    fn is_there(&mut self, address: u64, bytes: usize) -> bool {
        let Some(slow) = &mut self.slow else { return true };
        let is_there = slow.there.contains(&(address, bytes));
        if !is_there {
            slow.asked.insert((address, bytes));
        }
        is_there
    }

    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), BadAddress> {
        if let Some(slow) = &self.slow {
            assert!(slow.there.contains(&(address, data.len())), "{address:#x}: never asked for");
        }
        let range = self.range(address, data.len())?;
        data.copy_from_slice(&self.ram[range]);
        Ok(())
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), BadAddress> {
        let range = self.range(address, data.len())?;
        self.ram[range].copy_from_slice(data);
        Ok(())
    }

    fn interrupt(&mut self, at: Time, vector: u16) {
        self.interrupts.push((at, vector));
    }
}

/// A queue pair of the driver.
#[derive(Clone, Copy, Debug)]
struct Pair {
    submissions: u64,
    completions: u64,
    size: u16,
    completion_size: u16,
    tail: u16,
    head: u16,
    phase: u8,
}

/// A driver.
pub(crate) struct Driver {
    pub(crate) controller: PcieController,
    pub(crate) machine: Machine,
    pub(crate) now: Time,
    pairs: Vec<Pair>,
    /// The first page that is not given away.
    free: u64,
    /// The buffer of shadow doorbells.
    pub(crate) shadow: Option<u64>,
    last_id: u16,
}

pub(crate) fn subsystem(tenants: Vec<Tenant>) -> Subsystem {
    let device = flashlane::config::load::device("tiny", &Default::default());
    let device = device.expect("a preset").config;
    let options = DriveOptions::default();
    let (tenancy, block_bytes, seed) = (Tenancy::Queue, 4096, 1);
    let config = MediaConfig { device, tenants, tenancy, block_bytes, seed, options };
    let media = Media::new(config, Box::new(MemoryStore::new(1 << 30))).expect("a valid drive");
    Subsystem::new(media, Identity::of("tiny"))
}

pub(crate) fn tenants() -> Vec<Tenant> {
    vec![Tenant::named("q1"), Tenant::named("q2")]
}

impl Driver {
    /// A driver of a controller that is not enabled.
    pub(crate) fn new(subsystem: Subsystem, options: PcieOptions) -> Self {
        let controller = PcieController::new(subsystem, options).expect("a free place");
        let machine = Machine { ram: vec![0; RAM], interrupts: Vec::new(), slow: None };
        let (now, pairs, free, shadow) = (Time::ZERO, Vec::new(), PAGE, None);
        Self { controller, machine, now, pairs, free, shadow, last_id: 0 }
    }

    /// A driver with I/O queues of 64 entries, and an arbitration (CC.AMS).
    pub(crate) fn up(subsystem: Subsystem, options: PcieOptions, queues: u16, ams: u64) -> Self {
        let mut driver = Self::new(subsystem, options);
        driver.enable(ams);
        driver.grant(queues);
        for queue in 1..=queues {
            driver.make_queue(queue, 64, 64, 1);
        }
        driver
    }

    pub(crate) fn pages(&mut self, count: u64) -> u64 {
        let first = self.free;
        self.free += count * PAGE;
        assert!(self.free <= RAM as u64, "the machine has memory");
        first
    }

    pub(crate) fn set(&mut self, offset: u64, bytes: usize, value: u64) {
        self.controller.mmio_write(self.now, offset, bytes, value, &mut self.machine);
        self.settle();
    }

    /// Slow memory answers until the controller waits for nothing more.
    fn settle(&mut self) {
        while let Some(slow) = self.machine.slow.as_mut().filter(|it| !it.asked.is_empty()) {
            slow.waited += slow.asked.len() as u64;
            let asked = std::mem::take(&mut slow.asked);
            slow.there.extend(asked);
            self.controller.advance(self.now, &mut self.machine).expect("nothing fails");
        }
        if let Some(slow) = &mut self.machine.slow {
            slow.there.clear();
        }
    }

    /// Lets the controller look at the shadow doorbells.
    pub(crate) fn look(&mut self) {
        self.controller.advance(self.now, &mut self.machine).expect("nothing fails");
        self.settle();
    }

    pub(crate) fn get(&mut self, offset: u64) -> u64 {
        self.controller.mmio_read(offset, 4)
    }

    /// Disables and enables the controller with new admin queues.
    pub(crate) fn enable(&mut self, ams: u64) {
        let capabilities = self.controller.mmio_read(0, 8);
        assert_eq!((capabilities & 0xffff, capabilities >> 16 & 7), (1023, 3), "CAP");
        self.set(CC, 4, 0x0046_0000);
        assert_eq!(self.get(CSTS), 0, "not ready");
        let (submissions, completions) = (self.pages(1), self.pages(1));
        self.set(0x24, 4, 31 | 31 << 16);
        self.set(0x28, 8, submissions);
        self.set(0x30, 4, completions);
        self.set(0x34, 4, 0);
        assert_eq!(self.controller.mmio_read(0x28, 8), submissions);
        self.pairs = vec![Pair::new(submissions, completions, 32, 32)];
        self.shadow = None;
        self.set(CC, 4, 0x0046_0001 | ams << 11);
        assert_eq!(self.get(CSTS), 1, "ready");
    }

    /// Asks for I/O queues.
    pub(crate) fn grant(&mut self, queues: u16) {
        let wanted = u32::from(queues - 1) * 0x1_0001;
        let entry = entry(admin::SET_FEATURES, 0).with_dword(10, 7).with_dword(11, wanted);
        assert_eq!(self.admin(entry).result, u64::from(wanted));
    }

    /// Makes a queue pair, whose vector is its number.
    pub(crate) fn make_queue(&mut self, queue: u16, size: u16, completion_size: u16, class: u32) {
        let (submissions, completions) = (self.pages(2), self.pages(1));
        let number = u32::from(queue);
        let sized = |size: u16| number | u32::from(size - 1) << 16;
        let entry = |opcode, size, more, place| {
            pages(entry(opcode, 0), place, 0).with_dword(10, sized(size)).with_dword(11, more)
        };
        let made =
            entry(admin::CREATE_COMPLETION_QUEUE, completion_size, 3 | number << 16, completions);
        assert!(self.admin(made).status.is_success());
        let more = 1 | class << 1 | number << 16;
        let made = entry(admin::CREATE_SUBMISSION_QUEUE, size, more, submissions);
        assert!(self.admin(made).status.is_success());
        self.pairs.push(Pair::new(submissions, completions, size, completion_size));
    }

    /// Writes an entry without telling the controller, and returns its identifier.
    pub(crate) fn write_entry(&mut self, queue: u16, mut entry: Entry) -> u16 {
        self.last_id = self.last_id.wrapping_add(1);
        entry.0[2..4].copy_from_slice(&self.last_id.to_le_bytes());
        let pair = &mut self.pairs[usize::from(queue)];
        let at = (pair.submissions + u64::from(pair.tail) * 64) as usize;
        self.machine.ram[at..at + 64].copy_from_slice(&entry.0);
        pair.tail = (pair.tail + 1) % pair.size;
        self.last_id
    }

    /// Tells the controller of new entries.
    pub(crate) fn ring(&mut self, queue: u16) {
        let tail = self.pairs[usize::from(queue)].tail;
        self.doorbell(u64::from(queue) * 2, tail);
    }

    fn doorbell(&mut self, number: u64, value: u16) {
        if let (Some(shadow), true) = (self.shadow, number >= 2) {
            let at = (shadow + number * 4) as usize;
            self.machine.ram[at..at + 4].copy_from_slice(&u32::from(value).to_le_bytes());
            // The controller sees it as time passes.
            return;
        }
        self.set(0x1000 + number * 4, 4, value.into());
    }

    pub(crate) fn submit(&mut self, queue: u16, entry: Entry) -> u16 {
        let id = self.write_entry(queue, entry);
        self.ring(queue);
        id
    }

    /// Completions that have been posted to a queue, without telling the controller.
    pub(crate) fn posted(&mut self, queue: u16) -> Vec<CompletionEntry> {
        let pair = &mut self.pairs[usize::from(queue)];
        let mut found = Vec::new();
        loop {
            let at = (pair.completions + u64::from(pair.head) * 16) as usize;
            let bytes: &[u8; 16] = self.machine.ram[at..at + 16].try_into().expect("16 bytes");
            if bytes[14] & 1 != pair.phase {
                return found;
            }
            let completion = CompletionEntry::decode(bytes);
            assert!(completion.queue_head < pair.size);
            found.push(completion);
            pair.head += 1;
            if pair.head == pair.completion_size {
                (pair.head, pair.phase) = (0, pair.phase ^ 1);
            }
        }
    }

    /// Takes the completions that have been posted to a queue, and makes room for more.
    pub(crate) fn reap(&mut self, queue: u16) -> Vec<CompletionEntry> {
        let found = self.posted(queue);
        if !found.is_empty() {
            self.room(queue);
        }
        found
    }

    /// Tells the controller how far the driver has read.
    pub(crate) fn room(&mut self, queue: u16) {
        let head = self.pairs[usize::from(queue)].head;
        self.doorbell(u64::from(queue) * 2 + 1, head);
    }

    /// An admin command, which takes no time.
    pub(crate) fn admin(&mut self, entry: Entry) -> CompletionEntry {
        let id = self.submit(0, entry);
        let mut done = self.reap(0);
        let done = done.pop().expect("the command is complete");
        assert_eq!(done.command_id, id);
        done
    }

    /// Lets time pass up to the next event. False if there is none.
    pub(crate) fn step(&mut self) -> bool {
        let Some(at) = self.controller.next_event() else { return false };
        self.now = self.now.max(at);
        self.look();
        true
    }

    /// A command alone.
    pub(crate) fn run(&mut self, queue: u16, entry: Entry) -> CompletionEntry {
        let id = self.submit(queue, entry);
        loop {
            if let Some(done) = self.reap(queue).pop() {
                assert_eq!(done.command_id, id);
                return done;
            }
            assert!(self.step(), "the command is under way");
        }
    }
}

impl Pair {
    fn new(submissions: u64, completions: u64, size: u16, completion_size: u16) -> Self {
        let (tail, head, phase) = (0, 0, 1);
        Self { submissions, completions, size, completion_size, tail, head, phase }
    }
}

/// An entry whose data pointers are pages.
pub(crate) fn entry(opcode: u8, namespace: u32) -> Entry {
    let mut entry = Entry::new(opcode, 0, namespace);
    entry.0[1] = 0;
    entry
}

/// The entry with two page pointers.
pub(crate) fn pages(mut entry: Entry, first: u64, second: u64) -> Entry {
    entry.0[24..32].copy_from_slice(&first.to_le_bytes());
    entry.0[32..40].copy_from_slice(&second.to_le_bytes());
    entry
}

/// A command about blocks of namespace 1.
pub(crate) fn blocks(opcode: u8, first: u64, count: u32) -> Entry {
    entry(opcode, 1).with_dword(10, first as u32).with_dword(12, count - 1)
}
