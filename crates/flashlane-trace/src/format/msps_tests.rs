//! Tests of the MSPS format, on samples written by hand.

use proptest::prelude::*;

use super::super::order::WAITING_MAX;
use super::*;
use crate::detect::detect;
use crate::format::Format;
use crate::options::TraceOptions;
use crate::reader::TraceReader;
use crate::record::Record;
use crate::test_support::reading;
use crate::test_support::{TempTrace, message, read};

const HEADER: &str = "\
BeginHeader
               DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum,   IrpFlags, DiskSvcTime, I/O Pri,  VolSnap, FileObject, FileName
              DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum,   IrpFlags, DiskSvcTime, I/O Pri,  VolSnap, FileObject, FileName
              DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,                              ElapsedTime,  DiskNum,   IrpFlags, DiskSvcTime, I/O Pri
           DiskReadInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
          DiskWriteInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
                CSwitch,  TimeStamp, New Process Name ( PID),    New TID
EndHeader
";

/// The first read completes last; a write without a start; a read whose pointer is used twice.
const EVENTS: &str = "\
OS Version: 5.2.3790  AMD64, Trace Size: 1KB, Events Lost: 0
           DiskReadInit,       1000,     server.exe ( 800),       2160, 0xfffffa8000000010
                CSwitch,       1001,     server.exe ( 800),       2160
           DiskReadInit,       1100,     server.exe ( 800),       2160, 0xfffffa8000000020
               DiskRead,       1400,     server.exe ( 800),       2160, 0xfffffa8000000020, 0x0000002000, 0x00001000,        290,        2, 0x060043,        250,  Normal,  Original, 0x1, \"C:\\a, b.dat\"
              DiskWrite,       1500,         System (   4),         40, 0xfffffa8000000030, 0x0000010200, 0x00000200,        450,        0, 0x060043,        400,  Normal,  Original, 0x1, \"C:\\c.dat\"
               DiskRead,       2000,     server.exe ( 800),       2160, 0xfffffa8000000010, 0x00ffff0000, 0x00010000,        980,        2, 0x060043,        900,  Normal,  Original, 0x1, \"C:\\a.dat\"
               DiskRead,       2500,     server.exe ( 800),       2160, 0xfffffa8000000010, 0x0000000000, 0x00000200,         25,        1, 0x060043,         20,  Normal,  Original, 0x1, \"C:\\a.dat\"
              DiskFlush,       2600,         System (   4),         40, 0xfffffa8000000040,         50,        0, 0x060000,         40,  Normal
";

fn record(time_us: u64, op: Op, offset_bytes: u64, length_bytes: u64, device: u32) -> Record {
    Record { time_ps: time_us * 1_000_000, op, offset_bytes, length_bytes, device, placement: None }
}

fn options() -> TraceOptions {
    TraceOptions { rebase: false, ..TraceOptions::default() }
}

fn expected() -> [Record; 5] {
    [
        record(1000, Op::Read, 0xffff_0000, 0x1_0000, 2),
        record(1050, Op::Write, 0x1_0200, 0x200, 0),
        record(1100, Op::Read, 0x2000, 0x1000, 2),
        record(2475, Op::Read, 0, 0x200, 1),
        record(2550, Op::Flush, 0, 0, 0),
    ]
}

#[test]
fn starts_and_completions_are_joined_and_put_in_order() {
    let text = format!("{HEADER}{EVENTS}");
    assert_eq!(read(&text, &options()).expect("a trace"), expected());
    let rebased = read(&text, &TraceOptions::default()).expect("a trace");
    assert_eq!((rebased[0].time_ps, rebased[4].time_ps), (0, 1_550_000_000));
}

#[test]
fn without_starts_the_elapsed_time_tells_the_arrival() {
    let text: String = EVENTS
        .lines()
        .filter(|line| !line.contains("Init"))
        .map(|line| format!("{line}\n"))
        .collect();
    let mut expected = expected();
    (expected[0].time_ps, expected[2].time_ps) = (1_020_000_000, 1_110_000_000);
    let named = TraceOptions { format: Some(Format::Msps), ..options() };
    assert_eq!(read(&text, &named).expect("a trace"), expected);
    let early = "DiskRead, 100, a ( 1), 1, 0x1, 0x0, 0x200, 5000, 0\n";
    assert_eq!(read(early, &options()).expect("a trace")[0].time_ps, 0);
}

#[test]
fn a_start_is_used_once_and_only_by_its_own_kind() {
    let text = "\
DiskWriteInit, 10, a ( 1), 1, 0x1
DiskRead, 100, a ( 1), 1, 0x1, 0x0, 0x200, 30, 0
DiskWrite, 110, a ( 1), 1, 0x1, 0x0, 0x200, 30, 0
DiskWrite, 200, a ( 1), 1, 0x1, 0x0, 0x200, 30, 0
";
    let records = read(text, &options()).expect("a trace");
    let times: Vec<u64> = records.iter().map(|record| record.time_ps / 1_000_000).collect();
    assert_eq!(times, [10, 70, 170]);
}

#[test]
fn the_header_tells_the_columns() {
    let text = "\
BeginHeader
DiskRead, TimeStamp, DiskNum, IOSize, ByteOffset, IrpPtr, ElapsedTime
EndHeader
DiskRead, 100, 7, 0x200, 0x1000, 0xabc, 40
";
    assert_eq!(read(text, &options()).expect("a trace"), [record(60, Op::Read, 0x1000, 0x200, 7)]);
    let lacking = text.replacen("DiskNum", "Disk", 1);
    let message = message(read(lacking, &options()));
    assert!(message.contains("line 4: wrong number of fields in `DiskRead, 100"), "{message}");
}

