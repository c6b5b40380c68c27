//! The real tools against ours: fio writes a log that we read and reads those that we write;
//! blkparse and we agree on binary traces. Without the tools these tests say that they are skipped.

use std::path::{Path, PathBuf};
use std::process::Command;

use flashlane_testing::{shared, skip};
use flashlane_trace::{
    Codec, Format, Op, OutputFormat, Record, TraceOptions, TraceReader, TraceSummary, summarise,
};

/// Runs a tool in a folder. Where it is not installed: `None`, and the running test says that it is
/// skipped.
fn tool(name: &str, folder: &Path, arguments: &[&str]) -> Option<String> {
    let run = Command::new(name).args(arguments).current_dir(folder).output();
    let Ok(run) = run else {
        skip(name);
        return None;
    };
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{name} {arguments:?}: {said}");
    Some(String::from_utf8(run.stdout).expect("UTF-8"))
}

fn records(path: &Path, options: &TraceOptions) -> Vec<Record> {
    let reader = TraceReader::open(path, options).unwrap_or_else(|error| panic!("{error}"));
    reader.map(|record| record.unwrap_or_else(|error| panic!("{error}"))).collect()
}

#[test]
fn a_log_that_fio_writes_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [
        "--name=job",
        "--ioengine=null",
        "--size=64m",
        "--rw=randrw",
        "--rwmixread=70",
        "--bssplit=4k/60:16k/40",
        "--number_ios=500",
        "--write_iolog=log",
    ];
    if tool("fio", folder.path(), &arguments).is_none() {
        return;
    }
    let path = folder.path().join("log");
    let found = summarise(&path, &TraceOptions::default()).expect("fio wrote it");
    let TraceSummary { request_count, read_count, write_count, .. } = found;
    assert_eq!((request_count, read_count + write_count), (500, 500));
    assert_eq!((found.rejected.count(), found.decreasing_count), (0, 0));
    assert!((300..400).contains(&read_count), "{read_count}");
    assert!(found.end_bytes_max <= 64 << 20);
    // Line by line: what fio says of each request is what we read.
    let text = std::fs::read_to_string(&path).expect("a log");
    let is_request = |line: &&str| line.contains(" read ") || line.contains(" write ");
    let lines: Vec<&str> = text.lines().filter(is_request).collect();
    let options = TraceOptions { rebase: false, ..TraceOptions::default() };
    for (line, record) in lines.iter().zip(records(&path, &options)) {
        let op = if record.op == Op::Read { "read" } else { "write" };
        let (us, offset) = (record.time_ps / 1_000_000, record.offset_bytes);
        assert_eq!(*line, format!("{us} job.0.0 {op} {offset} {}", record.length_bytes));
    }
}

#[test]
fn fio_reads_the_logs_that_we_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let made: Vec<Record> = (0..200_u64)
        .map(|n| Record {
            time_ps: n * 5_000_000_000,
            op: if n % 4 == 0 { Op::Write } else { Op::Read },
            offset_bytes: n * 7919 % 1000 * 4096,
            length_bytes: 4096 << (n % 3),
            device: (n % 2) as u32,
            placement: None,
        })
        .collect();
    let names = ["one", "two"].map(str::to_owned);
    for name in &names {
        let file = std::fs::File::create(folder.join(name)).expect("room");
        file.set_len(8 << 20).expect("room");
    }
    for (format, log) in [(OutputFormat::FioV3, "v3.log"), (OutputFormat::FioV2, "v2.log")] {
        let file = std::fs::File::create(folder.join(log)).expect("room");
        let mut writer = format.writer(file, Codec::Plain, &names).expect("a writer");
        for record in &made {
            assert!(writer.write(record).expect("room"));
        }
        writer.finish().expect("room");
        let read = format!("--read_iolog={log}");
        let arguments = [
            "--name=replay",
            "--ioengine=psync",
            "--output-format=json",
            "--allow_file_create=0",
            &read,
        ];
        let Some(said) = tool("fio", folder, &arguments) else { return };
        // Messages may stand before the object.
        let start = said.find('{').expect("an object");
        let json: serde_json::Value = serde_json::from_str(&said[start..]).expect("JSON");
        let of = |side: &str| {
            let side = &json["jobs"][0][side];
            let number = |key: &str| side[key].as_u64().expect("a number");
            (number("total_ios"), number("io_bytes"), number("runtime"))
        };
        let expected = |op: Op| {
            let ours = made.iter().filter(|record| record.op == op);
            (ours.clone().count() as u64, ours.map(|record| record.length_bytes).sum::<u64>())
        };
        let (reads, writes) = (of("read"), of("write"));
        assert_eq!((reads.0, reads.1), expected(Op::Read), "{log}");
        assert_eq!((writes.0, writes.1), expected(Op::Write), "{log}");
        // The last request is due after 995 ms, and fio keeps our times; its own start counts in
        // version 2.
        assert!((600..9_000).contains(&reads.2.max(writes.2)), "{log}: {} ms", reads.2);
        assert!(said.contains("\"error\" : 0"), "{log}");
    }
}

/// The binary trace of ours that is kept beside the project, unpacked. Where it is not there:
/// `None`, and the running test says that it is skipped.
fn captured(folder: &Path) -> Option<PathBuf> {
    let archive = shared("traces/own/blktrace_v7_qemu_nvme.tar.zst", "a binary trace of ours")?;
    let packed = std::fs::File::open(archive).expect("readable");
    let mut tar = zstd::Decoder::new(packed).expect("a decoder");
    let unpacked = std::fs::File::create(folder.join("own.tar")).expect("room");
    std::io::copy(&mut tar, &mut &unpacked).expect("it unpacks");
    tool("tar", folder, &["-xf", "own.tar"])?;
    Some(folder.join("nvme0n1.blktrace.0"))
}

/// What both say of a request; times count from the first one of the trace.
fn brief(records: &[Record]) -> Vec<(u64, Op, u64, u64, u32)> {
    let mut all: Vec<_> = records
        .iter()
        .map(|r| (r.time_ps / 1_000, r.op, r.offset_bytes, r.length_bytes, r.device))
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn blkparse_and_we_agree_on_a_binary_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(binary) = captured(folder.path()) else { return };
    let ours = records(&binary, &TraceOptions::default());
    assert_eq!(ours.len(), 2_449, "all queued requests of both CPUs");
    let Some(text) = tool("blkparse", folder.path(), &["-i", "nvme0n1", "-d", "merged"]) else {
        return;
    };
    let parsed = folder.path().join("parsed.txt");
    std::fs::write(&parsed, text).expect("room");
    let theirs = records(&parsed, &TraceOptions::default());
    assert_eq!(brief(&ours), brief(&theirs));
    assert!(ours.is_sorted_by_key(|record| record.time_ps));
    // blkparse merges both CPUs into one stream, which says the same.
    let merged = records(&folder.path().join("merged"), &TraceOptions::default());
    assert_eq!(brief(&merged), brief(&ours));
    for action in [flashlane_trace::Action::Issue, flashlane_trace::Action::Complete] {
        let options = |format: &str| TraceOptions {
            action,
            ..TraceOptions::new(Format::by_name(format).expect("a format"))
        };
        let (ours, theirs) =
            (records(&binary, &options("blktrace")), records(&parsed, &options("blkparse")));
        assert_eq!((ours.len(), brief(&ours)), (2_449, brief(&theirs)), "{action:?}");
    }
}

#[test]
fn without_the_shared_data_tests_say_that_they_are_skipped() {
    flashlane_testing::assert_skipped_without_shared(
        module_path!(),
        &["blkparse_and_we_agree_on_a_binary_trace"],
    );
}
