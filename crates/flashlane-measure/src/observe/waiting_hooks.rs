//! Calls to an observer about work that begins to wait for the flash, or stops waiting.

use flashlane_engine::Time;
use flashlane_units::{ChipId, FlowId, RequestId, TransactionId};

use super::Observer;
use flashlane_device::transaction::{Source, Transaction};

impl Observer {
    /// The device work of a request begins.
    #[cold]
    pub(crate) fn begin(&mut self, now: Time, id: RequestId, flow: FlowId, arrival: Time) {
        let Some(account) = &mut self.account else { return };
        account.begins(id, flow, arrival.0, now.0);
    }

    /// A transaction begins to wait for its chip.
    #[cold]
    pub(crate) fn enlisted(
        &mut self,
        now: Time,
        chip: ChipId,
        id: TransactionId,
        tr: &Transaction,
    ) {
        if let Some((account, credits)) = self.accounts() {
            account.enlisted(id, tr, credits.culprit_of(tr), now.0);
        }
        let Some(queues) = &mut self.queues else { return };
        queues.came(now, chip, id, tr);
    }

    /// A transaction stops waiting: it goes to its chip, or has become pointless.
    #[cold]
    pub(crate) fn delisted(
        &mut self,
        now: Time,
        chip: ChipId,
        id: TransactionId,
        tr: &Transaction,
    ) {
        let Some(queues) = &mut self.queues else { return };
        queues.left(now, chip, id, tr);
    }

    /// Units begin to ride on the page of a transaction.
    #[cold]
    pub(crate) fn page_begins(&mut self, leader: TransactionId) {
        if let Some(account) = &mut self.account {
            account.page_begins(leader);
        }
    }

    /// A unit was read or programmed together with the leader of its page: the waits of the page
    /// are waits of the unit.
    #[cold]
    pub(crate) fn rode(&mut self, id: TransactionId, tr: &Transaction, leader: TransactionId) {
        if let Some(account) = self.account.as_mut().filter(|_| tr.source != Source::Gc) {
            account.rode(id, tr, leader);
        }
    }

    /// The old data of a partial write is here: the waits of the read become waits of the write.
    #[cold]
    pub(crate) fn merged(
        &mut self,
        now: Time,
        (write, tr): (TransactionId, &Transaction),
        read: TransactionId,
        queued: bool,
    ) {
        let Some(account) = &mut self.account else { return };
        account.shadow_merges((write, tr), read, now.0);
        if queued {
            account.forget(read);
        } else {
            account.append(write, read);
        }
    }
}
