//! The result of a point of a sweep.

use flashlane::Error;
use flashlane::metrics::Summary;
use serde_json::{Value, json};

/// The reason why a point has no summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The configuration of the point is refused.
    Config,
    /// The trace of the point is refused.
    Trace,
    /// The device of the point cannot finish its work.
    Stuck,
    /// A file that the point reads changed during the run.
    Changed,
    /// The point needs more memory than the sweep may take.
    Memory,
    /// The simulator has a fault.
    Internal,
}

/// Every reason with its name.
const TROUBLES: [(Trouble, &str); 6] = [
    (Trouble::Config, "config"),
    (Trouble::Trace, "trace"),
    (Trouble::Stuck, "stuck"),
    (Trouble::Changed, "changed"),
    (Trouble::Memory, "memory"),
    (Trouble::Internal, "internal"),
];

impl Trouble {
    /// The name of the reason in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        TROUBLES.iter().find(|one| one.0 == self).expect("all are listed").1
    }

    /// True if another run of the point cannot help, so the result is kept.
    fn is_final(self) -> bool {
        matches!(self, Self::Config | Self::Trace | Self::Stuck)
    }
}

/// The result of a point: its summary as JSON, without the figures of the machine, or the reason
/// why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The content of `summary.json`.
    Done(Value),
    /// The reason and its description.
    Failed(Trouble, String),
}

impl Outcome {
    /// Makes the result from a summary.
    pub(super) fn done(summary: &Summary) -> Self {
        let summary = serde_json::to_value(summary.without_clocks()).expect("plain data");
        // The summary goes through text, so that it equals a summary read from a file.
        let text = summary.to_string();
        Self::Done(serde_json::from_str(&text).expect("JSON that was just written"))
    }

    pub(super) fn failed(trouble: Trouble, why: String) -> Self {
        Self::Failed(trouble, why)
    }

    /// Makes the result from the error of a run. Returns `None` for an interrupt.
    pub(super) fn of_error(error: &Error) -> Option<Self> {
        let trouble = match error {
            Error::Trace(_) => Trouble::Trace,
            Error::Stuck(_) => Trouble::Stuck,
            Error::Memory(_) => Trouble::Memory,
            Error::Interrupted => return None,
            _ => Trouble::Config,
        };
        Some(Self::Failed(trouble, error.to_string()))
    }

    /// True if the result may be kept.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Done(_) => true,
            Self::Failed(trouble, _) => trouble.is_final(),
        }
    }

    /// The JSON form: `{"summary": …}`, or `{"error": …, "error_kind": …}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Done(summary) => json!({"summary": summary}),
            Self::Failed(trouble, why) => json!({"error": why, "error_kind": trouble.name()}),
        }
    }

    /// Reads the form that [`Outcome::to_json`] writes. Returns `None` for any other value.
    #[must_use]
    pub fn from_json(mut value: Value) -> Option<Self> {
        if let Some(summary) = value.get_mut("summary") {
            return summary.is_object().then(|| Self::Done(summary.take()));
        }
        let kind = value.get("error_kind")?.as_str()?;
        let trouble = TROUBLES.iter().find(|one| one.1 == kind)?.0;
        Some(Self::Failed(trouble, value.get("error")?.as_str()?.to_owned()))
    }
}
