//! Fits: from the statistics of a trace to a clone with the same statistics, and back to the
//! parameters.

use std::path::PathBuf;

use flashlane::workload::clone::{CloneFile, CloneParams, CloneSource, find, fit, list};
use flashlane::workload::{RequestOp, RequestSource};
use flashlane_engine::Time;
use flashlane_trace::statistics::{Meter, TraceStatistics};
use flashlane_trace::{Format, Op, Record, TraceOptions, TraceReader};

/// The statistics of requests of a clone.
fn measured(params: &CloneParams<'_>, requests: u64, seed: u64) -> TraceStatistics {
    let mut source = CloneSource::alone(params, requests, 1.0, seed);
    let mut meter = Meter::default();
    while let Some(p) = source.next(Time::ZERO).expect("clones never fail") {
        meter.add(&Record {
            time_ps: p.arrival.0,
            op: if p.op == RequestOp::Read { Op::Read } else { Op::Write },
            offset_bytes: p.sector * 512,
            length_bytes: u64::from(p.sectors) * 512,
            device: 0,
            placement: None,
        });
    }
    meter.finish()
}

/// Where a clone misses what it was fitted to.
fn faults(name: &str, clone: &TraceStatistics, trace: &TraceStatistics) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |what: &str, found: f64, wanted: f64, holds: bool| {
        if !holds {
            faults.push(format!("{name}: {what}: {found} for {wanted}"));
        }
    };
    let near = |found: f64, wanted: f64, share: f64| (found - wanted).abs() <= share * wanted;
    let apart = |found: f64, wanted: f64, most: f64| (found - wanted).abs() <= most;
    let (c, t) = (clone, trace);
    check("read ratio", c.read_ratio, t.read_ratio, apart(c.read_ratio, t.read_ratio, 0.005));
    let cv = near(c.gap_cv, t.gap_cv, 0.15);
    check("CV of gaps", c.gap_cv, t.gap_cv, cv);
    // In fewer windows the dispersion is luck.
    if let (Some(found), Some(wanted), 50.0..) = (c.idc[2], t.idc[2], t.span_s) {
        // A cascade of independent gaps cannot have both the variation and the dispersion of that
        // piece.
        let factor = if name == "cloudphysics_vm" { 2.5 } else { 2.0 };
        check("IDC at 1 s", found, wanted, (1.0 / factor..=factor).contains(&(found / wanted)));
    }
    for (side, found, wanted) in [("read", &c.read, &t.read), ("write", &c.write, &t.write)] {
        // A type with few requests has statistics of its own luck.
        if wanted.requests < 100 {
            continue;
        }
        let mut check = |what: &str, found: f64, wanted: f64, holds: bool| {
            check(&format!("{side} {what}"), found, wanted, holds);
        };
        let (f, w) = (found, wanted);
        check("size", f.mean_kib, w.mean_kib, near(f.mean_kib, w.mean_kib, 0.01));
        check("gap", f.gap_ms, w.gap_ms, near(f.gap_ms, w.gap_ms, 0.03));
        check("seq32", f.seq32, w.seq32, apart(f.seq32, w.seq32, 0.03));
    }
    faults
}

/// Fit, generate, fit: the second fit has the parameters of the first.
fn round_trip(name: &str, params: &CloneParams<'_>, requests: u64) -> Vec<String> {
    let first = measured(params, requests, 5);
    let file = fit(&first, name, &|_| {}).expect("it can be fitted");
    let second = measured(&file.params(), 400_000, 6);
    let mut missed = faults(name, &second, &first);
    let again =
        fit(&measured(&file.params(), requests, 7), name, &|_| {}).expect("it can be fitted");
    let mut check = |what: &str, a: f64, b: f64, most: f64| {
        if (a - b).abs() > most {
            missed.push(format!("{name}: {what} {a}, then {b}"));
        }
    };
    check("read_ratio", file.read_ratio, again.read_ratio, 0.01);
    check("kappa", file.kappa, again.kappa, 0.03);
    check("gap_cv", file.gap_cv, again.gap_cv, 0.15 * file.gap_cv);
    check("batch", file.batch, again.batch, 0.05);
    for (side, a, b) in [("read", &file.read, &again.read), ("write", &file.write, &again.write)] {
        let mut check =
            |what: &str, a: f64, b: f64, most: f64| check(&format!("{side}.{what}"), a, b, most);
        check("mean_kib", a.mean_kib, b.mean_kib, 0.03 * a.mean_kib);
        check("gap_ms", a.gap_ms, b.gap_ms, 0.1 * a.gap_ms);
        check("seq1", a.seq1, b.seq1, 0.03);
        check("seq32", a.seq32, b.seq32, 0.03);
        check("aligned", a.aligned, b.aligned, 0.05);
        check("theta", a.theta, b.theta, 0.15);
        let (a, b) = (f64::from(a.footprint_mib), f64::from(b.footprint_mib));
        check("footprint_mib", a, b, 0.25 * a + 2.0);
    }
    missed
}

