//! Tables of biosnoop: one byte chooses the options, the rest is the file.
#![no_main]

use flashlane_fuzz::{options, read};
use flashlane_trace::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [bits, content @ ..] = data else { return };
    read(content, &options(Some(Format::Biosnoop), *bits));
});
