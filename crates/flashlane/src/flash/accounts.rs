//! What the chips and flows had of the array.

use flashlane_engine::{NONE, Slab, Time};

use super::{Die, Flash};
use crate::transaction::{Source, Transaction};

/// Accounts of a chip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChipAccount {
    /// Dies in an array operation.
    active: u32,
    active_since: Time,
    /// Time with at least one die active. Unit: picoseconds.
    pub(crate) busy: u64,
    /// Die-time by source: host, collection, mapping. Unit: picoseconds.
    pub(crate) by_source: [u64; 3],
}

impl Flash {
    /// Counts the dies of a chip whose array operations have started by `now`.
    fn count_starts(&mut self, chip: u32, now: Time) {
        let dies = self.dies_of(chip);
        let account = &mut self.chips[chip as usize];
        for die in &mut self.dies[dies.start as usize..dies.end as usize] {
            if !die.counted && die.since <= now {
                die.counted = true;
                // Of several that start between two ends the first counts.
                account.active_since = match account.active {
                    0 => die.since,
                    _ => account.active_since.min(die.since),
                };
                account.active += 1;
            }
        }
    }

    /// The array of a die ends or interrupts the work of a command at `now`: its time belongs to the pages of
    /// the command in equal parts. Ends of a chip are counted in order of time.
    pub(super) fn die_stops(&mut self, die: u32, now: Time, transactions: &Slab<Transaction>) {
        let chip_id = self.chip_of(die);
        self.count_starts(chip_id, now);
        let Die { since, head, .. } = self.dies[die as usize];
        let chip = &mut self.chips[chip_id as usize];
        chip.active -= 1;
        if chip.active == 0 {
            chip.busy += (now - chip.active_since).0;
        }
        let (mut pages, mut id) = (1, transactions[head].sibling);
        while id != NONE {
            pages += 1;
            id = transactions[id].sibling;
        }
        let whole = (now - since).0;
        let part = if pages == 1 { whole } else { whole / pages };
        let mut rest = whole - part * (pages - 1);
        id = head;
        while id != NONE {
            let tr = &transactions[id];
            let by = match tr.source {
                Source::User | Source::Cache => 0,
                Source::Gc => 1,
                Source::Mapping => 2,
            };
            // What does not divide evenly goes to the first.
            let taken = std::mem::replace(&mut rest, part);
            chip.by_source[by] += taken;
            self.by_flow[tr.flow as usize][by] += taken;
            id = tr.sibling;
        }
    }
}
