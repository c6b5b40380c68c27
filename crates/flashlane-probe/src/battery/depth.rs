//! Reads at random places, by size and by number of outstanding requests. When more requests no
//! longer help, some part of the drive is always busy.
//!
//! Small reads are limited by the firmware, long reads by the link or by the buses of the channels.
//! Source: Chen, Lee and Zhang (HPCA 2011), section 4; Table 3 of MQSim (FAST'18) lists what such
//! runs have to explain.

use super::Bench;
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::target::Failure;

/// Sizes. Unit: bytes.
const SIZES: [u32; 3] = [512, 4 << 10, 128 << 10];
/// Numbers of outstanding reads.
const DEPTHS: [u32; 4] = [2, 16, 128, 512];
/// Most outstanding bytes.
const OUTSTANDING: u64 = 4 << 20;
/// Most bytes of a series.
const MOST: u64 = 32 << 20;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let mut all = Vec::new();
    let sizes: Vec<u32> = SIZES.into_iter().filter(|size| bench.takes(*size)).collect();
    for size in sizes {
        let deepest = bench.target.facts().deepest;
        let fits =
            |depth: &u32| *depth <= deepest && u64::from(*depth) * u64::from(size) <= OUTSTANDING;
        for depth in DEPTHS.into_iter().filter(fits) {
            let count = u64::from(200 + 3 * depth).min(MOST / u64::from(size));
            let mut random = bench.random("depth", u64::from(size) << 32 | u64::from(depth));
            let read = |_| Request::read(bench.address(&mut random, size), size);
            let requests = (0..count).map(read).collect();
            let name = format!("read-{size}-at-{depth}");
            all.push(Series::closed(name, depth, requests).run(bench.target)?);
        }
    }
    Ok(all)
}
