//! The buffer for writes, from reads of recently written pages.

use crate::data::Measured;

/// A read that takes longer than the fastest one by this factor comes from flash. Flash takes tens
/// of microseconds, a buffer a few.
const SLOWER: f64 = 2.0;
/// A read from flash takes longer by at least this time. Unit: microseconds.
const LONGER_US: f64 = 4.0;
/// Number of reads that are checked after the first slow one, because a single slow read says
/// nothing.
const CHECKED: usize = 8;
/// Number of the checked reads that have to be slow as well.
const SLOW: usize = 6;

/// The number of pages that came from the buffer, in reads from the last written page backwards. It
/// counts the reads before the first slow one, if most of the following reads were slow, too.
/// `None` if all reads took equal times.
#[must_use]
pub fn buffer_edge(backwards: &Measured) -> Option<usize> {
    let us = |at: usize| backwards.timings[at].latency.as_us();
    let count = backwards.timings.len();
    let fastest = (0..count).map(us).fold(f64::INFINITY, f64::min);
    let is_slow = |at: &usize| us(*at) > SLOWER * fastest && us(*at) > fastest + LONGER_US;
    let slow_after = |at: usize| {
        let next = at..(at + CHECKED).min(count);
        let wanted = SLOW.min(next.len());
        next.filter(is_slow).count() >= wanted
    };
    (0..count).find(|&at| is_slow(&at) && slow_after(at))
}

/// The size of the buffer, from reading back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Exactly this many bytes of written data stay.
    Bytes(u64),
    /// At least this many bytes stay; more was not tried.
    AtLeast(u64),
    /// No written page is read faster than the rest of the drive.
    None,
}

/// The buffer from the series of `read-back`, beside the latency of a small read from flash. Unit:
/// microseconds. `None` without measurements.
#[must_use]
pub fn buffer(series: &[Measured], flash_us: f64) -> Option<Buffer> {
    let back = series.iter().rfind(|one| one.series.name.starts_with("back-"))?;
    let size = series.iter().rfind(|one| one.series.name.starts_with("write-"))?;
    let page = u64::from(size.series.requests.first()?.bytes);
    if let Some(edge) = buffer_edge(back) {
        return Some(if edge == 0 { Buffer::None } else { Buffer::Bytes(edge as u64 * page) });
    }
    let is_fast = back.quantile_us(0.5) * SLOWER < flash_us;
    let all = back.timings.len() as u64 * page;
    Some(if is_fast { Buffer::AtLeast(all) } else { Buffer::None })
}
