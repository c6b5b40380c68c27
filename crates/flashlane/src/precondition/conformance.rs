//! Checks that every block holds the pages of its flow in the flow's order, and that both tables
//! say so.

use flashlane_units::{Lpa, Ppa};

use super::scatter::tests::at;
use super::*;
use flashlane_config::load::{self, Overrides};
use flashlane_device::ftl::blocks::BlockState;
use flashlane_workload::footprint::PageSet;

/// Flows with 60 planes in all and different lists: more planes than are filled together, and no
/// multiple of that number.
const SETS: &[&str] = &[
    "flash.channels=3",
    "flash.chips_per_channel=5",
    "flash.dies_per_chip=2",
    "flash.planes_per_die=2",
    "flash.blocks_per_plane=64",
    "flash.pages_per_block=24",
    "ftl.precondition.open_blocks=false",
    "ftl.mapping.ideal=true",
];

const FLOWS: &str = "
[[flow]]
name = \"some\"
occupancy = 0.7
synthetic = { requests = 1 }
[[flow]]
name = \"stream\"
channels = [0, 2]
synthetic = { requests = 1, address = \"streaming\" }
[[flow]]
name = \"list\"
chips = [0, 1, 4]
occupancy = 0.4
synthetic = { requests = 1 }
[[flow]]
name = \"rest\"
channels = [1]
chips = [2, 3]
synthetic = { requests = 1 }
";

#[test]
fn blocks_hold_the_pages_of_their_flow_in_its_order() {
    let seed = 7;
    let overrides =
        Overrides { sets: SETS.iter().map(ToString::to_string).collect(), ..Overrides::default() };
    let device = load::device("tiny", &overrides).expect("valid").config;
    let workload = load::workload_from_toml(FLOWS, "test", &Overrides::default());
    let workload = workload.expect("valid").config;
    let layout = workload.layout(&device);
    let mut set = PageSet::new(layout.flows[2].pages);
    let mut rng = Rng::stream(seed, "test", 0);
    for page in 0..layout.flows[2].pages {
        if rng.below(3) == 0 {
            set.insert_range(page, page);
        }
    }
    let all = u64::MAX;
    let footprints = [
        Footprint::Whole,
        Footprint::Streaming { sectors: all },
        Footprint::Pages(set),
        Footprint::Whole,
    ];
    let mut state = FtlState::new(device.ftl_settings(), &layout, 0);
    precondition((&device, &workload, &layout), &footprints, &mut state, seed, &|_| ());

    let allocator = Allocator::new(&device.ftl.allocation, &layout);
    let mut placed = 0;
    for (flow, space) in layout.flows.iter().enumerate() {
        let held = pages_held(&device, &workload.flows[flow], space);
        let holding = Holding::new(&footprints[flow], held, space.pages);
        let order = allocator.order(FlowId::at(flow));
        let mut of_flow = 0;
        for (index, &plane) in (0..).zip(order) {
            let turn = PlaneTurn { index, period: order.len() as u64 };
            let pages: Vec<u32> = holding.pages_on(turn, space.pages, 1).iter().collect();
            let count = pages.len() as u32;
            let mut k = 0;
            let first = state.blocks.first_block(plane);
            for block in (0..device.flash.blocks_per_plane).map(|block| first.plus(block)) {
                let found = state.blocks.block(block);
                if found.state != BlockState::Full || found.flow.index() != flow {
                    continue;
                }
                let first = state.blocks.first_page(block);
                let mut valid = plan::spread(found.valid, 24).peekable();
                for offset in 0..24 {
                    let lpa = state.pages.lpa(first.plus(offset));
                    if valid.next_if_eq(&offset).is_none() {
                        assert_eq!(lpa, Lpa::NONE, "page {offset} of block {block}");
                        continue;
                    }
                    let place = if flow == 1 {
                        k
                    } else {
                        at(k, count, seed, plane.get().into(), flow as u64)
                    };
                    assert_eq!(lpa, space.lpa(pages[place as usize].into()));
                    assert_eq!(state.pages.ppa(lpa), first.plus(offset), "both directions agree");
                    k += 1;
                }
            }
            assert_eq!(k, count, "every page of flow {flow} on plane {plane} has a place");
            of_flow += u64::from(count);
        }
        assert_eq!(of_flow, held, "flow {flow} holds what its occupancy says");
        placed += held;
    }
    let mapped =
        (0..layout.logical_pages as u32).filter(|&lpa| state.pages.ppa(Lpa::new(lpa)) != Ppa::NONE);
    assert_eq!(mapped.count() as u64, placed, "nothing else is mapped");
}
