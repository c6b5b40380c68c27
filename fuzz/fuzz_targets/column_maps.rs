//! Column maps: the first line is the map, the second byte of the rest the options, what follows
//! the file.
#![no_main]

use flashlane_fuzz::{options, read};
use flashlane_trace::{ColumnMap, Format};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some(end) = data.iter().position(|byte| *byte == b'\n') else { return };
    let Ok(text) = std::str::from_utf8(&data[..end]) else { return };
    match text.parse::<ColumnMap>() {
        Ok(map) => {
            let again: ColumnMap = map.to_string().parse().expect("canonical text");
            assert_eq!(again, map);
            let [bits, content @ ..] = &data[end + 1..] else { return };
            read(content, &options(Some(Format::Columns(map)), *bits));
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
});
