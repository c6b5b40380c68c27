//! Calls for work that is charged to flows: writes, collections, operations and data transfers.

use flashlane_device::flash::ArrayWork;
use flashlane_engine::Time;
use flashlane_units::{FlowId, JobId, PlaneId};

use super::Observer;
use super::blame::account::Account;
use super::credit::Credits;
use flashlane_device::transaction::{Op, Transaction};

impl Observer {
    /// The accounts of blame, and the credits; none if blame was not asked for.
    pub(super) fn accounts(&mut self) -> Option<(&mut Account, &Credits)> {
        self.account.as_mut().zip(self.credits.as_ref())
    }

    /// Notes that a flow wrote a page, of its data or of its mapping.
    pub(super) fn wrote(&mut self, tr: &Transaction) {
        if let Some(credits) = &mut self.credits {
            credits.wrote(tr.plane, tr.flow);
        }
    }

    /// Notes the end of a page of a command, or of an erase, in the array of its die.
    #[cold]
    pub(crate) fn operation(&mut self, tr: &Transaction, op: Op, work: ArrayWork) {
        if let Some((meter, credits)) = self.energy.as_mut().zip(self.credits.as_ref()) {
            let ArrayWork { time, changes } = work;
            meter.operation(credits.culprit_of(tr), tr.source, (op, changes), time);
        }
    }

    /// Notes that the data of a page crosses the channel for `time`.
    #[cold]
    pub(crate) fn data_moves(&mut self, tr: &Transaction, time: Time) {
        if let Some((meter, credits)) = self.energy.as_mut().zip(self.credits.as_ref()) {
            meter.transfer(credits.culprit_of(tr), tr.source, time);
        }
    }

    /// Notes the start of a collection of a block of a flow.
    #[cold]
    pub(crate) fn job(&mut self, plane: PlaneId, job: JobId, owner: FlowId, valid: u32) {
        if let Some(credits) = &mut self.credits {
            credits.job_starts(plane, job, owner, valid);
        }
    }
}
