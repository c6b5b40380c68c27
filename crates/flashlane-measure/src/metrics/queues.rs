//! Lengths of the flash queues, by chip and kind.

/// Transactions of a kind that waited at a chip, in the whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueStatistics {
    /// Kind, as MQSim names it: `User_Read`, …, `GC_Erase`.
    pub kind: &'static str,
    /// Class of the flow, 0 (urgent) to 3 (low), of transactions of hosts.
    pub class: Option<u8>,
    /// Channel, and chip on it.
    pub chip: (u32, u32),
    /// Transactions that came.
    pub enqueued: u64,
    /// Transactions that left, for the flash or because they had become pointless.
    pub dequeued: u64,
    /// Mean number of waiting transactions.
    pub mean_length: f64,
    /// Largest number of waiting transactions.
    pub max_length: u32,
    /// Mean wait of the transactions that left. Unit: microseconds.
    pub mean_wait_us: f64,
    /// Longest wait of the transactions that left. Unit: microseconds.
    pub max_wait_us: f64,
}
