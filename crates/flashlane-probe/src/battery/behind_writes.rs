//! Writes a page, and at once reads another page of the same plane, twice. The first read waits for
//! the program, and the second for an erase if one began meanwhile.
//!
//! Everything is trimmed first, so that no collection has to move data, except for the first page,
//! which is read. Each page is written once, since drives keep pages that are rewritten in their
//! buffer. Writes of that plane without a pause follow: they show the mean time of a program even
//! if reads interrupt programs. Source: reads behind programs and erases: Wu and He, "Reducing SSD
//! read latency via NAND flash program and erase suspension" (FAST 2012), section 2.

use super::Bench;
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::structure::{Inside, Programs};
use crate::target::Failure;

/// Writes that are followed by reads.
const COUNT: usize = 60;
/// Writes without a pause, and how many of them are outstanding. If too few erases are seen, there
/// are more, up to all pages of the plane.
const ON_PLANE: (usize, u32) = (512, 64);
/// Most writes without a pause.
const MOST: usize = 1 << 14;
/// Time after which a drive has forgotten recent rewrites. Unit: microseconds.
const FORGETS_US: u64 = 1_500_000;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let inside = Inside::of(bench.before);
    let (Some(page), Some(geometry)) = (inside.page, inside.geometries.first()) else {
        return Ok(Vec::new());
    };
    let facts = bench.target.facts();
    let (block, pages) = (facts.block.max(512), facts.bytes / page);
    let places = (1..pages).filter(|&place| geometry.on_first_plane(place)).take(COUNT + MOST);
    let places: Vec<u64> = places.collect();
    if places.len() < 2 * COUNT {
        return Ok(Vec::new());
    }
    let mut all = vec![bench.trim_from(page)?];
    let write = |place: &u64| Request::write(place * page, page as u32);
    let read = Request::read(0, block);
    let with_reads = places.iter().take(COUNT).flat_map(|place| [write(place), read, read]);
    all.push(Series::single("one-by-one", with_reads.collect()).run(bench.target)?);
    // Enough to show some erases: from the last pages backwards, which were not written yet.
    let mut count = ON_PLANE.0;
    let writes = loop {
        bench.pause_us(FORGETS_US)?;
        let writes = places.iter().rev().take(count).map(write).collect();
        let writes = Series::closed("without-pause", ON_PLANE.1, writes).run(bench.target)?;
        let found = Programs::of(std::slice::from_ref(&writes));
        if found.is_some_and(|found| found.pages_per_block.is_some()) || count >= places.len() {
            break writes;
        }
        count *= 2;
    };
    all.push(writes);
    Ok(all)
}
