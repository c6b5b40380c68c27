//! Handles and numbers that the stages of the drive share. A handle leads to a value in a slab;
//! every other number counts things of one kind, from zero. Summaries, command line and Python show
//! plain numbers.

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

number! {
    /// A queue pair of the drive, numbered flow by flow. Range: `0..queue pairs`, at most 65,535 as
    /// in NVMe, where the number 0 belongs to the admin queues.
    pub struct QueueId(u16);
}

number! {
    /// A channel of the drive. Range: `0..channels`.
    pub struct ChannelId(u32);
}

number! {
    /// A chip of the drive, numbered channel by channel. Range: `0..chips`.
    pub struct ChipId(u32);
}

number! {
    /// A die of the drive, numbered chip by chip. Range: `0..dies`.
    pub struct DieId(u32);
}

number! {
    /// A plane of the drive, numbered die by die. Range: `0..planes`. No other number opens a table
    /// of planes:
    ///
    /// ```
    /// use flashlane_engine::Array;
    /// use flashlane_units::PlaneId;
    /// let free_blocks: Array<PlaneId, u32> = Array::of(0, 8);
    /// assert_eq!(free_blocks[PlaneId::new(7)], 0);
    /// ```
    ///
    /// ```compile_fail,E0308
    /// use flashlane_engine::Array;
    /// use flashlane_units::{DieId, PlaneId};
    /// let free_blocks: Array<PlaneId, u32> = Array::of(0, 8);
    /// let _ = free_blocks[DieId::new(7)];
    /// ```
    pub struct PlaneId(u32);
}

number! {
    /// A block of the drive, numbered plane by plane. Range: `0..blocks`.
    pub struct BlockId(u32);
}

number! {
    /// A logical page address (LPA): a page of the space that hosts see, flow by flow. With mapping
    /// tables on flash, the translation pages come behind those of the hosts. Range:
    /// `0..logical pages`.
    pub struct Lpa(u32);
}

number! {
    /// A physical page address (PPA): a page of the flash, numbered block by block. Range:
    /// `0..pages`. It is no LPA:
    ///
    /// ```compile_fail,E0308
    /// use flashlane_units::{Lpa, Ppa};
    /// let _: Ppa = Lpa::new(0);
    /// ```
    pub struct Ppa(u32);
}

number! {
    /// A placement handle: the host's word for data that belongs together. `NONE`: the host gave
    /// none, and the default of the flow counts. Range: `0..handles of the drive`.
    pub struct Handle(u8);
}
