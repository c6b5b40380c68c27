//! A victim policy and two allocations from outside. Flashlane's own tests take them too.

use flashlane::policy::{
    AllocationConfig, AllocationPolicy, Blocks, Geometry, PageWrite, PlaneId, PlaneView, PolicyDoc,
    Rng, VictimConfig, VictimPolicy,
};
use serde::{Deserialize, Serialize};

/// Writes what a policy says of itself.
macro_rules! documented {
    ($($config:ident),+) => { $(
        #[derive(Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(crate) struct $config {}

        impl PolicyDoc for $config {
            const SUMMARY: &'static str = "from outside";
            const SOURCE: &'static str = "a test";
        }
    )+ };
}
pub(crate) use documented;

documented!(Oldest, Emptiest, Idlest);

/// The block that was filled first, without a closed form for its steady state.
#[derive(Clone)]
struct OldestBlock;

impl VictimConfig for Oldest {
    fn build(&self) -> Box<dyn VictimPolicy> {
        Box::new(OldestBlock)
    }
}

impl VictimPolicy for OldestBlock {
    fn select(&mut self, plane: &PlaneView<'_>, _: &mut Rng) -> Option<u32> {
        let gains = (0..plane.len()).filter(|&block| plane.gain(block).is_some());
        gains.max_by_key(|&block| plane.age(block))
    }
}

/// The plane with the most free blocks, of several the one with the fewest programs.
#[derive(Clone)]
struct EmptiestPlane;

impl AllocationConfig for Emptiest {
    fn choice(&self, _: Geometry, _: usize) -> Option<Box<dyn AllocationPolicy>> {
        Some(Box::new(EmptiestPlane))
    }

    fn is_dynamic(&self) -> bool {
        true
    }
}

impl AllocationPolicy for EmptiestPlane {
    fn plane(&mut self, write: PageWrite<'_>, blocks: &Blocks) -> PlaneId {
        let allowed = write.planes.iter().copied().filter(|&plane| write.may_go_to(plane, blocks));
        let key = |&plane: &PlaneId| {
            let free = blocks.free_blocks(plane);
            (blocks.has_room(plane, write.flow), free, u32::MAX - blocks.programs(plane))
        };
        allowed.max_by_key(key).expect("a flow has room for all of its pages")
    }
}

/// The plane with the fewest programs, of several the one behind the page's own.
#[derive(Clone)]
struct IdlestPlane;

impl AllocationConfig for Idlest {
    fn choice(&self, _: Geometry, _: usize) -> Option<Box<dyn AllocationPolicy>> {
        Some(Box::new(IdlestPlane))
    }

    fn is_dynamic(&self) -> bool {
        true
    }

    fn goes_by_programs(&self) -> bool {
        true
    }
}

impl AllocationPolicy for IdlestPlane {
    fn plane(&mut self, write: PageWrite<'_>, blocks: &Blocks) -> PlaneId {
        let start = write.lpa.index() % write.planes.len();
        let (before, after) = write.planes.split_at(start);
        let planes = after.iter().chain(before).copied();
        let allowed = planes.filter(|&plane| write.may_go_to(plane, blocks));
        let key = |&plane: &PlaneId| (!blocks.has_room(plane, write.flow), blocks.programs(plane));
        allowed.min_by_key(key).expect("a flow has room for all of its pages")
    }
}
