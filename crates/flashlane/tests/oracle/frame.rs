//! The reference results as jobs: every distinct pair of input files once, with the cases that it
//! answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use flashlane::config::mqsim_xml::{load_device, load_scenarios};
use flashlane::config::{CompatConfig, DeviceConfig, MqsimFlowConfig, WorkloadConfig};
use flashlane::metrics::Summary;
use flashlane::metrics::summary::Latency;
use flashlane::{RunOptions, simulate};
use serde_json::Value;

/// How close the cases of a group have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closeness {
    /// Mean within 0.5 %, p50 and p99 within 1 %, if the case has an ideal mapping table, NVMe, no
    /// preconditioning and no trace; else as `Loose`. Percentiles are not compared where the means
    /// are equal to five digits: the runs are then the same event for event, and a percentile that
    /// lies on a step of the distribution depends on its definition.
    Strict,
    /// Mean within 5 %.
    Loose,
}

/// One flow of the reference run.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) requests: u64,
    /// Mean device response time. Unit: microseconds.
    pub(crate) mean: f64,
    /// What cutting to whole microseconds may have taken off the mean: 0 or 1.
    pub(crate) cut: f64,
    /// Median and 99th percentile of reads and of writes.
    pub(crate) reads: Option<[f64; 2]>,
    pub(crate) writes: Option<[f64; 2]>,
}

/// One case of a group.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Group and name.
    pub(crate) name: String,
    pub(crate) strict: bool,
    /// All flows only read, and the mapping table is ideal: equal to five digits.
    pub(crate) equal: bool,
    pub(crate) flows: Vec<Reference>,
    /// MQSim lost requests on the way (defects D2 and D11): its queue got shorter, so that times mean
    /// nothing. Programs are compared, for as many requests as it served.
    pub(crate) lossy: bool,
    /// Pages read and programmed for the host, collection and translation, and erases.
    pub(crate) pages: Option<[u64; 7]>,
}

/// A pair of input files and the cases that it answers.
pub(crate) struct Job {
    pub(crate) inputs: PathBuf,
    pub(crate) cases: Vec<Case>,
}

/// The folder with the reference results, where it is present.
pub(crate) fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracle");
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: the reference results are not present at ../shared/oracle");
    None
}

/// All jobs of the groups, and how many cases the reference itself did not finish. `ORACLE_CASE=text`
/// picks cases by name.
pub(crate) fn jobs(root: &Path, groups: &[(&str, Closeness)]) -> (Vec<Job>, usize) {
    let only = std::env::var("ORACLE_CASE").unwrap_or_default();
    let mut jobs: BTreeMap<Vec<u8>, Job> = BTreeMap::new();
    let mut unusable = 0;
    for &(group, closeness) in groups {
        let text = std::fs::read_to_string(root.join(format!("{group}.json"))).expect("readable");
        let data: Value = serde_json::from_str(&text).expect("valid JSON");
        for value in data["cases"].as_array().expect("a list of cases") {
            let name = format!("{group}/{}", value["case"].as_str().expect("a name"));
            if !name.contains(&only) {
                continue;
            }
            let served = value["out"]["flows"][0]["serviced"].as_u64();
            if value["status"] != "ok" || served == Some(0) {
                unusable += 1;
                continue;
            }
            let inputs = root.join(value["inputs"].as_str().expect("inputs are named"));
            let read = |file: &str| std::fs::read(inputs.join(file)).expect("inputs are readable");
            let key = [read("ssdconfig.xml"), read("workload.xml")].concat();
            let job = jobs.entry(key).or_insert(Job { inputs, cases: Vec::new() });
            job.cases.push(case(name, value, closeness));
        }
    }
    let mut jobs: Vec<Job> = jobs.into_values().collect();
    jobs.sort_by(|a, b| a.cases[0].name.cmp(&b.cases[0].name));
    (jobs, unusable)
}

