//! Small reads at every block, within pages and over their ends, one at a time and in pairs.
//!
//! A read over the end of a page takes a different time than a read within a page. Two simultaneous
//! reads within a page wait for each other, but often not if the second page is on another die.
//! Source: the alignment pattern of uFLIP (CIDR 2009); the page as the unit below the mapping:
//! Chen, Koufaty and Zhang, SIGMETRICS 2009.

use super::Bench;
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::target::Failure;

/// Number of places that are read.
const PLACES: usize = 24;
/// Number of places where pairs are read.
const PAIRED: usize = 8;
/// Length of a place: more than one page of any drive. Unit: bytes.
pub const SPAN: u64 = 64 << 10;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let block = bench.target.facts().block;
    let mut random = bench.random("page-boundary", 0);
    let mut all = Vec::new();
    for place in 0..PLACES {
        let base = bench.address(&mut random, 2 * SPAN as u32);
        let reads = (0..SPAN / u64::from(block))
            .map(|at| Request::read(base + at * u64::from(block), 2 * block))
            .collect();
        all.push(Series::single(format!("place-{place}"), reads).run(bench.target)?);
    }
    for place in 0..PAIRED {
        let base = bench.address(&mut random, 2 * SPAN as u32);
        let reads = (1..SPAN / u64::from(block)).flat_map(|at| {
            [Request::read(base, block), Request::read(base + at * u64::from(block), block)]
        });
        let name = format!("pairs-{place}");
        all.push(Series::bursts(name, 2, reads.collect()).run(bench.target)?);
    }
    Ok(all)
}
