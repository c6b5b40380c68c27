//! Data is what was written, whatever happens to the store.

use std::collections::BTreeMap;
use std::io;

use flashlane_nvme::{
    DataPointer, Entry, MemoryStore, Status, Store, Tenancy, Transfer, admin_opcode as admin,
    io_opcode,
};

use crate::host::{Host, blocks, data, memory, read, subsystem, write};

const FUA: u32 = 1 << 30;

fn with_dword12(entry: Entry, bits: u32) -> Entry {
    entry.with_dword(12, entry.dword(12) | bits)
}

#[test]
fn what_was_written_is_read() {
    let mut host = Host::with_queues(subsystem(2, Tenancy::Queue, memory()), 2);
    assert_eq!(host.run(1, read(5, 2), Vec::new()).data, vec![0; 8192], "never written");
    assert_eq!(host.status(1, write(5, 2), data(5, 2, 1)), Status::SUCCESS);
    let done = host.run(2, read(4, 4), Vec::new());
    assert!(done.completion.status.is_success());
    let expected = [vec![0; 4096], data(5, 2, 1), vec![0; 4096]].concat();
    assert!(done.data == expected, "another queue sees the same data");
    assert_eq!(
        host.status(2, blocks(io_opcode::WRITE_ZEROES, 1, 5, 1), Vec::new()),
        Status::SUCCESS
    );
    let expected = [vec![0; 4096], data(6, 1, 1)].concat();
    assert!(host.run(1, read(5, 2), Vec::new()).data == expected);
}

#[test]
fn deallocated_blocks_are_zero() {
    let mut host = Host::with_queues(subsystem(1, Tenancy::Queue, memory()), 1);
    host.run(1, write(0, 8), data(0, 8, 3));
    let mut ranges = vec![0; 32];
    ranges[4..8].copy_from_slice(&2_u32.to_le_bytes());
    ranges[8..16].copy_from_slice(&1_u64.to_le_bytes());
    ranges[20..24].copy_from_slice(&1_u32.to_le_bytes());
    ranges[24..32].copy_from_slice(&7_u64.to_le_bytes());
    let entry = Entry::new(io_opcode::DATASET_MANAGEMENT, 0, 1).with_dword(10, 1);
    assert_eq!(host.status(1, entry, ranges.clone()), Status::SUCCESS, "a hint only");
    assert!(host.run(1, read(0, 8), Vec::new()).data == data(0, 8, 3));
    assert_eq!(host.status(1, entry.with_dword(11, 4), ranges.clone()), Status::SUCCESS);
    let mut expected = data(0, 8, 3);
    expected[4096..3 * 4096].fill(0);
    expected[7 * 4096..].fill(0);
    assert!(host.run(1, read(0, 8), Vec::new()).data == expected);
    ranges[31] = 0xff;
    assert_eq!(host.status(1, entry.with_dword(11, 4), ranges), Status::LBA_OUT_OF_RANGE);
}

/// Linux sends 256 ranges, however few of them the command has.
#[test]
fn ranges_that_the_command_does_not_have_change_nothing() {
    let mut host = Host::with_queues(subsystem(1, Tenancy::Queue, memory()), 1);
    host.run(1, write(0, 8), data(0, 8, 3));
    let mut ranges = vec![0xff; 4096];
    ranges[..16].fill(0);
    ranges[4..8].copy_from_slice(&2_u32.to_le_bytes());
    ranges[8..16].copy_from_slice(&1_u64.to_le_bytes());
    let one = Entry::new(io_opcode::DATASET_MANAGEMENT, 0, 1).with_dword(11, 4);
    for kind in [DataPointer::IN_CAPSULE, DataPointer::TRANSPORT] {
        let entry = one.with_data(DataPointer { address: 0, length: 4096, kind });
        assert_eq!(host.status(1, entry, ranges.clone()), Status::SUCCESS);
        let mut expected = data(0, 8, 3);
        expected[4096..3 * 4096].fill(0);
        assert!(host.run(1, read(0, 8), Vec::new()).data == expected);
    }
    for length in [8, 4112] {
        let pointer = DataPointer { address: 0, length, kind: DataPointer::IN_CAPSULE };
        let bytes = host.subsystem.transfer(host.key(1), &one.with_data(pointer));
        assert_eq!(bytes, Ok(Transfer::FromHost(16)), "less than one range, or more than 256");
    }
}

#[test]
fn ranges_outside_are_refused() {
    let mut host = Host::with_queues(subsystem(1, Tenancy::Queue, memory()), 1);
    let blocks = host.subsystem.media().sectors(1).expect("a namespace") / 8;
    assert_eq!(host.status(1, read(blocks - 1, 1), Vec::new()), Status::SUCCESS);
    for (first, count) in [(blocks, 1), (blocks - 1, 2), (u64::MAX, 2), (1 << 61, 1)] {
        let status = host.status(1, read(first, count), Vec::new());
        assert_eq!(status, Status::LBA_OUT_OF_RANGE, "{first} + {count}");
    }
    assert_eq!(host.status(1, read(0, 33), Vec::new()), Status::INVALID_FIELD, "beyond MDTS");
    let elsewhere = crate::host::blocks(io_opcode::READ, 2, 0, 1);
    assert_eq!(host.status(1, elsewhere, Vec::new()), Status::INVALID_NAMESPACE);
}

