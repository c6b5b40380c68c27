//! Causes of waits: the obstacles in the way of a request.

use crate::transaction::{Op, Source, Transaction};

/// A kind of obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The die is busy with a read for a host, or holds what it read.
    Read,
    /// The die is busy with a program for a host or of the data cache.
    Program,
    /// The die is busy with an erase.
    Erase,
    /// The die is busy with a page that collection or wear levelling moves.
    Gc,
    /// A translation page: the die is busy with one, or the request waits for one of its own.
    Mapping,
    /// The channel moves something else.
    Bus,
    /// Die and channel are free, but the scheduler holds the work back.
    Policy,
    /// Another operation on the same page is not over.
    SamePage,
    /// The plane has no free block, and its die does nothing about it at the moment.
    FreeBlock,
    /// The data cache is full of pages on their way to flash, or a flush waits for them.
    CacheRoom,
    /// The memory of the data cache serves another access.
    Dram,
    /// No room in the submission queue, or no tag: earlier requests hold it.
    HostQueue,
    /// The queue has as many commands in the device as it may (QueueFetchSize).
    FetchLimit,
    /// Other commands are fetched first, or are between fetch and firmware.
    Arbitration,
    /// The link moves something else.
    Link,
    /// All processors run other commands.
    Firmware,
    /// The completion queue has no room.
    CompletionQueue,
    /// The die reads a page again whose data could not be decoded.
    Retry,
    /// The limit of the flow's rate is reached.
    RateLimit,
}

/// Number of causes.
pub const CAUSES: usize = 19;

/// Names and meanings, in the order of [`Cause`].
pub const DOCS: [(&str, &str); CAUSES] = [
    ("read", "the die is busy with a read for a host, or holds what it read"),
    ("program", "the die is busy with a program for a host or of the data cache"),
    ("erase", "the die is busy with an erase"),
    ("gc", "the die is busy with a page that collection or wear levelling moves"),
    (
        "mapping",
        "a translation page: the die is busy with one, or the request waits for one of its own",
    ),
    ("bus", "the channel moves something else"),
    ("policy", "die and channel are free, but the scheduler holds the work back"),
    ("same-page", "another operation on the same page is not over"),
    ("free-block", "the plane has no free block, and its die does nothing about it at the moment"),
    (
        "cache-room",
        "the data cache is full of pages on their way to flash, or a flush waits for them",
    ),
    ("dram", "the memory of the data cache serves another access"),
    ("host-queue", "no room in the submission queue, or no tag: earlier requests hold it"),
    ("fetch-limit", "the queue has as many commands in the device as it may (QueueFetchSize)"),
    ("arbitration", "other commands are fetched first, or are between fetch and firmware"),
    ("link", "the link moves something else"),
    ("firmware", "all processors run other commands"),
    ("completion-queue", "the completion queue has no room"),
    ("retry", "the die reads a page again whose data could not be decoded"),
    ("rate-limit", "the limit of the flow's rate is reached (`limit`)"),
];

impl Cause {
    /// The cause of waits for a die that works for a transaction, or reads its page again.
    pub fn of_page(tr: &Transaction, op: Op) -> Self {
        if tr.reads_again() { Self::Retry } else { Self::of(tr.source, op) }
    }

    /// The cause of waits for a die that works for a transaction.
    pub fn of(source: Source, op: Op) -> Self {
        match (source, op) {
            (_, Op::Erase) => Self::Erase,
            (Source::Gc, _) => Self::Gc,
            (Source::Mapping, _) => Self::Mapping,
            (Source::User | Source::Cache, Op::Read) => Self::Read,
            (Source::User | Source::Cache, Op::Program) => Self::Program,
        }
    }
}
