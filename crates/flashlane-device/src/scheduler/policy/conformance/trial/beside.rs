//! Reads of free planes, beside those of busy ones.

use flashlane_units::{DieId, TransactionId};

use super::Trial;
use crate::rule::ensure;
use crate::scheduler::view::Beside;
use crate::transaction::Op;

impl Trial {
    /// True if the policy gives dies reads beside other reads.
    pub(in super::super) fn reads_beside(&self) -> bool {
        self.policy.reads_beside()
    }

    /// Offers a die that reads, where planes read independently: it may take reads of free planes.
    pub(super) fn read_beside(&mut self, die: DieId) -> Result<(), String> {
        let Some(running) = self.running[die].clone() else { return Ok(()) };
        let planes = self.bench.geometry.planes_per_die;
        let plane = |&id: &TransactionId| self.bench.transactions[id].plane.get() % planes;
        let closed = running.command.iter().map(|id| 1 << plane(id)).sum::<u32>();
        if closed.count_ones() == planes {
            return Ok(());
        }
        self.bench.beside = Beside { reads: true, closed };
        let suspended = self.suspended[die.index()].is_some();
        let formed = self.bench.view(|view| match suspended {
            true => self.policy.interrupt(die, view),
            false => self.policy.take_read_beside(die, view),
        });
        self.bench.beside = Beside::default();
        ensure!(formed != self.bench.batch.is_empty(), "it says whether it formed a command");
        let apart = self.bench.batch.iter().all(|id| {
            let tr = &self.bench.transactions[*id];
            closed >> (tr.plane.get() % planes) & 1 == 0
        });
        ensure!(apart, "it reads on free planes");
        self.settle(die, Op::Read)?;
        if formed && let Some(now) = &mut self.running[die] {
            now.command.extend(&running.command);
            now.until = now.until.max(running.until);
        }
        Ok(())
    }
}
