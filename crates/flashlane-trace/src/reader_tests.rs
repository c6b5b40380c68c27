//! Tests of the reader: policies, counts and errors.

use super::*;
use crate::options::OnDecreasing;
use crate::record::Op;
use crate::reject::Reason;
use crate::test_support::{TempTrace, message, read};
use crate::units::TimeUnit;

fn mqsim() -> TraceOptions {
    TraceOptions::new(Format::Mqsim)
}

fn times(content: &str, options: &TraceOptions) -> Vec<u64> {
    let records = read(content, options).expect("a good trace");
    records.iter().map(|record| record.time_ps).collect()
}

#[test]
fn blanks_comments_carriage_returns_and_a_missing_line_end_are_fine() {
    let content = "# head\r\n\r\n  \t\n5 1 0 8 1  \r\n\t# more\n 7 2 8 16 0";
    let records = read(content, &mqsim()).expect("a good trace");
    let first = Record {
        time_ps: 0,
        op: Op::Read,
        offset_bytes: 0,
        length_bytes: 4096,
        device: 1,
        placement: None,
    };
    let second = Record {
        time_ps: 2000,
        op: Op::Write,
        offset_bytes: 4096,
        length_bytes: 8192,
        device: 2,
        placement: None,
    };
    assert_eq!(records, [first, second]);
}

#[test]
fn times_start_at_0_unless_told_otherwise() {
    let content = "5 1 0 8 1\n7 2 8 16 0\n7 2 8 16 0\n";
    assert_eq!(times(content, &mqsim()), [0, 2000, 2000]);
    assert_eq!(times(content, &TraceOptions { rebase: false, ..mqsim() }), [5000, 7000, 7000]);
    let micro = TraceOptions { time_unit: Some(TimeUnit::Microseconds), ..mqsim() };
    assert_eq!(times(content, &micro), [0, 2_000_000, 2_000_000]);
}

#[test]
fn an_absolute_clock_needs_rebasing() {
    let line = "128166385295514663,hm,0,Write,0,2048,2833\n";
    let msr = TraceOptions::new(Format::Msr);
    assert_eq!(times(line, &msr), [0]);
    let message = message(read(line, &TraceOptions { rebase: false, ..msr }));
    assert!(message.contains("line 1: number too large"), "{message}");
}

#[test]
fn a_fixed_clock_refuses_another_unit() {
    let options =
        TraceOptions { time_unit: Some(TimeUnit::Nanoseconds), ..TraceOptions::new(Format::Msr) };
    assert!(message(read("x", &options)).contains("option time_unit: found ns for the format msr"));
}

#[test]
fn the_limit_ends_the_stream() {
    let options = TraceOptions { limit: Some(2), ..mqsim() };
    assert_eq!(times("1 0 0 8 1\n2 0 0 8 1\n3 0 0 8 1\nrubbish\n", &options), [0, 1000]);
}

#[test]
fn devices_are_filtered_and_stay_in_step() {
    let content = "1 0 0 8 1\n2 5 0 8 1\n3 0 0 8 1\n4 7 0 8 1\n";
    let options = TraceOptions { devices: Some(vec![7, 5]), ..mqsim() };
    assert_eq!(times(content, &options), [1000, 3000]);
    let options = TraceOptions { devices: Some(vec![9]), ..mqsim() };
    assert!(message(read(content, &options)).contains("found no record of device 9 in 4 records"));
}

#[test]
fn an_order_that_only_other_devices_break_is_fine() {
    let content = "1 0 0 8 1\n9 0 0 8 1\n2 5 0 8 1\n4 5 0 8 1\n";
    let options = TraceOptions { devices: Some(vec![5]), ..mqsim() };
    assert_eq!(times(content, &options), [1000, 3000]);
}

#[test]
fn decreasing_times_follow_the_policy() {
    let content = "10 0 0 8 1\n30 0 0 8 1\n20 0 0 8 1\n25 0 0 8 1\n5 0 0 8 1\n40 0 0 8 1\n";
    let message = message(read(content, &mqsim()));
    assert!(message.contains("line 3: found time 20 ns after 30 ns"), "{message}");

    let count = |on_decreasing| {
        let file = TempTrace::new(content);
        let options = TraceOptions { on_decreasing, ..mqsim() };
        let mut reader = TraceReader::open(file.path(), &options).expect("readable");
        let times: Vec<u64> =
            reader.by_ref().map(|record| record.expect("a record").time_ps / 1000).collect();
        (times, reader.decreasing_count())
    };
    assert_eq!(count(OnDecreasing::Clamp), (vec![0, 20, 20, 20, 20, 30], 3));
    assert_eq!(count(OnDecreasing::Count), (vec![0, 20, 10, 15, 0, 30], 2));
}

