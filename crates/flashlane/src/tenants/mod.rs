//! Stage 1b of 8: the tenants. Takes requests from `workload` and submits them to the drive;
//! decides when a flow has ended, starts over, or falls silent.
//!
//! The tenants are outside of the drive: they see only submissions, completions and the clock. An
//! open loop submits by the clock, a closed loop when a request of it completes.

mod jobs;
pub(crate) mod mqsim_order;
mod overload;
mod passes;
mod starts;

use flashlane_engine::{Array, Time};
use flashlane_units::FlowId;

use flashlane_config::{OnEnd, WorkloadConfig};
use flashlane_device::device::Device;
use flashlane_device::event::Up;
use flashlane_device::host::Submission;
use flashlane_device::request::Planned;
use flashlane_measure::metrics::metered::Metered;
use flashlane_measure::metrics::recorder::Recorder as Meter;
use flashlane_measure::recording::Recorder;
use flashlane_reading::Error;
use flashlane_workload::{RequestSource, SourceReport};
pub(crate) use overload::Overload;

/// A flow with its source of requests.
struct Tenant {
    /// `None` if the flow is silent.
    source: Option<Box<dyn RequestSource>>,
    /// True if a completion causes the next request at once.
    closed_loop: bool,
    /// Time after which a completion causes the next request; 0 in flows that do not pause.
    think_time: Time,
    /// True if the source decides when requests come.
    is_job: bool,
    /// Jobs: the time at which the source is asked again.
    wakes_at: Option<Time>,
    /// Time of its first requests.
    start: Time,
    /// Open loop: arrival of the next request.
    planned: Option<Time>,
    repeat: bool,
    /// True if the first pass is over.
    passed: bool,
    /// True if the flow generates no more requests.
    stopped: bool,
}

impl Tenant {
    fn new(mut source: Option<Box<dyn RequestSource>>, start: Time, repeat: bool) -> Self {
        let is_job = source.as_mut().is_some_and(|source| source.job().is_some());
        let think_time = source.as_ref().map_or(Time::ZERO, |source| source.think_time());
        Self {
            passed: source.as_ref().is_none_or(|source| source.endless()),
            stopped: source.is_none(),
            closed_loop: !is_job
                && source
                    .as_ref()
                    .is_some_and(|s| s.closed_loop().is_some() && think_time == Time::ZERO),
            think_time,
            is_job,
            wakes_at: None,
            start,
            source,
            planned: None,
            repeat,
        }
    }

    /// True if its requests do not wait for completions.
    fn is_open_loop(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.closed_loop().is_none())
    }
}

/// All tenants of a drive.
pub(crate) struct Tenants {
    flows: Array<FlowId, Tenant>,
    /// Time from which on the pass of a closed loop may have lasted twice as long as it should.
    overdue: Time,
    /// The flows in the order in which they start.
    starts: Vec<FlowId>,
    /// Most outstanding requests of open loops.
    outstanding_max: u64,
    /// Set when the load ended because that number was reached.
    pub(crate) overload: Option<Overload>,
}

impl Tenants {
    /// Tenants before their first request. Flows without a source stay silent. `starts`: the flows
    /// in the order in which they start.
    pub(crate) fn new(
        workload: &WorkloadConfig,
        starts: Vec<FlowId>,
        sources: Vec<Option<Box<dyn RequestSource>>>,
    ) -> Self {
        let several = workload.flows.len() > 1;
        let flows = workload.flows.iter().zip(sources).map(|(flow, source)| {
            let repeat = flow.on_end.map_or(several, |end| end == OnEnd::Repeat);
            Tenant::new(source, flow.starts_at(), repeat)
        });
        Self {
            flows: flows.collect(),
            overdue: Time::ZERO,
            starts,
            outstanding_max: workload.outstanding_max,
            overload: None,
        }
    }

    /// Flows whose requests wait for no completion. They come by the clock, or after a pause.
    pub(crate) fn unprompted(&self) -> Vec<bool> {
        let by_itself = |flow: &Tenant| !flow.closed_loop || flow.start > Time::ZERO;
        self.flows.iter().map(|flow| flow.source.is_some() && by_itself(flow)).collect()
    }

    /// Flows whose requests come by the clock.
    pub(crate) fn open_loops(&self) -> Vec<bool> {
        self.flows.iter().map(Tenant::is_open_loop).collect()
    }

