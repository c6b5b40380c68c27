//! The requests of all flows, in the order of their times.
//!
//! Requests of an open loop come at their arrivals, or when the drive accepts another request. A
//! request of a closed loop comes when an earlier one is done, which the drive reports. Requests
//! are drawn ahead, so that the tables that they need can be prefetched.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use flashlane_engine::Time;
use flashlane_units::FlowId;

use flashlane_config::{DeviceConfig, InterfaceKind, OnEnd, WindowRule, WorkloadConfig};
use flashlane_device::ftl::untimed::TURN_ROUND;
use flashlane_device::layout::Layout;
use flashlane_reading::Error;
use flashlane_workload::{self, Planned, RequestSource, SourceReport};

/// Number of requests of a flow that are drawn ahead.
const AHEAD: usize = 64;
/// Time between two requests that the controller accepts, at least. Unit: picoseconds.
const SPACING: u64 = 1_000_000;
/// Most commands that a SATA drive queues.
const SATA_TAGS: u32 = 32;
/// The time of a flow without further requests.
const NEVER: u64 = u64::MAX;

/// A flow.
struct Flow {
    source: Box<dyn RequestSource>,
    /// Requests drawn ahead.
    drawn: VecDeque<Planned>,
    /// True if the pass ends with the drawn requests.
    drained: bool,
    /// Ends of the last requests, including those under way.
    under_way: BinaryHeap<Reverse<u64>>,
    /// Most requests under way.
    depth: usize,
    closed: bool,
    repeat: bool,
    passed: bool,
}

impl Flow {
    /// Time of its next request.
    fn next_at(&self) -> u64 {
        let Some(planned) = self.drawn.front() else { return NEVER };
        let came = if self.closed { 0 } else { planned.arrival.0 };
        match self.under_way.peek() {
            Some(earliest) if self.under_way.len() >= self.depth => earliest.0.max(came),
            _ => came,
        }
    }
}

/// Most requests of a queue that the drive holds.
fn most_under_way(device: &DeviceConfig) -> usize {
    let interface = &device.interface;
    let queue = match interface.kind {
        InterfaceKind::Nvme => interface.queue_fetch_size.min(interface.queue_depth - 1),
        InterfaceKind::Sata => SATA_TAGS,
    };
    queue.max(1) as usize
}

/// All flows.
pub(super) struct Flows {
    flows: Vec<Flow>,
    /// Time of the next request of each flow.
    next_at: Vec<u64>,
    rule: WindowRule,
    /// Time from which on the pass of a flow may have lasted twice as long as it should.
    overdue: u64,
    /// Time of the last request.
    pub(super) now: u64,
    over: bool,
}

impl Flows {
    /// Every flow, before its first request.
    pub(super) fn new(
        device: &DeviceConfig,
        workload: &WorkloadConfig,
        layout: &Layout,
        seed: u64,
    ) -> Result<Self, Error> {
        let several = workload.flows.len() > 1;
        let mut flows = Vec::new();
        for (index, (flow, space)) in (0..).zip(workload.flows.iter().zip(&layout.flows)) {
            let source = flashlane_workload::build(
                flow,
                index,
                space,
                device.unit(),
                device.interface.max_transfer,
                &device.compat,
                seed,
            )?;
            let (most, depth) = (most_under_way(device), source.closed_loop());
            let closed = depth.is_some();
            let depth = depth.map_or(most, |depth| most.min(depth as usize));
            flows.push(Flow {
                passed: source.endless(),
                source,
                drawn: VecDeque::with_capacity(AHEAD),
                drained: false,
                under_way: BinaryHeap::with_capacity(depth),
                depth,
                closed,
                repeat: flow.on_end.map_or(several, |end| end == OnEnd::Repeat),
            });
        }
        let next_at = vec![NEVER; flows.len()];
        let rule = workload.window;
        let mut all = Self { flows, next_at, rule, overdue: 0, now: 0, over: false };
        for flow in (0..all.flows.len()).map(FlowId::at) {
            all.plan(flow, |_| {})?;
        }
        Ok(all)
    }

