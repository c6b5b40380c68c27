//! What the flows of random runs submitted, submitted again by a program in C, completes at the
//! same picosecond with the same stages.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use flashlane::config::load::{Overrides, device_from_toml, workload_from_toml};
use flashlane::config::validate::validate;
use flashlane::config::{DeviceConfig, FlowConfig};
use flashlane::drive::{Completion, Drive, Operation, Submissions, Submitted};
use flashlane::observe::{Observe, RequestBatch, RequestRecord};
use flashlane::{Error, RunOptions, simulate};
use toml::{Table, Value};

use crate::generate::{Case, Records, case, recordable};
use crate::prefix::{Link, Program, has_tools, said};

const RUNS: usize = 10;

/// A run: how its drive is made, what it submitted, and the lines that its completions give,
/// without cookies.
struct Run {
    seed: u64,
    device: DeviceConfig,
    flows: Vec<FlowConfig>,
    /// The configurations as texts: the device, and the name and other keys of every tenant.
    texts: (String, Vec<(String, String)>),
    recording: Vec<Submitted>,
    lines: Vec<String>,
}

/// The run of a seed; `None` where the configuration is refused, or the run is too long or empty.
fn run(seed: u64) -> Option<Run> {
    let mut case = recordable(case(seed));
    // What the texts say is what counts: they round some shares.
    let text_of_device = toml::to_string(&case.device).expect("devices have a text");
    let tenants: Vec<_> = case.workload.flows.iter().map(tenant_text).collect();
    case.device = device_of(&text_of_device);
    case.workload.flows = tenants.iter().map(|(_, flow)| flow.clone()).collect();
    if !validate(&case.device, &case.workload).is_empty() {
        return None;
    }
    let records = Arc::new(Mutex::new(Records::default()));
    let submissions = Submissions::default();
    let observe = Observe {
        requests: Some(records.clone()),
        submissions: Some(submissions.clone()),
        ..Observe::default()
    };
    let options = RunOptions { alone: false, windows: None, observe, ..case.options.clone() };
    match simulate(&case.device, &case.workload, &options, &|_| {}) {
        Ok(summary) if summary.requests_completed <= 100_000 => {}
        // The load was over before the window opened.
        Ok(_) | Err(Error::Config(_)) => return None,
        Err(error) => panic!("seed {seed}: {error}"),
    }
    let recording = submissions.lock().expect("the run is over").clone();
    let lines = records.lock().expect("the run is over").0.iter().flat_map(lines).collect();
    let Case { device, workload, options, .. } = case;
    let names = workload.flows.iter().map(|flow| flow.name.clone());
    let keys = names.zip(tenants.into_iter().map(|(keys, _)| keys)).collect();
    let (seed, flows, texts) = (options.seed, workload.flows, (text_of_device, keys));
    Some(Run { seed, device, flows, texts, recording, lines })
}

/// The completions of a batch, as replay.c writes them after the cookie.
fn lines(batch: &RequestBatch) -> Vec<String> {
    let line = |row: usize| {
        let op = batch.op[row].name();
        let numbers = [
            batch.offset_bytes[row],
            batch.bytes[row],
            batch.pages[row].into(),
            batch.arrival_ps[row],
            batch.submit_ps[row],
            batch.complete_ps[row],
            batch.submission_ps[row],
            batch.transfer_in_ps[row],
            batch.firmware_ps[row],
            batch.cache_ps[row],
            batch.mapping_ps[row],
            batch.flash_queue_ps[row],
            batch.flash_bus_ps[row],
            batch.flash_array_ps[row],
            batch.transfer_out_ps[row],
        ];
        let mut line = format!("{},{op}", batch.flow[row]);
        numbers.iter().for_each(|number| write!(line, ",{number}").expect("room in memory"));
        line
    };
    (0..batch.len()).map(line).collect()
}

/// What replay.c has to write: the completions of the same recording in Rust.
fn expected(run: &Run) -> String {
    let mut drive = Drive::new(&run.device, &run.flows, run.seed).expect("a valid drive");
    let mut completions: Vec<Completion> = Vec::new();
    drive.replay(&run.recording, &mut completions).expect("the drive of the recording");
    let mut batch = RequestBatch::default();
    batch.extend(&completions.iter().map(|done| done.record).collect::<Vec<RequestRecord>>());
    let cookies = completions.iter().map(|done| done.cookie);
    cookies.zip(lines(&batch)).map(|(cookie, line)| format!("{cookie},{line}\n")).collect()
}

/// The recording as replay.c reads it.
fn text(run: &Run) -> String {
    let (device, tenants) = &run.texts;
    let mut text = format!("{}\n{}\n{device}\n{}\n", run.seed, device.len(), tenants.len());
    for (name, keys) in tenants {
        text += &format!("{}\n{name}\n{}\n{keys}\n", name.len(), keys.len());
    }
    text += &format!("{}\n", run.recording.len());
    for Submitted { after, at, tenant, command, at_once } in &run.recording {
        let op = match command.operation {
            Operation::Read => 0,
            Operation::Write => 1,
            Operation::Trim => 2,
            _ => 3,
        };
        let (sector, sectors, at_once) = (command.sector, command.sectors, u8::from(*at_once));
        text += &format!("{after} {} {tenant} {op} {sector} {sectors} {at_once}\n", at.0);
    }
    text
}

fn device_of(text: &str) -> DeviceConfig {
    device_from_toml(text, "device", &Overrides::default()).expect("its own text").config
}

/// The keys of a tenant beside its name, and the tenant that they make.
fn tenant_text(flow: &FlowConfig) -> (String, FlowConfig) {
    let mut keys = Table::try_from(flow).expect("flows have a text");
    let whole = format!("flow = [{}]", Value::Table(keys.clone()));
    let read = workload_from_toml(&whole, "flow", &Overrides::default()).expect("its own text");
    let [flow] = <[FlowConfig; 1]>::try_from(read.config.flows).expect("one flow");
    keys.remove("name");
    (keys.to_string(), flow)
}

#[test]
fn recordings_complete_at_the_same_picosecond_in_c() {
    if !has_tools() {
        return;
    }
    let replay =
        Program { source: "tests/c/replay.c", compiler: "cc", link: Link::Shared, sanitized: true };
    let program = replay.command(&[]);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-recordings");
    std::fs::create_dir_all(&folder).expect("a folder for recordings");
    let (input, output) = (folder.join("recording.txt"), folder.join("completions.csv"));
    let (mut runs, mut requests) = (0, 0);
    for (seed, run) in (7_200_000..).filter_map(|seed| run(seed).map(|run| (seed, run))).take(RUNS)
    {
        std::fs::write(&input, text(&run)).expect("the recording can be written");
        let mut command = std::process::Command::new(program.get_program());
        command.envs(program.get_envs().filter_map(|(key, value)| Some((key, value?))));
        said(command.arg(&input).arg(&output));
        let found = std::fs::read_to_string(&output).expect("the program has written it");
        let expected = expected(&run);
        let differs =
            found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        assert!(differs.is_none(), "seed {seed}: found and expected: {differs:?}");
        assert!(found == expected, "seed {seed}: {} lines", found.lines().count());
        // And these are the completions of the run itself.
        let without_cookies = found.lines().filter_map(|line| line.split_once(','));
        assert!(without_cookies.map(|(_, line)| line).eq(run.lines.iter()), "seed {seed}");
        (runs, requests) = (runs + 1, requests + run.lines.len());
    }
    assert!(runs == RUNS && requests > 5_000, "{requests} requests of {runs} runs");
    println!("{requests} requests of {runs} runs");
}
