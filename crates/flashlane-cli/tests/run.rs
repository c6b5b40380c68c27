//! Runs from the command line on the smallest device.

use std::path::Path;
use std::process::{Command, Output};

use crate::common::{flashlane, folder_with, names, succeeds};
use serde_json::Value;

/// Fields that differ from run to run.
const CLOCKS: &[&str] = &["wall_s", "precondition_wall_s", "requests_per_wall_s", "peak_rss_bytes"];

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
iops = 5000.0
requests = 100
"#;

fn folder() -> tempfile::TempDir {
    folder_with("w.toml", WORKLOAD)
}

fn run(folder: &Path, more: &[&str]) -> Output {
    flashlane(folder, &[&["run", "--device", "tiny", "--workload", "w.toml"], more].concat())
}

/// Standard output as lines of JSON, without what differs from run to run.
fn json(folder: &Path, more: &[&str]) -> Vec<Value> {
    let output = run(folder, &[&["--format", "json", "--quiet"], more].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(stderr, "", "--quiet with JSON says nothing");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| without_clocks(serde_json::from_str(line).expect("JSON"))).collect()
}

fn without_clocks(mut summary: Value) -> Value {
    let fields = summary.as_object_mut().expect("an object");
    for clock in CLOCKS {
        assert!(fields.remove(*clock).is_some(), "{clock}");
    }
    summary
}

#[test]
fn tables_go_to_standard_output_and_make_room_for_json() {
    let folder = folder();
    let output = run(folder.path(), &["--alone"]);
    let table = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}");
    assert!(output.stderr.is_empty(), "no progress bar where nobody sees it");
    for word in ["reader", "writer", "p99.9", "slowdown", "fairness", "flash queue", "write ampl"] {
        assert!(table.contains(word), "{word:?} in {table}");
    }
    let lines = json(folder.path(), &["--check"]);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["schema"], "flashlane.summary/3");
    assert_eq!(lines[0]["flows"][1]["name"], "writer");
}

#[test]
fn threads_never_change_a_result() {
    let folder = folder();
    let with = |threads: &str| {
        json(folder.path(), &["--alone", "--seeds", "3", "--seed", "7", "--threads", threads])
    };
    let one = with("1");
    assert_eq!(one, with("2"));
    assert_eq!(one, with("0"));
    assert_eq!(one[0]["seed"], 7);
}

#[test]
fn seeds_give_estimates_of_every_metric() {
    let folder = folder();
    let lines = json(folder.path(), &["--seeds", "3", "--out", "o"]);
    let file = |name: &str| -> Value {
        let text = std::fs::read_to_string(folder.path().join("o").join(name)).expect(name);
        serde_json::from_str(&text).expect("JSON")
    };
    let estimate = &lines[0]["seeds"]["flows[0].response_time_us.mean"];
    assert_eq!(estimate["n"], 3);
    let of = |key: &str| estimate[key].as_f64().expect("a number");
    assert!(of("ci95_low") <= of("mean") && of("mean") <= of("ci95_high"));
    assert!(lines[0]["seeds"]["wall_s"].is_null() && lines[0]["seeds"]["seed"].is_null());
    assert_eq!(file("seeds.json"), lines[0]["seeds"]);
    let mut summary = without_clocks(file("summary.json"));
    let first = json(folder.path(), &["--seed", "1"]).remove(0);
    assert_eq!(summary, first, "summary.json is that of the first seed");
    summary["seeds"] = lines[0]["seeds"].clone();
    assert_eq!(summary, lines[0]);
}

#[test]
fn output_is_written_whole_and_replaces_that_of_an_earlier_run() {
    let folder = folder();
    let out = folder.path().join("deep/er");
    for seed in ["1", "2"] {
        let output = run(folder.path(), &["--out", "deep/er", "--quiet", "--seed", seed]);
        assert_eq!(output.status.code(), Some(0));
        let text = std::fs::read_to_string(out.join("summary.json")).expect("readable");
        let summary: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(summary["seed"].to_string(), seed);
        assert_eq!(names(&out), ["summary.json"], "no temporary file and no lock is left");
    }
}

