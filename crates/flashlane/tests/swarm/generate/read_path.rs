//! Bounded buffers of reads, firmware time of pages, and the order of pages that nobody wrote.

use flashlane::config::units::{ByteSize, Span};
use flashlane::config::{CompatConfig, DeviceConfig, UnwrittenOrder};
use flashlane_engine::Rng;

use super::Draw;

/// Some of these on some drives. Drawn apart, so that the rest is what it was before.
pub(super) fn read_path(seed: u64, device: &mut DeviceConfig) {
    let mut draw = Draw(Rng::stream(seed, "swarm.read path", 0));
    if device.compat != CompatConfig::default() {
        return;
    }
    if draw.chance(0.2) {
        device.interface.read_buffer = Some(ByteSize(draw.scale(1, 256) << 12));
    }
    if draw.chance(0.2) && device.interface.processors.is_none() {
        device.interface.page_firmware_time = Some(Span(draw.scale(10, 5_000) * 1_000));
    }
    if draw.chance(0.3) {
        device.ftl.unwritten_order = UnwrittenOrder::Dies;
    }
}
