//! What the stages of the drive call things by. A handle leads to a value in a slab; every other
//! number counts things of one kind, from zero. Summaries, command line and Python show plain
//! numbers.

use flashlane_engine::{handle, number};

handle! {
    /// A host request, from its arrival to its completion. Unique while the request is outstanding.
    pub struct RequestId(u32);
}

handle! {
    /// A request that is planned and has not arrived yet.
    pub struct SubmissionId(u32);
}

handle! {
    /// A page-sized piece of work for the flash, until its end. Also names the head of a command:
    /// the other transactions of the command follow it as siblings.
    pub struct TransactionId(u32);
}

handle! {
    /// A job of garbage collection or wear levelling: one block that is emptied and erased.
    pub struct JobId(u32);
}

number! {
    /// The flow of a tenant: its requests, its share of the logical pages, its queue pair. Range:
    /// `0..flows`; accounts of delays have one more for the drive itself.
    pub struct FlowId(u16);
}
