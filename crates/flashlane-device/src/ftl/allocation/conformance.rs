//! What every allocation policy must keep to.

use flashlane_units::ChipId;

use super::Allocation;
use crate::layout::{FlowSpace, Geometry};
use crate::rule::{Rule, ensure};

/// The rules.
pub const RULES: [Rule<Allocation>; 1] = [Rule {
    text: "its order names every plane of a flow and no other, also where a flow has a part of the \
           drive",
    check: orders_name_every_plane,
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

fn orders_name_every_plane(config: &Allocation) -> Result<(), String> {
    let whole = FlowSpace::empty([vec![0, 1], vec![0, 1, 2], vec![0, 1], vec![0, 1]]);
    let part = FlowSpace { lists: [vec![1], vec![0, 2], vec![1], vec![0]], ..whole.clone() };
    let chips = Some(vec![ChipId::new(2), ChipId::new(5)]);
    let of_chips = FlowSpace { chips, ..whole.clone() };
    for flow in [whole, part, of_chips] {
        let mut order = config.order(GEOMETRY, &flow);
        order.sort_unstable();
        order.dedup();
        let mut planes: Vec<_> = flow.planes(GEOMETRY).collect();
        planes.sort_unstable();
        ensure!(order == planes, "found planes {order:?}, allowed: {planes:?}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_keeps_to_the_rules() {
        for name in Allocation::NAMES {
            let config = Allocation::by_name(name).expect("listed names exist");
            assert_eq!(orders_name_every_plane(&config), Ok(()), "{name}");
        }
    }
}
