//! The end of the load of a run: passes of the flows, and the end of simulated time.

use flashlane_engine::Time;
use flashlane_units::FlowId;

use super::Run;
use flashlane_device::host::has_starved;
use flashlane_reading::Error;

impl Run {
    /// True if everything that counts has completed, or the load has gone on for longer than it
    /// may.
    #[inline(always)]
    pub(super) fn generation_is_over(&mut self) -> bool {
        if !self.drive.meters.recorder.window.generation_over(self.drive.device.now()) {
            return false;
        }
        for flow in &mut self.tenants.flows {
            flow.stopped = true;
        }
        true
    }

    /// A flow has ended its first pass; the window may close.
    pub(super) fn pass_ended(&mut self, flow: FlowId) {
        let now = self.drive.device.now();
        let flows = &self.tenants.flows;
        let tenant = &flows[flow];
        let all = flows.iter().all(|f| f.passed);
        let load_goes_on = all && flows.iter().any(|f| f.repeat);
        let window = &mut self.drive.meters.recorder.window;
        if all {
            window.passes_ended(now);
        }
        if all || !tenant.repeat {
            window.close(now, load_goes_on || !all, !tenant.is_open_loop());
        }
    }

    /// Ends the first pass of every closed loop that is overdue: its time was over as long ago as
    /// the pass lasts. A closed loop notices that its time is over when a request of it completes.
    /// If the drive cannot keep up, other load may be ahead of that request. The other flows would
    /// then wait for the closed loop, and the load would never end.
    #[cold]
    pub(super) fn end_overdue_passes(&mut self) {
        self.tenants.overdue = Time::MAX;
        for flow in (0..self.tenants.flows.len()).map(FlowId::at) {
            let tenant = &mut self.tenants.flows[flow];
            let source = tenant.source.as_ref().filter(|source| source.closed_loop().is_some());
            let overdue = source.and_then(|source| source.overdue_at());
            let Some(at) = overdue.filter(|_| !tenant.passed) else { continue };
            let at = tenant.start + at;
            if self.drive.device.now() < at {
                self.tenants.overdue = self.tenants.overdue.min(at);
                continue;
            }
            tenant.passed = true;
            tenant.stopped = !tenant.repeat;
            self.pass_ended(flow);
        }
    }

    /// Ends the load of a run in which a flow starves, because the pass of such a flow would never
    /// end. If the window is still open, it has lasted for the time after which a flow counts as
    /// starved. Rounds end by themselves.
    #[cold]
    pub(super) fn end_where_flows_starve(&mut self) {
        let (now, starved) = (self.drive.device.now(), self.drive.device.some_starve());
        let window = &mut self.drive.meters.recorder.window;
        let open_for_long = window.opened().is_some_and(|opened| has_starved(opened, now));
        if !starved || !open_for_long || window.is_until_steady() {
            return;
        }
        for flow in &mut self.tenants.flows {
            (flow.passed, flow.stopped) = (true, true);
        }
        window.passes_ended(now);
        window.close(now, false, false);
    }

    /// No more events can be handled. Fails if some are left that come after the end of simulated
    /// time, unless the load that was asked for is over and complete.
    pub(super) fn check_end_of_time(&mut self) -> Result<(), Error> {
        if self.drive.device.is_over() {
            return Ok(());
        }
        self.drive.device.audit_events();
        self.end_passes_in_pauses();
        let stopped = self.tenants.flows.iter().all(|flow| flow.stopped);
        let over = stopped || self.drive.meters.recorder.window.generation_over(Time::MAX);
        if over && (self.drive.device.outstanding() == 0) {
            return Ok(());
        }
        let flows = (0..).zip(self.tenants.flows.iter());
        let next = flows.filter_map(|(index, flow): (usize, _)| {
            let pauses = !flow.stopped && (flow.think_time > Time::ZERO || flow.wakes_at.is_some());
            (flow.planned.is_some() || pauses).then_some(index.to_string())
        });
        let silent: Vec<String> = next.collect();
        let mut why = "simulated time ends after 213 days (2^64 ps)".to_owned();
        if !silent.is_empty() {
            why += ", before the next request of flow ";
            why += &silent.join(", ");
        }
        Err(self.drive.device.stuck(&why))
    }

    /// Ends the pass of flows that pause beyond the end of simulated time and have no request left.
    fn end_passes_in_pauses(&mut self) {
        for flow in (0..self.tenants.flows.len()).map(FlowId::at) {
            let tenant = &mut self.tenants.flows[flow];
            if tenant.stopped || tenant.think_time == Time::ZERO {
                continue;
            }
            let source = tenant.source.as_mut().expect("a running flow has a source");
            if !matches!(source.next(Time::END), Ok(None)) {
                continue;
            }
            tenant.stopped = !tenant.repeat;
            if !std::mem::replace(&mut tenant.passed, true) {
                self.pass_ended(flow);
            }
        }
    }
}
