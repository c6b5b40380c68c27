//! An open loop that the drive cannot keep up with: its requests pile up until as many are
//! outstanding as may be. Then the load ends.

use flashlane_engine::Time;

use super::Run;

/// When the load ended, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overload {
    pub(crate) at: Time,
    /// The flow with the most outstanding requests of those that come by the clock.
    pub(crate) flow: usize,
    /// Requests outstanding of all flows that come by the clock.
    pub(crate) outstanding: u64,
}

impl Run {
    /// At least as many requests are outstanding as those of open loops may be. If that many are
    /// theirs, the load of all flows ends now: everything that has arrived completes.
    #[cold]
    pub(super) fn check_outstanding(&mut self) {
        let flows = self.tenants.flows.iter().zip(self.drive.host.flows()).enumerate();
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
        let at = self.drive.now;
        self.tenants.overload = Some(Overload { at, flow, outstanding: all });
        for tenant in &mut self.tenants.flows {
            tenant.stopped = true;
        }
        self.drive.recorder.window.cut(at);
    }
}
