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
    pub(in crate::ftl) fn new(layout: &Layout) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_the_owner_in_whose_space_they_are() {
        let owners = Owners { first: vec![0, 60] };
        let flow = |lpa| owners.of(Lpa::new(lpa)).get();
        assert_eq!([0, 59, 60, 119].map(flow), [0, 0, 1, 1]);
    }
}
