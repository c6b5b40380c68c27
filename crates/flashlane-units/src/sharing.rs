//! How a resource is divided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How flows divide a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// All flows use all of it.
    Shared,
    /// Each flow of the workload has an equal part of its own.
    EqualPartitioning,
}