#[test]
fn other_events_are_skipped_and_counted() {
    let file = TempTrace::new(format!("{HEADER}{EVENTS}"));
    let mut reader = TraceReader::open(file.path(), &options()).expect("readable");
    for _ in 0..2 {
        assert_eq!(reader.by_ref().filter(Result::is_ok).count(), 5);
        assert_eq!((reader.skipped_count(), reader.rejected().count()), (2, 0));
        reader.rewind().expect("the file is still there");
        assert_eq!(reader.skipped_count(), 0);
    }
    let none = format!("{HEADER}CSwitch, 1, a ( 1), 2\n");
    assert!(message(read(none, &options())).contains("found no record in 9 lines"));
}

#[test]
fn a_file_describes_itself() {
    for text in [HEADER, "  DiskReadInit, 1, a ( 1), 1, 0x1\n", INFO.example] {
        let file = TempTrace::new(text);
        assert_eq!(detect(file.path()).expect("readable"), Some(Format::Msps), "{text}");
    }
    for text in ["DiskRead, 1\n", "CSwitch, 1, a ( 1), 2, 3\n", "BeginHeader, 1\n"] {
        assert_eq!(detect(TempTrace::new(text).path()).expect("readable"), None, "{text}");
    }
}

#[test]
fn bad_lines_give_their_reason() {
    let cases = [
        ("DiskRead, 1, a, 1, 0x1, 0x0, 0x200, 1", Reason::FieldCount),
        ("DiskReadInit, 1, a, 1", Reason::FieldCount),
        ("DiskRead, -1, a, 1, 0x1, 0x0, 0x200, 1, 0", Reason::BadTime),
        ("DiskRead, 1, a, 1, 0x1, 0x0, 0x200, x, 0", Reason::BadTime),
        ("DiskReadInit, x, a, 1, 0x1", Reason::BadTime),
        ("DiskRead, 1, a, 1, irp, 0x0, 0x200, 1, 0", Reason::BadPointer),
        ("DiskReadInit, 1, a, 1, irp", Reason::BadPointer),
        ("DiskRead, 1, a, 1, 0x1, 0xg, 0x200, 1, 0", Reason::BadOffset),
        ("DiskRead, 1, a, 1, 0x1, 0x0, , 1, 0", Reason::BadLength),
        ("DiskRead, 1, a, 1, 0x1, 0x0, 0x0, 1, 0", Reason::ZeroLength),
        ("DiskRead, 1, a, 1, 0x1, 0x0, 0x200, 1, C:", Reason::BadDevice),
        ("DiskRead, 1, a, 1, 0x1, 0xffffffffffffffff, 0x200, 1, 0", Reason::TooLarge),
    ];
    for (line, reason) in cases {
        assert_eq!(
            parser(&reading(TimeUnit::Microseconds)).parse(line.as_bytes()),
            Err(reason),
            "{line}"
        );
    }
}

#[test]
fn errors_name_the_file_and_the_line() {
    let text = format!("{HEADER}DiskRead, 1, a ( 1), 1, 0x1, 0x0, 0x0, 1, 0\n");
    let message = message(read(text, &options()));
    assert!(message.contains(": line 9: length 0 in `DiskRead, 1,"), "{message}");
}

#[test]
fn the_buffer_is_bounded() {
    let mut text = String::new();
    for n in 0..WAITING_MAX + 10 {
        text += &format!("DiskRead, {}, a ( 1), 1, 0x1, 0x0, 0x200, 1, 0\n", n + 1);
    }
    // Longer on its way than the buffer is long.
    text += "DiskRead, 999999, a ( 1), 1, 0x1, 0x0, 0x200, 999998, 0\n";
    let message = message(read(&text, &options()));
    assert!(message.contains("found time 1 us after"), "{message}");
    let clamp = TraceOptions { on_decreasing: crate::options::OnDecreasing::Clamp, ..options() };
    assert_eq!(read(&text, &clamp).expect("a trace").len(), WAITING_MAX + 11);
}

#[test]
fn the_clock_cannot_be_changed() {
    let wrong = TraceOptions { time_unit: Some(TimeUnit::Nanoseconds), ..options() };
    assert!(message(read(INFO.example, &wrong)).contains("ns for the format msps"));
}

#[test]
fn usual_lines_go_the_quick_way() {
    let starts = "           DiskReadInit,       1000,     server.exe ( 800),       2160, 0xfffffa8000000010";
    for line in [INFO.example, starts] {
        assert!(quick(line.as_bytes(), TimeUnit::Microseconds).is_some(), "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn both_ways_agree(
        lines in prop::collection::vec(
            concat!(
                r" {0,3}(Disk(Read|Write|Flush)(Init)?|Other|BeginHeader|EndHeader), {0,9}[0-9]{1,3}(\.5|x)?",
                r",{1,2} a, 1, (0x[0-3]|0x10000000000000000|7|)( ?, 0?x?[0-9a-fg]{1,10}){0,2}",
                r"(, [0-9]{1,3}){0,2}[ ,]{0,2}",
            ),
            1..20,
        ),
    ) {
        let unit = reading(TimeUnit::Microseconds);
        let (mut quickly, mut carefully) = (parser(&unit), parser(&unit));
        for line in &lines {
            let line = line.as_bytes();
            prop_assert_eq!(quickly.parse(line), carefully.careful(line));
        }
        prop_assert_eq!(quickly.skipped, carefully.skipped);
        loop {
            let record = quickly.waiting.ready(true);
            prop_assert_eq!(record, carefully.waiting.ready(true));
            if record.is_none() {
                break;
            }
        }
    }
}
