//! The requests of all flows, in the order in which their times come.
//!
//! An open loop's come at their arrivals. A closed loop's comes when an earlier one is done: the drive tells
//! when. Requests are drawn ahead, so that the tables that they need can be fetched meanwhile.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use flashlane_engine::Time;

use crate::config::{DeviceConfig, OnEnd, WindowRule, WorkloadConfig};
use crate::error::Error;
use crate::ftl::untimed::TURN_ROUND;
use crate::layout::Layout;
use crate::workload::{self, Planned, RequestSource, SourceReport};

/// Requests of a flow drawn ahead.
const AHEAD: usize = 64;
/// The time of a flow that has no more requests.
const NEVER: u64 = u64::MAX;

/// A flow.
struct Flow {
    source: Box<dyn RequestSource>,
    /// Requests drawn ahead.
    drawn: VecDeque<Planned>,
    /// The pass ends with them.
    drained: bool,
    /// Closed loop: ends of the requests under way.
    under_way: BinaryHeap<Reverse<u64>>,
    /// Closed loop: at most so many.
    depth: Option<usize>,
    repeat: bool,
    passed: bool,
}

impl Flow {
    /// When its next request comes.
    fn next_at(&self, now: u64) -> u64 {
        let Some(planned) = self.drawn.front() else { return NEVER };
        match self.depth {
            None => planned.arrival.0,
            Some(depth) if self.under_way.len() < depth => now,
            Some(_) => self.under_way.peek().map_or(now, |end| end.0),
        }
    }
}

/// All flows.
pub(super) struct Flows {
    flows: Vec<Flow>,
    /// When the next request of each flow comes.
    next_at: Vec<u64>,
    rule: WindowRule,
    /// Time of the last request.
    pub(super) now: u64,
    over: bool,
}

impl Flows {
    /// Every flow at its first request.
    pub(super) fn new(
        device: &DeviceConfig,
        workload: &WorkloadConfig,
        layout: &Layout,
        seed: u64,
    ) -> Result<Self, Error> {
        let several = workload.flows.len() > 1;
        let mut flows = Vec::new();
        for (index, (flow, space)) in (0..).zip(workload.flows.iter().zip(&layout.flows)) {
            let source = workload::build(flow, index, space, device, seed)?;
            let depth = source.closed_loop().map(|depth| depth as usize);
            flows.push(Flow {
                passed: source.endless(),
                source,
                drawn: VecDeque::with_capacity(AHEAD),
                drained: false,
                under_way: BinaryHeap::with_capacity(depth.unwrap_or(0)),
                depth,
                repeat: flow.on_end.map_or(several, |end| end == OnEnd::Repeat),
            });
        }
        let next_at = vec![NEVER; flows.len()];
        let mut all = Self { flows, next_at, rule: workload.window, now: 0, over: false };
        for flow in 0..all.flows.len() as u16 {
            all.plan(flow, |_| {})?;
        }
        Ok(all)
    }

    /// The request that comes next, and its flow. `None` when the load that was asked for is over: every
    /// flow has ended its first pass, or one that does not start over.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(u16, Planned)> {
        let mut index = 0;
        for (other, at) in self.next_at.iter().enumerate() {
            if *at < self.next_at[index] {
                index = other;
            }
        }
        if self.over || self.next_at[index] == NEVER {
            return None;
        }
        self.now = self.now.max(self.next_at[index]);
        let planned =
            self.flows[index].drawn.pop_front().expect("a flow with a time has a request");
        Some((index as u16, planned))
    }

    /// A request of a flow some places behind the next one, if there is one.
    #[inline]
    pub(super) fn peek(&self, flow: u16, places: usize) -> Option<&Planned> {
        self.flows[flow as usize].drawn.get(places)
    }

    /// The last request of a flow ends at `end`; `drawn` is told of requests drawn ahead.
    #[inline]
    pub(super) fn done(
        &mut self,
        flow: u16,
        end: u64,
        drawn: impl FnMut(&Planned),
    ) -> Result<(), Error> {
        let state = &mut self.flows[flow as usize];
        if let Some(depth) = state.depth {
            let end = end + TURN_ROUND;
            // It came when the earliest one was done.
            if state.under_way.len() < depth {
                state.under_way.push(Reverse(end));
            } else if let Some(mut earliest) = state.under_way.peek_mut() {
                *earliest = Reverse(end);
            }
        }
        self.plan(flow, drawn)
    }

    /// Finds out when the next request of a flow comes.
    #[inline]
    fn plan(&mut self, flow: u16, drawn: impl FnMut(&Planned)) -> Result<(), Error> {
        let state = &mut self.flows[flow as usize];
        if state.drawn.len() < AHEAD / 2 && !state.drained {
            state.draw(self.now, drawn)?;
        }
        if self.flows[flow as usize].drawn.is_empty() {
            self.pass_ended(flow as usize)?;
        }
        self.next_at[flow as usize] = self.flows[flow as usize].next_at(self.now);
        Ok(())
    }

    /// A flow has ended a pass: it starts over or falls silent.
    fn pass_ended(&mut self, index: usize) -> Result<(), Error> {
        self.flows[index].passed = true;
        let repeat = self.flows[index].repeat;
        let all = self.flows.iter().all(|flow| flow.passed);
        self.over = all || self.rule == WindowRule::Steady && !repeat;
        if repeat && !self.over {
            let flow = &mut self.flows[index];
            flow.source.restart(Time(self.now))?;
            flow.drained = false;
            flow.draw(self.now, |_| {})?;
        }
        Ok(())
    }

    /// Share of the work that is done, as far as it is known.
    pub(super) fn progress(&self) -> f64 {
        let now = Time(self.now);
        let share = |flow: &Flow| if flow.passed { 1.0 } else { flow.source.progress(now) };
        self.flows.iter().map(share).fold(1.0, f64::min)
    }

    /// What was done to the input of a flow.
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
