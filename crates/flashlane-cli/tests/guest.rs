//! A stock kernel of Debian as the host of the drive: QEMU emulates the machine without help of the
//! processor, and the drive is behind NVMe/TCP. `guest/init.sh` has the steps.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::served::Served;
use crate::common::{repository, succeeds, text};

const SERVE: &str = "--nvme-tcp 127.0.0.1:0 --time virtual --overwrite";

/// Makes a folder with the kernel and the initial file system. Where they cannot be had: nothing,
/// and the running test says that it is skipped.
fn prepared() -> Option<TempDir> {
    let folder = tempfile::tempdir().expect("a folder");
    let init = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest/init.sh");
    let script = repository().join("scripts/guest.sh");
    let output = Command::new(script).arg(folder.path()).arg(init).output().expect("bash");
    match output.status.code() {
        Some(0) => Some(folder),
        Some(3) => {
            flashlane_testing::skip(text(&output.stdout).trim());
            None
        }
        code => panic!("scripts/guest.sh ends with {code:?}: {}", text(&output.stderr)),
    }
}

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the machine has written to its serial console.
struct Console(String);

impl Console {
    /// Starts the machine, and waits for its end, for `limit` at most.
    fn of(folder: &Path, parameters: &str, limit: Duration) -> Self {
        let (mut machine, begun) = (start(folder, parameters), Instant::now());
        let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
        let (mut pipe, kept) = (machine.0.stdout.take().expect("a pipe"), seen.clone());
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut bytes) {
                kept.lock().expect("no panic").extend(&bytes[..count]);
            }
        });
        let so_far = || {
            let bytes = seen.lock().expect("no panic");
            Self(String::from_utf8_lossy(&bytes).replace('\r', ""))
        };
        while machine.0.try_wait().expect("a process").is_none() {
            let waited = begun.elapsed();
            assert!(waited < limit, "no end after {waited:?}: {}", so_far().end());
            std::thread::sleep(Duration::from_millis(50));
        }
        reader.join().expect("no panic");
        let console = so_far();
        console.step("uptime");
        console
    }

    /// The last lines.
    fn end(&self) -> String {
        let lines: Vec<&str> = self.0.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }

    /// What a step has printed; of steps with the same name, the first one.
    fn step(&self, name: &str) -> &str {
        let after = self.0.split_once(&format!("\n@ {name}\n")).map(|it| it.1);
        let ended = after.and_then(|it| it.split_once(&format!("\n@ {name} ended ")));
        let (output, rest) = ended.unwrap_or_else(|| panic!("no step {name}: {}", self.end()));
        assert!(rest.starts_with("0\n"), "{name} fails: {}", self.end());
        output
    }

    /// The JSON that a step has printed.
    fn json(&self, name: &str) -> Value {
        let output = self.step(name);
        let object = output.find('{').map_or("", |at| &output[at..]);
        let mut values = serde_json::Deserializer::from_str(object).into_iter();
        let value = values.next().unwrap_or_else(|| panic!("{name} prints no JSON: {output}"));
        value.unwrap_or_else(|error| panic!("{name}: {error}: {output}"))
    }
}

