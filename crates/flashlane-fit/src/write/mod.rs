//! Writes the results of a fit: a device file, `fit.json` and a page.

mod device;
mod page;
mod report;

pub use device::device;
pub use page::{environment, page};
pub use report::{
    Key, Pair, Point, Prediction, Report, SCHEMA, Source, Undetermined, Verdict, also, pairs,
    undetermined,
};

use flashlane::Error;
use serde::Serialize;

/// The style sheet of pages of measured and simulated values.
pub const STYLE: &str = include_str!("page.css");

/// What `fit.json` has: the report, and the held-back figures once more by themselves.
#[derive(Serialize)]
struct File<'a> {
    #[serde(flatten)]
    report: &'a Report,
    predicted: Vec<Prediction<'a>>,
}

/// `fit.json`.
///
/// # Errors
/// Numbers that JSON cannot represent.
pub fn json(report: &Report) -> Result<String, Error> {
    let file = File { report, predicted: report.predicted() };
    let text = serde_json::to_string_pretty(&file)
        .map_err(|error| Error::Output(format!("fit.json: {error}")))?;
    Ok(text + "\n")
}

#[cfg(test)]
mod tests;
