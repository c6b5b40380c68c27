//! Which plane a page is written to.

mod conformance;
mod dynamic;
mod striped;

pub use conformance::RULES;
pub use dynamic::DynamicConfig;
pub use striped::StripedConfig;

flashlane_units::policies! {
    /// Plane allocation: 24 static orders (the first letter varies fastest: C channel, W chip, D
    /// die, P plane) and the dynamic scheme.
    pub enum Allocation at "ftl.allocation" open to AllocationConfig {
        "cwdp" => Cwdp(StripedConfig),
        "cwpd" => Cwpd(StripedConfig),
        "cdwp" => Cdwp(StripedConfig),
        "cdpw" => Cdpw(StripedConfig),
        "cpwd" => Cpwd(StripedConfig),
        "cpdw" => Cpdw(StripedConfig),
        "wcdp" => Wcdp(StripedConfig),
        "wcpd" => Wcpd(StripedConfig),
        "wdcp" => Wdcp(StripedConfig),
        "wdpc" => Wdpc(StripedConfig),
        "wpcd" => Wpcd(StripedConfig),
        "wpdc" => Wpdc(StripedConfig),
        "dcwp" => Dcwp(StripedConfig),
        "dcpw" => Dcpw(StripedConfig),
        "dwcp" => Dwcp(StripedConfig),
        "dwpc" => Dwpc(StripedConfig),
        "dpcw" => Dpcw(StripedConfig),
        "dpwc" => Dpwc(StripedConfig),
        "pcwd" => Pcwd(StripedConfig),
        "pcdw" => Pcdw(StripedConfig),
        "pwcd" => Pwcd(StripedConfig),
        "pwdc" => Pwdc(StripedConfig),
        "pdcw" => Pdcw(StripedConfig),
        "pdwc" => Pdwc(StripedConfig),
        "dynamic" => Dynamic(DynamicConfig),
    }
}

use flashlane_engine::{Array, Divisor};
use flashlane_units::{FlowId, Lpa, PlaneId, Ppa};

use super::blocks::Blocks;
use crate::layout::{FlowSpace, Geometry, Layout};

/// What an allocation policy from outside is made from.
pub trait AllocationConfig: Send + Sync {
    /// The planes of a flow in the order in which its consecutive logical pages visit them: each
    /// plane of [`FlowSpace::planes`] at least once, and no other. Reads of pages that were never
    /// written, translation pages and the data at the start of a run keep to it, and writes where
    /// there is no [`AllocationConfig::choice`].
    fn order(&self, geometry: Geometry, flow: &FlowSpace) -> Vec<PlaneId> {
        flow.planes(geometry).collect()
    }

    /// The policy that chooses the plane of each write; `None` where the static order decides.
    fn choice(&self, geometry: Geometry, flows: usize) -> Option<Box<dyn AllocationPolicy>> {
        let _ = (geometry, flows);
        None
    }

    /// True if [`AllocationConfig::choice`] gives a policy.
    fn is_dynamic(&self) -> bool {
        false
    }

    /// True if the choice depends only on the programs that wait for planes or run there
    /// ([`Blocks::programs`]). A run without time (`--waf-only`) counts those as the timed drive
    /// does. A choice by anything else, such as free blocks, depends on the moment of each erase,
    /// and a run without time refuses it.
    fn goes_by_programs(&self) -> bool {
        false
    }
}

/// A page that is to be written.
#[derive(Clone, Copy, Debug)]
pub struct PageWrite<'a> {
    /// The flow whose page it is.
    pub flow: FlowId,
    /// The logical page, among those of all flows.
    pub lpa: Lpa,
    /// The plane that the page lies on now; `None` if it was never written.
    pub old: Option<PlaneId>,
    /// The planes of the flow, in its order.
    pub planes: &'a [PlaneId],
}

