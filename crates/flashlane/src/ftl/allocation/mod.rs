//! Which plane a page is written to.

mod dynamic;
mod striped;

pub use dynamic::DynamicConfig;
pub use striped::StripedConfig;

flashlane_units::policies! {
    /// Plane allocation: 24 static orders (the first letter varies fastest: C channel, W chip, D
    /// die, P plane) and the dynamic scheme.
    pub enum Allocation at "ftl.allocation" {
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
use crate::layout::Layout;

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
#[derive(Clone, Debug)]
pub(crate) struct Allocator {
    flows: Array<FlowId, FlowPlanes>,
    dynamic: bool,
    pages_per_plane: Divisor,
}

impl Allocator {
    /// Tabulates the static order of every flow.
    pub(crate) fn new(config: &Allocation, layout: &Layout) -> Self {
        let dynamic = matches!(config, Allocation::Dynamic(_));
        // Reads of unwritten pages and translation pages need a static home in either case.
        let name = if dynamic { "cwdp" } else { config.name() };
        Self {
            flows: layout
                .flows
                .iter()
                .map(|flow| {
                    let order = striped::order(name, layout.geometry, flow);
                    let period = Divisor::new(order.len() as u32);
                    FlowPlanes { first_lpa: flow.lpa(0), order: order.into(), period }
                })
                .collect(),
            dynamic,
            pages_per_plane: Divisor::new(layout.geometry.pages_per_plane() as u32),
        }
    }

    /// The plane of a write depends on the work of the planes.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.dynamic
    }

    /// The static plane of a logical page.
    #[inline]
    fn striped(&self, flow: FlowId, lpa: Lpa) -> PlaneId {
        let planes = &self.flows[flow];
        planes.order[planes.period.remainder(lpa.since(planes.first_lpa)) as usize]
    }

    /// The plane that a write goes to now; `old` is where its page lies, or `NONE`.
    #[inline]
    pub(crate) fn plane(&self, flow: FlowId, lpa: Lpa, old: Ppa, blocks: &Blocks) -> PlaneId {
        if self.dynamic {
            let old = if old == Ppa::NONE {
                PlaneId::NONE
            } else {
                blocks.plane_of(blocks.block_of(old))
            };
            dynamic::least_busy(&self.flows[flow].order, flow, lpa, old, blocks)
        } else {
            self.striped(flow, lpa)
        }
    }

    /// The plane of a translation page; `index` counts those of the flow.
    #[inline]
    pub(crate) fn translation_plane(&self, flow: FlowId, index: u32) -> PlaneId {
        let planes = &self.flows[flow];
        planes.order[planes.period.remainder(index) as usize]
    }

    /// Where a page that was never written would be: its static plane and a page there, by its row
    /// in the static order.
    pub(crate) fn home(&self, flow: FlowId, lpa: Lpa) -> (PlaneId, Ppa) {
        let plane = self.striped(flow, lpa);
        let planes = &self.flows[flow];
        let row = planes.period.divide(lpa.since(planes.first_lpa));
        let of_plane = self.pages_per_plane.get();
        (plane, Ppa::new(plane.get() * of_plane + self.pages_per_plane.remainder(row)))
    }

    /// Planes of a flow in the order in which its logical pages visit them.
    pub(crate) fn order(&self, flow: FlowId) -> &[PlaneId] {
        &self.flows[flow].order
    }
}
