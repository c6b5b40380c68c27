//! fio job files as workloads of `run` and `check`.

use std::path::Path;

use crate::common::{flashlane, folder_with, succeeds, text};
use serde_json::Value;

const RUN: [&str; 7] = ["run", "--device", "tiny", "--format", "json", "--workload", "job.fio"];

fn summary(folder: &Path, job: &str, more: &[&str]) -> Value {
    std::fs::write(folder.join("job.fio"), job).expect("room");
    let (stdout, _) = succeeds(folder, &[&RUN[..], more].concat());
    serde_json::from_str(&stdout).expect("JSON")
}

#[test]
fn jobs_run_as_flows() {
    let folder = tempfile::tempdir().expect("a folder");
    let job =
        "[global]\nbs=4k\nsize=256k\n[reader]\nrw=randread\niodepth=4\n[writer]\nrw=write\nbs=8k\n";
    let found = summary(folder.path(), job, &["--quiet", "--check"]);
    assert_eq!(found["flows"][0]["name"], "reader");
    let counted =
        |flow: usize, op: &str| found["flows"][flow]["requests"][op].as_u64().expect("it");
    assert!(counted(0, "read") > 0 && counted(0, "write") == 0);
    assert!(counted(1, "write") > 0 && counted(1, "read") == 0);
    let alone = summary(folder.path(), "[one]\nbs=4k\nsize=256k\n", &["--quiet"]);
    assert_eq!(alone["requests_completed"], 64);
    // Keys of a flow go on top, by the name of its job.
    let deeper = ["--quiet", "--set", "flow.one.synthetic.requests=5"];
    assert_eq!(
        summary(folder.path(), "[one]\nbs=4k\nsize=256k\n", &deeper)["requests_completed"],
        5
    );
}

#[test]
fn a_log_that_was_converted_is_replayed() {
    let rows: String =
        (0..50).map(|n| format!("{}.000,R,{},4096,0\n", n * 100, n * 4096)).collect();
    let header = "# t_us,op(R/W),offset_bytes,size_bytes,device\n";
    let folder = folder_with("a.csv", &format!("{header}{rows}"));
    succeeds(folder.path(), &["trace", "convert", "a.csv", "a.iolog"]);
    let found = summary(folder.path(), "[replay]\nread_iolog=a.iolog\n", &["--quiet"]);
    assert_eq!(found["requests_completed"], 50);
    assert_eq!(found["flows"][0]["requests"]["read"], 50);
}

#[test]
fn what_is_assumed_is_warned_of_and_what_is_wrong_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |job: &str| std::fs::write(folder.path().join("job.fio"), job).expect("room");
    write("[a]\nrw=randread\niodepth=8\nioengine=psync\nnumber_ios=10\n");
    let (_, said) = succeeds(folder.path(), &RUN);
    assert!(said.contains("warning: job.fio:3: iodepth: has no effect with ioengine=psync"));
    let (checked, _) = succeeds(folder.path(), &["check", "job.fio"]);
    assert!(checked.contains("job.fio: OK (workload, 1 scenario(s), 1 flow(s))"));
    for (job, expected) in [
        (
            "[a]\nrwmixreed=70\nsize=1m\n",
            "job.fio:2: unknown key `rwmixreed`; did you mean `rwmixread`?",
        ),
        ("[a]\nsize=1g\n", "job.fio:2: flow[0].synthetic.region: found 1GiB, allowed: up to"),
        ("[a]\nbs=100m\nnumber_ios=1\n", "job.fio:2: flow[0].synthetic.size: found 100MiB"),
        ("[a]\nread_iolog=none.log\n", "job.fio:2: flow[0].trace.path: no such file: none.log"),
        ("what is this", "job.fio:1: unknown key `what is this`"),
    ] {
        write(job);
        for arguments in [&RUN[..], &["check", "job.fio", "tiny"]] {
            let run = flashlane(folder.path(), arguments);
            let message = text(&run.stderr);
            assert_eq!(run.status.code(), Some(2), "{arguments:?}: {job}: {message}");
            assert!(message.contains(expected), "{arguments:?}: {expected}: {message}");
        }
    }
}

/// What jobs are about that no drive does: file systems, networks, memory, the processor.
const SPECIAL: &str = "ioengine: found";

/// The drives on which an example is tried. The first ones are too small for some examples, or
/// cannot be divided among that many tenants.
const DRIVES: [&str; 3] = ["970-pro", "fast18", "drive.toml"];

#[test]
fn fios_own_examples_are_read() {
    let folder = Path::new("/usr/share/doc/fio/examples");
    let Ok(entries) = std::fs::read_dir(folder) else {
        return flashlane_testing::skip("the examples of fio (fio-examples)");
    };
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "fio"));
    files.sort();
    // Four terabytes.
    let large = folder_with("drive.toml", "base = \"fast18\"\nflash.blocks_per_plane = 65536\n");
    let check = |file: &Path, drive: &str| {
        let variables = [("FIO_RW", "randread"), ("FIO_BS", "4k"), ("FIO_IODEPTH", "8")];
        let run = std::process::Command::new(env!("CARGO_BIN_EXE_flashlane"))
            .current_dir(large.path())
            .args(["check".as_ref(), file.as_os_str(), drive.as_ref()])
            .envs(variables)
            .output()
            .expect("it runs");
        (run.status.code(), text(&run.stderr))
    };
    let (mut read, mut special) = (0, 0);
    for file in &files {
        let outcomes: Vec<_> = DRIVES.iter().map(|drive| check(file, drive)).collect();
        if outcomes.iter().any(|(code, _)| *code == Some(0)) {
            read += 1;
            continue;
        }
        for (_, said) in &outcomes {
            assert!(said.contains(SPECIAL), "{}: {said}", file.display());
        }
        special += 1;
    }
    assert!(read >= 40 && files.len() == read + special, "{read} read, {special} special");
}

/// The drive takes less at once than a job asks for: every piece is done, and no more of them are
/// outstanding than the job's depth.
#[test]
fn requests_above_the_largest_transfer_are_done_in_pieces() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = "[w]\nrw=write\nbs=64k\nsize=4m\nioengine=libaio\niodepth=4\n";
    let pieces = ["--quiet", "--set", "interface.max_transfer=16KiB"];
    let found = summary(folder.path(), job, &pieces);
    let flow = &found["flows"][0];
    assert_eq!(flow["requests"]["write"], 256);
    assert_eq!(flow["bytes"]["write"], 4 << 20);
    assert_eq!(flow["split_requests"], 64);
}
