//! Power of a drive, and rated life of its flash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_units::Power;

/// Power of the parts of a drive, for `--energy`. A part takes its power while it works, as data
/// sheets of chips state it: current times voltage. Energy is power times the simulated time, and
/// changes no result. The defaults are assumptions, typical of chips with a 3.3 V core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EnergyConfig {
    /// Power of a plane whose array reads, for tR (ICC1 times VCC). Range: 0..=100W.
    pub read_power: Power,
    /// Power of a plane whose array programs, for tPROG (ICC2). Range: 0..=100W.
    pub program_power: Power,
    /// Power of a plane whose array erases, for tBERS (ICC3). Range: 0..=100W.
    pub erase_power: Power,
    /// Power of a channel with both its ends while data crosses it (ICC4). Range: 0..=100W.
    pub transfer_power: Power,
    /// Power of the memory of the data cache while it moves data (IDD4). Range: 0..=100W.
    pub dram_power: Power,
    /// Power of the whole drive when it is idle, added at all times. 0 if it is not known. Range:
    /// 0..=100W.
    pub idle_power: Power,
}

impl Default for EnergyConfig {
    fn default() -> Self {
        Self {
            read_power: Power(82_500),
            program_power: Power(82_500),
            erase_power: Power(82_500),
            transfer_power: Power(100_000),
            dram_power: Power(300_000),
            idle_power: Power(0),
        }
    }
}

impl EnergyConfig {
    /// Keys and powers.
    pub fn powers(&self) -> [(&'static str, Power); 6] {
        [
            ("read_power", self.read_power),
            ("program_power", self.program_power),
            ("erase_power", self.erase_power),
            ("transfer_power", self.transfer_power),
            ("dram_power", self.dram_power),
            ("idle_power", self.idle_power),
        ]
    }
}

/// Rated life of the flash, for `--energy`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EnduranceConfig {
    /// Programs and erases for which a block is rated. Without it, years of life are not reported.
    /// Range: 1..=1000000000.
    pub rated_cycles: Option<u32>,
}
