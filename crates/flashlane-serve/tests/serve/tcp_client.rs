//! A host of NVMe/TCP, which connects as Linux does.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use flashlane_nvme::{
    CompletionEntry, ConnectData, DataPointer, Entry, admin_opcode as admin,
    fabrics_type as fabrics,
};

/// A queue.
pub(crate) struct Queue {
    pub(crate) stream: TcpStream,
    digests: u8,
    command_id: u16,
    pub(crate) controller: u16,
}

/// A unit from the controller.
pub(crate) struct Unit {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) header: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

pub(crate) fn open(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).expect("a socket");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    stream
}

/// A unit as bytes.
pub(crate) fn unit(kind: u8, flags: u8, body: &[u8], data: &[u8], digests: u8) -> Vec<u8> {
    let (header, plain) = (8 + body.len(), kind == 0);
    let has = |bit: u8| !plain && digests & bit != 0;
    let start = header + if has(1) { 4 } else { 0 };
    let tail = if has(2) && !data.is_empty() { 4 } else { 0 };
    let offset = if data.is_empty() { 0 } else { start as u8 };
    let bits = u8::from(has(1)) | u8::from(tail > 0) << 1;
    let mut bytes = vec![kind, flags | bits, header as u8, offset];
    bytes.extend(((start + data.len() + tail) as u32).to_le_bytes());
    bytes.extend(body);
    if has(1) {
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    }
    bytes.extend(data);
    if tail > 0 {
        bytes.extend(crc32c::crc32c(data).to_le_bytes());
    }
    bytes
}

/// The body of a request to begin.
pub(crate) fn begin(digests: u8) -> [u8; 120] {
    let mut body = [0; 120];
    body[3] = digests;
    body
}

impl Queue {
    /// A connection on which the parameters are agreed.
    pub(crate) fn begin(address: SocketAddr, digests: u8) -> Self {
        let mut stream = open(address);
        stream.write_all(&unit(0, 0, &begin(digests), &[], 0)).expect("the server reads");
        let mut queue = Self { stream, digests: 0, command_id: 0, controller: 0xffff };
        let response = queue.receive();
        assert_eq!((response.kind, response.header[11]), (1, digests));
        queue.digests = digests;
        queue
    }

    pub(crate) fn receive(&mut self) -> Unit {
        let mut bytes = vec![0; 8];
        self.stream.read_exact(&mut bytes).expect("the server answers");
        let length = u32::from_le_bytes(bytes[4..8].try_into().expect("4 bytes")) as usize;
        bytes.resize(length, 0);
        self.stream.read_exact(&mut bytes[8..]).expect("the server answers");
        let (header, offset) = (usize::from(bytes[2]), usize::from(bytes[3]));
        if bytes[1] & 1 != 0 {
            let digest = crc32c::crc32c(&bytes[..header]).to_le_bytes();
            assert_eq!(bytes[header..header + 4], digest);
        }
        let tail = if bytes[1] & 2 != 0 { 4 } else { 0 };
        let data = if offset > 0 { bytes[offset..length - tail].to_vec() } else { Vec::new() };
        if tail > 0 {
            assert_eq!(bytes[length - 4..], crc32c::crc32c(&data).to_le_bytes());
        }
        Unit { kind: bytes[0], flags: bytes[1], header: bytes[..header].to_vec(), data }
    }

    pub(crate) fn send(&mut self, kind: u8, flags: u8, body: &[u8], data: &[u8]) {
        let bytes = unit(kind, flags, body, data, self.digests);
        self.stream.write_all(&bytes).expect("the server reads");
    }

    /// Connects a queue, and returns its completion.
    pub(crate) fn connect(&mut self, queue: u16, controller: u16, name: &str) -> CompletionEntry {
        let mut entry = Entry::new(fabrics::OPCODE, 0, 0);
        entry.0[4] = fabrics::CONNECT;
        entry.0[42..44].copy_from_slice(&queue.to_le_bytes());
        entry.0[44..46].copy_from_slice(&63_u16.to_le_bytes());
        let data = ConnectData {
            host_id: [5; 16],
            controller,
            subsystem: name.to_owned(),
            host: "nqn.2014-08.org.nvmexpress:uuid:test".to_owned(),
        };
        let (completion, _) = self.run(entry, &data.encode(), 0);
        self.controller = completion.result as u16;
        completion
    }

