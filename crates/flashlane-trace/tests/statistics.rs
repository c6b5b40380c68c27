//! Statistics of the real traces against those measured independently, where both are at hand. They are not
//! part of the project; without them this test says so and passes.

use std::path::PathBuf;

use flashlane_trace::statistics::{Meter, TraceStatistics};
use flashlane_trace::{Format, TraceOptions, TraceReader};
use serde_json::Value;

const NORMALISED: &str = "columns:t=1[us],op=2,off=3[B],len=4[B],dev=5;sep=comma;read=R;write=W";

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces"));
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
    }
    folder.is_dir().then_some(folder)
}

fn measured(path: PathBuf) -> TraceStatistics {
    let format = Format::by_name(NORMALISED).expect("a format");
    let mut reader = TraceReader::open(path, &TraceOptions::new(format)).expect("a trace");
    let mut meter = Meter::default();
    while let Some(record) = reader.next().expect("a good trace") {
        meter.add(&record);
    }
    meter.finish()
}

/// Names of the reference and our values. Unit: that of the name.
fn ours(s: &TraceStatistics) -> Vec<(&'static str, Option<f64>)> {
    let mib = |pages: u64| Some(pages as f64 / 256.0);
    let (r, w) = (&s.read, &s.write);
    let shared = s.shared_pages as f64 / r.pages.count.max(1) as f64;
    vec![
        ("n", Some(s.requests as f64)),
        ("span_s", Some(s.span_s)),
        ("read_ratio", Some(s.read_ratio)),
        ("rd_kB", Some(r.mean_kib)),
        ("wr_kB", Some(w.mean_kib)),
        ("iat_ms", Some(s.gap_ms)),
        ("iat_before_rd_ms", Some(r.gap_ms)),
        ("iat_before_wr_ms", Some(w.gap_ms)),
        ("iat_cv", Some(s.gap_cv)),
        ("cv_before_rd", Some(r.gap_cv)),
        ("cv_before_wr", Some(w.gap_cv)),
        ("zero_gap", Some(s.zero_gaps)),
        ("P_RR", Some(s.read_after_read)),
        ("P_WW", Some(s.write_after_write)),
        ("idc_10ms", s.idc[0]),
        ("idc_100ms", s.idc[1]),
        ("idc_1000ms", s.idc[2]),
        ("peak_over_mean_10ms", s.peak[0]),
        ("peak_over_mean_100ms", s.peak[1]),
        ("peak_over_mean_1000ms", s.peak[2]),
        ("seq1_rd", Some(r.seq1)),
        ("seq1_wr", Some(w.seq1)),
        ("seq32_rd", Some(r.seq32)),
        ("seq32_wr", Some(w.seq32)),
        ("fp_MB", mib(s.pages.count)),
        ("fp_rd_MB", mib(r.pages.count)),
        ("fp_wr_MB", mib(w.pages.count)),
        ("rd_pages_also_written", Some(shared)),
        ("rewrite_ratio", Some(w.revisits)),
        ("reread_ratio", Some(r.revisits)),
        ("top10pct", Some(s.pages.top10)),
        ("top20pct", Some(s.pages.top20)),
        ("top20pct_rd", Some(r.pages.top20)),
        ("top20pct_wr", Some(w.pages.top20)),
        ("zipf_top10pct", s.pages.zipf),
        ("zipf_rd", r.pages.zipf),
        ("zipf_wr", w.pages.zipf),
        ("align4k", Some(s.aligned)),
    ]
}

/// An arrival on the very edge of two windows, which the reference, in floating point, puts into the earlier one.
const ON_THE_EDGE: [(&str, &str); 2] =
    [("systor17_additional_1k", "idc_10ms"), ("systor17_additional_1k", "peak_over_mean_10ms")];

/// Half a unit of the last digit of the number as it was printed, and room for rounding to even.
fn half_digit(value: &Value) -> f64 {
    let text = value.to_string();
    let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    0.501 * 10_f64.powi(-(digits as i32))
}

#[test]
fn statistics_of_real_traces_equal_the_reference_to_its_digits() {
    let Some(folder) = folder() else { return };
    let read = |name: &str| -> Value {
        let text = std::fs::read_to_string(folder.join("stats").join(name)).expect("a file");
        serde_json::from_str(&text).expect("JSON")
    };
    let (main, extra, space) =
        (read("measured.json"), read("measured_extra.json"), read("measured_locality.json"));
    let (mut compared, mut missed) = (0, Vec::new());
    for (name, reference) in main.as_object().expect("traces by name") {
        if name.starts_with("tencent") {
            continue; // A clock of whole seconds.
        }
        let found = measured(folder.join("norm").join(format!("{name}.csv.zst")));
        for (key, ours) in ours(&found) {
            let theirs = [reference, &extra[name]].into_iter().find_map(|of| of.get(key));
            let Some(theirs) = theirs.filter(|value| value.is_number()) else { continue };
            if ON_THE_EDGE.contains(&(name, key)) {
                continue;
            }
            let wanted = theirs.as_f64().expect("a number");
            compared += 1;
            if !ours.is_some_and(|ours| (ours - wanted).abs() <= half_digit(theirs)) {
                missed.push(format!("{name}: {key}: {ours:?} for {theirs}"));
            }
        }
        // The reference does not say how it formed the bias: ours is the slope of the entropy.
        let bias = space[name]["b_model"].as_f64();
        if let Some((ours, theirs)) = found.bias.zip(bias) {
            compared += 1;
            if (ours - theirs).abs() > 0.02 {
                missed.push(format!("{name}: bias: {ours} for {theirs}"));
            }
        }
    }
    println!("{compared} values compared");
    assert!(compared > 400, "{compared}");
    assert!(missed.is_empty(), "{} of {compared}:\n{}", missed.len(), missed.join("\n"));
}
