//! Expenses of the drive for each flow: energy, and programs and erases of its flash.
//!
//! Energy is the power of a part times the time that it works. Each operation is rounded to whole
//! picojoules, so that sums over flows are exact. Work belongs to the flow that it is done for;
//! collection belongs to the flows whose writes use up the blocks, as in blame
//! (`observe/credit.rs`).

use flashlane_engine::{Array, Time};
use flashlane_units::{FlowId, Power};

use crate::metrics::energy::FlowEnergy;
use flashlane_config::EnergyConfig;
use flashlane_device::transaction::{Op, Source};

/// Counts the expenses.
#[derive(Clone, Debug)]
pub(crate) struct EnergyMeter {
    powers: EnergyConfig,
    flows: Array<FlowId, FlowEnergy>,
}

/// Energy of a power over a time. Unit: picojoules, rounded to the nearest.
pub(crate) fn picojoules(power: Power, time: Time) -> u64 {
    // A microwatt for a picosecond is an attojoule.
    let attojoules = u128::from(power.0) * u128::from(time.0);
    u64::try_from((attojoules + 500_000) / 1_000_000).unwrap_or(u64::MAX)
}

impl EnergyMeter {
    /// A meter before the first operation.
    pub(crate) fn new(powers: &EnergyConfig, flows: usize) -> Self {
        Self { powers: powers.clone(), flows: Array::of(FlowEnergy::default(), flows) }
    }

    /// Expenses of each flow since the start of the run.
    pub(crate) fn spent(&self) -> Vec<FlowEnergy> {
        self.flows.iter().copied().collect()
    }

    /// Adds a page, or an erase, for which the array of a die worked for `time`.
    pub(super) fn operation(
        &mut self,
        flow: FlowId,
        source: Source,
        (op, changes): (Op, u64),
        time: Time,
    ) {
        let spent = &mut self.flows[flow];
        let (power, sum) = match op {
            Op::Read => (self.powers.read_power, &mut spent.energy.reads_pj),
            Op::Program => {
                spent.programs += changes;
                (self.powers.program_power, &mut spent.energy.programs_pj)
            }
            Op::Erase => {
                spent.erases += changes;
                (self.powers.erase_power, &mut spent.energy.erases_pj)
            }
        };
        let energy = picojoules(power, time);
        *sum = sum.saturating_add(energy);
        spent.collects(source, energy);
    }

    /// Adds the data of a page, which crosses its channel for `time`.
    pub(super) fn transfer(&mut self, flow: FlowId, source: Source, time: Time) {
        let energy = picojoules(self.powers.transfer_power, time);
        let spent = &mut self.flows[flow];
        spent.energy.transfers_pj = spent.energy.transfers_pj.saturating_add(energy);
        spent.collects(source, energy);
    }

    /// Adds work of the memory of the data cache for a flow, for `time`.
    pub(super) fn dram(&mut self, flow: FlowId, time: Time) {
        let sum = &mut self.flows[flow].energy.dram_pj;
        *sum = sum.saturating_add(picojoules(self.powers.dram_power, time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_milliwatt_for_a_microsecond_is_a_nanojoule() {
        assert_eq!(picojoules(Power(1_000), Time::from_us(1)), 1_000);
        assert_eq!(picojoules(Power(82_500), Time::from_us(50)), 4_125_000, "82.5 mW x 50 us");
        assert_eq!(picojoules(Power(1), Time(499_999)), 0);
        assert_eq!(picojoules(Power(1), Time(500_000)), 1);
    }
}
