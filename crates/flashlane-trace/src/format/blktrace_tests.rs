//! Tests of binary blktrace records.

use super::*;
use crate::test_support::{TempTrace, message, read};
use crate::{Format, Record, TraceOptions, TraceReader};

/// A record in either version and byte order.
fn record(
    layout: Layout,
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u64,
    pdu: &[u8],
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut put = |value: u64, size: usize| {
        let mut number = value.to_le_bytes()[..size].to_vec();
        if layout.is_big_endian {
            number.reverse();
        }
        out.extend(number);
    };
    put(if layout.is_version_8 { 0x6561_7408 } else { 0x6561_7407 }, 4);
    put(1, 4);
    put(time_ns, 8);
    put(sector, 8);
    put(bytes.into(), 4);
    if layout.is_version_8 {
        put(99, 4);
        put(action, 8);
    } else {
        put(action, 4);
        put(99, 4);
    }
    put(259 << 20 | 1, 4);
    put(3, 4);
    put(0, 2);
    put(pdu.len() as u64, 2);
    if layout.is_version_8 {
        put(0, 8);
        put(0, 4);
    }
    out.extend(pdu);
    out
}

const V7: Layout = Layout { is_version_8: false, is_big_endian: false };
const QUEUE_READ: u64 = 1 << 16 | 1;
const QUEUE_WRITE: u64 = 2 << 16 | 1;

#[test]
fn all_versions_and_byte_orders_say_the_same() {
    for is_version_8 in [false, true] {
        for is_big_endian in [false, true] {
            let layout = Layout { is_version_8, is_big_endian };
            let mut file = record(layout, 5, 0, 0, 0x400 << 16 | 1, b"fio\0");
            file.extend(record(layout, 20, 8, 4096, QUEUE_READ, b""));
            file.extend(record(layout, 21, 8, 4096, 1 << 16 | 7, b"12345678"));
            file.extend(record(layout, 30, 16, 8192, QUEUE_WRITE | 0x100, b"12345678"));
            file.extend(record(layout, 40, 0, 0, 6 << 16 | 1, b""));
            file.extend(record(layout, 50, 64, 512, 0x2002 << 16 | 1, b""));
            let found = read(&file, &TraceOptions::default()).expect("a trace");
            let brief: Vec<_> = found.iter().map(|r| (r.time_ps, r.op, r.length_bytes)).collect();
            let expected = [
                (0, Op::Read, 4096),
                (10_000, Op::Write, 8192),
                (20_000, Op::Flush, 0),
                (30_000, Op::Trim, 512),
            ];
            assert_eq!(brief, expected, "{layout:?}");
            assert_eq!((found[0].offset_bytes, found[0].device), (4096, 259 << 20 | 1));
        }
    }
}

#[test]
fn notes_name_the_process() {
    for is_version_8 in [false, true] {
        for is_big_endian in [false, true] {
            let layout = Layout { is_version_8, is_big_endian };
            let mut file = record(layout, 20, 8, 4096, QUEUE_READ, b"");
            file.extend(record(layout, 25, 0, 0, 0x400 << 16, b"fio\0\0"));
            let cgroup = if is_big_endian { [0, 0, 1, 2] } else { [2, 1, 0, 0] };
            let payload = [cgroup, [0; 4]].concat();
            file.extend(record(layout, 30, 16, 8192, QUEUE_WRITE | 0x100, &payload));
            let file = TempTrace::new(file);
            let texts = |kind| {
                let options = TraceOptions { tag: Some(kind), ..TraceOptions::default() };
                let mut reader = TraceReader::open(file.path(), &options).expect("a trace");
                let mut tags = Vec::new();
                while reader.next().expect("a record").is_some() {
                    tags.push(reader.tag());
                }
                let text = |tag: u32| reader.tag_text(tag).unwrap_or("none").to_owned();
                tags.into_iter().map(text).collect::<Vec<_>>()
            };
            assert_eq!(texts(TagKind::Process), ["fio", "fio"], "{layout:?}");
            assert_eq!(texts(TagKind::Pid), ["99", "99"], "{layout:?}");
            assert_eq!(texts(TagKind::Cgroup), ["none", "258"], "{layout:?}");
        }
    }
}

#[test]
fn naming_one_cpu_reads_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let read_of = |time, sector| record(V7, time, sector, 512, QUEUE_READ, b"");
    let first = [read_of(10, 1), read_of(30, 3)].concat();
    let second = [read_of(20, 2), read_of(40, 4)].concat();
    std::fs::write(folder.path().join("a.blktrace.0"), first).expect("room");
    std::fs::write(folder.path().join("a.blktrace.11"), second).expect("room");
    std::fs::write(folder.path().join("b.blktrace.1"), read_of(1, 9)).expect("room");
    for name in ["a.blktrace.0", "a.blktrace.11"] {
        let path = folder.path().join(name);
        let mut reader = TraceReader::open(&path, &TraceOptions::default()).expect("a trace");
        let mut sectors = || -> Vec<u64> {
            reader.by_ref().map(|r| r.expect("a record").offset_bytes / 512).collect()
        };
        assert_eq!(sectors(), [1, 2, 3, 4], "{name}");
    }
}

#[test]
fn a_rewound_reader_reads_all_again() {
    let file = TempTrace::new([1, 2, 3].map(|t| record(V7, t, t, 512, QUEUE_READ, b"")).concat());
    let mut reader = TraceReader::open(file.path(), &TraceOptions::default()).expect("a trace");
    let first: Vec<Record> = reader.by_ref().map(|r| r.expect("a record")).collect();
    reader.rewind().expect("still there");
    let second: Vec<Record> = reader.by_ref().map(|r| r.expect("a record")).collect();
    assert_eq!((first.len(), &first), (3, &second));
}

#[test]
fn damage_is_named_with_its_record() {
    let good = record(V7, 5, 8, 512, QUEUE_READ, b"");
    let cases = [
        (
            [&good[..], &good[..20]].concat(),
            "record 2: found the end of the file after 20 bytes of 48",
        ),
        ([&good[..], b"rubbish."].concat(), "record 2: found 0x62627572 as the start of a record"),
        ([&good[..], b"ru"].concat(), "record 2: found 0x00000000 as the start"),
        (record(V7, 5, 8, 512, QUEUE_READ, b"1234")[..50].to_vec(), "after 2 bytes of 4"),
        (
            record(V7, 5, u64::MAX / 2, 512, QUEUE_READ, b""),
            "record 1: number too large in `sector",
        ),
        (record(V7, 5, 8, 512, 1 << 16 | 7, b""), "found no event Q, but 1 of D; allowed: action"),
        (record(V7, 5, 8, 512, 1 << 16 | 2, b""), "found no record in"),
    ];
    for (content, expected) in cases {
        let found = message(read(&content, &TraceOptions::new(Format::Blktrace)));
        assert!(found.contains(expected), "{found}");
    }
}
