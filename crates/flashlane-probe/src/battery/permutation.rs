//! Trims the drive, writes it in order, and then every page once a pass in random order.
//!
//! The drive has to collect once its spare room is used up; from then on writes have an additional
//! cost. The amount written until then is the spare room. Drives that count their writes to flash
//! show this by their counters, others by their speed. Therefore passes are cut into short
//! segments. Drives with more pages than a pass has writes are written in larger pieces. Source:
//! random permutations as a load: uFLIP (CIDR 2009); spare room and write amplification: Desnoyers,
//! "Analytic modeling of SSD write performance" (SYSTOR 2012).

use super::Bench;
use super::conflicts::STEP;
use crate::data::Measured;
use crate::series::{Request, Rule, Series};
use crate::structure::page_size;
use crate::target::Failure;

/// Most writes of a pass.
const WRITES: u64 = 1 << 18;
/// Number of segments of a pass.
pub const SEGMENTS: usize = 128;
/// Number of passes.
const PASSES: u64 = 2;
/// Length of a write of the first pass, in order. Unit: bytes.
const IN_ORDER: u64 = 128 << 10;
/// Number of outstanding writes of the first pass, in order.
const IN_ORDER_DEPTH: u32 = 8;
/// Number of outstanding writes of the passes in random order.
const RANDOM_DEPTH: u32 = 16;

/// Runs the probe.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Measured>, Failure> {
    let facts = bench.target.facts();
    let page = page_size(bench.before.probe("page-boundary")).unwrap_or(STEP);
    let longest = u64::from(facts.longest) / page * page;
    let piece = (facts.bytes / WRITES).max(page).next_multiple_of(page).min(longest.max(page));
    passes(bench, piece, None)
}

/// The pace at which a part of a drive is written, from that of the whole drive.
#[derive(Clone, Copy)]
pub struct Pace<'a> {
    /// The measurements of the whole drive.
    pub measured: &'a [Measured],
    /// Writes to the whole drive for each one to the part.
    pub share: f64,
}

impl Pace<'_> {
    /// Sets the pace of a series from the measured series of its name.
    fn set(&self, series: &mut Series) {
        let Some(one) = self.measured.iter().find(|one| one.series.name == series.name) else {
            return;
        };
        let size = series.requests.len() as u32;
        let stagger_ps = (1e12 / one.iops() * self.share) as u64;
        series.rule = Rule::Bursts { size, stagger_ps, pause_ps: 0 };
    }
}

/// The passes of this probe, with pieces of the given length (unit: bytes), and at a pace if one is
/// given.
///
/// # Errors
///
/// If a request fails.
pub fn passes(
    bench: &mut Bench<'_>,
    piece: u64,
    pace: Option<Pace<'_>>,
) -> Result<Vec<Measured>, Failure> {
    let facts = bench.target.facts();
    let (capacity, long) = (facts.bytes, IN_ORDER.min(u64::from(facts.longest)));
    let mut all = vec![bench.trim_from(0)?];
    let in_order = (0..capacity / long).map(|at| Request::write(at * long, long as u32));
    all.push(Series::closed("in-order", IN_ORDER_DEPTH, in_order.collect()).run(bench.target)?);
    let pieces = capacity / piece;
    for pass in 0..PASSES {
        let mut random = bench.random("permutation", pass);
        let mut places: Vec<u64> = (0..pieces).collect();
        // Fisher and Yates.
        for at in (1..places.len()).rev() {
            places.swap(at, random.below(at as u64 + 1) as usize);
        }
        let segment = places.len().div_ceil(SEGMENTS).max(1);
        for (index, places) in places.chunks(segment).enumerate() {
            let write = |place: &u64| Request::write(place * piece, piece as u32);
            let name = format!("pass-{pass}-{index}");
            let writes = places.iter().map(write).collect();
            let mut series = Series::closed(name, RANDOM_DEPTH, writes);
            if let Some(pace) = pace {
                pace.set(&mut series);
            }
            all.push(series.run(bench.target)?);
        }
    }
    Ok(all)
}
