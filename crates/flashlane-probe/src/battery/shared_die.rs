//! Reads of one die, and reads of one channel.
//!
//! A die that is never idle shows the time of its array, and a channel that is never idle shows the
//! time of its bus for a page. The conflicts tell which pages share a die or a channel. Source:
//! Chen, Lee and Zhang (HPCA 2011), section 4.

use super::Bench;
use super::conflicts::{STEP, round, steps};
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::structure::{Conflict, page_size, pattern};
use crate::target::Failure;

/// Reads of a series.
const COUNT: u64 = 1000;
/// Outstanding reads of one die: while one is served, another one waits.
const ON_DIE: u32 = 2;
/// Outstanding reads of one channel.
const ON_CHANNEL: u32 = 64;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let facts = bench.target.facts();
    let (block, capacity) = (facts.block.max(512), facts.bytes);
    let page = page_size(bench.before.probe("page-boundary")).unwrap_or(STEP);
    let Some(pattern) = pattern(bench.before.probe("conflicts"), page) else {
        return Ok(Vec::new());
    };
    let pages = capacity / page;
    let round = round(steps(pages), pages);
    let mut all = Vec::new();
    for (name, least, depth) in
        [("die", Conflict::Die, ON_DIE), ("channel", Conflict::Channel, ON_CHANNEL)]
    {
        let met = pattern.conflicts.iter().enumerate().filter(|(_, conflict)| **conflict >= least);
        let places: Vec<u64> = std::iter::once(0).chain(met.map(|(at, _)| at as u64 + 1)).collect();
        for (size, bytes) in [("small", block), ("page", page as u32)] {
            let mut random = bench.random("shared-die", u64::from(bytes));
            let mut read = || {
                let base = random.below((pages / round).max(1)) * round;
                let place = places[random.below(places.len() as u64) as usize];
                Request::read((base + place) * page, bytes)
            };
            let requests = (0..COUNT).map(|_| read()).collect();
            all.push(Series::closed(format!("{name}-{size}"), depth, requests).run(bench.target)?);
        }
    }
    Ok(all)
}
