//! Every text format, plain or compressed: one byte chooses the format, one the options, the rest
//! is the file.
#![no_main]

use flashlane_fuzz::{options, read};
use flashlane_trace::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [format, bits, content @ ..] = data else { return };
    let named = Format::ALL.get(usize::from(*format) % (Format::ALL.len() + 1));
    let format = named.and_then(|info| Format::by_name(info.name).ok()).filter(Format::is_text);
    read(content, &options(format, *bits));
});
