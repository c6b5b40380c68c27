//! The parts of the driver that a stage gets with every call.

use flashlane_engine::{EventQueue, Time};

use crate::event::Event;
use crate::request::Requests;
use crate::transaction::Transactions;

/// The clock, the events, and what is under way. The driver owns all of it; a stage has no clock of
/// its own, and keeps only handles of requests and transactions.
pub(crate) struct Context<'a> {
    /// The time of the event that is handled.
    pub(crate) now: Time,
    pub(crate) events: &'a mut EventQueue<Event>,
    pub(crate) requests: &'a mut Requests,
    pub(crate) transactions: &'a mut Transactions,
}

/// The parts that a stage gets if it starts no event and knows no request.
pub(crate) struct Moment<'a> {
    /// The time of the event that is handled.
    pub(crate) now: Time,
    pub(crate) transactions: &'a mut Transactions,
}

impl Moment<'_> {
    /// Borrows the parts again for a call from inside, so that the original can stay in registers.
    #[inline(always)]
    pub(crate) fn again(&mut self) -> Moment<'_> {
        Moment { now: self.now, transactions: self.transactions }
    }
}
