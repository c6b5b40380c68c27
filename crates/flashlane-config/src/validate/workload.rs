//! Rules of a workload.

use std::collections::{BTreeMap, BTreeSet};

use flashlane_trace::{ColumnMap, Format};

use super::{
    BANDWIDTH, FLOWS, HOUR_PS, MAX_SPAN_PS, OUTSTANDING, OUTSTANDING_ALL, flow, horizon, limits,
    mqsim,
};
use crate::{CloneConfig, FlashConfig, FlowConfig, SloConfig, TraceConfig, WorkloadConfig};
use flashlane_reading::Rules;
use flashlane_reading::shortened;
use flashlane_workload::clone;

/// Most characters of the name of a flow, which is in every table and in every row.
const NAME_MAX: usize = 256;
/// Units that `time_unit` of a trace takes.
const TIME_UNITS: &[&str] = &["s", "ms", "us", "ns", "ps"];
/// Units that `size_unit` of a trace takes.
const SIZE_UNITS: &[&str] = &["B", "KiB", "sector"];
/// Events that `action` of a trace takes.
const ACTIONS: &[&str] = &["Q", "D", "C"];
/// Longest and shortest day of a clone. Unit: picoseconds.
const DAY_PS: u64 = 24 * 3600 * 1_000_000_000_000;
const DAY_PS_MIN: u64 = 24 * 1_000_000_000_000;

/// Every rule that concerns only the workload.
pub(super) fn check(rules: &mut Rules, workload: &WorkloadConfig) {
    check_flows(rules, workload, |sources| sources == 1);
    if let Some(warmup) = workload.warmup {
        rules.span("warmup", warmup, &(0..=HOUR_PS));
    }
    rules.range("outstanding_max", workload.outstanding_max, &OUTSTANDING_ALL);
    let ends = workload.flows.iter().any(ends);
    rules.require(ends || workload.flows.is_empty(), "flow", || {
        "no flow ever ends; allowed: `requests` or `duration` in at least one flow".to_owned()
    });
    if rules.problems.is_empty() {
        horizon::check(rules, workload);
    }
}

/// The rules for flows whose requests come from outside.
pub(super) fn check_tenants(rules: &mut Rules, workload: &WorkloadConfig) {
    check_flows(rules, workload, |sources| sources <= 1);
}

/// Rules of each flow. `allowed`: whether it may have this number of sources.
fn check_flows(rules: &mut Rules, workload: &WorkloadConfig, allowed: fn(usize) -> bool) {
    rules.require(FLOWS.contains(&workload.flows.len()), "flow", || {
        format!("found {} flows, allowed: 1 to {}", workload.flows.len(), FLOWS.end())
    });
    check_names(rules, workload);
    limits::check_groups(rules, workload);
    for (index, flow) in workload.flows.iter().enumerate() {
        check_flow(rules, &format!("flow[{index}]"), flow, allowed);
    }
}

fn check_names(rules: &mut Rules, workload: &WorkloadConfig) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, flow) in workload.flows.iter().enumerate() {
        let key = format!("flow[{index}].name");
        rules.require(!flow.name.trim().is_empty(), key.clone(), || {
            "found an empty name, allowed: any other text".to_owned()
        });
        rules.require(!flow.name.contains(char::is_control), key.clone(), || {
            format!("found {:?}, allowed: text without control characters", flow.name)
        });
        let letters = flow.name.chars().take(NAME_MAX + 1).count();
        rules.require(letters <= NAME_MAX, key.clone(), || {
            let (bytes, name) = (flow.name.len(), shortened(&flow.name));
            format!("found {name:?} of {bytes} bytes, allowed: {NAME_MAX} characters at most")
        });
        if let Some(first) = seen.get(flow.name.as_str()) {
            let message = format!(
                "found {:?}, which is the name of flow[{first}] too; allowed: unique names",
                flow.name
            );
            rules.refuse(key, message);
        } else {
            seen.insert(&flow.name, index);
        }
    }
}

/// True if the flow's pass ends by itself.
fn ends(flow: &FlowConfig) -> bool {
    let synthetic = flow.synthetic.as_ref().is_some_and(|s| {
        let job_ends = s.fio.as_ref().is_some_and(|job| !job.time_based);
        s.requests.is_some() || s.duration.is_some() || job_ends
    });
    let clone = flow.clone.as_ref().is_some_and(|c| c.requests.is_some() || c.duration.is_some());
    synthetic || clone || flow.trace.is_some() || flow.mqsim.is_some()
}

