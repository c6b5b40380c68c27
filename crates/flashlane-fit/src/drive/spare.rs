//! The spare room, from how a drive collects. Small drives with more and more blocks are written as
//! the measured drive was, until one collects as much.
//!
//! Collection of a plane depends only on its own blocks. Therefore a drive with a single plane
//! stands for all planes.

use std::collections::BTreeMap;

use flashlane::Error;
use flashlane::config::load::{self, Overrides};
use flashlane_probe::battery::{Bench, permutation};
use flashlane_probe::structure::spare_curve;
use flashlane_probe::{Collected, Simulated, Target};

use super::replay::failed;
use crate::calibrate::Interval;

/// Most blocks of the simulated plane; of a larger plane, it has a part.
const MOST_BLOCKS: u64 = 1024;
/// Range of the search. Unit: share of the logical capacity.
const RANGE: (f64, f64) = (0.02, 1.0);
/// Largest relative difference in collection between the drives that counts as equal.
const SAME: f64 = 0.05;
/// A curve that differs by more than this share in the middle shows another policy of collection.
pub(super) const OTHER: f64 = 0.08;
/// Victim policies that are tried: that of the base first, then others until one fits.
const VICTIMS: [Option<&str>; 4] = [None, Some("greedy"), Some("fifo"), Some("random")];

/// Facts that are known before the spare room is searched.
pub(super) struct Plane<'a> {
    pub(super) data: &'a Collected,
    pub(super) base: &'a str,
    pub(super) seed: u64,
    /// Page size. Unit: bytes.
    pub(super) page: u64,
    pub(super) pages_per_block: u64,
    /// Planes of the whole drive.
    pub(super) planes: u64,
    /// The buffer of the whole drive. Unit: bytes.
    pub(super) buffer: Option<u64>,
    /// Time of a read alone and of a program, as means. Unit: microseconds.
    pub(super) read_us: f64,
    pub(super) program_us: f64,
}

/// Spare room of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Spare {
    /// Spare room as a share of the logical capacity.
    pub over_provisioning: f64,
    /// The interval that contains it with a probability of 95 %.
    pub interval: Interval,
    /// The measured write amplification, over the passes.
    pub measured: Vec<f64>,
    /// The write amplification of the simulated drive, over the passes.
    pub fitted: Vec<f64>,
    /// True if the measurement is from the drive's own counters.
    pub counted: bool,
    /// The victim policy, if it is not that of the base.
    pub victim: Option<&'static str>,
    /// Relative difference of the curves in the middle.
    pub differs: f64,
}

impl Spare {
    /// True if the curves agree.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.differs < OTHER
    }
}

