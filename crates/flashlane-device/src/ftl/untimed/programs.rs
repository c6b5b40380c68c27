//! Counts of the programs that wait for planes or run there, by which dynamic allocation chooses.

use std::cmp::Reverse;

use flashlane_units::{DieId, PlaneId};

use super::Untimed;

impl Untimed {
    /// Counts a program of a plane that ends at `end`, if programs count.
    #[inline]
    pub(super) fn awaits_program(&mut self, plane: PlaneId, end: u64) {
        if self.balances {
            self.ftl.blocks.planes[plane].programs += 1;
            self.programs.push(Reverse((end, plane)));
        }
    }

    /// Notes that a block of the die is in collection, which continues whenever programs are
    /// counted.
    pub(super) fn has_work(&mut self, die: DieId) {
        if self.balances && !std::mem::replace(&mut self.is_at_work[die], true) {
            self.at_work.push(Reverse((self.dies.free_at[die], die)));
        }
    }

    /// Counts the programs that wait for each plane or run there at `at`: those of hosts and of
    /// collection, as in the timed drive.
    pub(super) fn count_programs(&mut self, at: u64) {
        while let Some(&Reverse((since, die))) = self.at_work.peek()
            && since < at
        {
            self.catch_up(die, at);
            self.at_work.pop();
            self.is_at_work[die] = self.can_collect(die);
            if self.is_at_work[die] {
                self.at_work.push(Reverse((self.dies.free_at[die].max(at), die)));
            }
        }
        while let Some(&Reverse((end, plane))) = self.programs.peek()
            && end <= at
        {
            self.programs.pop();
            self.ftl.blocks.planes[plane].programs -= 1;
        }
    }

    /// Gives the programs of moved pages their ends, behind the present work of their die; `ends`
    /// numbers them. They have counted since their reads.
    pub(super) fn programs_end(&mut self, plane: PlaneId, die: DieId, ends: std::ops::Range<u32>) {
        if self.balances {
            let end = |page| self.dies.free_at[die] + u64::from(page) * self.dies.times.gc_program;
            self.programs.extend(ends.map(|page| Reverse((end(page), plane))));
        }
    }
}
