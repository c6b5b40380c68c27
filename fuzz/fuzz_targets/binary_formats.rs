//! Every binary format: one byte chooses the format, one the options, the rest is the file.
#![no_main]

use flashlane_fuzz::{options, read};
use flashlane_trace::Format;
use libfuzzer_sys::fuzz_target;

const FORMATS: [Option<Format>; 5] = [
    Some(Format::Blktrace),
    Some(Format::Vscsi),
    Some(Format::OracleGeneral),
    Some(Format::Parquet),
    None,
];

fuzz_target!(|data: &[u8]| {
    let [format, bits, content @ ..] = data else { return };
    let format = FORMATS[usize::from(*format) % FORMATS.len()].clone();
    read(content, &options(format, *bits));
});
