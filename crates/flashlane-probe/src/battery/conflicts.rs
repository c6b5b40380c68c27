//! Two reads at once, a distance apart: a pair that shares a die waits for the array, one that
//! shares a channel for the bus, another one for neither.
//!
//! The distances at which pairs meet give channels, dies and the order in which addresses go over
//! them. Small reads show dies, reads of a whole page show channels, too. Source: Chen, Lee and
//! Zhang, "Essential roles of exploiting internal parallelism of flash memory based solid state
//! drives" (HPCA 2011), section 4, whose pairs are reads at a stride.

use super::Bench;
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::structure::page_size;
use crate::target::Failure;

/// Longest distance. Unit: pages.
const STEPS: u64 = 1024;
/// The unit of distances where no page size is known. Unit: bytes.
pub const STEP: u64 = 4 << 10;
/// Bases from which pairs are taken.
const BASES: u64 = 3;

/// Measures.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let block = bench.target.facts().block.max(512);
    let page = page_size(bench.before.probe("page-boundary")).unwrap_or(STEP);
    let capacity = bench.target.facts().bytes;
    let steps = STEPS.min(capacity / page / 4);
    let cycle = page * (steps + 1).next_power_of_two();
    let mut random = bench.random("conflicts", 0);
    let mut all = Vec::new();
    for index in 0..BASES {
        let base = random.below((capacity / cycle).max(1)) * cycle;
        for (name, bytes) in [("small", block), ("large", page as u32)] {
            let pair =
                |step: u64| [Request::read(base, bytes), Request::read(base + step * page, bytes)];
            let fits = |step: &u64| base + (step + 1) * page <= capacity;
            let alone = |step: u64| Request::read(base + step * page, bytes);
            let singles = (0..=steps).filter(fits).map(alone).collect();
            all.push(Series::single(format!("{name}-{index}-alone"), singles).run(bench.target)?);
            let pairs = (1..=steps).filter(fits).flat_map(pair).collect();
            all.push(Series::bursts(format!("{name}-{index}"), 2, pairs).run(bench.target)?);
        }
    }
    Ok(all)
}
