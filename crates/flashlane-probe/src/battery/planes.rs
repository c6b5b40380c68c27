//! Many reads of one die. It may serve some of them with one command if they are on different
//! planes, with equal page numbers in their blocks.
//!
//! By each geometry that the conflicts allow, certain addresses lie on one plane. Reads of only
//! these are never served together and take the longest time; reads of several planes are faster.
//! Source: multi-plane commands of the ONFI specification; their effect on reads: Hu et al.,
//! "Performance impact and interplay of SSD parallelism through advanced commands, allocation
//! strategy and data granularity" (ICS 2011).

use super::Bench;
use super::conflicts::{STEP, round, steps};
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::structure::{candidates, page_size, pattern, planes};
use crate::target::Failure;

/// Reads of each set of addresses.
const COUNT: u64 = 4000;
/// Number of outstanding reads.
const DEPTH: u32 = 512;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let facts = bench.target.facts();
    let (block, capacity) = (facts.block.max(512), facts.bytes);
    let page = page_size(bench.before.probe("page-boundary")).unwrap_or(STEP);
    let Some(pattern) = pattern(bench.before.probe("conflicts"), page) else {
        return Ok(Vec::new());
    };
    let pages = capacity / page;
    let (steps, round) = (steps(pages), round(steps(pages), pages));
    let mut all = Vec::new();
    for (index, set) in planes::sets(&candidates(&pattern), steps).iter().enumerate() {
        let mut random = bench.random("planes", index as u64);
        let mut read = || {
            let base = random.below((pages / round).max(1)) * round;
            let distance = set.distances[random.below(set.distances.len() as u64) as usize];
            Request::read((base + distance) * page, block)
        };
        let requests = (0..COUNT).map(|_| read()).collect();
        all.push(Series::closed(format!("set-{index}"), DEPTH, requests).run(bench.target)?);
    }
    Ok(all)
}
