//! Observations about a drive that no key of a device file expresses, or that no fit assumes, in
//! words.

use super::median;
use crate::data::{Collected, Measured};

/// Least factor between two means that differ.
const LONGER: f64 = 1.25;
/// Number of writes of a burst over which a rate is computed.
const TOGETHER: usize = 64;
/// The fast part of a burst ends when the rate is below this share of the first rate.
const SLOW: f64 = 0.6;

/// Sentences about bursts, pauses and the mapping cache, as far as they were measured.
#[must_use]
pub fn observed(data: &Collected) -> Vec<String> {
    let burst = data.series("write-burst", "first").and_then(burst);
    let pauses = pauses(data.probe("idle-recovery"));
    let mapping = mapping_reach(data.probe("mapping-cache")).map(|reach| {
        format!(
            "mapping-cache: reads within {} take {:.1} us, within {} {:.1} us: the mapping does not \
             fit into the memory of the drive",
            mib(reach.within),
            reach.fast_us,
            mib(reach.beyond),
            reach.slow_us
        )
    });
    burst.into_iter().chain(pauses).chain(mapping).collect()
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

/// The amount that is written fast, and the rate at which the rest drains.
fn burst(writes: &Measured) -> Option<String> {
    let mut ends: Vec<_> = writes.timings.iter().map(|one| one.sent + one.latency).collect();
    ends.sort_unstable();
    let size = f64::from(writes.series.requests.first()?.bytes);
    let rate = |ends: &[flashlane_engine::Time]| {
        let span = ends.last()?.saturating_sub(*ends.first()?).as_us();
        (span > 0.0).then(|| size * (ends.len() - 1) as f64 / span)
    };
    let rates: Vec<f64> = ends.chunks(TOGETHER).filter_map(rate).collect();
    let first = *rates.first()?;
    let drain = median(rates[rates.len() / 2..].to_vec());
    let fast = rates.iter().position(|rate| *rate < SLOW * first);
    Some(match fast {
        Some(fast) => format!(
            "write-burst: {} at {first:.0} MB/s, then {drain:.0} MB/s",
            mib((fast * TOGETHER) as u64 * size as u64)
        ),
        None => format!(
            "write-burst: {drain:.0} MB/s from start to end, {}",
            mib(ends.len() as u64 * size as u64)
        ),
    })
}

/// Whether bursts are faster after a longer pause.
fn pauses(series: &[Measured]) -> Option<String> {
    let mean = |pause: &str| {
        let of = series.iter().filter(|one| one.series.name.starts_with(pause));
        let means: Vec<f64> = of.map(Measured::mean_us).collect();
        (!means.is_empty()).then(|| median(means))
    };
    let (none, long) = (mean("after-0us-")?, mean("after-1000000us-")?);
    Some(match none > LONGER * long {
        true => format!(
            "idle-recovery: a burst of writes takes {none:.0} us a write without a pause, {long:.0} \
             us after a second: the drive works in the background"
        ),
        false => "idle-recovery: a pause does not make a burst of writes faster".to_owned(),
    })
}

/// The range at which reads begin to miss the mapping cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Reads within this range hit. Unit: bytes.
    pub within: u64,
    /// Many reads within this range miss. Unit: bytes.
    pub beyond: u64,
    /// Mean time of the first. Unit: microseconds.
    pub fast_us: f64,
    /// Mean time of the last. Unit: microseconds.
    pub slow_us: f64,
}

/// The reach of the mapping cache from the series of `mapping-cache`; `None` if reads take equal
/// times everywhere.
#[must_use]
pub fn mapping_reach(series: &[Measured]) -> Option<Reach> {
    let part = |one: &Measured| one.series.name.strip_prefix("within-")?.parse::<u64>().ok();
    let means: Vec<(u64, f64)> =
        series.iter().filter_map(|one| Some((part(one)?, one.mean_us()))).collect();
    let fast_us = means.first()?.1;
    let at = means.iter().position(|(_, mean)| *mean > LONGER * fast_us)?;
    let (beyond, slow_us) = means[at];
    Some(Reach { within: means[at.checked_sub(1)?].0, beyond, fast_us, slow_us })
}
