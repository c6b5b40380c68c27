//! Bursts of random writes after pauses of growing length: a drive that collects in the background
//! takes a burst faster after a longer pause.
//!
//! Source: uFLIP (CIDR 2009), its pause pattern, and its warning that a drive remembers earlier
//! work.

use super::Bench;
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::target::Failure;

/// Pauses before the bursts. Unit: microseconds.
const PAUSES_US: [u64; 5] = [0, 1_000, 10_000, 100_000, 1_000_000];
/// Number of rounds over all pauses.
const ROUNDS: u64 = 3;
/// Length of a write. Unit: bytes.
const SIZE: u32 = 4 << 10;
/// Number of outstanding writes.
const DEPTH: u32 = 32;
/// Most writes of a burst.
const COUNT: u64 = 2000;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let (size, depth) = (SIZE, DEPTH);
    if !bench.takes(size) {
        return Ok(Vec::new());
    }
    let count = COUNT.min(bench.target.facts().bytes / u64::from(size) / 100);
    let mut all = Vec::new();
    for round in 0..ROUNDS {
        for pause in PAUSES_US {
            bench.pause_us(pause)?;
            let mut random = bench.random("idle-recovery", round << 32 | pause);
            let write = |_| Request::write(bench.address(&mut random, size), size);
            let writes = (0..count).map(write).collect();
            let name = format!("after-{pause}us-{round}");
            all.push(Series::closed(name, depth, writes).run(bench.target)?);
        }
    }
    Ok(all)
}
