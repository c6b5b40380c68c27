//! Tests with real trace files. The files are not part of the project, because their terms do not
//! allow passing them on. Without the files these tests report that they are skipped, and pass.

use std::path::{Path, PathBuf};

use flashlane_trace::{
    Format, OnDecreasing, TimeUnit, TraceError, TraceOptions, TraceReader, TraceSummary, detect,
    summarise,
};

const TENCENT_CUT: &str = "columns:t=1[ms],op=3,len=4,off=5;read=1;write=0";
const MSR_CUT: &str = "columns:t=1[ms],dev=2,off=3,len=4,op=5;sep=space;read=1;write=0";
const NORMALISED: &str = "csv";

/// A file as it was found, its format, its number of requests, and the same requests normalised.
struct Sample {
    original: &'static str,
    format: &'static str,
    unit: Option<TimeUnit>,
    requests: u64,
    normalised: &'static str,
}

const fn sample(
    original: &'static str,
    format: &'static str,
    requests: u64,
    normalised: &'static str,
) -> Sample {
    Sample { original, format, unit: None, requests, normalised }
}

fn samples() -> Vec<Sample> {
    vec![
        sample("MQSim_wsrch-small.trace.zst", "mqsim", 24_783, "wsrch1_mqsim_head"),
        sample("MQSim_tpcc-small.trace.zst", "mqsim", 6_999, "tpcc_mqsim_head"),
        sample("SSDsim_example.ascii.zst", "ssdsim", 10_000, "fin1_ssdsim_head"),
        Sample {
            unit: Some(TimeUnit::Microseconds),
            ..sample("DTRS1K.trace.zst", "ssdsim", 127_043, "dtrs_300s")
        },
        sample("MSN-FS-30s-ms.zst", "disksim", 149_999, "msnfs_disk5_143s"),
        sample("caffeine_msr-cambridge1-sample.csv", "msr", 1_000, "msr_hm_0_1k"),
        sample("caffeine_tencent_cloud_storage-sample.bz2", "tencent", 50_000, "tencent_cbs_50k"),
        sample("caffeine_systor17-traces-sample.csv.gz", "systor", 999, "systor17_traces_1k"),
        sample(
            "caffeine_systor17-additional-sample.csv.gz",
            "systor",
            999,
            "systor17_additional_1k",
        ),
        sample("libCacheSim_cloudPhysicsIO.vscsi.zst", "vscsi", 113_872, "cloudphysics_vm"),
        tencent_cut("most_rand_iops.537"),
        tencent_cut("most_size_thpt.222"),
        tencent_cut("rw_60_40.490"),
        tencent_cut("rw_65_35.211"),
        tencent_cut("rw_75_25.379"),
        msr_cut("most_thpt_rand_iops.1006"),
        msr_cut("rw_20_80.105"),
        msr_cut("rw_40_60.1370"),
    ]
}

fn tencent_cut(name: &str) -> Sample {
    let original = leak(format!("flashnet_tencent.cut.per_50k.{name}.trace.zst"));
    sample(original, TENCENT_CUT, 50_000, leak(format!("tencent_cut_{name}")))
}

