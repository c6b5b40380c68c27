//! The parts of the driver that a stage gets with every call.

use flashlane_engine::{EventQueue, Slab, Time};

use crate::event::Event;
use crate::request::Requests;
use crate::transaction::Transactions;

/// The clock, the events, and what is under way. The driver owns it and lends it to a stage with
/// every call. A stage has no clock of its own, and keeps only handles of requests and
/// transactions.
#[derive(Clone)]
pub(crate) struct Context {
    /// The time of the event that is handled.
    pub(crate) now: Time,
    pub(crate) events: EventQueue<Event>,
    pub(crate) requests: Requests,
    pub(crate) transactions: Transactions,
}

impl Context {
    /// Nothing has happened yet.
    pub(crate) fn new() -> Self {
        Self {
            now: Time::ZERO,
            events: EventQueue::new(),
            requests: Slab::new(),
            transactions: Slab::new(),
        }
    }
}
