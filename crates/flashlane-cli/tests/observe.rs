//! `--requests`, `--blame`, `--timeline`, `--series-window` and `--format fio-json`: what they
//! write, read by others where these are there.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{flashlane, folder_with, names, python};
use serde_json::Value;

const WORKLOAD: &str = r#"
[[flow]]
name = "reader"
[flow.synthetic]
queue_depth = 2
read_ratio = 1.0
requests = 300
[[flow]]
name = "writer"
[flow.synthetic]
queue_depth = 8
read_ratio = 0.3
requests = 300
"#;

const RUN: [&str; 6] = ["run", "--device", "tiny", "--workload", "w.toml", "--check"];

fn folder() -> tempfile::TempDir {
    folder_with("w.toml", WORKLOAD)
}

fn run(folder: &Path, more: &[&str]) -> Output {
    flashlane(folder, &[&RUN[..], more].concat())
}

fn succeeds(folder: &Path, more: &[&str]) -> (String, String) {
    crate::common::succeeds(folder, &[&RUN[..], more].concat())
}

#[test]
fn every_file_is_written_and_nothing_else() {
    let folder = folder();
    let out = folder.path().join("out");
    let all = ["--requests", "--blame", "--timeline", "--out", "out"];
    let (stdout, stderr) = succeeds(folder.path(), &all);
    assert_eq!(stderr, "");
    assert!(stdout.contains("who delays whom"), "{stdout}");
    assert_eq!(
        names(&out),
        [
            "blame.json",
            "requests.parquet",
            "summary.json",
            "timeline.pftrace",
            "timeseries.parquet"
        ]
    );
    for name in ["requests.parquet", "timeseries.parquet"] {
        let bytes = std::fs::read(out.join(name)).expect("written");
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
    }
    let blame = std::fs::read_to_string(out.join("blame.json")).expect("written");
    let blame: Value = serde_json::from_str(&blame).expect("JSON");
    assert_eq!(blame["schema"], "flashlane.blame/2");
    for victim in blame["victims"].as_array().expect("victims") {
        let cells = victim["cells"].as_array().expect("cells");
        let seconds = |value: &Value| value.as_f64().expect("a number of seconds");
        let sum: f64 = cells.iter().map(|cell| seconds(&cell["waiting_s"])).sum();
        let [waiting, service, whole] =
            ["waiting_s", "service_s", "end_to_end_s"].map(|name| seconds(&victim[name]));
        assert!(sum > 0.0 && (sum / waiting - 1.0).abs() < 1e-12, "rows sum: {sum} of {waiting}");
        assert!(((waiting + service) / whole - 1.0).abs() < 1e-12, "{waiting} and {service}");
    }
    // Only what is asked for.
    let (stdout, _) = succeeds(folder.path(), &["--series-window", "1ms", "--out", "less"]);
    assert!(!stdout.contains("who delays whom"));
    assert_eq!(names(&folder.path().join("less")), ["summary.json", "timeseries.parquet"]);
    let (stdout, _) = succeeds(folder.path(), &["--blame"]);
    assert!(stdout.contains("who delays whom"), "without --out there is the table");
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let folder = folder();
    for out in ["one", "two"] {
        let all = ["--requests", "--blame", "--timeline=0..1ms", "--out", out];
        succeeds(folder.path(), &all);
    }
    for name in ["blame.json", "requests.parquet", "timeline.pftrace", "timeseries.parquet"] {
        let read = |out: &str| std::fs::read(folder.path().join(out).join(name)).expect("written");
        assert!(read("one") == read("two"), "{name}");
    }
}

