//! Flows that start after the others.

use flashlane_units::FlowId;

use super::Run;

impl Run {
    /// Makes the first requests of a flow that starts after the others.
    #[cold]
    pub(super) fn start_later(&mut self, flow: FlowId) {
        let tenant = &mut self.tenants.flows[flow];
        let at = tenant.start;
        let Some(source) = &mut tenant.source else { return };
        // The clock of the source and the time of its pass begin now.
        if let Err(error) = source.restart(at) {
            self.drive.device.fail(error);
            return;
        }
        if tenant.is_job {
            return self.wake_job(flow, at);
        }
        let Some(depth) = source.closed_loop() else { return self.plan_arrival(flow) };
        for _ in 0..depth {
            if let Some(recorder) = &mut self.recorder {
                recorder.pause(at, flow);
            }
            self.drive.device.wake_at(at, flow);
        }
    }
}
