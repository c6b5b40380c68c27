//! Facts that the measurements show without simulation.

use super::{Geometry, candidates, levels, page_size, pattern, planes};
use crate::battery::conflicts::steps;
use crate::data::{Collected, Measured};

/// Facts about the inside of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside {
    /// The page. Unit: bytes. `None` if it is unknown.
    pub page: Option<u64>,
    /// Every geometry that gives the measured conflicts, simplest first. Empty if the drive does
    /// not place data in a periodic order.
    pub geometries: Vec<Geometry>,
    /// Latencies of small reads, one for each kind of page. Unit: microseconds.
    pub levels: Vec<f64>,
}

impl Inside {
    /// Analyses the measurements.
    #[must_use]
    pub fn of(data: &Collected) -> Self {
        let page = page_size(data.probe("page-boundary"));
        let geometries = page.and_then(|page| {
            let candidates = candidates(&pattern(data.probe("conflicts"), page)?);
            let steps = steps(data.facts.bytes / page);
            Some(planes::allowed(candidates, data.probe("planes"), steps))
        });
        let levels = levels(small_reads(data));
        Self { page, geometries: geometries.unwrap_or_default(), levels }
    }

    /// Geometries that differ in channels or in dies on a channel, as indices into the list.
    /// Whether dies share a chip makes no difference, and of the numbers of planes that reads do
    /// not show, the smallest is taken. A single index if nothing is known.
    #[must_use]
    pub fn different(&self) -> Vec<usize> {
        let mut seen: Vec<(u32, u32)> = Vec::new();
        let mut kept = Vec::new();
        for (index, geometry) in self.geometries.iter().enumerate() {
            let kind = (geometry.channels, geometry.dies_per_channel());
            if !seen.contains(&kind) {
                seen.push(kind);
                kept.push(index);
            }
        }
        if kept.is_empty() { vec![0] } else { kept }
    }

    /// True if dies have several planes, by one of the distinct geometries.
    #[must_use]
    pub fn shows_planes(&self) -> bool {
        let planes = |index: usize| self.geometries.get(index).map_or(1, |one| one.planes);
        self.different().into_iter().any(|index| planes(index) > 1)
    }

    /// True if the page and the geometry are known.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.page.is_some() && !self.geometries.is_empty()
    }
}

/// Latencies of all small single reads: those of `conflicts`, or else of `idle-latency`. Unit:
/// microseconds.
fn small_reads(data: &Collected) -> Vec<f64> {
    let latencies = |one: &Measured| -> Vec<f64> {
        one.timings.iter().map(|timing| timing.latency.as_us()).collect()
    };
    let alone = |one: &&Measured| one.series.name.starts_with("small-alone");
    let pairs: Vec<f64> =
        data.probe("conflicts").iter().filter(alone).flat_map(latencies).collect();
    match pairs.is_empty() {
        true => data.probe("idle-latency").first().map(latencies).unwrap_or_default(),
        false => pairs,
    }
}