impl Plane<'_> {
    /// Logical pages of a plane of the drive.
    fn pages(&self) -> u64 {
        self.data.facts.bytes / self.page / self.planes
    }

    /// Logical pages of the plane that is simulated.
    fn part(&self) -> u64 {
        self.pages().min(MOST_BLOCKS * self.pages_per_block)
    }

    /// Time of moving a page. Unit: programs.
    fn copy(&self) -> f64 {
        1.0 + self.read_us / self.program_us
    }

    /// Finds the spare room. `None` if the drive was not written, or never collected.
    pub(super) fn spare(&self, progress: &(dyn Fn() + Sync)) -> Result<Option<Spare>, Error> {
        let mut best: Option<Spare> = None;
        for victim in VICTIMS {
            let Some(spare) = self.with_victim(victim, progress)? else { return Ok(None) };
            if best.as_ref().is_none_or(|best| spare.differs < best.differs) {
                best = Some(spare);
            }
            if best.as_ref().is_some_and(Spare::fits) {
                break;
            }
        }
        Ok(best)
    }

    fn with_victim(
        &self,
        victim: Option<&'static str>,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Option<Spare>, Error> {
        let series = self.data.probe("permutation");
        let Some((measured, counted)) = spare_curve(series, self.copy()) else { return Ok(None) };
        let wanted = cost(&measured);
        if self.part() < 8 * self.pages_per_block || wanted < 0.02 {
            return Ok(None);
        }
        let blocks = |spare: f64| {
            ((1.0 + spare) * self.part() as f64 / self.pages_per_block as f64).ceil() as u64
        };
        // Below the lower end, collection itself would have no free blocks.
        let (mut low, mut high) = (blocks(RANGE.0).max(blocks(0.0) + 5), blocks(RANGE.1));
        let mut tried = BTreeMap::new();
        while high - low > (low / 200).max(1) {
            let middle = u64::midpoint(low, high);
            progress();
            let curve = self.curve(middle, counted, victim)?;
            *(if cost(&curve) > wanted { &mut low } else { &mut high }) = middle;
            tried.insert(middle, curve);
        }
        let off = |curve: &Vec<f64>| libm::log(cost(curve) / wanted);
        let best = tried.iter().min_by(|one, two| off(one.1).abs().total_cmp(&off(two.1).abs()));
        let Some((&at, fitted)) = best else { return Ok(None) };
        let spare = |blocks: f64| blocks * self.pages_per_block as f64 / self.part() as f64 - 1.0;
        // Change of the cost per block, from the closest other number of blocks that was tried.
        let others = tried.iter().filter(|(other, _)| **other != at);
        let near = others.min_by_key(|(other, _)| other.abs_diff(at));
        let slope = near.map_or(SAME, |(&other, curve)| {
            (off(curve) - off(fitted)).abs() / other.abs_diff(at) as f64
        });
        let around = (if counted { SAME } else { 4.0 * SAME } / slope.max(1e-6)).max(1.0);
        let differs = measured.iter().zip(fitted).map(|(one, two)| libm::log(two / one).abs());
        let differs = flashlane_probe::structure::median(differs.collect());
        Ok(Some(Spare {
            over_provisioning: spare(at as f64),
            interval: Interval {
                low: spare(at as f64 - around).max(0.0),
                high: spare(at as f64 + around),
                at_low: false,
                at_high: false,
            },
            measured,
            fitted: fitted.clone(),
            counted,
            victim,
            differs,
        }))
    }

    /// The curve of a plane with `blocks` blocks.
    fn curve(&self, blocks: u64, counted: bool, victim: Option<&str>) -> Result<Vec<f64>, Error> {
        let pages = blocks * self.pages_per_block;
        let part = self.part() as f64;
        let mut sets: Vec<String> = ["channels", "chips_per_channel", "dies_per_chip"]
            .iter()
            .map(|key| format!("flash.{key}=1"))
            .collect();
        let page = self.page;
        sets.extend([
            "flash.planes_per_die=1".to_owned(),
            "flash.technology=slc".to_owned(),
            format!("flash.page_size={page}B"),
            format!("flash.pages_per_block={}", self.pages_per_block),
            format!("flash.blocks_per_plane={blocks}"),
            format!("flash.read_time=[\"{:.0}ns\"]", self.read_us * 1e3),
            format!("flash.program_time=[\"{:.0}ns\"]", self.program_us * 1e3),
            format!("ftl.over_provisioning={:.9}", pages as f64 / part - 1.0),
            "ftl.mapping.ideal=true".to_owned(),
            "ftl.allocation=cwdp".to_owned(),
        ]);
        sets.extend(super::keys::collection());
        sets.extend(victim.map(|victim| format!("ftl.gc.victim={victim}")));
        if let Some(buffer) = self.buffer {
            let share = part / (self.data.facts.bytes / page) as f64;
            let capacity = ((buffer as f64 * share) as u64 / page).max(1) * page;
            sets.push(format!("cache.capacity={capacity}B"));
        }
        let overrides = Overrides { sets, ..Overrides::default() };
        let config = load::device(self.base, &overrides)?.config;
        let mut drive = Simulated::new(&config, self.seed, counted).map_err(failed)?;
        let measured = self.data.probe("permutation");
        let first = self.data.series("permutation", "pass-0-0");
        let whole = first.map_or(page, |one| u64::from(one.series.requests[0].bytes));
        let piece = (whole / self.planes).max(page) / page * page;
        let share = (piece * self.planes) as f64 / whole as f64;
        let target: &mut dyn Target = &mut drive;
        let mut bench = Bench { target, seed: self.seed, before: self.data };
        let pace = Some(permutation::Pace { measured, share });
        let series = permutation::passes(&mut bench, piece, pace).map_err(failed)?;
        Ok(spare_curve(&series, self.copy()).map(|(curve, _)| curve).unwrap_or_default())
    }
}

/// Mean additional cost of a write because of collection. Unit: programs.
fn cost(curve: &[f64]) -> f64 {
    (curve.iter().sum::<f64>() / curve.len() as f64 - 1.0).max(1e-3)
}
