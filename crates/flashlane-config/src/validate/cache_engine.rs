//! Rules of cache engines (`synthetic.cache_engine`).

use crate::{CacheEngineConfig, SyntheticConfig};
use flashlane_device::layout::SECTOR_BYTES;
use flashlane_reading::Rules;
use flashlane_units::ByteSize;
use flashlane_workload::config::MAX_REQUEST_BYTES;

/// Every rule of a cache engine that does not depend on the device.
pub(super) fn check(rules: &mut Rules, key: &str, engine: &CacheEngineConfig) {
    let space = engine.small_space;
    rules.require((0.0..1.0).contains(&space.0), format!("{key}.small_space"), || {
        format!("found {space}, allowed: 0 or more, below 1 (100%)")
    });
    let bytes = engine.small_bytes;
    rules.require(bytes.0 > 0.0 && bytes.0 < 1.0, format!("{key}.small_bytes"), || {
        format!(
            "found {bytes}, allowed: above 0, below 1 (100%); small_space = 0 for no small objects"
        )
    });
    rules.share(format!("{key}.read_ratio"), engine.read_ratio);
    rules.share(format!("{key}.small_reads"), engine.small_reads);
    for (name, size) in [
        ("bucket", engine.bucket),
        ("large_write", engine.large_write),
        ("large_read", engine.large_read),
    ] {
        rules.sectors(&format!("{key}.{name}"), size, SECTOR_BYTES..=MAX_REQUEST_BYTES);
    }
    rules.require(
        !engine.fill_first || engine.read_ratio.0 < 1.0,
        format!("{key}.fill_first"),
        || "found true with read_ratio = 1, allowed: where there are writes".to_owned(),
    );
}

/// Refuses an engine whose requests do not fit into their share of the flow's space of `bytes`.
pub(super) fn check_spaces(rules: &mut Rules, key: &str, flow: &SyntheticConfig, bytes: u64) {
    let Some(engine) = &flow.cache_engine else { return };
    let room_of = |share: f64| (share * bytes as f64) as u64;
    let small = engine.small_space.0;
    for (name, size, room) in [
        ("bucket", engine.bucket, room_of(small)),
        ("large_write", engine.large_write, room_of(1.0 - small)),
        ("large_read", engine.large_read, room_of(1.0 - small)),
    ] {
        let unused = name == "bucket" && small == 0.0;
        rules.require(unused || size.0 <= room, format!("{key}.cache_engine.{name}"), || {
            format!("found {size}, allowed: at most the space of such objects, {}", ByteSize(room))
        });
    }
}
