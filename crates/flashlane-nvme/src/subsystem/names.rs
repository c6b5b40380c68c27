//! Names of subsystems and queues, and finished commands.

use flashlane::Time;

use crate::entry::CompletionEntry;
use crate::fabrics::DiscoveryRecord;

/// Names of a subsystem.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The name that hosts connect to.
    pub nqn: String,
    /// Model number.
    pub model: String,
    /// Serial number.
    pub serial: String,
    /// Where the subsystem can be reached.
    pub records: Vec<DiscoveryRecord>,
    /// The most I/O queues of a controller.
    pub queues_max: u16,
    /// The most controllers at a time.
    pub controllers_max: u16,
}

impl Identity {
    /// The names for a device.
    #[must_use]
    pub fn of(device: &str) -> Self {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let name: String = device.chars().map(|c| if allowed(c) { c } else { '-' }).collect();
        Self {
            nqn: format!("nqn.2026-11.dev.flashlane:{name}"),
            model: format!("Flashlane {device}"),
            serial: "0".to_owned(),
            records: Vec::new(),
            queues_max: 64,
            controllers_max: 64,
        }
    }
}

/// A queue of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueueKey {
    /// The controller.
    pub controller: u16,
    /// The queue; 0 is the admin queue.
    pub queue: u16,
}

/// A queue that is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connected {
    /// The queue.
    pub key: QueueKey,
    /// Size of the queue. Unit: entries.
    pub size: u16,
}

/// A command that is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Time of the completion.
    pub at: Time,
    /// The queue of the command.
    pub key: QueueKey,
    /// The completion.
    pub completion: CompletionEntry,
    /// The data for the host; empty where there is none.
    pub data: Vec<u8>,
}
