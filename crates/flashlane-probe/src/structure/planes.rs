//! Planes of a die, from the rate at which a die reads.

use super::geometry::Geometry;
use crate::data::Measured;

/// Least share by which a die is faster if it serves reads of several planes together.
const FASTER: f64 = 0.06;

/// Addresses that lie on one plane, by some of the geometries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// Distances from the start of a round. Unit: pages.
    pub distances: Vec<u64>,
    /// The geometries by which they do, as indices into the list.
    pub of: Vec<usize>,
}

/// The addresses on the first plane by each of the geometries, up to a distance.
#[must_use]
pub fn sets(candidates: &[Geometry], steps: u64) -> Vec<Set> {
    let mut sets: Vec<Set> = Vec::new();
    for (index, geometry) in candidates.iter().enumerate() {
        let distances: Vec<u64> =
            (0..=steps).filter(|&page| geometry.on_first_plane(page)).collect();
        match sets.iter_mut().find(|set| set.distances == distances) {
            Some(set) => set.of.push(index),
            None => sets.push(Set { distances, of: vec![index] }),
        }
    }
    sets
}

/// The geometries that the series of `planes` allow. Reads of their addresses on one plane must be
/// as slow as any, and no geometry with fewer planes may have the same addresses. All geometries if
/// none is faster, since the drive then never reads planes together.
#[must_use]
pub fn allowed(candidates: Vec<Geometry>, series: &[Measured], steps: u64) -> Vec<Geometry> {
    let sets = sets(&candidates, steps);
    if series.len() != sets.len() {
        return candidates;
    }
    let speeds: Vec<f64> = series.iter().map(Measured::iops).collect();
    let slowest = speeds.iter().copied().fold(f64::INFINITY, f64::min);
    let is_slow = |speed: f64| speed < slowest * (1.0 + FASTER);
    if speeds.iter().all(|speed| is_slow(*speed)) {
        return candidates;
    }
    let planes = |set: &Set| candidates[set.of[0]].planes;
    let slow = || sets.iter().zip(&speeds).filter(|(_, speed)| is_slow(**speed));
    let fewest = slow().map(|(set, _)| planes(set)).min().unwrap_or(1);
    let kept: Vec<usize> = slow()
        .filter(|(set, _)| planes(set) == fewest)
        .flat_map(|(set, _)| set.of.clone())
        .collect();
    kept.into_iter().map(|index| candidates[index].clone()).collect()
}
