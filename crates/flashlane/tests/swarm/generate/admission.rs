//! Admission of writes by rate, and pauses of the write buffer, where a drive allows them.

use flashlane::config::units::{Bandwidth, ByteSize, Ratio, Span};
use flashlane::config::{Admission, CompatConfig, DeviceConfig, PauseConfig};
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
    pauses(seed, device);
}

/// Pauses on some drives. Drawn apart for the same reason.
fn pauses(seed: u64, device: &mut DeviceConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.pauses", 0));
    let fits = device.cache.capacity.0 > 0 && device.compat == CompatConfig::default();
    if draw.chance(0.2) && fits {
        let interval = draw.scale(100, 20_000) * 1_000_000;
        device.cache.pause = PauseConfig {
            interval: Span(interval),
            time: Span(interval * draw.between(0, 50) / 100),
            rate: draw.chance(0.5).then(|| Bandwidth(draw.scale(100, 10_000) * 1_000_000)),
            buffer: ByteSize(draw.between(0, 64) << 12),
        };
    }
}
