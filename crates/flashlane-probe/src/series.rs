//! A series of requests, and how it is sent.

use flashlane_engine::Time;
use serde::{Deserialize, Serialize};

use crate::data::Measured;
use crate::target::{Failure, Operation, Target};

/// A request of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Operation of the request.
    pub operation: Operation,
    /// First byte.
    pub offset: u64,
    /// Length. Unit: bytes.
    pub bytes: u32,
}

impl Request {
    /// A read.
    #[must_use]
    pub fn read(offset: u64, bytes: u32) -> Self {
        Self { operation: Operation::Read, offset, bytes }
    }

    /// A write.
    #[must_use]
    pub fn write(offset: u64, bytes: u32) -> Self {
        Self { operation: Operation::Write, offset, bytes }
    }

    /// A trim.
    #[must_use]
    pub fn trim(offset: u64, bytes: u32) -> Self {
        Self { operation: Operation::Trim, offset, bytes }
    }
}

/// The rule for sending the requests of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// A constant number of requests is outstanding.
    Closed {
        /// Number of outstanding requests.
        depth: u32,
    },
    /// Requests are sent in bursts; the next burst follows when all requests of a burst are over.
    Bursts {
        /// Number of requests of a burst.
        size: u32,
        /// Time from one request of a burst to the next one. Unit: picoseconds.
        stagger_ps: u64,
        /// Time from the end of a burst to the next one. Unit: picoseconds.
        pause_ps: u64,
    },
    /// Each request has its own time, whether or not earlier requests are over.
    Open,
}

/// Requests, and the rule for sending them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Name of the series, unique within a probe: `read-4096`.
    pub name: String,
    /// The rule for sending the requests.
    pub rule: Rule,
    /// Requests of the series, in order.
    pub requests: Vec<Request>,
    /// Time of each request, from the first one on; empty except for [`Rule::Open`].
    pub at: Vec<Time>,
}

/// When a request was sent, and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Time at which it was sent, from the first request of the series on.
    pub sent: Time,
    /// Time from then to its end.
    pub latency: Time,
}

impl Series {
    /// Requests one after the other.
    #[must_use]
    pub fn single(name: impl Into<String>, requests: Vec<Request>) -> Self {
        Self::closed(name, 1, requests)
    }

    /// Requests of which `depth` are outstanding at any time.
    #[must_use]
    pub fn closed(name: impl Into<String>, depth: u32, requests: Vec<Request>) -> Self {
        Self { name: name.into(), rule: Rule::Closed { depth }, requests, at: Vec::new() }
    }

    /// Requests that are sent in bursts of `size`; the next burst follows when a burst is over.
    #[must_use]
    pub fn bursts(name: impl Into<String>, size: u32, requests: Vec<Request>) -> Self {
        let rule = Rule::Bursts { size, stagger_ps: 0, pause_ps: 0 };
        Self { name: name.into(), rule, requests, at: Vec::new() }
    }

    /// Requests with their own times.
    #[must_use]
    pub fn open(name: impl Into<String>, requests: Vec<Request>, at: Vec<Time>) -> Self {
        assert_eq!(requests.len(), at.len(), "every request has its time");
        Self { name: name.into(), rule: Rule::Open, requests, at }
    }

    /// Sends the series to a target.
    ///
    /// # Errors
    /// A request fails.
    pub fn run(self, target: &mut dyn Target) -> Result<Measured, Failure> {
        let before = target.counters();
        let mut timings = vec![Timing::default(); self.requests.len()];
        match self.rule {
            Rule::Closed { depth } => {
                closed(target, &self.requests, depth as usize, &mut timings)?;
            }
            Rule::Open => open(target, &self, &mut timings)?,
            Rule::Bursts { size, stagger_ps, pause_ps } => {
                let size = (size as usize).max(1);
                for (burst, timings) in self.requests.chunks(size).zip(timings.chunks_mut(size)) {
                    one_burst(target, burst, Time(stagger_ps), timings)?;
                    if pause_ps > 0 {
                        let at = target.now() + Time(pause_ps);
                        target.pause_until(at)?;
                    }
                }
            }
        }
        let first = timings.iter().map(|timing| timing.sent).min().unwrap_or_default();
        timings.iter_mut().for_each(|timing| timing.sent = timing.sent.saturating_sub(first));
        let counters = before.zip(target.counters());
        Ok(Measured { series: self, timings, counters })
    }
}

fn send(
    target: &mut dyn Target,
    requests: &[Request],
    index: usize,
    timings: &mut [Timing],
) -> Result<(), Failure> {
    let Request { operation, offset, bytes } = requests[index];
    timings[index].sent = target.submit(operation, offset, bytes, index as u64)?;
    Ok(())
}

fn receive(target: &mut dyn Target, timings: &mut [Timing]) -> Result<(), Failure> {
    let done = target.wait()?;
    let timing = &mut timings[done.cookie as usize];
    timing.latency = done.at.saturating_sub(timing.sent);
    Ok(())
}

fn closed(
    target: &mut dyn Target,
    requests: &[Request],
    depth: usize,
    timings: &mut [Timing],
) -> Result<(), Failure> {
    let depth = depth.max(1).min(target.facts().deepest as usize);
    let first = depth.min(requests.len());
    for index in 0..first {
        send(target, requests, index, timings)?;
    }
    for index in first..requests.len() {
        receive(target, timings)?;
        send(target, requests, index, timings)?;
    }
    for _ in 0..first {
        receive(target, timings)?;
    }
    Ok(())
}

fn open(target: &mut dyn Target, series: &Series, timings: &mut [Timing]) -> Result<(), Failure> {
    let (start, deepest) = (target.now(), target.facts().deepest as usize);
    let mut outstanding = 0;
    for (index, at) in series.at.iter().enumerate() {
        target.pause_until(start + *at)?;
        if outstanding == deepest {
            receive(target, timings)?;
            outstanding -= 1;
        }
        send(target, &series.requests, index, timings)?;
        outstanding += 1;
    }
    for _ in 0..outstanding {
        receive(target, timings)?;
    }
    Ok(())
}

fn one_burst(
    target: &mut dyn Target,
    burst: &[Request],
    stagger: Time,
    timings: &mut [Timing],
) -> Result<(), Failure> {
    let start = target.now();
    for index in 0..burst.len() {
        if stagger > Time::ZERO && index > 0 {
            let at = start + Time(stagger.0 * index as u64);
            target.pause_until(at)?;
        }
        send(target, burst, index, timings)?;
    }
    for _ in burst {
        receive(target, timings)?;
    }
    Ok(())
}
