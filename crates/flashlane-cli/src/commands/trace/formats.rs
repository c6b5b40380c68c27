//! `flashlane trace formats`: what can be read and written.

use std::fmt::Write as _;

use flashlane::Error;
use flashlane_trace::{Format, OutputFormat};

use crate::output::print;

/// Width of the names. Unit: characters.
const NAMES: usize = 16;

/// One line for each format.
pub(super) fn formats() -> Result<(), Error> {
    let mut text = String::from("read:\n");
    for info in Format::ALL {
        let _ = writeln!(text, "  {:NAMES$}{}", info.name, info.description);
    }
    text.push_str("written by `trace convert`, and what gets lost:\n");
    for format in OutputFormat::ALL {
        let _ = writeln!(text, "  {:NAMES$}{}", format.info().name, format.info().loses);
    }
    print(&text)
}
