//! The end of the load when the drive cannot keep up with open loops: their requests pile up to the
//! allowed number.

use flashlane_engine::Time;

use super::Run;

/// The end of the load, with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overload {
    pub(crate) at: Time,
    /// The flow with the most outstanding requests, out of those whose requests come by the clock.
    pub(crate) flow: usize,
    /// Outstanding requests of all flows whose requests come by the clock.
    pub(crate) outstanding: u64,
}

impl Run {
    /// Called when as many requests are outstanding as open loops may have. If the open loops alone
    /// have that many, the load of all flows ends now, and everything that has arrived completes.
    #[cold]
    pub(super) fn check_outstanding(&mut self) {
        let flows = self.tenants.flows.iter().zip(self.drive.device.flows()).enumerate();
        let open = flows.filter(|(_, (tenant, _))| tenant.is_open_loop());
        let (mut all, mut flow, mut most) = (0, 0, 0);
        for (index, (_, host)) in open {
            let outstanding = host.outstanding();
            all += outstanding;
            if outstanding > most {
                (flow, most) = (index, outstanding);
            }
        }
        if all < self.tenants.outstanding_max || self.tenants.overload.is_some() {
            return;
        }
        let at = self.drive.device.now();
        self.tenants.overload = Some(Overload { at, flow, outstanding: all });
        for tenant in &mut self.tenants.flows {
            tenant.stopped = true;
        }
        self.drive.meters.recorder.window.cut(at);
    }
}
