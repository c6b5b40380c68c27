//! Rules of word lines that are programmed at once (`flash.programming`), in one pass or in two.

use super::OPERATION_PS;
use super::units::misfits;
use crate::{DeviceConfig, FlashConfig, PageOrder, Programming, Technology};
use flashlane_device::ftl::superblocks::Superblock;
use flashlane_reading::Rules;

/// Checks that word lines fit into the blocks, and that the rest of the device goes with them. The
/// rest of the device must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    let flash = &device.flash;
    if !flash.programming.by_word_line() {
        return;
    }
    let name = flash.programming.name();
    for with in misfits(device).chain(two_pass_misfits(device)) {
        rules.refuse("flash.programming", format!("found {name}, allowed: page with {with}"));
    }
    let (pages, technology) = (flash.pages_per_program(), flash.technology);
    let technology_name = format!("{technology:?}").to_lowercase();
    rules.require(flash.pages_per_block.is_multiple_of(pages), "flash.pages_per_block", || {
        format!(
            "found {}, allowed: multiples of {pages}, the pages of a word line of {technology_name}, \
             with flash.programming = \"{name}\"",
            flash.pages_per_block
        )
    });
    // The other order of TLC has pages of one type side by side.
    let turns = technology != Technology::Tlc || flash.page_order == PageOrder::Turns;
    rules.require(turns, "flash.page_order", || {
        format!(
            "found mqsim, allowed: turns with tlc and flash.programming = \"{name}\", where pages \
             that follow one another are those of a word line"
        )
    });
    let one_time = flash.programming != Programming::OneShot || flash.program_time.len() == 1;
    rules.require(one_time, "flash.program_time", || {
        format!(
            "found {} values, allowed: 1 with flash.programming = \"one-shot\", the time of a word \
             line",
            flash.program_time.len()
        )
    });
}

/// Checks the times of the two passes of a word line.
pub(super) fn check_passes(rules: &mut Rules, flash: &FlashConfig) {
    let times = &flash.program_time;
    rules.require(times.len() == 2, "flash.program_time", || {
        format!(
            "found {} values, allowed: 2 with flash.programming = \"two-pass\", the times of the \
             first and of the second pass of a word line",
            times.len()
        )
    });
    for (index, &time) in times.iter().enumerate() {
        rules.span(format!("flash.program_time[{index}]"), time, &OPERATION_PS);
    }
}

/// What the device has that knows word lines, but not their passes.
fn two_pass_misfits(device: &DeviceConfig) -> impl Iterator<Item = &'static str> + use<> {
    let two_pass = device.flash.programming == Programming::TwoPass;
    let superblocks = device.ftl.superblock != Superblock::Block;
    [
        (
            device.flash.technology == Technology::Slc,
            "slc, whose cells are not brought to their levels in two passes",
        ),
        (
            device.flash.cache_program,
            "flash.cache_program, whose register would have to know the order of the passes",
        ),
        (superblocks, "superblocks, whose word lines have one pass"),
    ]
    .into_iter()
    .filter_map(move |(found, with)| (two_pass && found).then_some(with))
}
