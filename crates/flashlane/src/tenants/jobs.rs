//! Tenants whose source decides when requests come: fio jobs.

use flashlane_engine::Time;
use flashlane_units::FlowId;

use super::Run;
use flashlane_device::request::Planned;
use flashlane_workload::JobStep;

impl Run {
    /// A request of a job is complete.
    #[inline(never)]
    pub(super) fn job_request_over(&mut self, flow: FlowId) {
        let cookie = self.drive.completed_cookie;
        let source = self.tenants.flows[flow].source.as_mut();
        if let Some(job) = source.and_then(|source| source.job()) {
            job.completed(cookie);
        }
        self.ask_job(flow, false);
    }

    /// Submits the requests that a job has for now. `woken`: the time that the job waited for has
    /// come.
    #[cold]
    pub(super) fn ask_job(&mut self, flow: FlowId, woken: bool) {
        let now = self.drive.device.now();
        if woken && self.tenants.flows[flow].wakes_at == Some(now) {
            self.tenants.flows[flow].wakes_at = None;
        }
        let mut ended = false;
        while !self.generation_is_over() {
            let tenant = &mut self.tenants.flows[flow];
            if tenant.stopped {
                return;
            }
            let source = tenant.source.as_mut().expect("a running flow has a source");
            match source.job().expect("a job").step(now) {
                JobStep::Submit(planned, cookie) => {
                    ended = false;
                    self.submit_of_job(flow, &planned, cookie, woken);
                }
                JobStep::Wait(until) => return self.wake_job(flow, until),
                JobStep::Hold => return,
                // A pass without a single request would start over without end.
                JobStep::End if ended => {
                    tenant.stopped = true;
                    return;
                }
                JobStep::End => {
                    ended = true;
                    self.job_ended(flow);
                }
            }
        }
    }

    /// The pass of a job is over: the job starts over or falls silent.
    fn job_ended(&mut self, flow: FlowId) {
        let now = self.drive.device.now();
        if !std::mem::replace(&mut self.tenants.flows[flow].passed, true) {
            self.pass_ended(flow);
        }
        let tenant = &mut self.tenants.flows[flow];
        let window = &self.drive.meters.recorder.window;
        let repeat = tenant.repeat || window.is_until_steady();
        if !repeat || window.generation_over(now) {
            tenant.stopped = true;
            return;
        }
        let source = tenant.source.as_mut().expect("a running flow has a source");
        if let Err(error) = source.restart(now) {
            self.drive.device.fail(error);
        }
    }

    fn submit_of_job(&mut self, flow: FlowId, planned: &Planned, cookie: u64, woken: bool) {
        if let Some(recorder) = &mut self.recorder {
            recorder.submit(self.drive.device.now(), flow, planned, !woken);
            if woken {
                // A drive that replays the recording reports the arrival.
                recorder.report();
            }
        }
        self.drive.submit(flow, planned, None, cookie);
    }

    /// Asks a job again at a time.
    pub(super) fn wake_job(&mut self, flow: FlowId, at: Time) {
        let tenant = &mut self.tenants.flows[flow];
        if tenant.wakes_at.is_none_or(|wakes| at < wakes || wakes < self.drive.device.now()) {
            tenant.wakes_at = Some(at);
            self.drive.device.wake_at(at, flow);
        }
    }
}
