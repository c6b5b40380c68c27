//! A driver that uses a controller as a virtual machine does: registers by messages, queues and
//! data in memory that it lends, interrupts by counters.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use flashlane_nvme::{CompletionEntry, Entry, admin_opcode as admin};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use vfio_user::Client;

pub(crate) const PAGE: u64 = 4096;

/// Regions.
pub(crate) const BAR: u32 = 0;
pub(crate) const CONFIG: u32 = 7;

/// Interrupts by MSI-X.
pub(crate) const MSI_X: u32 = 2;

/// The first address of the memory of queues, and of that of data. Each is half of the memory.
const QUEUES: u64 = 0x10_0000;
pub(crate) const DATA: u64 = 1 << 40;

/// Unit: bytes.
pub(crate) const HALF: u64 = 4 << 20;

/// Entries of a queue.
const ENTRIES: u16 = 32;

/// A queue pair of the driver.
struct Pair {
    submissions: u64,
    completions: u64,
    tail: u16,
    head: u16,
    phase: u8,
}

/// A guest with a driver.
pub(crate) struct Guest {
    pub(crate) client: Client,
    memory: File,
    events: Vec<File>,
    pairs: Vec<Pair>,
    /// The first page of the memory of queues that is not given away.
    free: u64,
    last_id: u16,
}

impl Guest {
    /// A guest that has lent its memory, and armed an interrupt for each of its queues.
    pub(crate) fn new(path: &Path, queues: u16) -> Self {
        Self::of(Client::new(path).expect("the server answers"), queues)
    }