impl PageWrite<'_> {
    /// True if the flow may hold the page on the plane: its share of the plane has room for it.
    #[must_use]
    pub fn may_go_to(&self, plane: PlaneId, blocks: &Blocks) -> bool {
        blocks.within_limit(plane, self.flow, self.old == Some(plane))
    }
}

/// A policy that chooses the plane of each page that is written.
pub trait AllocationPolicy: Send + dyn_clone::DynClone {
    /// Chooses a plane out of `write.planes` for which [`PageWrite::may_go_to`] is true; there
    /// always is at least one. If the plane has no room at the moment ([`Blocks::has_room`]), the
    /// write waits for collection.
    fn plane(&mut self, write: PageWrite<'_>, blocks: &Blocks) -> PlaneId;
}

dyn_clone::clone_trait_object!(AllocationPolicy);

impl Allocation {
    /// True if each write is placed when it comes; false if its logical page decides.
    pub fn is_dynamic(&self) -> bool {
        match self {
            Self::Dynamic(_) => true,
            Self::Outside(policy) => policy.config().is_dynamic(),
            _ => false,
        }
    }

    /// True if a run without time can place writes as the timed drive does.
    pub fn needs_no_time(&self) -> bool {
        match self {
            Self::Outside(policy) => {
                !policy.config().is_dynamic() || policy.config().goes_by_programs()
            }
            _ => true,
        }
    }

    /// The planes of a flow in the order in which its logical pages visit them.
    pub(super) fn order(&self, geometry: Geometry, flow: &FlowSpace) -> Vec<PlaneId> {
        match self {
            // Reads of unwritten pages and translation pages need a static home in either case.
            Self::Dynamic(_) => striped::order("cwdp", geometry, flow),
            Self::Outside(policy) => checked_order(policy.name(), policy.config(), geometry, flow),
            _ => striped::order(self.name(), geometry, flow),
        }
    }
}

/// The order of a policy from outside, checked against the promises of [`AllocationConfig::order`].
fn checked_order(
    name: &str,
    config: &dyn AllocationConfig,
    geometry: Geometry,
    flow: &FlowSpace,
) -> Vec<PlaneId> {
    let order = config.order(geometry, flow);
    let sorted = |planes: &[PlaneId]| {
        let mut planes = planes.to_vec();
        planes.sort_unstable();
        planes.dedup();
        planes
    };
    let planes: Vec<PlaneId> = flow.planes(geometry).collect();
    assert_eq!(
        sorted(&order),
        sorted(&planes),
        "ftl.allocation {name}: an order names every plane of its flow, and no other"
    );
    order
}

/// How the plane of a write is found.
#[derive(Clone)]
enum Choice {
    /// The static order.
    Order,
    LeastBusy,
    Outside(Box<dyn AllocationPolicy>),
}

/// Planes of one flow.
#[derive(Clone, Debug)]
struct FlowPlanes {
    first_lpa: Lpa,
    /// Plane by logical page modulo the length: the static order.
    order: Array<usize, PlaneId>,
    /// Length of the order.
    period: Divisor,
}

/// Finds the plane of a page.
#[derive(Clone)]
pub struct Allocator {
    flows: Array<FlowId, FlowPlanes>,
    choice: Choice,
    pages_per_plane: Divisor,
    /// Logical pages in a row that go to one plane: the units of a page of the flash, or those of a
    /// zone, which lies in one set of dies.
    units_per_page: u32,
}

impl Allocator {
    /// Tabulates the static order of every flow.
    pub fn new(config: &Allocation, layout: &Layout) -> Self {
        let choice = match config {
            Allocation::Dynamic(_) => Choice::LeastBusy,
            Allocation::Outside(policy) => {
                let choice = policy.config().choice(layout.geometry, layout.flows.len());
                assert_eq!(
                    choice.is_some(),
                    config.is_dynamic(),
                    "ftl.allocation {}: it chooses if it says so",
                    policy.name()
                );
                choice.map_or(Choice::Order, Choice::Outside)
            }
            _ => Choice::Order,
        };
        Self {
            flows: layout
                .flows
                .iter()
                .map(|flow| {
                    let order = config.order(layout.geometry, flow);
                    assert!(!order.is_empty(), "a flow has planes");
                    let period = Divisor::new(order.len() as u32);
                    // In the stream of a SATA drive, the flow does not begin with the first plane.
                    let skipped = flow.in_stream.map_or(0, |start| start.page);
                    let first_lpa = Lpa::new(flow.lpa(0).get() - skipped);
                    FlowPlanes { first_lpa, order: order.into(), period }
                })
                .collect(),
            choice,
            pages_per_plane: Divisor::new(layout.geometry.pages_per_plane() as u32),
            units_per_page: layout.zones.map_or(layout.geometry.units_per_page, |zone| zone.pages),
        }
    }