fn check_flow(rules: &mut Rules, key: &str, flow: &FlowConfig, allowed: fn(usize) -> bool) {
    let sources = [
        ("synthetic", flow.synthetic.is_some()),
        ("trace", flow.trace.is_some()),
        ("clone", flow.clone.is_some()),
        ("mqsim", flow.mqsim.is_some()),
    ];
    let given: Vec<&str> = sources.iter().filter(|s| s.1).map(|s| s.0).collect();
    rules.require(allowed(given.len()), key, || {
        let found = if given.is_empty() { "no source".to_owned() } else { given.join(" and ") };
        format!("found {found}, allowed: exactly one of synthetic, trace, clone, mqsim")
    });
    rules.require(flow.count.is_none(), format!("{key}.count"), || {
        "found a count, allowed: none in a workload that is loaded; loading makes the flows"
            .to_owned()
    });
    if let Some(start) = flow.starts_after {
        rules.span(format!("{key}.starts_after"), start, &(0..=7 * 24 * HOUR_PS));
    }
    if let Some(weight) = flow.weight {
        rules.range(format!("{key}.weight"), weight, &(1..=10_000));
    }
    if let Some(limit) = &flow.limit {
        limits::check(rules, &format!("{key}.limit"), limit);
    }
    if let Some(slo) = &flow.slo {
        check_slo(rules, &format!("{key}.slo"), slo);
    }
    if let Some(occupancy) = flow.occupancy {
        rules.share(format!("{key}.occupancy"), occupancy);
    }
    if let Some(synthetic) = &flow.synthetic {
        flow::check_synthetic(rules, &format!("{key}.synthetic"), synthetic);
    }
    if let Some(trace) = &flow.trace {
        check_trace(rules, &format!("{key}.trace"), trace);
    }
    if let Some(clone) = &flow.clone {
        check_clone(rules, &format!("{key}.clone"), clone);
    }
    if let Some(config) = &flow.mqsim {
        mqsim::check(rules, &format!("{key}.mqsim"), config);
    }
}

fn check_slo(rules: &mut Rules, key: &str, slo: &SloConfig) {
    for (name, limit) in slo.times() {
        if let Some(limit) = limit {
            rules.span(format!("{key}.{name}"), limit, &(1..=MAX_SPAN_PS));
        }
    }
    if let Some(slowdown) = slo.slowdown {
        rules.range(format!("{key}.slowdown"), slowdown, &(1.0..=1e9));
    }
    if let Some(iops) = slo.min_iops {
        rules.range(format!("{key}.min_iops"), iops, &(0.001..=1e9));
    }
    if let Some(least) = slo.min_bandwidth {
        rules.require(BANDWIDTH.contains(&least.0), format!("{key}.min_bandwidth"), || {
            format!("found {least}, allowed: 1kB/s to 1000GB/s")
        });
    }
}

fn check_trace(rules: &mut Rules, key: &str, trace: &TraceConfig) {
    check_format(rules, key, trace);
    if let Some(unit) = &trace.time_unit {
        one_of(rules, &format!("{key}.time_unit"), unit, TIME_UNITS);
    }
    if let Some(unit) = &trace.size_unit {
        one_of(rules, &format!("{key}.size_unit"), unit, SIZE_UNITS);
    }
    if let Some(action) = &trace.action {
        one_of(rules, &format!("{key}.action"), action, ACTIONS);
    }
    rules.factor(format!("{key}.time_scale"), trace.time_scale);
    if let Some(depth) = trace.queue_depth {
        rules.range(format!("{key}.queue_depth"), depth, &OUTSTANDING);
    }
    rules.range(format!("{key}.repeat"), trace.repeat, &(1..=u64::from(u32::MAX)));
    if let Some(limit) = trace.limit {
        rules.range(format!("{key}.limit"), limit, &(1..=u64::MAX));
    }
    rules.sectors(&format!("{key}.offset"), trace.offset, 0..=1 << 60);
    if let Some(stride) = trace.device_stride {
        rules.sectors(&format!("{key}.device_stride"), stride, 512..=1 << 60);
    }
    if let Some(devices) = &trace.devices {
        rules.require(!devices.is_empty(), format!("{key}.devices"), || {
            "found an empty list, allowed: one device number or more".to_owned()
        });
    }
}

