//! Parameters of schedulers that came later. Drawn apart, so that the rest is what it was before.

use flashlane::config::DeviceConfig;
use flashlane::policy::Scheduling;
use flashlane::policy::parameters::FlinIntensities;
use flashlane_engine::Rng;

use super::Draw;

/// Changes the scheduler of a drive.
pub(super) fn schedulers(seed: u64, device: &mut DeviceConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.schedulers", 0));
    match &mut device.scheduler {
        Scheduling::SprinklerFairness(config) => config.work_conserving = draw.chance(0.7),
        Scheduling::Flin(config) => {
            config.first_intensity = draw.pick(&[FlinIntensities::Low, FlinIntensities::High]);
        }
        _ => {}
    }
}
