//! Two reads at once, a distance apart: a pair that shares a die waits for the array, a pair that
//! shares a channel waits for the bus, and any other pair does not wait.
//!
//! The distances at which pairs wait give channels, dies and the order in which addresses go over
//! them. Small reads show dies, reads of a whole page show channels, too. Pages differ in the time
//! that their array takes, and two reads meet at the bus only if both reach it at the same time.
//! Therefore every page is first read alone, from many bases, and pairs are formed of pages with
//! equal times. Source: Chen, Lee and Zhang, "Essential roles of exploiting internal parallelism of
//! flash memory based solid state drives" (HPCA 2011), section 4, whose pairs are reads at a
//! stride.

use super::Bench;
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::structure::page_size;
use crate::target::Failure;

/// Longest distance. Unit: pages.
const STEPS: u64 = 1024;
/// Unit of distances if no page size is known. Unit: bytes.
pub const STEP: u64 = 4 << 10;
/// Bases from which pages are read alone.
const BASES: u64 = 16;
/// Bases from which the pairs of a distance are taken.
pub const PAIRS: usize = 3;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let block = bench.target.facts().block.max(512);
    let page = page_size(bench.before.probe("page-boundary")).unwrap_or(STEP);
    let capacity = bench.target.facts().bytes;
    let steps = steps(capacity / page);
    let cycle = page * round(steps, capacity / page);
    let mut random = bench.random("conflicts", 0);
    let places = (capacity / cycle).max(1);
    let bases: Vec<u64> = (0..BASES.min(places)).map(|_| random.below(places) * cycle).collect();
    let mut all = Vec::new();
    for (name, bytes) in [("small", block), ("large", page as u32)] {
        let mut alone = Vec::new();
        for (index, base) in bases.iter().enumerate() {
            let fits = |step: &u64| base + (step + 1) * page <= capacity;
            let single = |step: u64| Request::read(base + step * page, bytes);
            let singles = (0..=steps).filter(fits).map(single).collect();
            alone.push(Series::single(format!("{name}-alone-{index}"), singles).run(bench.target)?);
        }
        let ranked: Vec<Vec<Pair>> = (1..=steps).map(|step| alike(&alone, step)).collect();
        for rank in 0..PAIRS {
            let pairs = ranked.iter().filter_map(|of_step| of_step.get(rank)).flatten();
            let series = Series::bursts(format!("{name}-{rank}"), 2, pairs.copied().collect());
            all.push(series.run(bench.target)?);
        }
        all.append(&mut alone);
    }
    Ok(all)
}

/// Largest distance on a drive of `pages` pages. Unit: pages.
#[must_use]
pub fn steps(pages: u64) -> u64 {
    STEPS.min(pages / 4)
}

/// Bases are multiples of this, so that they lie at the start of a round over all dies: a product
/// of as many small numbers as the capacity allows. Unit: pages.
#[must_use]
pub fn round(steps: u64, pages: u64) -> u64 {
    let whole = (steps + 1).next_power_of_two();
    let wide = [5 * 7 * 9, 5 * 9, 9, 3].into_iter().map(|by| by * whole);
    wide.into_iter().find(|round| pages / round >= BASES).unwrap_or(whole)
}

/// Two reads.
type Pair = [Request; 2];

/// The pairs of a distance, beginning with those whose reads take equal times alone.
fn alike(alone: &[Measured], step: u64) -> Vec<Pair> {
    let pair = |one: &Measured| {
        let (first, second) = (one.timings.first()?, one.timings.get(step as usize)?);
        let differ = first.latency.0.abs_diff(second.latency.0);
        let requests = &one.series.requests;
        Some((differ, [requests[0], requests[step as usize]]))
    };
    let mut pairs: Vec<(u64, Pair)> = alone.iter().filter_map(pair).collect();
    pairs.sort_by_key(|(differ, _)| *differ);
    pairs.into_iter().map(|(_, pair)| pair).collect()
}
