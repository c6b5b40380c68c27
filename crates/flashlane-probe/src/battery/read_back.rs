//! Writes some pages, waits, and reads them back, the last one first. Pages that are still in the
//! buffer come back fast: the reads before the first slow one count the pages of the buffer.
//!
//! The number of pages doubles until some come from flash. Small reads are enough, since a page is
//! either in the buffer or not. Source: reads of recent writes: Chen, Koufaty and Zhang (SIGMETRICS
//! 2009); the size of the buffer from the latency of a few requests: SSDCheck (MICRO 2018).

use super::Bench;
use super::conflicts::STEP;
use crate::data::Measured;
use crate::series::{Request, Series};
use crate::structure::{buffer_edge, page_size};
use crate::target::Failure;

/// Pages that are written first.
const FIRST: u64 = 32;
/// Most bytes that are written at once, if the capacity allows it.
const MOST: u64 = 2 << 30;
/// Time from the last write to the first read. Unit: microseconds.
const PAUSE_US: u64 = 200_000;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let facts = bench.target.facts();
    let (block, capacity) = (facts.block.max(512), facts.bytes);
    let page = page_size(bench.before.probe("page-boundary")).unwrap_or(STEP);
    let pages = capacity / page;
    let (mut all, mut at, mut count) = (Vec::new(), 0, FIRST);
    while count <= pages / 4 && count * page <= MOST {
        // Places that were not written recently.
        if at + count > pages {
            at = 0;
        }
        let places = at..at + count;
        let writes = places.clone().map(|place| Request::write(place * page, page as u32));
        all.push(Series::single(format!("write-{count}"), writes.collect()).run(bench.target)?);
        bench.pause_us(PAUSE_US)?;
        let reads = places.rev().map(|place| Request::read(place * page, block));
        let read = Series::single(format!("back-{count}"), reads.collect()).run(bench.target)?;
        let is_over = buffer_edge(&read).is_some();
        all.push(read);
        if is_over {
            break;
        }
        at += count;
        count *= 2;
    }
    Ok(all)
}
