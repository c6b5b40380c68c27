//! What the chips and flows had of the array.

use std::hint::select_unpredictable;

use flashlane_engine::{NONE, Slab, Time};

use super::{Die, DieState, Flash};
use crate::transaction::{Source, Transaction};

/// Accounts of a chip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChipAccount {
    /// When a die last ended or interrupted its work. `busy` is the time up to then.
    stopped: Time,
    /// Time with at least one die active. Unit: picoseconds.
    pub(crate) busy: u64,
    /// Die-time by source: host, collection, mapping. Unit: picoseconds.
    pub(crate) by_source: [u64; 3],
}

impl Flash {
    /// Since when the arrays of some dies of the chip of `die` have been working, of which it is one.
    #[inline(always)]
    fn works_since(&self, die: u32) -> u64 {
        let it = &self.dies[die as usize];
        self.dies_of(it.chip).fold(it.since.0, |first, other| {
            let other = &self.dies[other as usize];
            let works = other.state == DieState::Array;
            first.min(select_unpredictable(works, other.since.0, u64::MAX))
        })
    }

    /// The array of a die ends or interrupts the work of a command at `now`: its time belongs to the pages of
    /// the command in equal parts. Ends of a chip are counted in order of time.
    pub(super) fn die_stops(&mut self, die: u32, now: Time, transactions: &Slab<Transaction>) {
        let works_since = self.works_since(die);
        let Die { since, head, chip, .. } = self.dies[die as usize];
        let chip = &mut self.chips[chip as usize];
        // None has stopped since the last one did.
        chip.busy += now.0 - works_since.max(chip.stopped.0);
        chip.stopped = now;
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
