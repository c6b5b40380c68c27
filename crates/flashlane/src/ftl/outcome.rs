//! What the translation layer says has happened. The driver of the drive hands it on.

use flashlane_units::{FlowId, JobId, Lpa, PlaneId, TransactionId};

/// An outcome. Outcomes are handed on in the order in which they happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A transaction has its physical page: it waits for its die from now on.
    Ready { transaction: TransactionId },
    /// A read of sectors that nobody wrote is over, for its data is known.
    Unwritten { transaction: TransactionId },
    /// A write that is queued already has the old data of its page.
    Unblocked { transaction: TransactionId },
    /// Something that is of interest only to those who watch the run.
    Seen(Seen),
}

/// What those who watch a run learn of translation. Times in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A read waited since then for the program of its page.
    WaitedForProgram { transaction: TransactionId, since: u64 },
    /// A write waited since then for a free block.
    WaitedForBlock { transaction: TransactionId, since: u64 },
    /// A write waited since then for another one to the same page.
    WaitedForWrite { transaction: TransactionId, since: u64 },
    /// A transaction waited since then for a translation page, which `read` has read.
    WaitedForTranslation { transaction: TransactionId, since: u64, read: TransactionId },
    /// A read of a translation page is over, and forgotten.
    TranslationRead { transaction: TransactionId },
    /// The old data of a partial write is here. `queued`: the write waits for its die meanwhile.
    Merged { write: TransactionId, read: TransactionId, queued: bool },
    /// An entry of the cached mapping table made room for one of a flow.
    Evicted { lpa: Lpa, flow: FlowId },
    /// The collection of a block of a flow, with so many valid pages, starts.
    Collection { plane: PlaneId, job: JobId, owner: FlowId, valid: u32 },
}
