//! Where a scheduler puts collection among the work of hosts, as a run without time has to know it.

use flashlane_units::Span;

/// When a die serves collection. A scheduler says it of itself, and a run without time
/// (`run --waf-only`) keeps to it; nothing else asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionOrder {
    /// The policy does not say: runs without time are refused with it.
    Untold,
    /// After all work of hosts until it presses, then before it.
    Behind {
        /// When it presses.
        presses: Presses,
        /// In which order a die does the work of collection that waits.
        steps: Steps,
        /// How long reads of hosts wait for programs.
        reads: Reads,
    },
    /// In order of arrival, among the writes of hosts.
    Arrival {
        /// Reads go before all programs and erases, those of collection among them.
        reads_first: bool,
        /// Erases go last, until a plane of the chip is urgent or they have waited so long; `None`:
        /// in order of arrival as well.
        erases_wait: Option<Span>,
    },
}

/// In which order a die does the work of collection that waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// In order of arrival, all of it in one list.
    OneList,
    /// All reads, then the programs of the pages that were read, then erases. Programs of several
    /// planes may form one command, with those of hosts as well.
    ReadsFirst,
    /// A page that was read is programmed before the next one is read; erases go last. So there is
    /// one program at a time, and none goes with another one.
    ProgramsFirst,
}

/// How long a read of a host waits for the programs and erases of its die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// For all work of hosts that came before it.
    InOrder,
    /// For the operation under way.
    First,
    /// The same, but for as long as it takes to suspend that operation, where the flash can
    /// (`flash.suspend`).
    Interrupt,
}

/// When collection goes first that otherwise goes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presses {
    /// On all dies of a chip of which a plane has fewer free blocks than `ftl.gc.hard_threshold`:
    /// where [`crate::policy::View::is_urgent`] says so.
    Urgent,
    /// Before a write to a die, where free pages are few or a plane of the die can take no more
    /// pages ([`crate::policy::View::must_collect`]): all that waits for the die then.
    FewPages {
        /// Free pages are few if there are fewer. Unit: pages.
        below: u64,
        /// Where they are counted.
        on: Room,
    },
}

/// Where free pages are counted, those of open blocks left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// On the plane of the write.
    Plane,
    /// On all planes of its die.
    Die,
    /// On all planes of the drive.
    Drive,
}
