//! The flow of each logical page, for blocks that hold data of several flows.

use flashlane_units::{FlowId, Lpa};

use crate::layout::Layout;

/// The spaces of all flows.
#[derive(Clone, Debug)]
pub(in crate::ftl) struct Owners {
    /// First logical page of each flow, in rising order.
    first: Vec<u32>,
}

impl Owners {
    pub(super) fn new(layout: &Layout) -> Self {
        Self { first: layout.flows.iter().map(|flow| flow.first_lpa as u32).collect() }
    }

    /// The flow of a page of data.
    #[inline]
    pub(in crate::ftl) fn of(&self, lpa: Lpa) -> FlowId {
        if self.first.len() == 1 {
            return FlowId::new(0);
        }
        FlowId::at(self.first.partition_point(|&first| first <= lpa.get()) - 1)
    }
}
