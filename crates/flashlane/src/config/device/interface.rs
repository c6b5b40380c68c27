//! The host interface of the drive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::units::{ByteSize, Span};
use crate::interface::arbitration::Arbitration;

/// NVMe: one submission and one completion queue per flow, doorbells, fetch, arbitration, firmware.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InterfaceConfig {
    /// Entries of each submission and completion queue. Range: 2..=65536.
    pub queue_depth: u32,
    /// Commands of one queue that the device holds at a time (QueueFetchSize). Range: 1..=65535.
    /// Source: MQSim (FAST'18) section 6.1 and Fig. 12.
    pub queue_fetch_size: u32,
    /// How the device picks the next queue to fetch from.
    pub arbitration: Arbitration,
    /// Commands of all queues together that may be between fetch and the end of their firmware
    /// time. Small values let arbitration decide; range: 1..=65535.
    pub fetch_ahead: u32,
    /// Firmware time per command; `0ns` for none. Source: MQSim (FAST'18) section 3.3, about 1 us.
    pub firmware_time: Span,
    /// Processors that run the firmware in parallel. Range: 1..=64.
    pub firmware_servers: u32,
    /// Size of a submission queue entry. 64 by the NVMe standard.
    pub submission_entry: ByteSize,
    /// Size of a completion queue entry. 16 by the NVMe standard.
    pub completion_entry: ByteSize,
}

impl Default for InterfaceConfig {
    fn default() -> Self {
        Self {
            queue_depth: 65_535,
            queue_fetch_size: 512,
            arbitration: Arbitration::by_name("round-robin").expect("registered"),
            fetch_ahead: 16,
            firmware_time: Span(1_000_000),
            firmware_servers: 1,
            submission_entry: ByteSize(64),
            completion_entry: ByteSize(16),
        }
    }
}
