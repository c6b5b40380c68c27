//! Admission of writes by rate where a drive allows it.

use flashlane::config::units::Ratio;
use flashlane::config::{Admission, CompatConfig, DeviceConfig};
use flashlane_engine::Rng;

use super::Draw;

/// Admission by rate on some drives. Drawn apart, so that the rest is what it was before.
pub(super) fn admission(seed: u64, device: &mut DeviceConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.admission", 0));
    let cache = &mut device.cache;
    let fits = cache.capacity.0 > 0 && device.compat == CompatConfig::default();
    if draw.chance(0.4) && fits {
        cache.admission = Admission::Rate;
        cache.admission_mark = Ratio(draw.between(0, 95) as f64 / 100.0);
        cache.admission_window = draw.scale(16, 4096) as u32;
    }
}
