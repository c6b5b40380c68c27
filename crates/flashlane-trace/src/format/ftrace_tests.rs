use super::*;
use crate::test_support::{TempTrace, message, read};
use crate::{Format, Record, TraceOptions, TraceReader};

const FTRACE: &str = "# tracer: nop
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
     my fio-1-4021    [003] d..1.  5001.000100: block_rq_issue: 259,0 R 4096 () 2048 + 8 [my fio-1]
     jbd2-300       (  300) [001] d..1. 5001.000200: block_rq_issue: 259,0 FF 0 () 18446744073709551615 + 0 none,0,0 [jbd2]
     jbd2-300     [001] d..1.  5001.000300: block_rq_issue: 259,0 WFS 8192 () 4096 + 16 none,0,0 [jbd2]
          <idle>-0 [003] d.h1.  5001.000400: block_rq_complete: 259,0 R () 2048 + 8 [0]
     kworker/3:1H-99 [003] ...1.  5001.000500: block_rq_issue: 259,0 DS 1048576 () 8192 + 2048 [kworker/3:1H]
     sh-1 [003] ...1.  5001.000600: sched_switch: prev_comm=a: b
";

const PERF: &str =
    "  my fio  4021/4022 [003]  5001.000100:          1 block:block_bio_queue: 8,0 WS 16 + 8 [my fio]
my fio  4022 [003]  5001.000105: block:block_rq_issue: 8,0 WS 4096 () 16 + 8 [my fio]
swapper     0 [000]  5001.000250:    block:block_rq_complete: 8,0 WS () 16 + 8 [0]
";

const NVME: &str = "  fio-9 [001] d..1. 7.000001: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=2, cmdid=17, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_read slba=256, len=7, ctrl=0x0, dsmgmt=0, reftag=0)
  fio-9 [001] d..1. 7.000002: nvme_setup_cmd: nvme0: disk=nvme0n2, qid=3, cmdid=17, nsid=2, flags=0x0, meta=0x0, cmd=(nvme_cmd_write slba=0, len=0, ctrl=0x4000, dsmgmt=0, reftag=0)
  fio-9 [001] d..1. 7.000003: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=2, cmdid=18, nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_dsm nr=0, attributes=4)
  <idle>-0 [001] d.h1. 7.000100: nvme_complete_rq: nvme0: disk=nvme0n2, qid=3, cmdid=17, res=0x0, retries=0, flags=0x0, status=0x0
  <idle>-0 [001] d.h1. 7.000200: nvme_complete_rq: nvme0: disk=nvme0n1, qid=2, cmdid=17, res=0x0, retries=0, flags=0x0, status=0x0
";

/// Nanoseconds, operation, offset, length, device.
type Brief = (u64, Op, u64, u64, u32);

fn brief(text: &str, options: &TraceOptions) -> Vec<Brief> {
    let one = |r: &Record| (r.time_ps / 1000, r.op, r.offset_bytes, r.length_bytes, r.device);
    read(text, options).expect("a trace").iter().map(one).collect()
}

fn with(action: Action) -> TraceOptions {
    TraceOptions { action, ..TraceOptions::default() }
}

#[test]
fn dispatches_count_where_there_are_no_arrivals() {
    let device = 259 << 20;
    let expected = [
        (0, Op::Read, 2048 * 512, 4096, device),
        (100_000, Op::Flush, 0, 0, device),
        (200_000, Op::Write, 4096 * 512, 8192, device),
        (200_000, Op::Flush, 0, 0, device),
        (400_000, Op::Trim, 8192 * 512, 1 << 20, device),
    ];
    assert_eq!(brief(FTRACE, &TraceOptions::default()), expected);
    assert_eq!(brief(FTRACE, &with(Action::Issue)), expected);
    let completed = brief(FTRACE, &with(Action::Complete));
    assert_eq!(completed, [(0, Op::Read, 2048 * 512, 4096, device)]);
    let file = TempTrace::new(FTRACE);
    let mut reader = TraceReader::open(file.path(), &TraceOptions::default()).expect("a trace");
    assert_eq!(reader.by_ref().count(), 5);
    assert_eq!(reader.skipped_count(), 2);
    let notes = reader.notes();
    assert_eq!(notes[0].1, 1, "the flush after the forced write: {notes:?}");
    assert!(notes[1].0.contains("no arrivals (Q)"), "{notes:?}");
}

