//! Accounts of the lengths of queues.

use flashlane_engine::Time;

use super::Scheduler;

/// Time average and maximum of the length of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueueAccount {
    pub(crate) length: u32,
    pub(crate) max: u32,
    /// Sum of length times duration: the total time that the transactions which left were in the
    /// queue. Unit: transactions times picoseconds.
    pub(crate) area: u128,
}

impl QueueAccount {
    #[inline]
    pub(super) fn entered(&mut self) {
        self.length += 1;
        self.max = self.max.max(self.length);
    }

    /// Counts a transaction that entered and left at the same instant.
    #[inline]
    pub(super) fn passed(&mut self) {
        self.max = self.max.max(self.length + 1);
    }

    /// Restarts the maximum at the present length.
    pub(super) fn forget_max(&mut self) {
        self.max = self.length;
    }

    #[inline]
    pub(super) fn left(&mut self, waited: Time) {
        debug_assert!(self.length > 0, "what leaves a queue was in it");
        self.length -= 1;
        self.area += u128::from(waited.0);
    }
}

impl Scheduler {
    /// Lengths of the queues of each chip.
    pub(crate) fn queues_of_chips(&self) -> impl Iterator<Item = QueueAccount> + '_ {
        self.chips.iter().copied()
    }

    /// Transactions of each flow that wait.
    pub(crate) fn queues_of_flows(&self) -> impl Iterator<Item = QueueAccount> + '_ {
        self.flows.iter().copied()
    }

    /// Restarts the maximum of every queue.
    pub(crate) fn forget_longest(&mut self) {
        for account in &mut self.chips {
            account.forget_max();
        }
    }
}
