//! What a stage gets from the driver of the drive with every call.

use flashlane_engine::{EventQueue, Time};

use crate::event::Event;
use crate::request::Requests;
use crate::transaction::Transactions;

/// The clock, the events, and what is under way. The driver owns all of it; a stage has no time of
/// its own, and keeps handles of requests and transactions only.
pub(crate) struct Context<'a> {
    /// The time of the event that is handled.
    pub(crate) now: Time,
    pub(crate) events: &'a mut EventQueue<Event>,
    pub(crate) requests: &'a mut Requests,
    pub(crate) transactions: &'a mut Transactions,
}

/// What a stage gets that starts no event and knows no request.
pub(crate) struct Moment<'a> {
    /// The time of the event that is handled.
    pub(crate) now: Time,
    pub(crate) transactions: &'a mut Transactions,
}

impl Moment<'_> {
    /// The same for a call from the inside, so that this one need not lie in memory.
    #[inline(always)]
    pub(crate) fn again(&mut self) -> Moment<'_> {
        Moment { now: self.now, transactions: self.transactions }
    }
}