fn case(name: String, value: &Value, closeness: Closeness) -> Case {
    let device = &value["device_non_default"];
    let flows = value["flows_full"].as_array().expect("flows");
    let ideal = device["Ideal_Mapping_Table"] == "true";
    let plain = ideal
        && device["Enabled_Preconditioning"] != "true"
        && device["HostInterface_Type"].is_null()
        && flows.iter().all(|flow| flow["File_Path"].is_null());
    let transactions = &value["out"]["flash_transactions"];
    let pages = [
        "user_read_pages",
        "user_program_pages",
        "gc_read_pages",
        "gc_program_pages",
        "mapping_read_pages",
        "mapping_program_pages",
        "erases",
    ]
    .map(|key| transactions[key].as_u64());
    Case {
        name,
        strict: closeness == Closeness::Strict && plain,
        lossy: lost_requests(value),
        equal: plain && flows.iter().all(|flow| flow["Read_Percentage"] == "100"),
        flows: value["out"]["flows"].as_array().expect("flows").iter().map(reference).collect(),
        pages: pages.iter().all(Option::is_some).then(|| pages.map(Option::unwrap_or_default)),
    }
}

/// Requests that met the barrier of collection, or that waited for a free block to the end.
fn lost_requests(value: &Value) -> bool {
    let count = |key: &str| value["internal"][key].as_u64().unwrap_or(0);
    count("user_or_any_reads_released_at_gc_barrier") + count("writes_released_at_gc_barrier") > 0
        || count("writes_parked_overfull_plane") > count("writes_unparked")
}

fn reference(flow: &Value) -> Reference {
    let percentiles = |key: &str| {
        Some([flow[key]["p50"].as_f64()?, flow[key]["p99"].as_f64()?]).filter(|p| p[0] > 0.0)
    };
    let exact = flow["device_response_mean_us_exact"].as_f64();
    let requests = flow["serviced"].as_u64().or(flow["requests"].as_u64()).expect("a count");
    Reference {
        requests,
        mean: exact.or(flow["device_response_us"]["mean"].as_f64()).expect("a mean"),
        cut: if exact.is_some() { 0.0 } else { 1.0 },
        reads: percentiles("read_device_response_us"),
        writes: percentiles("write_device_response_us"),
    }
}

/// The configurations of a job, with the given switches.
pub(crate) fn load(inputs: &Path, compat: CompatConfig) -> (DeviceConfig, WorkloadConfig) {
    let (mut device, _) = load_device(&inputs.join("ssdconfig.xml")).expect("device loads");
    let (mut scenarios, _) = load_scenarios(&inputs.join("workload.xml")).expect("workload loads");
    assert_eq!(scenarios.len(), 1, "one scenario a case");
    let mut workload = scenarios.remove(0);
    let root = inputs.ancestors().nth(3).expect("inputs are three folders down");
    for flow in &mut workload.flows {
        if let Some(MqsimFlowConfig::Trace(trace)) = &mut flow.mqsim {
            trace.path = root.join(&trace.path);
        }
    }
    device.compat = compat;
    (device, workload)
}

/// Runs a pair of configurations.
pub(crate) fn run_pair(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
) -> Result<Summary, String> {
    simulate(device, workload, &RunOptions::default(), &|_| {}).map_err(|error| error.to_string())
}

/// Runs a job with the given switches.
pub(crate) fn run(inputs: &Path, compat: CompatConfig) -> Result<Summary, String> {
    let (device, workload) = load(inputs, compat);
    run_pair(&device, &workload)
}

/// Runs every job on two threads; results in the order of the jobs.
pub(crate) fn run_all<J: Sync, R: Send>(jobs: &[J], run: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(at) else { return };
                    let result = run(job);
                    results.lock().expect("no worker panics").insert(at, result);
                }
            });
        }
    });
    results.into_inner().expect("no worker panics").into_values().collect()
}

