//! Rules that every isolation policy must keep.

use super::Isolation;
use crate::layout::{FlowSpace, Geometry};
use crate::rule::{Rule, ensure};

/// The rules.
pub const RULES: [Rule<Isolation>; 1] = [Rule {
    text: "every flow has a set of chips at the start, among those that its resource lists name",
    check: sets_are_among_the_lists,
}];

const GEOMETRY: Geometry = Geometry {
    channels: 2,
    chips_per_channel: 3,
    dies_per_chip: 2,
    planes_per_die: 2,
    blocks_per_plane: 4,
    pages_per_block: 4,
    sectors_per_page: 8,
    units_per_page: 1,
    pages_per_program: 1,
    pages_per_unit: 1,
};

fn sets_are_among_the_lists(config: &Isolation) -> Result<(), String> {
    let all = || [vec![0, 1], vec![0, 1, 2], vec![0, 1], vec![0, 1]];
    let right = || [vec![1], vec![0, 1, 2], vec![0, 1], vec![0, 1]];
    // Sets that move divide the whole drive.
    let second = if config.moves() { all() } else { right() };
    let flows = [all(), second].map(|lists| FlowSpace { pages: 64, ..FlowSpace::empty(lists) });
    let Some(sets) = config.starting_sets(GEOMETRY, &flows) else { return Ok(()) };
    ensure!(sets.len() == flows.len(), "found {} sets for {} flows", sets.len(), flows.len());
    for (at, (set, flow)) in sets.iter().zip(&flows).enumerate() {
        ensure!(!set.is_empty(), "nothing is left for flow {at}");
        let may = |chip| flow.planes(GEOMETRY).any(|plane| GEOMETRY.chip_of(plane) == chip);
        let other = set.iter().find(|&&chip| !may(chip));
        ensure!(other.is_none(), "flow {at} has {other:?}, which its lists do not name");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_keeps_to_the_rules() {
        for name in Isolation::NAMES {
            let config = Isolation::by_name(name).expect("listed names exist");
            assert_eq!(sets_are_among_the_lists(&config), Ok(()), "{name}");
        }
    }
}
