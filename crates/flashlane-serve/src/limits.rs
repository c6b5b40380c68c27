//! What clients may take of this machine.

use std::time::Duration;

/// Limits of a server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at a time. A further client is disconnected at once.
    pub connections: usize,
    /// I/O queues of an NVMe controller.
    pub queues: u16,
    /// NVMe controllers at a time.
    pub controllers: u16,
    /// Time in which a connection must become a queue or an export.
    pub handshake: Duration,
    /// Data of a connection that the server keeps: of commands under way, and of answers that the
    /// client has not read. Beyond it the server reads no further commands. Unit: bytes.
    pub connection_bytes: usize,
    /// The largest NBD request with data. Unit: bytes.
    pub request_bytes: usize,
    /// Data in memory, or in the sparse file. Unit: bytes.
    pub store_bytes: u64,
    /// With the virtual clock: how long a client may think before time goes on without it.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            queues: 64,
            controllers: 64,
            handshake: Duration::from_secs(10),
            connection_bytes: 32 << 20,
            request_bytes: 32 << 20,
            store_bytes: 16 << 30,
            patience: Duration::from_millis(5),
        }
    }
}
