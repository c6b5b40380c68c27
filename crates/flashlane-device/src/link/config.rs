//! Configuration of the link between host and device.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_units::{Bandwidth, ByteSize};

/// PCIe: two independent directions, each a first-come-first-served server.
/// Source: MQSim (FAST'18) section 4; PCI Express base specification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkConfig {
    /// Number of lanes. Range: 1..=32.
    pub lanes: u32,
    /// PCIe generation, which gives `lane_bandwidth` and `packet_overhead` where these are not
    /// given (see `docs/model-host.md`). Range: 3..=6.
    pub generation: Option<u32>,
    /// Usable rate of one lane and direction. Default: that of the generation, or 1 GB/s without a
    /// generation.
    pub lane_bandwidth: Option<Bandwidth>,
    /// Largest payload of one packet. Range: 64B..=4KiB.
    pub max_payload: ByteSize,
    /// Header, link-layer and framing bytes of one packet. Range: 0..=64 bytes. Default: that of
    /// the generation, or 28 bytes without a generation.
    pub packet_overhead: Option<ByteSize>,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            lanes: 4,
            generation: None,
            lane_bandwidth: None,
            max_payload: ByteSize(128),
            packet_overhead: None,
        }
    }
}

impl LinkConfig {
    /// Usable rate of one lane and direction. Unit: bytes per second.
    ///
    /// Generations 3 to 5: 8, 16, 32 GT/s less 128b/130b coding. Generation 6: 64 GT/s, of which
    /// 236 bytes of every flit of 256 carry packets. Link layer, checksum and error correction take
    /// the rest.
    #[must_use]
    pub fn lane_rate(&self) -> u64 {
        let by_generation = || match self.generation {
            Some(generation @ 3..=5) => (8_000_000_000_u64 << (generation - 3)) / 8 * 128 / 130,
            Some(_) => 64_000_000_000 / 8 * 236 / 256,
            None => 1_000_000_000,
        };
        self.lane_bandwidth.map_or_else(by_generation, |rate| rate.0)
    }

    /// Bytes of a packet besides its payload.
    ///
    /// Generations 3 to 5: 4 bytes of framing with the sequence number, 16 of header with a 64-bit
    /// address, 4 of checksum. Generation 6: only the header, since the flit has the rest.
    #[must_use]
    pub fn overhead(&self) -> u64 {
        let by_generation = || match self.generation {
            Some(3..=5) => 24,
            Some(_) => 16,
            None => 28,
        };
        self.packet_overhead.map_or_else(by_generation, |bytes| bytes.0)
    }
}