/// Files of two runs side by side would contradict each other.
#[test]
fn results_of_an_earlier_run_go_and_other_files_stay() {
    let folder = folder();
    let out = folder.path().join("o");
    let watch = ["--report", "--requests", "--timeline"];
    let out_of = |more: &[&str]| run(folder.path(), &[&["--out", "o", "--quiet"], more].concat());
    assert_eq!(out_of(&watch).status.code(), Some(0));
    assert_eq!(names(&out).len(), 6);
    std::fs::create_dir(out.join("scenario-2")).expect("made");
    for mine in ["scenario-2/summary.json", "scenario-2/notes.txt", "notes.txt"] {
        std::fs::write(out.join(mine), "mine").expect("written");
    }
    assert_eq!(out_of(&["--seeds", "2"]).status.code(), Some(0));
    assert_eq!(names(&out), ["notes.txt", "scenario-2", "seeds.json", "summary.json"]);
    assert_eq!(names(&out.join("scenario-2")), ["notes.txt", "summary.json"]);
}

#[test]
fn a_summary_has_exactly_the_keys_of_its_schema() {
    let folder = folder();
    let summary = json(folder.path(), &[]).remove(0);
    let (schema, _) = succeeds(folder.path(), &["schema", "summary"]);
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let documented = schema["properties"].as_object().expect("an object").keys();
    for key in documented.filter(|key| !CLOCKS.contains(&key.as_str())) {
        // Left out where nobody asked for it, or the device has no such part.
        let expected = ![
            "waf_only",
            "processors",
            "energy",
            "wear",
            "errors",
            "units",
            "slc_cache",
            "separation",
            "placement",
            "zones",
            "admission",
        ]
        .contains(&key.as_str());
        assert_eq!(summary.get(key).is_some(), expected, "{key} is documented");
    }
    for key in summary.as_object().expect("an object").keys() {
        assert!(schema["properties"].get(key).is_some(), "{key} is not documented");
    }
}

const SSDCONFIG: &str = "<Execution_Parameter_Set><Device_Parameter_Set>
<Overprovisioning_Ratio>0.2</Overprovisioning_Ratio>
<Ideal_Mapping_Table>true</Ideal_Mapping_Table>
<Enabled_Preconditioning>false</Enabled_Preconditioning>
<Static_Wearleveling_Enabled>false</Static_Wearleveling_Enabled>
<Flash_Channel_Count>2</Flash_Channel_Count><Chip_No_Per_Channel>2</Chip_No_Per_Channel>
<GC_Exec_Threshold>0.05</GC_Exec_Threshold>
<Flash_Parameter_Set><Die_No_Per_Chip>1</Die_No_Per_Chip><Plane_No_Per_Die>2</Plane_No_Per_Die>
<Block_No_Per_Plane>128</Block_No_Per_Plane><Page_No_Per_Block>64</Page_No_Per_Block>
<Page_Capacity>8192</Page_Capacity></Flash_Parameter_Set>
</Device_Parameter_Set></Execution_Parameter_Set>";

/// A scenario of one flow that reads at a queue depth.
fn scenario(depth: u32) -> String {
    format!(
        "<IO_Scenario><IO_Flow_Parameter_Set_Synthetic><Priority_Class>HIGH</Priority_Class>
        <Device_Level_Data_Caching_Mode>TURNED_OFF</Device_Level_Data_Caching_Mode>
        <Channel_IDs>0,1</Channel_IDs><Chip_IDs>0,1</Chip_IDs><Die_IDs>0</Die_IDs>
        <Plane_IDs>0,1</Plane_IDs><Initial_Occupancy_Percentage>70</Initial_Occupancy_Percentage>
        <Working_Set_Percentage>50</Working_Set_Percentage>
        <Synthetic_Generator_Type>QUEUE_DEPTH</Synthetic_Generator_Type>
        <Read_Percentage>100</Read_Percentage>
        <Address_Distribution>RANDOM_UNIFORM</Address_Distribution>
        <Percentage_of_Hot_Region>0</Percentage_of_Hot_Region>
        <Generated_Aligned_Addresses>true</Generated_Aligned_Addresses>
        <Address_Alignment_Unit>16</Address_Alignment_Unit>
        <Request_Size_Distribution>FIXED</Request_Size_Distribution>
        <Average_Request_Size>8</Average_Request_Size>
        <Variance_Request_Size>0</Variance_Request_Size><Seed>798</Seed>
        <Average_No_of_Reqs_in_Queue>{depth}</Average_No_of_Reqs_in_Queue>
        <Bandwidth>262144</Bandwidth><Stop_Time>0</Stop_Time>
        <Total_Requests_To_Generate>50</Total_Requests_To_Generate>
        </IO_Flow_Parameter_Set_Synthetic></IO_Scenario>"
    )
}

