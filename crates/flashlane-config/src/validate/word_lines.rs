//! Rules of word lines that are programmed at once (`flash.programming = "one-shot"`).

use super::units::misfits;
use crate::{DeviceConfig, PageOrder, Programming, Technology};
use flashlane_reading::Rules;

/// Checks that word lines fit into the blocks, and that the rest of the device goes with them. The
/// rest of the device must be valid.
pub(super) fn check(rules: &mut Rules, device: &DeviceConfig) {
    let flash = &device.flash;
    if flash.programming != Programming::OneShot {
        return;
    }
    for with in misfits(device) {
        rules.refuse("flash.programming", format!("found one-shot, allowed: page with {with}"));
    }
    let (pages, technology) = (flash.pages_per_program(), flash.technology);
    let technology_name = format!("{technology:?}").to_lowercase();
    rules.require(flash.pages_per_block.is_multiple_of(pages), "flash.pages_per_block", || {
        format!(
            "found {}, allowed: multiples of {pages}, the pages of a word line of {technology_name}, \
             with flash.programming = \"one-shot\"",
            flash.pages_per_block
        )
    });
    // The other order of TLC has pages of one type side by side.
    let turns = technology != Technology::Tlc || flash.page_order == PageOrder::Turns;
    rules.require(turns, "flash.page_order", || {
        "found mqsim, allowed: turns with tlc and flash.programming = \"one-shot\", where pages that \
         follow one another are those of a word line"
            .to_owned()
    });
    rules.require(flash.program_time.len() == 1, "flash.program_time", || {
        format!(
            "found {} values, allowed: 1 with flash.programming = \"one-shot\", the time of a word \
             line",
            flash.program_time.len()
        )
    });
}
