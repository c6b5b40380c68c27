//! A case of the released MQSim, and what is wrong with a run of ours when it is judged by that
//! case.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use flashlane::config::{DeviceConfig, FlowConfig, InterfaceKind, MqsimFlowConfig, WorkloadConfig};
use flashlane::metrics::Summary;
use flashlane::metrics::summary::Latency;
use flashlane::{RunOptions, simulate};

use Closeness::{Loose, Strict};

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

/// The groups that are compared, and how close they have to be. A new group is one line.
pub(crate) const GROUPS: &[(&str, Closeness)] = &[
    ("g1_backend", Strict),
    ("g1_datacache", Strict),
    ("g1_qfs16", Strict),
    ("g1_qfs1024", Strict),
    ("g2_latency_floor", Strict),
    ("g3_qd_sweep", Strict),
    ("g4_plane_alloc", Strict),
    ("g5_cmt", Strict),
    ("g6_traces", Loose),
    ("g7_gc", Loose),
    ("g8_suspend", Strict),
    ("g9_precondition_scaling", Loose),
    ("g10_default", Loose),
    ("g11_determinism", Loose),
    ("g12_quiet_timing", Strict),
];

/// One flow of the reference run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    /// Requests that the release served.
    pub(crate) requests: u64,
    /// Mean device response time. Unit: microseconds.
    pub(crate) mean: f64,
    /// The mean that the release reported, where `mean` is that of the release with a variable set
    /// that it never sets.
    pub(crate) stock: Option<f64>,
    /// What cutting to whole microseconds may have taken off the mean: 0 or 1.
    pub(crate) cut: f64,
    /// Median and 99th percentile of reads and of writes.
    pub(crate) reads: Option<[f64; 2]>,
    pub(crate) writes: Option<[f64; 2]>,
}

/// The figures of a case: what the released MQSim reported.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figures {
    /// Flow by flow.
    pub(crate) flows: Vec<Reference>,
    /// MQSim lost requests on the way (defects D2 and D11): its queue got shorter, so that its
    /// times mean nothing. Only programs are compared, for as many requests as it served.
    pub(crate) lossy: bool,
    /// Pages read and programmed for the host, collection and translation, and erases.
    pub(crate) pages: Option<[u64; 7]>,
}

/// One case of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    /// Group and name.
    pub(crate) name: String,
    /// Judged as [`Closeness::Strict`] says.
    pub(crate) strict: bool,
    /// All flows only read, and the mapping table is ideal: equal to five digits.
    pub(crate) equal: bool,
    /// What a run is compared with.
    pub(crate) figures: Figures,
}

impl Case {
    /// The inputs and the closeness of the group decide how close a run has to be.
    pub(crate) fn new(
        name: String,
        closeness: Closeness,
        device: &DeviceConfig,
        workload: &WorkloadConfig,
        figures: Figures,
    ) -> Self {
        let synthetic = |flow: &FlowConfig| match &flow.mqsim {
            Some(MqsimFlowConfig::Synthetic(flow)) => Some(flow.read_percent),
            _ => None,
        };
        let reads: Vec<Option<u32>> = workload.flows.iter().map(synthetic).collect();
        let plain = device.ftl.mapping.ideal
            && !device.ftl.precondition.enabled
            && device.interface.kind == InterfaceKind::Nvme
            && reads.iter().all(Option::is_some);
        let strict = closeness == Closeness::Strict && plain;
        let equal = plain && reads.iter().all(|percent| *percent == Some(100));
        Self { name, strict, equal, figures }
    }
}

/// As many requests as the release served, where it lost some.
pub(crate) fn only_served(case: &Case, workload: &mut WorkloadConfig) {
    if !case.figures.lossy {
        return;
    }
    for (flow, reference) in workload.flows.iter_mut().zip(&case.figures.flows) {
        if let Some(MqsimFlowConfig::Synthetic(flow)) = &mut flow.mqsim {
            flow.requests = reference.requests;
        }
    }
}

/// Runs a pair of configurations.
pub(crate) fn run_pair(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
) -> Result<Summary, String> {
    simulate(device, workload, &RunOptions::default(), &|_| {}).map_err(|error| error.to_string())
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

/// Pages and erases of a run in the order of [`Figures::pages`].
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

/// The differences between a run and its case; empty if there are none.
pub(crate) fn faults(case: &Case, summary: &Summary) -> Vec<String> {
    if case.figures.lossy {
        return amplification_fault(case, summary).into_iter().collect();
    }
    let mut faults = Vec::new();
    let mut percent = |what: String, theirs: f64, ours: f64, cut: f64, allowed: f64| {
        let error = if ours > theirs { ours - theirs - cut } else { theirs - ours };
        if error > allowed / 100.0 * theirs {
            faults.push(format!("{what} {ours:.3}, MQSim {theirs:.3}"));
        }
    };
    for (index, (theirs, flow)) in case.figures.flows.iter().zip(&summary.flows).enumerate() {
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
    for (index, (theirs, flow)) in case.figures.flows.iter().zip(&summary.flows).enumerate() {
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
    if let Some(theirs) = case.figures.pages
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
    let (theirs, ours) = (amplification(&case.figures.pages?), amplification(&pages(summary)));
    ((ours / theirs - 1.0).abs() > 0.05)
        .then(|| format!("write amplification {ours:.4}, MQSim {theirs:.4}"))
}