#[test]
fn several_scenarios_give_lines_and_folders() {
    let folder = folder();
    let (one, two) = (scenario(1), scenario(8));
    let workload = format!("<MQSim_IO_Scenarios>{one}{two}</MQSim_IO_Scenarios>");
    std::fs::write(folder.path().join("w.xml"), workload).expect("written");
    std::fs::write(folder.path().join("d.xml"), SSDCONFIG).expect("written");
    let run = ["run", "--device", "d.xml", "--workload", "w.xml", "--compat", "mqsim"];
    let json = ["--format", "json", "--quiet", "--out", "o"];
    let (text, _) = succeeds(folder.path(), &[&run[..], &json].concat());
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(line["compat"], "mqsim");
        assert_eq!(line["requests_completed"], 50);
        let file = folder.path().join(format!("o/scenario-{}/summary.json", index + 1));
        let text = std::fs::read_to_string(file).expect("written");
        assert_eq!(&serde_json::from_str::<Value>(&text).expect("JSON"), line);
    }
    assert!(lines[1]["flows"][0]["iops"].as_f64() > lines[0]["flows"][0]["iops"].as_f64());
}

/// The verdicts of all scenarios come before the tables of the first one.
#[test]
fn the_verdicts_of_several_scenarios_stand_first() {
    let folder = folder();
    let busy = scenario(1)
        .replace(">QUEUE_DEPTH<", ">BANDWIDTH<")
        .replace(">262144<", ">4000000000<")
        .replace(">50</Total", ">5000</Total");
    let workload = format!("<MQSim_IO_Scenarios>{}{busy}</MQSim_IO_Scenarios>", scenario(1));
    std::fs::write(folder.path().join("w.xml"), workload).expect("written");
    std::fs::write(folder.path().join("d.xml"), SSDCONFIG).expect("written");
    let (text, _) = succeeds(folder.path(), &["run", "--device", "d.xml", "--workload", "w.xml"]);
    let said = "scenario-2: Saturated: the drive does not keep up with flow ";
    assert!(text.contains(said) && !text.contains("scenario-1: "), "{text}");
    assert!(text.find(said) < text.find("scenario-1\n"), "{text}");
}

/// A trace that ends in the middle of its compressed data is found only while it is read.
#[test]
fn a_trace_that_breaks_off_leaves_no_output() {
    let folder = folder();
    let lines: String = (0..40_000).map(|i| format!("{} 0 {} 8 1\n", i * 9973, i % 99)).collect();
    let path = folder.path().join("t.trace");
    std::fs::write(&path, lines).expect("written");
    let packed = Command::new("gzip").arg("-k").arg(&path).status();
    if !packed.is_ok_and(|status| status.success()) {
        return; // No gzip here.
    }
    let packed = folder.path().join("t.trace.gz");
    let bytes = std::fs::read(&packed).expect("readable");
    std::fs::write(&packed, &bytes[..bytes.len() / 2]).expect("written");
    let workload = "[[flow]]\nname = \"t\"\n[flow.trace]\nformat = \"mqsim\"\n\
        path = \"t.trace.gz\"\ntime_scale = 1000.0\n";
    std::fs::write(folder.path().join("w.toml"), workload).expect("written");
    let output = run(folder.path(), &["--out", "o", "--format", "json"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("t.trace.gz"), "{stderr}");
    assert!(output.stdout.is_empty() && !folder.path().join("o").exists());
}

#[test]
fn rounds_until_steady_state_are_shown_and_written() {
    let folder = folder();
    let output = run(
        folder.path(),
        &["--until-steady", "--round", "400", "--track", "latency", "--out", "out"],
    );
    let table = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}");
    assert!(table.contains("steady state reached: in the last 5 rounds"), "{table}");
    let read = |name: &str| -> Value {
        let text = std::fs::read_to_string(folder.path().join("out").join(name)).expect("written");
        serde_json::from_str(&text).expect("JSON")
    };
    let (steady, summary) = (read("steady.json"), read("summary.json"));
    assert_eq!(steady, summary["steady_state"]);
    let rounds = steady["rounds"].as_array().expect("rounds");
    let last: Vec<f64> =
        rounds[rounds.len() - 5..].iter().map(|r| r["value"].as_f64().unwrap()).collect();
    let mean = last.iter().sum::<f64>() / 5.0;
    assert!((mean - steady["mean"].as_f64().unwrap()).abs() < 1e-9);
    assert_eq!(summary["window_start_s"], rounds[rounds.len() - 5]["start_s"]);
}