#[test]
fn a_fit_of_a_clone_gives_its_parameters_back() {
    let mut missed = Vec::new();
    for name in ["tpcc", "fin1", "prxy-1"] {
        missed.extend(round_trip(name, find(name).expect("known"), 100_000));
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

const NORMALISED: &str = "columns:t=1[us],op=2,off=3[B],len=4[B],dev=5;sep=comma;read=R;write=W";

/// The folder with the traces. Where it is not there: `None`, and the running test says that it is
/// skipped.
fn traces() -> Option<PathBuf> {
    flashlane_testing::shared("traces/norm", "real traces in one format")
}

#[test]
fn fits_of_real_traces_have_their_statistics() {
    let Some(folder) = traces() else { return };
    let mut missed = Vec::new();
    for name in [
        "tpcc_mqsim_head",
        "wsrch1_mqsim_head",
        "fin1_ssdsim_head",
        "msnfs_disk5_143s",
        "dtrs_300s",
        "msr_cut_rw_20_80.105",
        "msr_cut_rw_40_60.1370",
        "msr_cut_most_thpt_rand_iops.1006",
        "msr_hm_0_1k",
        "systor17_traces_1k",
        "systor17_additional_1k",
        "cloudphysics_vm",
    ] {
        let options = TraceOptions::new(Format::by_name(NORMALISED).expect("a format"));
        let path = folder.join(format!("{name}.csv.zst"));
        let mut reader = TraceReader::open(path, &options).expect("a trace");
        let mut meter = Meter::default();
        while let Some(record) = reader.next().expect("a good trace") {
            meter.add(&record);
        }
        let trace = meter.finish();
        let start = std::time::Instant::now();
        let file = fit(&trace, name, &|_| {}).expect("it can be fitted");
        let took = start.elapsed();
        let clone = measured(&file.params(), 1_000_000, 3);
        println!("{name}: fitted in {took:?}\n  {}", row(&file, &clone, &trace));
        missed.extend(faults(name, &clone, &trace));
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

fn row(file: &CloneFile, clone: &TraceStatistics, trace: &TraceStatistics) -> String {
    format!(
        "bias {} levels {} leaf {} batch {} extent {} theta {} {} footprint {} {}\n  cv {:.2} ({:.2}), idc \
         {:.1?} ({:.1?}), bias {:.3?} ({:.3?}), short {:.2} ({:.2}), top20 {:.2} {:.2} ({:.2} {:.2}), revisits \
         {:.2} ({:.2})",
        file.bias,
        file.levels,
        file.leaf_log2,
        file.batch,
        file.extent_kib,
        file.read.theta,
        file.write.theta,
        file.read.footprint_mib,
        file.write.footprint_mib,
        clone.gap_cv,
        trace.gap_cv,
        clone.idc,
        trace.idc,
        clone.bias,
        trace.bias,
        clone.short_gaps,
        trace.short_gaps,
        clone.read.pages.top20,
        clone.write.pages.top20,
        trace.read.pages.top20,
        trace.write.pages.top20,
        clone.write.revisits,
        trace.write.revisits,
    )
}

#[test]
fn built_in_sets_are_valid_files_and_survive_the_way_through_one() {
    for params in list() {
        let file = CloneFile::from(params);
        let problems = flashlane::config::validate::validate_clone(&file);
        assert!(problems.is_empty(), "{}: {problems:?}", params.name);
        assert_eq!(file.params(), *params);
    }
}

#[test]
fn without_the_shared_data_tests_say_that_they_are_skipped() {
    flashlane_testing::assert_skipped_without_shared(
        module_path!(),
        &["fits_of_real_traces_have_their_statistics"],
    );
}
