//! The steady state that the released MQSim takes for each flow before it rounds.

use flashlane_config::{DeviceConfig, FlowConfig, MqsimAddress, MqsimFlowConfig, WorkloadConfig};
use flashlane_device::ftl::gc::build;
use flashlane_device::ftl::gc::mean_field::released;

/// Largest share of hot pages with which a flow counts as one with hot pages.
const HOT_MAX: f64 = 0.3;

/// Most pages of a block for which the release's steps lead to a steady state.
const PAGES_MAX: u32 = 512;

/// The share of hot pages of a flow of MQSim, if it counts as one with hot pages.
pub(super) fn hot_share(flow: &FlowConfig) -> Option<f64> {
    let Some(MqsimFlowConfig::Synthetic(synthetic)) = &flow.mqsim else { return None };
    let share = f64::from(synthetic.hot_region_percent) / 100.0;
    (synthetic.address == MqsimAddress::HotCold && share <= HOT_MAX && share > 0.0).then_some(share)
}

/// With `compat.rounded_block_counts`, the share of blocks by valid pages for every flow that has a
/// steady state.
pub(super) fn steady_states(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
) -> Vec<Option<Vec<f64>>> {
    let (flash, ftl) = (&device.flash, &device.ftl);
    let policy = build(&ftl.gc.victim);
    let blocks = flash.blocks_per_plane;
    let in_use = 1.0 - f64::from(ftl.gc.threshold.blocks(blocks)) / f64::from(blocks);
    let mut known: Vec<(f64, Vec<f64>)> = Vec::new();
    let mut state = |flow: &FlowConfig| {
        let held = flow.occupancy.unwrap_or(ftl.precondition.occupancy).0;
        let rho = held / (1.0 + ftl.over_provisioning.0) / in_use;
        let wanted = device.compat.rounded_block_counts && flash.pages_per_block <= PAGES_MAX;
        if !wanted || rho <= 0.0 || rho >= 1.0 {
            return None;
        }
        let at = known.iter().position(|(of, _)| *of == rho).unwrap_or_else(|| {
            let uniform = match policy.released_choices(blocks) {
                Some(choices) => released::best_of(choices, rho, flash.pages_per_block),
                None => released::of_random_victims(rho, flash.pages_per_block),
            };
            known.push((rho, uniform));
            known.len() - 1
        });
        let uniform = &known[at].1;
        let state = match hot_share(flow) {
            Some(hot) => released::with_hot_pages(uniform, hot),
            None => uniform.clone(),
        };
        // The release refuses what does not sum to 1.
        (0.99..=1.001).contains(&state.iter().sum()).then_some(state)
    };
    workload.flows.iter().map(&mut state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_config::load::{self, Overrides};

    #[test]
    fn flows_have_a_steady_state_where_the_release_has_one() {
        let mut device = load::device("tiny", &Overrides::default()).expect("a preset").config;
        let text = "[[flow]]\nname = 'a'\noccupancy = 0.7\ncount = 2\nsynthetic = {}\n";
        let workload = load::workload_from_toml(text, "test", &Overrides::default());
        let workload = workload.expect("valid").config;
        assert_eq!(steady_states(&device, &workload), [None, None], "the switch is off");
        device.compat.rounded_block_counts = true;
        let states = steady_states(&device, &workload);
        let state = states[0].as_ref().expect("a plane is partly valid");
        assert_eq!(state.len(), device.flash.pages_per_block as usize + 1);
        assert_eq!(states[0], states[1]);
        device.flash.pages_per_block = 2 * PAGES_MAX;
        assert_eq!(steady_states(&device, &workload), [None, None]);
    }
}