    /// Changes that the source of a flow made to its input.
    pub(crate) fn report(&self, flow: usize) -> SourceReport {
        self.flows[FlowId::at(flow)]
            .source
            .as_ref()
            .map(|source| source.report())
            .unwrap_or_default()
    }
}

/// A drive and the tenants that load it.
pub(crate) struct Run {
    pub(crate) drive: Metered,
    pub(crate) tenants: Tenants,
    /// Records the submissions, if they are to be submitted again.
    pub(crate) recorder: Option<Box<Recorder>>,
}

impl Run {
    /// Runs until nothing is left to do.
    ///
    /// # Errors
    ///
    /// A trace that cannot be read further; requests that can never finish.
    pub(crate) fn run_to_end(&mut self, progress: &dyn Fn(f64)) -> Result<(), Error> {
        self.drive.meters.start_rows();
        self.start_flows();
        self.drive.device.start();
        while let Some(up) = self.drive.step() {
            match up {
                Up::Nothing => {}
                Up::Arrived { flow } => {
                    self.drive.enter();
                    self.note_report();
                    self.plan_arrival(flow);
                    self.drive.device.ring();
                }
                Up::Completed { flow } => {
                    self.drive.complete();
                    self.note_report();
                    self.next_in_loop(flow);
                    self.drive.device.completion_over();
                }
                Up::TagFreed { flow } => {
                    self.drive.complete();
                    self.note_report();
                    self.next_in_loop(flow);
                }
                Up::Woken { flow } => {
                    self.resume(flow);
                    self.drive.device.ring();
                }
            }
            if self.drive.device.step_over() {
                self.check_depths();
                let Metered { device, meters, .. } = &mut self.drive;
                let share = |drive: &Device| self.tenants.progress(drive, &meters.recorder);
                device.look_around(&|drive| progress(share(drive)))?;
                self.end_where_flows_starve();
            }
        }
        if let Some(error) = self.drive.device.failed() {
            return Err(error);
        }
        self.check_end_of_time()?;
        if let Some(recorder) = self.recorder.take() {
            recorder.end();
        }
        self.drive.end()?;
        let over = self.drive.meters.recorder.window.generation_over(self.drive.device.now());
        let stopped = self.tenants.flows.iter().all(|flow| flow.stopped);
        // The events left in the queue come after the end of simulated time, which has been
        // checked.
        let time_ended = !self.drive.device.is_over();
        assert!(over || stopped || time_ended, "every flow ends before the run does");
        Ok(())
    }

    /// Checks that a closed loop has no more requests outstanding than its queue depth.
    #[cold]
    fn check_depths(&self) {
        for (tenant, flow) in self.tenants.flows.iter().zip(self.drive.device.flows()) {
            let depth = tenant.source.as_ref().and_then(|source| source.closed_loop());
            let depth = depth.map_or(u64::MAX, u64::from);
            assert!(flow.outstanding() <= depth, "a closed loop keeps its queue depth");
        }
    }

    /// The drive reports an arrival or a completion.
    #[inline(always)]
    fn note_report(&mut self) {
        if self.recorder.is_some() {
            self.record_report();
        }
    }