/// Pages and erases of a run in the order of [`Case::pages`].
pub(crate) fn pages(summary: &Summary) -> [u64; 7] {
    let f = &summary.flash;
    [
        f.user_reads,
        f.user_programs,
        f.gc_reads,
        f.gc_programs,
        f.mapping_reads,
        f.mapping_programs,
        f.erases,
    ]
}

/// What is wrong with a run, judged by a case; empty if nothing is.
pub(crate) fn faults(case: &Case, summary: &Summary) -> Vec<String> {
    if case.lossy {
        return amplification_fault(case, summary).into_iter().collect();
    }
    let mut faults = Vec::new();
    let mut percent = |what: String, theirs: f64, ours: f64, cut: f64, allowed: f64| {
        let error = if ours > theirs { ours - theirs - cut } else { theirs - ours };
        if error > allowed / 100.0 * theirs {
            faults.push(format!("{what} {ours:.3}, MQSim {theirs:.3}"));
        }
    };
    for (index, (theirs, flow)) in case.flows.iter().zip(&summary.flows).enumerate() {
        let ours = &flow.response_time_us;
        let allowed = match (case.equal, case.strict) {
            (true, _) => 0.001,
            (_, true) => 0.5,
            _ => 5.0,
        };
        percent(format!("flow {index} mean"), theirs.mean, ours.mean, theirs.cut, allowed);
        let same = (ours.mean / theirs.mean - 1.0).abs() < 1e-5;
        if !case.strict || same {
            continue;
        }
        let parts: [(&str, &Option<[f64; 2]>, &Latency); 2] = [
            ("reads", &theirs.reads, &flow.read_response_time_us),
            ("writes", &theirs.writes, &flow.write_response_time_us),
        ];
        for (what, theirs, ours) in parts {
            let Some([p50, p99]) = theirs else { continue };
            percent(format!("flow {index} p50 of {what}"), *p50, ours.p50, 0.0, 1.0);
            percent(format!("flow {index} p99 of {what}"), *p99, ours.p99, 0.0, 1.0);
        }
    }
    for (index, (theirs, flow)) in case.flows.iter().zip(&summary.flows).enumerate() {
        let ours = flow.requests.read + flow.requests.write;
        // A closed loop that stops by the clock ends where its mean lets it end.
        let allowed = match (case.equal, case.strict) {
            (true, _) => 0.0,
            (_, true) => 0.005,
            _ => 0.05,
        } * theirs.requests as f64;
        if ours.abs_diff(theirs.requests) as f64 > allowed {
            faults.push(format!("flow {index} {ours} requests, MQSim {}", theirs.requests));
        }
    }
    if let Some(theirs) = case.pages
        && case.equal
        && theirs != pages(summary)
    {
        faults.push(format!("pages {:?}, MQSim {theirs:?}", pages(summary)));
    }
    faults
}

/// All programs over those of the host.
pub(crate) fn amplification(pages: &[u64; 7]) -> f64 {
    let [_, user, _, moved, _, mapping, _] = pages.map(|count| count as f64);
    (user + moved + mapping) / user
}

fn amplification_fault(case: &Case, summary: &Summary) -> Option<String> {
    let (theirs, ours) = (amplification(&case.pages?), amplification(&pages(summary)));
    ((ours / theirs - 1.0).abs() > 0.05)
        .then(|| format!("write amplification {ours:.4}, MQSim {theirs:.4}"))
}

/// Runs a job; where MQSim lost requests, with only as many as it served.
pub(crate) fn run_job(job: &Job, compat: CompatConfig) -> Result<Summary, String> {
    let (device, mut workload) = load(&job.inputs, compat);
    let case = &job.cases[0];
    if case.lossy {
        for (flow, reference) in workload.flows.iter_mut().zip(&case.flows) {
            if let Some(MqsimFlowConfig::Synthetic(flow)) = &mut flow.mqsim {
                flow.requests = reference.requests;
            }
        }
    }
    run_pair(&device, &workload)
}
