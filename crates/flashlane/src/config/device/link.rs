//! The link between host and device.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::units::{Bandwidth, ByteSize};

/// PCIe: two independent directions, each a first-come-first-served server.
/// Source: MQSim (FAST'18) section 4; overheads of PCIe 3.0 packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkConfig {
    /// Number of lanes. Range: 1..=32.
    pub lanes: u32,
    /// Usable rate of one lane and direction.
    pub lane_bandwidth: Bandwidth,
    /// Largest payload of one packet. Range: 64B..=4KiB.
    pub max_payload: ByteSize,
    /// Header, link-layer and framing bytes of one packet. Range: 0..=64 bytes.
    pub packet_overhead: ByteSize,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            lanes: 4,
            lane_bandwidth: Bandwidth(1_000_000_000),
            max_payload: ByteSize(128),
            packet_overhead: ByteSize(28),
        }
    }
}
