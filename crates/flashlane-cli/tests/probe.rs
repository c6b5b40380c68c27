//! Tests of `flashlane probe`: the files that it keeps, the targets that it refuses, and the device
//! that `fit` makes from the files.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{flashlane, folder_with, names, refused, succeeds, text};

/// A drive of two channels with two dies each.
const DEVICE: &str = r#"
base = "tiny"

[flash]
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 400
pages_per_block = 64
page_size = "4KiB"

[ftl]
over_provisioning = "15%"
allocation = "cwdp"

[cache]
capacity = "2MiB"
"#;

/// Probes that only read, which take seconds on a device.
const READS: &str = "idle-latency,page-boundary,conflicts";

fn probe<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["probe", "simulated:device.toml", "--out", out], more].concat()
}

/// Every file of a folder, by name.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| (fs::read(folder.join(&name)).expect("it is there"), name);
    names(folder).into_iter().map(read).map(|(bytes, name)| (name, bytes)).collect()
}

#[test]
fn a_probe_that_is_killed_goes_on_where_it_ended() {
    let folder = folder_with("device.toml", DEVICE);
    let whole = ["--destroy-data", "simulated:device.toml", "--quiet"];
    succeeds(folder.path(), &probe("undisturbed", &whole));
    let mut child = Command::new(env!("CARGO_BIN_EXE_flashlane"))
        .current_dir(folder.path())
        .args(probe("killed", &whole))
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let (out, start) = (folder.path().join("killed"), Instant::now());
    while !out.join("planes.json").exists() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("it may have ended");
    child.wait().expect("it ends");
    let (_, stderr) = succeeds(folder.path(), &probe("killed", &whole[..2]));
    assert!(stderr.contains("idle-latency: measured before"), "{stderr}");
    for (one, two) in files(&folder.path().join("undisturbed")).iter().zip(files(&out)) {
        assert!(*one == two, "{} differs", one.0);
    }
}

#[test]
fn a_folder_of_something_else_is_refused() {
    let folder = folder_with("device.toml", DEVICE);
    let only = ["--only", "idle-latency", "--quiet"];
    succeeds(folder.path(), &probe("out", &only));
    let before = files(&folder.path().join("out"));
    for other in [
        &["--seed", "2"][..],
        &["--set", "interface.firmware_time=3us"],
        &["--destroy-data", "simulated:device.toml"],
    ] {
        let error = refused(folder.path(), &probe("out", &[&only[..], other].concat()));
        assert!(error.contains("probe.json: found simulated:"), "{error}");
    }
    assert_eq!(before, files(&folder.path().join("out")));
}

#[test]
fn bad_targets_and_names_are_refused() {
    let folder = folder_with("device.toml", DEVICE);
    let says = |arguments: &[&str], words: &str| {
        let error = refused(folder.path(), arguments);
        assert!(error.contains(words), "{error}");
        assert!(!folder.path().join("out").exists(), "{arguments:?}");
    };
    says(&probe("out", &["--only", "idle"]), "--only: found `idle`, allowed: idle-latency, ");
    says(&probe("out", &["--destroy-data", "device.toml"]), "allowed: the target once more");
    says(&["probe", "simulated:none", "--out", "out"], "none");
    says(&["probe", "missing", "--out", "out"], "missing");
    says(&["probe", "device.toml", "--out", "out", "--set", "a=1"], "--set: allowed with a sim");
    if cfg!(target_os = "linux") {
        says(&["probe", "/dev/null", "--out", "out"], "neither a block device nor a file");
    }
}

#[test]
fn the_time_is_kept_and_what_was_cut_is_named() {
    let folder = folder_with("device.toml", DEVICE);
    let (stdout, _) = succeeds(folder.path(), &probe("out", &["--time", "100ms"]));
    assert!(stdout.contains("it was cut: the time of 0.1 s is spent"), "{stdout}");
    assert!(stdout.contains("it writes, which needs --destroy-data"), "{stdout}");
    let about = fs::read_to_string(folder.path().join("out/probe.json")).expect("it is there");
    assert!(about.contains("it was cut"), "{about}");
}

#[test]
fn a_probed_drive_becomes_a_device_that_runs() {
    let folder = folder_with("device.toml", DEVICE);
    succeeds(folder.path(), &probe("out", &["--only", READS, "--quiet"]));
    let (stdout, _) = succeeds(folder.path(), &["fit", "out", "--quiet"]);
    assert!(stdout.contains("\nfits: "), "{stdout}");
    for line in ["flash.page_size ", "flash.channels "] {
        assert!(stdout.contains(line), "{stdout}");
    }
    let page = fs::read_to_string(folder.path().join("fit.html")).expect("it is there");
    assert!(page.contains("conflicts, small-alone"), "{page}");
    succeeds(folder.path(), &["check", "fitted.toml"]);
    fs::remove_file(folder.path().join("out/conflicts.parquet")).expect("it was there");
    let output = flashlane(folder.path(), &["fit", "out", "--quiet"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("conflicts.parquet"), "{}", text(&output.stderr));
}
