//! Rules of files of clone parameters.

use super::{CloneFile, CloneSide};
use crate::config::MAX_REQUEST_BYTES;
use flashlane_reading::Problem;
use flashlane_reading::Rules;

/// Largest request. Unit: KiB.
const SIZE_KIB_MAX: f64 = (MAX_REQUEST_BYTES / 1024) as f64;
/// Most sizes of a type.
const SIZES_MAX: usize = 1024;
/// Most points of a day.
const POINTS_MAX: usize = 1440;

fn check(rules: &mut Rules, file: &CloneFile) {
    rules.require(file.summary.starts_with("synthetic"), "summary", || {
        format!("found {:?}, allowed: a text that starts with \"synthetic\"", file.summary)
    });
    rules.range("read_ratio", file.read_ratio, &(0.0..=1.0));
    rules.range("kappa", file.kappa, &(0.0..=1.0));
    rules.range("gap_cv", file.gap_cv, &(0.0..=100.0));
    rules.range("batch", file.batch, &(0.0..=0.99));
    rules.range("bias", file.bias, &(0.5..=0.95));
    rules.range("levels", file.levels, &(0..=20));
    rules.range("leaf_log2", file.leaf_log2, &(0..=20));
    rules.range("overlap", file.overlap, &(0.0..=1.0));
    rules.range("extent_kib", file.extent_kib, &(1..=1 << 20));
    check_side(rules, "read", &file.read);
    check_side(rules, "write", &file.write);
}

fn check_side(rules: &mut Rules, key: &str, side: &CloneSide) {
    check_sizes(rules, &format!("{key}.sizes"), &side.sizes);
    let largest = side.sizes.iter().fold(0.0_f64, |max, size| max.max(size.0));
    let smallest = side.sizes.iter().fold(largest, |min, size| min.min(size.0));
    rules.require((smallest..=largest).contains(&side.mean_kib), format!("{key}.mean_kib"), || {
        format!("found {}, allowed: {smallest} to {largest}, the range of sizes", side.mean_kib)
    });
    rules.range(format!("{key}.gap_ms"), side.gap_ms, &(1e-6..=1e9));
    rules.range(format!("{key}.seq32"), side.seq32, &(0.0..=1.0));
    rules.require((0.0..=side.seq32).contains(&side.seq1), format!("{key}.seq1"), || {
        format!("found {}, allowed: 0 to seq32, which is {}", side.seq1, side.seq32)
    });
    rules.range(format!("{key}.aligned"), side.aligned, &(0.0..=1.0));
    rules.range(format!("{key}.theta"), side.theta, &(0.0..=5.0));
    rules.range(format!("{key}.footprint_mib"), side.footprint_mib, &(1..=1 << 30));
    check_daily(rules, &format!("{key}.daily"), &side.daily);
}

/// Rules of sizes with weights.
pub fn check_sizes(rules: &mut Rules, key: &str, sizes: &[(f64, f64)]) {
    rules.require((1..=SIZES_MAX).contains(&sizes.len()), key, || {
        format!("found {} sizes, allowed: 1 to {SIZES_MAX} pairs of KiB and weight", sizes.len())
    });
    for (index, &(kib, weight)) in sizes.iter().enumerate() {
        let whole = (kib * 2.0).fract() == 0.0;
        rules.require(
            whole && (0.5..=SIZE_KIB_MAX).contains(&kib),
            format!("{key}[{index}][0]"),
            || format!("found {kib}, allowed: multiples of 0.5 KiB up to {SIZE_KIB_MAX}"),
        );
        rules.require((1e-12..=1e12).contains(&weight), format!("{key}[{index}][1]"), || {
            format!("found {weight}, allowed: weights above 0 (1e-12 to 1e12)")
        });
    }
}

fn check_daily(rules: &mut Rules, key: &str, daily: &[(f64, f64)]) {
    rules.require(daily.len() <= POINTS_MAX, key, || {
        format!("found {} points, allowed: at most {POINTS_MAX}", daily.len())
    });
    let mut last = None;
    for (index, &(hour, rate)) in daily.iter().enumerate() {
        let after = last.is_none_or(|last| hour > last);
        rules.require((0.0..24.0).contains(&hour) && after, format!("{key}[{index}][0]"), || {
            format!("found {hour}, allowed: hours from 0 to below 24 in ascending order")
        });
        rules.range(format!("{key}[{index}][1]"), rate, &(0.001..=1000.0));
        last = Some(hour);
    }
}

/// Every problem of a file of clone parameters.
#[must_use]
pub fn validate_clone(file: &CloneFile) -> Vec<Problem> {
    let mut rules = Rules::default();
    check(&mut rules, file);
    rules.problems
}
