//! Traces and files of people who do this work: each means what it meant, or says what it does not.
//! The right values stand beside the files in `../shared/cases/inputs`.

use std::path::{Path, PathBuf};

use crate::common::{flashlane, refused, succeeds, text};
use serde_json::Value;

/// The folder of the files; `None` where it is absent, which the test says.
fn inputs() -> Option<PathBuf> {
    flashlane_testing::shared("cases/inputs", "inputs that once went wrong")
}

/// What `trace inspect` says as JSON.
fn inspected(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["trace", "inspect", "--format", "json"], arguments].concat();
    serde_json::from_str(&succeeds(folder, &arguments).0).expect("JSON")
}

/// The lines of a trace as `trace convert` writes them, and the messages that it prints.
fn converted(folder: &Path, arguments: &[&str]) -> (Vec<String>, String) {
    let out = tempfile::tempdir().expect("a folder");
    let path = out.path().join("out.csv");
    let path = path.to_str().expect("UTF-8");
    let (file, rest) = arguments.split_first().expect("a file");
    let (_, said) =
        succeeds(folder, &[&["trace", "convert", file, path, "--to", "csv"], rest].concat());
    let content = std::fs::read_to_string(path).expect("it was written");
    let lines = content.lines().filter(|line| !line.starts_with('#'));
    (lines.map(str::to_owned).collect(), said)
}

/// Operation and length of each line.
fn brief(lines: &[String]) -> Vec<(String, String)> {
    let field = |line: &String, at: usize| line.split(',').nth(at).unwrap_or_default().to_owned();
    lines.iter().map(|line| (field(line, 1), field(line, 3))).collect()
}

fn operations(lines: &[String]) -> String {
    brief(lines).into_iter().map(|(op, _)| op).collect()
}

/// Text and summary of a run on a small drive.
fn run(folder: &Path, workload: &str) -> (String, Value) {
    let out = tempfile::tempdir().expect("a folder");
    let path = out.path().join("out");
    let path = path.to_str().expect("UTF-8");
    let set = ["--device", "fast18", "--set", "flash.blocks_per_plane=64"];
    let rest = ["--workload", workload, "--out", path];
    let (shown, _) = succeeds(folder, &[&["run"], &set[..], &rest].concat());
    let summary = std::fs::read_to_string(format!("{path}/summary.json")).expect("it was written");
    (shown, serde_json::from_str(&summary).expect("JSON"))
}

#[test]
fn trims_of_2_gib_are_done() {
    let Some(folder) = inputs() else { return };
    let (shown, summary) = run(&folder, "big_trim.toml");
    assert_eq!(summary["requests_completed"], 64, "{shown}");
    assert_eq!(summary["flows"][0]["requests"]["trim"], 4, "{shown}");
    assert!(
        summary["flows"][0]["rejected_lines"].as_object().is_some_and(|lines| lines.is_empty())
    );
}

#[test]
fn what_is_wrapped_is_said() {
    let Some(folder) = inputs() else { return };
    let (shown, summary) = run(&folder, "wrap.toml");
    assert_eq!(summary["flows"][0]["wrapped_requests"], 2);
    for part in [
        "Warning: 100.0 % of the 2 records of flow m's trace",
        "2 wrapped into the flow's space",
        "line 2: bytes 488197214720..=488197218815 beyond the flow's space, wrapped to ",
        "line 3: bytes 488197214720",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.find("Warning:") < shown.find("IOPS"), "{shown}");
}

#[test]
fn flushes_around_data_are_requests() {
    let Some(folder) = inputs() else { return };
    let (lines, said) = converted(&folder, &["fwfs.txt"]);
    assert_eq!(operations(&lines), "FWFW", "{said}");
    assert!(said.contains("flushes before data (F in front of the operation): 1"), "{said}");
    let (lines, _) = converted(&folder, &["fwfs.txt", "--action", "D"]);
    assert_eq!(operations(&lines), "FWF");
}

#[test]
fn a_trace_of_dispatches_only_says_so() {
    let Some(folder) = inputs() else { return };
    let said = refused(&folder, &["trace", "inspect", "d_only.txt"]);
    assert!(
        said.contains("found no event Q, but 2 of D; allowed: --action D takes them"),
        "{said}"
    );
    assert_eq!(inspected(&folder, &["d_only.txt", "--action", "D"])["requests"], 2);
}

#[test]
fn times_that_step_back_name_the_flag_or_the_key() {
    let Some(folder) = inputs() else { return };
    let said = refused(&folder, &["trace", "inspect", "back.iolog"]);
    assert!(said.contains("or --delay"), "{said}");
    assert_eq!(inspected(&folder, &["back.iolog", "--delay"])["delayed"], 1);
    let here = tempfile::tempdir().expect("a folder");
    let path = folder.join("back.iolog");
    let workload = format!("[[flow]]\nname = \"b\"\n[flow.trace]\npath = {path:?}\n");
    std::fs::write(here.path().join("b.toml"), workload).expect("room");
    let said = refused(here.path(), &["run", "--device", "tiny", "--workload", "b.toml"]);
    assert!(said.contains("decreasing_times = \"delay\""), "{said}");
}

