//! What each flow has the drive spend: energy, and programs and erases of its flash.
//!
//! Energy is the power of a part times the time that it works. Each operation is rounded to whole
//! picojoules, so that sums over flows are exact. Work belongs to the flow that it is done for;
//! collection belongs to the flows whose writes use up the blocks, as in blame
//! (`observe/credit.rs`).

use flashlane_engine::{Array, Time};
use flashlane_units::{FlowId, Power};

use super::credit::Credits;
use crate::config::{DeviceConfig, EnergyConfig};
use crate::flash::timing::FlashTiming;
use crate::metrics::energy::Spent;
use crate::transaction::{Op, Source, Transaction};

/// Counts what is spent.
#[derive(Clone, Debug)]
pub(crate) struct EnergyMeter {
    powers: EnergyConfig,
    pub(super) credits: Credits,
    flows: Array<FlowId, Spent>,
}

/// Energy of a power over a time. Unit: picojoules, rounded to the nearest.
pub(crate) fn picojoules(power: Power, time: Time) -> u64 {
    // A microwatt for a picosecond is an attojoule.
    let attojoules = u128::from(power.0) * u128::from(time.0);
    u64::try_from((attojoules + 500_000) / 1_000_000).unwrap_or(u64::MAX)
}

impl EnergyMeter {
    /// Nothing is spent.
    pub(crate) fn new(device: &DeviceConfig, flows: usize) -> Self {
        Self {
            powers: device.energy.clone(),
            credits: Credits::of(device, flows),
            flows: Array::of(Spent::default(), flows),
        }
    }

    /// What each flow has spent since the start of the run.
    pub(crate) fn spent(&self) -> Vec<Spent> {
        self.flows.iter().copied().collect()
    }

    /// A page, or an erase, is over in the array of its die; `page`: its place in the block.
    pub(super) fn operation(&mut self, tr: &Transaction, op: Op, page: u32, timing: &FlashTiming) {
        let time = Time(timing.array(op, page, tr.sectors()));
        let spent = &mut self.flows[self.credits.culprit_of(tr)];
        let energy = match op {
            Op::Read => {
                let energy = picojoules(self.powers.read_power, time);
                spent.energy.reads_pj += energy;
                energy
            }
            Op::Program => {
                let energy = picojoules(self.powers.program_power, time);
                spent.energy.programs_pj += energy;
                spent.programs += 1;
                energy
            }
            Op::Erase => {
                let energy = picojoules(self.powers.erase_power, time);
                spent.energy.erases_pj += energy;
                spent.erases += 1;
                energy
            }
        };
        if tr.source == Source::Gc {
            spent.energy.collection_pj += energy;
        }
    }

    /// The data of a page crosses its channel for so long.
    pub(super) fn transfer(&mut self, tr: &Transaction, time: Time) {
        let energy = picojoules(self.powers.transfer_power, time);
        let spent = &mut self.flows[self.credits.culprit_of(tr)];
        spent.energy.transfers_pj += energy;
        if tr.source == Source::Gc {
            spent.energy.collection_pj += energy;
        }
    }

    /// The memory of the data cache works for a flow for so long.
    pub(super) fn dram(&mut self, flow: FlowId, time: Time) {
        self.flows[flow].energy.dram_pj += picojoules(self.powers.dram_power, time);
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
