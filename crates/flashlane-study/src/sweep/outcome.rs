//! What came out of a point.

use flashlane::Error;
use flashlane::metrics::Summary;
use serde_json::{Value, json};

/// Why a point has no summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Its configuration is refused.
    Config,
    /// Its trace is refused.
    Trace,
    /// Its device cannot finish the work.
    Stuck,
    /// A file that it reads changed while it ran.
    Changed,
    /// It needs more memory than the sweep may take.
    Memory,
    /// A fault of the simulator.
    Internal,
}

/// Every trouble and its name.
const TROUBLES: [(Trouble, &str); 6] = [
    (Trouble::Config, "config"),
    (Trouble::Trace, "trace"),
    (Trouble::Stuck, "stuck"),
    (Trouble::Changed, "changed"),
    (Trouble::Memory, "memory"),
    (Trouble::Internal, "internal"),
];

impl Trouble {
    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        TROUBLES.iter().find(|one| one.0 == self).expect("all are listed").1
    }

    /// True where running the point again cannot help: the outcome is kept.
    fn is_final(self) -> bool {
        matches!(self, Self::Config | Self::Trace | Self::Stuck)
    }
}

/// What came out of a point: its summary without figures of the machine, as JSON, or why there is
/// none.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// `summary.json`.
    Done(Value),
    /// Why, in words.
    Failed(Trouble, String),
}

impl Outcome {
    /// From a summary.
    pub(super) fn done(summary: &Summary) -> Self {
        let summary = serde_json::to_value(summary.without_clocks()).expect("plain data");
        // As it comes back from a file.
        let text = summary.to_string();
        Self::Done(serde_json::from_str(&text).expect("JSON that was just written"))
    }

    pub(super) fn failed(trouble: Trouble, why: String) -> Self {
        Self::Failed(trouble, why)
    }

    /// From the error of a run; `None` for an interrupt.
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

    /// It may be kept.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Done(_) => true,
            Self::Failed(trouble, _) => trouble.is_final(),
        }
    }

    /// `{"summary": …}`, or `{"error": …, "error_kind": …}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Done(summary) => json!({"summary": summary}),
            Self::Failed(trouble, why) => json!({"error": why, "error_kind": trouble.name()}),
        }
    }

    /// The same back; `None` for anything else.
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