fn msr_cut(name: &str) -> Sample {
    let original = leak(format!("heimdall_msr.cut.per_10k.{name}.trace.zst"));
    sample(original, MSR_CUT, 10_000, leak(format!("msr_cut_{name}")))
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// The folder with the traces. Where it is not there: `None`, and the running test says that it is
/// skipped.
fn traces() -> Option<PathBuf> {
    flashlane_testing::shared("traces", "real traces")
}

/// The path of a file in the folder. Where that one is missing: `None`, and the running test says
/// so.
fn present(folder: &Path, file: &str) -> Option<PathBuf> {
    let path = folder.join(file);
    if path.is_file() {
        return Some(path);
    }
    flashlane_testing::skip_part("one of the traces", file);
    None
}

fn options(format: &str, time_unit: Option<TimeUnit>) -> TraceOptions {
    TraceOptions {
        time_unit,
        on_decreasing: OnDecreasing::Count,
        ..TraceOptions::new(Format::by_name(format).expect("a known format"))
    }
}

fn summary(path: &Path, options: &TraceOptions) -> TraceSummary {
    summarise(path, options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_known_trace_has_the_expected_number_of_requests() {
    let Some(folder) = traces() else { return };
    for sample in samples() {
        let Some(path) = present(&folder.join("orig"), sample.original) else { continue };
        let found = summary(&path, &options(sample.format, sample.unit));
        assert_eq!(found.request_count, sample.requests, "{}", sample.original);
        assert_eq!(found.rejected.count(), 0, "{}", sample.original);
    }
}

#[test]
fn every_known_trace_equals_its_normalised_form() {
    let Some(folder) = traces() else { return };
    for sample in samples() {
        let Some(original) = present(&folder.join("orig"), sample.original) else { continue };
        let normalised = format!("{}.csv.zst", sample.normalised);
        let Some(normalised) = present(&folder.join("norm"), &normalised) else { continue };
        let found = summary(&original, &options(sample.format, sample.unit));
        let expected = summary(&normalised, &options(NORMALISED, None));
        let totals = |summary: &TraceSummary| {
            let TraceSummary { read_count, write_count, read_bytes, write_bytes, .. } = *summary;
            (read_count, write_count, read_bytes, write_bytes, summary.end_bytes_max)
        };
        assert_eq!(totals(&found), totals(&expected), "{}", sample.original);
        assert_eq!(found.devices, expected.devices, "{}", sample.original);
        // The normalised form is sorted and starts at its earliest request, so only files that are
        // in order have the same span.
        if found.decreasing_count == 0 {
            let difference = found.span_ps().abs_diff(expected.span_ps());
            assert!(difference <= 1_000_000, "{}: {difference} ps", sample.original);
        }
    }
}

#[test]
fn published_statistics_of_the_web_search_head() {
    let Some(folder) = traces() else { return };
    let Some(path) = present(&folder.join("orig"), "MQSim_wsrch-small.trace.zst") else { return };
    let found = summary(&path, &options("mqsim", None));
    let close = |found: Option<f64>, expected: f64, tolerance: f64| {
        let found = found.expect("the trace has such requests");
        assert!((found - expected).abs() <= tolerance, "{found} is not about {expected}");
    };
    close(found.read_fraction(), 0.9998, 0.000_05);
    close(found.read_bytes_mean(), 15.06 * 1024.0, 6.0);
    close(found.gap_ps_mean(), 2.423e9, 1e6);
}

#[test]
fn times_that_step_back_are_found() {
    let Some(folder) = traces() else { return };
    let name = tencent_cut("most_rand_iops.537").original;
    let Some(path) = present(&folder.join("orig"), name) else { return };
    let counted = summary(&path, &options(TENCENT_CUT, None)).decreasing_count;
    assert_eq!(counted, 2);
    let strict = TraceOptions { on_decreasing: OnDecreasing::Error, ..options(TENCENT_CUT, None) };
    let result = summarise(&path, &strict);
    assert!(matches!(result, Err(TraceError::Decreasing { .. })), "{result:?}");
}

#[test]
fn only_some_files_describe_themselves() {
    let Some(folder) = traces() else { return };
    for sample in samples() {
        let Some(path) = present(&folder.join("orig"), sample.original) else { continue };
        let found = detect(&path).unwrap_or_else(|error| panic!("{error}"));
        let expected = match sample.format {
            "msr" => Some(Format::Msr),
            "systor" => Some(Format::Systor),
            "vscsi" => Some(Format::Vscsi),
            _ => None,
        };
        assert_eq!(found, expected, "{}", sample.original);
    }
}

#[test]
fn files_of_another_kind_are_refused() {
    let Some(folder) = traces() else { return };
    let others = [
        "BlockTraceFeatures_cloudphysics_rd.csv.zst",
        "BlockTraceFeatures_cloudphysics_block.csv.zst",
        "SZU_prn_0_addr_only.csv.zst",
    ];
    for other in others {
        let Some(path) = present(&folder.join("orig"), other) else { continue };
        for format in
            ["mqsim", "disksim", "ssdsim", "msr", "msps", "systor", "tencent", "spc", "fiu"]
        {
            let error = summarise(&path, &options(format, None)).expect_err("not such a trace");
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
}

#[test]
fn a_replay_gives_the_same_records() {
    let Some(folder) = traces() else { return };
    let Some(path) = present(&folder.join("orig"), "MQSim_tpcc-small.trace.zst") else { return };
    let mut reader = TraceReader::open(&path, &options("mqsim", None)).expect("readable");
    let first: Vec<_> = reader.by_ref().map(|record| record.expect("a record")).collect();
    reader.rewind().expect("the file is still there");
    let second: Vec<_> = reader.by_ref().map(|record| record.expect("a record")).collect();
    assert_eq!(first, second);
    assert_eq!(first.len(), 6_999);
}

#[test]
fn without_the_shared_data_tests_say_that_they_are_skipped() {
    flashlane_testing::assert_skipped_without_shared(
        module_path!(),
        &[
            "every_known_trace_has_the_expected_number_of_requests",
            "every_known_trace_equals_its_normalised_form",
            "published_statistics_of_the_web_search_head",
            "times_that_step_back_are_found",
            "only_some_files_describe_themselves",
            "files_of_another_kind_are_refused",
            "a_replay_gives_the_same_records",
        ],
    );
}
