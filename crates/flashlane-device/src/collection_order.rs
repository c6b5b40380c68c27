//! The order of collection: where a scheduler puts it among the work of hosts. A run without time
//! needs to know it.

use flashlane_units::Span;

/// When a die serves collection. A scheduler reports its order, and a run without time (`run
/// --waf-only`) keeps to it; nothing else uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionOrder {
    /// The policy does not say: runs without time are refused with it.
    Unspecified,
    /// Collection goes after all work of hosts until it presses, and then before it.
    Behind {
        /// When collection presses.
        presses: Presses,
        /// The order in which a die does the waiting work of collection.
        steps: Steps,
        /// How long reads of hosts wait for programs.
        reads: Reads,
    },
    /// Collection goes in order of arrival, among the writes of hosts.
    Arrival {
        /// True if reads go before all programs and erases, including reads of collection.
        reads_first: bool,
        /// Erases go last, until a plane of the chip is urgent or they have waited for this time;
        /// `None`: in order of arrival as well.
        erases_wait: Option<Span>,
    },
}

/// The order in which a die does the waiting work of collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// In order of arrival, in a single list.
    OneList,
    /// All reads, then the programs of the pages that were read, then erases. Programs of several
    /// planes may form one command, also together with programs of hosts.
    ReadsFirst,
    /// A page that was read is programmed before the next page is read; erases go last. There is
    /// thus one program at a time, which never joins another.
    ProgramsFirst,
}

/// How long a read of a host waits for the programs and erases of its die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// For all earlier work of hosts.
    InOrder,
    /// For the operation under way.
    First,
    /// For the operation under way, but no longer than it takes to suspend it, if the flash can do
    /// that (`flash.suspend`).
    Interrupt,
}

/// When collection presses: it then goes first, although it otherwise goes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presses {
    /// On all dies of a chip with a plane that has fewer free blocks than `ftl.gc.hard_threshold`,
    /// which is when [`crate::policy::View::is_urgent`] is true.
    Urgent,
    /// Before a write to a die, if free pages are few or a plane of the die can take no more pages
    /// ([`crate::policy::View::must_collect`]). Then all collection that waits for the die goes
    /// first.
    FewPages {
        /// Number of free pages below which they are few. Unit: pages.
        below: u64,
        /// Where free pages are counted.
        on: Room,
    },
}

/// Where free pages are counted; those of open blocks do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// On the plane of the write.
    Plane,
    /// On all planes of its die.
    Die,
    /// On all planes of the drive.
    Drive,
}
