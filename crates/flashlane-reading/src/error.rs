//! Errors, and their exit statuses.

use std::fmt;

/// A problem of a configuration: the place, the value that was found, and the allowed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// File, line or key.
    pub place: String,
    /// Description of the problem and the allowed values, with a hint if there is one.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.is_empty() {
            true => f.write_str(&self.message),
            false => write!(f, "{}: {}", self.place, self.message),
        }
    }
}

/// Every way in which a run can fail.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration is refused. Exit status 2.
    #[error("{}", .0.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))]
    Config(Vec<Problem>),
    /// A trace is refused. Exit status 2.
    #[error("{0}")]
    Trace(String),
    /// The run needs more memory than there is. Exit status 2.
    #[error("{0}")]
    Memory(String),
    /// An output cannot be written. Exit status 2.
    #[error("{0}")]
    Output(String),
    /// The simulated device could not finish the work. Exit status 3.
    #[error("{0}")]
    Stuck(String),
    /// A promise to a tenant was not kept; all output was written. Exit status 4.
    #[error("{0}")]
    Missed(String),
    /// The caller asked for the end of the run ([`crate::RunOptions::stop`]). Exit status 1.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// An error with a single configuration problem.
    pub fn config(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Config(vec![Problem { place: place.into(), message: message.into() }])
    }

    /// Exit status of the command.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Trace(_) | Self::Memory(_) | Self::Output(_) => 2,
            Self::Stuck(_) => 3,
            Self::Missed(_) => 4,
            Self::Interrupted => 1,
        }
    }
}
