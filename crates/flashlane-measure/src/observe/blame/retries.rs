//! Reads that are repeated, in the shadows of their flows.

use flashlane_units::{DieId, TransactionId};

use super::account::{Account, slot};
use crate::observe::credit::Credits;
use flashlane_device::flash::Running;
use flashlane_device::transaction::{Transactions, pages_from};

impl Account {
    /// Notes that a die reads pages again: the command is on the channel for `sent` and takes
    /// `took`, decoding included. A page is ready when its data has crossed the channel.
    pub(crate) fn shadow_retry(
        &mut self,
        die: DieId,
        command: &Running,
        transactions: &Transactions,
        credits: &Credits,
        (sent, took, held): (u64, u64, u64),
    ) {
        let command = pages_from(transactions, command.head);
        let pages = command.clone().count() as u64;
        for id in command {
            let flow = credits.culprit_of(&transactions[id]);
            let ready = slot(&mut self.transactions, id).shadow.end();
            let times = (sent / pages, took, held / pages);
            let parts = self.shadows.parts_of(die, &transactions[id]);
            let times = self.shadows.command(flow, parts, ready, times);
            slot(&mut self.transactions, id).shadow.starts(times);
        }
    }

    /// Notes that the data of a page was decoded for some time. Unit: picoseconds.
    pub(crate) fn shadow_decodes(&mut self, id: TransactionId, took: u64) {
        slot(&mut self.transactions, id).shadow.lasts(took);
    }
}
