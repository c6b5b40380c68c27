//! Programs and erases, from writes of one plane without a pause. The writes end one program apart,
//! or one erase later if the plane erased a block in between.

use super::{levels, median};
use crate::data::Measured;

/// Programs are measured in the later half of the series: its length divided by this.
const LATER: usize = 2;
/// A gap that differs from every level by more than this share, and is above the shortest, contains
/// an erase.
const OTHER: f64 = 0.04;
/// A gap shorter than this share of the median belongs to a write that the buffer took.
const SHORT: f64 = 0.3;
/// Largest relative difference of a gap that counts as explained.
const ALIKE: f64 = 0.005;
/// Least number of pages of a block.
const LEAST_PAGES: usize = 4;
/// One in this many distances between erases may differ from the others.
const STRAYS: usize = 5;
/// Largest standard error of a slope that counts as certain. Unit: pages.
const SURE: f64 = 0.25;
/// Reads interrupt programs if the first read behind a program waits, beyond the time of a read
/// alone, for less than this share of a program.
const INTERRUPTED: f64 = 0.4;
/// Reads wait for a program of their plane if they wait for less than this multiple of the mean
/// program without a pause.
const LONGER: f64 = 1.4;
/// Least time of an interruption. Unit: microseconds.
const NOTHING_US: f64 = 2.0;

/// Results of writes to one plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Programs {
    /// Time from one write to the next, for each kind of page: the program, and the part of the
    /// bus. Unit: microseconds.
    pub levels: Vec<f64>,
    /// tBERS. Unit: microseconds. `None` if no erase was seen.
    pub erase_us: Option<f64>,
    /// Pages of a block. `None` if two erases were not seen, or not at a steady distance.
    pub pages_per_block: Option<u64>,
    /// Number of writes that are accepted before the first one waits for flash. Unit: pages.
    pub bound: u64,
    /// The wait of a read of the same plane directly after a write.
    pub wait: Wait,
}

/// The wait of a read directly after a write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wait {
    /// The whole program.
    Program,
    /// The program's interruption. Unit: microseconds.
    Interruption(f64),
    /// Nothing, or much more than a program that starts when another program of that plane ends.
    /// Writes then go elsewhere than the order of pages says.
    Elsewhere,
}

impl Programs {
    /// Analyses the series of `behind-writes`. `None` without measurements, or if writes do not
    /// wait for flash.
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
        let shortest = levels.iter().copied().fold(f64::INFINITY, f64::min);
        let is_program = |gap: f64| levels.iter().any(|one| (gap / one - 1.0).abs() < OTHER);
        let has_erase = |gap: f64| gap > shortest && !is_program(gap);
        let from = bound as usize + 1;
        let at: Vec<usize> = (from..gaps.len()).filter(|&at| has_erase(gaps[at])).collect();
        let with_erases: Vec<f64> = at.iter().map(|&at| gaps[at]).collect();
        let erase_us = erase(&with_erases, &levels);
        let pages_per_block = steady(&at);
        let program = levels.iter().sum::<f64>() / levels.len() as f64;
        let wait = named("one-by-one").map_or(Wait::Program, |one| wait(one, program));
        Some(Self { levels, erase_us, pages_per_block, bound, wait })
    }
}

/// Time from the end of a write to that of the next one. Unit: microseconds.
#[must_use]
pub fn gaps(writes: &Measured) -> Vec<f64> {
    let mut ends: Vec<_> = writes.timings.iter().map(|one| one.sent + one.latency).collect();
    ends.sort_unstable();
    ends.windows(2).map(|two| two[1].saturating_sub(two[0]).as_us()).collect()
}

/// The erase that explains most gaps together with a program of some kind of page. The longer of
/// two candidates is taken, because the first page of a block is a fast page. Unit: microseconds.
fn erase(gaps: &[f64], levels: &[f64]) -> Option<f64> {
    let candidates = gaps.iter().flat_map(|gap| levels.iter().map(move |level| gap - level));
    let explained = |erase: f64| {
        let by = |gap: &&f64, level: &f64| (*gap / (erase + level) - 1.0).abs() < ALIKE;
        gaps.iter().filter(|gap| levels.iter().any(|level| by(gap, level))).count()
    };
    let best = candidates.filter(|erase| *erase > 0.0).map(|erase| (explained(erase), erase));
    let better =
        |one: &(usize, f64), two: &(usize, f64)| one.0.cmp(&two.0).then(one.1.total_cmp(&two.1));
    best.max_by(better).map(|(_, erase)| erase)
}

/// The distance between places, if all but a few distances are equal. Otherwise the slope of a line
/// through the places, if it is certain, because an erase may wait for some of the writes.
fn steady(places: &[usize]) -> Option<u64> {
    let mut distances: Vec<usize> = places.windows(2).map(|two| two[1] - two[0]).collect();
    if distances.len() < 2 {
        return None;
    }
    distances.sort_unstable();
    let middle = distances[distances.len() / 2];
    let strays = distances.iter().filter(|one| **one != middle).count();
    let distance = match strays * STRAYS <= distances.len() {
        true => middle,
        false => slope(places)?,
    };
    (distance >= LEAST_PAGES).then_some(distance as u64)
}

/// The slope of a line through places, in whole numbers; `None` if it is not certain.
fn slope(places: &[usize]) -> Option<usize> {
    let count = places.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let mean = places.iter().sum::<usize>() as f64 / count;
    let from_middle = |at: usize| at as f64 - middle;
    let squares: f64 = (0..places.len()).map(|at| from_middle(at) * from_middle(at)).sum();
    let products = places.iter().enumerate().map(|(at, place)| from_middle(at) * *place as f64);
    let slope = products.sum::<f64>() / squares;
    let off = |(at, place): (usize, &usize)| *place as f64 - mean - slope * from_middle(at);
    let rest: f64 = places.iter().enumerate().map(off).map(|off| off * off).sum();
    let error = (rest / (count - 2.0).max(1.0) / squares).sqrt();
    (error < SURE).then_some(slope.round() as usize)
}

/// The wait of reads directly after writes, compared with the next read.
fn wait(one_by_one: &Measured, program_us: f64) -> Wait {
    let latencies = |which: usize| -> Vec<f64> {
        let of = one_by_one.timings.chunks_exact(3);
        of.map(|three| three[which].latency.as_us()).collect()
    };
    let (behind, alone) = (latencies(1), median(latencies(2)));
    let mean = behind.iter().sum::<f64>() / behind.len().max(1) as f64 - alone;
    let wait = median(behind) - alone;
    match wait < INTERRUPTED * program_us {
        _ if mean > LONGER * program_us || wait < NOTHING_US => Wait::Elsewhere,
        true => Wait::Interruption(wait),
        false => Wait::Program,
    }
}
