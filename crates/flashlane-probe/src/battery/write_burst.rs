//! Long writes without a pause: the amount that a drive takes at the speed of its buffer, and the
//! speed at which the rest drains to flash.
//!
//! On drives that first write to cells of one bit, the speed falls once these are full. Source:
//! SSDCheck (MICRO 2018), whose bursts find a buffer by its first long wait.

use super::Bench;
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::target::Failure;

/// Length of a write. Unit: bytes.
const SIZE: u64 = 128 << 10;
/// Number of outstanding writes.
const DEPTH: u32 = 32;
/// Most bytes that are written.
const MOST: u64 = 8 << 30;
/// Time from the first burst to the second one. Unit: microseconds.
const PAUSE_US: u64 = 2_000_000;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let facts = bench.target.facts();
    let size = SIZE.min(u64::from(facts.longest));
    let bytes = MOST.min(facts.bytes / 4);
    let mut all = Vec::new();
    for (name, start) in [("first", 0), ("after-pause", facts.bytes / 2 / size * size)] {
        let write = |at: u64| Request::write(start + at * size, size as u32);
        let writes = (0..bytes / size).map(write).collect();
        all.push(Series::closed(name, DEPTH, writes).run(bench.target)?);
        bench.pause_us(PAUSE_US)?;
    }
    Ok(all)
}
