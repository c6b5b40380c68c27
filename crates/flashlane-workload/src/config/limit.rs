//! Limits of a tenant's rate, or of the rate of several together.

pub use flashlane_device::interface::limits::LimitPlace;
use flashlane_device::interface::limits::RateLimit;
use flashlane_units::{Bandwidth, FlowId, SECTOR_BYTES, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SECOND_PS: u128 = 1_000_000_000_000;

/// Default of [`LimitConfig::burst`]. Unit: picoseconds.
const BURST_PS: u64 = 1_000_000_000;

/// Largest rates. The device fetches a command, or the host submits it, when its rates allow it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitConfig {
    /// Most commands per second, of all kinds. Range: 0.001..=1000000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    /// Most bytes per second that reads and writes move together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    /// Limits of reads alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<RatesConfig>,
    /// Limits of writes alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<RatesConfig>,
    /// After a pause, as much may pass at once as the rates give in this time. In any window of
    /// length `w`, a rate is kept to what it gives in `w + burst`, and one command more. Range:
    /// 0s..=3600s. Default: 1ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Span>,
    /// Where commands are held back.
    #[serde(skip_serializing_if = "LimitPlace::is_device")]
    pub at: LimitPlace,
}

/// Largest rates of one kind of command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RatesConfig {
    /// Most commands per second. Range: 0.001..=1000000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    /// Most bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
}

impl LimitConfig {
    /// The rates with the kinds that they count: key, rates, reads, writes.
    pub fn kinds(&self) -> [(&'static str, Option<RatesConfig>, bool, bool); 3] {
        let both = RatesConfig { iops: self.iops, bandwidth: self.bandwidth };
        [
            ("", Some(both), true, true),
            ("read.", self.read.clone(), true, false),
            ("write.", self.write.clone(), false, true),
        ]
    }

    /// True if nothing is limited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds().iter().all(|(_, rates, ..)| {
            rates.as_ref().is_none_or(|rates| rates.iops.is_none() && rates.bandwidth.is_none())
        })
    }

    /// The limits for some flows together.
    #[must_use]
    pub fn of(&self, flows: &[FlowId]) -> Vec<RateLimit> {
        let burst = self.burst.map_or(BURST_PS, |burst| burst.0);
        let mut limits = Vec::new();
        for (_, rates, reads, writes) in self.kinds() {
            let Some(rates) = rates else { continue };
            let limit = |per_command, per_sector| RateLimit {
                flows: flows.to_vec(),
                reads,
                writes,
                per_command,
                per_sector,
                burst,
                place: self.at,
            };
            limits.extend(rates.iops.map(|iops| limit((SECOND_PS as f64 / iops).ceil() as u64, 0)));
            let per_sector = |rate: Bandwidth| {
                let ps = (u128::from(SECTOR_BYTES) * SECOND_PS).div_ceil(u128::from(rate.0));
                u64::try_from(ps).unwrap_or(u64::MAX)
            };
            limits.extend(rates.bandwidth.map(|rate| limit(0, per_sector(rate))));
        }
        limits
    }
}

/// Several tenants with a limit of their own, which they share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupConfig {
    /// Name in messages; unique.
    pub name: String,
    /// Names of the flows. A flow with a `count` stands for all its copies.
    pub members: Vec<String>,
    /// The rates that the members have together, besides the limits of their own.
    pub limit: LimitConfig,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_become_the_costs_of_commands_and_sectors() {
        let config = LimitConfig {
            iops: Some(1000.0),
            bandwidth: Some(Bandwidth(512_000_000)),
            write: Some(RatesConfig { iops: Some(3.0), bandwidth: None }),
            burst: Some(Span(7)),
            ..LimitConfig::default()
        };
        let limits = config.of(&[FlowId::new(2)]);
        let costs: Vec<_> =
            limits.iter().map(|l| (l.reads, l.writes, l.per_command, l.per_sector)).collect();
        assert_eq!(
            costs,
            [
                (true, true, 1_000_000_000, 0),
                (true, true, 0, 1_000_000),
                // Rounded up, so that no rate is exceeded.
                (false, true, 333_333_333_334, 0),
            ]
        );
        assert!(limits.iter().all(|limit| limit.burst == 7 && limit.flows == [FlowId::new(2)]));
        assert!(!config.is_empty() && LimitConfig::default().is_empty());
    }
}