#[test]
fn random_commands_agree_with_a_plain_model() {
    let mut host = Host::with_queues(subsystem(2, Tenancy::Queue, memory()), 2);
    let mut plain: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut seed = 7_u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (seed >> 33) % below
    };
    for round in 0..3000_u64 {
        let (queue, first, count) = (draw(2) as u16 + 1, draw(200), draw(8) as u32 + 1);
        let touched = first..first + u64::from(count);
        match draw(5) {
            0 | 1 => {
                let fresh = data(first, count, round as u8);
                let durable = if draw(4) == 0 { FUA } else { 0 };
                let entry = with_dword12(write(first, count), durable);
                assert_eq!(host.status(queue, entry, fresh.clone()), Status::SUCCESS);
                plain.extend(touched.zip(fresh.chunks(4096).map(<[u8]>::to_vec)));
            }
            2 => {
                let entry = blocks(io_opcode::WRITE_ZEROES, 1, first, count);
                assert_eq!(host.status(queue, entry, Vec::new()), Status::SUCCESS);
                plain.retain(|block, _| !touched.contains(block));
            }
            3 => {
                let flush = Entry::new(io_opcode::FLUSH, 0, 1);
                assert_eq!(host.status(queue, flush, Vec::new()), Status::SUCCESS);
            }
            _ => {
                let done = host.run(queue, read(first, count), Vec::new());
                for (block, found) in touched.zip(done.data.chunks(4096)) {
                    let zero = vec![0; 4096];
                    assert!(found == plain.get(&block).unwrap_or(&zero), "round {round}: {block}");
                }
            }
        }
    }
    assert_eq!(host.subsystem.media().outstanding(), 0);
}

/// A store that fails at bytes from a place on, and counts syncs.
struct Broken {
    memory: MemoryStore,
    from: u64,
    syncs: std::sync::Arc<std::sync::atomic::AtomicU64>,
}

impl Broken {
    fn look(&self, offset: u64, length: usize) -> io::Result<()> {
        match offset + length as u64 > self.from {
            true => Err(io::Error::other("a scratch")),
            false => Ok(()),
        }
    }
}

impl Store for Broken {
    fn read(&mut self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        self.look(offset, data.len())?;
        self.memory.read(offset, data)
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.look(offset, data.len())?;
        self.memory.write(offset, data)
    }

    fn zero(&mut self, offset: u64, length: u64) -> io::Result<()> {
        self.memory.zero(offset, length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.syncs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn a_store_that_fails_is_a_media_error_and_an_event() {
    let syncs = std::sync::Arc::default();
    let store = Broken { memory: MemoryStore::new(1 << 30), from: 40_960, syncs };
    let mut host = Host::with_queues(subsystem(1, Tenancy::Queue, Box::new(store)), 1);
    host.submit(0, Entry::new(admin::ASYNC_EVENT, 0, 0), Vec::new());
    assert_eq!(host.status(1, read(10, 1), Vec::new()), Status::UNRECOVERED_READ_ERROR);
    let event = host.done.pop().expect("an event");
    assert_eq!((event.key.queue, event.completion.result), (0, 0x01_04_00));
    host.submit(0, Entry::new(admin::ASYNC_EVENT, 0, 0), Vec::new());
    assert_eq!(host.status(1, write(10, 1), data(10, 1, 1)), Status::WRITE_FAULT);
    assert!(host.done.is_empty(), "the error log was not read since");
    let log = host.log(1, 4096, 0).expect("the error log");
    assert_eq!(log[64..72], 1_u64.to_le_bytes());
    assert_eq!(log[12..14], (0x280_u16 << 1).to_le_bytes());
    assert_eq!(log[16..24], 10_u64.to_le_bytes());
    assert_eq!(host.status(1, read(9, 1), Vec::new()), Status::SUCCESS, "the drive goes on");
    let smart = host.log(2, 512, 0).expect("the health log");
    assert_eq!((smart[160], smart[176]), (2, 2));
}

#[test]
fn flushes_and_durable_writes_sync_the_store() {
    let syncs: std::sync::Arc<std::sync::atomic::AtomicU64> = std::sync::Arc::default();
    let broken = Broken { memory: MemoryStore::new(1 << 30), from: 1 << 40, syncs: syncs.clone() };
    let mut host = Host::with_queues(subsystem(1, Tenancy::Queue, Box::new(broken)), 1);
    let seen = || syncs.load(std::sync::atomic::Ordering::Relaxed);
    host.run(1, write(0, 1), data(0, 1, 1));
    assert_eq!(seen(), 0);
    host.run(1, with_dword12(write(0, 1), FUA), data(0, 1, 2));
    assert_eq!(seen(), 1);
    host.run(1, Entry::new(io_opcode::FLUSH, 0, 1), Vec::new());
    assert_eq!(seen(), 2);
}