    /// A command from start to end. Small data goes inside of the capsule; `expect`: bytes to come.
    pub(crate) fn run(
        &mut self,
        mut entry: Entry,
        data: &[u8],
        expect: usize,
    ) -> (CompletionEntry, Vec<u8>) {
        self.command_id = self.command_id.wrapping_add(1);
        entry.0[2..4].copy_from_slice(&self.command_id.to_le_bytes());
        let inside = !data.is_empty() && data.len() <= 8192;
        let kind = if inside { DataPointer::IN_CAPSULE } else { DataPointer::TRANSPORT };
        let length = data.len().max(expect) as u32;
        let entry = entry.with_data(DataPointer { address: 0, length, kind });
        self.send(4, 0, &entry.0, if inside { data } else { &[] });
        let mut got = Vec::new();
        loop {
            let unit = self.receive();
            let number = |at: usize| u16::from_le_bytes([unit.header[at], unit.header[at + 1]]);
            match unit.kind {
                5 => {
                    let bytes = unit.header[8..24].try_into().expect("16 bytes");
                    let completion = CompletionEntry::decode(&bytes);
                    assert_eq!(completion.command_id, self.command_id);
                    return (completion, got);
                }
                7 => {
                    assert_eq!(usize::from(number(12)) | usize::from(number(14)) << 16, got.len());
                    got.extend(unit.data);
                    assert_eq!(unit.flags & 4 != 0, got.len() == expect);
                }
                9 => self.send_data(&unit.header[8..12], data),
                kind => panic!("a unit of kind {kind}"),
            }
        }
    }

    /// Sends the data that was asked for, in two units.
    fn send_data(&mut self, names: &[u8], data: &[u8]) {
        let (first, second) = data.split_at(data.len() / 2);
        for (piece, offset, flags) in [(first, 0, 0), (second, first.len(), 4)] {
            let mut body = [0; 16];
            body[..4].copy_from_slice(names);
            body[4..8].copy_from_slice(&(offset as u32).to_le_bytes());
            body[8..12].copy_from_slice(&(piece.len() as u32).to_le_bytes());
            self.send(6, flags, &body, piece);
        }
    }
}

/// Writes or reads a property of 4 bytes.
fn property(offset: u32, value: Option<u64>) -> Entry {
    let mut entry = Entry::new(fabrics::OPCODE, 0, 0);
    entry.0[4] = if value.is_some() { fabrics::PROPERTY_SET } else { fabrics::PROPERTY_GET };
    entry.0[44..48].copy_from_slice(&offset.to_le_bytes());
    entry.0[48..56].copy_from_slice(&value.unwrap_or_default().to_le_bytes());
    entry
}

/// A command about blocks of namespace 1.
pub(crate) fn blocks(opcode: u8, first: u64, count: u32) -> Entry {
    Entry::new(opcode, 0, 1).with_dword(10, first as u32).with_dword(12, count - 1)
}

pub(crate) const NQN: &str = "nqn.2026-11.dev.flashlane:tiny";

/// A controller that is ready, with its I/O queues. The admin queue is the first one.
pub(crate) fn bring_up(address: SocketAddr, queues: u16, digests: u8) -> Vec<Queue> {
    let mut admin_queue = Queue::begin(address, digests);
    assert!(admin_queue.connect(0, 0xffff, NQN).status.is_success());
    let controller = admin_queue.controller;
    for (offset, value) in [(0x14, 0x0046_0000), (0x14, 0x0046_0001)] {
        let (done, _) = admin_queue.run(property(offset, Some(value)), &[], 0);
        assert!(done.status.is_success());
    }
    assert_eq!(admin_queue.run(property(0x1c, None), &[], 0).0.result, 1);
    let identify = Entry::new(admin::IDENTIFY, 0, 0).with_dword(10, 1);
    let (_, page) = admin_queue.run(identify, &[], 4096);
    assert_eq!(page[78..80], controller.to_le_bytes());
    let wanted = u32::from(queues - 1) * 0x1_0001;
    let number = Entry::new(admin::SET_FEATURES, 0, 0).with_dword(10, 7).with_dword(11, wanted);
    assert_eq!(admin_queue.run(number, &[], 0).0.result, u64::from(wanted));
    let mut all = vec![admin_queue];
    for number in 1..=queues {
        let mut queue = Queue::begin(address, digests);
        assert!(queue.connect(number, controller, NQN).status.is_success());
        all.push(queue);
    }
    all
}
