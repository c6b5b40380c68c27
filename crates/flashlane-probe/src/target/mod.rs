//! Targets of measurements: anything that takes reads and writes and reports their ends.

mod limited;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod simulated;

use flashlane_engine::Time;
use serde::{Deserialize, Serialize};

pub use limited::Limited;
#[cfg(target_os = "linux")]
pub use linux::Linux;
pub use simulated::Simulated;

/// Operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Reads.
    Read,
    /// Writes data that is never used.
    Write,
    /// Tells the drive that the data is no longer needed.
    Trim,
}

/// Facts about a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Name of the target, for people: `simulated:tiny`, a model and firmware, a path.
    pub name: String,
    /// Kind of the target.
    pub kind: Kind,
    /// Capacity. Unit: bytes.
    pub bytes: u64,
    /// Least unit of a request and of its address. Unit: bytes.
    pub block: u32,
    /// Longest request. Unit: bytes.
    pub longest: u32,
    /// Most outstanding requests.
    pub deepest: u32,
}

/// Kinds of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A drive of the simulator: time is virtual, and runs are reproducible.
    Simulated,
    /// A block device of Linux.
    BlockDevice,
    /// A file, with the file system and everything below it.
    File,
}

/// Counters of a drive since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// Bytes written by the host.
    pub host_written: u64,
    /// Bytes programmed to the medium.
    pub media_written: u64,
}

/// A request that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// The submitter's own name of the request.
    pub cookie: u64,
    /// Time at which it was over.
    pub at: Time,
}

/// Reason why a measurement cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The target cannot be measured, or not in this way. The place, and the reason.
    #[error("{0}: {1}")]
    Refused(String, String),
    /// Fails if the request failed.
    #[error("{operation:?} of {bytes} bytes at {offset}: {reason}")]
    Request {
        /// Operation of the request.
        operation: Operation,
        /// First byte.
        offset: u64,
        /// Length. Unit: bytes.
        bytes: u32,
        /// Message of the target.
        reason: String,
    },
    /// The simulated drive failed.
    #[error(transparent)]
    Simulator(#[from] flashlane::Error),
    /// The time limit is reached.
    #[error("the time is spent")]
    Late,
}

/// A drive, as a measurement sees it.
pub trait Target {
    /// Facts about the target.
    fn facts(&self) -> &Facts;

    /// The time of the target's clock.
    fn now(&mut self) -> Time;

    /// Sends a request. Returns when it was sent.
    ///
    /// # Errors
    /// Fails if the target refuses the request.
    fn submit(
        &mut self,
        operation: Operation,
        offset: u64,
        bytes: u32,
        cookie: u64,
    ) -> Result<Time, Failure>;

    /// Waits for the next request that ends. A request must be outstanding.
    ///
    /// # Errors
    /// Fails if the request failed.
    fn wait(&mut self) -> Result<Done, Failure>;

    /// Lets time pass until an instant of [`Target::now`]; does nothing if that is over. Requests
    /// that end meanwhile are kept for [`Target::wait`].
    ///
    /// # Errors
    ///
    /// If the drive failed in the meantime.
    fn pause_until(&mut self, at: Time) -> Result<(), Failure>;

    /// Returns to the state in which the target was found, as far as possible: a simulated drive
    /// can do so, and a real one stays as it is.
    ///
    /// # Errors
    ///
    /// If the drive cannot be made.
    fn reset(&mut self) -> Result<(), Failure>;

    /// The drive's counters; `None` if it has none.
    fn counters(&mut self) -> Option<Counters>;
}