    /// A guest as soon as the server has room for one.
    pub(crate) fn when_free(path: &Path, queues: u16) -> Self {
        loop {
            if let Ok(client) = Client::new(path) {
                return Self::of(client, queues).brought_up(queues);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn of(mut client: Client, queues: u16) -> Self {
        let memory = memfd_create("guest", MemfdFlags::CLOEXEC).expect("memory");
        let memory = File::from(memory);
        memory.set_len(2 * HALF).expect("memory");
        for (offset, address) in [(0, QUEUES), (HALF, DATA)] {
            client.dma_map(offset, address, HALF, memory.as_raw_fd()).expect("an answer");
        }
        let event = |_| File::from(eventfd(0, EventfdFlags::NONBLOCK).expect("a counter"));
        let events: Vec<File> = (0..=queues).map(event).collect();
        let files: Vec<_> = events.iter().map(AsRawFd::as_raw_fd).collect();
        // By files, and to be triggered.
        client.set_irqs(MSI_X, 4 | 32, 0, files.len() as u32, &files).expect("an answer");
        Self { client, memory, events, pairs: Vec::new(), free: QUEUES, last_id: 0 }
    }

    /// A guest that has enabled the controller and made its queues.
    pub(crate) fn up(path: &Path, queues: u16) -> Self {
        Self::new(path, queues).brought_up(queues)
    }

    fn brought_up(mut self, queues: u16) -> Self {
        self.enable();
        let wanted = u32::from(queues - 1) * 0x1_0001;
        let entry = entry(admin::SET_FEATURES, 0).with_dword(10, 7).with_dword(11, wanted);
        assert_eq!(self.run(0, entry).result, u64::from(wanted));
        for queue in 1..=queues {
            self.make_queue(queue);
        }
        self
    }

    pub(crate) fn get(&mut self, offset: u64) -> u32 {
        let mut bytes = [0; 4];
        self.client.region_read(BAR, offset, &mut bytes).expect("an answer");
        u32::from_le_bytes(bytes)
    }

    pub(crate) fn set(&mut self, offset: u64, value: u64, bytes: usize) {
        let value = &value.to_le_bytes()[..bytes];
        self.client.region_write(BAR, offset, value).expect("an answer");
    }

    fn page(&mut self) -> u64 {
        self.free += PAGE;
        self.free - PAGE
    }

    /// Enables the controller with new admin queues.
    pub(crate) fn enable(&mut self) {
        self.set(0x14, 0, 4);
        assert_eq!(self.get(0x1c), 0, "not ready");
        let (submissions, completions) = (self.page(), self.page());
        let sizes = u64::from(ENTRIES - 1);
        self.set(0x24, sizes | sizes << 16, 4);
        self.set(0x28, submissions, 8);
        self.set(0x30, completions, 8);
        self.set(0x14, 0x0046_0001, 4);
        assert_eq!(self.get(0x1c), 1, "ready");
        self.pairs = vec![Pair::new(submissions, completions)];
    }

    fn make_queue(&mut self, queue: u16) {
        let (submissions, completions) = (self.page(), self.page());
        let number = u32::from(queue);
        let sized = number | u32::from(ENTRIES - 1) << 16;
        let make = |opcode, more, place| {
            pointed(entry(opcode, 0), place, 0).with_dword(10, sized).with_dword(11, more)
        };
        let made = make(admin::CREATE_COMPLETION_QUEUE, 3 | number << 16, completions);
        assert!(self.run(0, made).status.is_success());
        let made = make(admin::CREATE_SUBMISSION_QUEUE, 1 | number << 16, submissions);
        assert!(self.run(0, made).status.is_success());
        self.pairs.push(Pair::new(submissions, completions));
    }

    fn offset(address: u64) -> u64 {
        if address >= DATA { address - DATA + HALF } else { address - QUEUES }
    }

    /// Writes memory of the guest.
    pub(crate) fn store(&mut self, address: u64, data: &[u8]) {
        self.memory.write_all_at(data, Self::offset(address)).expect("memory");
    }

    /// Reads memory of the guest.
    pub(crate) fn load(&self, address: u64, length: usize) -> Vec<u8> {
        let mut data = vec![0; length];
        self.memory.read_exact_at(&mut data, Self::offset(address)).expect("memory");
        data
    }

    /// Makes the memory of the guest shorter than it said.
    pub(crate) fn cut(&self) {
        self.memory.set_len(HALF).expect("memory");
    }

    /// Sends a command, and returns its identifier.
    pub(crate) fn submit(&mut self, queue: u16, mut entry: Entry) -> u16 {
        self.last_id = self.last_id.wrapping_add(1);
        entry.0[2..4].copy_from_slice(&self.last_id.to_le_bytes());
        let pair = &mut self.pairs[usize::from(queue)];
        let at = pair.submissions + u64::from(pair.tail) * 64;
        pair.tail = (pair.tail + 1) % ENTRIES;
        let tail = pair.tail.into();
        self.store(at, &entry.0);
        self.set(0x1000 + u64::from(queue) * 8, tail, 4);
        self.last_id
    }

    /// Waits for the interrupt of a queue, and takes the completions.
    pub(crate) fn reap(&mut self, queue: u16) -> Vec<CompletionEntry> {
        let event = &self.events[usize::from(queue)];
        let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
        let mut places = [PollFd::new(event, PollFlags::IN)];
        assert_eq!(poll(&mut places, Some(&patience)), Ok(1), "an interrupt");
        let mut count = [0; 8];
        assert_eq!(rustix::io::read(event, &mut count), Ok(8));
        let mut found = Vec::new();
        loop {
            let pair = &self.pairs[usize::from(queue)];
            let bytes = self.load(pair.completions + u64::from(pair.head) * 16, 16);
            let pair = &mut self.pairs[usize::from(queue)];
            if bytes[14] & 1 != pair.phase {
                break;
            }
            found.push(CompletionEntry::decode(&bytes.try_into().expect("16 bytes")));
            pair.head = (pair.head + 1) % ENTRIES;
            pair.phase ^= u8::from(pair.head == 0);
        }
        let head = self.pairs[usize::from(queue)].head.into();
        self.set(0x1004 + u64::from(queue) * 8, head, 4);
        found
    }

    /// A command alone.
    pub(crate) fn run(&mut self, queue: u16, entry: Entry) -> CompletionEntry {
        let id = self.submit(queue, entry);
        loop {
            if let Some(done) = self.reap(queue).pop() {
                assert_eq!(done.command_id, id);
                return done;
            }
        }
    }
}

impl Pair {
    fn new(submissions: u64, completions: u64) -> Self {
        Self { submissions, completions, tail: 0, head: 0, phase: 1 }
    }
}

/// An entry whose data pointers are pages.
pub(crate) fn entry(opcode: u8, namespace: u32) -> Entry {
    let mut entry = Entry::new(opcode, 0, namespace);
    entry.0[1] = 0;
    entry
}

/// The entry with two page pointers.
pub(crate) fn pointed(mut entry: Entry, first: u64, second: u64) -> Entry {
    entry.0[24..32].copy_from_slice(&first.to_le_bytes());
    entry.0[32..40].copy_from_slice(&second.to_le_bytes());
    entry
}

/// A command about blocks of 4 KiB, whose data is at the begin of the memory of data. The list of
/// its pages is at the end.
pub(crate) fn blocks(guest: &mut Guest, opcode: u8, first: u64, count: u32) -> Entry {
    let entry = entry(opcode, 1).with_dword(10, first as u32).with_dword(12, count - 1);
    let list = DATA + HALF - PAGE;
    let pages = (1..u64::from(count)).flat_map(|page| (DATA + page * PAGE).to_le_bytes());
    guest.store(list, &pages.collect::<Vec<u8>>());
    let second = match count {
        1 => 0,
        2 => DATA + PAGE,
        _ => list,
    };
    pointed(entry, DATA, second)
}
