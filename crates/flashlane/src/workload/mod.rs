//! Stage 1 of 8: where requests come from.

mod address;
mod build;
pub mod clone;
pub(crate) mod config;
pub(crate) mod fio;
pub mod footprint;
pub mod mqsim;
mod pace;
mod scatter;
pub mod size;
mod split;
pub mod synthetic;
pub mod trace;
mod zipf;

pub(crate) use scatter::Scatter;

pub use build::{build, footprint_of};
pub use flashlane_units::RequestOp;

use flashlane_engine::Time;

use crate::error::Error;

/// A request as its source describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// Open loop: absolute arrival time. Closed loop: ignored. A request at or after [`Time::END`]
    /// never arrives: the run ends with an error instead, so that no request is lost without a
    /// word.
    pub arrival: Time,
    /// What it asks for.
    pub op: RequestOp,
    /// First sector, counted from the start of the flow's logical space. Unit: sectors of 512 B.
    pub sector: u64,
    /// Length; 0 only for flushes. Unit: sectors. `sector + sectors` never exceeds the space.
    pub sectors: u32,
}

/// Lines that are named of each kind of change.
pub(crate) const NAMED_LINES: usize = 10;

/// Counters of what a source did to its input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceReport {
    /// Requests whose address was wrapped.
    pub wrapped: u64,
    /// Requests dropped because of their address.
    pub clipped: u64,
    /// Reads and writes above the drive's largest transfer, which went out in pieces.
    pub split: u64,
    /// Lines that could not be read, by reason, sorted by reason.
    pub rejected: Vec<(String, u64)>,
    /// Records of a trace that were read in all passes; 0 for other sources.
    pub records: u64,
    /// Records of a trace that were delayed or rejected, in all passes.
    pub changed: u64,
    /// Of each kind of change the first ten lines, with the reason.
    pub named: Vec<String>,
}

/// A stream of requests of one flow. Same seed, same requests.
pub trait RequestSource: Send {
    /// The next request of the pass, or `None` at the end of the pass. `now` is the simulated time
    /// of the call; sources that stop by time use it in closed loops. Open-loop arrivals never
    /// decrease.
    ///
    /// # Errors
    /// A trace that cannot be read any further.
    fn next(&mut self, now: Time) -> Result<Option<Planned>, Error>;

    /// First sector of the request after the last one, where that is certain and costs little to
    /// tell. A hint: what the request needs of the simulator's memory is asked for before it is
    /// made.
    fn upcoming(&self) -> Option<u64> {
        None
    }

    /// Starts another pass at `now`: open-loop arrivals of the new pass count from there.
    ///
    /// # Errors
    /// A trace that cannot be read again.
    fn restart(&mut self, now: Time) -> Result<(), Error>;

    /// `Some(queue depth)` for a closed loop, `None` for arrivals by the clock.
    fn closed_loop(&self) -> Option<u32>;

    /// The source as a job that decides by itself when its next request comes; `None` of all
    /// others. [`RequestSource::next`] gives the requests of a job without its waits.
    fn job(&mut self) -> Option<&mut dyn JobSource> {
        None
    }

    /// Closed loop: the pause between the completion of a request and the next one in its place.
    fn think_time(&self) -> Time {
        Time::ZERO
    }

    /// How long a pass lasts, where that is limited.
    fn time_limit(&self) -> Option<Time> {
        None
    }

    /// When the first pass is overdue: it has lasted twice as long as it may. Nobody waits for its
    /// end from then on.
    fn overdue_at(&self) -> Option<Time> {
        self.time_limit().map(|limit| Time(limit.0.saturating_mul(2)))
    }

    /// True if a pass never ends; the flow then loads the device for as long as others run.
    fn endless(&self) -> bool {
        false
    }

    /// Share of the pass that is done at `now`, 0..=1; 0 where it is not known. For progress bars
    /// only.
    fn progress(&self, now: Time) -> f64 {
        let _ = now;
        0.0
    }

    /// From now on other draws from the same distributions, as if this were the past of the flow,
    /// which ends where the run begins. A source whose addresses have an order is set so far back
    /// that it comes to its own start after `back`, in the unit of [`RequestSource::gone`]: a
    /// stream goes round its space, a trace comes from the round before.
    ///
    /// # Errors
    /// A trace that cannot be read.
    fn diverge(&mut self, back: u64) -> Result<(), Error> {
        let _ = back;
        Ok(())
    }

    /// How far a source has come in its past, if its addresses have an order. Unit: sectors of a
    /// stream, requests of a trace; 0 where addresses are independent draws.
    fn gone(&self) -> u64 {
        0
    }

    /// Where the request that came last stands in its file, for people; `None` without a file.
    fn place(&self) -> Option<String> {
        None
    }

    /// What was done to the input so far.
    fn report(&self) -> SourceReport {
        SourceReport::default()
    }
}

/// What a job does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobStep {
    /// Submits a request now; [`JobSource::completed`] learns the number when it is complete.
    Submit(Planned, u64),
    /// Waits for a time: it is asked again then.
    Wait(Time),
    /// Waits for a completion: it is asked again after the next one.
    Hold,
    /// The pass is over, and no request of it is outstanding.
    End,
}

/// A stream of requests in which a request may depend on the completion of others.
pub trait JobSource {
    /// What the job does next at `now`. It is asked until it waits.
    fn step(&mut self, now: Time) -> JobStep;

    /// A request is complete. `cookie`: its number in [`JobStep::Submit`].
    fn completed(&mut self, cookie: u64);
}
