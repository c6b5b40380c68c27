//! The requests of all flows in one order, without the drive that would decide it.
//!
//! Open loops come by their arrival times. In a closed loop, each of the outstanding requests takes one
//! operation of the array, so that flows take turns in proportion to their depths.

use flashlane_engine::Time;

use super::{Planned, RequestOp, RequestSource, SourceReport};
use crate::config::{DeviceConfig, OnEnd, WindowRule, WorkloadConfig};
use crate::error::Error;
use crate::layout::Layout;

/// Time between two requests of a closed loop of `depth` requests of this kind.
pub(crate) fn turn_of(device: &DeviceConfig, op: RequestOp, depth: u32) -> Time {
    let flash = &device.flash;
    let times = if op == RequestOp::Read { &flash.read_time } else { &flash.program_time };
    Time((times[0].0 / u64::from(depth)).max(1))
}

/// A flow.
struct Turn {
    source: Box<dyn RequestSource>,
    next: Option<Planned>,
    /// Time of the next request.
    at: Time,
    repeat: bool,
    passed: bool,
}

/// The flows of a workload.
pub(crate) struct Turns<'a> {
    device: &'a DeviceConfig,
    rule: WindowRule,
    flows: Vec<Turn>,
    /// Time of the last request.
    now: Time,
    over: bool,
}

impl<'a> Turns<'a> {
    /// Every flow at its first request.
    pub(crate) fn new(
        device: &'a DeviceConfig,
        workload: &WorkloadConfig,
        layout: &Layout,
        seed: u64,
    ) -> Result<Self, Error> {
        let several = workload.flows.len() > 1;
        let mut flows = Vec::new();
        for (index, (flow, space)) in (0..).zip(workload.flows.iter().zip(&layout.flows)) {
            let source = super::build(flow, index, space, device, seed)?;
            let repeat = flow.on_end.map_or(several, |end| end == OnEnd::Repeat);
            let passed = source.endless();
            flows.push(Turn { source, next: None, at: Time::ZERO, repeat, passed });
        }
        let mut turns = Self { device, rule: workload.window, flows, now: Time::ZERO, over: false };
        for flow in 0..turns.flows.len() {
            turns.plan(flow)?;
        }
        Ok(turns)
    }

    /// The next request, its flow and its time. `None` when the load that was asked for is over: every
    /// flow has ended its first pass, or one that does not start over.
    pub(crate) fn next(&mut self) -> Result<Option<(u16, Planned, Time)>, Error> {
        let waiting = self.flows.iter().enumerate().filter(|(_, flow)| flow.next.is_some());
        let Some((index, _)) = waiting.min_by_key(|(_, flow)| flow.at) else { return Ok(None) };
        if self.over {
            return Ok(None);
        }
        let turn = &mut self.flows[index];
        self.now = turn.at;
        let planned = turn.next.take().expect("just seen");
        self.plan(index)?;
        Ok(Some((index as u16, planned, self.now)))
    }

    /// Asks a flow for its next request; the flow falls silent where it has none.
    fn plan(&mut self, index: usize) -> Result<(), Error> {
        let turn = &mut self.flows[index];
        let mut next = turn.source.next(self.now)?;
        if next.is_none() {
            turn.passed = true;
            let repeat = turn.repeat;
            let all = self.flows.iter().all(|flow| flow.passed);
            self.over = all || self.rule == WindowRule::Steady && !repeat;
            if self.over || !repeat {
                return Ok(());
            }
            let turn = &mut self.flows[index];
            turn.source.restart(self.now)?;
            next = turn.source.next(self.now)?;
        }
        let turn = &mut self.flows[index];
        if let Some(planned) = &next {
            turn.at = match turn.source.closed_loop() {
                Some(depth) => self.now + turn_of(self.device, planned.op, depth),
                None => planned.arrival.max(self.now),
            };
        }
        turn.next = next;
        Ok(())
    }

    /// Share of the work that is done, as far as it is known.
    pub(crate) fn progress(&self) -> f64 {
        let share = |flow: &Turn| if flow.passed { 1.0 } else { flow.source.progress(self.now) };
        self.flows.iter().map(share).fold(1.0, f64::min)
    }

    /// What was done to the input of a flow.
    pub(crate) fn report(&self, flow: usize) -> SourceReport {
        self.flows[flow].source.report()
    }
}
