//! Everything that can happen in the device. The one `match` over it is in [`crate::device`].

use flashlane_engine::Laned;
use flashlane_engine::event_queue::UNORDERED;
use flashlane_units::{ChannelId, DieId, FlowId, QueueId, RequestId, SubmissionId, TransactionId};

/// An event. Handles and indices only; the state is in the stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "a field is what its type says")]
pub enum Event {
    /// A request that was submitted for this time arrives.
    Arrival { submission: SubmissionId },
    /// A submission doorbell that announces entries reaches the device.
    Doorbell { queue: QueueId, entries: u16 },
    /// The host has waited long enough for more entries of a queue, unless it has rung since.
    DoorbellDue { queue: QueueId },
    /// The submission entry of a write reaches the device, unless it is delayed.
    WriteEntry { request: RequestId },
    /// The host bus adapter of a SATA drive has passed a command on.
    AdapterSubmitted { request: RequestId },
    /// A command reaches a SATA drive.
    SataCommand { request: RequestId },
    /// The firmware of a command is over, unless it was delayed.
    Begin { request: RequestId },
    /// A DRAM access on behalf of a request is done.
    DramDone { request: RequestId },
    /// The memory of a partitioned cache may serve the next flow.
    DramTurn,
    /// Evicted data is out of DRAM: the chain of write-backs that begins with this transaction may
    /// start.
    EvictionRead { transaction: TransactionId },
    /// A write that waits for the pace of the cache may be admitted, in the pool of the flow.
    Admission { flow: FlowId },
    /// Command, address and program data are over the bus, and something waits for that.
    ChannelFree { channel: ChannelId },
    /// The data of a program is over the data bus, where commands have their own bus.
    DataBusFree { channel: ChannelId },
    /// The first read of a channel ends in the array, and the channel is idle.
    Sensed { channel: ChannelId },
    /// A program or an erase ends, unless the die was suspended since (`epoch` differs).
    ArrayDone { die: DieId, epoch: u16 },
    /// A resumed program or erase has run long enough to be interrupted again, and something waits
    /// for that.
    Progressed { die: DieId },
    /// The read data that the channel was moving is in the controller.
    DataSent { channel: ChannelId },
    /// The data of a page is decoded.
    Decoded { transaction: TransactionId },
    /// A completion entry reaches the host, or the host bus adapter of a SATA drive.
    Completion { request: RequestId },
    /// The host bus adapter of a SATA drive has passed a completion on.
    AdapterCompleted { request: RequestId },
    /// There may be room in a completion queue again.
    CompletionRoom { queue: QueueId },
    /// A limit of rates lets the next command pass that waits for it. `limit`: its index.
    LimitRoom { limit: u16 },
    /// A limit of rates in the host lets the next request pass that waits for it. `limit`: its
    /// index.
    HostLimitRoom { limit: u16 },
    /// The time at which the scheduling policy wants to be woken, unless it has changed its mind.
    #[default]
    Alarm,
    /// The time of a page that is being filled with units may be over.
    PagesDue,
    /// A word line may have waited long enough for its second pass.
    PassesDue,
    /// No request may have been in the drive for a while.
    Idle,
    /// A tenant asked to be woken.
    Wake { flow: FlowId },
}

/// News from an event. The host may submit requests before the event is over; then it must call the
/// function that is named here. All variants have the same content, so that news stay in registers;
/// the driver keeps the handle of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the flow of the request or of the tenant")]
pub enum Up {
    /// Nothing.
    Nothing,
    /// A request of the flow that was submitted for this time arrives. First:
    /// [`crate::device::Device::enter`]. Then: [`crate::device::Device::ring`].
    Arrived { flow: FlowId },
    /// A request of the flow is complete. First: [`crate::device::Device::forget`]. Then:
    /// [`crate::device::Device::completion_over`].
    Completed { flow: FlowId },
    /// A request of the flow is complete on a SATA drive. First: [`crate::device::Device::forget`].
    TagFreed { flow: FlowId },
    /// The tenant asked to be woken now. Then: [`crate::device::Device::ring`].
    Woken { flow: FlowId },
}

impl Laned for Event {
    #[inline]
    fn lane(&self) -> usize {
        match self {
            // A command on the link or on a channel.
            Self::Doorbell { .. }
            | Self::WriteEntry { .. }
            | Self::Begin { .. }
            | Self::ChannelFree { .. } => 0,
            // Data on the link.
            Self::Completion { .. } => 3,
            // A page on the bus.
            Self::DataSent { .. } => 1,
            // A page in the array, or in the queue of the DRAM.
            Self::Sensed { .. }
            | Self::DramDone { .. }
            | Self::EvictionRead { .. }
            | Self::DramTurn => 2,
            _ => UNORDERED,
        }
    }
}

const _: () = assert!(size_of::<Event>() <= 8, "events are copied through the queue on every step");
