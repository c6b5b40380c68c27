//! Programs and erases, from writes of one plane without a pause: they end one program apart, and
//! one erase later where the plane erased a block in between.

use super::{levels, median};
use crate::data::Measured;

/// Writes at the end of the series that show programs: its later half.
const LATER: usize = 2;
/// A gap that is longer than the longest program by this share has an erase in it.
const LONGER: f64 = 1.3;
/// A gap shorter than this share of the middle one belongs to a write that the buffer took.
const SHORT: f64 = 0.3;
/// Distances between erases that have to be alike. Unit: one in so many may differ.
const STRAYS: usize = 5;
/// Beside a read alone, the first read behind a program waits for less than this share of a
/// program where reads interrupt programs.
const INTERRUPTED: f64 = 0.4;

/// What writes to one plane show.
#[derive(Clone, Debug, PartialEq)]
pub struct Programs {
    /// From one write to the next, one for each kind of page: the program, and what the bus adds.
    /// Unit: microseconds.
    pub levels: Vec<f64>,
    /// tBERS. Unit: microseconds. `None` where no erase was seen.
    pub erase_us: Option<f64>,
    /// Pages of a block. `None` where no two erases were seen, or not at a steady distance.
    pub pages_per_block: Option<u64>,
    /// Writes that are taken before the first one waits for flash. Unit: pages.
    pub bound: u64,
    /// How long a read waits until a program is interrupted for it. Unit: microseconds. `None`
    /// where it waits for the whole program.
    pub interrupted_after_us: Option<f64>,
}

impl Programs {
    /// From the series of `behind-writes`; `kinds` of pages at most are looked for. `None` where
    /// nothing was measured, or writes do not wait for flash.
    #[must_use]
    pub fn of(series: &[Measured]) -> Option<Self> {
        let named = |name: &str| series.iter().find(|one| one.series.name == name);
        let writes = named("without-pause")?;
        let gaps = gaps(writes);
        let later = &gaps[gaps.len() / LATER..];
        let middle = median(later.to_vec());
        if later.len() < 8 || middle <= 0.0 {
            return None;
        }
        let bound = gaps.iter().position(|gap| *gap > SHORT * middle)? as u64 + 1;
        let levels = levels(later.to_vec());
        let longest = levels.iter().copied().fold(0.0, f64::max);
        let at: Vec<usize> = (0..gaps.len()).filter(|&at| gaps[at] > LONGER * longest).collect();
        let erases = at.iter().filter_map(|&at| {
            // The page so many later is of the same kind.
            let alike = gaps.get(at + levels.len()).or_else(|| gaps.get(at - levels.len()))?;
            (*alike < LONGER * longest).then_some(gaps[at] - alike)
        });
        let erases: Vec<f64> = erases.collect();
        let erase_us = (!erases.is_empty()).then(|| median(erases));
        let pages_per_block = steady(&at);
        let interrupted_after_us = named("one-by-one").and_then(|one| waits(one, middle));
        Some(Self { levels, erase_us, pages_per_block, bound, interrupted_after_us })
    }
}

/// From the end of a write to that of the next one. Unit: microseconds.
#[must_use]
pub fn gaps(writes: &Measured) -> Vec<f64> {
    let mut ends: Vec<_> = writes.timings.iter().map(|one| one.sent + one.latency).collect();
    ends.sort_unstable();
    ends.windows(2).map(|two| two[1].saturating_sub(two[0]).as_us()).collect()
}

/// The distance of places that are as far apart, but for a few.
fn steady(places: &[usize]) -> Option<u64> {
    let distances: Vec<usize> = places.windows(2).map(|two| two[1] - two[0]).collect();
    if distances.len() < 2 {
        return None;
    }
    let mut sorted = distances.clone();
    sorted.sort_unstable();
    let distance = sorted[sorted.len() / 2];
    let strays = distances.iter().filter(|one| **one != distance).count();
    (strays * STRAYS <= distances.len()).then_some(distance as u64)
}

/// How much longer a read right behind a write takes than the next one, if that is much less than a
/// program. Unit: microseconds.
fn waits(one_by_one: &Measured, program_us: f64) -> Option<f64> {
    let latencies = |which: usize| -> Vec<f64> {
        let of = one_by_one.timings.chunks_exact(3);
        of.map(|three| three[which].latency.as_us()).collect()
    };
    let wait = median(latencies(1)) - median(latencies(2));
    (wait < INTERRUPTED * program_us).then_some(wait.max(0.0))
}
