//! Parameters of FLIN that users may set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_units::PolicyDoc;
use flashlane_units::{Bandwidth, Span};

/// The stages of FLIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Fairness-aware queue insertion; without it transactions queue in order of arrival.
    Insertion,
    /// Priority-aware arbitration; without it all classes share one queue.
    Arbitration,
    /// Wait-balancing selection; without it reads go before writes, and both before collection.
    WaitBalancing,
}

/// The rates that the thresholds of intensity apply to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The rate of a flow over the whole drive, against the threshold.
    Device,
    /// The rate of a flow at each unit, against the threshold over the number of units.
    Unit,
    /// The rate of a flow at each unit, against the whole threshold.
    EachUnit,
}

/// Intensity of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Intensities {
    /// Below the threshold.
    #[default]
    Low,
    /// At the threshold or above.
    High,
}

impl Intensities {
    fn is_low(&self) -> bool {
        *self == Self::Low
    }
}

/// Where free pages are counted for GC_FLIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FreePages {
    /// On the plane that the write goes to.
    Plane,
    /// On all planes of its unit.
    Unit,
    /// On the whole drive.
    Device,
}

/// End of the history of writes of Eq. 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum History {
    /// An erase anywhere on the drive.
    Device,
    /// An erase at the unit, which keeps a history of its own.
    Unit,
    /// Never: all writes of the run count.
    Run,
}

/// Parameters of FLIN. Defaults: FLIN (ISCA'18) section 6.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlinConfig {
    /// The stages in use.
    pub stages: Vec<Stage>,
    /// Interval of intensity classification. Range: 1us and above.
    pub epoch: Span,
    /// A flow that reads less is of low read intensity (alpha for reads, C).
    pub read_intensity: Bandwidth,
    /// A flow that writes less is of low write intensity (alpha for writes, C).
    pub write_intensity: Bandwidth,
    /// The rates that both thresholds apply to. Choice: the paper keeps rates by flow and chip
    /// (section 5.5) and speaks of thresholds of flows.
    pub intensity_scope: Scope,
    /// Intensity of all flows in the first epoch. The paper does not say; the fragment of FLIN in
    /// the released MQSim begins with high.
    #[serde(skip_serializing_if = "Intensities::is_low")]
    pub first_intensity: Intensities,
    /// Below this fairness of departed transactions, the most slowed flow of high intensity goes
    /// first (F_thr). Range: 0..=1.
    pub fairness_threshold: f64,
    /// Writes take migrations along when there are fewer free pages (GC_FLIN).
    pub gc_free_pages: u32,
    /// Where free pages are counted. The paper: "available in the memory".
    pub gc_scope: FreePages,
    /// End of the history of writes that decides how flows share migrations. Choice: the paper
    /// counts "since the last garbage collection operation".
    pub gc_history: History,
    /// A read may interrupt a program or an erase that has waited proportionally less (section
    /// 4.3).
    pub suspend: bool,
    /// A transaction that has waited this long is served next, whatever the stages decide. The
    /// paper has no bound. Default: none, but 100 ms without wait balancing, where reads go before
    /// all else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_limit: Option<Span>,
    /// Most transactions that insertion looks at, from the tail of a region on. The paper has no
    /// bound. Range: 1 and above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scan_limit: Option<u32>,
}

impl Default for FlinConfig {
    fn default() -> Self {
        Self {
            stages: vec![Stage::Insertion, Stage::Arbitration, Stage::WaitBalancing],
            epoch: Span(10_000_000_000),
            read_intensity: Bandwidth(32_000_000),
            write_intensity: Bandwidth(256_000),
            intensity_scope: Scope::Unit,
            first_intensity: Intensities::Low,
            fairness_threshold: 0.6,
            gc_free_pages: 1024,
            gc_scope: FreePages::Device,
            gc_history: History::Device,
            suspend: true,
            age_limit: None,
            scan_limit: None,
        }
    }
}

impl PolicyDoc for FlinConfig {
    const SUMMARY: &'static str =
        "fair queue insertion, weighted classes, reads and writes balanced by proportional wait";
    const SOURCE: &'static str = "FLIN (ISCA'18) sections 4 and 5";
}