#[test]
fn arrivals_count_where_there_are_any() {
    let late = "a 1 [000] 5001.000050: block:block_rq_issue: 8,0 R 512 () 0 + 1 [a]\n".to_owned();
    let text = late + PERF;
    assert_eq!(brief(&text, &TraceOptions::default()), [(0, Op::Write, 8192, 4096, 8 << 20)]);
    let none = message(read(
        PERF.replace("bio_queue", "x").replace("rq_issue", "y"),
        &with(Action::Queue),
    ));
    assert!(none.contains("found no event Q, but 1 of C"), "{none}");
}

#[test]
fn commands_of_nvme_count_their_blocks_from_0() {
    let expected = [
        (0, Op::Read, 256 * 512, 4096, 0),
        (1_000, Op::Write, 0, 512, 1),
        (1_000, Op::Flush, 0, 0, 1),
    ];
    assert_eq!(brief(NVME, &TraceOptions::default()), expected);
    let blocks = TraceOptions { size_unit: Some(SpaceUnit::Blocks), ..TraceOptions::default() };
    assert_eq!(brief(NVME, &blocks)[0], (0, Op::Read, 1 << 20, 32_768, 0));
    let completed = brief(NVME, &with(Action::Complete));
    let ops: Vec<_> = completed.iter().map(|one| (one.0, one.1, one.4)).collect();
    assert_eq!(ops, [(0, Op::Write, 1), (0, Op::Flush, 1), (100_000, Op::Read, 0)]);
}

#[test]
fn tags_name_process_queue_and_namespace() {
    let tags = |text: &str, kind: TagKind, action: Action| {
        let options = TraceOptions { tag: Some(kind), ..with(action) };
        let file = TempTrace::new(text);
        let mut reader = TraceReader::open(file.path(), &options).expect("a trace");
        let mut found = Vec::new();
        while reader.next().expect("a record").is_some() {
            found.push(reader.tag_text(reader.tag()).unwrap_or("none").to_owned());
        }
        found
    };
    let processes = tags(FTRACE, TagKind::Process, Action::Queue);
    assert_eq!(processes, ["my fio-1", "jbd2", "jbd2", "jbd2", "kworker/3:1H"]);
    assert_eq!(tags(FTRACE, TagKind::Pid, Action::Queue)[..2], ["4021", "300"]);
    assert_eq!(tags(PERF, TagKind::Process, Action::Queue), ["my fio"]);
    assert_eq!(tags(PERF, TagKind::Pid, Action::Queue), ["4022"]);
    assert_eq!(tags(NVME, TagKind::Queue, Action::Complete), ["3", "3", "2"]);
    assert_eq!(tags(NVME, TagKind::Namespace, Action::Issue), ["1", "2", "2"]);
}

#[test]
fn bad_events_give_their_reason() {
    let mut ftrace = parser(&crate::test_support::reading(TimeUnit::Seconds));
    let cases = [
        ("a-1 [0] 1: block_rq_issue: 8,0 R 512 () 0 + 1 [a]", Reason::BadTime),
        ("a-1 [0] 1.0: block_rq_issue: 8,0 R 512 () 0 1 [a]", Reason::FieldCount),
        ("a-1 [0] 1.0: block_rq_issue: 8,0 R 512 () x + 1 [a]", Reason::BadOffset),
        ("a-1 [0] 1.0: block_rq_issue: 8 R 512 () 0 + 1 [a]", Reason::BadDevice),
        ("a-1 [0] 1.0: block_rq_issue: 8,0 R 512 () 0 + x [a]", Reason::BadLength),
    ];
    for (line, reason) in cases {
        assert_eq!(ftrace.parse(line.as_bytes()), Err(reason), "{line}");
    }
    assert_eq!(Format::recognise(INFO.example.as_bytes()), Some(Format::Ftrace));
}
