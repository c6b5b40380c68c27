//! The full check of the model's state (`--check`). Every violation is a fault of the simulator.

use std::collections::BTreeSet;

use flashlane_units::{FlowId, RequestId};

use super::Device;
use crate::transaction::{Place, Source, Transaction};

impl Device {
    /// Checks everything that must hold between two events.
    pub(super) fn audit(&self) {
        self.context.events.audit();
        self.ftl.audit(self.context.now, &self.layout, &self.context.transactions);
        self.cache.audit(&self.context.transactions, self.context.now);
        self.scheduler.audit(&self.context.transactions, &self.ftl, &self.flash);
        self.flash.audit(self.context.now, &self.context.transactions);
        let running =
            self.context.transactions.iter().filter(|(_, tr)| tr.place == Place::Die).count();
        assert_eq!(
            running,
            self.flash.on_dies(&self.context.transactions),
            "every running transaction is on one die"
        );
        self.host.audit(self.context.requests.len());
        self.audit_queue_pairs();
        if let Some(zones) = &self.zones {
            zones.audit();
        }
        if let Some(sata) = self.interface.sata() {
            sata.audit(self.context.requests.len());
        }
    }

    /// Checks that every request of an NVMe drive is held back by a limit, behind its submission
    /// queue, or between its entry and its completion.
    fn audit_queue_pairs(&self) {
        if self.interface.is_sata() {
            return;
        }
        let nvme = self.interface.nvme();
        for (index, flow) in self.host.flows().enumerate() {
            let of_queue = |queue| self.host.behind_queue(queue) + nvme.under_way(queue);
            let known: u64 = self.host.queues_of(FlowId::at(index)).map(of_queue).sum();
            let known = known + self.host.held_back(FlowId::at(index));
            assert_eq!(known, flow.outstanding(), "every request of flow {index} is somewhere");
        }
        nvme.audit(self.host.entries());
        self.host.audit_doorbells(self.context.now);
    }

    /// Checks what must hold when no event is left but requests are: they wait for something that
    /// will never come. That is no fault only if they wait for free blocks.
    pub(super) fn audit_stuck(&self) {
        self.interface.nvme().audit_end();
        self.flash.audit_stuck();
        self.cache.audit_stuck();
        let of_flash = self.context.transactions.iter().map(|(_, tr)| tr.request);
        let awaited: BTreeSet<RequestId> = of_flash.chain(self.cache.waiting()).collect();
        for (id, request) in self.context.requests.iter().filter(|(_, request)| request.pending > 0)
        {
            assert!(awaited.contains(&id), "a request waits for something: {request:?}");
        }
    }

    /// Checks what must hold at the end of a run.
    pub(super) fn audit_end(&self) {
        self.host.audit_end();
        self.interface.nvme().audit_end();
        self.interface.nvme().audit_sent();
        if let Some(sata) = self.interface.sata() {
            sata.audit_end();
        }
        // Paced moves may wait for a page that the host's writes would have filled.
        // A zone waits for its next writes.
        let zoned = self.zones.is_some();
        let rests =
            |tr: &Transaction| (tr.source == Source::Gc || zoned) && tr.place == Place::Filling;
        let mut left = self.context.transactions.iter().filter(|(_, tr)| !rests(tr));
        if let Some((_, tr)) = left.next() {
            let left = 1 + left.count();
            panic!("{left} transactions are left behind, the first of them: {tr:?}");
        }
        self.cache.audit_end(zoned);
    }
}
