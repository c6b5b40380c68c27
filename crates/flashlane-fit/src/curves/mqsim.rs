//! A drive as the released MQSim can describe it.

use flashlane::config::{
    CompatConfig, DeviceConfig, FtlConfig, GcConfig, Pacing, Programming, Superblock,
};

/// Leaves out what that simulator does not have: superblocks, parity, mapping units smaller than a
/// page, word lines, paced collection, independent planes and an SLC cache. Switches to its
/// arithmetic. A page takes its share of the time of a word line.
pub(super) fn describe(device: &mut DeviceConfig) {
    let ftl = &mut device.ftl;
    ftl.superblock = Superblock::Block;
    ftl.parity = false;
    ftl.separation = FtlConfig::default().separation;
    ftl.mapping.unit = None;
    ftl.mapping.fill_time = None;
    let gc = GcConfig::default();
    ftl.gc = GcConfig { victim: ftl.gc.victim.clone(), ..gc };
    debug_assert_eq!(ftl.gc.pacing, Pacing::Burst, "the default is that of MQSim");
    device.slc_cache = None;
    device.errors = None;
    let flash = &mut device.flash;
    if flash.programming != Programming::Page {
        let pages = flash.technology.page_types() as u64;
        let word_line: u64 = flash.program_time.iter().map(|time| time.0).sum();
        flash.program_time.truncate(1);
        flash.program_time[0].0 = word_line / pages;
        flash.programming = Programming::Page;
    }
    flash.cache_program = false;
    flash.independent_plane_reads = false;
    flash.cache_read = false;
    // How collections overlap, and write-backs that are not programmed, are matters of time.
    device.compat = CompatConfig {
        collection_per_block: false,
        unprogrammed_mapping: false,
        ..CompatConfig::mqsim()
    };
}
