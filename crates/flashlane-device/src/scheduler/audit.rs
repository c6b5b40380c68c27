//! The queues, checked with `--check`.

use flashlane_engine::Array;
use flashlane_units::{ChannelId, ChipId};

use super::policy::SchedulingPolicy;
use super::{Scheduler, view};
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::transaction::{Place, Transactions};

impl Scheduler {
    /// Checks that every queued transaction is in exactly one queue, that the counts and bits of
    /// waiting work match the queues, and the state of the policy.
    pub(crate) fn audit(&self, transactions: &Transactions, ftl: &Ftl, flash: &Flash) {
        let queued = transactions.iter().filter(|(_, tr)| tr.place == Place::Queue).count() as u32;
        let mut of_chip: Array<ChipId, u32> = Array::of(0, self.chips.len());
        for (die, &waiting) in self.waiting.numbered() {
            assert_eq!(waiting, self.policy.waiting(die), "what waits for die {die} is counted");
            assert_eq!(waiting > 0, flash.is_awaited(die), "die {die} is known to be awaited");
            of_chip[flash.chip_of(die)] += waiting;
        }
        self.audit_turns(transactions, flash);
        let chips = self.chips_per_channel as usize;
        for (chip, &waiting) in of_chip.numbered() {
            assert_eq!(self.chips[chip].length, waiting, "the queue of chip {chip} is counted");
            let pending =
                self.pending[ChannelId::at(chip.index() / chips)] >> (chip.index() % chips) & 1
                    != 0;
            assert_eq!(pending, waiting > 0, "chip {chip} is known to be pending");
        }
        let waiting = of_chip.iter().sum::<u32>();
        let flows: u32 = self.flows.iter().map(|flow| flow.length).sum();
        assert_eq!(flows, waiting, "the queues of the flows are counted");
        assert_eq!(queued, waiting, "every queued transaction is in one queue");
        self.policy.audit(&|id| view::is_ready(&transactions[id], self.rules.ordered, ftl.view()));
    }
}
