//! What happened in the translation layer, as messages that the driver hands on.

use flashlane_units::{FlowId, JobId, Lpa, PlaneId, TransactionId};

/// An outcome. Outcomes are handed on in the order in which they happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A transaction got its physical page and is ready for its die.
    Ready { transaction: TransactionId },
    /// A read is over without the flash: its sectors were never written, or are still in the
    /// controller's memory.
    Unwritten { transaction: TransactionId },
    /// A write is over without the flash: its zone was reset before it had a page.
    GivenUp { transaction: TransactionId },
    /// A queued write has received the old data of its page.
    Unblocked { transaction: TransactionId },
    /// Something that matters only to those who watch the run.
    Seen(Seen),
}

/// Messages about translation for those who watch the run. Times are in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A read waited since then for the program of its page.
    WaitedForProgram { transaction: TransactionId, since: u64 },
    /// A write waited since then for a free block.
    WaitedForBlock { transaction: TransactionId, since: u64 },
    /// A write waited since then for an earlier write to the same page, or a unit until its page
    /// was full.
    WaitedForWrite { transaction: TransactionId, since: u64 },
    /// A transaction waited since then for a translation page, which the transaction `read` has
    /// read.
    WaitedForTranslation { transaction: TransactionId, since: u64, read: TransactionId },
    /// A read of a translation page is over and will not be named again.
    TranslationRead { transaction: TransactionId },
    /// The old data of a partial write has arrived. `queued`: the write is in the queue of its die
    /// meanwhile.
    Merged { write: TransactionId, read: TransactionId, queued: bool },
    /// Units begin to ride on the page of a transaction.
    PageBegins { leader: TransactionId },
    /// An entry of the cached mapping table left to make room for an entry of the flow.
    Evicted { lpa: Lpa, flow: FlowId },
    /// The collection of a block starts. `owner`: the flow of the block. `valid`: its valid pages.
    Collection { plane: PlaneId, job: JobId, owner: FlowId, valid: u32 },
}
