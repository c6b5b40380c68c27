//! Logical pages that lie on planes at random, with equal numbers on all planes.

use flashlane_engine::Rng;

use super::Holding;
use super::fill::PagesOn;
use flashlane_config::{DeviceConfig, Placement};
use flashlane_device::layout::{FlowSpace, Layout};
use flashlane_workload::Scatter;

/// An order of the pages of each flow; in this order they are dealt out to its planes.
pub(super) struct PlacesAtRandom {
    orders: Vec<Scatter>,
}

/// A plane among those that take the pages of a flow in turn.
#[derive(Clone, Copy)]
pub(super) struct PlaneTurn {
    /// Index of the plane.
    pub(super) index: u64,
    /// Number of the planes.
    pub(super) period: u64,
}

impl PlacesAtRandom {
    /// `None` if pages are striped by their numbers.
    pub(super) fn new(device: &DeviceConfig, layout: &Layout, seed: u64) -> Option<Self> {
        let order = |space: &FlowSpace| {
            let mut rng = Rng::stream(seed, "precondition.placement", space.first_lpa);
            Scatter::new(space.pages.max(1), rng.next_u64())
        };
        let random = device.ftl.precondition.placement == Placement::Random;
        random.then(|| Self { orders: layout.flows.iter().map(order).collect() })
    }

    /// The pages with data on a plane, as numbers relative to the flow, which has `pages` pages.
    pub(super) fn pages_on(
        &self,
        holding: &Holding<'_>,
        flow: usize,
        plane: PlaneTurn,
        pages: u64,
    ) -> PagesOn {
        let order = &self.orders[flow];
        let places = (plane.index..pages).step_by(plane.period as usize);
        let held = places.map(|place| order.at(place)).filter(|&page| holding.holds(page));
        let mut list: Vec<u32> = held.map(|page| page as u32).collect();
        list.sort_unstable();
        PagesOn::List(list)
    }
}
