//! The sets: which flows write to which chips.

use flashlane_engine::Array;
use flashlane_units::{ChipId, FlowId};

/// The flows that write to a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A single flow.
    Flow(FlowId),
    /// Every flow.
    Everyone,
    /// No flow: the chip only serves reads of its data.
    Nobody,
}

/// The allocation sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sets {
    owners: Array<ChipId, Owner>,
    /// Chips of each flow that no other writes to.
    own: Vec<usize>,
    /// Chips that every flow writes to.
    shared: usize,
}

impl Sets {
    pub(super) fn new(owners: Array<ChipId, Owner>, flows: usize) -> Self {
        let own = (0..flows)
            .map(|flow| {
                owners.iter().filter(|&&owner| owner == Owner::Flow(FlowId::at(flow))).count()
            })
            .collect();
        let shared = owners.iter().filter(|&&owner| owner == Owner::Everyone).count();
        Self { owners, own, shared }
    }

    /// Chips of the drive.
    pub(super) fn chips(&self) -> usize {
        self.owners.len()
    }

    /// All chips, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = ChipId> + use<> {
        self.owners.numbers()
    }

    /// Chips that the flow alone writes to.
    pub(super) fn own(&self, flow: usize) -> usize {
        self.own[flow]
    }

    /// Chips that the flow writes to: `|S_t|`.
    pub(super) fn size(&self, flow: usize) -> usize {
        self.own[flow] + self.shared
    }

    /// True if only this flow writes to the chip.
    pub(super) fn is_owner(&self, flow: usize, chip: ChipId) -> bool {
        self.owners[chip] == Owner::Flow(FlowId::at(flow))
    }

    /// The flow that is the only one to write to the chip.
    pub(super) fn owner(&self, chip: ChipId) -> Option<usize> {
        match self.owners[chip] {
            Owner::Flow(flow) => Some(flow.index()),
            Owner::Everyone | Owner::Nobody => None,
        }
    }

    /// True if the flow writes to the chip.
    pub(super) fn holds(&self, flow: usize, chip: ChipId) -> bool {
        self.is_owner(flow, chip) || self.owners[chip] == Owner::Everyone
    }

    /// True if some flow writes to the chip.
    pub(super) fn is_written(&self, chip: ChipId) -> bool {
        self.owners[chip] != Owner::Nobody
    }

    /// Gives a chip of one flow to another.
    pub(super) fn transfer(&mut self, chip: ChipId, to: usize) {
        let from = self.owner(chip).expect("only chips of one flow change hands");
        self.own[from] -= 1;
        self.own[to] += 1;
        self.owners[chip] = Owner::Flow(FlowId::at(to));
    }

    /// The chips that a flow writes to, in rising order.
    pub(super) fn of(&self, flow: usize) -> impl Iterator<Item = ChipId> + '_ {
        self.owners.numbers().filter(move |&chip| self.holds(flow, chip))
    }

    /// Checks counts against owners, and that every flow has a chip of its own.
    pub(super) fn audit(&self) {
        assert_eq!(*self, Self::new(self.owners.clone(), self.own.len()), "sets are counted");
        assert!(self.own.iter().all(|&own| own > 0), "every flow keeps a chip: {:?}", self.own);
    }
}
