//! The full check of the model's state (`--check`). Every violation is a fault of the simulator.

use crate::device::Device;
use crate::transaction::Place;

impl Device {
    /// Checks everything that must hold between two events.
    pub(crate) fn audit(&self) {
        self.ftl.audit(&self.layout);
        self.cache.audit(&self.transactions);
        self.scheduler.audit(&self.transactions, &self.ftl);
        self.flash.audit_wanted();
        let running = self.transactions.iter().filter(|(_, tr)| tr.place == Place::Die).count();
        assert_eq!(
            running,
            self.flash.on_dies(&self.transactions),
            "every running transaction is on one die"
        );
        self.host.audit(self.requests.len());
        if let Some(sata) = self.interface.sata() {
            sata.audit(self.requests.len());
        }
    }

    /// Checks what must hold when nothing is left to do.
    pub(crate) fn audit_end(&self) {
        self.host.audit_end();
        if let Some((_, tr)) = self.transactions.iter().next() {
            let left = self.transactions.len();
            panic!("{left} transactions are left behind, the first of them: {tr:?}");
        }
        self.cache.audit_end();
    }
}