#[test]
fn a_few_rejected_lines_are_counted() {
    let mut content = "1 0 0 8 1\n".repeat(300);
    content.push_str("1 0 0 8 7\nshort\n");
    let file = TempTrace::new(&content);
    let mut reader = TraceReader::open(file.path(), &mqsim()).expect("readable");
    assert_eq!(reader.by_ref().filter(Result::is_ok).count(), 300);
    assert_eq!(reader.rejected().count(), 2);
    assert_eq!(reader.rejected().count_of(Reason::FieldCount), 1);
    assert_eq!(reader.rejected().first()[0].line, 301);
    assert_eq!((reader.line(), reader.delivered_count()), (302, 300));
}

#[test]
fn too_many_rejected_lines_are_an_error_at_the_end() {
    let content = "1 0 0 8 1\nrubbish\n3 0 0 8 1\n";
    let file = TempTrace::new(content);
    let mut reader = TraceReader::open(file.path(), &mqsim()).expect("readable");
    assert!(reader.next().expect("a record").is_some());
    assert!(reader.next().expect("a record").is_some());
    let message = message(reader.next());
    assert!(message.contains("line 2: wrong number of fields in `rubbish`"), "{message}");
    assert!(message.contains("1 of 3 lines rejected; allowed: a fraction of 0.01"), "{message}");
    assert!(reader.next().expect("ended").is_none());
    let lenient = TraceOptions { max_rejected_fraction: 0.5, ..mqsim() };
    assert_eq!(times(content, &lenient), [0, 2000]);
}

#[test]
fn a_file_in_which_no_line_is_accepted_is_an_error() {
    let lenient = TraceOptions { max_rejected_fraction: 1.0, ..mqsim() };
    let message = message(read("a b c d e\n1,2,3\n", &lenient));
    assert!(message.contains("line 1: bad time in `a b c d e`"), "{message}");
    assert!(message.contains("found no record in 2 lines"), "{message}");
    assert!(message.contains("looks like `938513000 4 264719034 16 0`"), "{message}");
}

#[test]
fn nothing_to_read_is_an_error() {
    for content in ["", "\n\n", "# only comments\n"] {
        assert!(message(read(content, &mqsim())).contains("found no record"), "{content:?}");
    }
    let missing = TraceReader::open("no/such/file", &mqsim());
    assert!(message(missing).starts_with("no/such/file: cannot open"));
    let directory = std::env::temp_dir();
    assert!(message(TraceReader::open(directory, &mqsim())).contains("found a directory"));
}

#[test]
fn binary_content_is_an_error_with_its_line() {
    let cases: [(&[u8], &str); 4] = [
        (b"1 0 0 8 1\n2 0 \0 8 1\n", "line 2: found binary data (byte 0x00)"),
        (b"1 0 0 8 1\n\x89PNG\x1a\n", "line 2: found binary data (byte 0x1a)"),
        (b"1 0 0 8 1\n2 0 0 8 \xff\n", "line 2: found binary data (byte 0xff)"),
        (b"1\0 \0", "line 1: found binary data (byte 0x00)"),
    ];
    for (content, part) in cases {
        let message = message(read(content, &mqsim()));
        assert!(message.contains(part), "{message}");
        assert!(message.contains("allowed: text in the format mqsim"), "{message}");
    }
}

#[test]
fn header_lines_are_neither_records_nor_rejections() {
    let map = "columns:t=1[s],op=2,off=3,len=4;header=1";
    let options = TraceOptions::new(Format::by_name(map).expect("a good map"));
    let content = "Time,Op,Offset,Length\n1,R,0,512\n1.000000000001,W,0,512\n";
    assert_eq!(times(content, &options), [0, 1]);
    assert!(message(read("Time,Op\n", &options)).contains("found no record in 1 lines"));
}

#[test]
fn rewinding_gives_the_same_records_again() {
    let file = TempTrace::new("1 0 0 8 1\n2 0 0 8 9\n3 0 0 8 0\n");
    let options = TraceOptions { max_rejected_fraction: 0.5, ..mqsim() };
    let mut reader = TraceReader::open(file.path(), &options).expect("readable");
    let first: Vec<Record> = reader.by_ref().map(|record| record.expect("a record")).collect();
    reader.rewind().expect("the file is still there");
    assert_eq!((reader.rejected().count(), reader.line()), (0, 0));
    let second: Vec<Record> = reader.by_ref().map(|record| record.expect("a record")).collect();
    assert_eq!(first, second);
    assert_eq!((first.len(), reader.rejected().count()), (2, 1));
    drop(file);
    assert!(message(reader.rewind()).contains("cannot open"));
}

#[test]
fn a_reader_shows_where_it_is() {
    let file = TempTrace::new("1 0 0 8 1\n");
    let mut reader = TraceReader::open(file.path(), &mqsim()).expect("readable");
    assert!(reader.next().expect("a record").is_some());
    assert!(format!("{reader:?}").contains("line: 1"));
    assert_eq!((reader.codec(), reader.format()), (Codec::Plain, &Format::Mqsim));
    assert_eq!(reader.path(), file.path());
}
