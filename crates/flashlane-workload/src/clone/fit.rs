//! From the statistics of a trace to the parameters of its clone.
//!
//! Read ratio, correlation of types, sizes, gaps, runs and alignment are copied, because the
//! generator uses them directly. Sets of extents are solved for
//! ([`popularity`](super::popularity)). The burst cascade works on requests and not on time.
//! Therefore its shape is found by a search for arrivals with the dispersion of the trace.

use flashlane_engine::Rng;
use flashlane_trace::statistics::{Dispersion, EXTENT_BYTES, SideStatistics, TraceStatistics};

use super::file::{CloneFile, CloneSide};
use super::gaps::Cascade;
use super::popularity::{Set, set_of};
use super::{Gaps, Types, VARIATION_MIN};
use flashlane_reading::Error;

/// Share of random starts that are multiples of 4 KiB.
const BY_CHANCE: f64 = 0.125;
/// Fewest requests of a trace, and fewest requests of a type for its order among the others to
/// count.
const REQUESTS_MIN: u64 = 100;
/// Largest share of gaps of zero; above it the clock of the trace is too coarse.
const ZERO_GAPS_MAX: f64 = 0.95;
/// Batches are separated if the mean gap is above this. Unit: milliseconds.
const BATCH_GAP_MS_MIN: f64 = 2.0;
/// Largest share of gaps in batches.
const BATCH_MAX: f64 = 0.95;
/// Shortest gap. Unit: milliseconds.
const GAP_MS_MIN: f64 = 1e-6;
/// Most sizes of a type, in addition to the smallest and the largest.
const SIZES_MAX: usize = 16;
/// Largest request. Unit: KiB.
const SIZE_KIB_MAX: f64 = 16_384.0;
/// Largest set of extents. Unit: MiB.
const FOOTPRINT_MIB_MAX: f64 = 1_048_576.0;
/// Requests of a trial of a cascade.
const TRIAL_REQUESTS: u64 = 65_536;
/// A trial has at least `2^TRIAL_PERIODS_LOG2` of the longest bursts.
const TRIAL_PERIODS_LOG2: u32 = 2;
/// Leaves that are tried.
const LEAF_LOG2_MAX: u32 = 12;
/// Distance between the leaves that are tried.
const LEAF_STEP: usize = 2;
/// Weights of the dispersions in windows of 10 ms, 100 ms and 1 s.
const WEIGHTS: [f64; 3] = [1.0, 1.0, 4.0];
/// Corrections of the share of batches, which are needed because gaps outside them may be short,
/// too.
const CORRECTIONS: u32 = 3;
/// Gaps below this are short. Unit: picoseconds.
const SHORT_PS: u64 = 100_000_000;
/// Starts that must have come back before the unit of their return counts.
const RETURNS_MIN: f64 = 50.0;

/// The parameters of a clone with the statistics of a trace. `name`: the name of the clone. Calls
/// `progress` with the share that is done.
///
/// # Errors
///
/// A trace that is too short, or whose clock does not tell arrivals apart.
pub fn fit(
    trace: &TraceStatistics,
    name: &str,
    progress: &dyn Fn(f64),
) -> Result<CloneFile, Error> {
    let refuse = |message: String| Err(Error::Trace(format!("{name}: {message}")));
    if trace.requests < REQUESTS_MIN {
        return refuse(format!(
            "found {} reads and writes, allowed: at least {REQUESTS_MIN}",
            trace.requests
        ));
    }
    if trace.zero_gaps > ZERO_GAPS_MAX || trace.gap_ms <= 0.0 {
        return refuse(format!(
            "found a gap of 0 before {:.1} % of the requests, allowed: a clock that tells most arrivals \
             apart (at most {:.0} %)",
            100.0 * trace.zero_gaps,
            100.0 * ZERO_GAPS_MAX
        ));
    }
    let extent = extent(trace);
    let (read, write) = (side(trace, &trace.read, extent), side(trace, &trace.write, extent));
    let believed = trace.read.requests.min(trace.write.requests) >= REQUESTS_MIN;
    let shared = trace.read.shared_starts[extent] as f64;
    let smaller = trace.read.starts[extent].distinct.min(trace.write.starts[extent].distinct);
    let mut file = CloneFile {
        name: name.to_owned(),
        summary: format!("synthetic, fitted to {} requests of {name}", trace.requests),
        seed: 1,
        read_ratio: rounded(trace.read_ratio),
        kappa: if believed { rounded(trace.kappa().clamp(0.0, 0.9999)) } else { 0.0 },
        gap_cv: rounded(trace.gap_cv.min(100.0)),
        batch: 0.0,
        bias: 0.5,
        levels: 0,
        leaf_log2: 0,
        idc_1s: trace.idc[2].map(rounded),
        overlap: if smaller > 0 { rounded(shared / smaller as f64) } else { 0.0 },
        extent_kib: (EXTENT_BYTES[extent] / 1024) as u32,
        read,
        write,
    };
    if trace.gap_ms >= BATCH_GAP_MS_MIN {
        file.batch = trace.short_gaps.min(BATCH_MAX);
    }
    search(&mut file, trace, progress);
    for _ in 0..CORRECTIONS {
        if file.batch > 0.0 {
            let found = trial(&file).short_gaps;
            file.batch = (file.batch + trace.short_gaps - found).clamp(0.0, BATCH_MAX);
        }
    }
    file.batch = rounded(file.batch);
    file.bias = rounded(file.bias);
    Ok(file)
}

