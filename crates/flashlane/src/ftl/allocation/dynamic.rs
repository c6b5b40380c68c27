//! Dynamic allocation: the least busy plane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ftl::blocks::Blocks;
use flashlane_units::{FlowId, PolicyDoc};

/// Parameters of dynamic allocation (none).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DynamicConfig {}

impl PolicyDoc for DynamicConfig {
    const SUMMARY: &'static str = "the flow's plane with the fewest waiting and running programs, \
        among those with room";
    const SOURCE: &'static str = "MQSim (FAST'18) section 4.2.2, after Tavakkol et al. 2016";
}

/// The plane with the fewest programs waiting and running among those with room, looked at from the
/// page's static position on, so that ties spread. Without room anywhere, the first where the flow
/// may hold another page, so that collection there makes room. `old`: the plane of the page now, or
/// `NONE`.
pub(super) fn least_busy(order: &[u32], flow: FlowId, lpa: u32, old: u32, blocks: &Blocks) -> u32 {
    let start = lpa as usize % order.len();
    let (before, after) = order.split_at(start);
    let admitted = after
        .iter()
        .chain(before)
        .copied()
        .filter(|&plane| blocks.within_limit(plane, flow, plane == old));
    admitted
        .clone()
        .filter(|&plane| blocks.has_room(plane, flow))
        .min_by_key(|&plane| blocks.planes[plane as usize].programs)
        .or_else(|| admitted.into_iter().next())
        .expect("the planes of a flow have room for all of its pages")
}

#[cfg(test)]
mod tests {
    use flashlane_engine::NONE;

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
        };
        let mut blocks = Blocks::new(geometry, 1, true, 2);
        let order = [0, 1, 2, 3];
        assert_eq!(
            least_busy(&order, FlowId::new(0), 2, NONE, &blocks),
            2,
            "ties go to the static plane"
        );
        blocks.planes[2].programs = 3;
        blocks.planes[3].programs = 1;
        assert_eq!(least_busy(&order, FlowId::new(0), 2, NONE, &blocks), 0);
        while blocks.allocate(0, FlowId::new(0), Stream::Host, false).is_some() {}
        assert_eq!(
            least_busy(&order, FlowId::new(0), 2, NONE, &blocks),
            1,
            "a full plane is no choice"
        );
        blocks.limit_data(vec![24, 1, 0, 5]);
        assert_eq!(least_busy(&order, FlowId::new(0), 2, NONE, &blocks), 1);
        blocks.allocate(1, FlowId::new(0), Stream::Host, false);
        assert_eq!(
            least_busy(&order, FlowId::new(0), 2, NONE, &blocks),
            3,
            "nor one that holds its share"
        );
        assert_eq!(
            least_busy(&order, FlowId::new(0), 2, 1, &blocks),
            1,
            "but for a page that it holds"
        );
    }
}
