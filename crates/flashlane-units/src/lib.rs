//! Quantities with units, the registration of policies, and the words that every stage shares. This
//! crate knows no stage of the drive.

mod handles;
pub mod outside;
pub mod policy;
mod request;
mod sharing;
pub mod units;

pub use handles::{
    BlockId, ChannelId, ChipId, DieId, FlowId, Handle, JobId, Lpa, PlaneId, Ppa, QueueId,
    RequestId, SubmissionId, TransactionId,
};
pub use policy::{PolicyDoc, PolicyInfo};
pub use request::RequestOp;
pub use sharing::Sharing;
pub use units::{Bandwidth, BlockShare, ByteSize, Frequency, Power, Ratio, Span, TransferRate};

/// Bytes of a host sector.
pub const SECTOR_BYTES: u64 = 512;
