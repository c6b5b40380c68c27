//! `--format fio-json`: results as fio 3 prints them with `--output-format=json`, a job for each
//! flow.
//!
//! A job's latencies are response times (submission queue to completion); fio's `slat` is 0, and
//! `lat` is `clat`. Figures without a meaning here (processor time, page faults) are 0. The time of
//! day is 0, so that equal runs give equal bytes.

use flashlane::Details;
use flashlane::config::{AddressConfig, FlowConfig, WorkloadConfig};
use flashlane::metrics::summary::Latency;
use flashlane::metrics::{FlowSummary, Summary};
use flashlane::observe::{FlowPoint, TimeSeries};
use serde_json::{Map, Value, json};

/// The version of fio whose keys are used.
const FIO: &str = "fio-3.33";

/// Percentiles that fio prints.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Bounds of fio's histograms, in each of its three units.
const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// The object for a scenario.
#[must_use]
pub fn json(summary: &Summary, details: &Details, workload: &WorkloadConfig) -> Value {
    let jobs = workload.flows.iter().enumerate().map(|(index, config)| {
        let flow = &summary.flows[index];
        job(&Job { summary, details, config, flow, index })
    });
    json!({
        "fio version": FIO,
        "timestamp": 0,
        "timestamp_ms": 0,
        "time": "Thu Jan  1 00:00:00 1970",
        "global options": {
            "ioengine": "flashlane",
            "filename": summary.device,
            "flashlane_version": summary.version,
            "scheduler": summary.scheduler,
            "isolation": summary.isolation,
            "seed": summary.seed.to_string(),
        },
        "jobs": jobs.collect::<Vec<_>>(),
    })
}

/// A flow with its data.
struct Job<'a> {
    summary: &'a Summary,
    details: &'a Details,
    config: &'a FlowConfig,
    flow: &'a FlowSummary,
    index: usize,
}

/// Latencies, each with the share of requests at or below it.
type Distribution = [(f64, f64)];

fn job(job: &Job<'_>) -> Value {
    let Job { summary, details, flow, index, .. } = *job;
    let window_s = summary.window_end_s - summary.window_start_s;
    let runtime = (window_s * 1e3).round() as u64;
    let of = |list: &'static str| -> &Distribution {
        let list = match list {
            "read" => &details.read_distributions,
            "write" => &details.write_distributions,
            "trim" => &details.trim_distributions,
            "flush" => &details.flush_distributions,
            _ => &details.distributions,
        };
        list.get(index).map_or(&[], Vec::as_slice)
    };
    let samples = |read: bool| Samples::of(details.time_series.as_ref(), index, read);
    let side = |count: u64, bytes: u64, latency: &Latency, list, samples| {
        side(&Side { count, bytes, latency, distribution: of(list), samples, window_s, runtime })
    };
    let (reads, writes) = (&flow.read_response_time_us, &flow.write_response_time_us);
    let (trims, flushes) = (&flow.trim_response_time_us, &flow.flush_response_time_us);
    // Readers divide operations and bytes by the runtime.
    let (requests, bytes) = (&flow.completed_in_window.requests, &flow.completed_in_window.bytes);
    let all = of("all");
    let [ns, us, ms] = histograms(all);
    let depth = job.config.synthetic.as_ref().and_then(|synthetic| synthetic.queue_depth);
    json!({
        "jobname": flow.name,
        "groupid": 0,
        "error": 0,
        "eta": 0,
        "elapsed": window_s.ceil() as u64,
        "job options": options(job),
        "read": side(requests.read, bytes.read, reads, "read", samples(true)),
        "write": side(requests.write, bytes.write, writes, "write", samples(false)),
        "trim": side(requests.trim, 0, trims, "trim", Samples::default()),
        "sync": { "total_ios": requests.flush, "lat_ns": distribution(flushes, of("flush")) },
        "job_runtime": runtime,
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": levels(depth, &["1", "2", "4", "8", "16", "32", ">=64"], 1),
        "iodepth_submit": levels(Some(1), &["0", "4", "8", "16", "32", "64", ">=64"], 4),
        "iodepth_complete": levels(Some(1), &["0", "4", "8", "16", "32", "64", ">=64"], 4),
        "latency_ns": ns,
        "latency_us": us,
        "latency_ms": ms,
        "latency_depth": depth.unwrap_or(1),
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    })
}

