//! Stage 1 of 8: sources of requests.

mod address;
mod build;
pub mod clone;
pub mod config;
pub(crate) mod fio;
pub mod footprint;
pub mod mqsim;
mod pace;
pub mod parts;
mod permutation;
mod scatter;
mod size;
mod split;
pub mod synthetic;
pub mod trace;
pub mod warps;
mod zipf;
mod zone_use;
mod zones;

pub use scatter::Scatter;

pub use build::{build, footprint_of};
pub use flashlane_units::RequestOp;

use flashlane_engine::Time;

pub use flashlane_device::request::{Directive, Planned};
use flashlane_reading::Error;

/// Most lines that are named for each kind of change.
pub(crate) const NAMED_LINES: usize = 10;

/// Counts of changes that a source made to its input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceReport {
    /// Requests whose address was wrapped.
    pub wrapped: u64,
    /// Requests dropped because of their address.
    pub clipped: u64,
    /// Reads and writes longer than the drive's largest transfer, which were split.
    pub split: u64,
    /// Lines that could not be read, by reason, sorted by reason.
    pub rejected: Vec<(String, u64)>,
    /// Records of a trace that were read in all passes; 0 for other sources.
    pub records: u64,
    /// Records of a trace that were delayed or rejected, in all passes.
    pub changed: u64,
    /// For each kind of change, the first ten lines with the reason.
    pub named: Vec<String>,
}

/// A stream of requests of one flow. Equal seeds give equal requests.
pub trait RequestSource: Send {
    /// The next request of the pass, or `None` at the end of the pass. `now` is the simulated time
    /// of the call; sources that stop by time use it in closed loops. Open-loop arrivals never
    /// decrease.
    ///
    /// # Errors
    /// A trace that cannot be read any further.
    fn next(&mut self, now: Time) -> Result<Option<Planned>, Error>;

    /// First sector of the request after the last one, if it is certain and cheap to find. This is
    /// a hint, by which memory is prefetched before the request is made.
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

    /// The source as a job, which decides by itself when its next request comes; `None` for all
    /// other sources. [`RequestSource::next`] gives the requests of a job without its waits.
    fn job(&mut self) -> Option<&mut dyn JobSource> {
        None
    }

    /// Closed loop: the pause between the completion of a request and the next one in its place.
    fn think_time(&self) -> Time {
        Time::ZERO
    }

    /// Longest time of a pass, if it is limited.
    fn time_limit(&self) -> Option<Time> {
        None
    }

    /// Time at which the first pass is overdue, because it has lasted twice as long as it may. From
    /// then on nothing waits for its end.
    fn overdue_at(&self) -> Option<Time> {
        self.time_limit().map(|limit| Time(limit.0.saturating_mul(2)))
    }

    /// True if a pass never ends. The flow then loads the device for as long as others run.
    fn endless(&self) -> bool {
        false
    }

    /// Share of the pass that is done at `now`, 0..=1; 0 if it is not known. Only for progress
    /// bars.
    fn progress(&self, now: Time) -> f64 {
        let _ = now;
        0.0
    }

    /// Makes this the past of the flow, which ends where the run begins: other draws from the same
    /// distributions. A source whose addresses have an order is set back, so that it reaches its
    /// own start after `back`, in the unit of [`RequestSource::gone`]. A stream wraps in its space,
    /// and a trace comes from its previous round.
    ///
    /// # Errors
    ///
    /// A trace that cannot be read.
    fn diverge(&mut self, back: u64) -> Result<(), Error> {
        let _ = back;
        Ok(())
    }

    /// Distance that a source has gone in its past, if its addresses have an order. Unit: sectors
    /// of a stream, requests of a trace; 0 where addresses are independent draws.
    fn gone(&self) -> u64 {
        0
    }

    /// The place of the last request in its file, for messages; `None` without a file.
    fn place(&self) -> Option<String> {
        None
    }

    /// Changes to the input so far.
    fn report(&self) -> SourceReport {
        SourceReport::default()
    }
}

/// The next step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobStep {
    /// Submits a request now; [`JobSource::completed`] gets the number when the request is
    /// complete.
    Submit(Planned, u64),
    /// Waits for a time, and is asked again then.
    Wait(Time),
    /// Waits for a completion, and is asked again after the next one.
    Hold,
    /// The pass is over, and none of its requests is outstanding.
    End,
}

/// A stream of requests in which a request may depend on the completion of others.
pub trait JobSource {
    /// The next step of the job at `now`. The job is asked until it waits.
    fn step(&mut self, now: Time) -> JobStep;

    /// Notes that a request is complete. `cookie`: its number in [`JobStep::Submit`].
    fn completed(&mut self, cookie: u64);
}
