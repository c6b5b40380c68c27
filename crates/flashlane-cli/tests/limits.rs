//! What a run may take: requests that pile up, memory, names, words on screens.

use crate::common::text;
use serde_json::Value;

const FLOOD: &str = "[[flow]]\nname = 'flood'\n[flow.synthetic]\niops = 1e6\nrequests = 20000\n\
                     read_ratio = 1.0\nsize = '4KiB'\n";

#[test]
fn an_overload_ends_at_the_bound_and_says_so_first() {
    let folder = crate::common::folder_with("w.toml", FLOOD);
    let run = |format: &str| {
        let set = "outstanding_max=5000";
        let arguments = ["run", "--device", "tiny", "--workload", "w.toml", "--set", set];
        let all: Vec<&str> = arguments.into_iter().chain(["--format", format, "--quiet"]).collect();
        crate::common::succeeds(folder.path(), &all).0
    };
    let said = run("text");
    assert!(said.starts_with("Overloaded: at 0.0"), "{said}");
    assert!(said.contains("5,000 requests were outstanding (outstanding_max)"), "{said}");
    let summary: Value = serde_json::from_str(&run("json")).expect("JSON");
    assert_eq!(summary["overload"][0]["outstanding"], 5000);
    assert_eq!(summary["requests_generated"], summary["requests_completed"]);
}

#[test]
fn short_rounds_keep_no_more_than_there_can_be_rounds() {
    let folder = crate::common::folder_with("w.toml", FLOOD);
    let arguments = ["run", "--device", "tiny", "--workload", "w.toml", "--until-steady"];
    let all: Vec<&str> =
        arguments.into_iter().chain(["--round", "1ps", "--format", "json", "--quiet"]).collect();
    let summary: Value =
        serde_json::from_str(&crate::common::succeeds(folder.path(), &all).0).expect("JSON");
    assert_eq!(summary["steady_state"]["reached"], false);
    assert_eq!(summary["steady_state"]["rounds"].as_array().map(Vec::len), Some(25));
    let peak = summary["peak_rss_bytes"].as_u64().expect("a number");
    assert!(peak < 300 << 20, "{peak} bytes");
}

#[test]
#[cfg(target_os = "linux")]
fn memory_that_does_not_suffice_is_no_fault_of_the_program() {
    let folder = crate::common::folder_with("w.toml", FLOOD);
    let limited = |kib: u32, device: &str, more: &str| {
        let command = format!(
            "ulimit -v {kib}; exec \"$0\" run --device {device} --workload w.toml --quiet {more}"
        );
        let run = std::process::Command::new("sh")
            .args(["-c", &command, env!("CARGO_BIN_EXE_flashlane")])
            .current_dir(folder.path())
            .output()
            .expect("a shell");
        (run.status.code(), text(&run.stderr))
    };
    // Seen before: the tables do not fit.
    let (status, said) = limited(400_000, "fast18", "");
    assert_eq!(status, Some(2), "{said}");
    for part in ["448 MiB at the least", "67108864 pages", "ulimit -v", "flash.blocks_per_plane"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Found on the way: requests that pile up.
    let flood = "--set flow.flood.synthetic.requests=3000000 --set flow.flood.synthetic.iops=1e8 \
                 --set outstanding_max=3000000 --threads 1";
    let (status, said) = limited(250_000, "tiny", flood);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("more bytes could not be had"), "{said}");
    assert!(!said.contains("bug") && !said.contains("fault"), "{said}");
}

#[test]
fn words_of_users_are_escaped_wherever_they_are_refused() {
    let folder = crate::common::folder_with("w.toml", FLOOD);
    for arguments in [
        &["ru\u{202e}n"][..],
        &["run", "--dev\u{202e}ice", "tiny"],
        &["run", "--device", "ti\u{202e}ny", "--workload", "w.toml"],
        &["run", "--device", "tiny", "--workload", "w\u{202e}.toml"],
        &["run", "--device", "tiny", "--workload", "w.toml", "--set", "a\u{1b}b=1"],
    ] {
        let said = crate::common::refused(folder.path(), arguments);
        assert!(!said.contains(['\u{202e}', '\u{1b}']), "{said:?}");
        assert!(said.contains("\\u{"), "{said:?}");
    }
}

#[test]
fn names_have_a_limit() {
    let name = |letters: usize| FLOOD.replace("flood", &"ä".repeat(letters));
    let folder = crate::common::folder_with("w.toml", &name(257));
    let arguments = ["run", "--device", "tiny", "--workload", "w.toml", "--quiet"];
    let said = crate::common::refused(folder.path(), &arguments);
    assert!(said.contains("allowed: 256 characters at most"), "{said}");
    assert!(said.len() < 1000, "{said}");
    std::fs::write(folder.path().join("w.toml"), name(256)).expect("room");
    crate::common::succeeds(folder.path(), &arguments);
}