#[test]
fn output_that_cannot_be_written_leaves_nothing() {
    let folder = folder();
    std::fs::create_dir_all(folder.path().join("out/requests.parquet")).expect("made");
    let output = run(folder.path(), &["--requests", "--blame", "--out", "out"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("requests.parquet: is a folder"), "{stderr}");
    assert_eq!(names(&folder.path().join("out")), ["requests.parquet"]);
    for option in ["--requests", "--timeline", "--series-window=1ms"] {
        let output = run(folder.path(), &[option]);
        assert_eq!(output.status.code(), Some(2), "{option} wants --out");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--out <DIR>"), "{option}");
    }
    std::fs::write(folder.path().join("file"), "").expect("written");
    let output = run(folder.path(), &["--requests", "--out", "file/out"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn others_read_the_parquet_files() {
    let folder = folder();
    succeeds(folder.path(), &["--requests", "--alone", "--out", "out"]);
    let script = r#"
requests = pq.read_table("out/requests.parquet")
assert requests.num_rows > 500, requests
rows = requests.to_pylist()
stages = [name for name in requests.column_names if name.endswith("_ps")][3:]
assert len(stages) == 9, stages
for row in rows:
    assert sum(row[stage] for stage in stages) == row["complete_ps"] - row["submit_ps"], row
summary = json.load(open("out/summary.json"))
for flow in summary["flows"]:
    counted = [r for r in rows if r["flow"] == flow["name"] and r["counted"]]
    mean = sum(r["complete_ps"] - r["submit_ps"] for r in counted) / len(counted) / 1e6
    assert abs(mean / flow["response_time_us"]["mean"] - 1) < 1e-9, (mean, flow)
series = pq.read_table("out/timeseries.parquet").to_pylist()
assert sum(r["requests"] for r in series if r["flow"]) == len(rows)
assert all(r["free_blocks"] > 0 for r in series if r["flow"] is None)
assert any(r["slowdown"] for r in series if r["flow"])
"#;
    python(folder.path(), "import json, pyarrow.parquet as pq", script);
}

#[test]
fn others_read_the_timeline() {
    let folder = folder();
    succeeds(folder.path(), &["--timeline", "--out", "out"]);
    let script = r#"
trace = Trace()
trace.ParseFromString(open("out/timeline.pftrace", "rb").read())
tracks, names, open_slices, flows, last = {}, {}, {}, {}, {}
for packet in trace.packet:
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        assert not track.parent_uuid or track.parent_uuid in tracks, track
        tracks[track.uuid] = track.name
    for name in packet.interned_data.event_names:
        names[name.iid] = name.name
    if packet.HasField("track_event"):
        event = packet.track_event
        stack = open_slices.setdefault(event.track_uuid, [])
        assert packet.timestamp >= last.get(event.track_uuid, 0), "time never steps back on a track"
        last[event.track_uuid] = packet.timestamp
        if event.type == event.TYPE_SLICE_BEGIN:
            assert event.track_uuid in tracks and event.name_iid in names
            stack.append(names[event.name_iid])
            for flow in event.flow_ids:
                flows.setdefault(flow, []).append(names[event.name_iid])
        else:
            assert event.type == event.TYPE_SLICE_END
            stack.pop()
assert not any(open_slices.values()), "every slice ends"
assert {"hosts", "channels", "channel 0", "die 0"} <= set(tracks.values()), tracks
assert any(len(found) > 2 and "reader: read request" in found for found in flows.values()), flows
"#;
    let imports = "from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace";
    python(folder.path(), imports, script);
}

/// Paths of all keys of an object, lists by their first entry.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = format!("{path}/{key}");
                found.insert(path.clone());
                keys(value, &path, found);
            }
        }
        Value::Array(list) => list.iter().take(1).for_each(|value| keys(value, path, found)),
        _ => {}
    }
}

#[test]
fn fio_json_has_the_keys_of_fio() {
    let folder = folder();
    let (stdout, _) = succeeds(folder.path(), &["--format", "fio-json", "--quiet"]);
    let ours: Value = serde_json::from_str(&stdout).expect("one object");
    let job = &ours["jobs"][1];
    assert_eq!((&job["jobname"], &job["job options"]["rw"]), (&"writer".into(), &"randrw".into()));
    let stream = ["--set", "flow.writer.synthetic.address=streaming"];
    let (stdout, _) = succeeds(folder.path(), &[&["--format", "fio-json"], &stream[..]].concat());
    let streamed: Value = serde_json::from_str(&stdout).expect("one object");
    let rw = |job: usize| &streamed["jobs"][job]["job options"]["rw"];
    assert_eq!((rw(0), rw(1)), (&"randread".into(), &"rw".into()));
    let read = &job["read"];
    let of = |value: &Value| value.as_f64().expect("a number");
    // What completes in the window counts for rates, what arrives in it for latencies: they differ
    // by less than the depth.
    assert!((of(&read["total_ios"]) - of(&read["clat_ns"]["N"])).abs() < 8.0, "{read}");
    let percentiles = read["clat_ns"]["percentile"].as_object().expect("percentiles");
    let values: Vec<f64> = percentiles.values().map(of).collect();
    assert!(values.is_sorted() && percentiles.len() == 17, "{percentiles:?}");
    assert!(of(&read["clat_ns"]["min"]) <= values[0] * 1.002);
    assert!((of(&read["bw_bytes"]) / of(&read["iops"]) / 4096.0 - 1.0).abs() < 1.0);
    let levels: f64 = ["latency_ns", "latency_us", "latency_ms"]
        .iter()
        .flat_map(|unit| job[unit].as_object().expect("a histogram").values())
        .map(of)
        .sum();
    assert!((levels - 100.0).abs() < 1e-6, "{levels} % of all requests");
    let fio = Command::new("fio")
        .current_dir(folder.path())
        .args(["--name=job", "--ioengine=null", "--size=1m", "--bs=4k", "--rw=randrw"])
        .arg("--output-format=json")
        .output();
    let Ok(fio) = fio else {
        flashlane_testing::skip_part("the comparison of keys with fio's", "fio");
        return;
    };
    let theirs: Value = serde_json::from_slice(&fio.stdout).expect("fio writes JSON");
    let (mut expected, mut found) = (BTreeSet::new(), BTreeSet::new());
    keys(&theirs, "", &mut expected);
    keys(&ours, "", &mut found);
    let job_ours = |path: &&String| {
        !path.starts_with("/global options/")
            && !path.starts_with("/jobs/job options/")
            && !path.starts_with("/disk_util")
            // Percentiles are there where there are requests: the first flow only reads.
            && !path.starts_with("/jobs/write/clat_ns/percentile")
    };
    let missing: Vec<&String> = expected.difference(&found).filter(job_ours).collect();
    assert!(missing.is_empty(), "keys of fio that are missing: {missing:?}");
}

