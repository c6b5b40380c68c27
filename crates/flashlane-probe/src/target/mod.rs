//! What is measured: anything that takes reads and writes and says when they are over.

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

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Reads.
    Read,
    /// Writes, of data that nobody looks at.
    Write,
    /// Tells the drive that the data are no longer needed.
    Trim,
}

/// What a target says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// What was measured, for people: `simulated:tiny`, a model and firmware, a path.
    pub name: String,
    /// Which kind of target.
    pub kind: Kind,
    /// Capacity. Unit: bytes.
    pub bytes: u64,
    /// Least unit of a request and of its address. Unit: bytes.
    pub block: u32,
    /// Longest request. Unit: bytes.
    pub longest: u32,
    /// Requests that may be outstanding at most.
    pub deepest: u32,
}

/// Kinds of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A drive of the simulator: time is virtual, and repeats itself.
    Simulated,
    /// A block device of Linux.
    BlockDevice,
    /// A file: the file system and whatever lies below take part.
    File,
}

/// What a drive has counted since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// What the host wrote. Unit: bytes.
    pub host_written: u64,
    /// What was programmed to the medium. Unit: bytes.
    pub media_written: u64,
}

/// A request that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// What the submitter knows it by.
    pub cookie: u64,
    /// When it was over.
    pub at: Time,
}

/// Why a measurement cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The target cannot be measured, or not like this. Place, and what is wrong.
    #[error("{0}: {1}")]
    Refused(String, String),
    /// A request failed.
    #[error("{operation:?} of {bytes} bytes at {offset}: {reason}")]
    Request {
        /// What it was to do.
        operation: Operation,
        /// First byte.
        offset: u64,
        /// Length. Unit: bytes.
        bytes: u32,
        /// What the target said.
        reason: String,
    },
    /// The simulated drive failed.
    #[error(transparent)]
    Simulator(#[from] flashlane::Error),
    /// The time that was given is spent.
    #[error("the time is spent")]
    Late,
}

/// A drive, as a measurement sees it.
pub trait Target {
    /// What the target says about itself.
    fn facts(&self) -> &Facts;

    /// Its clock.
    fn now(&mut self) -> Time;

    /// Sends a request. Returns when it was sent.
    ///
    /// # Errors
    /// The target does not take it.
    fn submit(
        &mut self,
        operation: Operation,
        offset: u64,
        bytes: u32,
        cookie: u64,
    ) -> Result<Time, Failure>;

    /// Waits for the next request that ends; the caller has some outstanding.
    ///
    /// # Errors
    /// A request failed.
    fn wait(&mut self) -> Result<Done, Failure>;

    /// Lets time pass, until an instant of [`Target::now`]; none if that is over. What ends
    /// meanwhile is there for [`Target::wait`].
    ///
    /// # Errors
    /// The drive failed in the meantime.
    fn pause_until(&mut self, at: Time) -> Result<(), Failure>;

    /// Back to the state in which the target was found, as far as that can be had: a simulated
    /// drive can, a real one stays as it is.
    ///
    /// # Errors
    /// The drive cannot be made.
    fn reset(&mut self) -> Result<(), Failure>;

    /// What the drive counts; `None` where it does not say.
    fn counters(&mut self) -> Option<Counters>;
}
