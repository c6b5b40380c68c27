//! What a copy of a job does, and what it does next.

use flashlane_engine::Time;
use flashlane_units::RequestOp;

use super::place::Place;

/// The next step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Issues a request.
    Issue(RequestOp, Place),
    /// Issues a command to the zone that starts here in the space of the flow. Unit: bytes.
    Manage(RequestOp, u64),
    /// Asks again at this time.
    Wait(Time),
    /// Asks again when one of its requests is complete.
    Hold,
    /// The job has ended.
    End,
}

/// Activity of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Issues requests.
    Running,
    /// Waits for its requests, and then pauses. The times of paced requests move if that is asked
    /// for.
    Pausing,
    /// Pauses until this time.
    Paused(Time),
    /// Waits for its requests, and for the time of the next one.
    Paced {
        until: Time,
        direction: usize,
    },
    /// Waits for its requests; then `flushes` files are flushed.
    PassEnds {
        flushes: u32,
    },
    Over,
}
