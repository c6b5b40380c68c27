//! Commands that need no simulation.

use std::path::Path;

use crate::common::{flashlane, folder_with, succeeds};

/// Standard output of a command that succeeds and says nothing on standard error.
fn stdout(arguments: &[&str]) -> String {
    let (stdout, stderr) = succeeds(Path::new("."), arguments);
    assert_eq!(stderr, "", "{arguments:?}");
    stdout
}

/// A folder with one workload.
fn workload() -> (tempfile::TempDir, String) {
    let text = "[[flow]]\nname = \"a\"\n[flow.synthetic]\nqueue_depth = 4\nrequests = 100\n";
    let folder = folder_with("w.toml", text);
    let file = folder.path().join("w.toml").to_string_lossy().into_owned();
    (folder, file)
}

#[test]
fn presets_list_show_and_check() {
    let list = stdout(&["preset", "list"]);
    for name in ["fast18", "flin", "upi", "tiny"] {
        assert!(list.contains(name), "{list}");
        assert!(stdout(&["preset", "show", name]).contains(&format!("name = \"{name}\"")));
        assert_eq!(stdout(&["check", name]), format!("{name}: OK (device {name})\n"));
    }
}

#[test]
fn a_shown_preset_is_a_device_file() {
    let folder = folder_with("mine.toml", &stdout(&["preset", "show", "flin"]));
    let file = folder.path().join("mine.toml").to_string_lossy().into_owned();
    assert_eq!(stdout(&["check", &file]), format!("{file}: OK (device flin)\n"));
}

#[test]
fn policies_keep_the_rules_of_their_families() {
    let text = stdout(&["conformance", "greedy", "fcfs"]);
    assert!(text.contains("ftl.gc.victim greedy\n") && text.contains("scheduler fcfs\n"), "{text}");
    assert_eq!(text.matches("  held  ").count(), 5 + 4, "{text}");
    assert!(!text.contains("BROKEN"), "{text}");
    let text = stdout(&["conformance", "--family", "interface.arbitration"]);
    assert!(text.contains("weighted-round-robin") && !text.contains("scheduler"), "{text}");
    for (arguments, hint) in [
        (["conformance", "gredy", "fcfs"], "did you mean `greedy`"),
        (["conformance", "--family", "schedulers"], "did you mean `scheduler`"),
    ] {
        let output = flashlane(Path::new("."), &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(hint), "{said}");
    }
}

#[test]
fn policies_are_listed_with_key_and_source() {
    let list = stdout(&["policies"]);
    for word in [
        "scheduler\n",
        "fcfs",
        "read-priority",
        "out-of-order",
        "priority-out-of-order",
        "isolation\n",
        "unified",
        "ftl.allocation\n",
        "cwdp",
        "dynamic",
        "ftl.gc.victim\n",
        "greedy",
        "rga",
        "interface.arbitration\n",
        "round-robin",
        "FAST'18",
    ] {
        assert!(list.contains(word), "{word:?} in {list}");
    }
}

#[test]
fn schemas_are_json_and_describe_every_key() {
    for (of, key) in
        [("device", "flash"), ("workload", "flow"), ("summary", "flows"), ("blame", "victims")]
    {
        let schema: serde_json::Value =
            serde_json::from_str(&stdout(&["schema", of])).expect("JSON");
        assert!(schema["properties"][key].is_object(), "{of}");
        let properties = schema["properties"].as_object().expect("an object");
        for (name, property) in properties {
            assert!(property["description"].is_string(), "{of}.{name} has no description");
        }
    }
}

#[test]
fn a_dry_run_prints_toml_capacity_and_bounds() {
    let (_folder, workload) = workload();
    let run = ["run", "--dry-run", "--device", "upi", "--workload", &workload];
    let text = stdout(&run);
    for word in [
        "physical 192 GiB, logical 150 GiB",
        "28.00 % of the logical",
        "21.88 % of the physical",
        "bus, read or write",
        "1200.0 MB/s",
        "array, read",
        "array, write",
        "786.4 MB/s",
    ] {
        assert!(text.contains(word), "{word:?} in {text}");
    }
    let table: toml::Table = toml::from_str(&text).expect("valid TOML");
    assert_eq!(table["device"]["flash"]["channels"].as_integer(), Some(3));
    assert_eq!(table["workload"]["flow"][0]["name"].as_str(), Some("a"));
    let mut json = run.to_vec();
    json.extend(["--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&stdout(&json)).expect("one JSON object");
    assert_eq!(value["capacity"]["physical_bytes"].as_u64(), Some(192 << 30));
}

#[test]
fn options_show_in_the_resolved_configuration() {
    let (_folder, workload) = workload();
    let text = stdout(&[
        "run",
        "--dry-run",
        "--device",
        "tiny",
        "--workload",
        &workload,
        "--scheduler",
        "fcfs",
        "--compat",
        "mqsim",
        "--set",
        "flash.channels=4",
        "--set",
        "flow.a.priority=urgent",
        "--set",
        "ftl.gc.threshold=4 blocks",
        "--set",
        "compat.dram_formula=false",
    ]);
    for word in [
        "scheduler = \"fcfs\"",
        "channels = 4",
        "priority = \"urgent\"",
        "threshold = \"4 blocks\"",
        "padded_sqe = true",
        "dram_formula = false",
    ] {
        assert!(text.contains(word), "{word:?} in {text}");
    }
}

#[test]
fn help_and_version_succeed() {
    assert!(stdout(&["--help"]).contains("demo"));
    assert!(stdout(&["run", "--help"]).contains("--seeds"));
    assert!(stdout(&["--version"]).starts_with("flashlane 0."));
    for incomplete in [&[][..], &["reproduce"]] {
        assert_eq!(flashlane(Path::new("."), incomplete).status.code(), Some(2));
    }
}

#[test]
fn completions_and_manual_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (text, _) = succeeds(folder.path(), &["completions", shell]);
        assert!(text.contains("reproduce") && text.contains("scheduler"), "{shell}");
    }
    succeeds(folder.path(), &["man", "--out", "man"]);
    let page = std::fs::read_to_string(folder.path().join("man/flashlane-run.1")).expect("a page");
    assert!(page.contains("\\-\\-scheduler"), "{page}");
    let (version, _) = succeeds(folder.path(), &["--version"]);
    assert!(version.starts_with(concat!("flashlane ", env!("CARGO_PKG_VERSION"))), "{version}");
}
