//! Reads TOML files so that every refusal names the file and line, the value and the rule; and the
//! errors with which a run can end.
//!
//! This crate knows no configuration. The configuration of devices and workloads is read with it,
//! and so are files of clone parameters.

mod draft;
mod error;
mod hint;
mod places;
mod refuse;
mod rules;
mod source;
mod values;
mod visible;

pub use draft::{Draft, LEVELS_MAX, parse_value};
pub use error::{Error, Problem};
pub use hint::{allowed, nearest};
pub use places::Places;
pub use rules::Rules;
pub use source::{MAX_FILE_BYTES, parse, read_text};
pub use visible::{shortened, visible, visible_json, visible_line};
