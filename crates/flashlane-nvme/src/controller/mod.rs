//! A controller: its registers, features and queues.

pub(crate) mod features;
pub(crate) mod io;
pub(crate) mod placing;
pub(crate) mod registers;

use std::collections::{BTreeMap, VecDeque};

use features::Features;
use registers::Registers;

/// Data of a command, as the controller expects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// The command has no data.
    None,
    /// The controller sends data. Unit: bytes.
    ToHost(usize),
    /// The host sends data. Unit: bytes.
    FromHost(usize),
}

/// What a controller is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Namespaces and their data.
    Io,
    /// The discovery log page.
    Discovery,
}

/// A submission queue with its completion queue.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    /// Unit: entries.
    pub(crate) size: u16,
    /// The entry that is taken next.
    pub(crate) head: u16,
    /// Different for all queues there ever are.
    pub(crate) serial: u64,
    /// What [`crate::Media::open_queue`] returned; empty for admin queues.
    pub(crate) tenants: Vec<usize>,
    /// Commands that are not complete.
    pub(crate) outstanding: u32,
    /// The most commands that may be outstanding.
    pub(crate) most: u32,
}

impl Queue {
    /// The tenant for a namespace.
    pub(crate) fn tenant(&self, namespace: u32) -> Option<usize> {
        match self.tenants.as_slice() {
            [tenant] => Some(*tenant),
            tenants => tenants.get((namespace as usize).checked_sub(1)?).copied(),
        }
    }
}

/// A controller, which belongs to one host.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    pub(crate) id: u16,
    pub(crate) kind: Kind,
    pub(crate) host_id: [u8; 16],
    pub(crate) host_nqn: String,
    pub(crate) registers: Registers,
    /// The host reaches it through its own memory, not over a network.
    pub(crate) is_attached: bool,
    pub(crate) features: Features,
    /// Unit: milliseconds.
    pub(crate) timestamp: u64,
    /// The queues by number; 0 is the admin queue.
    pub(crate) queues: BTreeMap<u16, Queue>,
    /// Command identifiers of asynchronous event requests, oldest first.
    pub(crate) event_requests: VecDeque<u16>,
    /// The media error event was reported, and the error log was not read since.
    pub(crate) error_event_masked: bool,
}

/// Asynchronous event requests that a controller holds.
pub(crate) const EVENT_REQUESTS_MAX: usize = 4;
