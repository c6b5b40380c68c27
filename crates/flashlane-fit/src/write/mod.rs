//! Writes the results of a fit: a device file, `fit.json` and a page.

mod device;
mod page;
mod report;

pub use device::device;
pub use page::{environment, page};
pub use report::{
    Key, Pair, Point, Report, SCHEMA, Source, Undetermined, Verdict, also, pairs, undetermined,
};

use flashlane::Error;

/// The style sheet of pages of measured and simulated values.
pub const STYLE: &str = include_str!("page.css");

/// `fit.json`.
///
/// # Errors
/// Numbers that JSON cannot represent.
pub fn json(report: &Report) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(report)
        .map_err(|error| Error::Output(format!("fit.json: {error}")))?;
    Ok(text + "\n")
}

#[cfg(test)]
mod tests;
