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
    /// Dies whose array operations are not among them yet, a bit each.
    starting: u32,
    /// Time with at least one die active. Unit: picoseconds.
    pub(crate) busy: u64,
    /// Die-time by source: host, collection, mapping. Unit: picoseconds.
    pub(crate) by_source: [u64; 3],
}

impl ChipAccount {
    /// An array operation of a die of the chip starts when its command is over.
    #[inline]
    pub(super) fn starts(&mut self, die_in_chip: u32) {
        self.starting |= 1 << die_in_chip;
    }
}

impl Flash {
    /// Counts the dies of a chip, from `first` on, whose array operations have started by `now`.
    #[inline(always)]
    fn count_starts(&mut self, chip: u32, first: u32, now: Time) {
        let account = &mut self.chips[chip as usize];
        let mut starting = account.starting;
        while starting != 0 {
            let bit = starting.trailing_zeros();
            starting &= starting - 1;
            let since = self.dies[(first + bit) as usize].since;
            if since <= now {
                account.starting &= !(1 << bit);
                // Of several that start between two ends the first counts.
                account.active_since = match account.active {
                    0 => since,
                    _ => account.active_since.min(since),
                };
                account.active += 1;
            }
        }
    }

    /// The array of a die ends or interrupts the work of a command at `now`: its time belongs to the pages of
    /// the command in equal parts. Ends of a chip are counted in order of time.
    pub(super) fn die_stops(&mut self, die: u32, now: Time, transactions: &Slab<Transaction>) {
        let Die { since, head, chip, die_in_chip, .. } = self.dies[die as usize];
        self.count_starts(chip, die - u32::from(die_in_chip), now);
        let chip = &mut self.chips[chip as usize];
        chip.active -= 1;
        if chip.active == 0 {
            chip.busy += (now - chip.active_since).0;
        }
        let whole = (now - since).0;
        let first = &transactions[head];
        let (mut part, mut rest) = (0, whole);
        if first.sibling != NONE {
            let mut pages = 1;
            let mut id = first.sibling;
            while id != NONE {
                pages += 1;
                id = transactions[id].sibling;
            }
            part = whole / pages;
            // What does not divide evenly goes to the first.
            rest = whole - part * (pages - 1);
        }
        let mut tr = first;
        loop {
            let by = match tr.source {
                Source::User | Source::Cache => 0,
                Source::Gc => 1,
                Source::Mapping => 2,
            };
            let taken = std::mem::replace(&mut rest, part);
            chip.by_source[by] += taken;
            self.by_flow[tr.flow as usize][by] += taken;
            if tr.sibling == NONE {
                break;
            }
            tr = &transactions[tr.sibling];
        }
    }
}
