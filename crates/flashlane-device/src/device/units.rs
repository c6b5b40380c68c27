//! Units that are programmed together (`ftl/units`): the ends of units that ride on a page or a
//! word line, and of rows that wait to be filled.

use flashlane_engine::Time;
use flashlane_units::{FlowId, TransactionId};

use super::Device;
use crate::transaction::{Op, Place, Source};

impl Device {
    /// A page or a word line of units is on flash.
    #[cold]
    #[inline(never)]
    pub(super) fn units_programmed(&mut self, leader: TransactionId, source: Source) {
        if self.ask_ftl(|ftl, context| ftl.is_between_passes(context, leader)) {
            return self.flash.first_pass_over(source);
        }
        if self.context.transactions[leader].in_second_pass() {
            // First passes of its block, or of the next one, may have waited for it.
            self.let_programs_go(leader);
        }
        self.ask_ftl(|ftl, context| ftl.empty_units_programmed(context, leader));
        self.end_units(leader, |device, id| device.change_over(id, source, Op::Program));
    }

    /// Several units that were read together are in the controller.
    #[cold]
    #[inline(never)]
    pub(super) fn units_read(&mut self, leader: TransactionId, source: Source) {
        self.end_units(leader, |device, id| device.unit_read(id, source));
    }

    /// Ends all units of a page whose leader is over. They have been where it was.
    fn end_units(&mut self, leader: TransactionId, end: impl Fn(&mut Self, TransactionId)) {
        let tr = self.context.transactions[leader];
        let mut id = tr.rider();
        if id != TransactionId::NONE {
            let ridden = self.ftl.ridden(leader, &tr);
            while id != TransactionId::NONE {
                let rider = &mut self.context.transactions[id];
                assert_eq!(rider.place, Place::Riding, "a unit rides on one page");
                rider.chain.add(&ridden);
                rider.mark = tr.mark;
                rider.place = Place::Limbo;
                let next = rider.rider();
                if self.observer.is_some() {
                    self.observe_ride(id, leader);
                }
                id = next;
            }
        }
        let mut id = leader;
        while id != TransactionId::NONE {
            let unit = &mut self.context.transactions[id];
            let next = unit.rider();
            unit.set_rider(TransactionId::NONE);
            end(self, id);
            id = next;
        }
    }

    /// Sends the rows that hold data of a flow and are not full: somebody waits for them.
    pub(super) fn send_open_rows(&mut self, flow: FlowId) {
        if self.ftl.packs_units() {
            self.ask_ftl(|ftl, context| ftl.pad_rows_of(context, flow));
        }
    }

    /// Word lines may have waited long enough for the next one of their block. `before`: as for
    /// [`Device::on_pages_due`].
    pub(super) fn on_passes_due(&mut self, before: Time) {
        if !self.ask_ftl(|ftl, context| ftl.early_passes_due(context)) {
            self.context.now = before;
        }
    }

    /// Rows may have waited long enough to be filled. `before`: the time of the last event. If
    /// none has, no time passes, because the event must not make a finished run longer.
    pub(super) fn on_pages_due(&mut self, before: Time) {
        if !self.ask_ftl(|ftl, context| ftl.pad_due_rows(context)) {
            self.context.now = before;
        }
    }
}
