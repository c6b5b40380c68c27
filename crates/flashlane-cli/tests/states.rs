//! States of drives that are kept between runs: same results, whatever happens to the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WORKLOAD: &str = "
[[flow]]
name = \"reader\"
synthetic = { requests = 2000, iops = 20_000.0, read_ratio = 0.7, size = \"4KiB\" }
[[flow]]
name = \"writer\"
synthetic = { requests = 2000, iops = 20_000.0, read_ratio = 0.0, size = \"16KiB\" }
";

/// A drive just large enough for its states to be kept.
const SETS: [&str; 2] = ["flash.blocks_per_plane=128", "flash.pages_per_block=512"];

struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("w.toml"), WORKLOAD).expect("room");
        Self(folder)
    }

    fn states(&self) -> PathBuf {
        self.0.path().join("states")
    }

    fn command(&self, states: &Path, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
        command.args(["run", "--quiet", "--format", "json", "--device", "flin", "--workload"]);
        command.arg(self.0.path().join("w.toml")).arg("--states").arg(states).args(more);
        for set in SETS {
            command.args(["--set", set]);
        }
        command
    }

    fn run(&self, states: &Path, more: &[&str]) -> String {
        let output = self.command(states, more).output().expect("it runs");
        result(&output)
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.states()).expect("a folder");
        let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
        files.sort();
        files
    }
}

/// The summary, without what differs from run to run.
fn result(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a summary");
    let fields = summary.as_object_mut().expect("an object");
    for key in ["wall_s", "precondition_wall_s", "requests_per_wall_s", "peak_rss_bytes"] {
        fields.remove(key);
    }
    if let Some(rates) = fields.get_mut("waf_only").and_then(|rates| rates.as_object_mut()) {
        rates.retain(|key, _| !key.ends_with("_per_wall_s"));
    }
    summary.to_string()
}

#[test]
fn kept_states_change_no_result() {
    let scene = Scene::new();
    let (off, states) = (Path::new("off"), scene.states());
    for more in [
        &[][..],
        &["--alone"],
        &["--waf-only"],
        &["--check"],
        &["--seed", "2"],
        &["--scheduler", "fcfs"],
    ] {
        let made = scene.run(off, more);
        for _ in 0..2 {
            assert!(scene.run(&states, more) == made, "{more:?}");
        }
    }
    assert_eq!(scene.files().len(), 2, "one for each seed; the scheduler decides nothing");
}

#[test]
fn a_damaged_file_is_made_anew() {
    let scene = Scene::new();
    let states = scene.states();
    let made = scene.run(&states, &[]);
    let file = scene.files().pop().expect("a state was kept");
    let whole = fs::read(&file).expect("readable");
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        bytes
    };
    let damages = [
        Vec::new(),
        whole[..100].to_vec(),
        whole[..whole.len() - 1].to_vec(),
        flipped(3),
        flipped(50),
        flipped(1 << 16),
        flipped(whole.len() / 2),
        flipped(whole.len() - 1),
        [&whole[..], &[0]].concat(),
    ];
    for (index, damage) in damages.into_iter().enumerate() {
        fs::write(&file, damage).expect("room");
        assert!(scene.run(&states, &[]) == made, "damage {index}");
        assert!(fs::read(&file).expect("readable") == whole, "damage {index} is mended");
    }
}

#[test]
fn several_programs_fill_one_folder_at_a_time() {
    let scene = Scene::new();
    let states = scene.states();
    let run = || scene.command(&states, &["--alone"]).stdout(std::process::Stdio::piped()).spawn();
    let running: Vec<_> = (0..4).map(|_| run().expect("it runs")).collect();
    let ended = running.into_iter().map(|one| one.wait_with_output().expect("it ends"));
    let results: Vec<String> = ended.map(|output| result(&output)).collect();
    let alone = scene.run(Path::new("off"), &["--alone"]);
    assert!(results.iter().all(|result| *result == alone));
    assert_eq!(scene.files().len(), 1);
}

#[test]
fn a_limit_on_the_size_of_files_ends_no_run() {
    let scene = Scene::new();
    let states = scene.states();
    let run = scene.command(&states, &[]);
    let mut limited = Command::new("bash");
    // Unit: KiB.
    limited.args(["-c", "ulimit -f 4096 && exec \"$@\"", "bash"]).arg(run.get_program());
    let output = limited.args(run.get_args()).output().expect("it runs");
    assert!(result(&output) == scene.run(Path::new("off"), &[]));
    assert!(scene.files().is_empty());
}

#[test]
fn a_folder_that_others_may_enter_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    fs::create_dir(scene.states()).expect("made");
    fs::set_permissions(scene.states(), fs::Permissions::from_mode(0o755)).expect("changed");
    let output = scene.command(&scene.states(), &[]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("found mode 755, allowed: a folder of mode 700"), "{text}");
    assert!(scene.files().is_empty());
}

/// A workload whose state is kept among the caches of a user who has none yet.
fn in_caches(scene: &Scene, more: &[&str]) -> Output {
    let mut command = scene.command(Path::new("unused"), &[]);
    let arguments: Vec<_> = command.get_args().map(std::ffi::OsStr::to_owned).collect();
    let kept = arguments.iter().filter(|one| *one != "--quiet" && *one != "unused");
    let kept = kept.filter(|one| *one != "--states");
    command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
    command.args(kept).args(more).env("XDG_CACHE_HOME", scene.0.path().join("caches"));
    command.env_remove("FLASHLANE_STATES").output().expect("it runs")
}

