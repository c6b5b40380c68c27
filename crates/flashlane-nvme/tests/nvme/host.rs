//! A host in the process, which connects as Linux does.

use flashlane::Time;
use flashlane::config::load::{Overrides, device};
use flashlane::drive::{DriveOptions, Tenant};
use flashlane_nvme::{
    CompletionEntry, ConnectData, Done, Entry, Identity, Media, MediaConfig, MemoryStore, QueueKey,
    Status, Store, Subsystem, Tenancy, Transfer, admin_opcode as admin, fabrics_type as fabrics,
    io_opcode as io,
};

pub(crate) const NQN: &str = "nqn.2026-11.dev.flashlane:tiny";

pub(crate) fn config(tenants: usize, tenancy: Tenancy, block_bytes: u32) -> MediaConfig {
    let device = device("tiny", &Overrides::default()).expect("a preset").config;
    let tenants = (1..=tenants).map(|number| Tenant::named(format!("q{number}"))).collect();
    let options = DriveOptions { check: true, blame: true };
    MediaConfig { device, tenants, tenancy, block_bytes, seed: 1, options }
}

pub(crate) fn subsystem(tenants: usize, tenancy: Tenancy, store: Box<dyn Store>) -> Subsystem {
    let media = Media::new(config(tenants, tenancy, 4096), store).expect("a valid drive");
    Subsystem::new(media, Identity::of("tiny"))
}

/// A host with a controller.
pub(crate) struct Host {
    pub(crate) subsystem: Subsystem,
    pub(crate) controller: u16,
    pub(crate) now: Time,
    pub(crate) done: Vec<Done>,
    last_id: u16,
}

pub(crate) fn connect_entry(queue: u16, size: u16) -> Entry {
    let mut entry = Entry::new(fabrics::OPCODE, 0, 0);
    entry.0[4] = fabrics::CONNECT;
    entry.0[42..44].copy_from_slice(&queue.to_le_bytes());
    entry.0[44..46].copy_from_slice(&(size - 1).to_le_bytes());
    entry.0[48..52].copy_from_slice(&5000_u32.to_le_bytes());
    entry
}

pub(crate) fn connect_data(controller: u16, host: u8) -> ConnectData {
    ConnectData {
        host_id: [host; 16],
        controller,
        subsystem: NQN.to_owned(),
        host: format!("nqn.2014-08.org.nvmexpress:uuid:{host}"),
    }
}

pub(crate) fn property(offset: u32, value: Option<u64>, wide: bool) -> Entry {
    let mut entry = Entry::new(fabrics::OPCODE, 0, 0);
    entry.0[4] = if value.is_some() { fabrics::PROPERTY_SET } else { fabrics::PROPERTY_GET };
    entry.0[40] = u8::from(wide);
    entry.0[44..48].copy_from_slice(&offset.to_le_bytes());
    entry.0[48..56].copy_from_slice(&value.unwrap_or_default().to_le_bytes());
    entry
}

impl Host {
    /// A host that has enabled its controller and connected its I/O queues.
    pub(crate) fn with_queues(subsystem: Subsystem, queues: u16) -> Self {
        let mut host = Self::admin_only(subsystem, 1);
        let wanted = u32::from(queues - 1);
        let features = Entry::new(admin::SET_FEATURES, 0, 0).with_dword(10, 7);
        let granted = host.now_done(0, features.with_dword(11, wanted | wanted << 16), Vec::new());
        assert_eq!(granted.completion.result, u64::from(wanted | wanted << 16));
        for queue in 1..=queues {
            let data = connect_data(host.controller, 1).encode();
            host.subsystem.connect(&connect_entry(queue, 128), &data).expect("a free queue");
        }
        host
    }

    /// A host that has enabled its controller.
    pub(crate) fn admin_only(subsystem: Subsystem, number: u8) -> Self {
        Self::of(subsystem, &connect_data(0xffff, number))
    }

    /// A host that has enabled the controller to which it connects with this data.
    pub(crate) fn of(mut subsystem: Subsystem, data: &ConnectData) -> Self {
        let entry = connect_entry(0, 32);
        let connected = subsystem.connect(&entry, &data.encode()).expect("a free place");
        let (controller, now, done) = (connected.key.controller, Time::ZERO, Vec::new());
        let mut host = Self { subsystem, controller, now, done, last_id: 0 };
        host.now_done(0, property(0x14, Some(0x0046_0000), false), Vec::new());
        host.now_done(0, property(0x14, Some(0x0046_0001), false), Vec::new());
        assert_eq!(host.now_done(0, property(0x1c, None, false), Vec::new()).completion.result, 1);
        host
    }