#[test]
fn devices_may_have_names() {
    let Some(folder) = inputs() else { return };
    let map = "t=2[s],op=4,off=6[sector],len=5,dev=3;sep=comma;read=28;write=2a;header=1";
    let found = inspected(&folder, &["names.csv", "--columns", map]);
    let devices = found["devices"].as_array().expect("a list");
    let devices: Vec<_> = devices.iter().map(|one| (&one["device"], &one["requests"])).collect();
    let (zero, one) = (Value::from(0), Value::from(1));
    assert_eq!(devices, [(&zero, &one), (&one, &one)]);
}

#[test]
fn units_of_parquet_count_and_its_compressions_are_read() {
    let Some(folder) = inputs() else { return };
    assert_eq!(inspected(&folder, &["ts_ns_as_us.parquet"])["span_s"], 0.0004);
    let (shown, _) = succeeds(&folder, &["trace", "inspect", "ts_ns_as_us.parquet"]);
    assert!(shown.contains("span 0.000400 s"), "{shown}");
    let gzip = inspected(&folder, &["gzip.parquet"]);
    assert_eq!((&gzip["requests"], &gzip["span_s"]), (&Value::from(5), &Value::from(0.0004)));
}

#[test]
fn a_hard_threshold_above_the_other_one_is_named() {
    let Some(folder) = inputs() else { return };
    let output = flashlane(&folder, &["check", "hard.toml"]);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("hard.toml:5: ftl.gc.hard_threshold: found 40% = "), "{said}");
}

/// A folder with these files.
fn folder_of(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).expect("room");
    }
    folder
}

#[test]
fn reads_of_32_mib_are_split_and_said() {
    let trace = "8,0 1 1 0.000000000 1 Q R 0 + 65536 [a]\n8,0 1 2 0.001000000 1 Q R 8 + 8 [a]\n";
    let workload = "[[flow]]\nname = \"f\"\n[flow.trace]\npath = \"t.txt\"\n";
    let folder = folder_of(&[("t.txt", trace), ("t.toml", workload)]);
    let (shown, summary) = run(folder.path(), "t.toml");
    assert_eq!(summary["requests_completed"], 3);
    assert_eq!(summary["flows"][0]["split_requests"], 1);
    assert!(shown.contains("line 1: 32768 KiB split into pieces of 16384 KiB"), "{shown}");
}

#[test]
fn a_trace_of_completions_only_names_the_key() {
    let trace = "8,0 1 1 0.000000000 1 C R 0 + 8 [a]\n";
    let workload = "[[flow]]\nname = \"f\"\n[flow.trace]\npath = \"t.txt\"\n";
    let folder = folder_of(&[("t.txt", trace), ("t.toml", workload)]);
    let said = refused(folder.path(), &["run", "--device", "tiny", "--workload", "t.toml"]);
    assert!(said.contains("found no event Q, but 1 of C; allowed: action = \"C\""), "{said}");
}

#[test]
fn mqsim_files_may_name_a_trace_of_msr_cambridge() {
    let trace =
        "128166372003061629,hm,0,Read,0,4096,100\n128166372003071629,hm,0,Write,8192,4096,9\n";
    let workload = "<?xml version=\"1.0\"?>\n<MQSim_IO_Scenarios>\n<IO_Scenario>\n\
        <IO_Flow_Parameter_Set_Trace_Based>\n<Priority_Class>HIGH</Priority_Class>\n\
        <Device_Level_Data_Caching_Mode>TURNED_OFF</Device_Level_Data_Caching_Mode>\n\
        <Channel_IDs>0</Channel_IDs><Chip_IDs>0</Chip_IDs><Die_IDs>0</Die_IDs><Plane_IDs>0</Plane_IDs>\n\
        <Initial_Occupancy_Percentage>10</Initial_Occupancy_Percentage>\n\
        <File_Path>msr.csv</File_Path>\n<Percentage_To_Be_Executed>100</Percentage_To_Be_Executed>\n\
        <Relay_Count>1</Relay_Count>\n</IO_Flow_Parameter_Set_Trace_Based>\n</IO_Scenario>\n\
        </MQSim_IO_Scenarios>\n";
    let folder = folder_of(&[("msr.csv", trace), ("w.xml", workload)]);
    let run = ["run", "--device", "tiny", "--workload", "w.xml", "--format", "json"];
    let summary: Value = serde_json::from_str(&succeeds(folder.path(), &run).0).expect("JSON");
    let requests = &summary["flows"][0]["requests"];
    assert_eq!((&requests["read"], &requests["write"]), (&Value::from(1), &Value::from(1)));
    let commas = folder_of(&[("w.xml", &workload.replace("<Channel_IDs>0<", "<Channel_IDs>0,<"))]);
    let said = refused(commas.path(), &run);
    assert!(said.contains("w.xml:7: <Channel_IDs> is \"0,\""), "{said}");
}

#[test]
fn without_the_shared_data_tests_say_that_they_are_skipped() {
    flashlane_testing::assert_skipped_without_shared(
        module_path!(),
        &[
            "trims_of_2_gib_are_done",
            "what_is_wrapped_is_said",
            "flushes_around_data_are_requests",
            "a_trace_of_dispatches_only_says_so",
            "times_that_step_back_name_the_flag_or_the_key",
            "devices_may_have_names",
            "units_of_parquet_count_and_its_compressions_are_read",
            "a_hard_threshold_above_the_other_one_is_named",
        ],
    );
}