/// Elements of a document of MQSim's: path and text, attributes as `path@name`.
fn parsed(text: &str) -> Vec<(String, String)> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(text);
    let (mut path, mut found) = (Vec::new(), Vec::new());
    loop {
        let event = reader.read_event().expect("well-formed XML");
        let name = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        match event {
            Event::Eof => return found,
            Event::Start(tag) => path.push(name(tag.name().as_ref())),
            Event::End(_) => drop(path.pop()),
            Event::Text(text) => {
                let text = name(&text);
                if !text.trim().is_empty() {
                    found.push((path.join("/"), text));
                }
            }
            Event::Empty(tag) => {
                for attribute in tag.attributes() {
                    let attribute = attribute.expect("an attribute");
                    let key =
                        format!("{}@{}", name(tag.name().as_ref()), name(attribute.key.as_ref()));
                    found.push((key, name(&attribute.value)));
                }
            }
            _ => {}
        }
    }
}

#[test]
fn results_under_mqsims_tags_equal_the_summary() {
    let folder = folder();
    let output = run(folder.path(), &["--format", "mqsim-xml", "--quiet", "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.is_empty(), "with --out the document is a file");
    let file =
        |name: &str| std::fs::read_to_string(folder.path().join("out").join(name)).expect(name);
    let summary: Value = serde_json::from_str(&file("summary.json")).expect("JSON");
    let found = parsed(&file("w_scenario_1.xml"));
    let all = |key: &str| -> Vec<&str> {
        found
            .iter()
            .filter(|(path, _)| path.ends_with(key))
            .map(|(_, text)| text.as_str())
            .collect()
    };
    assert_eq!(all("Host.IO_Flow/Name"), ["Host.IO_Flow.reader", "Host.IO_Flow.writer"]);
    let number = |text: &str| text.parse::<f64>().expect("a number");
    for (index, flow) in summary["flows"].as_array().expect("flows").iter().enumerate() {
        let near = |key: &str, expected: &Value| {
            let (ours, expected) = (number(all(key)[index]), expected.as_f64().expect("a number"));
            assert!(
                (ours - expected).abs() <= 1e-6 * expected.max(1.0),
                "{key}: {ours} {expected}"
            );
        };
        near("Host.IO_Flow/IOPS", &flow["iops"]);
        near("Host.IO_Flow/Bandwidth", &flow["bandwidth_bytes_per_s"]);
        near("Host.IO_Flow/Read_Request_Count", &flow["requests"]["read"]);
        near("Host.IO_Flow/Bytes_Transferred_Write", &flow["bytes"]["write"]);
        near("Host.IO_Flow/Device_Response_Time", &flow["response_time_us"]["mean"]);
        near("Host.IO_Flow/Max_Device_Response_Time", &flow["response_time_us"]["max"]);
        near("Host.IO_Flow/End_to_End_Request_Delay", &flow["end_to_end_us"]["mean"]);
        let reads = &flow["read_transactions"];
        near("IO_Stream/Average_Read_Transaction_Execution_Time", &reads["execution_us"]);
        near(
            "IO_Stream/Average_Write_Transaction_Waiting_Time",
            &flow["write_transactions"]["wait_us"],
        );
    }
    for (tag, operation, kind) in [
        ("Read", "read", "single"),
        ("Program", "program", "single"),
        ("Multiplane_Program", "program", "multiplane"),
        ("Erase", "erase", "single"),
    ] {
        let expected = summary["commands"][operation][kind].to_string();
        assert_eq!(all(&format!("SSDDevice.FTL@Issued_Flash_{tag}_CMD")), [expected.as_str()]);
    }
    let reads = summary["commands"]["read"]["single"].as_u64().expect("a count");
    assert!(reads > 0, "the flash was read");
    assert_eq!(all("SSDDevice.FlashChips@ID"), ["@0@0", "@0@1", "@1@0", "@1@1"]);

    // As MQSim writes them: no whole second, no rate; whole microseconds.
    let output =
        run(folder.path(), &["--format", "mqsim-xml", "--quiet", "--set", "compat.reporting=true"]);
    let found = parsed(&String::from_utf8(output.stdout).expect("UTF-8"));
    let first = |key: &str| &found.iter().find(|(path, _)| path.ends_with(key)).expect(key).1;
    assert_eq!(first("Host.IO_Flow/IOPS"), "inf");
    let exact = summary["flows"][0]["response_time_us"]["mean"].as_f64().expect("a mean");
    assert_eq!(first("Host.IO_Flow/Device_Response_Time"), &format!("{}", exact.floor()));
}

const OVERLOAD: &str = r#"
[[flow]]
name = "busy"
cache = "off"
[flow.synthetic]
iops = 200000.0
read_ratio = 0.0
size = "4KiB"
duration = "20ms"
[[flow]]
name = "calm"
[flow.synthetic]
queue_depth = 1
read_ratio = 1.0
duration = "20ms"
"#;

/// The verdict on a drive that cannot keep up comes before all numbers, and its numbers are marked.
#[test]
fn the_verdict_stands_first() {
    let folder = folder_with("w.toml", OVERLOAD);
    let output = run(folder.path(), &["--alone"]);
    let table = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}");
    let at = |text: &str| table.find(text).unwrap_or_else(|| panic!("no {text}: {table}"));
    assert!(
        at("Saturated: the drive does not keep up with flow busy (offered ") < at("device tiny")
    );
    let row = |name: &str| table.lines().find(|line| line.starts_with(name)).expect("a row");
    assert!(row("busy ").ends_with('*') && !row("calm ").contains('*'), "{table}");
    assert!(at("* depends on the length of the run") > at("fairness"));
    let summary = &json(folder.path(), &[])[0];
    assert_eq!(summary["schema"], "flashlane.summary/3");
    assert_eq!(
        (&summary["saturated"], &summary["flows"][0]["saturated"]),
        (&true.into(), &true.into())
    );
    assert_eq!(summary["flows"][1]["saturated"], false);
    let keys: Vec<&String> = summary.as_object().expect("an object").keys().take(3).collect();
    assert_eq!(keys, ["schema", "version", "verdict"], "among the first keys");
    let sentence = summary["verdict"][0].as_str().expect("a sentence");
    assert!(table.contains("the drive does not keep up with flow busy (offered "), "{sentence}");
    assert!(sentence.starts_with("Saturated: the drive does not keep up with flow busy (offered "));
}

/// The tables of several seeds are means over them, and the verdict counts the seeds.
#[test]
fn the_verdict_of_several_seeds_counts_them_and_all_tables_are_means() {
    let folder = folder_with("w.toml", OVERLOAD);
    let output = run(folder.path(), &["--seeds", "3", "--alone", "--out", "o"]);
    let table = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}");
    assert!(
        table.starts_with(
            "Saturated: the drive does not keep up with flow busy (in 3 of 3 seeds; on average offered "
        ),
        "{table}"
    );
    assert!(table.contains("means over 3 seeds from 1, "), "{table}");
    assert!(table.contains(" s (first seed)"), "wall times have no mean: {table}");
    let text = std::fs::read_to_string(folder.path().join("o/seeds.json")).expect("written");
    let seeds: Value = serde_json::from_str(&text).expect("JSON");
    let sentence = seeds["verdict"][0].as_str().expect("a sentence");
    assert!(table.starts_with(sentence), "{sentence}");
    let mean = |path: &str| seeds[path]["mean"].as_f64().unwrap_or_else(|| panic!("no {path}"));
    let programs = format!("{:.0} user programs", mean("flash.user_programs"));
    assert!(table.contains(&programs), "{programs}: {table}");
    let stages = table.split("mean response time by stage, us").nth(1).expect("a table");
    let busy = stages.lines().find(|line| line.starts_with("busy")).expect("a row");
    let sum: f64 = busy
        .split_whitespace()
        .last()
        .expect("a sum")
        .trim_end_matches('*')
        .parse()
        .expect("a number");
    let expected = mean("flows[0].response_time_us.mean");
    assert!((sum - expected).abs() <= 0.5 + expected * 1e-3, "{sum} {expected}: {table}");
    assert!(busy.ends_with('*'), "{busy}");
}

/// Control characters in names neither reach the terminal nor break the JSON.
#[test]
fn json_stays_json_whatever_names_hold() {
    let workload = format!("name = \"a\\u009b31m\\u007f\\u202e\"\n{OVERLOAD}");
    let folder = folder_with("w.toml", &workload);
    let output = run(folder.path(), &["--quiet", "--format", "json"]);
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(!stdout.contains(|c: char| c.is_control() && c != '\n'), "{stdout:?}");
    let summary: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(summary["workload"], "a\u{9b}31m\u{7f}\u{202e}");
    let output = run(folder.path(), &["--dry-run"]);
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(!stdout.contains(|c: char| c.is_control() && c != '\n'), "{stdout:?}");
}

#[test]
fn a_warm_up_as_long_as_the_load_is_refused() {
    let folder = folder_with("w.toml", OVERLOAD);
    for (warmup, load) in [("20ms", "the load lasts 0.02 s"), ("1000000", "the flows have made")] {
        let arguments = ["run", "--device", "tiny", "--workload", "w.toml", "--warmup", warmup];
        let stderr = crate::common::refused(folder.path(), &arguments);
        assert!(stderr.contains("--warmup: found") && stderr.contains(load), "{stderr}");
    }
}
