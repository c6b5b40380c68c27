//! Dynamic allocation: the least busy plane.

use flashlane_units::{FlowId, Lpa, PlaneId, PolicyDoc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ftl::blocks::Blocks;

/// Parameters of dynamic allocation (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DynamicConfig {}

impl PolicyDoc for DynamicConfig {
    const SUMMARY: &'static str = "the flow's plane with the fewest waiting and running programs, \
        among those with room";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.3, after Tavakkol et al. 2016";
}

/// The plane with the fewest programs waiting and running among those with room, looked at from the
/// page's static position on, so that ties spread. Without room anywhere, the first where the flow
/// may hold another page, so that collection there makes room. `old`: the plane of the page now, or
/// `NONE`.
pub(super) fn least_busy(
    order: &[PlaneId],
    flow: FlowId,
    lpa: Lpa,
    old: PlaneId,
    blocks: &Blocks,
) -> PlaneId {
    assert!(!order.is_empty(), "a flow has planes");
    let start = lpa.index() % order.len();
    let (before, after) = order.split_at(start);
    let admitted = after
        .iter()
        .chain(before)
        .copied()
        .filter(|&plane| blocks.within_limit(plane, flow, plane == old));
    admitted
        .clone()
        .filter(|&plane| blocks.has_room(plane, flow))
        .min_by_key(|&plane| blocks.planes[plane].programs)
        .or_else(|| admitted.into_iter().next())
        .expect("the planes of a flow have room for all of its pages")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::blocks::Stream;
    use crate::layout::Geometry;

    #[test]
    fn busy_and_full_planes_are_avoided() {
        let geometry = Geometry {
            channels: 4,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 4,
            sectors_per_page: 8,
            units_per_page: 1,
            pages_per_program: 1,
            pages_per_unit: 1,
        };
        let mut blocks = Blocks::new(geometry, 1, true, 2);
        let order = [0, 1, 2, 3].map(PlaneId::new);
        assert_eq!(
            least_busy(&order, FlowId::new(0), Lpa::new(2), PlaneId::NONE, &blocks),
            PlaneId::new(2),
            "ties go to the static plane"
        );
        blocks.planes[PlaneId::new(2)].programs = 3;
        blocks.planes[PlaneId::new(3)].programs = 1;
        assert_eq!(
            least_busy(&order, FlowId::new(0), Lpa::new(2), PlaneId::NONE, &blocks),
            PlaneId::new(0)
        );
        while blocks.allocate(PlaneId::new(0), FlowId::new(0), Stream::HOST, false).is_some() {}
        assert_eq!(
            least_busy(&order, FlowId::new(0), Lpa::new(2), PlaneId::NONE, &blocks),
            PlaneId::new(1),
            "a full plane is no choice"
        );
        blocks.limit_data(vec![24, 1, 0, 5]);
        assert_eq!(
            least_busy(&order, FlowId::new(0), Lpa::new(2), PlaneId::NONE, &blocks),
            PlaneId::new(1)
        );
        blocks.allocate(PlaneId::new(1), FlowId::new(0), Stream::HOST, false);
        assert_eq!(
            least_busy(&order, FlowId::new(0), Lpa::new(2), PlaneId::NONE, &blocks),
            PlaneId::new(3),
            "nor one that holds its share"
        );
        assert_eq!(
            least_busy(&order, FlowId::new(0), Lpa::new(2), PlaneId::new(1), &blocks),
            PlaneId::new(1),
            "but for a page that it holds"
        );
    }
}