    #[cold]
    fn record_report(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.report();
        }
    }

    /// Makes the first requests of every flow.
    fn start_flows(&mut self) {
        for turn in 0..self.tenants.starts.len() {
            let flow = self.tenants.starts[turn];
            let tenant = &self.tenants.flows[flow];
            let Some(source) = &tenant.source else { continue };
            if tenant.start > Time::ZERO {
                self.start_later(flow);
                continue;
            }
            match source.closed_loop() {
                _ if tenant.is_job => self.ask_job(flow, false),
                Some(depth) => {
                    for _ in 0..depth {
                        if !self.generate(flow) {
                            break;
                        }
                    }
                }
                None => self.plan_arrival(flow),
            }
        }
        self.drive.device.schedule_ringing();
    }

    /// Asks a source for its next request, and handles the end of a pass. `None` if the flow is
    /// silent.
    #[inline(always)]
    fn next_request(&mut self, flow: FlowId) -> Option<Planned> {
        let now = self.drive.device.now();
        // A pass without a single request would start over without end.
        for _ in 0..2 {
            let tenant = &mut self.tenants.flows[flow];
            if tenant.stopped {
                return None;
            }
            let source = tenant.source.as_mut().expect("a running flow has a source");
            match source.next(now) {
                Ok(Some(planned)) => return Some(planned),
                Ok(None) => {
                    let first = !tenant.passed;
                    tenant.passed = true;
                    if first {
                        self.pass_ended(flow);
                    }
                    let tenant = &mut self.tenants.flows[flow];
                    let window = &self.drive.meters.recorder.window;
                    let repeat = tenant.repeat || window.is_until_steady();
                    if !repeat || window.generation_over(now) {
                        tenant.stopped = true;
                        return None;
                    }
                    let source = tenant.source.as_mut().expect("a running flow has a source");
                    if let Err(error) = source.restart(now) {
                        self.drive.device.fail(error);
                        return None;
                    }
                }
                Err(error) => {
                    tenant.stopped = true;
                    self.drive.device.fail(error);
                    return None;
                }
            }
        }
        self.tenants.flows[flow].stopped = true;
        None
    }

    /// Closed loop: submits a request now. False if the flow has ended.
    #[inline(always)]
    fn generate(&mut self, flow: FlowId) -> bool {
        if self.generation_is_over() {
            return false;
        }
        let Some(planned) = self.next_request(flow) else { return false };
        if self.recorder.is_some() {
            self.record_submission(flow, &planned);
        }
        self.submit(flow, &planned);
        true
    }

    #[cold]
    fn record_submission(&mut self, flow: FlowId, planned: &Planned) {
        if let Some(recorder) = &mut self.recorder {
            recorder.submit(self.drive.device.now(), flow, planned, true);
        }
    }

    #[inline(always)]
    fn submit(&mut self, flow: FlowId, planned: &Planned) {
        let source = self.tenants.flows[flow].source.as_ref();
        let source = source.filter(|_| self.drive.device.looks_up());
        let upcoming = source.and_then(|source| source.upcoming());
        self.drive.submit(flow, planned, upcoming, 0);
    }

    /// The pause of a closed loop is over.
    #[inline(never)]
    fn resume(&mut self, flow: FlowId) {
        if self.tenants.flows[flow].is_job {
            return self.ask_job(flow, true);
        }
        let planned = if self.generation_is_over() { None } else { self.next_request(flow) };
        if let Some(recorder) = &mut self.recorder {
            recorder.resume(flow, planned.as_ref());
        }
        if let Some(planned) = planned {
            self.submit(flow, &planned);
        }
    }

    /// Open loop: submits the next request for its arrival.
    #[inline(never)]
    fn plan_arrival(&mut self, flow: FlowId) {
        self.tenants.flows[flow].planned = None;
        if self.drive.device.now() >= self.tenants.overdue {
            self.end_overdue_passes();
        }
        if self.drive.device.outstanding() as u64 >= self.tenants.outstanding_max {
            self.check_outstanding();
        }
        if self.generation_is_over() {
            return;
        }
        let Some(planned) = self.next_request(flow) else { return };
        self.tenants.flows[flow].planned = Some(planned.arrival);
        let at = planned.arrival.max(self.drive.device.now());
        if let Some(recorder) = &mut self.recorder {
            recorder.submit(at, flow, &planned, false);
        }
        self.drive.device.submit_at(at, Submission { flow, planned, cookie: 0 });
    }

    /// A request of the flow is over: a closed loop submits the next one.
    #[inline(always)]
    fn next_in_loop(&mut self, flow: FlowId) {
        let tenant = &self.tenants.flows[flow];
        if tenant.closed_loop {
            self.generate(flow);
        } else if tenant.think_time > Time::ZERO {
            let at = self.drive.device.now() + tenant.think_time;
            if let Some(recorder) = &mut self.recorder {
                recorder.pause(at, flow);
            }
            self.drive.device.wake_at(at, flow);
        } else if tenant.is_job {
            self.job_request_over(flow);
        }
    }
}

impl Tenants {
    /// Share of the work that is done, as far as it is known.
    fn progress(&self, drive: &Device, recorder: &Meter) -> f64 {
        if let Some(share) = recorder.progress() {
            return share;
        }
        let share = |flow: &Tenant| {
            let source = flow.source.as_ref()?;
            Some(if flow.passed { 1.0 } else { source.progress(drive.now()) })
        };
        self.flows.iter().filter_map(share).fold(1.0, f64::min)
    }
}
