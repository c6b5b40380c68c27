//! Opcodes of commands.

/// Admin commands.
pub mod admin {
    /// Deletes a submission queue in host memory.
    pub const DELETE_SUBMISSION_QUEUE: u8 = 0x00;
    /// Makes a submission queue in host memory.
    pub const CREATE_SUBMISSION_QUEUE: u8 = 0x01;
    /// Reads a log of the controller.
    pub const GET_LOG_PAGE: u8 = 0x02;
    /// Deletes a completion queue in host memory.
    pub const DELETE_COMPLETION_QUEUE: u8 = 0x04;
    /// Makes a completion queue in host memory.
    pub const CREATE_COMPLETION_QUEUE: u8 = 0x05;
    /// Tells what a controller or a namespace is.
    pub const IDENTIFY: u8 = 0x06;
    /// Takes an earlier command back.
    pub const ABORT: u8 = 0x08;
    /// Changes a setting of a controller.
    pub const SET_FEATURES: u8 = 0x09;
    /// Reads a setting of a controller.
    pub const GET_FEATURES: u8 = 0x0a;
    /// Waits for an event of the controller.
    pub const ASYNC_EVENT: u8 = 0x0c;
    /// Says that the host is still there.
    pub const KEEP_ALIVE: u8 = 0x18;
    /// Empties a namespace.
    pub const FORMAT_NVM: u8 = 0x80;
    /// Places the shadow doorbells.
    pub const DOORBELL_BUFFER: u8 = 0x7c;
}

/// Commands of I/O queues.
pub mod io {
    /// Makes earlier writes durable.
    pub const FLUSH: u8 = 0x00;
    /// Writes blocks.
    pub const WRITE: u8 = 0x01;
    /// Reads blocks.
    pub const READ: u8 = 0x02;
    /// Compares blocks with data of the host. Refused.
    pub const COMPARE: u8 = 0x05;
    /// Makes blocks read as zeros.
    pub const WRITE_ZEROES: u8 = 0x08;
    /// Trims ranges of blocks.
    pub const DATASET_MANAGEMENT: u8 = 0x09;
    /// Tells of reclaim unit handles.
    pub const IO_MANAGEMENT_RECEIVE: u8 = 0x12;
}

/// Types of fabrics commands.
pub mod fabrics {
    /// Opcode of every fabrics command.
    pub const OPCODE: u8 = 0x7f;
    /// Writes a register.
    pub const PROPERTY_SET: u8 = 0x00;
    /// Makes the connection a queue.
    pub const CONNECT: u8 = 0x01;
    /// Reads a register.
    pub const PROPERTY_GET: u8 = 0x04;
    /// Ends a queue.
    pub const DISCONNECT: u8 = 0x08;
}