/// Rounds to five significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().expect("a number that was just written")
}

/// Index of the unit of popularity among [`EXTENT_BYTES`]. It is the page if starts come back to
/// the same page. It is a larger extent if starts spread evenly inside it, so that two of them are
/// 16 times as likely to share one.
fn extent(trace: &TraceStatistics) -> usize {
    let busier =
        if trace.read.requests > trace.write.requests { &trace.read } else { &trace.write };
    let [page, large] = busier.starts.map(|places| places.collision);
    let starts = busier.starts[0].count as f64;
    let aligned = trace.read.aligned_starts.min(trace.write.aligned_starts) > 0.9;
    let believed = page * starts * starts / 2.0 >= RETURNS_MIN;
    usize::from(!(aligned && believed && large < 4.0 * page))
}

/// The parameters of one type.
fn side(trace: &TraceStatistics, side: &SideStatistics, extent: usize) -> CloneSide {
    let sizes = sizes(side);
    let largest = sizes.iter().fold(0.0_f64, |max, size| max.max(size.0));
    let smallest = sizes.iter().fold(largest, |min, size| min.min(size.0));
    let gap_ms = if side.requests > 0 { side.gap_ms } else { trace.gap_ms };
    let Set { count, theta } = set_of(&side.starts[extent]);
    let mib = (count * EXTENT_BYTES[extent]) as f64 / (1 << 20) as f64;
    CloneSide {
        mean_kib: rounded(side.mean_kib).clamp(smallest, largest),
        gap_ms: rounded(gap_ms).max(GAP_MS_MIN),
        sizes,
        seq1: rounded(side.seq1.min(side.seq32)),
        seq32: rounded(side.seq32),
        aligned: rounded(aligned(side)),
        theta: rounded(theta),
        footprint_mib: mib.ceil().clamp(1.0, FOOTPRINT_MIB_MAX) as u32,
        daily: Vec::new(),
    }
}

/// Share of the starts to draw among multiples of 4 KiB. Together with those that are multiples by
/// chance, they reach the share of the trace.
fn aligned(side: &SideStatistics) -> f64 {
    ((side.aligned_starts - BY_CHANCE) / (1.0 - BY_CHANCE)).clamp(0.0, 1.0)
}

/// The most frequent sizes, the smallest and the largest, with their shares. Unit: KiB.
fn sizes(side: &SideStatistics) -> Vec<(f64, f64)> {
    let mut counts: Vec<(f64, u64)> = Vec::new();
    for &(bytes, count) in &side.sizes {
        let kib = (bytes.div_ceil(512) as f64 / 2.0).min(SIZE_KIB_MAX);
        match counts.last_mut() {
            Some(last) if last.0 == kib => last.1 += count,
            _ => counts.push((kib, count)),
        }
    }
    let Some((&smallest, &largest)) = counts.first().zip(counts.last()) else {
        return vec![(4.0, 1.0)];
    };
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    counts.truncate(SIZES_MAX);
    counts.extend([smallest, largest]);
    counts.sort_by(|a, b| a.0.total_cmp(&b.0));
    counts.dedup_by_key(|size| size.0);
    let share = |count: u64| rounded(count as f64 / side.requests as f64);
    counts.into_iter().map(|(kib, count)| (kib, share(count))).collect()
}

/// Result of a trial.
struct Trial {
    idc: [Option<f64>; 3],
    /// Share of gaps below 100 us.
    short_gaps: f64,
}