/// Options of the job file that readers use.
fn options(job: &Job<'_>) -> Value {
    let requests = &job.flow.requests;
    let mut options = Map::new();
    let mut set = |key: &str, value: String| options.insert(key.to_owned(), value.into());
    let address = job.config.synthetic.as_ref().map(|synthetic| &synthetic.address);
    let order = if address == Some(&AddressConfig::Streaming) { "" } else { "rand" };
    let kind = match (requests.read, requests.write) {
        (_, 0) => "read",
        (0, _) => "write",
        _ => "rw",
    };
    set("rw", format!("{order}{kind}"));
    let (count, bytes) =
        (requests.read + requests.write, job.flow.bytes.read + job.flow.bytes.write);
    if let Some(size) = bytes.checked_div(count) {
        set("bs", size.to_string());
        if kind == "rw" {
            let share = 100.0 * requests.read as f64 / count as f64;
            set("rwmixread", format!("{share:.0}"));
        }
    }
    if let Some(depth) = job.config.synthetic.as_ref().and_then(|s| s.queue_depth) {
        set("iodepth", depth.to_string());
    }
    set("numjobs", "1".to_owned());
    Value::Object(options)
}

/// Rates in the windows inside the measurement.
#[derive(Default)]
struct Samples {
    /// Bandwidth. Unit: bytes per second.
    bandwidth: Vec<f64>,
    /// Rate of requests. Unit: requests per second.
    iops: Vec<f64>,
}

impl Samples {
    fn of(series: Option<&TimeSeries>, flow: usize, read: bool) -> Self {
        let Some(series) = series else { return Self::default() };
        let points = || series.windows.iter().map(|window| &window.flows[flow]);
        let pick = |value: fn(&FlowPoint) -> (f64, f64)| {
            let side = |point| if read { value(point).0 } else { value(point).1 };
            points().map(side).collect()
        };
        let iops: Vec<f64> = pick(|point| (point.read_iops, point.write_iops));
        if iops.iter().all(|&rate| rate == 0.0) {
            return Self::default();
        }
        Self { bandwidth: pick(|p| (p.read_bytes_per_s, p.write_bytes_per_s)), iops }
    }
}

/// Reads or writes of a job.
struct Side<'a> {
    count: u64,
    bytes: u64,
    latency: &'a Latency,
    distribution: &'a Distribution,
    samples: Samples,
    window_s: f64,
    /// Runtime. Unit: milliseconds.
    runtime: u64,
}

fn side(side: &Side<'_>) -> Value {
    let Side { count, bytes, latency, window_s, .. } = *side;
    let rate = |amount: u64| if window_s > 0.0 { amount as f64 / window_s } else { 0.0 };
    let spread = |values: &[f64]| {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
        let (min, max) = values
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(min, max), &value| (min.min(value), max.max(value)));
        (if values.is_empty() { 0.0 } else { min }, max, mean, variance.sqrt())
    };
    let kib: Vec<f64> = side.samples.bandwidth.iter().map(|rate| rate / 1024.0).collect();
    let (bw, iops) = (spread(&kib), spread(&side.samples.iops));
    json!({
        "io_bytes": bytes,
        "io_kbytes": bytes / 1024,
        "bw_bytes": rate(bytes) as u64,
        "bw": (rate(bytes) / 1024.0) as u64,
        "iops": rate(count),
        "runtime": if count > 0 { side.runtime } else { 0 },
        "total_ios": count,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": moments(&Latency::default()),
        "clat_ns": distribution(latency, side.distribution),
        "lat_ns": moments(latency),
        "bw_min": bw.0 as u64,
        "bw_max": bw.1 as u64,
        "bw_agg": if kib.is_empty() { 0.0 } else { 100.0 },
        "bw_mean": bw.2,
        "bw_dev": bw.3,
        "bw_samples": kib.len(),
        "iops_min": iops.0 as u64,
        "iops_max": iops.1 as u64,
        "iops_mean": iops.2,
        "iops_stddev": iops.3,
        "iops_samples": side.samples.iops.len(),
    })
}

/// Moments of a latency, in nanoseconds.
fn moments(latency: &Latency) -> Value {
    json!({
        "min": (latency.min * 1e3).round() as u64,
        "max": (latency.max * 1e3).round() as u64,
        "mean": latency.mean * 1e3,
        "stddev": latency.stddev * 1e3,
        "N": latency.count,
    })
}

