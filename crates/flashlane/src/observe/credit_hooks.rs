//! What an observer is told of the work that is charged to flows: writes, collections, operations
//! and data.

use flashlane_engine::Time;
use flashlane_units::{FlowId, JobId, PlaneId};

use super::Observer;
use crate::flash::timing::FlashTiming;
use crate::transaction::{Op, Transaction};

impl Observer {
    /// A flow wrote a page, of its data or of its mapping.
    pub(super) fn wrote(&mut self, tr: &Transaction) {
        if let Some(account) = &mut self.account {
            account.credits.wrote(tr.plane, tr.flow);
        }
        if let Some(meter) = &mut self.energy {
            meter.credits.wrote(tr.plane, tr.flow);
        }
    }

    /// A page of a command, or an erase, is over in the array of its die, at its place in the
    /// block.
    #[cold]
    pub(crate) fn operation(&mut self, tr: &Transaction, op: Op, page: u32, timing: &FlashTiming) {
        if let Some(meter) = &mut self.energy {
            meter.operation(tr, op, page, timing);
        }
    }

    /// The data of a page that is to be programmed crosses the channel for so long.
    #[cold]
    pub(crate) fn program_data(&mut self, tr: &Transaction, time: Time) {
        if let Some(meter) = &mut self.energy {
            meter.transfer(tr, time);
        }
    }

    /// The collection of a block of a flow starts.
    #[cold]
    pub(crate) fn job(&mut self, plane: PlaneId, job: JobId, owner: FlowId, valid: u32) {
        if let Some(account) = &mut self.account {
            account.credits.job_starts(plane, job, owner, valid);
        }
        if let Some(meter) = &mut self.energy {
            meter.credits.job_starts(plane, job, owner, valid);
        }
    }
}
