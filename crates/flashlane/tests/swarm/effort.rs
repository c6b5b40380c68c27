//! The bound on processor time per event. A run that needs far more time per event than other runs
//! has found a place in the simulator whose cost grows without need.
//!
//! Times vary by a factor of two or three on a machine that other programs share. Three measures
//! make the test independent of this. The unit is the time that an event of a fixed small run takes
//! on the same machine. The bound is far above the need of any sound run. A run that exceeds the
//! bound is measured again, twice, by itself.

use std::sync::OnceLock;
use std::time::Duration;

use flashlane::config::load::{self, Overrides, workload_from_toml};
use flashlane::metrics::Summary;
use flashlane::observe::Observe;
use flashlane::{RunOptions, simulate};

use crate::generate::Case;

/// Time of an event that is too much. The most that was found is 160, with blame of deep queues on
/// a drive of many flows, whatever the number of requests (seed 6013630). Unit: the time of an
/// event of the fixed run.
const EVENT_MAX: f64 = 200.0;

/// Time that every run may take beside that of its events, for its drive and its audits. The steady
/// state of the cost-benefit policy alone takes up to 8e6. Unit: the time of an event of the fixed
/// run.
const REST_MAX: f64 = 16e6;

/// How often a run is measured again before it counts as too slow.
const REPEATS: usize = 2;

/// The flow of the fixed run.
const FIXED: &str = r#"
[[flow]]
name = "fixed"
cache = "off"
[flow.synthetic]
queue_depth = 8
read_ratio = 0.5
size = "4KiB"
align = "4KiB"
requests = 10000
"#;

/// Processor time of this thread; the time since the start of the program where the system does not
/// tell it.
#[cfg(target_os = "linux")]
pub(crate) fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Processor time of this thread; the time since the start of the program where the system does not
/// tell it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn processor_time() -> Duration {
    static START: OnceLock<std::time::Instant> = OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// Time of an event of the fixed run: the least of several runs.
fn unit() -> Duration {
    static UNIT: OnceLock<Duration> = OnceLock::new();
    *UNIT.get_or_init(|| {
        let device = load::device("tiny", &Overrides::default()).expect("a preset loads").config;
        let workload = workload_from_toml(FIXED, "fixed", &Overrides::default());
        let workload = workload.expect("the fixed flow is valid").config;
        let options = RunOptions { threads: 1, check: true, ..RunOptions::default() };
        let measure = || {
            let start = processor_time();
            let summary = simulate(&device, &workload, &options, &|_| {}).expect("it finishes");
            (processor_time() - start).div_f64(summary.events as f64)
        };
        (0..5).map(|_| measure()).min().expect("several runs")
    })
}

/// The time that a run of `events` events may take. Unit: the time of an event of the fixed run.
fn allowed(events: u64) -> f64 {
    REST_MAX + EVENT_MAX * events as f64
}

/// Panics where a run took too much time for its events, and takes it again without runs alone,
/// whose events the summary does not count. Gives the times of an event, in units of the fixed run.
pub(crate) fn check(case: &Case, summary: &Summary, took: Duration) {
    let units = |took: Duration| took.as_secs_f64() / unit().as_secs_f64().max(1e-12);
    let allowed = allowed(summary.events);
    if units(took) <= allowed {
        return;
    }
    let observe = Observe { requests: None, ..case.options.observe.clone() };
    let options = RunOptions { alone: false, windows: None, observe, ..case.options.clone() };
    let again = (0..REPEATS).map(|_| {
        let start = processor_time();
        simulate(&case.device, &case.workload, &options, &|_| {}).expect("it finished before");
        processor_time() - start
    });
    let least = again.min().expect("repeated");
    assert!(
        units(least) <= allowed,
        "the run takes too much processor time: {least:?} for {} events, {:.0} times that of a fixed run with as \
         many events; allowed: {:.0} times",
        summary.events,
        units(least) / summary.events as f64,
        allowed / summary.events as f64
    );
}

/// Memory that the program has now; 0 where the system does not tell it. Unit: bytes.
pub(crate) fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}