fn check_format(rules: &mut Rules, key: &str, trace: &TraceConfig) {
    let format = trace.format.as_deref();
    if let Some(format) = format {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name).collect();
        one_of(rules, &format!("{key}.format"), format, &names);
    }
    let key = format!("{key}.columns");
    match (&trace.columns, format) {
        (None, Some("columns")) => {
            rules.refuse(key, "missing; allowed: a column map, which format \"columns\" needs");
        }
        (Some(_), Some(format)) if format != "columns" => {
            rules.refuse(key, format!("found a column map for format {format:?}, allowed: none"));
        }
        (Some(map), _) => {
            if let Err(error) = map.parse::<ColumnMap>() {
                rules.refuse(key, error.to_string());
            }
        }
        (None, _) => {}
    }
}

fn check_clone(rules: &mut Rules, key: &str, config: &CloneConfig) {
    if !clone::is_file(&config.of) && clone::find(&config.of).is_err() {
        let names: Vec<&str> = clone::list().iter().map(|params| params.name).collect();
        one_of(rules, &format!("{key}.of"), &config.of, &names);
    }
    rules.factor(format!("{key}.time_scale"), config.time_scale);
    check_stop(rules, key, config.requests, config.duration.map(|span| span.0));
    if let Some(footprint) = config.footprint {
        rules.range(format!("{key}.footprint"), footprint, &(0.001..=1000.0));
    }
    if let Some(theta) = config.theta {
        rules.range(format!("{key}.theta"), theta, &(0.0..=5.0));
    }
    if let Some(sizes) = &config.read_sizes {
        clone::check_sizes(rules, &format!("{key}.read_sizes"), sizes);
    }
    let hours = [("start", config.start, 0..=DAY_PS - 1), ("day", config.day, DAY_PS_MIN..=DAY_PS)];
    let varies = clone::is_file(&config.of)
        || clone::find(&config.of).map_or(true, |params| params.has_day());
    for (name, span, range) in hours {
        let Some(span) = span else { continue };
        rules.span(format!("{key}.{name}"), span, &range);
        rules.require(varies, format!("{key}.{name}"), || {
            format!("found {span} for {:?}, whose rates do not follow the hour", config.of)
        });
    }
}

/// Rules of `requests` and `duration`.
pub(super) fn check_stop(rules: &mut Rules, key: &str, requests: Option<u64>, ps: Option<u64>) {
    if let Some(requests) = requests {
        rules.range(format!("{key}.requests"), requests, &(1..=1 << 50));
    }
    if let Some(ps) = ps {
        let span = flashlane_units::Span(ps);
        rules.span(format!("{key}.duration"), span, &(1..=MAX_SPAN_PS));
    }
}

fn one_of(rules: &mut Rules, key: &str, found: &str, allowed: &[&str]) {
    rules.require(allowed.contains(&found), key, || {
        format!("found {found:?}; {}", flashlane_reading::allowed(found, allowed))
    });
}

/// Rules of the resource lists of the flows on a device.
pub(super) fn check_lists(rules: &mut Rules, flash: &FlashConfig, workload: &WorkloadConfig) {
    for (index, flow) in workload.flows.iter().enumerate() {
        let lists = [
            ("channels", &flow.channels, flash.channels),
            ("chips", &flow.chips, flash.chips_per_channel),
            ("dies", &flow.dies, flash.dies_per_chip),
            ("planes", &flow.planes, flash.planes_per_die),
        ];
        for (name, list, count) in lists {
            if let Some(list) = list {
                check_list(rules, &format!("flow[{index}].{name}"), list, count);
            }
        }
    }
}

fn check_list(rules: &mut Rules, key: &str, list: &[u32], count: u32) {
    rules.require(!list.is_empty(), key, || {
        format!(
            "found an empty list, allowed: some of 0 to {}; leave the key out for all",
            count - 1
        )
    });
    let mut seen = BTreeSet::new();
    for (index, &number) in list.iter().enumerate() {
        rules.require(number < count, format!("{key}[{index}]"), || {
            format!("found {number}, allowed: 0 to {} on this device", count.max(1) - 1)
        });
        rules.require(seen.insert(number), format!("{key}[{index}]"), || {
            format!("found {number} a second time, allowed: each number once")
        });
    }
}
