//! A policy of every family from outside, with nothing but what is public: each keeps the rules of
//! its family.

mod outside;

use flashlane::conformance::Family;
use flashlane::policy::{
    Allocation, AllocationConfig, Arbiter, Arbitration, ArbitrationConfig, Blocks, ChipId, FlowId,
    FlowSpace, Frontiers, Geometry, Isolation, IsolationConfig, IsolationSummary, Lpa, MovingSets,
    PlaneId, PolicyDoc, QueueSet, Separation, SeparationConfig, SeparationPolicy, Victim,
};
use outside::{Emptiest, Idlest, Oldest, documented};
use serde::{Deserialize, Serialize};

documented!(Backwards, Halves, Wandering, Lowest, Recent);

/// A static order.
impl AllocationConfig for Backwards {
    fn order(&self, geometry: Geometry, flow: &FlowSpace) -> Vec<PlaneId> {
        let mut planes: Vec<PlaneId> = flow.planes(geometry).collect();
        planes.reverse();
        planes
    }
}

/// The chips of the drive in turns over the flows, among those that a flow's lists name.
fn turns(geometry: Geometry, flows: &[FlowSpace]) -> Vec<Vec<ChipId>> {
    let of = |(at, flow): (usize, &FlowSpace)| {
        let mut chips: Vec<ChipId> =
            flow.planes(geometry).map(|plane| geometry.chip_of(plane)).collect();
        chips.sort_unstable();
        chips.dedup();
        chips.into_iter().filter(|chip| chip.get() as usize % flows.len() == at).collect()
    };
    flows.iter().enumerate().map(of).collect()
}

impl IsolationConfig for Halves {
    fn starting_sets(&self, geometry: Geometry, flows: &[FlowSpace]) -> Vec<Vec<ChipId>> {
        turns(geometry, flows)
    }
}

impl IsolationConfig for Wandering {
    fn starting_sets(&self, geometry: Geometry, flows: &[FlowSpace]) -> Vec<Vec<ChipId>> {
        turns(geometry, flows)
    }

    fn moving_sets(&self, geometry: Geometry, flows: &[FlowSpace]) -> Option<Box<dyn MovingSets>> {
        Some(Box::new(Everywhere { geometry, flows: flows.len(), next: 0 }))
    }

    fn moves(&self) -> bool {
        true
    }
}

/// Sets that grow to the whole drive with the first write.
#[derive(Clone)]
struct Everywhere {
    geometry: Geometry,
    flows: usize,
    next: u32,
}

impl MovingSets for Everywhere {
    fn plane_of_write(&mut self, flow: FlowId, old: PlaneId, blocks: &Blocks) -> PlaneId {
        let planes = self.geometry.planes();
        self.next = (self.next + 1) % planes;
        let from = |at| PlaneId::new((self.next + at) % planes);
        let may = |plane: &PlaneId| blocks.within_limit(*plane, flow, *plane == old);
        let mut allowed = (0..planes).map(from).filter(may);
        let room = allowed.clone().find(|&plane| blocks.has_room(plane, flow));
        room.or_else(|| allowed.next()).expect("the drive has room for all pages")
    }

    fn chips_of(&self, _: FlowId) -> u32 {
        self.geometry.chips()
    }

    fn may_write(&self, _: FlowId, _: PlaneId) -> bool {
        true
    }

    fn summary(&self, _: &Blocks) -> IsolationSummary {
        let sets = vec![(0..self.geometry.chips()).collect(); self.flows];
        IsolationSummary { sets, ..IsolationSummary::default() }
    }
}

/// Queues in turns.
#[derive(Clone)]
struct InTurns {
    last: usize,
}

impl ArbitrationConfig for Lowest {
    fn build(&self, _: &[u8]) -> Box<dyn Arbiter> {
        Box::new(InTurns { last: 0 })
    }
}

impl Arbiter for InTurns {
    fn next(&mut self, ready: &QueueSet) -> Option<usize> {
        let next = ready.next(self.last)?;
        self.last = next;
        Some(next)
    }
}

impl SeparationConfig for Recent {
    fn frontiers(&self) -> Frontiers {
        Frontiers::Three
    }

    fn build(&self, spaces: &[std::ops::Range<u32>]) -> Option<Box<dyn SeparationPolicy>> {
        let pages = spaces.last().map_or(0, |space| space.end) as usize;
        Some(Box::new(Times { now: 0, written: vec![None; pages] }))
    }
}

/// Pages that were written shortly before are hot.
#[derive(Clone)]
struct Times {
    now: u64,
    written: Vec<Option<u64>>,
}

impl SeparationPolicy for Times {
    fn is_hot(&self, lpa: Lpa) -> bool {
        let short = self.written.len() as u64 / 4;
        self.written[lpa.get() as usize].is_some_and(|then| self.now - then < short)
    }

    fn written(&mut self, lpa: Lpa) {
        self.now += 1;
        self.written[lpa.get() as usize] = Some(self.now);
    }
}

/// The policy of that name keeps the rules of its family.
fn keeps_the_rules(name: &str, policy: Option<impl Family>) {
    for verdict in policy.expect("it is registered").verdicts() {
        assert_eq!(verdict.result, Ok(()), "{name}: {}", verdict.rule);
    }
}

#[test]
fn every_family_takes_policies_from_outside() {
    Victim::register::<Oldest>("oldest").expect("a free name");
    keeps_the_rules("oldest", Victim::by_name("oldest"));
    Allocation::register::<Emptiest>("emptiest").expect("a free name");
    keeps_the_rules("emptiest", Allocation::by_name("emptiest"));
    Allocation::register::<Idlest>("idlest").expect("a free name");
    keeps_the_rules("idlest", Allocation::by_name("idlest"));
    Allocation::register::<Backwards>("backwards").expect("a free name");
    keeps_the_rules("backwards", Allocation::by_name("backwards"));
    Isolation::register::<Halves>("halves").expect("a free name");
    keeps_the_rules("halves", Isolation::by_name("halves"));
    Isolation::register::<Wandering>("wandering").expect("a free name");
    keeps_the_rules("wandering", Isolation::by_name("wandering"));
    Separation::register::<Recent>("recent").expect("a free name");
    keeps_the_rules("recent", Separation::by_name("recent"));
    Arbitration::register::<Lowest>("in-turns").expect("a free name");
    keeps_the_rules("in-turns", Arbitration::by_name("in-turns"));
}

#[test]
fn names_are_taken_once() {
    Victim::register::<Oldest>("mine").expect("a free name");
    for name in ["mine", "greedy", "Mine", ""] {
        let error = Victim::register::<Oldest>(name).expect_err("no name for a policy");
        assert!(error.contains("allowed"), "{name:?}: {error}");
    }
    assert_eq!(Victim::by_name("mine"), Victim::by_name("mine"));
    assert_eq!(Victim::by_name("yours"), None);
}
