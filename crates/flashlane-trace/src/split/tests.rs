//! Tests of splitting.

use super::*;
use crate::test_support::{TempTrace, message, read};
use crate::{SplitError, TraceReader};

const TEXT: &str = "8,0 0 1 1.000000000 7 Q R 0 + 8 [db]
8,0 0 2 1.000001000 8 Q W 800 + 256 [rsync]
8,16 0 3 1.000002000 7 Q R 8 + 8 [db]
8,0 0 4 1.000003000 9 Q F [cron job]
8,0 0 5 1.000004000 10 Q R 64 + 8 [db]
";

fn tenants(text: &str, by: &str, top: usize) -> Vec<(String, Vec<String>, u64)> {
    let file = TempTrace::new(text);
    let by = SplitBy::by_name(by).expect("a known name");
    let split = Split::plan(file.path(), &TraceOptions::default(), &by, top).expect("a trace");
    let tenants = split.tenants().iter();
    tenants.map(|one| (one.name.clone(), one.texts.clone(), one.tally.count())).collect()
}

fn owned(expected: &[(&str, &[&str], u64)]) -> Vec<(String, Vec<String>, u64)> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    expected.iter().map(|(name, all, count)| ((*name).to_owned(), texts(all), *count)).collect()
}

#[test]
fn tenants_are_ranked_by_their_requests() {
    let by_process = tenants(TEXT, "process", 8);
    let expected =
        owned(&[("db", &["db"], 3), ("cron-job", &["cron job"], 1), ("rsync", &["rsync"], 1)]);
    assert_eq!(by_process, expected);
    let joined = owned(&[("db", &["db"], 3), ("others", &["cron job", "rsync"], 2)]);
    assert_eq!(tenants(TEXT, "process", 1), joined);
    let by_pid = owned(&[
        ("pid-7", &["7"], 2),
        ("pid-10", &["10"], 1),
        ("pid-8", &["8"], 1),
        ("pid-9", &["9"], 1),
    ]);
    assert_eq!(tenants(TEXT, "pid", 8), by_pid);
    let by_device = owned(&[("device-8-0", &["8,0"], 4), ("device-8-16", &["8,16"], 1)]);
    assert_eq!(tenants(TEXT, "device", 8), by_device);
}

/// The contents of the files of the tenants.
fn written(text: &str, options: &TraceOptions) -> (&'static str, Vec<String>) {
    let file = TempTrace::new(text);
    let by = SplitBy::by_name("process").expect("a known name");
    let split = Split::plan(file.path(), options, &by, 8).expect("a trace");
    let mut files: Vec<Vec<u8>> = vec![Vec::new(); split.tenants().len()];
    split.write(files.iter_mut().collect(), &|_| {}).expect("memory takes all");
    let texts = files.into_iter().map(|file| String::from_utf8(file).expect("text"));
    (split.output(), texts.collect())
}

#[test]
fn each_tenant_gets_its_requests() {
    let (format, files) = written(TEXT, &TraceOptions::default());
    assert_eq!(format, "csv");
    let requests = |text: &str| {
        let records = read(text, &TraceOptions::default()).expect("a trace");
        records.iter().map(|r| (r.time_ps / 1_000_000, r.op, r.offset_bytes)).collect::<Vec<_>>()
    };
    assert_eq!(requests(&files[0]), [(0, Op::Read, 0), (2, Op::Read, 4096), (4, Op::Read, 32768)]);
    assert_eq!(requests(&files[1]), [(0, Op::Flush, 0)]);
    assert_eq!(requests(&files[2]), [(0, Op::Write, 409_600)]);
}

#[test]
fn completions_go_where_their_arrival_goes() {
    let text = format!(
        "{TEXT}8,0 0 6 1.000010000 0 C R 0 + 8 [0]\n8,0 0 7 1.000011000 0 C W 800 + 256 [0]\n"
    );
    let (format, files) = written(&text, &TraceOptions::default());
    assert_eq!(format, "blkparse");
    let lines: Vec<&str> = files[2].lines().collect();
    assert_eq!(
        lines,
        [
            "8,0 0 1 1.000001000 0 Q W 800 + 256 [rsync]",
            "8,0 0 2 1.000011000 0 C W 800 + 256 [rsync]",
        ]
    );
    assert_eq!(files[0].lines().count(), 4, "three arrivals, one completion: {}", files[0]);
    let flush = TempTrace::new(&files[1]);
    let mut reader = TraceReader::open(flush.path(), &TraceOptions::default()).expect("a trace");
    assert_eq!(reader.next().expect("a trace").map(|record| record.op), Some(Op::Flush));
}

#[test]
fn what_the_trace_does_not_have_is_refused() {
    let file = TempTrace::new("0.000,R,0,512,0\n");
    let plan = |by: &str| {
        let by = SplitBy::by_name(by).expect("a known name");
        Split::plan(file.path(), &TraceOptions::new(Format::Csv), &by, 8)
    };
    assert!(message(plan("process")).contains("found no process in the format csv; allowed: "));
    assert!(message(plan("column:tenant")).contains("found no column:tenant"));
    assert_eq!(plan("column:5").expect("a column").tenants().len(), 1);
    assert_eq!(SplitBy::by_name("processes"), None);
    let many: String = (0..70_000).map(|n| format!("0,R,0,512,{n}\n")).collect();
    let many = TempTrace::new(many);
    let by = SplitBy::Tag(TagKind::Column("5".to_owned()));
    let refused = message(Split::plan(many.path(), &TraceOptions::new(Format::Csv), &by, 8));
    assert!(refused.contains("more than 65536 tenants by column:5"), "{refused}");
}

#[test]
fn a_full_disk_is_named_with_its_tenant() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let file = TempTrace::new(TEXT);
    let by = SplitBy::by_name("device").expect("a known name");
    let split = Split::plan(file.path(), &TraceOptions::default(), &by, 8).expect("a trace");
    let found = split.write(vec![Full, Full], &|_| {});
    assert!(matches!(found, Err(SplitError::Write { .. })), "{found:?}");
}

#[test]
fn columns_by_name_come_from_the_header() {
    let text = "when,who,op,off,len\n1,a b,R,0,512\n2,\"c\",W,512,512\n3,a b,R,0,512\n";
    let file = TempTrace::new(text);
    let by = SplitBy::by_name("column:who").expect("a known name");
    let map = "columns:t=1[us],op=3,off=4,len=5;header=1";
    let options = TraceOptions::new(Format::by_name(map).expect("a good map"));
    let split = Split::plan(file.path(), &options, &by, 8).expect("a trace");
    let names: Vec<&str> = split.tenants().iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["a-b", "c"]);
    let declared = "columns:t=1[us],op=3,off=4,len=5,process=2;header=1";
    let options = TraceOptions::new(Format::by_name(declared).expect("a good map"));
    let by = SplitBy::by_name("process").expect("a known name");
    let split = Split::plan(file.path(), &options, &by, 8).expect("a trace");
    assert_eq!(split.tenants().len(), 2);
}
