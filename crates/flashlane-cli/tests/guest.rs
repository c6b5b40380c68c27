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

const MIB: f64 = 1024.0 * 1024.0;

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

fn serve(more: &str) -> String {
    format!("--nvme-tcp 127.0.0.1:0 {more}")
}

fn port(server: &Served) -> &str {
    server.address(0).rsplit_once(':').expect("a port").1
}

/// A number; nvme prints long ones as text.
fn number(value: &Value) -> f64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    text.or_else(|| value.as_f64()).unwrap_or_else(|| panic!("no number: {value}"))
}

/// Bytes written to the flash, of the log page of the Open Compute Project.
fn physical_bytes(log: &Value) -> f64 {
    let written = &log["Physical media units written"];
    assert_eq!(number(&written["hi"]), 0.0, "less than 2^64 bytes");
    number(&written["lo"])
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
        let fine = ["avail_spare", "power_cycles"].map(|key| number(&smart[key]));
        assert_eq!(fine, [100.0, 1.0], "{smart}");
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
    let server = Served::start(folder.path(), 1, &serve("--time virtual --record rec"));
    let parameters = format!("files={} mib=4", port(&server));
    let console = Console::of(machine.path(), &parameters, Duration::from_secs(110));
    let [summary, _] = server.end("-INT").results();
    check_files(&console, 4.0 * MIB);
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

/// Waits of a tenant for another one, over all of its waits. Unit: seconds.
fn blamed(folder: &Path, victim: &str, culprit: &str) -> [f64; 2] {
    let file = std::fs::read_to_string(folder.join("blame.json")).expect("a file");
    let matrix: Value = file.parse().expect("JSON");
    let rows = matrix["victims"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["flow"] == victim).expect("a row");
    let cells = row["cells"].as_array().expect("a list").iter();
    let of_culprit = cells.filter(|cell| cell["culprit"] == culprit);
    let waits = of_culprit.map(|cell| number(&cell["waiting_s"])).sum();
    [waits, number(&row["waiting_s"])]
}

/// The first queue reads, and the second one is silent or floods the drive with writes.
fn check_blame(folder: &Path, summaries: [&Value; 2]) {
    for (summary, writes) in summaries.into_iter().zip([false, true]) {
        let [first, second] = [0, 1].map(|flow: usize| &summary["flows"][flow]["requests"]);
        assert!(number(&first["read"]) >= 500.0 && first["write"] == 0, "{first}");
        assert_eq!(number(&second["write"]) > 500.0, writes, "{second}");
    }
    let of = |name: &str| blamed(&folder.join(name), "tenant-1", "tenant-2");
    let ([little, _], [flood, all]) = (of("alone"), of("flood"));
    assert!(flood > 0.9 * all, "{flood} s of {all} s");
    // Linux looks for partitions through whichever queue it likes.
    assert!(little < flood / 1000.0, "{little} s of a silent queue, {flood} s of a flood");
    let [quiet, busy] = summaries.map(|it| number(&it["flows"][0]["response_time_us"]["mean"]));
    assert!(busy > 2.0 * quiet, "{busy} us beside a flood, {quiet} us without");
}

/// The amplification of the logs is that of the summary.
fn check_amplification(console: &Console, summary: &Value) {
    let [smart, log] = ["written smart", "written ocp"].map(|name| console.json(name));
    let host_bytes = number(&smart["data_units_written"]) * 512_000.0;
    let blocks = number(&summary["flows"][0]["bytes"]["write"])
        + number(&summary["flows"][1]["bytes"]["write"]);
    assert_eq!(host_bytes, blocks, "a whole number of the log's units");
    let of_logs = physical_bytes(&log) / host_bytes;
    let of_summary = number(&summary["flash"]["write_amplification"]);
    assert!(of_summary > 1.5, "collection moves pages: {of_summary}");
    assert!((of_logs / of_summary - 1.0).abs() < 1e-3, "{of_logs} and {of_summary}");
}

#[test]
#[ignore = "takes minutes; `make long` runs it"]
fn a_stock_kernel_meets_its_noisy_neighbour() {
    let Some(machine) = prepared() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let start = |arguments: &str| Served::start(folder.path(), 1, &serve(arguments));
    let files = start("--time real --set flash.blocks_per_plane=512");
    let alone = start("--time virtual --blame --out alone");
    let flood = start("--time virtual --blame --out flood");
    let written = start("--time real");
    let mut parameters = format!("mib=64 files={} alone={} ", port(&files), port(&alone));
    parameters += &format!("flood={} written={}", port(&flood), port(&written));
    let console = Console::of(machine.path(), &parameters, Duration::from_secs(540));
    let [_, alone, flood, written] = [files, alone, flood, written].map(|server| {
        let [summary, _] = server.end("-INT").results();
        summary
    });
    check_files(&console, 64.0 * MIB);
    check_blame(folder.path(), [&alone, &flood]);
    check_amplification(&console, &written);
}
