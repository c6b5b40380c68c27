//! Reads TOML files so that every refusal names the file and line, the value and the rule.
//!
//! This module knows no configuration. [`crate::config`] reads devices and workloads with it, and
//! [`crate::workload::clone`] reads files of clone parameters.

mod draft;
mod hint;
mod places;
mod refuse;
mod rules;
mod source;

pub use draft::LEVELS_MAX;
pub(crate) use draft::{Draft, parse_value};
pub use hint::{allowed, nearest};
pub use places::Places;
pub(crate) use rules::Rules;
pub(crate) use source::parse;
pub use source::{MAX_FILE_BYTES, read_text};
