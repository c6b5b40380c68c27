//! Requests one at a time, by size: the time of a request on an idle drive.
//!
//! Source: uFLIP (Bouganim, Jonsson and Bonnet, CIDR 2009), its baseline and granularity patterns.

use super::Bench;
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::target::Failure;

/// Sizes of reads. Unit: bytes.
const SIZES: [u32; 9] =
    [512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10];
/// Reads of each size.
const COUNT: usize = 200;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let mut all = Vec::new();
    for size in SIZES {
        if !bench.takes(size) {
            continue;
        }
        let mut random = bench.random("idle-latency", u64::from(size));
        let requests = (0..COUNT).map(|_| Request::read(bench.address(&mut random, size), size));
        let series = Series::single(format!("read-{size}"), requests.collect());
        all.push(series.run(bench.target)?);
    }
    Ok(all)
}
