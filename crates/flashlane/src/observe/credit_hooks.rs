//! What an observer is told of the work that is charged to flows: writes, collections, operations
//! and data.

use flashlane_engine::Time;
use flashlane_units::{FlowId, JobId, PlaneId};

use super::Observer;
use super::blame::account::Account;
use super::credit::Credits;
use crate::flash::timing::FlashTiming;
use crate::transaction::{Op, Transaction};

impl Observer {
    /// The accounts of blame, and whose work is whose; none where nobody asked for blame.
    pub(super) fn accounts(&mut self) -> Option<(&mut Account, &Credits)> {
        self.account.as_mut().zip(self.credits.as_ref())
    }

    /// A flow wrote a page, of its data or of its mapping.
    pub(super) fn wrote(&mut self, tr: &Transaction) {
        if let Some(credits) = &mut self.credits {
            credits.wrote(tr.plane, tr.flow);
        }
    }

    /// A page of a command, or an erase, is over in the array of its die, at its place in the
    /// block.
    #[cold]
    pub(crate) fn operation(&mut self, tr: &Transaction, op: Op, page: u32, timing: &FlashTiming) {
        if let Some((meter, credits)) = self.energy.as_mut().zip(self.credits.as_ref()) {
            let time = Time(timing.work(op, page, tr.sectors()));
            meter.operation(credits.culprit_of(tr), tr.source, op, time);
        }
    }

    /// The data of a page crosses the channel for so long.
    #[cold]
    pub(crate) fn data_moves(&mut self, tr: &Transaction, time: Time) {
        if let Some((meter, credits)) = self.energy.as_mut().zip(self.credits.as_ref()) {
            meter.transfer(credits.culprit_of(tr), tr.source, time);
        }
    }

    /// The collection of a block of a flow starts.
    #[cold]
    pub(crate) fn job(&mut self, plane: PlaneId, job: JobId, owner: FlowId, valid: u32) {
        if let Some(credits) = &mut self.credits {
            credits.job_starts(plane, job, owner, valid);
        }
    }
}
