//! What the measurements show without simulating.

use super::{Geometry, candidates, levels, page_size, pattern, planes};
use crate::battery::conflicts::steps;
use crate::data::{Collected, Measured};

/// What the measurements show about the inside of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside {
    /// The page. Unit: bytes. `None` where it cannot be told.
    pub page: Option<u64>,
    /// Every geometry that makes the measured conflicts, the plainest first; none where the drive
    /// places data in no order that repeats itself.
    pub geometries: Vec<Geometry>,
    /// Latencies of small reads, one for each kind of page. Unit: microseconds.
    pub levels: Vec<f64>,
}

impl Inside {
    /// Looks at what was measured.
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

    /// Geometries with different channels or dies on a channel, as places in the
    /// list: whether dies share a chip changes nothing, and of planes that reads do not show the
    /// fewest are taken. One place where nothing is known.
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

    /// Dies have several planes, by one of the geometries that differ.
    #[must_use]
    pub fn shows_planes(&self) -> bool {
        let planes = |index: usize| self.geometries.get(index).map_or(1, |one| one.planes);
        self.different().into_iter().any(|index| planes(index) > 1)
    }

    /// The page and the geometry are known.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.page.is_some() && !self.geometries.is_empty()
    }
}

/// Latencies of all small reads one at a time of `conflicts`, else of `idle-latency`. Unit:
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