#[test]
fn the_first_run_says_where_states_are() {
    let scene = Scene::new();
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let first = in_caches(&scene, &[]);
    assert!(first.status.success(), "{}", said(&first));
    let place = scene.0.path().join("caches/flashlane/states");
    let words = format!("states of drives are kept in {}", place.display());
    assert!(said(&first).contains(&words), "{}", said(&first));
    assert!(said(&first).contains(" at most; `flashlane states list`"), "{}", said(&first));
    for (more, what) in [(&[][..], "said once"), (&["--seed", "2"], "and for the first one only")] {
        let second = in_caches(&scene, more);
        assert!(!said(&second).contains("states of drives are kept"), "{what}: {}", said(&second));
    }
}

#[test]
fn states_are_listed_pruned_and_cleared() {
    let scene = Scene::new();
    let states = scene.states();
    let verb = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
        let output =
            command.arg("states").args(more).arg("--states").arg(&states).output().expect("runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{stderr}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert!(verb(&["list"]).ends_with(": 0 states, 0B\n"), "there is no folder");
    for seed in ["1", "2", "3"] {
        scene.run(&states, &["--seed", seed]);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    fs::write(states.join("terraform.state"), "mine").expect("room");
    let json = |text: &str| -> serde_json::Value { serde_json::from_str(text).expect("JSON") };
    let listed = json(&verb(&["list", "--format", "json"]));
    let bytes = listed["bytes"].as_u64().expect("a number");
    assert_eq!(listed["states"].as_array().expect("a list").len(), 3);
    assert_eq!(listed["limit_bytes"].as_u64().map(|limit| limit <= 4 << 30), Some(true));
    let text = verb(&["list"]);
    assert_eq!(text.lines().filter(|line| line.contains("s ago")).count(), 3, "{text}");
    let room = format!("{}B", bytes - 1);
    assert!(verb(&["prune", "--limit", &room]).contains(": 1 state removed"));
    assert!(verb(&["prune"]).contains(": 0 states removed"), "the others fit");
    let left = json(&verb(&["list", "--format", "json"]));
    assert_eq!(left["states"][0], listed["states"][1], "the oldest one went");
    assert!(verb(&["clear"]).contains(": 2 states removed"));
    assert_eq!(scene.files(), [states.join("terraform.state")], "it is no state");
}

/// Waits until a process that was sent a signal to stop has stopped. False if it came to its end
/// before.
#[cfg(target_os = "linux")]
fn stops(process: u32) -> bool {
    let begun = std::time::Instant::now();
    loop {
        let text = fs::read_to_string(format!("/proc/{process}/stat")).expect("it is a child");
        if text.contains(") T ") || text.contains(") Z ") {
            return text.contains(") T ");
        }
        assert!(begun.elapsed().as_secs() < 60, "process {process} neither stopped nor ended");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_waits_for_a_stopped_one_says_so() {
    use std::time::{Duration, Instant};
    let scene = Scene::new();
    let states = scene.states();
    let signal = |name: &str, process: u32| {
        let kill = Command::new("kill").args([name, &process.to_string()]).status();
        assert!(kill.expect("it runs").success());
    };
    let quiet = |command: &mut Command| {
        command.stdout(std::process::Stdio::null());
    };
    let count = |wanted: &str| {
        let entries = fs::read_dir(&states).into_iter().flatten().flatten();
        entries.filter(|one| one.path().extension().is_some_and(|end| end == wanted)).count()
    };
    // A process that is stopped while it holds the lock. This drive is large, so that the signal
    // mostly comes in time; on a busy machine it may not, and another drive is tried.
    let stopped = |seed: &str| {
        let large = ["--set", "flash.channels=32", "--seed", seed];
        let (locks, made) = (count("lock"), count("state"));
        let mut first = scene.command(&states, &large);
        quiet(&mut first);
        let mut first = first.spawn().expect("it runs");
        let begun = Instant::now();
        while count("lock") == locks {
            assert!(begun.elapsed() < Duration::from_secs(60), "no lock");
            std::thread::sleep(Duration::from_millis(1));
        }
        signal("-STOP", first.id());
        if stops(first.id()) && count("state") == made && count("lock") > locks {
            return Some((large.map(str::to_owned), first));
        }
        signal("-CONT", first.id());
        assert!(first.wait().expect("it ends").success());
        None
    };
    let (large, mut first) =
        ["1", "2", "3", "4", "5"].into_iter().find_map(stopped).expect("a signal comes in time");
    let heard = scene.0.path().join("stderr");
    let large = large.each_ref().map(String::as_str);
    let mut second = scene.command(&states, &large);
    second.stderr(fs::File::create(&heard).expect("room"));
    quiet(&mut second);
    let mut second = second.spawn().expect("it runs");
    let words = format!("process {}", first.id());
    let said = || {
        let text = fs::read_to_string(&heard).expect("readable");
        text.contains(&words) && text.contains("which is stopped")
    };
    let begun = Instant::now();
    while !said() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let text = fs::read_to_string(&heard).expect("readable");
    signal("-CONT", first.id());
    assert!(first.wait().expect("it ends").success() && second.wait().expect("it ends").success());
    assert!(text.contains(&words) && text.contains("which is stopped"), "{text}");
}