    pub(crate) fn key(&self, queue: u16) -> QueueKey {
        QueueKey { controller: self.controller, queue }
    }

    /// Submits a command now, and returns its identifier.
    pub(crate) fn submit(&mut self, queue: u16, mut entry: Entry, data: Vec<u8>) -> u16 {
        self.last_id = self.last_id.wrapping_add(1);
        entry.0[2..4].copy_from_slice(&self.last_id.to_le_bytes());
        let key = self.key(queue);
        match self.subsystem.transfer(key, &entry) {
            Ok(transfer) => {
                if let Transfer::FromHost(bytes) = transfer {
                    assert_eq!(bytes, data.len(), "{entry:?}");
                }
                let done = &mut self.done;
                let taken = self.subsystem.submit(self.now, key, &entry, data, done);
                taken.expect("a queue with room");
            }
            Err(status) => {
                self.subsystem.refuse(self.now, key, &entry, status, &mut self.done);
            }
        }
        self.last_id
    }

    /// A command that takes no simulated time.
    pub(crate) fn now_done(&mut self, queue: u16, entry: Entry, data: Vec<u8>) -> Done {
        self.submit(queue, entry, data);
        let done = self.done.pop().expect("the command is complete");
        assert_eq!((done.at, done.key), (self.now, self.key(queue)));
        done
    }

    /// Lets simulated time pass until something is complete.
    pub(crate) fn next_done(&mut self) -> Done {
        let mut foreign = Vec::new();
        while self.done.is_empty() {
            let at = self.subsystem.next_event().expect("something is under way");
            self.now = self.now.max(at);
            self.subsystem.advance(at, &mut self.done, &mut foreign).expect("nothing fails");
        }
        self.done.remove(0)
    }

    /// A command alone, from start to end.
    pub(crate) fn run(&mut self, queue: u16, entry: Entry, data: Vec<u8>) -> Done {
        let id = self.submit(queue, entry, data);
        let done = self.next_done();
        assert_eq!(done.completion.command_id, id);
        assert_eq!(done.completion.queue, queue);
        done
    }

    pub(crate) fn status(&mut self, queue: u16, entry: Entry, data: Vec<u8>) -> Status {
        self.run(queue, entry, data).completion.status
    }

    pub(crate) fn identify(&mut self, what: u32, namespace: u32) -> Result<Vec<u8>, Status> {
        let entry = Entry::new(admin::IDENTIFY, 0, namespace).with_dword(10, what);
        let done = self.now_done(0, entry, Vec::new());
        let CompletionEntry { status, .. } = done.completion;
        if status.is_success() { Ok(done.data) } else { Err(status) }
    }

    pub(crate) fn log(&mut self, page: u32, bytes: u32, offset: u32) -> Result<Vec<u8>, Status> {
        let entry = Entry::new(admin::GET_LOG_PAGE, 0, u32::MAX);
        let entry = entry.with_dword(10, page | (bytes / 4 - 1) << 16).with_dword(12, offset);
        let done = self.now_done(0, entry, Vec::new());
        let CompletionEntry { status, .. } = done.completion;
        if status.is_success() { Ok(done.data) } else { Err(status) }
    }
}

/// A read, a write or write zeroes of blocks.
pub(crate) fn blocks(opcode: u8, namespace: u32, first: u64, count: u32) -> Entry {
    Entry::new(opcode, 0, namespace)
        .with_dword(10, first as u32)
        .with_dword(11, (first >> 32) as u32)
        .with_dword(12, count - 1)
}

pub(crate) fn read(first: u64, count: u32) -> Entry {
    blocks(io::READ, 1, first, count)
}

pub(crate) fn write(first: u64, count: u32) -> Entry {
    blocks(io::WRITE, 1, first, count)
}

/// Data that differs from block to block and from `salt` to `salt`.
pub(crate) fn data(first: u64, count: u32, salt: u8) -> Vec<u8> {
    let words = first * 512..(first + u64::from(count)) * 512;
    words.flat_map(|word| (word ^ u64::from(salt) << 56).to_le_bytes()).collect()
}

pub(crate) fn memory() -> Box<dyn Store> {
    Box::new(MemoryStore::new(1 << 30))
}
