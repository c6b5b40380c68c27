//! Writes a page, and reads another one of the same plane at once, twice. The first read waits for
//! the program, the second one for an erase if one began meanwhile.
//!
//! Everything is trimmed first, so that no collection has to move data, except for the first page,
//! which is read. Each page is written once, since drives keep pages that are rewritten in their
//! buffer. Writes of that plane without a pause follow: how long a program takes on average shows
//! even where reads interrupt programs. Source: reads behind programs and erases: Wu and He,
//! "Reducing SSD read latency via NAND flash program and erase suspension" (FAST 2012), section 2.

use super::Bench;
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::structure::Inside;
use crate::target::Failure;

/// Writes that are followed by reads.
const COUNT: usize = 400;
/// Writes without a pause, and how many of them are outstanding.
const ON_PLANE: (usize, u32) = (400, 64);
/// A drive forgets in this time what was rewritten lately. Unit: microseconds.
const FORGETS_US: u64 = 1_500_000;

/// Measures.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let inside = Inside::of(bench.before);
    let (Some(page), Some(geometry)) = (inside.page, inside.geometries.first()) else {
        return Ok(Vec::new());
    };
    let facts = bench.target.facts();
    let (block, pages) = (facts.block.max(512), facts.bytes / page);
    let wanted = COUNT + ON_PLANE.0;
    let places = (1..pages).filter(|&place| geometry.on_first_plane(place)).take(wanted);
    let places: Vec<u64> = places.collect();
    if places.len() < 16 {
        return Ok(Vec::new());
    }
    let mut all = vec![bench.trim_from(page)?];
    let write = |place: &u64| Request::write(place * page, page as u32);
    let read = Request::read(0, block);
    let with_reads = places.iter().take(COUNT).flat_map(|place| [write(place), read, read]);
    all.push(Series::single("one-by-one", with_reads.collect()).run(bench.target)?);
    bench.pause_us(FORGETS_US)?;
    // The last ones first: where there are not enough places, some are written again.
    let writes = places.iter().rev().take(ON_PLANE.0).map(write).collect();
    all.push(Series::closed("without-pause", ON_PLANE.1, writes).run(bench.target)?);
    Ok(all)
}
