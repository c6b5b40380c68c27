//! Deals chips, or channels of chips, out to flows.

use flashlane_engine::Array;
use flashlane_units::ChipId;

use crate::layout::{FlowSpace, Geometry};

/// The chips that the resource lists of a flow name.
fn admitted(geometry: Geometry, flow: &FlowSpace) -> Array<ChipId, bool> {
    let mut admitted = Array::of(false, geometry.chips() as usize);
    for &channel in &flow.lists[0] {
        for &chip in &flow.lists[1] {
            admitted[geometry.chip(channel, chip)] = true;
        }
    }
    admitted
}

/// Gives every unit, a group of chips, to a flow whose resource lists name one of its chips. First
/// every flow gets one unit; flows with the least choice come first. Each further unit goes to the
/// flow with the fewest units for its weight. Ties go to the lowest unit and the lowest flow.
/// Returns the chips of each flow, sorted; a set is empty where no unit was left.
pub(super) fn deal(
    geometry: Geometry,
    units: &[Vec<ChipId>],
    flows: &[FlowSpace],
    weights: &[u64],
) -> Vec<Vec<ChipId>> {
    let admitted: Vec<Array<ChipId, bool>> =
        flows.iter().map(|flow| admitted(geometry, flow)).collect();
    let admits = |flow: usize, unit: &[ChipId]| unit.iter().any(|&chip| admitted[flow][chip]);
    let choice = |flow: usize| units.iter().filter(|unit| admits(flow, unit)).count();
    let mut taken = vec![false; units.len()];
    let mut sets = vec![Vec::new(); flows.len()];
    let mut counts = vec![0_u64; flows.len()];
    let mut give = |flow: usize, counts: &mut [u64]| {
        let found = (0..units.len()).find(|&unit| !taken[unit] && admits(flow, &units[unit]));
        if let Some(unit) = found {
            debug_assert!(!taken[unit], "a unit goes to one flow");
            taken[unit] = true;
            counts[flow] += 1;
            sets[flow].extend(units[unit].iter().filter(|&&chip| admitted[flow][chip]));
        }
        found.is_some()
    };
    let mut open: Vec<usize> = (0..flows.len()).collect();
    open.sort_by_key(|&flow| choice(flow));
    open.retain(|&flow| give(flow, &mut counts));
    while !open.is_empty() {
        let hunger = |&flow: &usize| {
            // Larger for a flow with fewer units for its weight: weight / (units + 1) as a
            // fixed-point number.
            (u128::from(weights[flow]) << 64) / u128::from(counts[flow] + 1)
        };
        let &hungriest = open
            .iter()
            .max_by_key(|flow| (hunger(flow), std::cmp::Reverse(**flow)))
            .expect("some flow is open");
        if !give(hungriest, &mut counts) {
            open.retain(|&flow| flow != hungriest);
        }
    }
    let dealt: usize = sets.iter().map(Vec::len).sum();
    assert!(dealt <= geometry.chips() as usize, "a chip goes to one flow");
    sets.iter_mut().for_each(|set| set.sort_unstable());
    sets
}

/// Each chip as a unit of its own.
pub(super) fn by_chip(geometry: Geometry) -> Vec<Vec<ChipId>> {
    ChipId::first(geometry.chips()).map(|chip| vec![chip]).collect()
}

/// The chips of each channel as a unit.
pub(super) fn by_channel(geometry: Geometry) -> Vec<Vec<ChipId>> {
    let chips = geometry.chips_per_channel;
    (0..geometry.channels)
        .map(|channel| (0..chips).map(|way| geometry.chip(channel, way)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: Geometry = Geometry {
        channels: 3,
        chips_per_channel: 4,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 8,
        pages_per_block: 4,
        sectors_per_page: 8,
        units_per_page: 1,
        pages_per_program: 1,
        pages_per_unit: 1,
    };

    /// Sets of chips as numbers.
    fn plain(sets: &[Vec<ChipId>]) -> Vec<Vec<u32>> {
        sets.iter().map(|set| set.iter().map(|chip| chip.get()).collect()).collect()
    }

    fn flow(channels: &[u32]) -> FlowSpace {
        FlowSpace::empty([channels.to_vec(), (0..4).collect(), vec![0], vec![0, 1]])
    }

    #[test]
    fn equal_weights_get_equal_sets_over_all_channels() {
        let flows = [flow(&[0, 1, 2]), flow(&[0, 1, 2]), flow(&[0, 1, 2])];
        let sets = deal(GEOMETRY, &by_chip(GEOMETRY), &flows, &[1, 1, 1]);
        assert_eq!(plain(&sets), [vec![0, 3, 6, 9], vec![1, 4, 7, 10], vec![2, 5, 8, 11]]);
        let sets = deal(GEOMETRY, &by_channel(GEOMETRY), &flows, &[1, 1, 1]);
        assert_eq!(plain(&sets), [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9, 10, 11]]);
    }

    #[test]
    fn weights_decide_and_nobody_goes_without() {
        let flows = [flow(&[0, 1, 2]), flow(&[0, 1, 2]), flow(&[0, 1, 2])];
        let sets = deal(GEOMETRY, &by_chip(GEOMETRY), &flows, &[700, 400, 1]);
        assert_eq!(sets.iter().map(Vec::len).collect::<Vec<_>>(), [7, 4, 1]);
    }

    #[test]
    fn lists_are_kept_and_the_pickiest_goes_first() {
        let flows = [flow(&[0, 1]), flow(&[0])];
        let sets = deal(GEOMETRY, &by_channel(GEOMETRY), &flows, &[1, 1]);
        assert_eq!(plain(&sets), [vec![4, 5, 6, 7], vec![0, 1, 2, 3]], "channel 2 is nobody's");
        let sets = deal(GEOMETRY, &by_channel(GEOMETRY), &[flow(&[0]), flow(&[0])], &[1, 1]);
        assert_eq!(sets[1], [], "two flows cannot share a channel");
    }
}
