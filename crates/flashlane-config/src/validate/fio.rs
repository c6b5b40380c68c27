//! Rules of fio jobs. A job file keeps them by construction, but a workload file may break them.

use crate::{FioConfig, FioDirection, FioDistribution, FioExtent, FioSkew, SyntheticConfig};
use flashlane_reading::Rules;
use flashlane_units::ByteSize;

/// Most copies of a job in a flow.
const JOBS_MAX: u32 = 1024;
/// Most placement identifiers of a job, as in fio.
pub(crate) const PLACEMENT_IDS_MAX: usize = 128;

/// Every rule of a job.
pub(super) fn check(rules: &mut Rules, key: &str, flow: &SyntheticConfig, job: &FioConfig) {
    rules.require(flow.queue_depth.is_some(), key, || {
        "found without queue_depth, allowed: beside it; rates are those of the job (rate)"
            .to_owned()
    });
    rules.require(flow.think_time.is_none(), key, || {
        "found beside think_time, allowed: think, the pauses of the job".to_owned()
    });
    rules.range(format!("{key}.read_percent"), job.read_percent, &(0..=100));
    rules.range(format!("{key}.in_a_row"), job.in_a_row, &(1..=u64::MAX));
    rules.range(format!("{key}.loops"), job.loops, &(1..=1 << 30));
    rules.range(format!("{key}.files"), job.files, &(1..=1 << 16));
    rules.range(format!("{key}.jobs"), job.jobs, &(1..=JOBS_MAX));
    rules.range(format!("{key}.first_job"), job.first_job, &(1..=1 << 30));
    rules.sectors(&format!("{key}.file_block"), job.file_block, 512..=1 << 20);
    let extents = [("size", job.size), ("io_size", job.io_size)];
    for (name, extent) in extents.into_iter().filter_map(|one| Some((one.0, one.1?))) {
        check_extent(rules, &format!("{key}.{name}"), extent, 1);
    }
    check_extent(rules, &format!("{key}.offset"), job.offset, 0);
    check_extent(rules, &format!("{key}.offset_increment"), job.offset_increment, 0);
    if let Some(placement) = &job.placement {
        let count = placement.ids.len();
        rules.require(
            (1..=PLACEMENT_IDS_MAX).contains(&count),
            format!("{key}.placement.ids"),
            || format!("found {count} identifiers, allowed: 1 to {PLACEMENT_IDS_MAX}"),
        );
    }
    if let Some(zones) = job.zones {
        let positive = zones.size.0 > 0 && zones.range.0 > 0;
        rules.require(positive, format!("{key}.zones"), || {
            "found a zone of 0B, allowed: a size and a range above it".to_owned()
        });
    }
    for (name, one) in [("read", &job.read), ("write", &job.write), ("trim", &job.trim)] {
        check_direction(rules, &format!("{key}.{name}"), one);
    }
}

fn check_extent(rules: &mut Rules, key: &str, extent: FioExtent, least: u64) {
    let within = match extent {
        FioExtent::Bytes(bytes) => (least..=1 << 60).contains(&bytes.0),
        FioExtent::Percent(percent) => u64::from(percent) >= least && percent <= 100,
        FioExtent::Zones(count) => (least..=1 << 32).contains(&count),
    };
    rules.require(within, key, || {
        format!(
            "found {extent:?}, allowed: {least} to 2^60 bytes, {least} to 100 percent, or {least} \
             to 2^32 zones"
        )
    });
}

fn check_direction(rules: &mut Rules, key: &str, one: &FioDirection) {
    let largest = ByteSize(1 << 32);
    let ordered = one.smallest.0 > 0 && one.smallest <= one.largest && one.largest <= largest;
    rules.require(ordered, format!("{key}.smallest"), || {
        format!(
            "found {} to {}, allowed: above 0B, the smaller size first, up to {largest}",
            one.smallest, one.largest
        )
    });
    let fits = |size: ByteSize| size >= one.smallest && size <= one.largest;
    let sum: u64 = one.split.iter().map(|(_, percent)| u64::from(*percent)).sum();
    let split = one.split.iter().all(|(size, _)| fits(*size)) && sum <= 100;
    rules.require(split && (one.split.is_empty() || sum > 0), format!("{key}.split"), || {
        format!(
            "found {:?}, allowed: sizes from smallest to largest, percentages up to 100 in all",
            one.split
        )
    });
    if let Some(align) = one.align {
        rules
            .require(align.0 > 0, format!("{key}.align"), || "found 0B, allowed: above".to_owned());
    }
    rules.range(format!("{key}.random_percent"), one.random_percent, &(0..=100));
    if let Some(rate) = one.rate {
        rules.range(format!("{key}.rate"), rate, &(1..=1_000_000_000_000_000));
    }
    let key = format!("{key}.distribution");
    match &one.distribution {
        FioDistribution::Random => {}
        FioDistribution::Zipf(skew) => check_skew(rules, &key, skew, 0.0..=5.0),
        FioDistribution::Pareto(skew) => check_skew(rules, &key, skew, 1e-6..=0.999_999),
        FioDistribution::Normal(skew) => check_skew(rules, &key, skew, 1e-6..=100.0),
        FioDistribution::Zoned(zones) => {
            let sum: u64 = zones.iter().map(|(percent, _)| u64::from(*percent)).sum();
            rules.require(sum <= 100 && !zones.is_empty(), key, || {
                format!(
                    "found {sum} percent of the requests in {} zones, allowed: up to 100 in some",
                    zones.len()
                )
            });
        }
    }
}

fn check_skew(rules: &mut Rules, key: &str, skew: &FioSkew, range: std::ops::RangeInclusive<f64>) {
    rules.range(format!("{key}.parameter"), skew.parameter, &range);
    if let Some(center) = skew.center {
        rules.range(format!("{key}.center"), center, &(0.0..=1.0));
    }
}