    /// The request that comes next, and its flow. `None` when the load is over: every flow has
    /// ended its first pass, or a flow has ended that does not start over.
    ///
    /// # Errors
    ///
    /// A flow whose next request comes after the end of simulated time.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(FlowId, Planned)>, Error> {
        let mut index = self.earliest();
        if !self.flows[index].closed && self.next_at[index] >= self.overdue {
            self.end_overdue_passes(self.next_at[index]);
            index = self.earliest();
        }
        if self.over {
            return Ok(None);
        }
        if self.next_at[index] >= Time::END.0 {
            return self.end_of_time().map(|()| None);
        }
        self.now = self.now.saturating_add(SPACING).max(self.next_at[index]);
        let planned =
            self.flows[index].drawn.pop_front().expect("a flow with a time has a request");
        Ok(Some((FlowId::at(index), planned)))
    }

    /// The flow whose next request comes first; in a tie, the flow with the lowest number.
    #[inline]
    fn earliest(&self) -> usize {
        let mut index = 0;
        for (other, at) in self.next_at.iter().enumerate() {
            if *at < self.next_at[index] {
                index = other;
            }
        }
        index
    }

    /// No flow has a request before the end of simulated time: fails unless all of them are silent.
    fn end_of_time(&self) -> Result<(), Error> {
        let waits = self.flows.iter().position(|flow| !flow.drawn.is_empty());
        waits.map_or(Ok(()), |flow| {
            Err(Error::Stuck(format!(
                "the work is not done at {}: the next request of flow {flow} comes after the end of \
                 simulated time, which is 213 days (2^64 ps)",
                Time(self.now)
            )))
        })
    }

    /// A request of a flow, `places` behind the next one, if there is one.
    #[inline]
    pub(super) fn peek(&self, flow: FlowId, places: usize) -> Option<&Planned> {
        self.flows[flow.index()].drawn.get(places)
    }

    /// Notes that the last request of a flow ends at `end`. Calls `drawn` for requests that are
    /// drawn ahead.
    #[inline]
    pub(super) fn done(
        &mut self,
        flow: FlowId,
        end: u64,
        drawn: impl FnMut(&Planned),
    ) -> Result<(), Error> {
        let state = &mut self.flows[flow.index()];
        let end = if state.closed { end.saturating_add(TURN_ROUND) } else { end };
        if state.under_way.len() < state.depth {
            state.under_way.push(Reverse(end));
        } else if let Some(mut earliest) = state.under_way.peek_mut() {
            // The request came when that earlier request was done, or later.
            *earliest = Reverse(end);
        }
        self.plan(flow, drawn)
    }

    /// Finds the time of the next request of a flow.
    #[inline]
    fn plan(&mut self, flow: FlowId, drawn: impl FnMut(&Planned)) -> Result<(), Error> {
        let state = &mut self.flows[flow.index()];
        if state.drawn.len() < AHEAD / 2 && !state.drained {
            state.draw(self.now, drawn)?;
        }
        if self.flows[flow.index()].drawn.is_empty() {
            self.pass_ended(flow.index())?;
        }
        self.next_at[flow.index()] = self.flows[flow.index()].next_at();
        Ok(())
    }

    /// Notes that a flow has ended its first pass, which may end the load.
    fn note_passed(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        flow.passed = true;
        let stops = !flow.repeat;
        let all = self.flows.iter().all(|flow| flow.passed);
        self.over |= all || self.rule == WindowRule::Steady && stops;
    }

    /// A flow has ended a pass: the flow starts over or falls silent.
    fn pass_ended(&mut self, index: usize) -> Result<(), Error> {
        self.note_passed(index);
        if self.flows[index].repeat && !self.over {
            let flow = &mut self.flows[index];
            flow.source.restart(Time(self.now))?;
            flow.drained = false;
            flow.draw(self.now, |_| {})?;
        }
        Ok(())
    }

    /// Ends the first pass of every flow that is overdue at `at`: its time was over as long ago as
    /// the pass lasts. The other flows would wait for it for long, as in the run with time. This
    /// includes an open loop that the drive does not keep up with, because its requests under way
    /// are limited here.
    #[cold]
    fn end_overdue_passes(&mut self, at: u64) {
        self.overdue = NEVER;
        for index in 0..self.flows.len() {
            let flow = &mut self.flows[index];
            let Some(due) = flow.source.overdue_at().filter(|_| !flow.passed) else { continue };
            if at < due.0 {
                self.overdue = self.overdue.min(due.0);
                continue;
            }
            if !flow.repeat {
                flow.drained = true;
                flow.drawn.clear();
                self.next_at[index] = NEVER;
            }
            self.note_passed(index);
        }
    }

    /// Share of the work that is done, as far as it is known.
    pub(super) fn progress(&self) -> f64 {
        let now = Time(self.now);
        let share = |flow: &Flow| if flow.passed { 1.0 } else { flow.source.progress(now) };
        self.flows.iter().map(share).fold(1.0, f64::min)
    }

    /// Changes to the input of a flow.
    pub(super) fn report(&self, flow: usize) -> SourceReport {
        self.flows[flow].source.report()
    }
}

impl Flow {
    /// Draws requests ahead.
    fn draw(&mut self, now: u64, mut drawn: impl FnMut(&Planned)) -> Result<(), Error> {
        while self.drawn.len() < AHEAD {
            match self.source.next(Time(now))? {
                Some(planned) => {
                    drawn(&planned);
                    self.drawn.push_back(planned);
                }
                None => {
                    self.drained = true;
                    break;
                }
            }
        }
        Ok(())
    }
}
