//! Reclaim groups: sets of dies among which the host chooses.
//!
//! A placement identifier names a group and a handle: `group * handles + handle`. The pages of an
//! identifier go to the sets of dies of its group, which take turns. So tenants in different groups
//! share no die, while every group serves every handle.
//!
//! A group may be named for more data than it has room for. The page then goes to the same handle
//! of the group with the most room, and the drive tells so
//! ([`PlacementEventKind::Reallocated`](super::PlacementEventKind)).

use flashlane_units::{FlowId, Handle, Lpa, PlaneId, Ppa};

use super::{Handles, PlacementConfig};
use crate::ftl::Ftl;

/// The groups of a drive that has several.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    /// Handles of each group.
    handles: u32,
    /// Sets of dies of each group.
    sets: u32,
}

impl Groups {
    /// `None` where all dies are one group. `sets`: sets of dies of the drive.
    pub(super) fn new(config: &PlacementConfig, sets: usize) -> Option<Self> {
        if config.groups == 1 {
            return None;
        }
        let sets = sets as u32;
        assert!(sets.is_multiple_of(config.groups), "validation refuses groups of unequal size");
        Some(Self { handles: config.handles, sets: sets / config.groups })
    }

    /// The first set of dies of the group of an identifier.
    fn first_set(&self, identifier: Handle) -> u32 {
        u32::from(identifier.get()) / self.handles * self.sets
    }

    /// True if the pages of an identifier go to a set of dies.
    pub(super) fn holds(&self, identifier: Handle, set: PlaneId) -> bool {
        let first = self.first_set(identifier);
        (first..first + self.sets).contains(&set.get())
    }

    /// The identifier of the same handle in the group of a set of dies.
    fn identifier_in(&self, set: PlaneId, identifier: Handle) -> Handle {
        let handle = u32::from(identifier.get()) % self.handles;
        Handle::at((set.get() / self.sets * self.handles + handle) as usize)
    }
}

impl Handles {
    /// True if the pages of an identifier go to a set of dies.
    pub(super) fn uses(&self, identifier: Handle, set: PlaneId) -> bool {
        self.groups.as_ref().is_none_or(|groups| groups.holds(identifier, set))
    }
}

impl Ftl {
    /// The set of dies that a page of the host goes to, inside the group that its identifier names.
    /// `turn`: the set whose turn it is on a drive without groups. `old`: where the page lies, or
    /// `NONE`.
    #[inline]
    pub(in crate::ftl) fn set_in_group(&mut self, turn: PlaneId, lpa: Lpa, old: Ppa) -> PlaneId {
        match &self.handles {
            Some(handles) if handles.groups.is_some() => self.choose_set(turn, lpa, old),
            _ => turn,
        }
    }

    #[cold]
    #[inline(never)]
    fn choose_set(&mut self, turn: PlaneId, lpa: Lpa, old: Ppa) -> PlaneId {
        let lies = match old {
            Ppa::NONE => PlaneId::NONE,
            old => self.blocks.plane_of(self.blocks.block_of(old)),
        };
        let blocks = &self.blocks;
        let has_room = |&set: &PlaneId| blocks.within_limit(set, FlowId::new(0), set == lies);
        let handles = self.handles.as_mut().expect("only where hosts place data");
        let groups = handles.groups.as_ref().expect("a drive of several groups");
        let named = handles.of_page[lpa.index()];
        let (first, count) = (groups.first_set(named), groups.sets);
        let own = (0..count).map(|nth| PlaneId::new(first + (turn.get() + nth) % count));
        if let Some(set) = own.into_iter().find(has_room) {
            return set;
        }
        let set = (blocks.planes.numbers().filter(has_room))
            .min_by_key(|&set| blocks.held(set))
            .expect("all sets of dies together have room for all pages");
        assert!(!groups.holds(named, set), "a group with room is used");
        handles.of_page[lpa.index()] = groups.identifier_in(set, named);
        handles.events.reallocated(named, 1);
        set
    }
}
