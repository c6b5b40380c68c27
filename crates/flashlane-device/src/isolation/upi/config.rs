//! Parameters of UPI.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_units::PolicyDoc;
use flashlane_units::{Ratio, Span};

/// Parameters of UPI. Parameters that the paper does not give are ours, and marked so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpiConfig {
    /// Time between two allocation steps; ours, the paper gives none. Range: 1us..=3600s.
    pub window: Span,
    /// A chip moves only if the utility of the flow that loses it is expected to be at least `1 +
    /// hysteresis` times that of the flow that gains it. The paper: 0. Range: 0..=100.
    pub hysteresis: f64,
    /// A chip moves only if the lowest utility is expected to rise, so that transfers come to an
    /// end while the load is constant; ours. Without it two flows with equal loads may swap a chip
    /// again and again.
    pub settle: bool,
    /// The reads by which a flow chooses the chip to give away: the chip with the fewest. The paper
    /// does not say whose reads count. It says that this is to reduce interference, which hits the
    /// reads of the flow whose data stays behind.
    pub fewest_reads: FewestReads,
    /// The reads of the past that stand for those to come. The paper does not say which.
    pub past_reads: PastReads,
    /// Weight of the last window in the running mean of the reads, with `past_reads = "average"`;
    /// ours. Range: 0.001..=1.
    pub read_gain: f64,
    /// Weight of the reads of a block on a chip that its flow does not write to, against its
    /// invalid pages, when a victim is chosen (section 5): 0 never moves data for its reads, large
    /// values move it eagerly. At 1 a block with as many reads as the mean block of its flow counts
    /// like a block without a valid page. The form of the score is ours. Range: 0..=1000000.
    pub relocation: f64,
    /// Collection spreads the pages of a flow's own chips over its set, as it does for pages on
    /// chips of others. Otherwise they stay in their plane.
    pub spread_copies: bool,
    /// Exponent on the idle share of a chip in the utility of each flow (section 5), in the order
    /// of the workload; 1 where the list ends. Range: 0..=100.
    pub traffic_exponents: Vec<f64>,
    /// Exponent on the reads in the utilities (section 5). Range: 0..=10.
    pub read_exponent: f64,
    /// Chips that every flow writes to (section 5, "relaxing the mutually exclusive property"),
    /// numbered channel by channel.
    pub shared_chips: Vec<u32>,
    /// Chips that no flow writes to (section 5): they start with a part of every flow's data and
    /// serve reads of it.
    pub read_only_chips: Vec<u32>,
    /// A write that finds no room in its set goes outside of the set, which the paper forbids.
    /// Otherwise its flow is given another chip at once, a forced transfer; ours.
    pub overflow: bool,
    /// Share of valid pages from which on a plane takes no more pages of a set while another plane
    /// can; ours. Range: 0.01..=1.
    pub fill: Ratio,
    /// Weight of the last window in the running means of a flow's writes and copies, whose ratio is
    /// its write amplification; ours.
    /// Range: 0.001..=1.
    pub amplification_gain: f64,
    /// Windows over which the reads of a block are remembered, as a running mean; 0 counts all
    /// reads since its erase, as drives count them against read disturb; ours. Range: 0..=1000.
    pub read_memory: u32,
    /// Traffic from which on a chip counts as overloaded; ours, since the paper only says "0 to 1".
    /// Range: 0.1..=0.9999.
    pub traffic_limit: f64,
}

/// Reads by which the chip to give away is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FewestReads {
    /// The reads of all flows.
    All,
    /// The reads of the flow that loses the chip: it keeps the chips that hold the data that it
    /// reads.
    #[default]
    Own,
}

/// The reads that are expected in a coming window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PastReads {
    /// The reads of the last window.
    Window,
    /// A running mean over the windows.
    #[default]
    Average,
    /// The mean of all windows since the chip last changed hands.
    Owned,
}

impl Default for UpiConfig {
    fn default() -> Self {
        Self {
            window: Span(30_000_000_000_000),
            hysteresis: 0.0,
            settle: true,
            fewest_reads: FewestReads::Own,
            past_reads: PastReads::Average,
            read_gain: 0.125,
            relocation: 1.0,
            spread_copies: true,
            traffic_exponents: Vec::new(),
            read_exponent: 1.0,
            shared_chips: Vec::new(),
            read_only_chips: Vec::new(),
            overflow: false,
            fill: Ratio(0.85),
            amplification_gain: 0.125,
            read_memory: 0,
            traffic_limit: 0.99,
        }
    }
}

impl PolicyDoc for UpiConfig {
    const SUMMARY: &'static str = "utilitarian performance isolation: flows have sets of chips to write \
        to, and every window one chip may go from the flow that suffers least to the one that suffers most";
    const SOURCE: &'static str = "UPI (HotStorage) sections 3 and 5";
}
