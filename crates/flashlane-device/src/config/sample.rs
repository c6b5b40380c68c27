//! A small drive for tests of the stages.

use super::DeviceConfig;

const SMALL: &str = r#"
name = "small"
cache = { capacity = "1MiB" }
ftl = { over_provisioning = "28%" }
[flash]
technology = "slc"
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 32
page_size = "4KiB"
channel_width = "1B"
channel_rate = "800MT/s"
read_time = ["20us"]
program_time = ["200us"]
erase_time = "1ms"
"#;

/// Two channels of two chips; a chip has one die with two planes.
pub(crate) fn small_drive() -> DeviceConfig {
    toml::from_str(SMALL).expect("a device file")
}
