//! Tests of `flashlane trace inspect`: the output, the questions about units, and real traces if
//! these are present.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{flashlane, folder_with, succeeds, text};
use serde_json::Value;

fn inspect(folder: &Path, arguments: &[&str]) -> Output {
    flashlane(folder, &[&["trace", "inspect"], arguments].concat())
}

/// Standard output of an inspection that succeeds.
fn good(folder: &Path, arguments: &[&str]) -> String {
    succeeds(folder, &[&["trace", "inspect"], arguments].concat()).0
}

/// 100 requests, 1 ms apart, four reads to a write, on two devices.
fn trace() -> String {
    let line = |n: u64| {
        let op = if n % 5 == 4 { 'W' } else { 'R' };
        format!(
            "{}.000,{op},{},{},{}\n",
            n * 1000,
            n * 8192,
            if op == 'W' { 4096 } else { 8192 },
            n % 2
        )
    };
    let header = "# t_us,op(R/W),offset_bytes,size_bytes,device\n".to_owned();
    header + &(0..100).map(line).collect::<String>()
}

#[test]
fn a_trace_is_summed_up_in_text_and_json() {
    let folder = folder_with("a.csv", &(trace() + "rubbish\n"));
    let shown = good(folder.path(), &["a.csv"]);
    // Tables are aligned; here one blank stands between columns.
    let shown: String = shown
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n")
        .collect();
    for part in [
        "a.csv: csv; plain",
        "requests                   100      80      20",
        "share 1.000 0.800 0.200",
        "mean size, KiB 7.20 8.00 4.00",
        "mean gap before, ms 1.00 1.00 1.00",
        "sizes of reads: 8 KiB 100.0 %",
        "devices: 2: 0 (50 requests",
        "rejected: 1 for wrong number of fields",
        "line 102: wrong number of fields in `rubbish`",
        "reads +----",
        "writes +----",
    ] {
        let part = part.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(&part), "{part}:\n{shown}");
    }
    let both = good(folder.path(), &["--format", "json", "a.csv", "a.csv"]);
    let lines: Vec<Value> =
        both.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["read_ratio"], 0.8);
    assert_eq!(lines[0]["read"]["mean_kib"], 8.0);
    assert_eq!(lines[0]["write"]["gap_ms"], 1.0);
    assert_eq!(lines[0]["devices"][1]["requests"], 50);
    assert_eq!(lines[0]["rejected"]["count"], 1);
    let reads: u64 = lines[0]["profile"]["reads"]
        .as_array()
        .expect("counts")
        .iter()
        .map(|count| count.as_u64().expect("a number"))
        .sum();
    assert_eq!(reads, 80);
    let one =
        good(folder.path(), &["--limit", "10", "--devices", "1", "--format", "json", "a.csv"]);
    let one: Value = serde_json::from_str(&one).expect("JSON");
    assert_eq!((&one["requests"], &one["devices"][0]["device"]), (&10.into(), &1.into()));
}

#[test]
fn five_bare_columns_are_never_guessed() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("room");
    };
    let lines: String =
        (0..50).map(|n| format!("{} 0 {} 8 {}\n", n * 979, n * 128, n % 2)).collect();
    write("bare.trace", &lines);
    let run = inspect(folder.path(), &["bare.trace"]);
    assert_eq!(run.status.code(), Some(2));
    let shown = text(&run.stdout);
    assert!(shown.contains("--from mqsim --time-unit us --size-unit sector"), "{shown}");
    assert!(shown.contains("--from mqsim --time-unit ns --size-unit B"), "{shown}");
    let asked = text(&run.stderr);
    assert!(asked.contains("bare.trace: found five bare columns"), "{asked}");
    assert!(asked.contains("--time-unit, --size-unit and --columns"), "{asked}");
    let run = inspect(folder.path(), &["bare.trace", "--format", "json"]);
    let json: Value = serde_json::from_str(&text(&run.stdout)).expect("JSON");
    let readings = json["readings"].as_array().expect("readings");
    assert_eq!(readings.len(), 8);
    let of = |unit: &str| {
        let found = readings.iter().find(|r| r["time_unit"] == unit && r["size_unit"] == "sector");
        found.expect("a reading")["iops"].as_f64().expect("a number")
    };
    assert!((of("ns") / of("us") - 1000.0).abs() < 1e-6);
    // Each flag decides, and says how the file is read.
    for (flags, reading) in [
        (&["--time-unit", "us"][..], "mqsim, times in us, sizes in sector"),
        (&["--size-unit", "B"], "mqsim, times in ns, sizes in B"),
        (&["--from", "ssdsim"], "ssdsim, times in ns, sizes in sector"),
        (
            &["--columns", "t=1[us],dev=2,off=3,len=4,op=5;sep=space;read=1;write=0"],
            "columns t=1[us],op=5,off=3[B]",
        ),
    ] {
        let shown = good(folder.path(), &[&["bare.trace"], flags].concat());
        assert!(shown.contains(reading), "{reading}: {shown}");
    }
    write("commas.csv", "1538323200,4247200,128,1,1058\n1538323201,13896880,128,0,1063\n");
    let run = inspect(folder.path(), &["commas.csv"]);
    assert!(text(&run.stdout).contains("--from tencent"), "{}", text(&run.stdout));
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).expect("room");
    };
    write("text", b"some words\nand more\n");
    write("empty", b"");
    write("cut.blktrace.0", b"\x07tae123");
    write("magic", b"PAR1 but no more");
    for (arguments, expected) in [
        (&["none"][..], "none: cannot open"),
        (&["."], "found a directory"),
        (&["text"], "which does not tell its format"),
        (&["empty"], "found no record in 0 lines"),
        (&["cut.blktrace.0"], "record 1: found the end of the file after 7 bytes of 48"),
        (&["magic"], "record 1: found "),
        (&["text", "--from", "vscsi"], "record 1: found neither version 1 nor 2"),
        (&["text", "--from", "nvme"], "format `nvme` is unknown"),
        (&["text", "--time-unit", "min"], "\"min\" is unknown; allowed: s, ms, us, ns, ps"),
        (
            &["text", "--from", "msr", "--size-unit", "B"],
            "option --size-unit: found B for the format msr",
        ),
        (
            &["text", "--from", "msr", "--action", "D"],
            "option --action: found D for the format msr",
        ),
        (&["text", "--from", "blkparse", "--action", "X"], "\"X\" is unknown; allowed: Q, D, C"),
        (
            &["text", "--format", "msr"],
            "allowed: text, json; the format of the input is named by --from",
        ),
        (&[], "required"),
    ] {
        let run = inspect(folder.path(), arguments);
        let message = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {expected}: {message}");
        assert!(!message.contains("panicked"), "{message}");
    }
}

