//! Small reads within a growing part of the drive. If the mapping table does not fit into the
//! memory of the drive, reads within a large part take longer than reads within a small one.
//!
//! Each part contains the one before, so that cached mappings stay as long as possible. Source:
//! DFTL (Gupta, Kim and Urgaonkar, ASPLOS 2009), whose mapping cache such reads miss; the method is
//! uFLIP's (CIDR 2009) locality pattern.

use super::Bench;
use super::conflicts::STEP;
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::structure::page_size;
use crate::target::Failure;

/// The first part. Unit: bytes.
const FIRST: u64 = 1 << 20;
/// Number of reads that load the mappings of the part.
const LOADING: u64 = 1000;
/// Number of reads that are measured.
const MEASURED: u64 = 400;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let facts = bench.target.facts();
    let (block, capacity) = (facts.block.max(512), facts.bytes);
    let page = page_size(bench.before.probe("page-boundary")).unwrap_or(STEP);
    let (mut all, mut part) = (Vec::new(), FIRST);
    while part <= capacity {
        let mut random = bench.random("mapping-cache", part);
        let pages = part / page;
        let mut read = |_| Request::read(random.below(pages) * page, block);
        let known = (0..LOADING.min(4 * pages)).map(&mut read).collect();
        let measured = (0..MEASURED).map(&mut read).collect();
        Series::closed("known", 8, known).run(bench.target)?;
        all.push(Series::single(format!("within-{part}"), measured).run(bench.target)?);
        part *= 2;
    }
    Ok(all)
}
