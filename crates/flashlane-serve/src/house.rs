//! What all conversations share: the subsystem, the time, and who asked for what.

use std::collections::BTreeMap;

use flashlane::{Error, Time};
use flashlane_nvme::{Action, Done, Finished, QueueKey, Subsystem, WorkError};

use crate::limits::Limits;
use crate::pace::Lateness;
use crate::status::Status;

/// What all conversations share.
pub(crate) struct House {
    pub(crate) subsystem: Subsystem,
    pub(crate) limits: Limits,
    /// Simulated time at which commands arrive now.
    pub(crate) now: Time,
    /// The connection that is served now.
    pub(crate) connection: usize,
    /// The connection of each queue.
    pub(crate) queues: BTreeMap<QueueKey, usize>,
    /// The connection of each controller that is a PCIe function.
    pub(crate) functions: BTreeMap<u16, usize>,
    /// When connections want to act, without a command that is under way.
    pub(crate) due: BTreeMap<usize, Time>,
    /// The connection of each piece of work that a door submitted.
    owners: BTreeMap<u64, usize>,
    last_tag: u64,
    /// Commands that have arrived since the server looked.
    pub(crate) arrivals: u32,
    /// Completions that are not delivered.
    pub(crate) done: Vec<Done>,
    /// Completions of other doors that are not delivered.
    pub(crate) finished: Vec<Finished>,
    /// Connections whose controller has ended.
    pub(crate) orphans: Vec<usize>,
    /// How late completions left.
    pub(crate) lateness: Lateness,
    /// What live pages show, if there is a door for them.
    pub(crate) status: Option<Status>,
}

impl House {
    pub(crate) fn new(subsystem: Subsystem, limits: Limits) -> Self {
        Self {
            subsystem,
            limits,
            now: Time::ZERO,
            connection: 0,
            queues: BTreeMap::new(),
            functions: BTreeMap::new(),
            due: BTreeMap::new(),
            owners: BTreeMap::new(),
            last_tag: Subsystem::FOREIGN,
            arrivals: 0,
            done: Vec::new(),
            finished: Vec::new(),
            orphans: Vec::new(),
            lateness: Lateness::default(),
            status: None,
        }
    }

    /// Handles all events up to and including `until`.
    pub(crate) fn advance(&mut self, until: Time) -> Result<(), Error> {
        self.subsystem.advance(until, &mut self.done, &mut self.finished)?;
        self.now = self.now.max(until);
        Ok(())
    }

    /// True if something happens as time passes.
    pub(crate) fn is_busy(&mut self) -> bool {
        !self.due.is_empty() || self.subsystem.media().outstanding() > 0
    }

    /// The time of the next event, if there is one.
    pub(crate) fn next_event(&self) -> Option<Time> {
        let due = self.due.values().min().copied();
        self.subsystem.next_event().into_iter().chain(due).min()
    }

    /// The connection of a queue.
    pub(crate) fn owner(&self, key: QueueKey) -> Option<usize> {
        self.queues.get(&key).or_else(|| self.functions.get(&key.controller)).copied()
    }

    /// Submits work of the present connection, and returns its tag.
    pub(crate) fn work(&mut self, place: (usize, u32), action: Action) -> Result<u64, WorkError> {
        self.last_tag += 1;
        let tag = self.last_tag;
        self.subsystem.media().submit(self.now, place, action, tag)?;
        self.owners.insert(tag, self.connection);
        self.arrivals += 1;
        Ok(tag)
    }

    /// The connection that submitted work; `None` if it is closed.
    pub(crate) fn take_owner(&mut self, tag: u64) -> Option<usize> {
        self.owners.remove(&tag)
    }

    /// Disconnects a queue; with an admin queue, the other connections of its controller end.
    pub(crate) fn disconnect(&mut self, key: QueueKey) {
        for closed in self.subsystem.disconnect(key) {
            if let Some(connection) = self.queues.remove(&closed)
                && closed != key
            {
                self.orphans.push(connection);
            }
        }
    }
}
