//! Status codes of completions.

use std::fmt;

/// The status of a completion: the status code in bits 7:0, its type in bits 10:8, and "do not
/// retry" in bit 14. The phase tag is not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u16);

/// Bit 14: the same command would fail again.
const DO_NOT_RETRY: u16 = 1 << 14;

impl Status {
    /// Success.
    pub const SUCCESS: Self = Self(0);
    /// The opcode is not supported.
    pub const INVALID_OPCODE: Self = Self::never(0x001);
    /// A field of the command has a value that is not supported.
    pub const INVALID_FIELD: Self = Self::never(0x002);
    /// The command identifier is in use.
    pub const COMMAND_ID_CONFLICT: Self = Self::never(0x003);
    /// The data of the command could not be transferred.
    pub const DATA_TRANSFER_ERROR: Self = Self(0x004);
    /// The controller failed inside.
    pub const INTERNAL_ERROR: Self = Self(0x006);
    /// The command was aborted because the host asked for it.
    pub const ABORT_REQUESTED: Self = Self(0x007);
    /// The command was aborted because its queue was deleted.
    pub const ABORTED_WITH_QUEUE: Self = Self(0x008);
    /// There is no such namespace.
    pub const INVALID_NAMESPACE: Self = Self::never(0x00b);
    /// The command comes at the wrong time, for example before Connect.
    pub const COMMAND_SEQUENCE_ERROR: Self = Self::never(0x00c);
    /// A segment of the data pointer is wrong.
    pub const INVALID_SGL_SEGMENT: Self = Self::never(0x00d);
    /// The data pointer has too many parts.
    pub const INVALID_SGL_COUNT: Self = Self::never(0x00e);
    /// The data pointer has another length than the command.
    pub const DATA_LENGTH_INVALID: Self = Self::never(0x00f);
    /// The type of the data pointer is not supported.
    pub const DESCRIPTOR_TYPE_INVALID: Self = Self::never(0x011);
    /// A pointer to a page is not where it may be.
    pub const PRP_OFFSET_INVALID: Self = Self::never(0x013);
    /// The blocks are outside of the namespace.
    pub const LBA_OUT_OF_RANGE: Self = Self::never(0x080);
    /// There is no such completion queue.
    pub const COMPLETION_QUEUE_INVALID: Self = Self::never(0x100);
    /// There is no room for the queue, or its number is taken.
    pub const INVALID_QUEUE_ID: Self = Self::never(0x101);
    /// The size of the queue is not supported.
    pub const INVALID_QUEUE_SIZE: Self = Self::never(0x102);
    /// Too many asynchronous event requests are outstanding.
    pub const ASYNC_EVENT_LIMIT: Self = Self::never(0x105);
    /// There is no such interrupt vector.
    pub const INVALID_INTERRUPT_VECTOR: Self = Self::never(0x108);
    /// There is no such log page.
    pub const INVALID_LOG_PAGE: Self = Self::never(0x109);
    /// The format of the namespace is not supported.
    pub const INVALID_FORMAT: Self = Self::never(0x10a);
    /// The completion queue is in use.
    pub const INVALID_QUEUE_DELETION: Self = Self::never(0x10c);
    /// The feature cannot be saved over a reset.
    pub const FEATURE_NOT_SAVEABLE: Self = Self::never(0x10d);
    /// The feature cannot be changed.
    pub const FEATURE_NOT_CHANGEABLE: Self = Self::never(0x10e);
    /// Connect: the format of the parameters is not supported.
    pub const CONNECT_INCOMPATIBLE_FORMAT: Self = Self::never(0x180);
    /// Connect: the controller or the queue is in use, or there are as many as are allowed.
    pub const CONNECT_CONTROLLER_BUSY: Self = Self(0x181);
    /// Connect: a parameter is wrong, for example the name of the subsystem.
    pub const CONNECT_INVALID_PARAMETERS: Self = Self::never(0x182);
    /// Connect: the host is not the host of the controller.
    pub const CONNECT_INVALID_HOST: Self = Self::never(0x184);
    /// The data could not be written to the medium.
    pub const WRITE_FAULT: Self = Self(0x280);
    /// The data could not be read from the medium.
    pub const UNRECOVERED_READ_ERROR: Self = Self(0x281);

    /// A status of a command that would fail again.
    const fn never(code: u16) -> Self {
        Self(code | DO_NOT_RETRY)
    }

    /// True for success.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::SUCCESS
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "type {:x}h code {:02x}h", self.0 >> 8 & 7, self.0 & 0xff)
    }
}