/// Moments of a latency, and its percentiles if it has any request.
fn distribution(latency: &Latency, distribution: &Distribution) -> Value {
    let mut value = moments(latency);
    if latency.count > 0 {
        value["percentile"] = percentiles(distribution);
    }
    value
}

fn percentiles(distribution: &Distribution) -> Value {
    let at = |percent: f64| {
        let found = distribution.iter().find(|(_, share)| *share >= percent / 100.0 - 1e-12);
        let us = found.or(distribution.last()).map_or(0.0, |(us, _)| *us);
        (format!("{percent:.6}"), json!((us * 1e3).round() as u64))
    };
    Value::Object(PERCENTILES.iter().map(|&percent| at(percent)).collect())
}

/// Percent of all requests by latency, below 1 us, below 1 ms and above. A request counts at the
/// smallest bound that it does not exceed.
fn histograms(distribution: &Distribution) -> [Value; 3] {
    let below = |ns: u64| {
        let found = distribution.iter().rev().find(|(us, _)| *us * 1e3 <= ns as f64);
        found.map_or(0.0, |(_, share)| *share)
    };
    let mut before = 0.0;
    let mut step = |ns: u64| {
        let share = below(ns);
        let part = share - std::mem::replace(&mut before, share);
        json!(100.0 * part)
    };
    let mut unit = |scale: u64| -> Map<String, Value> {
        BOUNDS.iter().map(|&bound| (bound.to_string(), step(bound * scale))).collect()
    };
    let (ns, us, mut ms) = (unit(1), unit(1_000), unit(1_000_000));
    ms.insert("2000".into(), step(2_000_000_000));
    let rest = if distribution.is_empty() { 0.0 } else { 1.0 - before };
    ms.insert(">=2000".into(), json!(100.0 * rest));
    [ns, us, ms].map(Value::Object)
}

/// All requests at the level of one depth. The first name is for depths up to `first`; each later
/// one is for twice the depth of the name before.
fn levels(depth: Option<u32>, names: &[&str], first: u32) -> Value {
    let level = depth.map(|depth| {
        let mut bound = first;
        let mut at = usize::from(first > 1);
        while depth > bound && at + 1 < names.len() {
            (bound, at) = (bound * 2, at + 1);
        }
        at
    });
    let share = |at: usize| if level == Some(at) { 100.0 } else { 0.0 };
    Value::Object(
        names.iter().enumerate().map(|(at, name)| ((*name).into(), json!(share(at)))).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_histograms_follow_the_distribution() {
        // Half at 0.9 us, 49 % at 30 us, 1 % at 3 s.
        let distribution = [(0.9, 0.5), (30.0, 0.99), (3e6, 1.0)];
        let found = percentiles(&distribution);
        assert_eq!(found["50.000000"], 900);
        assert_eq!(found["60.000000"], 30_000);
        assert_eq!(found["99.000000"], 30_000);
        assert_eq!(found["99.500000"], 3_000_000_000_u64);
        let [ns, us, ms] = histograms(&distribution);
        assert_eq!((&ns["1000"], &ns["750"]), (&json!(50.0), &json!(0.0)));
        assert_eq!(us["50"], json!(49.0));
        let rest = ms[">=2000"].as_f64().unwrap();
        assert!((rest - 1.0).abs() < 1e-9, "{rest}");
        let sum: f64 = [ns, us, ms]
            .iter()
            .flat_map(|unit| unit.as_object().unwrap().values())
            .map(|share| share.as_f64().unwrap())
            .sum();
        assert!((sum - 100.0).abs() < 1e-9);
    }

    #[test]
    fn depths_fall_into_their_level() {
        let names = ["1", "2", "4", "8", "16", "32", ">=64"];
        for (depth, name) in [(1, "1"), (2, "2"), (3, "4"), (8, "8"), (64, ">=64"), (500, ">=64")] {
            assert_eq!(levels(Some(depth), &names, 1)[name], json!(100.0), "{depth}");
        }
        assert_eq!(levels(Some(1), &["0", "4", "8"], 4)["4"], json!(100.0));
        assert_eq!(levels(None, &names, 1)["1"], json!(0.0));
    }
}