/// Sets the cascade whose arrivals come closest to the dispersion of the trace.
fn search(file: &mut CloneFile, trace: &TraceStatistics, progress: &dyn Fn(f64)) {
    let candidates = candidates(file, trace);
    let mut best = (f64::INFINITY, candidates[0]);
    for (at, &cascade) in candidates.iter().enumerate() {
        progress(at as f64 / candidates.len() as f64);
        (file.bias, file.levels, file.leaf_log2) = cascade;
        let distance = distance(&trial(file).idc, &trace.idc);
        if distance < best.0 {
            best = (distance, cascade);
        }
    }
    (file.bias, file.levels, file.leaf_log2) = best.1;
}

/// Bias, levels and leaves of the cascades that leave room for the other causes of variation.
fn candidates(file: &CloneFile, trace: &TraceStatistics) -> Vec<(f64, u32, u32)> {
    let mut all = vec![(0.5, 0, 0)];
    let square = (file.gap_cv * file.gap_cv + 1.0) / file.params().type_mean_square()
        * (1.0 - file.batch)
        / (1.0 + VARIATION_MIN);
    let depth_max = TRIAL_REQUESTS.ilog2() - TRIAL_PERIODS_LOG2;
    let measured = trace.bias.unwrap_or(0.6).clamp(0.52, 0.9);
    for bias in [measured, 0.5 + 0.6 * (measured - 0.5), (1.5 * measured - 0.25).min(0.9)] {
        for levels in 1..=depth_max {
            if Cascade::mean_square(bias, levels as usize) > square {
                break;
            }
            let leaves = (0..=(depth_max - levels).min(LEAF_LOG2_MAX)).step_by(LEAF_STEP);
            all.extend(leaves.map(|leaf| (bias, levels, leaf)));
        }
    }
    all
}

/// The arrivals of a clone.
fn trial(file: &CloneFile) -> Trial {
    let params = file.params();
    let stream = |part: &str| Rng::stream(1, part, 0);
    let mut types = Types::new(&params, stream("workload.clone.type"));
    let mut gaps = Gaps::new(&params, 1.0, stream("workload.clone.gap"));
    let mut dispersion = Dispersion::default();
    let (mut first, mut last, mut short) = (None, 0, 0_u64);
    for _ in 0..TRIAL_REQUESTS {
        let time = gaps.next(types.next());
        if time >= flashlane_engine::Time::END {
            break;
        }
        let first = *first.get_or_insert(time.0);
        short += u64::from(time.0 - last < SHORT_PS);
        last = time.0;
        dispersion.add(time.0 - first);
    }
    Trial { idc: dispersion.idc(), short_gaps: short as f64 / TRIAL_REQUESTS as f64 }
}

/// Distance between two sets of dispersions: weighted squares of logarithms.
fn distance(found: &[Option<f64>; 3], wanted: &[Option<f64>; 3]) -> f64 {
    let parts = found.iter().zip(wanted).zip(WEIGHTS);
    let part = |((found, wanted), weight): ((&Option<f64>, &Option<f64>), f64)| {
        let log = libm::log(found.as_ref()?.max(1e-3) / wanted.as_ref()?.max(1e-3));
        Some(weight * log * log)
    };
    parts.filter_map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_that_tell_too_little_are_refused() {
        let short = TraceStatistics { requests: 99, ..TraceStatistics::default() };
        let message = fit(&short, "a", &|_| {}).expect_err("too short").to_string();
        assert_eq!(message, "a: found 99 reads and writes, allowed: at least 100");
        let coarse = TraceStatistics { requests: 500, gap_ms: 1.0, zero_gaps: 0.99, ..short };
        let message = fit(&coarse, "a", &|_| {}).expect_err("too coarse").to_string();
        assert!(message.contains("a gap of 0 before 99.0 % of the requests"), "{message}");
    }

    #[test]
    fn frequent_sizes_and_the_extremes_are_kept() {
        let counts = (1..=101).map(|k| (k * 512, if k % 10 == 0 { 50 } else { 1 }));
        let side = SideStatistics { requests: 591, sizes: counts.collect(), ..<_>::default() };
        let found = sizes(&side);
        assert_eq!(found.len(), 17, "16, of which the smallest is one, and the largest: {found:?}");
        assert_eq!((found[0].0, found[16].0), (0.5, 50.5));
        assert!(
            found.iter().any(|&(kib, share)| kib == 5.0 && (share - 50.0 / 591.0).abs() < 1e-4)
        );
        assert_eq!(sizes(&SideStatistics::default()), [(4.0, 1.0)]);
    }
}
