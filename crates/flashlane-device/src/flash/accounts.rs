//! Accounts of the array time of chips and flows.

use std::hint::select_unpredictable;

use flashlane_engine::Time;
use flashlane_units::{ChipId, DieId, TransactionId};

use super::channel::Channel;
use super::timing::{CellMode, Cells, READY_DELAY};
use super::{Die, DieState, Flash};
use crate::transaction::{Op, Source, Transaction, Transactions, pages_from};

/// The work of the cells for a page, or for an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayWork {
    /// Time, without that until the controller notices the end of a read.
    pub time: Time,
    /// Programs or erases of the flash that it counts as. A read is none, and neither is the first
    /// of two passes.
    pub changes: u64,
}

/// Accounts of a chip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChipAccount {
    /// Last time at which a die ended or interrupted its work; `busy` counts up to then.
    stopped: Time,
    /// Time with at least one die active. Unit: picoseconds.
    pub(crate) busy: u64,
    /// Array time of all dies by source: host, collection, mapping. Unit: picoseconds.
    pub(crate) by_source: [u128; 3],
}

/// The index of a source in these accounts: host, collection, mapping.
#[inline]
fn account_of(source: Source) -> usize {
    match source {
        Source::User | Source::Cache => 0,
        Source::Gc => 1,
        Source::Mapping => 2,
    }
}

impl Flash {
    /// The array of a die ends or interrupts the work of a command at `now`: the pages of the
    /// command share its time equally. The ends of a chip must come in order of time. Returns the
    /// source of the first page.
    #[inline(always)]
    pub(super) fn die_stops(
        &mut self,
        die: DieId,
        now: Time,
        transactions: &Transactions,
    ) -> Source {
        let it = &self.dies[die];
        let (since, head, chip) = (it.since, it.head, it.chip);
        // Since then, or since the last die stopped, some die of the chip has been working.
        let mut works_since = since.0;
        let dies = self.dies_per_chip.get();
        if dies > 1 {
            let first = die.index() - usize::from(it.die_in_chip);
            for other in self.dies.iter().skip(first).take(dies as usize) {
                let works = other.state == DieState::Array;
                works_since = works_since.min(select_unpredictable(works, other.since.0, u64::MAX));
            }
        }
        debug_assert!(since <= now, "work ends after it began");
        if self.reads_by_plane() {
            works_since = works_since.min(self.planes_read_since(chip));
        }
        self.count_busy(chip, works_since, now);
        let whole = (now - since).0;
        let tr = &transactions[head];
        if tr.sibling == TransactionId::NONE {
            self.charge_page(chip, tr, whole);
        } else {
            self.charge_pages(chip, head, whole, transactions);
        }
        tr.source
    }

    /// A plane of a die has read a page by itself, from `since` to `end`. The page is charged for
    /// the whole time, whatever other planes do meanwhile. The ends of a chip must come in order of
    /// time.
    pub(super) fn plane_stops(
        &mut self,
        die: DieId,
        (since, end): (Time, Time),
        id: TransactionId,
        transactions: &Transactions,
    ) {
        let chip = self.dies[die].chip;
        let first = self.first_die(chip);
        let mut works_since = self.planes_read_since(chip);
        for die in (0..self.dies_per_chip()).map(|at| &self.dies[first.plus(at)]) {
            if die.state == DieState::Array {
                works_since = works_since.min(die.since.0);
            }
        }
        debug_assert!(works_since <= since.0 && since <= end, "work ends after it began");
        self.count_busy(chip, works_since, end);
        self.charge_page(chip, &transactions[id], (end - since).0);
    }

    /// Some die of a chip has been working since `works_since`, or since the last one stopped. At
    /// `end` one stops.
    #[inline(always)]
    fn count_busy(&mut self, chip: ChipId, works_since: u64, end: Time) {
        let account = &mut self.chips[chip];
        account.busy += end.0 - works_since.max(account.stopped.0);
        account.stopped = end;
    }

    /// The work of the cells for an operation of a transaction that is over.
    pub(crate) fn work_of(&self, tr: &Transaction, op: Op, cells: Cells) -> ArrayWork {
        let (delay, changes) = match op {
            Op::Read => (READY_DELAY, 0),
            // A word line counts as programmed after its second pass.
            Op::Program if cells.mode == CellMode::FirstPass => (0, 0),
            Op::Program => (0, self.programs_per_unit),
            Op::Erase => (0, 1),
        };
        ArrayWork { time: Time(self.array_of(tr, op, cells) - delay), changes }
    }

