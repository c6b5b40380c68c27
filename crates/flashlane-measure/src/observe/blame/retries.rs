//! Reads that are repeated, in the shadows of their flows.

use flashlane_units::{DieId, TransactionId};

use super::account::{Account, slot};
use super::shadow::CommandTimes;
use crate::observe::credit::Credits;
use flashlane_device::flash::Running;
use flashlane_device::transaction::{Transactions, pages_from};

impl Account {
    /// Notes that a die reads pages again, which takes the time of decoding as well. A page is
    /// ready when its data has crossed the channel.
    pub(crate) fn shadow_retry(
        &mut self,
        die: DieId,
        command: &Running,
        transactions: &Transactions,
        credits: &Credits,
        times: CommandTimes,
    ) {
        let command = pages_from(transactions, command.head);
        let pages = command.clone().count() as u64;
        for id in command {
            let flow = credits.culprit_of(&transactions[id]);
            let ready = slot(&mut self.transactions, id).shadow.end();
            let CommandTimes { command, held, .. } = times;
            let times = CommandTimes { command: command / pages, held: held / pages, ..times };
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
