//! Static striping: the logical address decides the plane.

use flashlane_units::{PlaneId, PolicyDoc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::layout::{FlowSpace, Geometry};

/// Parameters of static striping (none; the order is the name).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StripedConfig {}

impl PolicyDoc for StripedConfig {
    const SUMMARY: &'static str = "static striping in the order of the name, first letter fastest";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3";
}

/// The planes in the order in which consecutive logical pages visit them. `name`: the four letters
/// of the order, fastest first. Chips that the flow does not hold are left out.
pub(super) fn order(name: &str, geometry: Geometry, flow: &FlowSpace) -> Vec<PlaneId> {
    let lists = &flow.lists;
    let digit = |letter| match letter {
        b'c' => 0,
        b'w' => 1,
        b'd' => 2,
        _ => 3,
    };
    let count: usize = lists.iter().map(Vec::len).product();
    (0..count)
        .map(|mut index| {
            let mut at = [0; 4];
            for letter in name.bytes() {
                let list = &lists[digit(letter)];
                at[digit(letter)] = list[index % list.len()];
                index /= list.len();
            }
            (geometry.chip(at[0], at[1]), geometry.plane(at[0], at[1], at[2], at[3]))
        })
        .filter(|&(chip, _)| flow.holds_chip(chip))
        .map(|(_, plane)| plane)
        .collect()
}

#[cfg(test)]
mod tests {
    use flashlane_units::ChipId;

    use super::*;

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

    fn flow(lists: [Vec<u32>; 4]) -> FlowSpace {
        FlowSpace::empty(lists)
    }

    fn all() -> FlowSpace {
        flow([vec![0, 1], vec![0, 1, 2], vec![0, 1], vec![0, 1]])
    }

    #[test]
    fn the_first_letter_varies_fastest() {
        let plane = |c, w, d, p| GEOMETRY.plane(c, w, d, p);
        assert_eq!(
            order("cwdp", GEOMETRY, &all())[..4],
            [plane(0, 0, 0, 0), plane(1, 0, 0, 0), plane(0, 1, 0, 0), plane(1, 1, 0, 0)]
        );
        assert_eq!(
            order("pdwc", GEOMETRY, &all())[..5],
            [
                plane(0, 0, 0, 0),
                plane(0, 0, 0, 1),
                plane(0, 0, 1, 0),
                plane(0, 0, 1, 1),
                plane(0, 1, 0, 0)
            ]
        );
    }

    #[test]
    fn every_order_visits_every_plane_once() {
        for name in super::super::Allocation::NAMES.iter().filter(|n| n.len() == 4) {
            let mut planes = order(name, GEOMETRY, &all());
            planes.sort_unstable();
            assert_eq!(planes, PlaneId::first(24).collect::<Vec<_>>(), "{name}");
        }
        let some = flow([vec![1], vec![0, 2], vec![1], vec![0]]);
        assert_eq!(
            order("wcdp", GEOMETRY, &some),
            [GEOMETRY.plane(1, 0, 1, 0), GEOMETRY.plane(1, 2, 1, 0)]
        );
        let held = FlowSpace { chips: Some(vec![ChipId::new(2), ChipId::new(5)]), ..all() };
        let chips: Vec<u32> =
            order("pcdw", GEOMETRY, &held).iter().map(|plane| plane.get() / 4).collect();
        assert_eq!(chips, [2, 2, 5, 5, 2, 2, 5, 5], "chips of others are left out");
    }
}