/// Starts a machine without a disk. Its network reaches this machine as 10.0.2.2.
fn start(folder: &Path, parameters: &str) -> Process {
    // The emulator ends even where the test is killed.
    let child = Command::new("setpriv")
        .current_dir(folder)
        .args(["--pdeathsig", "KILL", "qemu-system-x86_64", "-no-user-config", "-nodefaults"])
        .args(["-machine", "q35", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "768"])
        .args(["-display", "none", "-serial", "stdio", "-no-reboot"])
        .args(["-kernel", "kernel", "-initrd", "initrd", "-netdev", "user,id=net"])
        .args(["-device", "virtio-net-pci,netdev=net,romfile=", "-append"])
        .arg(format!("console=ttyS0 quiet loglevel=1 panic=-1 {parameters}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the emulator starts");
    Process(child)
}

fn port(server: &Served) -> &str {
    server.address(0).rsplit_once(':').expect("a port").1
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// Bytes written to the flash, of the log page of the Open Compute Project.
fn physical_bytes(log: &Value) -> f64 {
    let written = &log["Physical media units written"];
    number(&written["hi"]) * 2_f64.powi(64) + number(&written["lo"])
}

/// The file system kept what was written; nothing has failed; the logs make sense.
fn check_files(console: &Console, file_bytes: f64) {
    let name = "nqn.2026-11.dev.flashlane:tiny";
    assert!(console.step("discover").lines().any(|line| line.ends_with(name)));
    for connect in ["connect", "reconnect"] {
        let told = console.step(connect);
        assert!(told.lines().any(|line| line == "queues 3"), "admin and two for I/O: {told}");
    }
    let sum = |step| console.step(step).lines().last().map(str::to_owned);
    assert_eq!(sum("write"), sum("verify"), "the data is there after a new connection");
    let about = console.json("id-ctrl");
    assert_eq!(about["mn"].as_str().map(str::trim), Some("Flashlane tiny"));
    assert_eq!((&about["subnqn"], &about["nn"]), (&name.into(), &1.into()));
    let disk = console.json("id-ns");
    let capacity = number(&disk["nsze"]) * 4096.0;
    assert_eq!(capacity, number(&about["tnvmcap"]));
    let [before, after] = ["before smart", "after smart"].map(|name| console.json(name));
    for smart in [&before, &after] {
        let errors = ["critical_warning", "media_errors", "num_err_log_entries", "percent_used"];
        assert_eq!(errors.map(|key| number(&smart[key])), [0.0; 4], "{smart}");
        assert_eq!((&smart["avail_spare"], &smart["power_cycles"]), (&100.into(), &1.into()));
    }
    assert_eq!(number(&before["host_write_commands"]), 0.0);
    assert!(number(&before["host_read_commands"]) > 0.0, "partitions were looked for");
    assert!(number(&after["data_units_written"]) * 512_000.0 > file_bytes, "{after}");
    assert!(number(&after["data_units_read"]) * 512_000.0 > 2.0 * file_bytes, "{after}");
    let [fresh, used] = ["before ocp", "after ocp"].map(|name| console.json(name));
    assert_eq!(physical_bytes(&fresh), 0.0);
    assert!(physical_bytes(&used) >= file_bytes, "{used}");
    let trouble = ["error", "fail", "timeout", "invalid", "warn"];
    for line in console.step("log").lines().map(str::to_lowercase) {
        let about_it = line.contains("nvme") || line.contains("ext4");
        assert!(!(about_it && trouble.iter().any(|it| line.contains(it))), "{line}");
    }
}

#[test]
fn a_stock_kernel_keeps_files_on_the_drive() {
    let Some(machine) = prepared() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let server = Served::start(folder.path(), 1, &format!("{SERVE} --record rec"));
    let parameters = format!("steps=part files={}", port(&server));
    let console = Console::of(machine.path(), &parameters, Duration::from_secs(110));
    let [summary, _] = server.end("-INT").results();
    check_files(&console, 4.0 * 1024.0 * 1024.0);
    for flow in [0, 1] {
        let requests = &summary["flows"][flow]["requests"];
        assert!(number(&requests["write"]) > 0.0, "both queues are used: {requests}");
    }
    let trims = [0, 1].map(|flow| number(&summary["flows"][flow]["requests"]["trim"]));
    assert!(trims.iter().sum::<f64>() > 0.0, "the namespace is discarded: {trims:?}");
    let replay = "run --device rec/device.toml --workload rec/workload.toml \
                  --arrivals rec/arrivals.parquet";
    let (told, _) = succeeds(folder.path(), &replay.split_whitespace().collect::<Vec<_>>());
    let all = &summary["requests_completed"];
    let expected = format!("{all} of {all} commands completed at the recorded picosecond");
    assert!(told.contains(&expected), "{told}");
}