    /// True if the plane of a write depends on the work of the planes.
    pub(crate) fn is_dynamic(&self) -> bool {
        !matches!(self.choice, Choice::Order)
    }

    /// The position of a logical page of a flow in the static order, where a page of the flash has
    /// one; and the place of the logical page in that.
    #[inline(always)]
    fn position_of(&self, page: u32) -> (u32, u32) {
        match self.units_per_page {
            1 => (page, 0),
            units => (page / units, page % units),
        }
    }

    /// The static plane of a logical page.
    #[inline]
    fn striped(&self, flow: FlowId, lpa: Lpa) -> PlaneId {
        let planes = &self.flows[flow];
        let (at, _) = self.position_of(lpa.since(planes.first_lpa));
        planes.order[planes.period.remainder(at) as usize]
    }

    /// The plane that a write goes to now; `old` is where its page lies, or `NONE`.
    #[inline]
    pub(crate) fn plane(&mut self, flow: FlowId, lpa: Lpa, old: Ppa, blocks: &Blocks) -> PlaneId {
        if matches!(self.choice, Choice::Order) {
            return self.striped(flow, lpa);
        }
        self.choose(flow, lpa, old, blocks)
    }

    fn choose(&mut self, flow: FlowId, lpa: Lpa, old: Ppa, blocks: &Blocks) -> PlaneId {
        let lies = (old != Ppa::NONE).then(|| blocks.plane_of(blocks.block_of(old)));
        let planes: &[PlaneId] = &self.flows[flow].order;
        let Choice::Outside(policy) = &mut self.choice else {
            return dynamic::least_busy(planes, flow, lpa, lies.unwrap_or(PlaneId::NONE), blocks);
        };
        let write = PageWrite { flow, lpa, old: lies, planes };
        let plane = policy.plane(write, blocks);
        assert!(
            planes.contains(&plane) && write.may_go_to(plane, blocks),
            "an allocation policy chooses a plane of the flow that may hold the page, not {plane:?}"
        );
        plane
    }

    /// The plane of a translation page; `index` counts those of the flow.
    #[inline]
    pub fn translation_plane(&self, flow: FlowId, index: u32) -> PlaneId {
        let planes = &self.flows[flow];
        planes.order[planes.period.remainder(index) as usize]
    }

    /// Where a page that was never written would be: its static plane and a page there, by its row
    /// in the static order.
    #[inline(always)]
    pub(crate) fn home(&self, flow: FlowId, lpa: Lpa) -> (PlaneId, Ppa) {
        let planes = &self.flows[flow];
        let (at, unit) = self.position_of(lpa.since(planes.first_lpa));
        let plane = planes.order[planes.period.remainder(at) as usize];
        let row = planes.period.divide(at) * self.units_per_page + unit;
        let of_plane = self.pages_per_plane.get();
        (plane, Ppa::new(plane.get() * of_plane + self.pages_per_plane.remainder(row)))
    }

    /// Planes of a flow in the order in which its logical pages visit them.
    pub fn order(&self, flow: FlowId) -> &[PlaneId] {
        &self.flows[flow].order
    }
}