    /// Charges `time` of an array to one page. Unit: picoseconds.
    #[inline(always)]
    fn charge_page(&mut self, chip: ChipId, tr: &Transaction, time: u64) {
        let by = account_of(tr.source);
        self.chips[chip].by_source[by] += u128::from(time);
        self.by_flow[tr.flow][by] += u128::from(time);
    }

    /// Time up to `at` for which each channel was taken; where commands have their own bus, for
    /// which its data bus was. A use counts when it begins, so the rest
    /// of a use under way is subtracted. Unit: picoseconds.
    pub(crate) fn taken(&self, at: Time, transactions: &Transactions) -> Vec<u64> {
        let left = |channel: &Channel| match channel.moving {
            TransactionId::NONE if self.separate => channel.programming.left(at),
            TransactionId::NONE => channel.until.saturating_sub(at).0,
            id => {
                let data = Time(self.timing.data(transactions[id].sectors()));
                (transactions[id].mark + data).saturating_sub(at).0
            }
        };
        self.channels.iter().map(|c| c.taken[c.data_bus] - left(c)).collect()
    }

    /// Time up to `at` for which each chip was busy, including operations that have not ended.
    /// Unit: picoseconds.
    pub(crate) fn busy_chips(&self, at: Time) -> Vec<u64> {
        let dies = self.dies.chunks(self.dies_per_chip.get() as usize);
        let mut spans = Vec::new();
        let busy = |((chip, account), dies): ((ChipId, &ChipAccount), &[Die])| {
            let works = dies.iter().filter(|die| die.state == DieState::Array);
            spans.clear();
            spans.extend(works.map(|die| (die.since, die.until.min(at))));
            spans.extend(self.sensing_of_chip(chip).map(|(since, until)| (since, until.min(at))));
            // An end may be counted late, when another die has begun after a pause of the chip.
            // Therefore the union of the spans counts, without the pause.
            spans.sort_unstable();
            let (mut busy, mut counted) = (account.busy, account.stopped);
            for &(since, until) in &spans {
                busy += until.saturating_sub(since.max(counted)).0;
                counted = counted.max(until);
            }
            busy
        };
        self.chips.numbered().zip(dies).map(busy).collect()
    }

    /// Calls `add` with the work of each operation under way at `at`, since operations count only
    /// when they end: chip, flow, account of [`ChipAccount::by_source`], and time in picoseconds.
    pub(crate) fn each_unfinished(
        &self,
        at: Time,
        transactions: &Transactions,
        mut add: impl FnMut(usize, usize, usize, u128),
    ) {
        for die in self.dies.iter().filter(|die| die.state == DieState::Array && die.since < at) {
            let (chip, until) = (die.chip.index(), die.until.min(at));
            let command = pages_from(transactions, die.head);
            let part = u128::from((until - die.since).0) / command.clone().count() as u128;
            for id in command {
                let tr = &transactions[id];
                add(chip, tr.flow.index(), account_of(tr.source), part);
            }
        }
        for (id, since, until) in self.sensing().filter(|&(_, since, _)| since < at) {
            let tr = &transactions[id];
            let chip = self.chip_of(self.die_of(tr.plane)).index();
            let part = u128::from((until.min(at) - since).0);
            add(chip, tr.flow.index(), account_of(tr.source), part);
        }
    }

    /// Charges the time of a command of several pages.
    #[inline(never)]
    fn charge_pages(
        &mut self,
        chip: ChipId,
        head: TransactionId,
        whole: u64,
        transactions: &Transactions,
    ) {
        let command = pages_from(transactions, head);
        let pages = command.clone().count() as u64;
        debug_assert!(pages > 1, "the time of a page alone needs no division");
        let part = whole / pages;
        // The first page gets the remainder of the division.
        let mut taken = whole - part * (pages - 1);
        for id in command {
            let tr = &transactions[id];
            let by = account_of(tr.source);
            self.chips[chip].by_source[by] += u128::from(taken);
            self.by_flow[tr.flow][by] += u128::from(taken);
            taken = part;
        }
    }
}