/// The folder of real traces, which are not part of the project.
fn real() -> Option<PathBuf> {
    flashlane_testing::shared("traces/orig", "real traces")
}

#[test]
fn every_replayable_real_trace_is_inspected() {
    let Some(folder) = real() else { return };
    const CUT: [&str; 2] = ["--columns", "t=1[ms],op=3,len=4,off=5;read=1;write=0"];
    let samples: [(&str, &[&str], u64); 18] = [
        ("MQSim_wsrch-small.trace.zst", &["--from", "mqsim"], 24_783),
        ("MQSim_tpcc-small.trace.zst", &["--time-unit", "ns"], 6_999),
        ("SSDsim_example.ascii.zst", &["--from", "ssdsim"], 10_000),
        ("DTRS1K.trace.zst", &["--time-unit", "us"], 127_043),
        ("MSN-FS-30s-ms.zst", &["--time-unit", "ms"], 149_999),
        ("caffeine_msr-cambridge1-sample.csv", &[], 1_000),
        ("caffeine_tencent_cloud_storage-sample.bz2", &["--from", "tencent", "--delay"], 50_000),
        ("caffeine_systor17-traces-sample.csv.gz", &[], 999),
        ("caffeine_systor17-additional-sample.csv.gz", &[], 999),
        ("libCacheSim_cloudPhysicsIO.vscsi.zst", &["--delay"], 113_872),
        ("flashnet_tencent.cut.per_50k.most_rand_iops.537.trace.zst", &CUT, 50_000),
        ("flashnet_tencent.cut.per_50k.most_size_thpt.222.trace.zst", &CUT, 50_000),
        ("flashnet_tencent.cut.per_50k.rw_60_40.490.trace.zst", &CUT, 50_000),
        ("flashnet_tencent.cut.per_50k.rw_65_35.211.trace.zst", &CUT, 50_000),
        ("flashnet_tencent.cut.per_50k.rw_75_25.379.trace.zst", &CUT, 50_000),
        (
            "heimdall_msr.cut.per_10k.most_thpt_rand_iops.1006.trace.zst",
            &["--size-unit", "B"],
            10_000,
        ),
        ("heimdall_msr.cut.per_10k.rw_20_80.105.trace.zst", &["--size-unit", "B"], 10_000),
        ("heimdall_msr.cut.per_10k.rw_40_60.1370.trace.zst", &["--size-unit", "B"], 10_000),
    ];
    for (name, flags, requests) in samples {
        let arguments = [&[name, "--format", "json", "--delay"][..], flags].concat();
        let mut unique: Vec<&str> = Vec::new();
        for argument in arguments {
            if argument != "--delay" || !unique.contains(&"--delay") {
                unique.push(argument);
            }
        }
        let json: Value = serde_json::from_str(&good(&folder, &unique)).expect("JSON");
        assert_eq!(json["requests"], requests, "{name}");
        assert_eq!(json["rejected"]["count"], 0, "{name}");
        // The clock of one of them has whole seconds, and its 50,000 requests lie in one.
        let rate = json["iops"].as_f64();
        assert!(rate.is_some_and(|rate| rate > 1.0) || name.contains("tencent_cloud"), "{name}");
    }
}

#[test]
fn without_the_shared_data_tests_say_that_they_are_skipped() {
    flashlane_testing::assert_skipped_without_shared(
        module_path!(),
        &["every_replayable_real_trace_is_inspected"],
    );
}
