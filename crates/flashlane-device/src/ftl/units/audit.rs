//! The rows that are being filled, checked with `--check`.

use flashlane_units::{BlockId, FlowId, TransactionId};

use super::of_host;
use crate::ftl::Ftl;
use crate::ftl::superblocks::Stripes;
use crate::transaction::{Op, Place, Transaction, Transactions, units_from};

impl Ftl {
    /// Empty units of the row whose program a transaction leads; 0 for all others.
    pub(in crate::ftl) fn empty_units_of(
        &self,
        tr: &Transaction,
        transactions: &Transactions,
    ) -> u32 {
        let leads =
            tr.op == Op::Program && matches!(tr.place, Place::Queue | Place::Die | Place::NextPass);
        if !leads || !self.packs_units() {
            return 0;
        }
        self.units_per_program() - 1 - units_from(transactions, tr.rider()).count() as u32
    }

    /// Checks the rows that are being filled, and that every rider rides on one row or page.
    pub(in crate::ftl) fn audit_units(&self, transactions: &Transactions) {
        let Some(units) = &self.units else {
            let rides = transactions
                .iter()
                .find(|(_, tr)| matches!(tr.place, Place::Filling | Place::Riding));
            assert!(
                rides.is_none(),
                "pages that are programmed by themselves wait for nobody: {rides:?}"
            );
            return;
        };
        let (mut waiting, mut riding, mut led) = (0, 0, 0);
        for (_, tr) in transactions.iter() {
            waiting += u32::from(tr.place == Place::Filling);
            riding += u32::from(tr.place == Place::Riding);
            if matches!(tr.place, Place::Queue | Place::Die | Place::NextPass) {
                let together = if tr.op == Op::Program { units.slots } else { units.of_page };
                let row = tr.ppa.get() / together;
                for id in units_from(transactions, tr.rider()) {
                    let rider = &transactions[id];
                    assert_eq!(rider.place, Place::Riding, "a unit under way rides");
                    assert_eq!(rider.ppa.get() / together, row, "it rides on its own row or page");
                    led += 1;
                }
            }
        }
        assert_eq!(riding, led, "every rider rides on one row or page");
        let (mut filling, mut of_hosts) = (0, 0);
        for (at, row) in units.filling.iter().enumerate().filter(|(_, row)| row.count > 0) {
            assert!(row.count < units.slots, "a full row is sent");
            let mut slot = 0;
            for id in units_from(transactions, row.first) {
                let tr = &transactions[id];
                assert_eq!(tr.place, Place::Filling, "a unit waits for its row");
                assert_eq!(tr.ppa.get() % units.slots, slot, "units fill their row in order");
                slot += 1;
            }
            assert_eq!(slot, row.count, "units of a row are counted");
            filling += slot;
            of_hosts += u32::from(of_host(at));
        }
        let of_hosts = if units.waits_for_ever { 0 } else { of_hosts };
        let ends = units.order.places().filter(|&at| units.filling[at].count > 0);
        assert_eq!(ends.count() as u32, of_hosts, "the time of every row of the host ends");
        assert!(units.order.looks() || of_hosts == 0, "somebody looks for the end of that time");
        self.audit_frontiers_of_rows();
        assert_eq!(filling, waiting, "every unit that waits is in a row");
        assert_eq!(filling, units.waiting, "units that wait are counted");
        assert!(units.counts.waiting_max >= units.all_waiting(), "the most that waited is kept");
        self.audit_passes(transactions);
        for block in self.blocks.numbers() {
            let state = self.blocks.block(block);
            let sent = [state.issued, state.programmed];
            assert!(sent.iter().all(|units_of| units_of % units.slots == 0), "rows go whole");
        }
        let stripes = self.blocks.stripes();
        assert!(stripes.is_none_or(Stripes::goes_by_rows), "rows of superblocks go whole");
    }

    /// Checks that the open rows have as many units as their frontiers gave away behind the last
    /// whole row.
    fn audit_frontiers_of_rows(&self) {
        let Some(units) = &self.units else { return };
        for plane in self.blocks.planes.numbers() {
            for flow in (0..units.flows).map(FlowId::at) {
                for &stream in &units.streams {
                    let row = &units.filling[units.at(plane, flow, stream)];
                    let begun = self.blocks.next_page(plane, flow, stream) % units.slots;
                    assert_eq!(row.count, begun, "the open row of plane {plane} is its frontier's");
                }
            }
        }
    }

    /// Checks the word lines between their passes.
    fn audit_passes(&self, transactions: &Transactions) {
        let of_all = || transactions.iter().filter(|(_, tr)| tr.op == Op::Program);
        let Some(units) = self.units.as_ref().filter(|units| units.passes.is_some()) else {
            let found = of_all().find(|(_, tr)| tr.place == Place::NextPass || tr.in_second_pass());
            assert!(found.is_none(), "programs have one pass: {found:?}");
            return;
        };
        let passes = units.passes.as_ref().expect("word lines have two passes");
        let (mut between, mut waiting, mut gated, mut gates) = (0, 0, 0, 0);
        for block in self.blocks.numbers() {
            gated += u32::from(self.blocks.is_gated(block));
            let next = passes.of_block[block].next;
            if next != BlockId::NONE {
                gates += 1;
                assert!(self.blocks.is_gated(next), "a block waits for the one before");
                assert_eq!(self.blocks.block(next).issued, 0, "nothing of it was sent");
                assert!(!self.blocks.block(block).quiet(), "the one before is not complete");
            }
            let (it, state) = (&passes.of_block[block], self.blocks.block(block));
            let rows = it.rows.into_iter().take_while(|&row| row != TransactionId::NONE);
            let mut next = state.programmed;
            for (nth, row) in rows.enumerate() {
                let tr = &transactions[row];
                assert_eq!(self.blocks.block_of(tr.ppa), block, "a word line of the block");
                assert_eq!(self.blocks.page_of(tr.ppa), next, "second passes go in order");
                let queued = matches!(tr.place, Place::Queue | Place::Die);
                assert!(queued || tr.place == Place::NextPass, "it had its first pass");
                assert_eq!(queued, tr.in_second_pass(), "the second pass is in the scheduler");
                assert!(nth == 0 || !queued, "one second pass of a block at a time");
                assert!(state.issued > next, "the first pass was sent before the second");
                next += units.slots;
                between += 1;
            }
            // One more word line may have its first pass.
            assert!(state.issued <= next + units.slots, "passes alternate");
            assert!(state.issued >= next, "a second pass follows a first one");
            waiting += it.waiting;
            if it.waiting > 0 {
                let allocated = state.allocated;
                assert_eq!(next, state.issued, "the latest word line waits for data");
                assert!(allocated < next + units.slots, "the next word line is not full");
            }
        }
        let known = of_all().filter(|(_, tr)| tr.place == Place::NextPass || tr.in_second_pass());
        assert_eq!(known.count(), between, "every word line between its passes is known");
        assert_eq!(waiting, passes.waiting, "units that wait for data are counted");
        let somebody = passes.order.places().next().is_some();
        assert!(passes.order.looks() || !somebody, "somebody looks for the end of that time");
        assert_eq!(gated, gates, "a block that waits has one before");
    }
}