/// A flow with all four operations beside one that reads.
const MIXED: &str = r#"
[[flow]]
name = "mixed"
[flow.synthetic]
queue_depth = 4
read_ratio = 0.5
trim_ratio = 0.2
flush_ratio = 0.1
requests = 600
[[flow]]
name = "reader"
[flow.synthetic]
queue_depth = 2
read_ratio = 1.0
requests = 300
"#;

/// Every format reports all four operations.
#[test]
fn trims_and_flushes_have_latencies_in_every_format() {
    let folder = folder_with("w.toml", MIXED);
    let (stdout, _) = succeeds(folder.path(), &["--format", "json", "--quiet"]);
    let summary: Value = serde_json::from_str(&stdout).expect("one object");
    let flow = &summary["flows"][0];
    let of = |value: &Value| value.as_f64().expect("a number");
    for op in ["read", "write", "trim", "flush"] {
        let latency = &flow[format!("{op}_response_time_us")];
        assert_eq!(latency["count"], flow["requests"][op], "{op}");
        assert!(of(&latency["count"]) > 20.0 && of(&latency["mean"]) > 0.0, "{op}: {latency}");
        assert!(of(&latency["p99"]) >= of(&latency["p50"]), "{op}: {latency}");
    }
    assert_eq!(summary["flows"][1]["trim_response_time_us"]["count"], 0);

    let (stdout, _) = succeeds(folder.path(), &["--format", "fio-json", "--quiet"]);
    let fio: Value = serde_json::from_str(&stdout).expect("one object");
    let job = &fio["jobs"][0];
    for (op, theirs) in [("trim", &job["trim"]["clat_ns"]), ("flush", &job["sync"]["lat_ns"])] {
        let ours = &flow[format!("{op}_response_time_us")];
        assert_eq!(theirs["N"], ours["count"], "{op}");
        assert!((of(&theirs["mean"]) / 1e3 - of(&ours["mean"])).abs() < 1e-6, "{op}: {theirs}");
        let p99 = of(&theirs["percentile"]["99.000000"]) / 1e3;
        assert!((p99 / of(&ours["p99"]) - 1.0).abs() < 0.002, "{op}: {p99} {ours}");
    }
    assert!(fio["jobs"][1]["trim"]["clat_ns"].get("percentile").is_none());

    let (stdout, _) = succeeds(folder.path(), &["--format", "csv", "--quiet"]);
    let lines: Vec<Vec<&str>> = stdout.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| {
        lines[0].iter().position(|head| *head == name).unwrap_or_else(|| panic!("{name}: {stdout}"))
    };
    for op in ["read", "write", "trim", "flush"] {
        let ours = &flow[format!("{op}_response_time_us")];
        for (name, key) in [("requests", "count"), ("mean_us", "mean"), ("p99_us", "p99")] {
            let cell = lines[1][column(&format!("{op}_{name}"))];
            assert_eq!(cell.parse::<f64>().expect("a number"), of(&ours[key]), "{op} {key}");
        }
    }
    let of_reader = ["flush_requests", "flush_mean_us"].map(|name| lines[2][column(name)]);
    assert_eq!(of_reader, ["0", ""], "none, and no latency");

    let (stdout, _) = succeeds(folder.path(), &[]);
    let table = stdout.split("response times by operation, us").nth(1).expect("a table");
    let rows: Vec<Vec<&str>> =
        table.lines().take(8).map(|line| line.split_whitespace().collect()).collect();
    let names = rows.iter().filter_map(|row| row.get(..2)).collect::<Vec<_>>();
    for op in ["read", "write", "trim", "flush"] {
        assert!(names.contains(&&["mixed", op][..]), "{op}: {table}");
    }
    assert!(names.contains(&&["reader", "read"][..]) && !names.contains(&&["reader", "trim"][..]));
}
