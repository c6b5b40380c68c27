//! Bad input: exit status 2, place and rule on standard error, nothing on standard output, no panic
//! trace, no output left behind.

mod device;
mod files;
mod isolation;
mod workload;

use std::path::Path;

pub(crate) use crate::common::flashlane;
use crate::common::{folder_with, names, refused};

/// A device that is accepted.
pub(crate) const DEVICE: &str = r#"name = "good"
scheduler = "out-of-order"
[ftl]
over_provisioning = "28%"
[ftl.gc]
victim = "rga"
[flash]
technology = "mlc"
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 32
page_size = "4KiB"
channel_rate = "333MT/s"
read_time = ["75us"]
program_time = ["750us"]
erase_time = "3800us"
"#;

/// A workload that is accepted.
pub(crate) const WORKLOAD: &str = r#"name = "good"
[[flow]]
name = "first"
priority = "high"
channels = [0, 1]
[flow.synthetic]
queue_depth = 4
read_ratio = 0.5
requests = 100
size = "8KiB"
[[flow]]
name = "second"
[flow.synthetic]
iops = 1000.0
duration = "1ms"
"#;

/// One edit of a good file and what must be said about it.
pub(crate) struct Case {
    /// Text of the good file.
    pub(crate) from: &'static str,
    /// What stands there instead.
    pub(crate) to: &'static str,
    /// Words that standard error must contain: place first, then rule.
    pub(crate) says: &'static [&'static str],
}

/// Shorthand for a table row.
pub(crate) const fn case(
    from: &'static str,
    to: &'static str,
    says: &'static [&'static str],
) -> Case {
    Case { from, to, says }
}

/// Asserts the refusal and gives standard error.
pub(crate) fn assert_refused(folder: &Path, arguments: &[&str], says: &[&str]) {
    let before = names(folder);
    let stderr = refused(folder, arguments);
    let context = format!("{arguments:?}\nstderr: {stderr}");
    for word in says {
        assert!(stderr.contains(word), "{word:?} is not said by {context}");
    }
    for word in ["RUST_BACKTRACE", "internal fault"] {
        assert!(!stderr.contains(word), "{word:?} is said by {context}");
    }
    assert_eq!(before, names(folder), "files left by {context}");
}

/// Runs a table of edits of one of the two files.
pub(crate) fn run_table(cases: &[Case], of_device: bool) {
    for case in cases {
        let good = if of_device { DEVICE } else { WORKLOAD };
        assert!(good.contains(case.from), "{:?} is not in the good file", case.from);
        let bad = good.replacen(case.from, case.to, 1);
        let (device, workload) =
            if of_device { (bad.as_str(), WORKLOAD) } else { (DEVICE, bad.as_str()) };
        let folder = folder_with("d.toml", device);
        std::fs::write(folder.path().join("w.toml"), workload).expect("written");
        let arguments =
            ["run", "--device", "d.toml", "--workload", "w.toml", "--out", "o", "--format", "json"];
        assert_refused(folder.path(), &arguments, case.says);
    }
}

/// A folder with both good files.
pub(crate) fn good_folder() -> tempfile::TempDir {
    let folder = folder_with("d.toml", DEVICE);
    std::fs::write(folder.path().join("w.toml"), WORKLOAD).expect("written");
    folder
}

#[test]
fn the_good_files_are_accepted() {
    let folder = good_folder();
    let output = flashlane(folder.path(), &["check", "d.toml", "w.toml"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(stderr, "");
}
