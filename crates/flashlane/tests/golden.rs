//! Small fixed scenarios whose results are kept in `tests/golden`. A change must be meant: run with
//! `UPDATE_GOLDEN=1` to rewrite the files, and say in the commit why the numbers moved.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use flashlane::config::load::{self, Overrides};
use flashlane::metrics::Summary;
use flashlane::metrics::summary::Latency;
use flashlane::{RunOptions, simulate};

fn latency(text: &mut String, name: &str, latency: &Latency) {
    if latency.count > 0 {
        let Latency { count, mean, min, max, p50, p99, .. } = latency;
        writeln!(
            text,
            "  {name}: count {count}, mean {mean:.6}, min {min:.6}, p50 {p50:.3}, p99 {p99:.3}, \
             max {max:.6} us"
        )
        .expect("text takes all");
    }
}

/// The parts of a summary that are compared: no wall times, no memory, no count of events.
fn render(summary: &Summary) -> String {
    let mut text = String::new();
    let t = &mut text;
    macro_rules! line { ($($part:tt)*) => { writeln!(t, $($part)*).expect("text takes all") } }
    line!(
        "{} requests in {:.9} s, window {:.9} to {:.9} s",
        summary.requests_completed,
        summary.simulated_s,
        summary.window_start_s,
        summary.window_end_s
    );
    for flow in &summary.flows {
        line!("{}: {:?}", flow.name, flow.requests);
        line!("  {:?}, cmt {:?}, cache {:?}", flow.bytes, flow.cmt, flow.cache);
        line!(
            "  offered {:.6} IOPS, completed {:.6} IOPS, {:.6} bytes/s, backlog {}, saturated {}",
            flow.offered_iops,
            flow.iops,
            flow.bandwidth_bytes_per_s,
            flow.backlog_at_end,
            flow.saturated
        );
        latency(t, "reads", &flow.read_response_time_us);
        latency(t, "writes", &flow.write_response_time_us);
        latency(t, "all, end to end", &flow.end_to_end_us);
        let b = &flow.breakdown_us;
        line!(
            "  stages: {:.6} {:.6} {:.6} {:.6} {:.6} {:.6} {:.6} {:.6} {:.6} us",
            b.submission,
            b.transfer_in,
            b.firmware,
            b.cache,
            b.mapping,
            b.flash_queue,
            b.flash_bus,
            b.flash_array,
            b.transfer_out
        );
        if let Some(slowdown) = flow.slowdown {
            line!("  slowdown {slowdown:.9}");
        }
    }
    if let Some(fairness) = summary.fairness.fairness {
        line!("fairness {fairness:.9}");
    }
    for part in format!("{:?}", summary.flash).trim_start_matches("FlashSummary { ").split(", ") {
        line!("{}", part.trim_end_matches(" }"));
    }
    line!("{:?}, {:?}", summary.cache, summary.cmt);
    for (span, outside) in [("before", &summary.before_window), ("after", &summary.after_window)] {
        let flash = &outside.flash;
        line!(
            "{span}: {:.9} s, {} requests, {} reads, programs {} {} {}, {} erases",
            outside.length_s,
            outside.requests_completed,
            flash.user_reads,
            flash.user_programs,
            flash.gc_programs,
            flash.mapping_programs,
            flash.erases
        );
    }
    text
}

/// Runs a scenario and compares it with its file. `sets` change the preset `tiny`.
fn check(name: &str, sets: &[&str], workload: &str, alone: bool) {
    let sets = sets.iter().map(ToString::to_string).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    let device = load::device("tiny", &overrides).expect("a valid device").config;
    let workload = load::workload_from_toml(workload, name, &Overrides::default())
        .expect("a valid workload")
        .config;
    let options = RunOptions { seed: 7, alone, check: true, threads: 1, ..RunOptions::default() };
    let summary = simulate(&device, &workload, &options, &|_| {}).expect("the run finishes");
    let found = render(&summary);
    let path = file(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &found).expect("the golden file can be written");
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    for (number, (kept, found)) in (1..).zip(kept.lines().zip(found.lines())) {
        assert_eq!(found, kept, "{}:{number}", path.display());
    }
    assert_eq!(found.len(), kept.len(), "{}", path.display());
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(format!("{name}.txt"))
}

#[test]
fn reads() {
    check(
        "reads",
        &[],
        "flow = [{ name = 'a', synthetic = { queue_depth = 16, read_ratio = 1, requests = 5000 } }]",
        false,
    );
}

#[test]
fn cached_writes() {
    check(
        "cached_writes",
        &["ftl.precondition.enabled=false"],
        "[[flow]]
         name = 'a'
         [flow.synthetic]
         queue_depth = 4
         read_ratio = 0.3
         requests = 3000
         size = { normal = { mean = '6KiB', stddev = '3KiB' } }
         align = '512B'
         address = { hot-cold = { hot_region = 0.01, hot_traffic = 0.9 } }",
        false,
    );
}

#[test]
fn collection() {
    check(
        "collection",
        &["ftl.over_provisioning=15%", "flash.suspend.program=true"],
        "flow = [{ name = 'a', cache = 'off', synthetic = { queue_depth = 8, read_ratio = 0.2, \
         requests = 20000 } }]",
        false,
    );
}

#[test]
fn mapping_misses() {
    check(
        "mapping_misses",
        &["ftl.mapping.ideal=false", "ftl.mapping.cmt_capacity=4KiB", "ftl.allocation=dynamic"],
        "flow = [{ name = 'a', synthetic = { iops = 20000, read_ratio = 0.5, requests = 4000 } }]",
        false,
    );
}

#[test]
fn two_flows_alone() {
    check(
        "two_flows_alone",
        &["scheduler=priority-out-of-order", "interface.arbitration=weighted-round-robin"],
        "[[flow]]
         name = 'light'
         priority = 'high'
         synthetic = { iops = 4000, read_ratio = 1, requests = 1000 }
         [[flow]]
         name = 'heavy'
         synthetic = { queue_depth = 32, read_ratio = 0.7, requests = 1000, size = '16KiB' }",
        true,
    );
}

#[test]
fn trims_and_flushes() {
    check(
        "trims_and_flushes",
        &[
            "ftl.mapping.ideal=false",
            "ftl.mapping.cmt_capacity=8KiB",
            "cache.eager_write_back=false",
            "scheduler=read-priority",
        ],
        "[[flow]]
         name = 'a'
         cache = 'write-read'
         [flow.synthetic]
         queue_depth = 6
         read_ratio = 0.4
         trim_ratio = 0.2
         flush_ratio = 0.05
         requests = 4000
         align = '1KiB'
         size = { discrete = [['1KiB', 1], ['8KiB', 2]] }
         address = { mixed = { streaming = 0.5 } }",
        false,
    );
}

#[test]
fn trace_replay() {
    let mut trace = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut draw: u64 = 1;
    for line in 0..3000_u64 {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (sector, sectors) = (draw >> 40, 1 + (draw >> 20) % 40);
        let time = line * 40_000 + draw % 30_000;
        std::io::Write::write_fmt(
            &mut trace,
            format_args!("{time} 0 {sector} {sectors} {}\n", draw >> 35 & 1),
        )
        .expect("room for a small file");
    }
    let path = trace.path().display();
    let workload = format!(
        "flow = [{{ name = 'a', trace = {{ path = '{path}', format = 'mqsim', limit = 2500, \
         repeat = 2 }} }}]"
    );
    check("trace_replay", &["scheduler=fcfs"], &workload, false);
}
