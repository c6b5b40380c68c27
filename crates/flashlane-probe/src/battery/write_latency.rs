//! Writes one at a time, by size, with a pause after each in which buffers empty themselves.
//!
//! They show the time of a write that is acknowledged from a buffer, or of a program if there is no
//! buffer. Source: uFLIP (Bouganim, Jonsson and Bonnet, CIDR 2009), its granularity and pause
//! patterns.

use super::Bench;
use crate::data::Measured;
use crate::series::{Request, Rule, Series};
use crate::target::Failure;

/// Sizes of writes. Unit: bytes.
const SIZES: [u32; 5] = [512, 4 << 10, 16 << 10, 64 << 10, 128 << 10];
/// Writes of each size.
const COUNT: usize = 60;
/// Time from the end of a write to the next one. Unit: picoseconds.
const PAUSE_PS: u64 = 5_000_000_000;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let mut all = Vec::new();
    for size in SIZES {
        if !bench.takes(size) {
            continue;
        }
        let mut random = bench.random("write-latency", u64::from(size));
        let write = |_| Request::write(bench.address(&mut random, size), size);
        let requests = (0..COUNT).map(write).collect();
        let rule = Rule::Bursts { size: 1, stagger_ps: 0, pause_ps: PAUSE_PS };
        let mut series = Series::single(format!("write-{size}"), requests);
        series.rule = rule;
        all.push(series.run(bench.target)?);
    }
    Ok(all)
}
